//! `call_check`: may this tool call run? The call ring for any agent.

use flyball_core::call::{ToolCall, ValidationFailure, ValidationKind};
use flyball_core::{CallId, SubAgent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock;
use crate::mcp::calls::{self, CallQuestion, RingState, Tripped};
use crate::mcp::refused::Refused;
use crate::mcp::site::Call;
use crate::mcp::tool::{Tool, ToolEffect};

pub(super) struct CheckCall;

/// The call that is about to run.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The tool that is to be called.
    tool: String,
    /// Its arguments, an object.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, Value>")]
    arguments: Value,
    /// Names the call; made up when left out.
    #[serde(default)]
    call_id: Option<String>,
    /// The agent session; calls are counted per session.
    #[serde(default = "default_session")]
    session: String,
    /// Which sub-agent calls, where there are several.
    #[serde(default)]
    agent: String,
    /// The share of the context window that is used, 0 to 1, where it is known.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    context_used: Option<f64>,
}

pub(super) fn default_session() -> String {
    "default".to_owned()
}

/// Whether it may run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The call, for `call_result`.
    call_id: String,
    /// The session.
    session: String,
    /// Which sub-agent calls.
    agent: String,
    /// pass, nudge, refuse or halt.
    verdict: &'static str,
    /// Whether it may run.
    may_run: bool,
    /// What the agent is to be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// The guard that spoke.
    #[serde(skip_serializing_if = "Option::is_none")]
    tripped: Option<Tripped>,
    /// The session's calls so far, and what each guard did.
    ring: RingState,
}

impl Tool for CheckCall {
    const NAME: &'static str = "call_check";
    const DESCRIPTION: &'static str = "Ask before a tool call whether it may run. Repeated and \
        circling calls are nudged, then refused, and in the end the session is to be halted. A \
        call that cannot be made (no tool, arguments that are no object) counts as a validation \
        failure. Report what the call gave with call_result.";
    const EFFECT: ToolEffect = ToolEffect::Writes;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        let call_id = input.call_id.unwrap_or_else(|| format!("call-{}", clock::unique_nanos()));
        let rules = &call.site.config.policy.calls;
        let permille = calls::permille(input.context_used)?;
        let failure = malformed(&input.tool, &input.arguments);
        let is_call = failure.is_none();
        let question = if let Some(failure) = failure {
            CallQuestion::Invalid(failure)
        } else {
            let (id, agent) = (CallId::new(&call_id), SubAgent::new(&input.agent));
            let asked = ToolCall::new(id, input.tool, &input.arguments, rules).by(agent);
            CallQuestion::Before(asked)
        };
        let answer = call.site.judge_call(&input.session, &question, permille)?;
        Ok(Output {
            call_id,
            session: input.session,
            agent: input.agent,
            verdict: answer.word(),
            may_run: is_call && answer.may_run(),
            message: answer.message,
            tripped: answer.tripped,
            ring: answer.ring,
        })
    }
}

/// What is wrong with a call that cannot be made at all (A4).
fn malformed(tool: &str, arguments: &Value) -> Option<ValidationFailure> {
    let (kind, expected, error) = if tool.trim().is_empty() {
        (ValidationKind::MissingField, "the name of a tool in `tool`", "`tool` is empty")
    } else if !arguments.is_object() && !arguments.is_null() {
        (ValidationKind::WrongType, "an object in `arguments`", "`arguments` is no object")
    } else {
        return None;
    };
    let received = format!("tool {tool:?} with {arguments}");
    Some(ValidationFailure::new(kind, expected, &received, error))
}
