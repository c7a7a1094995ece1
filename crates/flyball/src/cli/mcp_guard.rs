//! `flyball mcp-guard`: another MCP server, with its tool calls guarded.

use std::process::ExitCode;

use clap::Args;

use super::Globals;
use crate::config::{Override, Source, Value};
use crate::error::CliError;
use crate::guard_proxy::{self, GuardRequest};
use crate::loopdir::LoopDir;

/// Guard every tool call to another MCP server
///
/// Starts the server and stands between it and the client. Everything passes unchanged but tool
/// calls: repeated ones are nudged, then refused with a text that says why; results
/// too large for a context go to a file. Exits with 0 when the client goes away, with 70 when the
/// server ends by itself, with 66 when it cannot be started.
#[derive(Clone, Debug, Default, Args)]
pub struct McpGuardArgs {
    /// Same calls with the same result that bring a nudge (`calls.nudge_after`)
    #[arg(long, value_name = "N")]
    pub nudge_after: Option<u32>,
    /// Same calls in a row that still run (`calls.refuse_after`)
    #[arg(long, value_name = "N")]
    pub refuse_after: Option<u32>,
    /// Refusals after which the agent is told to stop (`calls.max_refusals`)
    #[arg(long, value_name = "N")]
    pub max_refusals: Option<u32>,
    /// Failed calls in a row after which the agent is told to stop (`calls.max_consecutive_failures`)
    #[arg(long, value_name = "N")]
    pub max_failures: Option<u32>,
    /// Characters of a result above which it goes to a file (`calls.large_response`)
    #[arg(long, value_name = "N")]
    pub large_response: Option<u64>,
    /// Does nothing any more: results that change end the streak of any tool
    #[arg(long, value_name = "TOOL", hide = true)]
    pub polling: Vec<String>,
    /// An argument that only talks about a call and does not change it (`calls.free_text`)
    #[arg(long, value_name = "NAME")]
    pub free_text: Vec<String>,
    /// The server and its arguments
    #[arg(last = true, required = true, value_name = "SERVER")]
    pub server: Vec<String>,
}

impl McpGuardArgs {
    fn overrides(&self) -> Vec<Override> {
        let count = |number: Option<u32>| number.map(|number| Value::Number(number.into()));
        let words = |words: &[String]| (!words.is_empty()).then(|| Value::Words(words.to_vec()));
        let given = [
            ("calls.nudge_after", count(self.nudge_after), "--nudge-after"),
            ("calls.refuse_after", count(self.refuse_after), "--refuse-after"),
            ("calls.max_refusals", count(self.max_refusals), "--max-refusals"),
            ("calls.max_consecutive_failures", count(self.max_failures), "--max-failures"),
            ("calls.large_response", self.large_response.map(Value::Number), "--large-response"),
            ("calls.polling", words(&self.polling), "--polling"),
            ("calls.free_text", words(&self.free_text), "--free-text"),
        ];
        let named = |(key, value, flag)| Some(Override { key, value: value?, flag });
        given.into_iter().filter_map(named).collect()
    }
}

/// Guards until client or server goes away.
pub fn run(args: &McpGuardArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let mut sources = globals.sources()?;
    sources.overrides = args.overrides();
    let root = sources.root.clone();
    let config = sources.load()?;
    globals.warn(&config);
    let mut rules = config.policy.calls.clone();
    // Of an unknown tool nobody knows that its `description` changes nothing: only by request.
    let is_default = config
        .origin("calls.free_text")
        .is_none_or(|origin| matches!(origin.source, Source::Default));
    if is_default {
        rules.free_text.clear();
    }
    guard_proxy::run(&GuardRequest {
        server: args.server.clone(),
        directory: globals.start_dir()?,
        loop_dir: LoopDir::new(&root, &config.loop_dir, &config.tasks_file),
        rules,
    })
}
