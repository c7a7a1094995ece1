//! `iteration_next`: goes on to the next iteration, if every guard agrees.

use flyball_core::iteration::Safety;
use flyball_core::iteration_session::{CheckpointDue, NextStep};
use flyball_core::task::Standing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::refused::Refused;
use crate::mcp::session::McpSession;
use crate::mcp::site::{Call, Site};
use crate::mcp::tool::{Tool, ToolEffect};
use crate::mcp::validate;
use crate::mcp::words::{self, CheckpointWords, SessionStatus};

pub(super) struct IterationNext;

/// Which session goes on.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The session, as `iteration_start` named it.
    iteration_id: String,
    /// What the agent said at the end of this iteration; needed only when it was not validated.
    #[serde(default)]
    agent_output: String,
}

/// Whether it goes on.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The session.
    iteration_id: String,
    /// Its task.
    task: String,
    /// Whether the next iteration has begun.
    can_continue: bool,
    /// The iteration at hand now.
    iteration: u32,
    /// How many there may be.
    max_iterations: u32,
    /// How many may still follow this one.
    remaining: u32,
    /// The guard that says no.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_by: Option<String>,
    /// Why it says no.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Guards that would have said no too.
    also_tripped: Vec<String>,
    /// The checkpoint that was made.
    checkpoint: CheckpointWords,
    /// Where the session stands.
    session_status: SessionStatus,
}

impl Tool for IterationNext {
    const NAME: &'static str = "iteration_next";
    const DESCRIPTION: &'static str = "Go on to the next iteration. All guards are checked first, \
        in this order: max_iterations, circuit_breaker, quality_regression, thrashing. If one \
        trips, the answer has can_continue false with blocked_by and message, the task is marked \
        tripped (only a human brings it back), a last checkpoint is stored, and the session is over: stop and tell a human. An \
        iteration that was not validated is validated first.";
    const EFFECT: ToolEffect = ToolEffect::Runs;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let mut session = call.site.open_session(&input.iteration_id)?;
        let mut step = next(call.site, &mut session)?;
        if step == NextStep::JudgeFirst {
            validate::judge(call, &mut session, &input.agent_output, None)?;
            step = next(call.site, &mut session)?;
        }
        match step {
            NextStep::Began(due) => {
                let checkpoint = session.checkpoint(call.site, due);
                call.site.keep(&mut session)?;
                Ok(answer(session, &Safety::default(), checkpoint))
            }
            NextStep::Stopped { safety, due } => stop(call.site, session, &safety, due),
            NextStep::JudgeFirst => Err(Refused::new("the iteration could not be judged")),
        }
    }
}

fn next(site: &Site, session: &mut McpSession) -> Result<NextStep, Refused> {
    let step = session.machine.next(&site.config.policy);
    step.map_err(|error| Refused::session(&session.id, &error))
}

/// A guard says no: the task is tripped, a last checkpoint is stored, and that is the end.
fn stop(
    site: &Site,
    mut session: McpSession,
    safety: &Safety,
    due: CheckpointDue,
) -> Result<Output, Refused> {
    let checkpoint = session.checkpoint(site, due);
    site.keep(&mut session)?;
    let guard = safety.blocked_by().map(words::guard_name).unwrap_or_default();
    let why = format!("iteration safety guard: {guard}");
    site.block_task(&session, (Standing::Tripped, &why))?;
    Ok(answer(session, safety, checkpoint))
}

fn answer(session: McpSession, safety: &Safety, checkpoint: CheckpointWords) -> Output {
    let machine = &session.machine;
    Output {
        can_continue: safety.can_continue(),
        remaining: machine.remaining(),
        iteration: machine.iteration(),
        max_iterations: machine.rules().max_iterations,
        blocked_by: safety.blocked_by().map(words::guard_name),
        message: safety.message().map(str::to_owned),
        also_tripped: safety.also.iter().map(|trip| words::guard_name(trip.guard)).collect(),
        checkpoint,
        session_status: machine.status().into(),
        iteration_id: session.id,
        task: session.task,
    }
}
