//! Signals, for which a thread of its own waits.

use std::sync::mpsc::SyncSender;
use std::thread;

use flyball_core::event::StopCause;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;

use super::DriverInput;
use super::watchdog::Bell;
use crate::error::CliError;
use crate::{platform, terminal};

/// Sends SIGINT, SIGTERM, SIGHUP and SIGWINCH to the driver from now on. Hangups that were ignored from the
/// start (`nohup`) stay ignored. A stop from the keyboard is refused with a word: the agent would go
/// on with nobody to watch it.
pub(super) fn listen(outbox: SyncSender<DriverInput>, bell: Bell) -> Result<(), CliError> {
    let hangup = (!platform::ignores_hangup()).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGTSTP, SIGWINCH].into_iter().chain(hangup))
        .map_err(|error| CliError::io("signals cannot be listened to").cause(error))?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if signal == SIGTSTP {
                terminal::write_err(
                    "flyball: not stopped: the agent would go on unwatched; Ctrl-C ends the run, \
                     and `flyball run --resume` goes on with it\n",
                );
                continue;
            }
            if signal == SIGWINCH {
                // One that finds the driver busy is drawn with the next beat.
                outbox.try_send(DriverInput::Resized).ok();
                continue;
            }
            let cause = if signal == SIGINT { StopCause::Interrupt } else { StopCause::Terminate };
            // Heard even when the driver hears nothing.
            bell.ring(cause);
            if outbox.send(DriverInput::Stop(cause)).is_err() {
                return;
            }
        }
    });
    Ok(())
}
