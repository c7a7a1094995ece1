//! The run's side of the door. It checks who asks, and hands each question to the run's one loop;
//! nothing is decided here.
//!
//! One thread waits for all askers at once and hands questions in; the run's loop answers each
//! directly. When many ask together, nobody's answer waits for a thread of its own.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flyball_core::RunId;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::guest::Guest;
use super::visits::{Asks, Came, Visits};
use super::{Input, Knock, Line, Reply, VERSION, place};
use crate::platform;

/// How long is waited at most while somebody is here: idle places and slow answers are seen to.
const TICK: Duration = Duration::from_millis(50);
/// …and while an asker waits for its session to be known.
const SHORT_TICK: Duration = Duration::from_millis(5);

/// A question that has arrived, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Knocked {
    pub(crate) knock: Knock,
    pub(crate) reply: Reply,
}

/// What is known of those who may ask.
#[derive(Debug)]
struct House {
    run: RunId,
    /// The keeper of the session at work; 0 while there is none.
    keeper: AtomicU32,
    closing: AtomicBool,
}

/// The open door of a run; dropping closes it.
#[derive(Debug)]
pub(crate) struct Door {
    house: Arc<House>,
    path: PathBuf,
    thread: Option<JoinHandle<()>>,
}

impl Door {
    /// Opens the door of a run in its private folder. `inbox` is called from a thread of its own and
    /// may block; it says whether anybody takes questions any more.
    pub(crate) fn open(
        private_dir: &Path,
        run: &RunId,
        inbox: impl Fn(Knocked) -> bool + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let path = place(private_dir);
        // One of a flyball that was killed.
        crate::files::remove(&path)?;
        let listener = platform::listen(&path)?;
        listener.set_nonblocking(true)?;
        let house = Arc::new(House {
            run: run.clone(),
            keeper: AtomicU32::new(0),
            closing: AtomicBool::new(false),
        });
        let inside = Arc::clone(&house);
        let thread = thread::Builder::new().name("door".to_owned()).spawn(move || {
            Doorkeeper { house: &inside, inbox: &inbox, visits: Visits::default() }
                .serve(&listener);
        })?;
        Ok(Self { house, path, thread: Some(thread) })
    }

    /// From now on whatever stands below this keeper may ask; nobody when there is none.
    pub(crate) fn admit(&self, keeper: Option<u32>) {
        self.house.keeper.store(keeper.unwrap_or(0), Ordering::SeqCst);
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.house.closing.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for visitors.
        let woken = platform::connect(&self.path).is_ok();
        if let (true, Some(thread)) = (woken, self.thread.take()) {
            thread.join().ok();
        }
        crate::files::remove(&self.path).ok();
    }
}

/// Who stands at the door from inside.
struct Doorkeeper<'a> {
    house: &'a House,
    inbox: &'a dyn Fn(Knocked) -> bool,
    visits: Visits,
}

impl Doorkeeper<'_> {
    fn serve(&mut self, listener: &UnixListener) {
        while !self.house.closing.load(Ordering::SeqCst) {
            let listener = self.visits.make_room().then_some(listener);
            let asking = self.wait(listener);
            for number in asking {
                self.visits.read(number);
            }
            if let Some(listener) = listener {
                self.receive(listener);
            }
            for number in self.visits.numbers() {
                self.attend(number);
            }
        }
    }

    /// Waits until somebody comes, where there is room, or one of the visitors says something: which.
    fn wait(&self, listener: Option<&UnixListener>) -> Vec<u64> {
        let tick = match () {
            () if self.visits.is_anyone_unknown() => Some(SHORT_TICK),
            () if self.visits.is_empty() => None,
            () => Some(TICK),
        };
        let tick = tick.and_then(|tick| Timespec::try_from(tick).ok());
        let read = |source| PollFd::from_borrowed_fd(source, PollFlags::IN);
        let mut waiting: Vec<PollFd<'_>> =
            self.visits.guests().map(|guest| read(guest.as_fd())).collect();
        waiting.extend(listener.map(|listener| read(listener.as_fd())));
        if poll(&mut waiting, tick.as_ref()).is_err() {
            // Interrupted: nobody is heard this time.
            return Vec::new();
        }
        let visits = self.visits.numbers().into_iter().zip(&waiting);
        visits.filter(|(_, one)| !one.revents().is_empty()).map(|(number, _)| number).collect()
    }

    /// Takes in whoever has come, as far as there is room. Most have asked by then.
    fn receive(&mut self, listener: &UnixListener) {
        while self.visits.make_room() {
            match listener.accept() {
                Ok((stream, _)) => {
                    if let Some(guest) = Guest::new(stream) {
                        let number = self.visits.enter(guest);
                        self.visits.read(number);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Out of descriptors, for instance: those who are served give theirs back.
                Err(_) => return thread::sleep(SHORT_TICK),
            }
        }
    }

    /// Does what a visit asks for by now.
    fn attend(&mut self, number: u64) {
        match self.visits.came(number) {
            Came::Nothing => {}
            Came::Unknown => self.identify(number),
            Came::Gone => self.visits.leave(number),
            Came::TooLong => self.refuse(number, "the question is too long"),
            Came::Line(line) => self.ask(number, &line),
        }
    }

    /// Whether the asker is one of ours: of the same user, and below the session's keeper. An agent may
    /// ask before flyball has heard that it runs.
    fn identify(&mut self, number: u64) {
        let Some(guest) = self.visits.guest(number) else { return };
        let Ok(peer) = platform::peer(guest.stream()) else {
            return self.refuse(number, "it cannot be told who asks");
        };
        if peer.uid != platform::own_user() {
            return self.refuse(number, "another user asks");
        }
        match self.house.keeper.load(Ordering::SeqCst) {
            0 if self.visits.has_waited_long(number) => {
                self.refuse(number, "no session is at work");
            }
            0 => {}
            keeper if !platform::descends_from(peer.pid, keeper) => {
                self.refuse(number, "the asker does not belong to the session");
            }
            _ if !self.visits.named(number, peer.pid) => {
                self.refuse(number, "its process asks too much at once");
            }
            _ => self.attend(number),
        }
    }

    fn ask(&mut self, number: u64, line: &[u8]) {
        let knock: Knock = match serde_json::from_slice(line) {
            Ok(knock) => knock,
            Err(error) => return self.refuse(number, &format!("no question: {error}")),
        };
        if knock.v != VERSION {
            return self.refuse(number, "it speaks another version of flyball");
        }
        if knock.run != self.house.run {
            return self.refuse(number, "it is another run's door");
        }
        let asks = if matches!(knock.input, Input::Stop { .. }) { Asks::Stop } else { Asks::Other };
        let Some(guest) = self.visits.asked(number, asks) else {
            return self.refuse(number, "too many want to stop at once");
        };
        if !(self.inbox)(Knocked { knock, reply: Reply::to(guest) }) {
            self.refuse(number, "the run is over");
        }
    }

    fn refuse(&mut self, number: u64, why: &str) {
        if let Some(guest) = self.visits.guest(number) {
            // An asker that does not listen is told nothing.
            guest.say(&Line::Refused { why: why.to_owned() });
        }
        self.visits.leave(number);
    }
}
