//! Gemini CLI (`gemini --output-format stream-json`): hooks by a settings file.
//!
//! Text comes in pieces, retries show only on standard error, and exit codes are HTTP statuses
//! modulo 256.

use flyball_core::call::{ToolOutcome, ValidationKind};
use flyball_core::event::ExitHow;
use flyball_core::{AgentFact, Moment};

use super::Gemini;
use crate::client::lenient::{Num, Raw, Text, object, read};
use crate::client::meter::Usage;
use crate::client::schema_error::schema_error;
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::stream::{StreamFormat, StreamReader, Understood, parse, unknown};
use crate::client::trouble::{Trouble, says_unreachable, status_after};
use crate::client::{
    AgentNote, Output, ReadRequest, Reader, SessionPlace, ToolKind, Tools, UsageFile,
};

/// Its exit code for a missing key or login.
const NO_LOGIN: i32 = 41;

impl Output for Gemini {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        let session = StreamSession::new(request, self);
        Box::new(StreamReader::new(GeminiStream::default(), session))
    }

    fn tools(&self) -> Tools {
        &[
            ("replace", ToolKind::Edits),
            ("write_file", ToolKind::Edits),
            ("run_shell_command", ToolKind::Runs("command")),
        ]
    }

    fn refuse_after_at_most(&self) -> Option<u32> {
        Some(3)
    }

    fn usage_file(&self, at: &SessionPlace<'_>) -> Option<Box<dyn UsageFile>> {
        super::usage::usage_file(at)
    }
}

#[derive(Debug, Default)]
struct GeminiStream {
    /// Its loop guard has spoken: a hook that refuses the stop now makes it spin.
    looped: bool,
    /// The last line of standard error, for exit codes that say what it means.
    complaint: String,
    /// A failure at its model whose words say nothing; the exit code does.
    failed: Option<String>,
}

object! {
    struct Event<'a> {
        "type" => kind: Text<'a>,
        "session_id" => session_id: Text<'a>,
        "model" => model: Text<'a>,
        "role" => role: Text<'a>,
        "content" => content: Text<'a>,
        "tool_name" => tool_name: Text<'a>,
        "tool_id" => tool_id: Text<'a>,
        "parameters" => parameters: Option<Raw<'a>>,
        "status" => status: Text<'a>,
        "output" => output: Text<'a>,
        "error" => error: Option<Raw<'a>>,
        "message" => message: Text<'a>,
        "stats" => stats: Option<Stats>,
    }
}

object! {
    struct Error<'a> {
        "type" => kind: Text<'a>,
        "message" => message: Text<'a>,
    }
}

object! {
    struct Stats {
        "total_tokens" => total_tokens: Num,
        "input_tokens" => input_tokens: Num,
        "cached" => cached: Num,
    }
}

impl StreamFormat for GeminiStream {
    fn line(&mut self, line: &str, to: &mut StreamSession) -> Understood {
        let event: Event<'_> = match parse(line, to) {
            Ok(event) => event,
            Err(understood) => return understood,
        };
        match &*event.kind {
            "init" => {
                to.id(&event.session_id);
                to.model(&event.model);
            }
            "message" if &*event.role == "assistant" => {
                to.said(None, &event.content);
                to.context_by_size();
            }
            "message" => to.interrupted(),
            "tool_use" => to.called(&Call {
                id: &event.tool_id,
                tool: &event.tool_name,
                args: event.parameters.map_or("{}", Raw::get),
                ..Call::default()
            }),
            "tool_result" => returned(&event, to),
            "error" => self.error(&event.message, to),
            "result" => self.result(&event, to),
            other => return unknown(other, to),
        }
        Understood::Event
    }

    fn error_line(&mut self, line: &str, to: &mut StreamSession) {
        if !line.trim().is_empty() {
            flyball_core::text::prefix(line, 300).clone_into(&mut self.complaint);
        }
        let Some(rest) = line.strip_prefix("Attempt ") else { return };
        let Some((_, why)) = rest.split_once(" failed") else { return };
        let status = status_after(why, " with status ").or_else(|| status_after(why, "\"code\":"));
        let trouble = match status {
            Some(status) => Trouble::by_status(status, line),
            None if why.starts_with(": You exceeded your current quota") => {
                Some(Trouble::Limit(None, line.to_owned()))
            }
            None => None,
        };
        to.retrying(trouble, line);
    }

    fn end(&mut self, how: ExitHow, to: &mut StreamSession) {
        let complaint = std::mem::take(&mut self.complaint);
        match how {
            ExitHow::Code(NO_LOGIN) => to.trouble(Trouble::Credentials(complaint)),
            // The HTTP status of what it could not get over, cut to a byte.
            ExitHow::Code(code) if self.failed.is_some() => {
                let status = u16::try_from(code).ok().and_then(|code| code.checked_add(256));
                let message = self.failed.take().unwrap_or_default();
                match status.and_then(|status| Trouble::by_status(status, &message)) {
                    Some(Trouble::Limit(_, message)) => {
                        to.trouble(Trouble::Limit(retry_time(&message, to), message));
                    }
                    Some(trouble) => to.trouble(trouble),
                    None => {}
                }
            }
            ExitHow::Code(_) | ExitHow::Signal(_) | ExitHow::Lost => {}
        }
    }
}

impl GeminiStream {
    fn result(&mut self, event: &Event<'_>, to: &mut StreamSession) {
        to.spoke();
        if let Some(stats) = &event.stats {
            let input = stats.input_tokens.count();
            // Thinking is only in the total.
            let output = stats.total_tokens.count().saturating_sub(input);
            to.settled(&Usage::with_cached(input, stats.cached.count(), output));
        }
        if &*event.status != "error" {
            return to.concluded();
        }
        let error: Error<'_> = read(event.error);
        if &*error.kind == "FatalTurnLimitedError" {
            return to.note(AgentNote::OwnLimit(error.message.to_string()));
        }
        if let Some(trouble) = classify(&error.message, to) {
            return to.trouble(trouble);
        }
        to.failed(&error.message);
        if error.message.starts_with(API_ERROR) {
            self.failed = Some(error.message.to_string());
        }
    }

    fn error(&mut self, message: &str, to: &mut StreamSession) {
        if let Some(reason) = message.strip_prefix("Agent execution blocked: ") {
            to.interrupted();
            // After its loop guard the client asks its hook again and again without its model.
            if !self.looped {
                to.note(AgentNote::StopRefused(reason.to_owned()));
            }
        } else if message.starts_with("Loop detected, stopping execution") {
            if !std::mem::replace(&mut self.looped, true) {
                to.fact(AgentFact::StoppedItself { message: message.to_owned() });
            }
        } else {
            to.failed(message);
        }
    }
}

fn returned(event: &Event<'_>, to: &mut StreamSession) {
    let error: Error<'_> = read(event.error);
    let outcome = if &*event.status == "success" {
        match exit_code(&event.output) {
            Some(_) => ToolOutcome::Exit,
            None => ToolOutcome::Ok,
        }
    } else {
        match &*error.kind {
            "policy_violation" | "stop_execution" => ToolOutcome::Refused,
            "tool_not_registered" => {
                return to.bad_answer(&event.tool_id, ValidationKind::UnknownTool, &error.message);
            }
            "invalid_tool_params" => match schema_error(&error.message) {
                Some(kind) => return to.bad_answer(&event.tool_id, kind, &error.message),
                None => ToolOutcome::Tool,
            },
            _ => ToolOutcome::Tool,
        }
    };
    to.returned(&Answer { id: &event.tool_id, agent: "", outcome, text: &event.output });
    to.context_by_size();
}

/// A failing command counts as a success here; its last line tells.
fn exit_code(output: &str) -> Option<u32> {
    let last = output.trim_end().lines().next_back()?;
    last.strip_prefix("Command exited with code: ")?.parse().ok().filter(|&code| code != 0)
}

/// How it begins what its model answered.
const API_ERROR: &str = "[API Error: ";

fn classify(message: &str, to: &StreamSession) -> Option<Trouble> {
    let api = message.strip_prefix(API_ERROR)?;
    let own = || message.to_owned();
    if api.starts_with("You exceeded your current quota")
        || api.starts_with("You have exhausted your")
        || api.starts_with("Resource exhausted")
    {
        return Some(Trouble::Limit(retry_time(api, to), own()));
    }
    if api.starts_with("The model is overloaded") || says_unreachable(api) {
        return Some(Trouble::Lost(own()));
    }
    if api.contains("API key not valid") {
        return Some(Trouble::Credentials(own()));
    }
    let status = status_after(api, "{\"error\":{\"code\":")?;
    Trouble::by_status(status, message)
}

/// When the model's service wants to be asked again.
fn retry_time(text: &str, to: &StreamSession) -> Option<Moment> {
    let secs = seconds_after(text, "Suggested retry after ")?;
    to.now().map(|now| now.after_secs(secs))
}

fn seconds_after(text: &str, anchor: &str) -> Option<u64> {
    let rest = text.split_once(anchor)?.1;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    rest.get(..end)?.parse().ok()
}
