//! One story of the task list: whether it is done, and what was spent on it.

use flyball_core::tasklist::Story;
use flyball_core::{IterationNo, Policy, TaskId};
use serde::Serialize;

use super::iteration::IterationView;
use super::words;

/// How much of a title is kept.
const TITLE_MAX: usize = 200;

/// A story, seen from a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoryView {
    /// Which.
    pub task: TaskId,
    /// Its title.
    pub title: String,
    /// Whether it is done.
    pub done: bool,
    /// Iterations that worked on it.
    pub iterations: u64,
    /// The last of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<IterationNo>,
    /// Money they used, in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// Money of those that moved nothing forward.
    pub cost_without_progress_micro_usd: u64,
}

impl StoryView {
    pub(super) fn new(story: &Story, policy: &Policy, iterations: &[IterationView]) -> Self {
        let of_it = || iterations.iter().filter(|one| one.task.as_ref() == Some(&story.id));
        let cost = |one: &IterationView| one.cost_micro_usd;
        Self {
            task: story.id.clone(),
            title: words::line(&story.title, TITLE_MAX),
            done: story.is_done(&policy.review),
            iterations: of_it().count() as u64,
            last: of_it().next_back().map(|one| one.iteration),
            cost_micro_usd: of_it().map(cost).sum(),
            cost_without_progress_micro_usd: of_it()
                .filter(|one| one.progress == Some(false))
                .map(cost)
                .sum(),
        }
    }
}
