//! A terminal of our own around a command of flyball's: what it is sent is drawn on a screen, and
//! the screen is what is looked at. It can be made narrower while something runs.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use flyball::clock::Deadline;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::scenario::{LONG, Scenario};

/// A terminal with a command in it.
pub(crate) struct Terminal {
    master: File,
    seen: Arc<Mutex<Seen>>,
    child: Child,
    reader: Option<thread::JoinHandle<()>>,
}

/// Whether there is a keyboard.
#[derive(Clone, Copy)]
enum Keys {
    None,
    There,
}

struct Seen {
    screen: vt100::Parser,
    raw: Vec<u8>,
    ended: bool,
    closing: bool,
}

impl Terminal {
    /// Starts flyball with both of its streams on a terminal of this size.
    pub(crate) fn start(
        scenario: &Scenario,
        arguments: &[&str],
        (columns, rows): (u16, u16),
    ) -> Self {
        Self::around(
            scenario.program(env!("CARGO_BIN_EXE_flyball")),
            arguments,
            (columns, rows),
            Keys::None,
        )
    }

    /// Starts a command with its keyboard there too.
    pub(crate) fn with_keys(command: Command, arguments: &[&str], size: (u16, u16)) -> Self {
        Self::around(command, arguments, size, Keys::There)
    }

    fn around(
        mut command: Command,
        arguments: &[&str],
        (columns, rows): (u16, u16),
        keys: Keys,
    ) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let master = File::from(master);
        set_size(&master, columns, rows);
        let input = match keys {
            Keys::None => Stdio::null(),
            Keys::There => slave.try_clone().unwrap().into(),
        };
        let out = slave.try_clone().unwrap();
        command.args(arguments).stdin(input).stdout(out).stderr(slave);
        let child = command.spawn().unwrap();
        // The terminal ends when nobody holds its other side any more.
        drop(command);
        let screen = drawn_on(columns, rows);
        let seen =
            Arc::new(Mutex::new(Seen { screen, raw: Vec::new(), ended: false, closing: false }));
        let (mut reader, shared) = (master.try_clone().unwrap(), Arc::clone(&seen));
        let reader = thread::spawn(move || {
            let mut bytes = [0_u8; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let mut seen = shared.lock().unwrap();
                if seen.closing {
                    return;
                }
                seen.screen.process(&bytes[..count]);
                seen.raw.extend_from_slice(&bytes[..count]);
            }
            shared.lock().unwrap().ended = true;
        });
        Self { master, seen, child, reader: Some(reader) }
    }

    /// Somebody types.
    pub(crate) fn types(&self, keys: &str) {
        (&self.master).write_all(keys.as_bytes()).unwrap();
    }

    /// The process in it.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The window is closed with the process still in it; that process.
    pub(crate) fn closed(mut self) -> Child {
        self.seen.lock().unwrap().closing = true;
        // The thread that reads what is shown lets go with the next thing it is shown.
        self.types("?");
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        std::mem::replace(&mut self.child, Command::new("true").spawn().unwrap())
    }

    /// Whether the terminal hands on keys as they are typed.
    pub(crate) fn is_raw(&self) -> bool {
        let modes = tcgetattr(&self.master).unwrap().local_modes;
        !modes.contains(LocalModes::ICANON)
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
