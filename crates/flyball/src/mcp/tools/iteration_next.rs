//! `iteration_next`: goes on to the next iteration, if every guard agrees.

use flyball_core::iteration::Safety;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::refused::Refused;
use crate::mcp::session::{Checkpoint, Of, Session, SessionStatus, Trigger, guard_name};
use crate::mcp::site::{Call, Site};
use crate::mcp::tool::{Effect, Tool};
use crate::mcp::validate;

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
    checkpoint: Checkpoint,
    /// Where the session stands.
    session_status: SessionStatus,
}

impl Tool for IterationNext {
    const NAME: &'static str = "iteration_next";
    const DESCRIPTION: &'static str = "Go on to the next iteration. All guards are checked first, \
        in this order: max_iterations, circuit_breaker, quality_regression, thrashing. If one \
        trips, the answer has can_continue false with blocked_by and message, the task is marked \
        blocked, a last checkpoint is stored, and the session is over: stop and tell a human. An \
        iteration that was not validated is validated first.";
    const EFFECT: Effect = Effect::Runs;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let mut session = call.site.session(&input.iteration_id)?;
        session.must_be_open()?;
        let mut safety = session.safety(call.site, Of::NextIteration)?;
        if safety.can_continue() && session.current.is_none() {
            validate::judge(call, &mut session, &input.agent_output, None)?;
            safety = session.safety(call.site, Of::NextIteration)?;
        }
        if safety.can_continue() {
            go_on(call.site, session)
        } else {
            stop(call.site, session, &safety)
        }
    }
}

fn go_on(site: &Site, mut session: Session) -> Result<Output, Refused> {
    let checkpoint = site.checkpoint(&session, Trigger::Iteration);
    session.add_checkpoint(checkpoint.clone());
    if let Some(judgement) = session.current.take() {
        session.ring.record(judgement.validation);
        session.red_before = Some(judgement.red);
    }
    session.iteration = session.iteration.saturating_add(1);
    site.keep(&mut session)?;
    Ok(answer(session, &Safety::default(), checkpoint))
}

/// A guard says no: the task is blocked, a last checkpoint is stored, and that is the end.
fn stop(site: &Site, mut session: Session, safety: &Safety) -> Result<Output, Refused> {
    let guard = safety.blocked_by().map(guard_name).unwrap_or_default();
    let message = safety.message().unwrap_or_default().to_owned();
    let mut checkpoint = site.checkpoint(&session, Trigger::Error);
    checkpoint.guard = Some(guard.clone());
    checkpoint.note = Some(message.clone());
    session.add_checkpoint(checkpoint.clone());
    session.end(SessionStatus::Blocked, format!("{guard}: {message}"));
    site.keep(&mut session)?;
    site.block_task(&session, &format!("iteration safety guard: {guard}"))?;
    Ok(answer(session, safety, checkpoint))
}

fn answer(session: Session, safety: &Safety, checkpoint: Checkpoint) -> Output {
    Output {
        can_continue: safety.can_continue(),
        remaining: session.max_iterations.saturating_sub(session.iteration),
        iteration: session.iteration,
        max_iterations: session.max_iterations,
        blocked_by: safety.blocked_by().map(guard_name),
        message: safety.message().map(str::to_owned),
        also_tripped: safety.also.iter().map(|trip| guard_name(trip.guard)).collect(),
        checkpoint,
        session_status: session.status,
        iteration_id: session.id,
        task: session.task,
    }
}
