//! Signals become happenings; a thread of its own waits for them.

use std::sync::mpsc::SyncSender;
use std::thread;

use flyball_core::event::StopCause;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::DriverInput;
use crate::error::CliError;

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
