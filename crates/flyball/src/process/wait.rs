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
    wait_any(sources.map(Some), timeout)
}

/// The same where some of them may not be there: those can never be read.
pub(crate) fn wait_any<const N: usize>(
    sources: [Option<BorrowedFd<'_>>; N],
    timeout: Option<Duration>,
) -> io::Result<[bool; N]> {
    let timeout = timeout.map(|left| Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(left.subsec_nanos()),
    });
    let there = sources.iter().flatten();
    let mut waiting: Vec<PollFd<'_>> =
        there.map(|source| PollFd::from_borrowed_fd(*source, PollFlags::IN)).collect();
    match poll(&mut waiting, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut ready = waiting.iter().map(|source| !source.revents().is_empty());
    Ok(sources.map(|source| source.is_some() && ready.next().unwrap_or(false)))
}
