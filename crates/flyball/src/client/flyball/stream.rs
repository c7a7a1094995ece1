//! The protocol of `output = "flyball"`: how any home-made agent speaks to all rings.

use std::borrow::Cow;

use flyball_core::call::{ToolOutcome, ValidationKind};
use flyball_core::event::CallRecord;
use flyball_core::{AgentFact, Moment};

use super::Flyball;
use crate::client::lenient::{Num, Raw, Text, content_text, from_str, object};
use crate::client::meter::Usage;
use crate::client::session::{Answer, Call, StreamSession};
use crate::client::stream::{StreamFormat, StreamReader, Understood, parse, unknown};
use crate::client::trouble::Trouble;
use crate::client::{Output, ReadRequest, Reader, ToolKind, Tools};

impl Output for Flyball {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        let session = StreamSession::new(request, self);
        Box::new(StreamReader::new(FlyballStream, session))
    }

    fn tools(&self) -> Tools {
        &[
            ("bash", ToolKind::Runs("command")),
            ("shell", ToolKind::Runs("command")),
            ("create", ToolKind::Edits),
            ("replace", ToolKind::Edits),
        ]
    }

    fn record(&self) -> CallRecord {
        CallRecord::Questions
    }

    fn tells_cost(&self) -> bool {
        true
    }
}

/// The lines of the protocol.
pub(in crate::client) struct FlyballStream;

object! {
    struct Event<'a> {
        "type" => kind: Text<'a>,
        "id" => id: Option<Raw<'a>>,
        "agent" => agent: Text<'a>,
        "tool" => tool: Text<'a>,
        "args" => args: Option<Raw<'a>>,
        "round" => round: Option<Raw<'a>>,
        "mutates" => mutates: Option<Raw<'a>>,
        "output" => output: Option<Raw<'a>>,
        "error" => error: Text<'a>,
        "received" => received: Text<'a>,
        "text" => text: Text<'a>,
        "input_tokens" => input_tokens: Num,
        "output_tokens" => output_tokens: Num,
        "cost_usd" => cost_usd: Num,
        "context_used" => context_used: Num,
        "resets_at" => resets_at: Text<'a>,
        "kind" => what: Text<'a>,
        "message" => message: Text<'a>,
    }
}

impl StreamFormat for FlyballStream {
    fn line(&mut self, line: &str, to: &mut StreamSession) -> Understood {
        let event: Event<'_> = match parse(line, to) {
            Ok(event) => event,
            Err(understood) => return understood,
        };
        let agent = if &*event.agent == "main" { "" } else { &*event.agent };
        match &*event.kind {
            "call" => called(&event, agent, to),
            "human" => to.fact(AgentFact::HeardHuman),
            "result" => {
                let outcome = match &*event.error {
                    "" => ToolOutcome::Ok,
                    "exit" => ToolOutcome::Exit,
                    "refused" => ToolOutcome::Refused,
                    _ => ToolOutcome::Tool,
                };
                let text = content_text(event.output);
                to.returned(&Answer { id: &name(event.id), agent, outcome, text: &text });
            }
            "invalid" => to.bad_call(kind(&event.error), &event.received, &event.error),
            "text" if agent.is_empty() => to.said(None, &format!("{}\n", event.text.trim_end())),
            "text" => {}
            "usage" => usage(&event, to),
            "limit" => {
                let resets_at = event.resets_at.parse().ok().and_then(moment);
                let told = Some(event.message.to_string()).filter(|told| !told.is_empty());
                let told = told.unwrap_or_else(|| "the agent reports a limit".to_owned());
                to.trouble(Trouble::Limit(resets_at, told));
            }
            "error" => {
                let message = event.message.to_string();
                to.trouble(match &*event.what {
                    "credentials" => Trouble::Credentials(message),
                    _ => Trouble::Lost(message),
                });
            }
            other => return unknown(other, to),
        }
        Understood::Event
    }
}

/// A call, if it is one: it names a tool, and its arguments are an object (A4).
fn called(event: &Event<'_>, agent: &str, to: &mut StreamSession) {
    let args = event.args.map_or("{}", Raw::get);
    let wrong = malformed(&event.tool, args);
    if let Some((kind, error)) = wrong {
        return to.bad_call(kind, args, error);
    }
    to.called(&Call {
        id: &name(event.id),
        agent,
        tool: &event.tool,
        args,
        round: &name(event.round),
        changes_files: event.mutates.and_then(|told| from_str(told.get()).ok()),
    });
}

/// What is wrong with a call of this tool with these arguments as JSON.
pub(super) fn malformed(tool: &str, args: &str) -> Option<(ValidationKind, &'static str)> {
    if tool.is_empty() {
        Some((ValidationKind::MissingField, "a call without `tool`"))
    } else if args.starts_with('{') {
        None
    } else {
        Some((ValidationKind::WrongType, "`args` of a call are no object"))
    }
}

/// An id or a name, which may be written as a number.
fn name(raw: Option<Raw<'_>>) -> Cow<'_, str> {
    match raw.map(Raw::get) {
        Some(text) if text.starts_with('"') => content_text(raw),
        Some(number) if number.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            Cow::Borrowed(number)
        }
        Some(_) | None => Cow::Borrowed(""),
    }
}

fn usage(event: &Event<'_>, to: &mut StreamSession) {
    to.used(&Usage {
        fresh: event.input_tokens.count(),
        output: event.output_tokens.count(),
        cost_usd: event.cost_usd.0,
        ..Usage::default()
    });
    if let Some(share) = event.context_used.0 {
        let permille = Num(Some(share * 1000.0)).count().min(1000);
        to.fact(AgentFact::FilledContext { permille: u16::try_from(permille).unwrap_or(1000) });
    }
}

/// Which of the eight, by the words the agent chose.
fn kind(error: &str) -> ValidationKind {
    let error = error.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| error.contains(word));
    if says(&["unknown tool", "no such tool"]) {
        ValidationKind::UnknownTool
    } else if says(&["missing", "required"]) {
        ValidationKind::MissingField
    } else if says(&["truncated", "token limit", "max_tokens"]) {
        ValidationKind::TruncatedResponse
    } else if says(&["type", "schema"]) {
        ValidationKind::WrongType
    } else {
        ValidationKind::UnparseableJson
    }
}

fn moment(at: jiff::Timestamp) -> Option<Moment> {
    u64::try_from(at.as_millisecond()).ok().map(Moment::from_millis)
}
