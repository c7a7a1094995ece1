//! `task_update`: moves a task on, if that is a legal move.

use std::collections::BTreeSet;

use flyball_core::TaskId;
use flyball_core::task::{AttemptReport, AttemptStatus, Standing};
use flyball_core::tasklist::{Mode, ReviewStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::task_list::{self, TaskRow};
use crate::mcp::refused::Refused;
use crate::mcp::site::{self, Call, Site};
use crate::mcp::tool::{Tool, ToolEffect};

pub(super) struct UpdateTask;

/// What changes.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The task's id.
    task: String,
    /// Where its review stands now.
    #[serde(default)]
    review_status: Option<ReviewState>,
    /// What the review wants; needed with `changes_requested`.
    #[serde(default)]
    review_feedback: Option<String>,
    /// Whether it passes; only when reviews are off.
    #[serde(default)]
    passes: Option<bool>,
    /// What was done; needed before a task can pass.
    #[serde(default)]
    notes: Option<String>,
    /// Whether something is in the way: true puts it at the end of the queue, false takes that
    /// back.
    #[serde(default)]
    blocked: Option<bool>,
}

/// Where a review stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ReviewState {
    /// Someone has to look at it.
    NeedsReview,
    /// Someone looked and wants something else.
    ChangesRequested,
    /// Someone looked and is content.
    Approved,
}

impl ReviewState {
    const fn status(self) -> ReviewStatus {
        match self {
            Self::NeedsReview => ReviewStatus::NeedsReview,
            Self::ChangesRequested => ReviewStatus::ChangesRequested,
            Self::Approved => ReviewStatus::Approved,
        }
    }
}

/// The task as it is now.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The task's id.
    task: String,
    /// The task as it is now.
    updated: TaskRow,
    /// The run you are in: what is in the way goes into what it records of the iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_to: Option<String>,
}

impl Tool for UpdateTask {
    const NAME: &'static str = "task_update";
    const DESCRIPTION: &'static str = "Move a task of the task list on: hand it in for review, \
        approve it, request changes, set it to pass (when reviews are off), add notes, or mark it \
        blocked. Only legal moves are written; others are refused with the reason, and nothing \
        changes.";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let task = Site::task_id(&input.task)?;
        let in_file = input.review_status.is_some()
            || input.review_feedback.is_some()
            || input.passes.is_some()
            || input.notes.is_some();
        if !in_file && input.blocked.is_none() {
            return Err(Refused::arguments("nothing is to be changed"));
        }
        if in_file {
            call.site.change_story(&task, |story, mode| {
                change(story, mode, &input);
                Ok(())
            })?;
        }
        let (_, list) = call.site.tasks()?;
        let rows = || task_list::rows(call.site, &list);
        let row = |rows: Vec<TaskRow>| rows.into_iter().find(|row| row.task == task.as_str());
        if row(rows()?).is_none() {
            return Err(Refused::new(format!(
                "there is no task `{task}` in the task list; `task_list` shows those there are"
            )));
        }
        let left_to = match input.blocked {
            Some(true) => mark(call.site, &task, AttemptStatus::Blocked)?,
            Some(false) => mark(call.site, &task, AttemptStatus::InProgress)?,
            None => None,
        };
        let updated = row(rows()?)
            .ok_or_else(|| Refused::new(format!("task `{task}` is gone from the task list")))?;
        Ok(Output { task: task.to_string(), updated, left_to })
    }
}

/// Marks a task as blocked, or takes that back. Inside a run that is a report on the iteration's
/// attempt; says which run has it.
fn mark(site: &Site, task: &TaskId, status: AttemptStatus) -> Result<Option<String>, Refused> {
    let mut journal = site.journal()?;
    let mut report = reported(task, status);
    if status == AttemptStatus::Blocked {
        report.blockers.insert(String::from("the agent marked it blocked"));
    }
    if let Some(enclosing) = site.hand_over(&journal, report)? {
        return Ok(Some(enclosing.run.to_string()));
    }
    let now = site::now();
    let before = site.task_ring(&journal, now, None)?.standing(task);
    let standing = match (status, before) {
        (AttemptStatus::Blocked, Standing::Open) => Standing::Blocked,
        (AttemptStatus::InProgress, Standing::Blocked) => Standing::Open,
        // What a human or a remedy has decided is not for the agent to take back.
        (_, _) => return Ok(None),
    };
    journal.mark_task(&site.root, task, (standing, now))?;
    Ok(None)
}

fn reported(task: &TaskId, status: AttemptStatus) -> AttemptReport {
    let (task, blockers, work) = (task.clone(), BTreeSet::new(), BTreeSet::new());
    AttemptReport { task, status, blockers, work, tripped: false }
}

fn change(story: &mut serde_json::Map<String, Value>, mode: Mode, input: &Input) {
    if let Some(status) = input.review_status {
        story.insert("reviewStatus".to_owned(), status.status().as_str().into());
        if mode == Mode::Review {
            let count = story.get("reviewCount").and_then(Value::as_u64).unwrap_or(0);
            story.insert("reviewCount".to_owned(), count.saturating_add(1).into());
            if status == ReviewState::Approved {
                story.insert("passes".to_owned(), true.into());
            }
        }
    }
    if let Some(feedback) = &input.review_feedback {
        story.insert("reviewFeedback".to_owned(), feedback.clone().into());
    }
    if let Some(passes) = input.passes {
        story.insert("passes".to_owned(), passes.into());
    }
    if let Some(notes) = &input.notes {
        story.insert("notes".to_owned(), notes.clone().into());
    }
}
