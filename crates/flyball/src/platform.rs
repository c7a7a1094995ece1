//! What flyball asks of the operating system, all in one place. Nobody else names one.
//!
//! Processes are looked at, signalled and watched here, descriptors handed over, askers at a socket
//! told apart. What is above this line knows process ids and times; what is below knows where the
//! system keeps them. A port to another system is one more file beside `linux.rs`.

#[cfg(target_os = "linux")]
mod linux;
mod walls;

#[cfg(not(target_os = "linux"))]
compile_error!("flyball runs on Linux; on Windows it runs in WSL2");

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

#[cfg(target_os = "linux")]
pub use self::linux::{
    ExitWatch, Nursery, Thread, adopt_orphans, alive, arguments_of, become_keeper, began_at, boot,
    bubblewrap, can_keep_signals_inside, carries, connect, enter, ignores_hangup, is_open,
    is_read_only, is_stopped, keep_signals_inside, kill_group, leave_session, listen, look,
    map_like_own, mounted_folders_of, namespaces_need_profile, opened_inside, own_program,
    own_user, peer, program_of, random_bytes, reap, receive_with_descriptors, sees_mounted,
    send_with_descriptors, signal, snapshot, tcp_peer, user_namespace, waits_at_a_pipe, works_in,
};
pub use self::walls::{Forward, InPlace, Means, Walls};

/// How far up the parents of a process are followed. Real trees are a few dozen deep.
const GENERATIONS_MAX: usize = 1024;

/// One process, at the moment it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Who started it, or who has adopted it since.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// Its session.
    pub session: u32,
    /// When it began: with the id, it names a process for good.
    pub began: Began,
    /// Ended, but not yet waited for by its parent.
    pub zombie: bool,
    /// CPU time it has used itself.
    pub cpu: Duration,
    /// CPU time of the children it has waited for.
    pub cpu_of_ended: Duration,
}

/// When a process began, as the system counts it. Only good for telling processes apart; the time
/// of day is [`began_at`]'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Began(u64);

impl fmt::Display for Began {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// What a process is told, to end above all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// As by Ctrl-C.
    Interrupt,
    /// A request.
    Terminate,
    /// No request.
    Kill,
    /// No end at all: one that was stopped goes on.
    Continue,
    /// No end either: it stops where it is.
    Stop,
}

/// Who is at the other end of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    /// The process that opened that end; 0 when this one cannot see it.
    pub pid: u32,
    /// The user it belongs to.
    pub uid: u32,
}

/// Everything in the table that descends from `root`, without it.
pub fn below(table: &[Process], root: u32) -> Vec<Process> {
    let mut children: BTreeMap<u32, Vec<&Process>> = BTreeMap::new();
    for process in table {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut seen = BTreeSet::from([root]);
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            if seen.insert(child.pid) {
                open.push(child.pid);
                found.push(**child);
            }
        }
    }
    found
}

/// The processes above one, the nearest first.
pub fn above(pid: u32) -> Vec<u32> {
    let parent = |pid: &u32| look(*pid).map(|process| process.parent).filter(|parent| *parent != 0);
    std::iter::successors(Some(pid), parent).skip(1).take(GENERATIONS_MAX).collect()
}

/// Whether a process stands below another one, however deep. None stands below itself.
///
/// What a keeper keeps never leaves it: an orphan below it becomes its child, so this answers
/// whether a process belongs to a program that is supervised.
pub fn descends_from(pid: u32, ancestor: u32) -> bool {
    has_above(pid, ancestor, |pid| look(pid).map(|process| process.parent))
}

fn has_above(pid: u32, ancestor: u32, parent_of: impl Fn(u32) -> Option<u32>) -> bool {
    // Parent 0 is nobody: the first process, or one from outside of what can be seen.
    std::iter::successors(Some(pid), |pid| parent_of(*pid).filter(|parent| *parent != 0))
        .skip(1)
        .take(GENERATIONS_MAX)
        .any(|above| above == ancestor)
}

/// What this machine is called, where it says so.
pub fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/etc/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, parent: u32) -> Process {
        Process {
            pid,
            parent,
            group: 1,
            session: 1,
            began: Began(1),
            zombie: false,
            cpu: Duration::ZERO,
            cpu_of_ended: Duration::ZERO,
        }
    }

    #[test]
    fn descendants_are_found_through_any_depth_and_never_include_the_root() {
        let table = [process(4, 3), process(3, 2), process(2, 1), process(9, 8)];
        let found: BTreeSet<u32> = below(&table, 2).iter().map(|p| p.pid).collect();
        assert_eq!(found, BTreeSet::from([3, 4]));
    }

    #[test]
    fn a_table_that_points_in_a_circle_ends() {
        let table = [process(2, 3), process(3, 2)];
        assert_eq!(below(&table, 2).len(), 1);
    }

    #[test]
    fn parents_are_followed_up_to_the_first_one_and_no_circle_is_endless() {
        let line = |pid: u32| (pid > 0).then(|| pid - 1);
        assert!(has_above(5, 1, line) && has_above(5, 4, line));
        assert!(!has_above(5, 5, line) && !has_above(5, 6, line) && !has_above(5, 0, line));
        assert!(!has_above(9, 1, |_| None));
        assert!(!has_above(2, 9, |pid| Some(if pid == 2 { 3 } else { 2 })));
    }

    #[test]
    fn a_chain_deeper_than_any_real_one_is_not_followed_to_its_end() {
        let generations = u32::try_from(GENERATIONS_MAX).unwrap();
        let line = |pid: u32| Some(pid - 1);
        assert!(has_above(generations + 1, 1, line));
        assert!(!has_above(generations + 2, 1, line));
    }

    #[test]
    fn this_process_descends_from_its_parent_and_not_from_itself() {
        let own = std::process::id();
        assert!(descends_from(own, std::os::unix::process::parent_id()));
        assert!(!descends_from(own, own));
        assert!(!descends_from(0, own));
    }
}
