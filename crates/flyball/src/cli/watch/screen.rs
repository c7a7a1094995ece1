//! The terminal while it is watched on: taken over, given back whatever happens, and handed to others
//! in between.

use std::cell::Cell;
use std::io::{self, Stdout, Write, stdin, stdout};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Size;
use ratatui::{Frame, Terminal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};

use crate::error::CliError;
use crate::platform::{self, Signal};

/// How watching came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The person left.
    Left,
    /// A signal.
    Signal(u8),
}

/// The terminal, taken over. Dropping it gives it back.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    ends: Vec<(i32, Arc<AtomicBool>)>,
    stops: Arc<AtomicBool>,
    /// Whether the terminal went away.
    gone: Cell<bool>,
    /// Whether keys may be left of those that were read together.
    keys_left: Cell<bool>,
    size: Option<Size>,
    is_stale: bool,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Screen").field("is_stale", &self.is_stale).finish_non_exhaustive()
    }
}

impl Screen {
    /// Takes the terminal over. A panic of this thread gives it back before anything is printed.
    pub fn enter() -> Result<Self, CliError> {
        let flag = |signal| {
            let flag = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(signal, Arc::clone(&flag))
                .map_err(|error| CliError::io("signals cannot be listened to").cause(error))?;
            Ok::<_, CliError>(flag)
        };
        let mut ends = Vec::new();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            ends.push((signal, flag(signal)?));
        }
        let stops = flag(SIGTSTP)?;
        give_back_on_panic();
        end_with_the_terminal();
        take_over().map_err(failed)?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout())).map_err(|error| {
            give_back();
            failed(error)
        })?;
        Ok(Self {
            terminal,
            ends,
            stops,
            gone: Cell::new(false),
            keys_left: Cell::new(false),
            size: None,
            is_stale: true,
        })
    }

    /// Draws a frame; only what changed is sent.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<(), CliError> {
        self.is_stale = false;
        self.terminal.draw(draw).map(|_| ()).map_err(failed)
    }

    /// Whether the frame must be drawn whatever changed: there is none, or the window has another
    /// size. Not every terminal sends a signal for that.
    pub(super) fn is_stale(&mut self) -> bool {
        let size = self.terminal.size().ok();
        let is_other = size.is_some_and(|size| self.size.replace(size) != Some(size));
        self.is_stale || is_other
    }

    /// The next key, if one comes in this time. Nothing is read from a terminal that is gone: its end
    /// would be read again and again.
    pub(super) fn wait(&self, most: Duration) -> Result<Option<Event>, CliError> {
        let read_before = self.keys_left.replace(false);
        match keyboard(if read_before { Duration::ZERO } else { most }) {
            Keyboard::Gone => {
                self.gone.set(true);
                return Ok(None);
            }
            Keyboard::Silent if !read_before => return Ok(None),
            Keyboard::Silent | Keyboard::Typed => {}
        }
        match event::poll(Duration::ZERO) {
            Ok(true) => {
                self.keys_left.set(true);
                event::read().map(Some).map_err(failed)
            }
            Ok(false) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// The signal that ends it.
    pub(super) fn ended_by(&self) -> Option<u8> {
        if self.gone.get() {
            return u8::try_from(SIGHUP).ok();
        }
        let came = self.ends.iter().find(|(_, flag)| flag.load(Ordering::SeqCst));
        came.and_then(|(signal, _)| u8::try_from(*signal).ok())
    }

    /// Whether somebody wants it to stop for a while.
    pub(super) fn is_asked_to_stop(&self) -> bool {
        self.stops.swap(false, Ordering::SeqCst)
    }

    /// Stops, as by Ctrl-Z; the shell has the terminal until it is told to go on.
    pub(super) fn stop(&mut self) -> Result<(), CliError> {
        self.aside(|| {
            if let Some(own) = platform::look(std::process::id()) {
                platform::signal(&own, Signal::Stop);
            }
            // A signal is delivered before the process goes on, but not before this thread does.
            thread::sleep(Duration::from_millis(20));
        })
    }

    /// Gives the terminal back while something else uses it.
    pub(super) fn aside<T>(&mut self, doing: impl FnOnce() -> T) -> Result<T, CliError> {
        give_back();
        let done = doing();
        take_over().map_err(failed)?;
        // One that has drawn nothing yet draws everything; clearing would ask the terminal first.
        self.terminal = Terminal::new(CrosstermBackend::new(stdout())).map_err(failed)?;
        self.is_stale = true;
        Ok(done)
    }

    /// Asks the terminal to put text on the clipboard.
    pub(super) fn copy(text: &str) -> Result<(), CliError> {
        let sequence = format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text));
        let mut out = stdout().lock();
        out.write_all(sequence.as_bytes()).and_then(|()| out.flush()).map_err(failed)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// How long the end of watching may take once the terminal is gone.
const LEAVE_MAX: Duration = Duration::from_secs(2);

/// What the keyboard is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keyboard {
    Typed,
    Silent,
    Gone,
}

/// Waits for a key, at most so long.
fn keyboard(most: Duration) -> Keyboard {
    let most = Timespec {
        tv_sec: i64::try_from(most.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(most.subsec_nanos()),
    };
    let stdin = stdin();
    let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
    if poll(&mut waiting, Some(&most)).is_err() {
        return Keyboard::Silent;
    }
    let [keys] = waiting;
    match keys.revents() {
        came if came.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => {
            Keyboard::Gone
        }
        came if came.contains(PollFlags::IN) => Keyboard::Typed,
        _ => Keyboard::Silent,
    }
}

/// Whoever watches on a terminal that is gone watches nothing: should reading keys not come back from
/// there, the process ends all the same.
fn end_with_the_terminal() {
    thread::spawn(|| {
        let stdin = stdin();
        loop {
            // Only its end is waited for; that comes unasked.
            let mut waiting = [PollFd::new(&stdin, PollFlags::empty())];
            let came = poll(&mut waiting, None);
            let [keys] = waiting;
            if came.is_ok() && !keys.revents().is_empty() {
                break;
            }
        }
        thread::sleep(LEAVE_MAX);
        give_back();
        #[expect(
            clippy::exit,
            reason = "the thread that should end it is held up by its terminal"
        )]
        std::process::exit(128 + SIGHUP);
    });
}

fn take_over() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)
}

/// Whatever of it fails, the rest is done.
fn give_back() {
    execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show).ok();
    disable_raw_mode().ok();
}

fn give_back_on_panic() {
    let (watching, before) = (thread::current().id(), panic::take_hook());
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() == watching {
            give_back();
        }
        before(info);
    }));
}

fn failed(error: io::Error) -> CliError {
    CliError::io("the terminal cannot be drawn on").cause(error)
}
