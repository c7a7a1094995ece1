//! What needs a human: questions, weakened tests, blocks, and runs that were lost.

use std::collections::BTreeSet;
use std::path::Path;

use flyball_core::gate::tamper::is_question;
use flyball_core::{Moment, Outcome};
use serde::Serialize;

use super::life::{Life, life};
use super::place::Workplace;
use crate::journal::RunSummary;

/// What is asked of a human.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    /// The agent asks.
    Decide,
    /// flyball asks: tests or gates were weakened.
    Tamper,
    /// The agent cannot go on.
    Blocked,
    /// The run did not end, and its process is gone.
    Lost,
}

impl AskKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Decide, Self::Tamper, Self::Blocked, Self::Lost];

    /// In one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Decide => "decide",
            Self::Tamper => "tamper",
            Self::Blocked => "blocked",
            Self::Lost => "lost",
        }
    }

    /// What can be done about it, by the names of the acts.
    pub const fn acts(self) -> &'static [&'static str] {
        match self {
            Self::Decide => &["answer", "resume"],
            Self::Tamper => &["restore-tamper", "accept-tamper", "resume"],
            Self::Blocked => &["unblock", "resume"],
            Self::Lost => &["resume"],
        }
    }
}

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
pub fn asks(runs: &[RunSummary]) -> Vec<Ask> {
    let mut seen: BTreeSet<&Path> = BTreeSet::new();
    let latest = runs.iter().filter(|run| seen.insert(run.root.as_path()));
    let mut found: Vec<Ask> = latest.filter_map(of).collect();
    found.sort_by_key(|ask| ask.since);
    found
}

/// What this run asks of a human, where it is the latest of its worktree.
pub fn of(run: &RunSummary) -> Option<Ask> {
    let outcome = run.ending.as_ref().map(|ending| ending.outcome);
    match (life(run), outcome) {
        (Life::Lost, _) => {
            let text = "flyball was killed, or the machine went down. Everything up to its last event \
                        is kept; it goes on from there.";
            Some(Ask::new(run, AskKind::Lost, text.to_owned()))
        }
        (Life::Ended, Some(Outcome::Blocked | Outcome::Decide)) => waiting(run),
        (Life::Ended | Life::Running, _) => None,
    }
}

/// What stands in the files for humans; a worktree that is gone asks nothing.
fn waiting(run: &RunSummary) -> Option<Ask> {
    let files = Workplace::at(&run.root).ok()?.human_files.human_files().ok()?;
    if let Some(question) = files.question.filter(|_| files.answer.is_none()) {
        let kind = if is_question(&question) { AskKind::Tamper } else { AskKind::Decide };
        return Some(Ask::new(run, kind, question));
    }
    files.blocked.map(|reason| Ask::new(run, AskKind::Blocked, reason))
}
