//! Hearing that a process has ended without being its parent: a pidfd becomes readable then.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{PidfdFlags, pidfd_open};

use super::id;

/// Watches one process. Becomes readable when it has ended.
#[derive(Debug)]
pub struct ExitWatch(OwnedFd);

impl ExitWatch {
    /// Begins to watch. The caller knows that the process is still the one it means, as a parent
    /// does that has not waited for it.
    pub fn begin(pid: u32) -> io::Result<Self> {
        let pid = id(pid).ok_or_else(|| io::Error::other("it has no process id"))?;
        Ok(Self(pidfd_open(pid, PidfdFlags::empty())?))
    }
}

impl AsFd for ExitWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
