//! What is asked of the process table: who still runs, and who used the CPU.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use flyball_core::{Millis, Moment};

use crate::platform;

/// How far the clock may have been set forward after a process began without it being taken for
/// another one.
const CLOCK_SLACK: Millis = Millis::from_secs(60);

/// Whether the process that had this id at that moment still runs. An id given anew, to something
/// that began later, is another process.
pub fn still_runs(pid: u32, at: Moment) -> bool {
    let Some(process) = platform::look(pid).filter(|process| !process.zombie) else { return false };
    let began = platform::began_at(&process);
    began.is_none_or(|began| began <= at.plus(CLOCK_SLACK)) || same_program(pid)
}

/// Whether a process runs the program this one runs.
fn same_program(pid: u32) -> bool {
    let name = |path: PathBuf| path.file_name().map(OsStr::to_owned);
    let other = platform::program_of(pid).and_then(name);
    other.is_some() && other == std::env::current_exe().ok().and_then(name)
}

/// CPU time used so far by everything below `root`, processes that have ended included.
///
/// Grows by at least a hundredth of a window of time when the tree "uses CPU" in that window.
pub fn tree_cpu(root: u32) -> Duration {
    let table = platform::snapshot();
    let waited_for =
        table.iter().find(|p| p.pid == root).map_or(Duration::ZERO, |p| p.cpu_of_ended);
    platform::below(&table, root)
        .iter()
        .map(|p| p.cpu.saturating_add(p.cpu_of_ended))
        .fold(waited_for, Duration::saturating_add)
}
