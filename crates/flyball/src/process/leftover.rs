//! What is left when a keeper itself was killed: found by its session or by the mark of its run.
//!
//! Never ends a process that carries no such mark, nor flyball itself or what flyball runs under.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use flyball_core::RunId;

use super::enclosing::walls_mark;
use crate::clock::Deadline;
use crate::platform::{self, Process, Signal};

/// How long leftovers may take to end by themselves.
const GRACE: Duration = Duration::from_millis(300);
/// How long killing goes on before it is given up.
const KILL_MAX: Duration = Duration::from_secs(5);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);
/// Looks in a row that must find nothing.
const QUIET_LOOKS: u32 = 2;

/// The processes that carry `FLYBALL_RUN=<run>` in their environment: an agent and its children
/// that outlived both flyball and the keeper.
pub fn leftovers(run: &RunId) -> Vec<u32> {
    marked(run).iter().map(|process| process.pid).collect()
}

/// Ends the leftovers of a run, first asking, then killing; the ids of those it met.
pub fn end_leftovers(run: &RunId) -> Vec<u32> {
    let mut met = BTreeSet::new();
    let grace = Deadline::after(GRACE);
    let limit = Deadline::after(GRACE + KILL_MAX);
    let mut quiet = 0_u32;
    loop {
        let left = marked(run);
        // A program that is just being started shows no environment for a moment: nothing twice.
        quiet = if left.is_empty() { quiet.saturating_add(1) } else { 0 };
        if quiet >= QUIET_LOOKS || limit.passed() {
            return met.into_iter().collect();
        }
        for process in &left {
            if met.insert(process.pid) {
                platform::signal(process, Signal::Terminate);
            } else if grace.passed() {
                platform::signal(process, Signal::Kill);
            }
        }
        thread::sleep(PAUSE);
    }
}

/// Kills everything in the session of a dead keeper; how many there were.
pub(super) fn end_session(keeper: u32) -> u32 {
    let mut met = BTreeSet::new();
    let limit = Deadline::after(KILL_MAX);
    loop {
        let table = platform::snapshot();
        let left = table.iter().filter(|p| p.session == keeper && p.pid != keeper && !p.zombie);
        let before = met.len();
        let mut any = false;
        for process in left {
            any = true;
            met.insert(process.pid);
            platform::signal(process, Signal::Kill);
        }
        if !any || limit.passed() {
            return u32::try_from(met.len()).unwrap_or(u32::MAX);
        }
        if met.len() == before {
            thread::sleep(PAUSE);
        }
    }
}

/// The processes with the mark of a run: in their environment, or in what they see of the file
/// system behind its walls, which none of them can take off.
fn marked(run: &RunId) -> Vec<Process> {
    let (mark, walls) = (format!("FLYBALL_RUN={run}").into_bytes(), walls_mark(run));
    let table = platform::snapshot();
    let spared = self_and_above(&table);
    let is_marked = |pid| platform::carries(pid, &mark) || platform::sees_mounted(pid, &walls);
    table
        .into_iter()
        .filter(|process| !process.zombie && !spared.contains(&process.pid))
        .filter(|process| is_marked(process.pid))
        .collect()
}

fn self_and_above(table: &[Process]) -> BTreeSet<u32> {
    let mut spared = BTreeSet::new();
    let mut next = Some(std::process::id());
    while let Some(pid) = next.filter(|pid| spared.insert(*pid)) {
        next = table.iter().find(|process| process.pid == pid).map(|process| process.parent);
    }
    spared
}
