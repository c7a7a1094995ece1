//! goose (`goose run --output-format stream-json`): hooks by a plugin in the worktree.
//!
//! Most failures end with exit code 0 and a text of the client's own in the agent's place.

use flyball_core::call::{ToolOutcome, ValidationKind};

use super::Goose;
use crate::client::lenient::{Flag, List, Maybe, Num, Raw, Text, content_text, object};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::stream::{StreamFormat, StreamReader, Understood, parse, unknown};
use crate::client::trouble::{Trouble, says_unreachable, status_after};
use crate::client::{
    AgentNote, Output, ReadRequest, Reader, SessionPlace, ToolKind, Tools, UsageFile,
};

/// Its editor of earlier releases.
const TEXT_EDITOR: ToolKind =
    ToolKind::EditsWhen("command", &["write", "str_replace", "edit_file", "insert", "undo_edit"]);

impl Output for Goose {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        let session = StreamSession::new(request, self);
        Box::new(StreamReader::new(GooseStream, session))
    }

    fn tools(&self) -> Tools {
        &[
            ("write", ToolKind::Edits),
            ("edit", ToolKind::Edits),
            ("shell", ToolKind::Runs("command")),
            ("developer__shell", ToolKind::Runs("command")),
            ("text_editor", TEXT_EDITOR),
            ("developer__text_editor", TEXT_EDITOR),
        ]
    }

    fn usage_file(&self, at: &SessionPlace<'_>) -> Option<Box<dyn UsageFile>> {
        super::usage::usage_file(at)
    }
}

struct GooseStream;

object! {
    struct Event<'a> {
        "type" => kind: Text<'a>,
        "message" => message: Option<Message<'a>>,
        "error" => error: Text<'a>,
        "input_tokens" => input_tokens: Num,
        "output_tokens" => output_tokens: Num,
        "cache_read_input_tokens" => cache_read_input_tokens: Num,
        "cost_usd" => cost_usd: Num,
    }
}

object! {
    pub(super) struct Message<'a> {
        "id" => pub(super) id: Text<'a>,
        "role" => pub(super) role: Text<'a>,
        "content" => pub(super) content: List<Part<'a>>,
        "metadata" => pub(super) metadata: Maybe<Metadata<'a>>,
    }
}

object! {
    pub(super) struct Part<'a> {
        "type" => kind: Text<'a>,
        "id" => id: Text<'a>,
        "text" => text: Text<'a>,
        "toolCall" => tool_call: Option<ToolSaid<'a>>,
        "toolResult" => tool_result: Option<ToolSaid<'a>>,
        "notificationType" => notification_type: Text<'a>,
        "msg" => msg: Text<'a>,
        "kind" => error_kind: Text<'a>,
        "message" => message: Text<'a>,
    }
}

object! {
    struct ToolSaid<'a> {
        "value" => value: Option<Value<'a>>,
        "error" => error: Text<'a>,
    }
}

object! {
    struct Value<'a> {
        "name" => name: Text<'a>,
        "arguments" => arguments: Option<Raw<'a>>,
        "content" => content: Option<Raw<'a>>,
        "structuredContent" => structured_content: Maybe<Structured>,
        "isError" => is_error: Flag,
    }
}

object! {
    struct Structured {
        "exit_code" => exit_code: Num,
    }
}

object! {
    pub(super) struct Metadata<'a> {
        "inference" => inference: Maybe<Inference<'a>>,
    }
}

object! {
    struct Inference<'a> {
        "requestedModel" => requested_model: Text<'a>,
    }
}

impl Message<'_> {
    /// The model that was asked for.
    pub(super) fn model(&self) -> Option<&str> {
        let inference = self.metadata.0.as_ref()?.inference.0.as_ref()?;
        Some(&*inference.requested_model)
    }
}

impl Part<'_> {
    pub(super) fn is_call(&self) -> bool {
        &*self.kind == "toolRequest"
    }

    /// Whether it stands for a call that could not be understood: the answer says why.
    pub(super) fn is_no_call(&self) -> bool {
        let value = self.tool_call.as_ref().and_then(|call| call.value.as_ref());
        value.is_some_and(|value| &*value.name == "unparseable_tool_call")
    }

    /// Why a call never became one, if this says so.
    pub(super) fn never_was(&self) -> Option<(ValidationKind, &str)> {
        let error = &*self.tool_result.as_ref().filter(|result| result.value.is_none())?.error;
        if error.starts_with("-32600:") {
            Some((ValidationKind::UnknownTool, error))
        } else if error.starts_with("-32602:") && error.contains("response was truncated") {
            Some((ValidationKind::TruncatedResponse, error))
        } else {
            error.starts_with("-32602:").then_some((ValidationKind::UnparseableJson, error))
        }
    }

    /// What a human said, if it is that.
    pub(super) fn human(&self, role: &str) -> Option<&str> {
        (role == "user" && &*self.kind == "text").then_some(&*self.text)
    }
}

impl StreamFormat for GooseStream {
    fn line(&mut self, line: &str, to: &mut StreamSession) -> Understood {
        let event: Event<'_> = match parse(line, to) {
            Ok(event) => event,
            Err(understood) => return understood,
        };
        match &*event.kind {
            "message" => {
                let Some(message) = &event.message else { return Understood::Event };
                if let Some(model) = message.model() {
                    to.model(model);
                }
                for part in &message.content.0 {
                    one(part, message, to);
                }
            }
            "complete" => {
                to.spoke();
                let tokens = Usage::with_cached(
                    event.input_tokens.count(),
                    event.cache_read_input_tokens.count(),
                    event.output_tokens.count(),
                );
                to.settled_cumulative(&Usage { cost_usd: event.cost_usd.0, ..tokens });
            }
            "error" => failed(&event.error, to),
            "notification" => {}
            other => return unknown(other, to),
        }
        Understood::Event
    }
}

pub(super) fn one(part: &Part<'_>, message: &Message<'_>, to: &mut StreamSession) {
    match (&*message.role, &*part.kind) {
        ("assistant", "text") => text(part, message, to),
        (_, "toolRequest") => request(part, message, to),
        (_, "toolResponse") => response(part, to),
        (_, "systemNotification") => notification(part, to),
        (_, "error") if &*part.error_kind == "authentication" => {
            to.trouble(Trouble::Credentials(part.message.to_string()));
        }
        (_, "error") => failed(&part.message, to),
        ("user", "text") => to.interrupted(),
        _ => {}
    }
}

/// The agent's words, or the client's in its place: those are whole messages with an id of their
/// own kind, and begin in a fixed way.
fn text(part: &Part<'_>, message: &Message<'_>, to: &mut StreamSession) {
    let clients_own = message.id.starts_with("msg_");
    if clients_own && part.text.starts_with("Ran into this error: ") {
        failed(&part.text, to);
    } else if clients_own && part.text.starts_with("I've reached the maximum number of actions") {
        to.note(AgentNote::OwnLimit(part.text.to_string()));
    } else {
        to.said(Some(&message.id), &part.text);
        to.context_by_size();
    }
}

fn request(part: &Part<'_>, message: &Message<'_>, to: &mut StreamSession) {
    let Some(call) = &part.tool_call else { return };
    if let Some(value) = &call.value {
        let args = value.arguments.map_or("{}", Raw::get);
        return to.called(&Call {
            id: &part.id,
            tool: &value.name,
            args,
            round: &message.id,
            ..Call::default()
        });
    }
    let kind = if call.error.starts_with("-32600:") {
        ValidationKind::UnknownTool
    } else if call.error.contains("response was truncated") {
        ValidationKind::TruncatedResponse
    } else {
        ValidationKind::UnparseableJson
    };
    to.bad_call(kind, &call.error, &call.error);
}

fn response(part: &Part<'_>, to: &mut StreamSession) {
    let Some(result) = &part.tool_result else { return };
    let answer = |outcome, text: &str, to: &mut StreamSession| {
        to.returned(&Answer { id: &part.id, agent: "", outcome, text });
        to.context_by_size();
    };
    let Some(value) = &result.value else {
        if result.error.starts_with("-32603: Tool call denied by policy hook") {
            return answer(ToolOutcome::Refused, &result.error, to);
        }
        if result.error.starts_with("-32600:") || result.error.starts_with("-32602:") {
            // The call never was one and was told as such.
            return to.interrupted();
        }
        return answer(ToolOutcome::Tool, &result.error, to);
    };
    let text = content_text(value.content);
    let structured = value.structured_content.0.as_ref();
    let outcome = match structured.and_then(|structured| structured.exit_code.0) {
        Some(code) if code != 0.0 => ToolOutcome::Exit,
        _ if !value.is_error.0 => ToolOutcome::Ok,
        _ => match text.strip_prefix("Error: Failed to parse arguments: ") {
            Some(detail) if detail.starts_with("missing field") => {
                return to.bad_answer(&part.id, ValidationKind::MissingField, &text);
            }
            Some(_) => return to.bad_answer(&part.id, ValidationKind::WrongType, &text),
            None => ToolOutcome::Tool,
        },
    };
    answer(outcome, &text, to);
}

fn notification(part: &Part<'_>, to: &mut StreamSession) {
    if &*part.notification_type == "creditsExhausted" {
        return to.trouble(Trouble::Credentials(part.msg.to_string()));
    }
    if part.msg.starts_with("Stop hook `") && part.msg.contains("overriding and ending turn") {
        to.note(AgentNote::StopForced(part.msg.to_string()));
    } else if part.msg.starts_with("Stop hook `") {
        to.interrupted();
        to.note(AgentNote::StopRefused(part.msg.to_string()));
    }
}

fn failed(message: &str, to: &mut StreamSession) {
    let error = message.strip_prefix("Ran into this error: ").unwrap_or(message);
    let own = || message.to_owned();
    let trouble = if error.starts_with("Rate limit exceeded") {
        Some(Trouble::Limit(None, own()))
    } else if error.starts_with("Authentication error") {
        Some(Trouble::Credentials(own()))
    } else if error.starts_with("Server error") {
        let status = status_after(error, "Server error (").unwrap_or(500);
        Trouble::by_status(status, message)
    } else if error.starts_with("Network error") || says_unreachable(error) {
        Some(Trouble::Lost(own()))
    } else {
        None
    };
    match trouble {
        Some(trouble) => to.trouble(trouble),
        None => to.failed(message),
    }
}
