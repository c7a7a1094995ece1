//! SIGINT and SIGTERM while gates run: everything is ended, and the exit code says by what.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};

use crate::gate::Cancel;

/// Waits for signals and cancels.
pub(in crate::cli) struct Interrupt {
    cancel: Cancel,
    terminated: Arc<AtomicBool>,
}

impl Interrupt {
    /// From now on the two signals cancel instead of ending flyball on the spot.
    pub(in crate::cli) fn listen() -> io::Result<Self> {
        let cancel = Cancel::new();
        let terminated = Arc::new(AtomicBool::new(false));
        let (mut wake, waker) = UnixStream::pair()?;
        // Handlers run in this order: the flag is set before anyone is woken.
        signal_hook::flag::register(SIGTERM, Arc::clone(&terminated))?;
        signal_hook::low_level::pipe::register(SIGTERM, waker.try_clone()?)?;
        signal_hook::low_level::pipe::register(SIGINT, waker)?;
        let told = cancel.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            // An error would leave flyball deaf; then it is better to end.
            wake.read_exact(&mut [0]).ok();
            told.cancel();
        })?;
        Ok(Self { cancel, terminated })
    }

    /// What the gates are ended by.
    pub(in crate::cli) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// 143 after SIGTERM, else 130.
    pub(in crate::cli) fn exit_code(&self) -> ExitCode {
        ExitCode::from(if self.terminated.load(Ordering::SeqCst) { 143 } else { 130 })
    }
}
