//! `call_result`: what a tool call gave. The call ring for any agent.

use flyball_core::call::{ToolOutcome, ToolResult};
use flyball_core::{CallId, SubAgent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call_check::default_session;
use crate::mcp::calls::{self, CallQuestion, RingState, Tripped};
use crate::mcp::refused::Refused;
use crate::mcp::site::Call;
use crate::mcp::tool::{Tool, ToolEffect};
use crate::spill::Spilled;

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
    outcome: ResultOutcome,
    /// The agent session.
    #[serde(default = "default_session")]
    session: String,
    /// Which sub-agent called.
    #[serde(default)]
    agent: String,
    /// The share of the context window that is used, 0 to 1, where it is known.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    context_used: Option<f64>,
}

/// How a call went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ResultOutcome {
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

impl ResultOutcome {
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
    /// The guard that spoke.
    #[serde(skip_serializing_if = "Option::is_none")]
    tripped: Option<Tripped>,
    /// The session's calls so far, and what each guard did.
    ring: RingState,
}

impl Tool for ReportResult {
    const NAME: &'static str = "call_result";
    const DESCRIPTION: &'static str = "Report what a tool call gave, after call_check let it run. \
        Answers with advice to add for the agent, and with a shorter replacement (with the path of \
        the whole) when the result is too large for its context.";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let rules = &call.site.config.policy.calls;
        let result =
            ToolResult::new(CallId::new(&input.call_id), input.outcome.of_tool(), &input.output)
                .by(SubAgent::new(&input.agent));
        let permille = calls::permille(input.context_used)?;
        let question = CallQuestion::After(result);
        let answer = call.site.judge_call(&input.session, &question, permille)?;
        let replacement = call.site.spill.large(rules, &input.output).map(Spilled::into_text);
        Ok(Output {
            call_id: input.call_id,
            session: input.session,
            verdict: answer.word(),
            message: answer.message,
            tripped: answer.tripped,
            replacement,
            ring: answer.ring,
        })
    }
}
