//! GitHub Copilot CLI (`copilot --output-format json`): hooks by a plugin folder. Its stream tells
//! neither tokens nor cost; its usage file tells tokens.

use flyball_core::call::{ToolOutcome, ValidationKind};

use super::Copilot;
use crate::client::lenient::{Flag, Num, Raw, Text, object, read};
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::stream::{StreamFormat, StreamReader, Understood, parse, unknown};
use crate::client::trouble::Trouble;
use crate::client::{
    AgentNote, Output, ReadRequest, Reader, SessionPlace, ToolKind, Tools, UsageFile,
};

impl Output for Copilot {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        let session = StreamSession::new(request, self);
        Box::new(StreamReader::new(CopilotStream::default(), session))
    }

    fn tools(&self) -> Tools {
        &[
            ("edit", ToolKind::Edits),
            ("create", ToolKind::Edits),
            ("str_replace", ToolKind::Edits),
            ("apply_patch", ToolKind::Edits),
            (
                "str_replace_editor",
                ToolKind::EditsWhen("command", &["create", "str_replace", "edit", "insert"]),
            ),
            ("bash", ToolKind::Runs("command")),
        ]
    }

    fn usage_file(&self, at: &SessionPlace<'_>) -> Option<Box<dyn UsageFile>> {
        super::usage::usage_file(at)
    }
}

#[derive(Debug, Default)]
pub(super) struct CopilotStream {
    /// The first user message is the prompt; a later one comes from a hook.
    prompted: bool,
    /// The model's last message: the calls that are started after it are its own.
    message: String,
}

object! {
    struct Event<'a> {
        "type" => kind: Text<'a>,
        "data" => data: Option<Raw<'a>>,
        "ephemeral" => ephemeral: Flag,
        "sessionId" => session: Text<'a>,
    }
}

object! {
    struct Data<'a> {
        "content" => content: Text<'a>,
        "messageId" => message_id: Text<'a>,
        "model" => model: Text<'a>,
        "toolCallId" => tool_call_id: Text<'a>,
        "toolName" => tool_name: Text<'a>,
        "arguments" => arguments: Option<Raw<'a>>,
        "parentToolCallId" => parent_tool_call_id: Text<'a>,
        "success" => success: Flag,
        "result" => result: Option<Content<'a>>,
        "error" => error: Option<Error<'a>>,
        "shellExecution" => shell_execution: Option<Shell>,
        "toolTelemetry" => tool_telemetry: Option<Telemetry<'a>>,
        "errorType" => error_type: Text<'a>,
        "message" => message: Text<'a>,
        "statusCode" => status_code: Num,
        "retryAttempt" => retry_attempt: Num,
    }
}

object! {
    struct Content<'a> {
        "content" => content: Text<'a>,
    }
}

object! {
    struct Error<'a> {
        "message" => message: Text<'a>,
        "code" => code: Text<'a>,
    }
}

object! {
    struct Shell {
        "exitCode" => exit_code: Num,
    }
}

object! {
    struct Telemetry<'a> {
        "properties" => properties: Option<Properties<'a>>,
        "metrics" => metrics: Option<Metrics>,
    }
}

object! {
    struct Properties<'a> {
        "wasSyntaxError" => was_syntax_error: Text<'a>,
    }
}

object! {
    struct Metrics {
        "context_token_limit" => context_token_limit: Num,
        "context_current_tokens" => context_current_tokens: Num,
    }
}

impl StreamFormat for CopilotStream {
    fn line(&mut self, line: &str, to: &mut StreamSession) -> Understood {
        let event: Event<'_> = match parse(line, to) {
            Ok(event) => event,
            Err(understood) => return understood,
        };
        if event.ephemeral.0 && &*event.kind != "model.call_failure" {
            return Understood::Event;
        }
        let data: Data<'_> = read(event.data);
        match &*event.kind {
            "user.message" => {
                to.interrupted();
                if std::mem::replace(&mut self.prompted, true) {
                    to.note(AgentNote::StopRefused(data.content.to_string()));
                }
            }
            "assistant.message" => {
                to.model(&data.model);
                self.message = data.message_id.to_string();
                if data.parent_tool_call_id.is_empty() {
                    to.said_block(Some(&data.message_id), &data.content);
                }
            }
            "tool.execution_start" => to.called(&Call {
                id: &data.tool_call_id,
                agent: &data.parent_tool_call_id,
                tool: &data.tool_name,
                args: data.arguments.map_or("{}", Raw::get),
                round: &self.message,
                ..Call::default()
            }),
            "tool.execution_complete" => returned(&data, to),
            "model.call_failure" => {
                let message = format!("model call failed, attempt {}", data.retry_attempt.count());
                let status = data.status_code.status();
                let trouble = status.and_then(|status| Trouble::by_status(status, &message));
                to.retrying(trouble.or_else(|| Some(Trouble::Lost(message.clone()))), &message);
            }
            "session.error" => failed(&data, to),
            "result" => {
                to.spoke();
                to.id(&event.session);
            }
            "assistant.turn_start"
            | "assistant.turn_end"
            | "session.info"
            | "session.warning"
            | "assistant.turn_retry" => {}
            other => return unknown(other, to),
        }
        Understood::Event
    }
}

fn returned(data: &Data<'_>, to: &mut StreamSession) {
    let telemetry = data.tool_telemetry.as_ref();
    if let Some(metrics) = telemetry.and_then(|telemetry| telemetry.metrics.as_ref()) {
        to.window(metrics.context_token_limit.count());
        to.context(metrics.context_current_tokens.count());
    }
    let answer = |outcome, text: &str, to: &mut StreamSession| {
        let agent = &*data.parent_tool_call_id;
        to.returned(&Answer { id: &data.tool_call_id, agent, outcome, text });
    };
    let exit = data.shell_execution.as_ref().and_then(|shell| shell.exit_code.0);
    let text = data.result.as_ref().map_or("", |result| without_shell(&result.content));
    if exit.is_some_and(|code| code != 0.0) {
        return answer(ToolOutcome::Exit, text, to);
    }
    if data.success.0 {
        return answer(ToolOutcome::Ok, text, to);
    }
    let Some(error) = &data.error else { return answer(ToolOutcome::Tool, text, to) };
    let properties = telemetry.and_then(|telemetry| telemetry.properties.as_ref());
    let syntax = properties.is_some_and(|properties| &*properties.was_syntax_error == "true");
    let message = &*error.message;
    let kind = if syntax {
        Some(ValidationKind::UnparseableJson)
    } else if message.starts_with("Tool '") && message.ends_with("' does not exist.") {
        Some(ValidationKind::UnknownTool)
    } else if message.starts_with('"') && message.ends_with("\": Required") {
        Some(ValidationKind::MissingField)
    } else if message.starts_with('"') && message.contains("\": Expected ") {
        Some(ValidationKind::WrongType)
    } else {
        None
    };
    match kind {
        Some(kind) => to.bad_answer(&data.tool_call_id, kind, message),
        None if &*error.code == "denied" => answer(ToolOutcome::Refused, message, to),
        None => answer(ToolOutcome::Tool, message, to),
    }
}

/// The result without its last line, which names the shell and is never the same twice.
fn without_shell(text: &str) -> &str {
    match text.rsplit_once("<shellId: ") {
        Some((own, rest)) if rest.ends_with('>') && !rest.contains('\n') => own,
        _ => text,
    }
}

fn failed(data: &Data<'_>, to: &mut StreamSession) {
    let message = &*data.message;
    let trouble = match &*data.error_type {
        "rate_limit" | "quota" => Some(Trouble::Limit(None, message.to_owned())),
        "authentication" | "authorization" => Some(Trouble::Credentials(message.to_owned())),
        _ => data.status_code.status().and_then(|status| Trouble::by_status(status, message)),
    };
    match trouble {
        Some(trouble) => to.trouble(trouble),
        None => to.failed(message),
    }
}
