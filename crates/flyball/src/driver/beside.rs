//! Telemetry of a run: sent by a process beside it, which the run neither waits for nor needs.

use super::Driver;
use crate::otel::Beside;

impl Driver {
    /// Starts who sends, where the environment names a place to send to. A run goes on without.
    pub(super) fn send_beside(&mut self) {
        match Beside::start(&self.places.state_dir, &self.run, &self.journal) {
            Ok(beside) => self.beside = beside,
            Err(error) => self.reporter.remark(&format!("telemetry is not sent: {error}")),
        }
    }

    /// Tells what went wrong there, once.
    pub(super) fn tell_of_sending(&mut self) {
        if let Some(said) = self.beside.as_ref().and_then(Beside::said) {
            self.reporter.remark(&said);
        }
    }
}
