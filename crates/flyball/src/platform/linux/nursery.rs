//! What stays below a keeper: a subreaper is the parent of every orphan below it, so that nothing
//! slips away by `setsid`, `nohup` or a double fork.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use flyball_core::event::ExitHow;
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, set_child_subreaper, setsid, wait};
use signal_hook::consts::SIGCHLD;

use super::{id, snapshot};
use crate::platform::{Process, below};

/// Leaves the session this process was started in, and with it its terminal.
pub fn leave_session() -> io::Result<()> {
    setsid()?;
    Ok(())
}

/// Everything below this process from now on.
#[derive(Debug)]
pub struct Nursery {
    own: u32,
    wake: UnixStream,
}

impl Nursery {
    /// Makes this process the leader of a session of its own, and the one that adopts every orphan
    /// below it. For a process that has no other children.
    pub fn adopt() -> io::Result<Self> {
        // Refused only to a group leader, which flyball never makes of a keeper.
        setsid().ok();
        let own = std::process::id();
        set_child_subreaper(id(own))?;
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, waker)?;
        Ok(Self { own, wake })
    }

    /// Becomes readable when something below has ended.
    pub fn woken(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Waits for whatever has ended, without waiting for anything to end, and says what that was;
    /// whether anything is left. As every orphan below becomes a child of this process, "no
    /// children" means that the whole tree is gone.
    pub fn reap(&mut self, mut ended: impl FnMut(u32, ExitHow)) -> io::Result<bool> {
        let mut drop_box = [0; 64];
        while matches!(self.wake.read(&mut drop_box), Ok(count) if count > 0) {}
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    let pid = u32::try_from(Pid::as_raw(Some(pid))).unwrap_or_default();
                    ended(pid, how_it_ended(status));
                }
                Ok(None) => return Ok(true),
                Err(Errno::CHILD) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The children of this process, ended or not. Cheaper than the whole table, where the system
    /// keeps a list of them.
    pub fn children(&self) -> Vec<u32> {
        let own = self.own;
        if let Ok(list) = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")) {
            list.split_ascii_whitespace().filter_map(|id| id.parse().ok()).collect()
        } else {
            let all = snapshot().into_iter().filter(|process| process.parent == own);
            all.map(|process| process.pid).collect()
        }
    }

    /// Everything below that has not ended.
    pub fn members(&mut self) -> Vec<Process> {
        let mut found = below(&snapshot(), self.own);
        found.retain(|process| !process.zombie);
        found
    }
}

fn how_it_ended(status: WaitStatus) -> ExitHow {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ExitHow::Code(code),
        (None, Some(signal)) => ExitHow::Signal(signal),
        (None, None) => ExitHow::Lost,
    }
}
