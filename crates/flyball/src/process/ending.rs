//! Hearing from a keeper how its program ends.

use std::io::{self, BufRead, BufReader};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flyball_core::event::ExitHow;

use super::ProcessEvent;
use super::keeping::Keeping;
use super::leftover::end_session;
use super::message::{Report, parse};
use super::orphans::end_orphans;
use super::output::{Outputs, Sink};
use super::supervised::Patience;
use crate::clock::Deadline;
use crate::platform::{self, Signal};

/// How often a silent keeper is looked at.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The keeper of a program that has ended, which waits for another one.
pub(super) type Kept = Arc<Mutex<Option<Keeping>>>;

/// What a keeper does when everything it kept is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Goes,
    Stays,
}

/// What is needed to hear how a program ends, and what it prints until then.
pub(super) struct Ending {
    keeping: Keeping,
    /// Where the keeper goes when another program may follow.
    kept: Kept,
    outputs: Outputs,
    sink: Sink,
    patience: Arc<Patience>,
    /// When the keeper is looked at next.
    next_look: Deadline,
}

impl Ending {
    pub(super) fn new(
        (keeping, kept): (Keeping, &Kept),
        outputs: Outputs,
        (sink, patience): (&Sink, &Arc<Patience>),
    ) -> Self {
        let (kept, sink, patience) = (Arc::clone(kept), Arc::clone(sink), Arc::clone(patience));
        Self { keeping, kept, outputs, sink, patience, next_look: Deadline::after(LOOK_EVERY) }
    }

    /// Waits for the next report for a moment and hands on what is printed meanwhile. A keeper that
    /// was stopped is told to go on, however much its program prints.
    fn can_hear(&mut self) -> bool {
        if !self.keeping.reports.buffer().is_empty() {
            return true;
        }
        let control = self.keeping.reports.get_ref().as_fd();
        let Ok(reported) = self.outputs.hear(Some(control), self.next_look.left(), &self.sink)
        else {
            return true;
        };
        if !reported && self.next_look.passed() {
            self.next_look = Deadline::after(LOOK_EVERY);
            if self.patience.is_over() {
                self.keeping.keeper.0.kill().ok();
            }
            wake(self.keeping.keeper.0.id());
        }
        reported
    }

    /// Ends what a killed keeper kept; how many there were.
    fn end_lost(&mut self) -> u32 {
        let in_session = end_session(self.keeping.keeper.0.id());
        // Once it is waited for, all of it that is left has come to this process.
        self.keeping.keeper.0.wait().ok();
        in_session.saturating_add(end_orphans())
    }

    pub(super) fn await_it(mut self, pid: u32, then: Then) {
        (self.sink)(ProcessEvent::Started { pid });
        let (how, swept) = loop {
            if !self.can_hear() {
                continue;
            }
            match next_report(&mut self.keeping.reports) {
                Ok(Some(Report::Exited { how, swept })) => break (how, swept),
                Ok(Some(_)) => {}
                // The keeper was killed. As long as it is not waited for, its process id, and so
                // the id of its session, cannot belong to anybody else.
                Ok(None) | Err(_) => break (ExitHow::Lost, self.end_lost()),
            }
        };
        self.outputs.drain(&self.sink);
        let exited = ProcessEvent::Exited { how, swept };
        if then == Then::Stays && how != ExitHow::Lost && self.keeping.listens_again().is_ok() {
            let Self { keeping, kept, sink, .. } = self;
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(keeping);
            sink(exited);
            return;
        }
        (self.sink)(exited);
        // Everything it kept is gone; that it takes down its walls and goes need not be waited for
        // before. Only fails when someone else has waited for it.
        self.keeping.keeper.0.wait().ok();
    }
}

/// Has a keeper go on that was stopped: only it can end what it keeps.
pub(super) fn wake(keeper: u32) {
    if platform::is_stopped(keeper)
        && let Some(process) = platform::look(keeper)
    {
        platform::signal(&process, Signal::Continue);
    }
}

/// The next thing a keeper says; none when it is gone.
pub(super) fn next_report(reports: &mut BufReader<UnixStream>) -> io::Result<Option<Report>> {
    let mut text = Vec::new();
    match reports.read_until(b'\n', &mut text)? {
        0 => Ok(None),
        _ => parse(&text).map(Some),
    }
}
