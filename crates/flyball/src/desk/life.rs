//! Whether a run goes on.

use std::path::Path;

use flyball_core::{Millis, Moment};
use serde::Serialize;

use crate::journal::{Journal, JournalError, RunFilter, RunSummary};
use crate::process;

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Life {
    /// Its process is at work.
    Running,
    /// It did not end, and its process is gone.
    Lost,
    /// It ended.
    Ended,
}

/// Whether a run goes on.
pub fn life(run: &RunSummary) -> Life {
    if run.ended.is_some() {
        return Life::Ended;
    }
    match run.pid {
        Some(pid) if process::still_runs(pid, run.last_at) => Life::Running,
        Some(_) | None => Life::Lost,
    }
}

/// How long a run took, or takes.
pub fn elapsed(run: &RunSummary, now: Moment) -> Millis {
    match (life(run), &run.ending) {
        (Life::Running, _) => now.since(run.started),
        (Life::Ended, Some(ending)) => Millis::new(ending.tally.runtime_ms),
        (Life::Ended | Life::Lost, _) => run.last_at.since(run.started),
    }
}

/// The run at work in a worktree.
pub fn at_work(journal: &Journal, root: &Path) -> Result<Option<RunSummary>, JournalError> {
    let filter = RunFilter { root: Some(root.to_path_buf()), unfinished: true, limit: 0 };
    Ok(journal.runs(&filter)?.into_iter().find(|run| life(run) == Life::Running))
}
