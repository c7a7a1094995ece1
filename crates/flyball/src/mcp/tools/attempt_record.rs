//! `attempt_record`: an attempt at a task is remembered.

use flyball_core::task::{Attempt, AttemptStatus, Pattern, TaskRing};
use flyball_core::{GuardKind, IterationNo, Moment, RunId, TaskId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::mcp::enclosing_run::{EnclosingRun, Recorded};
use crate::mcp::refused::Refused;
use crate::mcp::site::{self, Call, Site};
use crate::mcp::tool::{Tool, ToolEffect};
use crate::mcp::words;

/// Blockers or pieces of work of one attempt.
const ITEMS_MAX: usize = 1_000;

pub(super) struct RecordAttempt;

/// The attempt.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The task's id.
    task: String,
    /// Where the task stands after it.
    status: Status,
    /// What was in the way, one short text each; use the same words for the same blocker.
    #[serde(default)]
    blockers: Vec<String>,
    /// What was done: commits, files, findings fixed.
    #[serde(default)]
    work_completed: Vec<String>,
    /// The agent session it belongs to.
    #[serde(default)]
    session: Option<String>,
}

/// Where a task stands after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// Not begun.
    Pending,
    /// Begun, not finished.
    InProgress,
    /// Something is in the way.
    Blocked,
    /// Finished.
    Done,
}

impl Status {
    const fn of_attempt(self) -> AttemptStatus {
        match self {
            Self::Pending => AttemptStatus::Pending,
            Self::InProgress => AttemptStatus::InProgress,
            Self::Blocked => AttemptStatus::Blocked,
            Self::Done => AttemptStatus::Done,
        }
    }
}

/// What is remembered now.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The task's id.
    task: String,
    /// When, RFC 3339.
    at: String,
    /// Attempts at it that are remembered.
    attempts: u64,
    /// The iteration of a run this becomes a part of, when there is one; it is no attempt of its
    /// own then.
    #[serde(skip_serializing_if = "Option::is_none")]
    added_to: Option<String>,
    /// The loop its attempts make now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<&'static str>,
    /// What is due about that: `loop_check` does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'static str>,
    /// What to do next.
    advice: String,
}

impl Tool for RecordAttempt {
    const NAME: &'static str = "attempt_record";
    const DESCRIPTION: &'static str = "Record one attempt at a task: its status afterwards, what \
        was in the way, and what was really done. Attempts are remembered across sessions; \
        loop_check finds loops in them. Inside a flyball run it adds to the attempt of the \
        iteration at hand.";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let task = Site::task_id(&input.task)?;
        let (blockers, work) = (items(input.blockers)?, items(input.work_completed)?);
        let mut journal = call.site.journal()?;
        let attempt = Attempt {
            task: task.clone(),
            at: site::now(),
            run: RunId::default(),
            iteration: IterationNo::default(),
            status: input.status.of_attempt(),
            blockers: blockers.into_iter().collect(),
            work: work.into_iter().collect(),
            session: input.session.unwrap_or_default(),
        };
        let (now, enclosing) = match call.site.record(&mut journal, attempt)? {
            Recorded::Attempt(attempt) => (attempt.at, None),
            Recorded::Report(enclosing) => (site::now(), Some(enclosing)),
        };
        let ring = call.site.task_ring(&journal, now, enclosing.as_ref())?;
        Ok(answer(call.site, &ring, (&task, now), enclosing))
    }
}

fn answer(
    site: &Site,
    ring: &TaskRing,
    (task, now): (&TaskId, Moment),
    enclosing: Option<EnclosingRun>,
) -> Output {
    let rules = &site.config.policy.tasks;
    let run = enclosing.as_ref().map(|enclosing| enclosing.run.clone()).unwrap_or_default();
    let status = ring.status(rules, now, &run).into_iter().find(|one| one.task == *task);
    let found = ring.detect(rules, &run, now, task);
    let due = found.as_ref().is_some_and(|found| found.remedy.is_some());
    let advice = match &enclosing {
        Some(_) => {
            "this becomes part of what the iteration is recorded as; flyball looks for loops \
             before the next one"
        }
        None if due => "these attempts look like a loop: call `loop_check` before you go on",
        None => "go on",
    };
    Output {
        task: task.to_string(),
        at: clock::rfc3339(now),
        attempts: status.map_or(0, |status| status.attempts),
        added_to: enclosing.map(|one| format!("iteration {} of run {}", one.iteration, one.run)),
        pattern: found
            .as_ref()
            .map(|found| found.pattern)
            .map(Pattern::guard)
            .map(GuardKind::as_str),
        remedy: found.and_then(|found| found.remedy).map(words::remedy),
        advice: advice.to_owned(),
    }
}

fn items(items: Vec<String>) -> Result<Vec<String>, Refused> {
    if items.len() > ITEMS_MAX {
        return Err(Refused::arguments(format!(
            "{} entries are too many; name the {ITEMS_MAX} that matter",
            items.len()
        )));
    }
    let texts = items.into_iter().map(|item| item.trim().to_owned());
    Ok(texts.filter(|item| !item.is_empty()).collect())
}
