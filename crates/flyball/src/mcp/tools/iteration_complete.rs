//! `iteration_complete`: ends a session, completed if its validation passes, blocked if the agent
//! says so.

use flyball_core::TaskId;
use flyball_core::iteration_session::{CheckpointDue, CompleteStep};
use flyball_core::task::Standing;
use flyball_core::tasklist::ReviewStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::mcp::refused::Refused;
use crate::mcp::session::McpSession;
use crate::mcp::site::{Call, Site};
use crate::mcp::tool::{Tool, ToolEffect};
use crate::mcp::validate::{self, Report};
use crate::mcp::words::{CheckpointWords, SessionStatus};

pub(super) struct IterationComplete;

/// Which session is complete, and by which promise.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The session, as `iteration_start` named it.
    iteration_id: String,
    /// The promise that is met: one of the session's, or `<promise>BLOCKED:reason</promise>` to
    /// end it as blocked.
    #[serde(default)]
    promise: Option<String>,
    /// What the agent said; promises are looked for in it.
    #[serde(default)]
    agent_output: String,
    /// What you found by means of your own; the report of the last `iteration_validate` of this
    /// iteration when left out.
    #[serde(default)]
    report: Option<Report>,
    /// What was done, for the task list.
    #[serde(default)]
    notes: Option<String>,
}

/// How the session ended.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The session.
    iteration_id: String,
    /// Its task.
    task: String,
    /// Whether the task is completed.
    completed: bool,
    /// Whether rules checked that, or only the promise says so.
    verified: bool,
    /// How many iterations it took.
    iteration: u32,
    /// Where the session stands.
    session_status: SessionStatus,
    /// What is in the way, when it is blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What became of the task in the task list.
    task_list: String,
    /// The last checkpoint.
    checkpoint: CheckpointWords,
}

impl Tool for IterationComplete {
    const NAME: &'static str = "iteration_complete";
    const DESCRIPTION: &'static str = "End an iteration session. The validation rules are run once \
        more: while one fails, or a guard has tripped, completion is refused and the text says \
        what is wrong. A BLOCKED promise ends the session as blocked and never marks the task \
        completed. On success the story of the task list moves on (to needs_review, or to passes \
        when reviews are off).";
    const EFFECT: ToolEffect = ToolEffect::Runs;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let mut session = call.site.open_session(&input.iteration_id)?;
        let given = input.report.map(Report::checked).transpose()?;
        let step = session.machine.complete(&input.agent_output, input.promise.as_deref());
        match step.map_err(|error| Refused::session(&session.id, &error))? {
            CompleteStep::Blocked { reason, due } => blocked(call.site, session, reason, due),
            CompleteStep::JudgeFirst { said, report } => {
                let report = given.or(report);
                let (judged, _) = validate::judge(call, &mut session, &said, report.as_ref())?;
                let finished = session.machine.finish(&judged);
                let due = match finished {
                    Ok(due) => due,
                    Err(error) => {
                        call.site.keep(&mut session)?;
                        return Err(Refused::session(&session.id, &error));
                    }
                };
                completed(call.site, session, input.notes, due)
            }
        }
    }
}

fn blocked(
    site: &Site,
    mut session: McpSession,
    reason: String,
    due: CheckpointDue,
) -> Result<Output, Refused> {
    let checkpoint = session.checkpoint(site, due);
    site.keep(&mut session)?;
    site.block_task(&session, (Standing::Blocked, &reason))?;
    Ok(Output {
        completed: false,
        verified: false,
        iteration: session.machine.iteration(),
        session_status: session.machine.status().into(),
        message: Some(reason),
        task_list: "left as it is".to_owned(),
        checkpoint,
        iteration_id: session.id,
        task: session.task,
    })
}

fn completed(
    site: &Site,
    mut session: McpSession,
    notes: Option<String>,
    due: CheckpointDue,
) -> Result<Output, Refused> {
    let checkpoint = session.checkpoint(site, due);
    site.keep(&mut session)?;
    site.complete_task(&session)?;
    Ok(Output {
        completed: true,
        verified: !session.validation_rules.is_empty(),
        iteration: session.machine.iteration(),
        session_status: session.machine.status().into(),
        message: None,
        task_list: move_story(site, &session, notes),
        checkpoint,
        iteration_id: session.id,
        task: session.task,
    })
}

/// Moves the story on in the task list, where the task is one and may move.
fn move_story(site: &Site, session: &McpSession, notes: Option<String>) -> String {
    let task = TaskId::new(&session.task);
    let Some(list) = site.tasks_if_any() else { return "there is none".to_owned() };
    if list.story(&task).is_none() {
        return format!("has no task `{task}`");
    }
    let review = site.config.policy.review.enabled;
    let notes = notes.unwrap_or_else(|| {
        format!(
            "completed in {} iteration(s); all validation rules hold",
            session.machine.iteration()
        )
    });
    let moved = site.change_story(&task, |story, _| {
        if story.get("notes").and_then(Value::as_str).is_none_or(|old| old.trim().is_empty()) {
            story.insert("notes".to_owned(), notes.into());
        }
        if review {
            let status = ReviewStatus::NeedsReview.as_str();
            story.insert("reviewStatus".to_owned(), status.into());
        } else {
            story.insert("passes".to_owned(), true.into());
        }
        Ok(())
    });
    match moved {
        Ok(()) if review => format!("task `{task}` now needs review"),
        Ok(()) => format!("task `{task}` now passes"),
        Err(refused) => format!("left as it is: {refused}"),
    }
}
