//! Claude Code (`claude`): `-p --output-format stream-json`, hooks by a settings file.

use std::collections::BTreeMap;

use flyball_core::Moment;
use flyball_core::call::{ToolOutcome, ValidationKind};

use super::Claude;
use crate::client::lenient::{List, Raw, Text, read};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::stream::{StreamFormat, StreamReader, Understood, parse, unknown};
use crate::client::stream_json::{Block, Event, Message, ModelUsage, RateLimit, ResultMeta};
use crate::client::trouble::{Trouble, says_unreachable};
use crate::client::{AgentNote, Output, ReadRequest, Reader, ToolKind, Tools};

impl Output for Claude {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        let session = StreamSession::new(request, self);
        Box::new(StreamReader::new(ClaudeStream::default(), session))
    }

    fn tools(&self) -> Tools {
        &[
            ("Edit", ToolKind::Edits),
            ("MultiEdit", ToolKind::Edits),
            ("Write", ToolKind::Edits),
            ("NotebookEdit", ToolKind::Edits),
            ("Bash", ToolKind::Runs("command")),
        ]
    }

    fn tells_cost(&self) -> bool {
        true
    }
}

#[derive(Debug, Default)]
struct ClaudeStream {
    /// The message whose tokens were counted last: one event per block, the same count in each.
    counted: String,
    resets_at: Option<Moment>,
    /// Calls whose arguments were no JSON: they never ran, and their results say only that.
    unparsed: Vec<String>,
}

impl StreamFormat for ClaudeStream {
    fn line(&mut self, line: &str, to: &mut StreamSession) -> Understood {
        let event: Event<'_> = match parse(line, to) {
            Ok(event) => event,
            Err(understood) => return understood,
        };
        match &*event.kind {
            "assistant" => self.assistant(&event, to),
            "user" => self.user(&event, to),
            "result" => self.result(&event, to),
            "system" => system(&event, to),
            "rate_limit_event" => self.rate_limit(&event),
            "stream_event" => {}
            other => return unknown(other, to),
        }
        Understood::Event
    }
}

impl ClaudeStream {
    fn assistant(&mut self, event: &Event<'_>, to: &mut StreamSession) {
        let Some(message) = &event.message.0 else { return };
        if &*message.model == "<synthetic>" {
            // The client's own words about a failure; the result has the same.
            return;
        }
        let agent = &*event.parent_tool_use_id;
        if let Some(tokens) = message.usage.0.filter(|_| self.counted != *message.id) {
            self.counted = message.id.to_string();
            let usage = tokens.apart();
            to.used(&usage);
            if agent.is_empty() {
                to.context(usage.context());
            }
        }
        for block in &message.content.0 {
            self.block(block, message, agent, to);
        }
        if &*message.stop_reason == "max_tokens" {
            to.cut_off("max_tokens");
        }
    }

    fn block(
        &mut self,
        block: &Block<'_>,
        message: &Message<'_>,
        agent: &str,
        to: &mut StreamSession,
    ) {
        match &*block.kind {
            "text" if agent.is_empty() => to.said_block(Some(&message.id), &block.text),
            "tool_use" => {
                let args = block.input.map_or("{}", Raw::get);
                if args.starts_with("{\"__unparsedToolInput\"") {
                    if self.unparsed.len() < 64 {
                        self.unparsed.push(block.id.to_string());
                    }
                    let error = format!("arguments of `{}` are no JSON", &*block.name);
                    to.bad_call(ValidationKind::UnparseableJson, &unparsed(args), &error);
                } else {
                    to.called(&Call {
                        id: &block.id,
                        agent,
                        tool: &block.name,
                        args,
                        round: &message.id,
                        ..Call::default()
                    });
                }
            }
            _ => {}
        }
    }

    fn user(&mut self, event: &Event<'_>, to: &mut StreamSession) {
        let agent = &*event.parent_tool_use_id;
        let meta: List<ResultMeta<'_>> = read(event.tool_result_meta);
        let blocks = event.message.0.as_ref().map(|message| message.content.0.as_slice());
        for block in blocks.unwrap_or_default() {
            match &*block.kind {
                "tool_result" => {
                    let refused = meta.0.iter().any(|meta| {
                        *meta.id == *block.tool_use_id && !meta.non_execution_kind.is_empty()
                    });
                    self.returned(block, agent, refused.then_some(ToolOutcome::Refused), to);
                }
                "text" if agent.is_empty() => {
                    to.interrupted();
                    if let Some(reason) = block.text.strip_prefix("Stop hook feedback:\n") {
                        to.note(AgentNote::StopRefused(reason.to_owned()));
                    }
                }
                _ => {}
            }
        }
    }

    fn returned(
        &mut self,
        block: &Block<'_>,
        agent: &str,
        known: Option<ToolOutcome>,
        to: &mut StreamSession,
    ) {
        let id = &*block.tool_use_id;
        if let Some(at) = self.unparsed.iter().position(|unparsed| unparsed == id) {
            self.unparsed.swap_remove(at);
            return;
        }
        let text = &*block.content.0;
        let outcome = match known {
            Some(outcome) => outcome,
            None if !block.is_error.0 => ToolOutcome::Ok,
            None if is_exit(text) => ToolOutcome::Exit,
            None if did_not_run(text) => ToolOutcome::Refused,
            None => match tool_use_error(text) {
                Some((kind, error)) => return to.bad_answer(id, kind, error),
                None => ToolOutcome::Tool,
            },
        };
        to.returned(&Answer { id, agent, outcome, text });
    }

    fn result(&mut self, event: &Event<'_>, to: &mut StreamSession) {
        to.spoke();
        to.id(&event.session_id);
        settle(event, to);
        if !event.is_error.0 {
            return to.concluded();
        }
        let message = if event.result.is_empty() {
            event.errors.0.iter().map(|error| &**error).collect::<Vec<_>>().join("; ")
        } else {
            event.result.to_string()
        };
        match &*event.terminal_reason {
            "api_error" => match self.api_error(event, &message) {
                Some(trouble) => to.trouble(trouble),
                None => to.failed(&message),
            },
            "max_turns" | "budget_exhausted" => {
                let why = if message.is_empty() { &*event.terminal_reason } else { &*message };
                to.note(AgentNote::OwnLimit(why.to_owned()));
            }
            _ => to.failed(&message),
        }
    }

    fn api_error(&mut self, event: &Event<'_>, message: &str) -> Option<Trouble> {
        if let Some(resets_at) = self.resets_at.take() {
            return Some(Trouble::Limit(Some(resets_at), message.to_owned()));
        }
        match event.api_error_status.status() {
            Some(400) if message.starts_with("Credit balance is too low") => {
                Some(Trouble::Credentials(message.to_owned()))
            }
            Some(status) => Trouble::by_status(status, message),
            None if message.starts_with("Not logged in")
                || message.starts_with("Invalid API key") =>
            {
                Some(Trouble::Credentials(message.to_owned()))
            }
            None => says_unreachable(message).then(|| Trouble::Lost(message.to_owned())),
        }
    }

    fn rate_limit(&mut self, event: &Event<'_>) {
        let limit: RateLimit<'_> = read(event.rate_limit_info);
        self.resets_at = match &*limit.status {
            "rejected" => Some(limit.resets_at.count())
                .filter(|&secs| secs > 0)
                .map(|secs| Moment::from_millis(secs.saturating_mul(1000))),
            _ => None,
        };
    }
}

/// The client's own total, as far as it belongs to this run.
fn settle(event: &Event<'_>, to: &mut StreamSession) {
    let models: BTreeMap<String, ModelUsage> = read(event.model_usage);
    if let Some(window) = models.values().map(|model| model.context_window.count()).max() {
        to.window(window);
    }
    if event.model_usage_since_last_result.is_some() {
        let since: BTreeMap<String, ModelUsage> = read(event.model_usage_since_last_result);
        to.settled(&ModelUsage::sum(since.into_values()));
    } else if let Some(tokens) = event.usage.0 {
        // Older releases: tokens of this run, but money of the whole session.
        to.settled_tokens(&Usage { cost_usd: event.total_cost_usd.0, ..tokens.apart() });
    }
}

fn system(event: &Event<'_>, to: &mut StreamSession) {
    match &*event.subtype {
        "init" => {
            to.id(&event.session_id);
            to.model(&event.model);
            if event.model.ends_with("[1m]") {
                to.window(1_000_000);
            }
        }
        "api_retry" => {
            let error: Text<'_> = read(event.error);
            let status = event.error_status.status();
            let trouble = match (status, &*error) {
                (Some(status), _) => Trouble::by_status(status, &error),
                (None, _) => Some(Trouble::Lost(error.to_string())),
            };
            to.retrying(trouble, &error);
        }
        "notification" if &*event.key == "stop-hook-block-cap" => {
            to.note(AgentNote::StopForced(event.text.to_string()));
        }
        _ => {}
    }
}

/// A program that ran and said no. One that was stopped because it took too long did not say it.
pub(super) fn is_exit(text: &str) -> bool {
    let mut lines = text.lines();
    lines.next().is_some_and(|line| line.starts_with("Exit code "))
        && !lines.any(|line| line.starts_with("Command timed out after "))
}

/// A call that was never made: a person or a hook denied it, or another call of its turn failed.
pub(super) fn did_not_run(text: &str) -> bool {
    let own = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    own.starts_with("The user doesn't want to ")
        || own.starts_with("Sibling tool call errored")
        || own.starts_with("Cancelled: parallel tool call ")
        || own.starts_with("PreToolUse:") && own.contains(" hook error: ")
}

/// The kind of a call that never became one. Other `<tool_use_error>`s are tools that failed.
pub(super) fn tool_use_error(text: &str) -> Option<(ValidationKind, &str)> {
    let error = text.strip_prefix("<tool_use_error>")?;
    let error = error.strip_suffix("</tool_use_error>").unwrap_or(error);
    if error.starts_with("Error: No such tool available") {
        return Some((ValidationKind::UnknownTool, error));
    }
    let detail = error.strip_prefix("InputValidationError:")?;
    let kind = if detail.contains("could not be parsed as JSON") {
        ValidationKind::UnparseableJson
    } else if detail.contains("required parameter") {
        ValidationKind::MissingField
    } else {
        ValidationKind::WrongType
    };
    Some((kind, error))
}

/// The raw arguments inside the client's wrapper.
pub(super) fn unparsed(args: &str) -> String {
    serde_json::from_str::<serde_json::Value>(args)
        .ok()
        .and_then(|args| Some(args.pointer("/__unparsedToolInput/raw")?.as_str()?.to_owned()))
        .unwrap_or_else(|| args.to_owned())
}
