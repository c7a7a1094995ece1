//! Who speaks to a session: a human at the keyboard, and signals. Ctrl-C ends the turn, twice the
//! session.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use flyball_models::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::tools::Running;
use crate::error::CliError;
use crate::{gate, terminal};

/// What somebody wants an end of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// This turn.
    Turn,
    /// Everything.
    Session,
}

/// What was heard while nothing was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A line.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// There is nobody any more.
    End,
}

/// Whether a human sits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Company {
    /// One who talks: turns can be ended, and leave given.
    Talks,
    /// One who has given a task, and can be asked.
    Watches,
    /// Nobody who could answer.
    Nobody,
}

/// Where a session hears.
pub(crate) struct Inbox {
    shared: Arc<Shared>,
    heard: Receiver<Heard>,
    company: Company,
    /// Tools the human has allowed for good.
    allowed: RefCell<BTreeSet<String>>,
}

#[derive(Default)]
struct Shared {
    work: Mutex<Work>,
    /// Ctrl-Cs since the turn began.
    interrupts: AtomicU8,
    /// The signal that ends everything; 0 for none.
    signal: AtomicI32,
    /// Whether somebody waits for a line; a turn at work is ended in another way.
    is_waiting: AtomicBool,
}

/// What is ended with a turn.
#[derive(Default)]
struct Work {
    model: Cancel,
    gates: gate::Cancel,
    command: Running,
}

impl Shared {
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_work(&self) {
        let work = self.work();
        work.model.cancel();
        work.gates.cancel();
        work.command.end();
    }
}

impl Inbox {
    /// Listens from now on.
    pub(crate) fn open(company: Company) -> Result<Self, CliError> {
        let (sender, heard) = channel();
        let shared = Arc::new(Shared::default());
        listen(Arc::clone(&shared), sender.clone())?;
        if company != Company::Nobody {
            thread::spawn(move || read_lines(&sender));
        }
        Ok(Self { shared, heard, company, allowed: RefCell::default() })
    }

    /// Waits for somebody to say something.
    pub(crate) fn next(&self) -> Heard {
        self.shared.is_waiting.store(true, Ordering::SeqCst);
        let heard = self.heard.recv().unwrap_or(Heard::End);
        self.shared.is_waiting.store(false, Ordering::SeqCst);
        heard
    }

    /// A turn begins: what ended the one before does not end this.
    pub(crate) fn begin_turn(&self) {
        self.shared.interrupts.store(0, Ordering::SeqCst);
        let mut work = self.shared.work();
        (work.model, work.gates) = (Cancel::default(), gate::Cancel::new());
        work.command.begin_anew();
    }

    /// What ends a question to the model.
    pub(crate) fn cancel(&self) -> Cancel {
        self.shared.work().model.clone()
    }

    /// What ends the gates.
    pub(crate) fn cancel_gates(&self) -> gate::Cancel {
        self.shared.work().gates.clone()
    }

    /// What ends a command.
    pub(crate) fn running(&self) -> Running {
        self.shared.work().command.clone()
    }

    /// What somebody wants an end of by now.
    pub(crate) fn wants_end(&self) -> Option<Leave> {
        if self.signal().is_some() {
            return Some(Leave::Session);
        }
        match (self.shared.interrupts.load(Ordering::SeqCst), self.company) {
            (0, _) => None,
            (1, Company::Talks) => {
                self.begin_turn();
                Some(Leave::Turn)
            }
            _ => Some(Leave::Session),
        }
    }

    /// The exit code of the signal that ended everything: 143, 129, or 130 for Ctrl-C.
    pub(crate) fn signal(&self) -> Option<u8> {
        let signal = self.shared.signal.load(Ordering::SeqCst);
        (signal != 0).then(|| u8::try_from(128 + signal).unwrap_or(143))
    }

    /// Asks the human whether a call of this tool may be made. Without one it may not.
    pub(crate) fn allows(&self, tool: &str, question: &str) -> bool {
        if self.allowed.borrow().contains(tool) {
            return true;
        }
        if self.company == Company::Nobody {
            return false;
        }
        loop {
            terminal::write_err(&format!("{question} [y]es, [n]o, [a]lways `{tool}`: "));
            match self.next() {
                Heard::Line(line) => match line.trim().to_lowercase().as_str() {
                    "y" | "yes" => return true,
                    "n" | "no" => return false,
                    "a" | "always" => {
                        self.allowed.borrow_mut().insert(tool.to_owned());
                        return true;
                    }
                    _ => {}
                },
                Heard::Interrupt | Heard::End => return false,
            }
        }
    }
}

fn listen(shared: Arc<Shared>, sender: Sender<Heard>) -> Result<(), CliError> {
    let hangup = (!crate::platform::ignores_hangup()).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))
        .map_err(|error| CliError::io("signals cannot be listened to").cause(error))?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if signal == SIGINT {
                shared.interrupts.fetch_add(1, Ordering::SeqCst);
            } else {
                shared.signal.store(signal, Ordering::SeqCst);
            }
            shared.end_work();
            if shared.is_waiting.load(Ordering::SeqCst) {
                sender.send(Heard::Interrupt).ok();
            }
        }
    });
    Ok(())
}

fn read_lines(sender: &Sender<Heard>) {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if sender.send(Heard::Line(line)).is_err() {
            return;
        }
    }
    sender.send(Heard::End).ok();
}
