//! What needs a human: questions, weakened tests, blocks, and runs that were lost.

use std::collections::BTreeSet;
use std::path::Path;

use flyball_core::event::HumanFiles;
use flyball_core::gate::TamperFinding;
use flyball_core::need::{AskKind, need_of_ended};
use flyball_core::{Moment, Outcome};
use serde::Serialize;

use super::life::{Life, life};
use super::place::Workplace;
use crate::journal::{Journal, JournalError, RunSummary};

/// Something that needs a human.
#[derive(Clone, Debug, Serialize)]
pub struct Ask {
    /// Which run.
    pub run: RunSummary,
    /// What sort of thing.
    pub kind: AskKind,
    /// Since when.
    pub since: Moment,
    /// What is asked, or what blocks; may have several lines, and is the agent's own text.
    pub text: String,
    /// What tells this question from the next one: an answer names it.
    pub about: String,
    /// What can be done about it.
    pub acts: &'static [&'static str],
}

impl Ask {
    fn new(run: &RunSummary, kind: AskKind, text: String) -> Self {
        let since =
            if kind == AskKind::Lost { run.last_at } else { run.ended.unwrap_or(run.last_at) };
        let about = about(&text);
        Self { run: run.clone(), kind, since, text, about, acts: kind.acts() }
    }
}

/// The mark of a question.
pub fn about(text: &str) -> String {
    let digest = blake3::hash(text.trim().as_bytes()).to_hex();
    digest.as_str().chars().take(16).collect()
}

/// What needs a human among these runs, given the latest first; the oldest first. Only the latest run
/// of a worktree asks: what an earlier one asked is overtaken.
pub fn asks(journal: &Journal, runs: &[RunSummary]) -> Result<Vec<Ask>, JournalError> {
    let mut seen: BTreeSet<&Path> = BTreeSet::new();
    let latest = runs.iter().filter(|run| seen.insert(run.root.as_path()));
    let mut found = Vec::new();
    for run in latest {
        found.extend(of(journal, run)?);
    }
    found.sort_by_key(|ask| ask.since);
    Ok(found)
}

/// What this run asks of a human, where it is the latest of its worktree. A worktree that is gone asks
/// nothing.
pub fn of(journal: &Journal, run: &RunSummary) -> Result<Option<Ask>, JournalError> {
    match life(run) {
        Life::Running => Ok(None),
        Life::Lost => {
            let text = "flyball was killed, or the machine went down. Everything up to its last event \
                        is kept; it goes on from there.";
            Ok(Some(Ask::new(run, AskKind::Lost, text.to_owned())))
        }
        Life::Ended => {
            let outcome = run.ending.as_ref().map(|ending| ending.outcome);
            let weakened = journal.weakened_at(&run.root)?;
            let may_wait = matches!(outcome, Some(Outcome::Blocked | Outcome::Decide));
            if (weakened.is_empty() && !may_wait) || !run.root.is_dir() {
                return Ok(None);
            }
            let files = if may_wait { waiting(run) } else { Some(HumanFiles::default()) };
            let weakened: Vec<&TamperFinding> = weakened.iter().collect();
            let need = files.and_then(|files| need_of_ended(outcome, &files, &weakened));
            Ok(need.map(|(kind, text)| Ask::new(run, kind, text)))
        }
    }
}

/// What stands in the files for humans, where they can be read.
fn waiting(run: &RunSummary) -> Option<HumanFiles> {
    Workplace::at(&run.root).ok()?.human_files.human_files().ok()
}
