//! `loop_status`: the task ring as it stands.

use flyball_core::GuardKind;
use flyball_core::task::{Pattern, TaskStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::mcp::calls::RingState;
use crate::mcp::refused::Refused;
use crate::mcp::site::{self, Call};
use crate::mcp::tool::{Tool, ToolEffect};
use crate::mcp::words;

pub(super) struct LoopStatus;

/// Which tasks.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// Only this task; all when left out.
    #[serde(default)]
    task: Option<String>,
}

/// One task in the ring.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    /// The task's id.
    task: String,
    /// Attempts at it that are remembered.
    attempts: u64,
    /// When the last one was, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_attempt: Option<String>,
    /// Where it stands.
    standing: &'static str,
    /// The loop its attempts make now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<&'static str>,
    /// What is due about that, or was done last.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'static str>,
}

/// The calls of one agent session.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionCalls {
    /// The session, as `call_check` names it.
    session: String,
    /// Its ring.
    ring: RingState,
}

/// The rings.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// Every task that was attempted or does not simply stand open.
    rows: Vec<Row>,
    /// The calls of agent sessions of the last day, and what each guard did.
    sessions: Vec<SessionCalls>,
    /// Attempts that make a loop.
    max_attempts: u32,
    /// How long attempts count, in seconds.
    attempt_window_seconds: u64,
}

impl Tool for LoopStatus {
    const NAME: &'static str = "loop_status";
    const DESCRIPTION: &'static str = "Show what is remembered of attempts at tasks: how many, the \
        last one, where each task stands, which loop its attempts make, and what was done about it; and \
        the calls of agent sessions: how many per tool, and what each guard did.";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let (journal, now) = (call.site.journal()?, site::now());
        let rules = &call.site.config.policy.tasks;
        let enclosing = call.site.enclosing_run(&journal)?;
        let ring = call.site.task_ring(&journal, now, enclosing.as_ref())?;
        let run = enclosing.map(|enclosing| enclosing.run).unwrap_or_default();
        let wanted = |status: &TaskStatus| {
            input.task.as_deref().is_none_or(|task| status.task.as_str() == task.trim())
        };
        let rows =
            ring.status(rules, now, &run).into_iter().filter(wanted).map(|one| row(&one)).collect();
        let sessions = call.site.call_sessions()?.into_iter();
        let sessions = sessions.map(|(session, ring)| SessionCalls { session, ring }).collect();
        Ok(Output {
            rows,
            sessions,
            max_attempts: rules.max_attempts,
            attempt_window_seconds: rules.attempt_window.get() / 1000,
        })
    }
}

fn row(status: &TaskStatus) -> Row {
    Row {
        task: status.task.to_string(),
        attempts: status.attempts,
        last_attempt: status.last_attempt.map(clock::rfc3339),
        standing: words::standing(status.standing),
        pattern: status.pattern.map(Pattern::guard).map(GuardKind::as_str),
        remedy: status.remedy.map(words::remedy),
    }
}
