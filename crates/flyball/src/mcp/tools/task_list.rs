//! `task_list`: the tasks of the repository with what is remembered of them.

use std::collections::BTreeMap;

use flyball_core::GuardKind;
use flyball_core::TaskId;
use flyball_core::task::{Pattern, Remedy, Standing, TaskStatus};
use flyball_core::tasklist::{Story, TaskList};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::refused::Refused;
use crate::mcp::site::{self, Call, Site};
use crate::mcp::tool::{Tool, ToolEffect};
use crate::mcp::words;

pub(super) struct ListTasks;

/// Which tasks.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// Only tasks of this state; all when left out.
    #[serde(default)]
    state: Option<TaskState>,
}

/// Where a task stands in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::mcp) enum TaskState {
    /// To be worked on.
    Open,
    /// Waits for a review.
    NeedsReview,
    /// A review wants something changed.
    ChangesRequested,
    /// Blocked by its own claim; still planned, last.
    Blocked,
    /// Waits for a human's answer.
    Asked,
    /// Left for others; never counts as passed.
    SetAside,
    /// Given to a human.
    Escalated,
    /// Stopped by a safety guard; only a human brings it back.
    Tripped,
    /// Finished.
    Done,
}

/// One task.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct TaskRow {
    /// Its id.
    pub(in crate::mcp) task: String,
    /// What it is called.
    title: String,
    /// Where it stands.
    state: TaskState,
    /// The smallest is worked on first.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<i64>,
    /// Tasks that must be done before.
    depends_on: Vec<String>,
    /// Attempts at it that are remembered.
    attempts: u64,
    /// The loop its attempts make now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<&'static str>,
    /// What is due about that, or was done last.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'static str>,
}

/// The tasks.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    /// The project's name.
    project: String,
    /// The tasks, in file order.
    tasks: Vec<TaskRow>,
    /// How many are done.
    done: u32,
    /// How many there are.
    total: u32,
    /// Whether all are done.
    complete: bool,
}

impl Tool for ListTasks {
    const NAME: &'static str = "task_list";
    const DESCRIPTION: &'static str = "List the tasks of this repository's task list with where \
        each stands, how often it was attempted, and whether its attempts look like a loop.";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let (_, list) = call.site.tasks()?;
        let review = &call.site.config.policy.review;
        let (done, total) = list.counts(review);
        let mut tasks = rows(call.site, &list)?;
        if let Some(state) = input.state {
            tasks.retain(|row| row.state == state);
        }
        let complete = list.complete(review);
        Ok(Output { project: list.project().to_owned(), tasks, done, total, complete })
    }
}

/// Every task as a row.
pub(in crate::mcp) fn rows(site: &Site, list: &TaskList) -> Result<Vec<TaskRow>, Refused> {
    let (journal, now) = (site.journal()?, site::now());
    let enclosing = site.enclosing_run(&journal)?;
    let ring = site.task_ring(&journal, now, enclosing.as_ref())?;
    let run = enclosing.map(|enclosing| enclosing.run).unwrap_or_default();
    let known: BTreeMap<TaskId, TaskStatus> = ring
        .status(&site.config.policy.tasks, now, &run)
        .into_iter()
        .map(|status| (status.task.clone(), status))
        .collect();
    Ok(list.stories().iter().map(|story| row(site, story, known.get(&story.id))).collect())
}

fn row(site: &Site, story: &Story, known: Option<&TaskStatus>) -> TaskRow {
    TaskRow {
        task: story.id.to_string(),
        title: story.title.clone(),
        state: state(site, story, known.map(|known| known.standing).unwrap_or_default()),
        priority: story.priority,
        depends_on: story.depends_on.iter().map(ToString::to_string).collect(),
        attempts: known.map_or(0, |known| known.attempts),
        pattern: known.and_then(|known| known.pattern).map(Pattern::guard).map(GuardKind::as_str),
        remedy: known.and_then(|known| known.remedy).map(words::remedy as fn(Remedy) -> _),
    }
}

fn state(site: &Site, story: &Story, standing: Standing) -> TaskState {
    use flyball_core::tasklist::ReviewStatus;
    let review = &site.config.policy.review;
    if story.is_done(review) {
        return TaskState::Done;
    }
    match standing {
        Standing::ForcedDone => TaskState::Done,
        Standing::Blocked => TaskState::Blocked,
        Standing::Asked => TaskState::Asked,
        Standing::SetAside => TaskState::SetAside,
        Standing::Escalated => TaskState::Escalated,
        Standing::Tripped => TaskState::Tripped,
        Standing::Open => match story.review_status.filter(|_| review.enabled) {
            Some(ReviewStatus::NeedsReview) => TaskState::NeedsReview,
            Some(ReviewStatus::ChangesRequested) => TaskState::ChangesRequested,
            Some(ReviewStatus::Approved) | None => TaskState::Open,
        },
    }
}
