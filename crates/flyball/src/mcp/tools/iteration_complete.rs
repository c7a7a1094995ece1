//! `iteration_complete`: ends a session, completed if its validation passes, blocked if the agent
//! says so.

use flyball_core::TaskId;
use flyball_core::tasklist::ReviewStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::mcp::refused::Refused;
use crate::mcp::session::{Checkpoint, Of, Session, SessionStatus, Trigger, is_blocked};
use crate::mcp::site::{Call, Site};
use crate::mcp::tool::{Effect, Tool};
use crate::mcp::validate::{self, Report};

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
    checkpoint: Checkpoint,
}

impl Tool for IterationComplete {
    const NAME: &'static str = "iteration_complete";
    const DESCRIPTION: &'static str = "End an iteration session. The validation rules are run once \
        more: while one fails, or a guard has tripped, completion is refused and the text says \
        what is wrong. A BLOCKED promise ends the session as blocked and never marks the task \
        completed. On success the story of the task list moves on (to needs_review, or to passes \
        when reviews are off).";
    const EFFECT: Effect = Effect::Runs;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let mut session = call.site.session(&input.iteration_id)?;
        session.must_be_open()?;
        let said = match &input.promise {
            Some(promise) => format!("{}\n{promise}", input.agent_output),
            None => input.agent_output.clone(),
        };
        if let Some(promise) = &input.promise
            && !is_blocked(promise)
            && session.promised(promise).complete.is_none()
        {
            let known = session.completion_promises.join("`, `");
            return Err(Refused::new(format!(
                "`{promise}` is none of this session's promises: `{known}`; to end it as blocked, \
                 give `<promise>BLOCKED:reason</promise>`"
            )));
        }
        let own_words = input.promise.as_deref().filter(|promise| is_blocked(promise));
        if let Some(reason) = session.promised(&said).blocked.or(own_words.map(str::to_owned)) {
            return blocked(call.site, session, reason);
        }
        let earlier = session.current.as_ref().and_then(|current| current.report.clone());
        let report = input.report.or(earlier);
        let judged = validate::judge(call, &mut session, &said, report.as_ref())?;
        call.site.keep(&mut session)?;
        if !judged.passed {
            return Err(Refused::new(format!(
                "completion is refused because validation fails. {}",
                judged.feedback
            )));
        }
        let safety = session.safety(call.site, Of::ThisIteration)?;
        if let Some(message) = safety.message() {
            return Err(Refused::new(format!(
                "completion is refused because a guard has tripped: {message} Call \
                 `iteration_next` to end this session, and tell a human."
            )));
        }
        if judged.promise.is_none() {
            let known = session.completion_promises.join("`, `");
            return Err(Refused::new(format!(
                "completion is refused because nothing promises it: give `promise` as one of \
                 `{known}`, or the agent's words with it as `agent_output`"
            )));
        }
        completed(call.site, session, input.notes)
    }
}

fn blocked(site: &Site, mut session: Session, reason: String) -> Result<Output, Refused> {
    let mut checkpoint = site.checkpoint(&session, Trigger::Blocked);
    checkpoint.note = Some(reason.clone());
    session.add_checkpoint(checkpoint.clone());
    session.end(SessionStatus::Blocked, reason.clone());
    site.keep(&mut session)?;
    site.block_task(&session, &reason)?;
    Ok(Output {
        completed: false,
        verified: false,
        iteration: session.iteration,
        session_status: session.status,
        message: Some(reason),
        task_list: "left as it is".to_owned(),
        checkpoint,
        iteration_id: session.id,
        task: session.task,
    })
}

fn completed(site: &Site, mut session: Session, notes: Option<String>) -> Result<Output, Refused> {
    let checkpoint = site.checkpoint(&session, Trigger::Complete);
    session.add_checkpoint(checkpoint.clone());
    session.end(SessionStatus::Completed, "its validation passed");
    site.keep(&mut session)?;
    site.complete_task(&session)?;
    Ok(Output {
        completed: true,
        verified: !session.validation_rules.is_empty(),
        iteration: session.iteration,
        session_status: session.status,
        message: None,
        task_list: move_story(site, &session, notes),
        checkpoint,
        iteration_id: session.id,
        task: session.task,
    })
}

/// Moves the story on in the task list, where the task is one and may move.
fn move_story(site: &Site, session: &Session, notes: Option<String>) -> String {
    let task = TaskId::new(&session.task);
    let Some(list) = site.tasks_if_any() else { return "there is none".to_owned() };
    if list.story(&task).is_none() {
        return format!("has no task `{task}`");
    }
    let review = site.config.policy.review.enabled;
    let notes = notes.unwrap_or_else(|| {
        format!("completed in {} iteration(s); all validation rules hold", session.iteration)
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
