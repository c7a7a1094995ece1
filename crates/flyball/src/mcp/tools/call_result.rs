//! `call_result`: what a tool call gave. The call ring for any agent.

use flyball_core::call::{CallRing, CallStatus, ToolOutcome, ToolResult};
use flyball_core::{CallId, SubAgent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call_check::{default_session, with_ring, word};
use crate::mcp::refused::Refused;
use crate::mcp::site::{self, Call};
use crate::mcp::tool::{Effect, Tool};
use crate::spill::Spill;

pub(super) struct ReportResult;

/// The result of a call.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The call, as `call_check` named it.
    call_id: String,
    /// What the tool answered.
    #[serde(default)]
    output: String,
    /// How it went: ok, exit (a program ran and exited non-zero), tool (the tool itself failed) or
    /// refused.
    #[serde(default)]
    outcome: Outcome,
    /// The agent session.
    #[serde(default = "default_session")]
    session: String,
    /// Which sub-agent called.
    #[serde(default)]
    agent: String,
}

/// How a call went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// It ran.
    #[default]
    Ok,
    /// A program ran and exited non-zero.
    Exit,
    /// The tool itself failed.
    Tool,
    /// It was refused.
    Refused,
}

impl Outcome {
    const fn of_tool(self) -> ToolOutcome {
        match self {
            Self::Ok => ToolOutcome::Ok,
            Self::Exit => ToolOutcome::Exit,
            Self::Tool => ToolOutcome::Tool,
            Self::Refused => ToolOutcome::Refused,
        }
    }
}

/// What is to be done with it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The call.
    call_id: String,
    /// The session.
    session: String,
    /// pass, nudge or halt.
    verdict: &'static str,
    /// What the agent is to be told beside the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What the agent is to be given instead of a result that is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    replacement: Option<String>,
    /// Calls of the session so far.
    calls: u64,
    /// Refused ones among them.
    refusals: u32,
    /// Failed ones in a row.
    failure_streak: u32,
}

impl Tool for ReportResult {
    const NAME: &'static str = "call_result";
    const DESCRIPTION: &'static str = "Report what a tool call gave, after call_check let it run. \
        Answers with advice to add for the agent, and with a shorter replacement (with the path of \
        the whole) when the result is too large for its context.";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let rules = &call.site.config.policy.calls;
        let result =
            ToolResult::new(CallId::new(&input.call_id), input.outcome.of_tool(), &input.output)
                .by(SubAgent::new(&input.agent));
        let (verdict, status): (_, CallStatus) = with_ring(call.site, &input.session, |ring| {
            (ring.after(rules, site::now(), &result), ring.status())
        })?;
        let replacement = CallRing::large(rules, result.chars).map(|_| {
            let spill = Spill::lasting(&call.site.loop_dir, site::now());
            spill.replacement(rules, &input.output, result.chars)
        });
        Ok(Output {
            call_id: input.call_id,
            session: input.session,
            verdict: word(&verdict),
            message: verdict.message().map(str::to_owned),
            replacement,
            calls: status.calls,
            refusals: status.refusals,
            failure_streak: status.failure_streak,
        })
    }
}
