//! Every name that is sent, in one place: those of the `GenAI` conventions, which are still in
//! development and therefore pinned, and flyball's own.

/// The version of the conventions these names are from.
pub(super) const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.0";
/// What made the spans.
pub(super) const SCOPE: &str = "flyball";

pub(super) const SERVICE_NAME: &str = "service.name";
pub(super) const SERVICE_VERSION: &str = "service.version";
pub(super) const SERVICE_INSTANCE: &str = "service.instance.id";
pub(super) const ERROR_TYPE: &str = "error.type";

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const INVOKE_WORKFLOW: &str = "invoke_workflow";
pub(super) const INVOKE_AGENT: &str = "invoke_agent";
pub(super) const EXECUTE_TOOL: &str = "execute_tool";
pub(super) const WORKFLOW: &str = "gen_ai.workflow.name";
pub(super) const AGENT: &str = "gen_ai.agent.name";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const MODEL: &str = "gen_ai.request.model";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub(super) const TOOL: &str = "gen_ai.tool.name";
pub(super) const TOOL_CALL: &str = "gen_ai.tool.call.id";
pub(super) const TOOL_TYPE: &str = "gen_ai.tool.type";
pub(super) const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(super) const TOOL_RESULT: &str = "gen_ai.tool.call.result";
pub(super) const TOKEN_TYPE: &str = "gen_ai.token.type";
pub(super) const TOKEN_USAGE: &str = "gen_ai.client.token.usage";
pub(super) const OPERATION_DURATION: &str = "gen_ai.client.operation.duration";

pub(super) const RUN: &str = "flyball.run.id";
pub(super) const PROJECT: &str = "flyball.project";
pub(super) const OUTCOME: &str = "flyball.outcome";
pub(super) const ITERATIONS: &str = "flyball.iterations";
pub(super) const STORIES_PASSED: &str = "flyball.stories.passed";
pub(super) const STORIES_TOTAL: &str = "flyball.stories.total";
pub(super) const COST: &str = "flyball.cost_usd";
pub(super) const ITERATION: &str = "flyball.iteration";
pub(super) const TASK: &str = "flyball.task";
pub(super) const MODE: &str = "flyball.mode";
pub(super) const RESULT: &str = "flyball.result";
pub(super) const SCORE: &str = "flyball.score";
pub(super) const STUCK: &str = "flyball.stuck";
pub(super) const FAILING: &str = "flyball.failing";
pub(super) const FIXED: &str = "flyball.fixed";
pub(super) const BROKEN: &str = "flyball.broken";
pub(super) const ANSWERED: &str = "flyball.call.answered";
pub(super) const GATE: &str = "flyball.gate.name";
pub(super) const GATE_STATUS: &str = "flyball.gate.status";
pub(super) const GATE_CACHED: &str = "flyball.gate.cached";
pub(super) const GATE_PASSED: &str = "flyball.gate.passed";
pub(super) const GATE_FAILED: &str = "flyball.gate.failed";
pub(super) const GATE_TREE: &str = "flyball.gate.tree";
/// Span events, and what they carry.
pub(super) const GUARD: &str = "flyball.guard";
pub(super) const RUNG: &str = "flyball.rung";
pub(super) const MEASURED: &str = "flyball.measured";
pub(super) const ALLOWED: &str = "flyball.allowed";
pub(super) const EVIDENCE: &str = "flyball.evidence";
pub(super) const CLAIM: &str = "flyball.claim";
pub(super) const VERDICT: &str = "flyball.verdict";
pub(super) const ACT: &str = "flyball.act";
pub(super) const WAIT: &str = "flyball.wait";
pub(super) const UNTIL: &str = "flyball.until_unix_ms";
/// What a refused call's error is called, and that of a run whose process is gone.
pub(super) const REFUSED: &str = "flyball.refused";
pub(super) const LOST: &str = "lost";

/// Whose models an agent uses, where that is no question.
pub(super) fn provider(agent: &str) -> Option<&'static str> {
    match agent {
        "claude" => Some("anthropic"),
        "codex" => Some("openai"),
        "gemini" => Some("gcp.gemini"),
        _ => None,
    }
}
