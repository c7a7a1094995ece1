//! What is asked of a run from outside: signals, for which a thread of its own waits, and requests of
//! other processes in the journal.

use std::sync::mpsc::SyncSender;
use std::thread;

use flyball_core::Event;
use flyball_core::event::StopCause;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::{Driver, DriverInput};
use crate::error::CliError;
use crate::journal::RequestKind;

/// Sends SIGINT, SIGTERM and SIGHUP to the driver from now on.
pub(super) fn listen(outbox: SyncSender<DriverInput>) -> Result<(), CliError> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| CliError::io("signals cannot be listened to").cause(error))?;
    thread::spawn(move || {
        for signal in signals.forever() {
            let cause = if signal == SIGINT { StopCause::Interrupt } else { StopCause::Terminate };
            if outbox.send(DriverInput::Stop(cause)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

impl Driver {
    /// Takes what other processes ask of this run.
    pub(super) fn take_requests(&mut self) -> Result<(), CliError> {
        for request in self.journal.take_requests(&self.run)? {
            match request.kind {
                RequestKind::Stop => {
                    self.queue.push_back(Event::StopRequested { cause: StopCause::Command });
                }
                // Left by a later version: whoever asked looks whether it was done.
                RequestKind::Unknown(_) => {}
            }
        }
        Ok(())
    }
}
