//! `iteration_validate`: judges the iteration at hand by rules, promises and guards.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::refused::Refused;
use crate::mcp::rules::RuleResult;
use crate::mcp::site::Call;
use crate::mcp::tool::{Tool, ToolEffect};
use crate::mcp::validate::{self, Report};
use crate::mcp::words::{self, SessionStatus, Signal};

pub(super) struct IterationValidate;

/// What is to be judged.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The session, as `iteration_start` named it.
    iteration_id: String,
    /// What the agent said at the end of this iteration; promises are looked for in it.
    #[serde(default)]
    agent_output: String,
    /// What you found by means of your own.
    #[serde(default)]
    report: Option<Report>,
}

/// The judgement.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The session.
    iteration_id: String,
    /// Its task.
    task: String,
    /// The iteration that was judged.
    iteration: u32,
    /// How many there may be.
    max_iterations: u32,
    /// What to do: COMPLETE, BLOCKED, ESCALATE or CONTINUE.
    signal: Signal,
    /// Whether all rules hold.
    passed: bool,
    /// How good it is, 0 to 1; left out when nothing was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// What each rule came to.
    rules: Vec<RuleResult>,
    /// Failed iterations in a row, this one included.
    failures_in_a_row: u32,
    /// The guard that tripped.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_by: Option<String>,
    /// Guards that tripped too.
    also_tripped: Vec<String>,
    /// What the guard, or the agent's BLOCKED, says.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// The completion promise that stands in the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    promise: Option<String>,
    /// Where the session stands.
    session_status: SessionStatus,
    /// What is wrong and what to do next.
    feedback: String,
}

impl Tool for IterationValidate {
    const NAME: &'static str = "iteration_validate";
    const DESCRIPTION: &'static str = "Judge the iteration at hand: runs the session's validation \
        rules, looks for promises in agent_output, and checks the guards. Answers with a signal: \
        COMPLETE (call iteration_complete), BLOCKED (the agent says it cannot go on), ESCALATE (a \
        guard tripped; tell a human) or CONTINUE (mend what the feedback names, then \
        iteration_next). A guard outranks BLOCKED, and BLOCKED outranks COMPLETE. May be called \
        several times in one iteration: the last one counts.";
    const EFFECT: ToolEffect = ToolEffect::Runs;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let mut session = call.site.open_session(&input.iteration_id)?;
        let report = input.report.map(Report::checked).transpose()?;
        let (judged, rules) =
            validate::judge(call, &mut session, &input.agent_output, report.as_ref())?;
        call.site.keep(&mut session)?;
        Ok(Output {
            iteration_id: session.id,
            task: session.task,
            iteration: session.machine.iteration(),
            max_iterations: session.machine.rules().max_iterations,
            signal: judged.signal.into(),
            passed: judged.passed,
            score: judged.score,
            rules,
            failures_in_a_row: session.machine.failures(),
            blocked_by: judged.safety.blocked_by().map(words::guard_name),
            also_tripped: judged
                .safety
                .also
                .iter()
                .map(|one| words::guard_name(one.guard))
                .collect(),
            message: judged.message,
            promise: judged.promise,
            session_status: session.machine.status().into(),
            feedback: judged.feedback,
        })
    }
}
