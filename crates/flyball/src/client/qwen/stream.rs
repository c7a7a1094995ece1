//! Qwen Code (`qwen`): a stream like Claude Code's, hooks by a settings file.
//!
//! Refused stops do not show in the stream: all attempts are glued into one text. What a hook has
//! reported as said before a refusal is taken off its front; when the client's total shows model
//! calls that no message stands for, only a claim at the very end counts.

use flyball_core::call::{ToolOutcome, ValidationKind};
use flyball_core::event::ExitHow;

use super::Qwen;
use crate::client::lenient::{Num, Raw, Text, object, read};
use crate::client::schema_error::schema_error;
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::stream::{StreamFormat, StreamReader, Understood, parse, unknown};
use crate::client::stream_json::{Block, Event};
use crate::client::trouble::{Trouble, leading_status, says_unreachable};
use crate::client::{AgentNote, Output, REFUSAL_MARK, ReadRequest, Reader, ToolKind, Tools};

impl Output for Qwen {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        let session = StreamSession::new(request, self);
        Box::new(StreamReader::new(QwenStream::default(), session))
    }

    fn tools(&self) -> Tools {
        &[
            ("edit", ToolKind::Edits),
            ("replace", ToolKind::Edits),
            ("write_file", ToolKind::Edits),
            ("run_shell_command", ToolKind::Runs("command")),
        ]
    }

    fn refuse_after_at_most(&self) -> Option<u32> {
        Some(3)
    }
}

#[derive(Debug, Default)]
struct QwenStream {
    /// What was said before each refused stop since the last call, oldest first.
    refused: Vec<String>,
    /// What was said before the last call, refused stops taken off.
    before_call: String,
    /// Tokens of the messages seen.
    seen: u64,
    /// The client's total shows model calls that no message stands for.
    hidden: bool,
}

object! {
    struct Retry {
        "attempt" => attempt: Num,
        "delayMs" => delay_ms: Num,
    }
}

object! {
    struct Error<'a> {
        "message" => message: Text<'a>,
    }
}

impl StreamFormat for QwenStream {
    fn line(&mut self, line: &str, to: &mut StreamSession) -> Understood {
        let event: Event<'_> = match parse(line, to) {
            Ok(event) => event,
            Err(understood) => return understood,
        };
        match &*event.kind {
            "assistant" => self.assistant(&event, to),
            "user" => {
                let blocks = event.message.0.as_ref().map(|message| message.content.0.as_slice());
                for block in blocks.unwrap_or_default() {
                    if &*block.kind == "tool_result" {
                        returned(block, &event.parent_tool_use_id, to);
                    } else {
                        to.interrupted();
                    }
                }
            }
            "result" => self.result(&event, to),
            "system" => match &*event.subtype {
                "init" => {
                    to.id(&event.session_id);
                    to.model(&event.model);
                }
                "retry" => retry(&event, to),
                _ => {}
            },
            "stream_event" => {}
            other => return unknown(other, to),
        }
        Understood::Event
    }

    fn error_line(&mut self, line: &str, to: &mut StreamSession) {
        if line.starts_with("Retrying in ")
            && let Some((_, error)) = line.split_once("[API Error: ")
        {
            let status = leading_status(error);
            to.retrying(status.and_then(|status| Trouble::by_status(status, line)), line);
        } else if line.starts_with("Reached max session turns") {
            to.note(AgentNote::OwnLimit(line.to_owned()));
        }
    }

    fn refused_stop(&mut self, said: &str) {
        // The hook may report after the stream went on.
        if let Some(rest) = self.before_call.strip_prefix(said) {
            self.before_call = rest.to_owned();
        } else if self.refused.len() < 64 {
            self.refused.push(said.to_owned());
        }
    }

    fn end(&mut self, _how: ExitHow, to: &mut StreamSession) {
        let mut own = to.words();
        let mut glued = self.hidden;
        for said in &self.refused {
            match own.strip_prefix(said.as_str()) {
                Some(rest) => (own, glued) = (rest, false),
                None => glued = true,
            }
        }
        let own = own.to_owned();
        if glued {
            let last = own.rfind("<promise>").and_then(|at| own.get(at..)).unwrap_or("");
            let at_the_end = own.trim_end().to_ascii_lowercase().ends_with("</promise>");
            to.claim_only(if at_the_end { last } else { "" });
        }
        to.set_words(&own);
    }
}

impl QwenStream {
    /// A call follows these words: they and the refusals among them are over.
    fn passed(&mut self, words: &str) {
        let mut rest = words;
        for said in self.refused.drain(..) {
            rest = rest.strip_prefix(said.as_str()).unwrap_or(rest);
        }
        rest.clone_into(&mut self.before_call);
    }

    fn assistant(&mut self, event: &Event<'_>, to: &mut StreamSession) {
        let Some(message) = &event.message.0 else { return };
        let agent = &*event.parent_tool_use_id;
        if let Some(tokens) = message.usage.0 {
            let usage = tokens.together();
            self.seen = self.seen.saturating_add(usage.context());
            to.used(&usage);
            if agent.is_empty() {
                to.context(usage.context());
            }
        }
        for block in &message.content.0 {
            match &*block.kind {
                // The client's own words about a failure; the result has the same.
                "text" if block.text.starts_with("[API Error: ") => {}
                "text" if agent.is_empty() => to.said_block(Some(&message.id), &block.text),
                "tool_use" => {
                    if agent.is_empty() {
                        self.passed(to.words());
                    }
                    to.called(&Call {
                        id: &block.id,
                        agent,
                        tool: &block.name,
                        args: block.input.map_or("{}", Raw::get),
                        round: &message.id,
                        ..Call::default()
                    });
                }
                _ => {}
            }
        }
        if &*message.stop_reason == "max_tokens" {
            to.cut_off("max_tokens");
        }
    }

    fn result(&mut self, event: &Event<'_>, to: &mut StreamSession) {
        to.spoke();
        if let Some(tokens) = event.usage.0 {
            let total = tokens.together();
            let before = to.told();
            to.settled_cumulative(&total);
            let after = to.told();
            self.hidden = after.output_tokens > before.output_tokens;
        }
        if event.is_error.0 {
            let error: Error<'_> = read(event.error);
            failed(&error.message, to);
        } else {
            to.concluded();
        }
    }
}

fn returned(block: &Block<'_>, agent: &str, to: &mut StreamSession) {
    let text = &*block.content.0;
    let outcome = if !block.is_error.0 {
        ToolOutcome::Ok
    } else if text.starts_with(REFUSAL_MARK) {
        ToolOutcome::Refused
    } else if let Some(kind) = invalid(text) {
        return to.bad_answer(&block.tool_use_id, kind, text);
    } else if text.lines().any(|line| line.starts_with("Exit Code: ")) {
        ToolOutcome::Exit
    } else {
        ToolOutcome::Tool
    };
    to.returned(&Answer { id: &block.tool_use_id, agent, outcome, text });
}

pub(super) fn invalid(text: &str) -> Option<ValidationKind> {
    if text.starts_with("Tool \"") && text.contains("\" not found in registry") {
        Some(ValidationKind::UnknownTool)
    } else if text.starts_with("Skipped because the provider attempt was retried") {
        Some(ValidationKind::UnparseableJson)
    } else {
        schema_error(text)
    }
}

fn retry(event: &Event<'_>, to: &mut StreamSession) {
    let retry: Retry = read(event.data);
    // A minute's wait is this client's answer to a rate limit and to nothing else.
    let limited = retry.delay_ms.count() >= 60_000;
    let attempt = retry.attempt.count();
    let message = format!("waits {} ms, attempt {attempt}", retry.delay_ms.count());
    to.retrying(limited.then(|| Trouble::Limit(None, message.clone())), &message);
}

fn failed(message: &str, to: &mut StreamSession) {
    if message.starts_with("Loop detection halted the run") {
        let message = message.to_owned();
        return to.fact(flyball_core::AgentFact::StoppedItself { message });
    }
    let api = message.strip_prefix("[API Error: ");
    let status = api.and_then(leading_status);
    let trouble = status.and_then(|status| Trouble::by_status(status, message)).or_else(|| {
        let own = message.to_owned();
        if message.starts_with("Missing API key") {
            Some(Trouble::Credentials(own))
        } else {
            api.filter(|text| says_unreachable(text)).map(|_| Trouble::Lost(own))
        }
    });
    match trouble {
        Some(trouble) => to.trouble(trouble),
        None => to.failed(message),
    }
}
