//! Hearing from a keeper how its program ends.

use std::io::{self, BufRead, BufReader};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use flyball_core::event::ExitHow;

use super::ProcessEvent;
use super::leftover::end_session;
use super::message::{Report, parse};
use super::orphans::end_orphans;
use super::output::{Readers, Sink};
use super::supervised::{KeeperChild, Patience};
use super::wait::wait_readable;
use crate::platform::{self, Signal};

/// How often a silent keeper is looked at.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What is needed to hear how a program ends.
pub(super) struct Ending {
    pub(super) keeper: KeeperChild,
    pub(super) reports: BufReader<UnixStream>,
    pub(super) readers: Readers,
    pub(super) sink: Sink,
    pub(super) patience: Arc<Patience>,
}

impl Ending {
    /// Waits for the next report for a moment. A keeper that was stopped is told to go on.
    fn can_hear(&mut self) -> bool {
        if !self.reports.buffer().is_empty() {
            return true;
        }
        let heard = wait_readable([self.reports.get_ref().as_fd()], Some(LOOK_EVERY));
        if !matches!(heard, Ok([false])) {
            return true;
        }
        if self.patience.is_over() {
            self.keeper.0.kill().ok();
        }
        wake(self.keeper.0.id());
        false
    }

    /// Ends what a killed keeper kept; how many there were.
    fn end_lost(&mut self) -> u32 {
        let in_session = end_session(self.keeper.0.id());
        // Once it is waited for, all of it that is left has come to this process.
        self.keeper.0.wait().ok();
        in_session.saturating_add(end_orphans())
    }

    pub(super) fn await_it(mut self, pid: u32) {
        (self.sink)(ProcessEvent::Started { pid });
        self.readers.begin();
        let (how, swept) = loop {
            if !self.can_hear() {
                continue;
            }
            match next_report(&mut self.reports) {
                Ok(Some(Report::Exited { how, swept })) => break (how, swept),
                Ok(Some(_)) => {}
                // The keeper was killed. As long as it is not waited for, its process id, and so
                // the id of its session, cannot belong to anybody else.
                Ok(None) | Err(_) => break (ExitHow::Lost, self.end_lost()),
            }
        };
        // Only fails when someone else has waited for it.
        self.keeper.0.wait().ok();
        self.readers.drain();
        (self.sink)(ProcessEvent::Exited { how, swept });
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
