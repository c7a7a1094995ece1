//! A terminal of our own around a command of flyball's: what it is sent is drawn on a screen, and
//! the screen is what is looked at. It can be made narrower while something runs.

use std::fs::File;
use std::io::Read;
use std::num::NonZero;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use flyball::clock::Deadline;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::scenario::{LONG, Scenario};

/// A terminal with a command in it.
pub(crate) struct Terminal {
    master: File,
    seen: Arc<Mutex<Seen>>,
    child: Child,
}

struct Seen {
    screen: vt100::Parser,
    raw: Vec<u8>,
    ended: bool,
}

impl Terminal {
    /// Starts flyball with both of its streams on a terminal of this size.
    pub(crate) fn start(
        scenario: &Scenario,
        arguments: &[&str],
        (columns, rows): (u16, u16),
    ) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let master = File::from(master);
        set_size(&master, columns, rows);
        let mut command = scenario.program(env!("CARGO_BIN_EXE_flyball"));
        let out = slave.try_clone().unwrap();
        command.args(arguments).stdin(Stdio::null()).stdout(out).stderr(slave);
        let child = command.spawn().unwrap();
        // The terminal ends when nobody holds its other side any more.
        drop(command);
        let screen = drawn_on(columns, rows);
        let seen = Arc::new(Mutex::new(Seen { screen, raw: Vec::new(), ended: false }));
        let (mut reader, shared) = (master.try_clone().unwrap(), Arc::clone(&seen));
        thread::spawn(move || {
            let mut bytes = [0_u8; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let mut seen = shared.lock().unwrap();
                seen.screen.process(&bytes[..count]);
                seen.raw.extend_from_slice(&bytes[..count]);
            }
            shared.lock().unwrap().ended = true;
        });
        Self { master, seen, child }
    }

    /// Somebody pulls at the window.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.seen.lock().unwrap().screen.screen_mut().set_size(cells(rows), cells(columns));
        set_size(&self.master, columns, rows);
    }

    /// The rows of the screen, without the blanks behind them.
    pub(crate) fn rows(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        let (_, columns) = seen.screen.screen().size();
        seen.screen.screen().rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect()
    }

    /// Everything the terminal was sent.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().raw).into_owned()
    }

    /// Waits until the screen is like this; the rows of it.
    #[track_caller]
    pub(crate) fn until(&self, is_so: impl Fn(&[String]) -> bool) -> Vec<String> {
        let limit = Deadline::after(LONG);
        loop {
            let rows = self.rows();
            if is_so(&rows) {
                return rows;
            }
            assert!(!limit.passed(), "it never came:\n{}", rows.join("\n"));
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the end; the exit code and everything that was shown.
    #[track_caller]
    pub(crate) fn end(mut self) -> (i32, String) {
        let limit = Deadline::after(LONG);
        while !self.seen.lock().unwrap().ended {
            assert!(!limit.passed(), "it does not end:\n{}", self.rows().join("\n"));
            thread::sleep(Duration::from_millis(20));
        }
        let code = self.child.wait().unwrap().code().unwrap();
        (code, self.raw())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// An empty screen.
pub(crate) fn drawn_on(columns: u16, rows: u16) -> vt100::Parser {
    vt100::Parser::new(cells(rows), cells(columns), 1000)
}

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

fn set_size(master: &File, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).unwrap();
}
