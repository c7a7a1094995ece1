//! What a hook heard, as the call ring knows it, whoever holds the ring.

use flyball_core::call::{ToolCall, ToolResult};
use flyball_core::text::prefix;
use flyball_core::{CallId, RoundId, SubAgent};

use super::context::HookContext;
use super::{Asked, Heard};
use crate::client::{Output, changes_files, registry};

/// Characters of a name or an id that count.
pub(super) const NAME: usize = 200;

/// The call as the ring knows it.
pub(super) fn call(asked: &Asked<'_>, context: &HookContext, heard: &Heard) -> ToolCall {
    let mut rules = context.policy.calls.clone();
    let output = registry::output(asked.dialect.name());
    let own = output.map_or(&[][..], Output::free_text);
    rules.free_text.extend(own.iter().map(|&name| name.to_owned()));
    let call = &heard.call;
    let id = CallId::new(prefix(&call.id, NAME));
    let mut made = ToolCall::new(id, prefix(&call.tool, NAME), &call.args, &rules)
        .by(SubAgent::new(prefix(&call.agent, NAME)))
        .in_round(RoundId::new(prefix(&call.round, NAME)));
    let tools = output.map_or(&[][..], Output::tools);
    made.mutating = call
        .changes_files
        .unwrap_or_else(|| changes_files(tools, &call.tool, || call.args.clone()));
    made
}

/// The result as the ring knows it; none where the client tells none.
pub(super) fn result(heard: &Heard) -> Option<ToolResult> {
    let result = heard.result.as_ref()?;
    let id = CallId::new(prefix(&heard.call.id, NAME));
    let agent = SubAgent::new(prefix(&heard.call.agent, NAME));
    Some(ToolResult::new(id, result.outcome, &result.text).by(agent))
}
