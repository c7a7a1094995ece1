//! Waiting until something can be read, or the time is up.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Waits until one of these can be read (or has ended), at most so long, or until a signal comes;
/// which of them can.
pub(crate) fn wait_readable<const N: usize>(
    sources: [BorrowedFd<'_>; N],
    timeout: Option<Duration>,
) -> io::Result<[bool; N]> {
    let timeout = timeout.map(|left| Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(left.subsec_nanos()),
    });
    let mut waiting = sources.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN));
    match poll(&mut waiting, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(waiting.map(|source| !source.revents().is_empty()))
}
