//! `call_check`: may this tool call run? The call ring for any agent.

use flyball_core::call::{CallRing, ToolCall, Verdict};
use flyball_core::{CallId, SubAgent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock;
use crate::mcp::refused::Refused;
use crate::mcp::site::{self, Call, Site};
use crate::mcp::tool::{Effect, Tool};

pub(super) struct CheckCall;

/// The call that is about to run.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Input {
    /// The tool that is to be called.
    tool: String,
    /// Its arguments.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// Names the call; made up when left out.
    #[serde(default)]
    call_id: Option<String>,
    /// The agent session; calls are counted per session.
    #[serde(default = "default_session")]
    session: String,
    /// Which sub-agent calls, where there are several.
    #[serde(default)]
    agent: String,
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
}

impl Tool for CheckCall {
    const NAME: &'static str = "call_check";
    const DESCRIPTION: &'static str = "Ask before a tool call whether it may run. Repeated and \
        circling calls are nudged, then refused, and in the end the session is to be halted. Report \
        what the call gave with call_result.";
    const EFFECT: Effect = Effect::Writes;
    type Input = Input;
    type Output = Output;

    fn call(call: Call<'_>, input: Input) -> Result<Output, Refused> {
        if input.tool.trim().is_empty() {
            return Err(Refused::arguments("`tool` is empty; name the tool that is to be called"));
        }
        let call_id = input.call_id.unwrap_or_else(|| format!("call-{}", clock::unique_nanos()));
        let rules = &call.site.config.policy.calls;
        let arguments = Value::Object(input.arguments);
        let asked = ToolCall::new(CallId::new(&call_id), input.tool, &arguments, rules)
            .by(SubAgent::new(&input.agent));
        let verdict =
            with_ring(call.site, &input.session, |ring| ring.before(rules, site::now(), &asked))?;
        Ok(Output {
            call_id,
            session: input.session,
            agent: input.agent,
            verdict: word(&verdict),
            may_run: verdict.may_run(),
            message: verdict.message().map(str::to_owned),
        })
    }
}

pub(super) const fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Nudge { .. } => "nudge",
        Verdict::Refuse { .. } => "refuse",
        Verdict::Halt { .. } => "halt",
    }
}

/// Has the ring of a session changed; it outlives the server.
pub(super) fn with_ring<R>(
    site: &Site,
    session: &str,
    change: impl FnOnce(&mut CallRing) -> R,
) -> Result<R, Refused> {
    let key = site.key(&format!("calls:{session}"));
    let mut journal = site.journal()?;
    let result = journal.with_session(&key, site::now(), |state| {
        // What cannot be read back is a ring of another version: begun anew.
        let mut ring: CallRing =
            state.and_then(|state| serde_json::from_slice(state).ok()).unwrap_or_default();
        let result = change(&mut ring);
        (serde_json::to_vec(&ring).ok(), result)
    })?;
    Ok(result)
}
