//! Linux: `/proc` for the process table, pidfds for signals and ends, a subreaper for what escapes.

mod descriptors;
mod files;
mod nursery;
mod sockets;
mod table;
mod tcp;
mod walls;
mod watch;

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, WaitOptions, geteuid, set_child_subreaper, test_kill_process, waitpid};
use rustix::rand::{GetRandomFlags, getrandom};

use super::Peer;

pub use self::descriptors::{receive_with_descriptors, send_with_descriptors};
pub use self::files::{is_open, works_in};
pub use self::nursery::{Nursery, leave_session};
pub use self::sockets::{connect, listen};
pub use self::table::{began_at, is_stopped, kill_group, look, signal, snapshot};
pub use self::tcp::tcp_peer;
pub use self::walls::{
    become_keeper, boot, bubblewrap, can_keep_signals_inside, enter, keep_signals_inside,
    map_like_own, mounted_folders_of, namespaces_need_profile, opened_inside, sees_mounted,
    user_namespace,
};
pub use self::watch::ExitWatch;

/// The program that runs here, in a form that can be started. Not its path: that may have been
/// replaced, by an upgrade, since it was started.
pub fn own_program() -> io::Result<PathBuf> {
    let program = PathBuf::from("/proc/self/exe");
    fs::symlink_metadata(&program)?;
    Ok(program)
}

/// The program a process runs; none when the process is gone or is somebody else's.
pub fn program_of(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The words a process was started with; none when it is gone or is somebody else's.
pub fn arguments_of(pid: u32) -> Option<Vec<String>> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words =
        bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    Some(words.filter(|word| !word.is_empty()).collect())
}

/// A thread of this process, as the system names it.
#[derive(Clone, Copy, Debug)]
pub struct Thread(i32);

impl Thread {
    /// The one that asks.
    pub fn current() -> Self {
        Self(rustix::thread::gettid().as_raw_nonzero().get())
    }

    /// How long it has waited so far for a processor that others had; nothing where the system does
    /// not count it.
    pub fn waited_for_a_processor(self) -> Duration {
        let text = fs::read_to_string(format!("/proc/self/task/{}/schedstat", self.0));
        let nanos = text.ok().and_then(|text| text.split(' ').nth(1)?.parse().ok());
        Duration::from_nanos(nanos.unwrap_or(0))
    }
}

/// Whether a process waits for somebody to come to the other end of a named pipe.
pub fn waits_at_a_pipe(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/wchan")).is_ok_and(|place| place == b"wait_for_partner")
}

/// Whether there is a process with this id, be it somebody else's or ended and not yet waited for.
pub fn alive(pid: u32) -> bool {
    id(pid).is_some_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
}

/// Whether a process was started with this `NAME=value` in its environment. What may not be read
/// is not ours.
pub fn carries(pid: u32, mark: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == mark))
}

/// Who opened the other end of a socket, as the system vouches for it.
pub fn peer(socket: &UnixStream) -> io::Result<Peer> {
    let found = socket_peercred(socket)?;
    let pid = u32::try_from(Pid::as_raw(Some(found.pid))).unwrap_or(0);
    Ok(Peer { pid, uid: found.uid.as_raw() })
}

/// Bytes nobody can guess.
pub fn random_bytes() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    // So few are always given whole.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes)
}

/// The user this process acts for.
pub fn own_user() -> u32 {
    geteuid().as_raw()
}

/// Whether hangups were ignored before this process began, as under `nohup`.
pub fn ignores_hangup() -> bool {
    const HANGUP: u64 = 1;
    let ignored = |text: String| {
        let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    };
    let ignored = fs::read_to_string("/proc/self/status").ok().and_then(ignored);
    ignored.is_some_and(|mask| mask & HANGUP != 0)
}

/// Whether nothing can be written to the file system a folder is shown from.
pub fn is_read_only(folder: &Path) -> bool {
    rustix::fs::statvfs(folder)
        .is_ok_and(|found| found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}

/// Makes this process the parent of every orphan below it, should a keeper be killed.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(id(std::process::id()))?)
}

/// Waits for a child that has ended, without waiting for it to end; whether it has.
pub fn reap(pid: u32) -> bool {
    let Some(pid) = id(pid) else { return false };
    !matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None))
}

/// A process id as the system calls take it.
fn id(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Deadline;
    use std::process::{Child, Command};
    use std::thread;

    /// A process of the test that goes with it.
    struct Sleeper(Child);

    impl Sleeper {
        fn start(mark: &str) -> Self {
            Self(Command::new("sleep").arg("1000").env("MARK", mark).spawn().unwrap())
        }

        fn end(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            self.0.kill().ok();
            self.0.wait().ok();
        }
    }

    #[test]
    fn a_process_is_alive_until_it_has_been_waited_for() {
        let mut sleeper = Sleeper::start("");
        let pid = sleeper.0.id();
        assert!(alive(pid));
        sleeper.end();
        assert!(!alive(pid));
        assert!(alive(1), "what belongs to somebody else is alive too");
        assert!(!alive(0) && !alive(u32::MAX));
    }

    #[test]
    fn a_mark_is_found_whole_or_not_at_all() {
        let mut sleeper = Sleeper::start("of this test");
        let pid = sleeper.0.id();
        let limit = Deadline::after(Duration::from_mins(1));
        // A program shows its environment a moment after it has been started.
        while !carries(pid, b"MARK=of this test") {
            assert!(!limit.passed(), "the mark is never seen");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!carries(pid, b"MARK=of this") && !carries(pid, b"of this test"));
        sleeper.end();
        assert!(!carries(pid, b"MARK=of this test"));
    }

    #[test]
    fn the_asker_at_a_socket_is_known_by_process_and_user() {
        let (here, there) = UnixStream::pair().unwrap();
        let uid = rustix::process::getuid().as_raw();
        assert_eq!(peer(&here).unwrap(), Peer { pid: std::process::id(), uid });
        drop(there);
        assert_eq!(peer(&here).unwrap().pid, std::process::id(), "also when it has hung up");
    }

    #[test]
    fn the_program_of_a_process_is_told() {
        assert_eq!(program_of(std::process::id()), std::env::current_exe().ok());
        assert_eq!(program_of(0), None);
    }
}
