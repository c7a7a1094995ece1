//! A block that is cleared, and tasks that are brought back.

use flyball_core::task::{Standing, TaskRing};
use flyball_core::{Millis, Moment, TaskId};

use super::asks::about;
use super::place::Workplace;
use crate::error::CliError;
use crate::journal::Journal;

/// What was cleared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unblocked {
    /// What blocked, where a file said so.
    pub reason: Option<String>,
    /// Tasks that stand open again, and where they stood.
    pub brought_back: Vec<(TaskId, Standing)>,
    /// Whether a question waits, and whether it is answered.
    pub question: Option<bool>,
}

impl Unblocked {
    /// Whether nothing was blocked.
    pub const fn is_nothing(&self) -> bool {
        self.reason.is_none() && self.brought_back.is_empty()
    }
}

/// Clears what blocks a worktree; only the block with this mark, where one is named.
pub fn unblock(
    place: &Workplace,
    journal: &mut Journal,
    mark: Option<&str>,
    now: Moment,
) -> Result<Unblocked, CliError> {
    let path = place.human_files.file("blocked.txt");
    let failed = |verb: &str| format!("`{}` could not be {verb}", path.display());
    let seen = place
        .human_files
        .human_files()
        .map_err(|error| CliError::io(failed("read")).cause(error))?;
    if let Some(mark) = mark
        && seen.blocked.as_deref().map(about).as_deref() != Some(mark)
    {
        return Err(CliError::already_running("this block is not there any more")
            .hint("somebody has cleared it, or another one stands there by now"));
    }
    if seen.blocked.is_some() {
        place
            .human_files
            .remove_blocked()
            .map_err(|error| CliError::io(failed("removed")).cause(error))?;
    }
    let memory = journal.task_memory(&place.root, now, Millis::ZERO)?;
    let mut ring = TaskRing::new(memory.clone());
    let mut brought_back = Vec::new();
    for task in ring.bring_back() {
        let stood = memory.standings.iter().find(|(one, _)| *one == task);
        let stood = stood.map_or(Standing::Open, |(_, standing)| *standing);
        journal.mark_task(&place.root, &task, (Standing::Open, now))?;
        brought_back.push((task, stood));
    }
    let question = seen.question.map(|_| seen.answer.is_some());
    Ok(Unblocked { reason: seen.blocked, brought_back, question })
}
