//! The process table as `/proc` shows it: who descends from whom, and who used the CPU.
//!
//! Signals go through a pidfd after a second look, so that a process id used anew is never hit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use flyball_core::{Millis, Moment};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

/// One process, at the moment it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) group: u32,
    pub(super) session: u32,
    /// Ended, but not yet waited for by its parent.
    pub(super) zombie: bool,
    /// Ticks used by itself.
    own_ticks: u64,
    /// Ticks used by children it has waited for.
    children_ticks: u64,
    /// When it began, in ticks since boot: with the id, it names a process for good.
    began: u64,
}

/// How far the clock may have been set forward after a process began without it being taken for
/// another one.
const CLOCK_SLACK: Millis = Millis::from_secs(60);

/// Whether the process that had this id at that moment still runs. An id given anew, to something
/// that began later, is another process.
pub fn still_runs(pid: u32, at: Moment) -> bool {
    let Some(process) = look(pid).filter(|process| !process.zombie) else { return false };
    let is_older = began_at(&process).is_none_or(|began| began <= at.plus(CLOCK_SLACK));
    is_older || same_program(pid)
}

/// When a process began, by the time of day.
fn began_at(process: &Process) -> Option<Moment> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let boot = text.lines().find_map(|line| line.strip_prefix("btime "))?;
    let boot = Moment::from_millis(boot.trim().parse::<u64>().ok()?.checked_mul(1000)?);
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Some(boot.plus(Millis::new(process.began.saturating_mul(1000) / per_second)))
}

/// Whether a process runs the program this one runs.
fn same_program(pid: u32) -> bool {
    let name = |path: std::path::PathBuf| path.file_name().map(std::ffi::OsStr::to_owned);
    let other = fs::read_link(format!("/proc/{pid}/exe")).ok().and_then(name);
    other.is_some() && other == std::env::current_exe().ok().and_then(name)
}

/// CPU time used so far by everything below `root`, processes that have ended included.
///
/// Grows by at least a hundredth of a window of time when the tree "uses CPU" in that window.
pub fn tree_cpu(root: u32) -> Duration {
    let table = snapshot();
    let below = below(&table, root);
    let waited_for = table.iter().find(|p| p.pid == root).map_or(0, |p| p.children_ticks);
    let ticks = below
        .iter()
        .map(|p| p.own_ticks.saturating_add(p.children_ticks))
        .fold(waited_for, u64::saturating_add);
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Duration::from_millis(ticks.saturating_mul(1000) / per_second)
}

/// Everything that descends from `root`, without it, zombies left out.
pub(super) fn living_below(root: u32) -> Vec<Process> {
    let mut found = below(&snapshot(), root);
    found.retain(|process| !process.zombie);
    found
}

/// Every process there is. One that ends while the table is read may be missing.
pub(super) fn snapshot() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(look)
        .collect()
}

/// One process by its id; none when it is gone.
pub(super) fn look(pid: u32) -> Option<Process> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &String::from_utf8_lossy(&text))
}

/// Sends a signal to exactly this process; whether it was still there.
pub(super) fn signal(process: &Process, signal: Signal) -> bool {
    let Some(pid) = id(process.pid) else { return false };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let same = look(process.pid).is_some_and(|now| now.began == process.began);
    same && pidfd_send_signal(handle, signal).is_ok()
}

/// Kills the group this process belongs to at one stroke, which no fork can outrun.
///
/// Only for descendants of the keeper: a group never spans sessions, and theirs are all its own.
pub(super) fn kill_group(process: &Process) {
    let same = look(process.pid).is_some_and(|now| now.began == process.began);
    if let (true, Some(group)) = (same, id(process.group)) {
        // Already gone is as good.
        kill_process_group(group, Signal::KILL).ok();
    }
}

/// A process id as the system calls take it.
pub(super) fn id(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

fn below(table: &[Process], root: u32) -> Vec<Process> {
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

/// Reads a `stat` line. The name in it may hold blanks and brackets: the last bracket ends it.
fn parse(pid: u32, stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let small = |at: usize| fields.get(at)?.parse::<u32>().ok();
    Some(Process {
        pid,
        zombie: matches!(*fields.first()?, "Z" | "X"),
        parent: small(1)?,
        group: small(2)?,
        session: small(3)?,
        own_ticks: number(11)?.saturating_add(number(12)?),
        children_ticks: number(13)?.saturating_add(number(14)?),
        began: number(19)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "42 (a (b) c) S 7 40 39 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 555 1 2";

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let process = parse(42, STAT).unwrap();
        assert_eq!((process.parent, process.group, process.session), (7, 40, 39));
        assert_eq!((process.own_ticks, process.children_ticks, process.began), (30, 70, 555));
        assert!(!process.zombie);
    }

    #[test]
    fn a_line_cut_short_is_no_process() {
        assert_eq!(parse(42, "42 (a) S 7"), None);
        assert_eq!(parse(42, ""), None);
    }

    #[test]
    fn descendants_are_found_through_any_depth_and_never_include_the_root() {
        let base = parse(1, STAT).unwrap();
        let process = |pid, parent| Process { pid, parent, ..base };
        let table = [process(4, 3), process(3, 2), process(2, 1), process(9, 8)];
        let found: BTreeSet<u32> = below(&table, 2).iter().map(|p| p.pid).collect();
        assert_eq!(found, BTreeSet::from([3, 4]));
    }

    #[test]
    fn a_table_that_points_in_a_circle_ends() {
        let base = parse(1, STAT).unwrap();
        let table = [Process { pid: 2, parent: 3, ..base }, Process { pid: 3, parent: 2, ..base }];
        assert_eq!(below(&table, 2).len(), 1);
    }

    #[test]
    fn this_very_process_is_in_the_table() {
        assert!(snapshot().iter().any(|p| p.pid == std::process::id()));
    }
}
