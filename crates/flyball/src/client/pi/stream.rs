//! pi (`pi --mode json`): hooks by an extension file.

use flyball_core::call::{ToolOutcome, ValidationKind};

use super::Pi;
use crate::client::lenient::{Flag, List, Num, Raw, Text, content_text, object, read};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::stream::{StreamFormat, StreamReader, Understood, parse, unknown};
use crate::client::trouble::{Trouble, says_unreachable};
use crate::client::{AgentNote, Output, REFUSAL_MARK, ReadRequest, Reader, ToolKind, Tools};

impl Output for Pi {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        let session = StreamSession::new(request, self);
        Box::new(StreamReader::new(PiStream::default(), session))
    }

    fn tools(&self) -> Tools {
        &[
            ("edit", ToolKind::Edits),
            ("write", ToolKind::Edits),
            ("bash", ToolKind::Runs("command")),
        ]
    }

    fn tells_cost(&self) -> bool {
        true
    }
}

#[derive(Debug, Default)]
struct PiStream {
    /// The first user message is the prompt; a later one comes from the extension.
    prompted: bool,
    messages: u64,
}

object! {
    struct Event<'a> {
        "type" => kind: Text<'a>,
        "id" => id: Text<'a>,
        "message" => message: Option<Message<'a>>,
        "toolCallId" => tool_call_id: Text<'a>,
        "toolName" => tool_name: Text<'a>,
        "args" => args: Option<Raw<'a>>,
        "result" => result: Option<Raw<'a>>,
        "isError" => is_error: Flag,
        "success" => success: Flag,
        "errorMessage" => error_message: Text<'a>,
        "finalError" => final_error: Text<'a>,
    }
}

object! {
    struct Message<'a> {
        "role" => role: Text<'a>,
        "content" => content: List<Part<'a>>,
        "model" => model: Text<'a>,
        "usage" => usage: Option<Counts>,
        "stopReason" => stop_reason: Text<'a>,
        "errorMessage" => failure: Text<'a>,
    }
}

object! {
    struct Part<'a> {
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
    }
}

object! {
    struct Counts {
        "input" => input: Num,
        "output" => output: Num,
        "cacheRead" => cache_read: Num,
        "cacheWrite" => cache_write: Num,
        "cost" => cost: Option<Cost>,
    }
}

object! {
    struct Cost {
        "total" => total: Num,
    }
}

object! {
    struct ToolOutput<'a> {
        "content" => content: Option<Raw<'a>>,
    }
}

impl StreamFormat for PiStream {
    fn line(&mut self, line: &str, to: &mut StreamSession) -> Understood {
        let event: Event<'_> = match parse(line, to) {
            Ok(event) => event,
            Err(understood) => return understood,
        };
        match &*event.kind {
            "session" => to.id(&event.id),
            "message_end" => self.message(&event.message.unwrap_or_default(), to),
            "tool_execution_start" => to.called(&Call {
                id: &event.tool_call_id,
                tool: &event.tool_name,
                args: event.args.map_or("{}", Raw::get),
                round: &self.messages.to_string(),
                ..Call::default()
            }),
            "tool_execution_end" => returned(&event, to),
            "auto_retry_start" => to.retrying(classify(&event.error_message), &event.error_message),
            "auto_retry_end" if !event.success.0 => match classify(&event.final_error) {
                Some(trouble) => to.trouble(trouble),
                None => to.failed(&event.final_error),
            },
            "agent_end" => to.spoke(),
            "auto_retry_end"
            | "agent_start"
            | "turn_start"
            | "turn_end"
            | "message_start"
            | "message_update"
            | "tool_execution_update"
            | "queue_update" => {}
            other => return unknown(other, to),
        }
        Understood::Event
    }
}

impl PiStream {
    fn message(&mut self, message: &Message<'_>, to: &mut StreamSession) {
        match &*message.role {
            "assistant" => self.assistant(message, to),
            "user" => {
                to.interrupted();
                if std::mem::replace(&mut self.prompted, true) {
                    let text: String = message.content.0.iter().map(|part| &*part.text).collect();
                    to.note(AgentNote::StopRefused(text));
                }
            }
            _ => {}
        }
    }

    fn assistant(&mut self, message: &Message<'_>, to: &mut StreamSession) {
        to.model(&message.model);
        if let Some(tokens) = &message.usage {
            let usage = Usage {
                fresh: tokens.input.count(),
                cache_read: tokens.cache_read.count(),
                cache_write: tokens.cache_write.count(),
                output: tokens.output.count(),
                cost_usd: tokens.cost.as_ref().and_then(|cost| cost.total.0),
            };
            to.used(&usage);
            to.context(usage.context());
        }
        self.messages += 1;
        let id = self.messages.to_string();
        for part in &message.content.0 {
            if &*part.kind == "text" {
                to.said_block(Some(&id), &part.text);
            }
        }
        match &*message.stop_reason {
            // Retried or not: the retry events or the end decide.
            "error" => {
                let trouble = classify(&message.failure);
                if trouble.is_none() {
                    to.failed(&message.failure);
                }
                to.retrying(trouble, &message.failure);
            }
            "length" => to.cut_off("length"),
            _ => {}
        }
    }
}

fn returned(event: &Event<'_>, to: &mut StreamSession) {
    let output: ToolOutput<'_> = read(event.result);
    answered(&event.tool_call_id, event.is_error, &content_text(output.content), to);
}

/// A tool answered; its words tell how it went.
pub(super) fn answered(id: &str, is_error: Flag, text: &str, to: &mut StreamSession) {
    let outcome = if !is_error.0 {
        ToolOutcome::Ok
    } else if text.starts_with(REFUSAL_MARK) {
        ToolOutcome::Refused
    } else if text.starts_with("Tool ") && text.ends_with(" not found") {
        return to.bad_answer(id, ValidationKind::UnknownTool, text);
    } else if text.starts_with("Validation failed for tool ") {
        let missing = text.contains("must have required propert");
        let kind = if missing { ValidationKind::MissingField } else { ValidationKind::WrongType };
        return to.bad_answer(id, kind, text);
    } else if text
        .trim_end()
        .lines()
        .next_back()
        .is_some_and(|line| line.starts_with("Command exited with code "))
    {
        ToolOutcome::Exit
    } else {
        ToolOutcome::Tool
    };
    to.returned(&Answer { id, agent: "", outcome, text });
}

pub(super) fn classify(message: &str) -> Option<Trouble> {
    Trouble::by_leading_status(message).or_else(|| {
        let lost = says_unreachable(message) || message.starts_with("Connection error");
        lost.then(|| Trouble::Lost(message.to_owned()))
    })
}
