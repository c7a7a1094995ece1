//! Messages of an MCP client and its server, one a line: bare JSON-RPC, or behind a time and some words
//! as desktop programs log it. It knows calls and results, and nothing of models.

use flyball_core::call::ToolOutcome;
use memchr::memmem;

use super::foreign;
use crate::client::lenient::{Flag, Maybe, Raw, Text, content_text, object};
use crate::client::session::{Answer, Call};
use crate::client::transcript::{Format, Head, Record, RecordReader, Shape, Teller};

pub(super) static FORMAT: Format = Format {
    agent: "mcp",
    name: "log",
    shape: Shape::Lines(|| Box::new(Messages::default())),
    recognises,
    output: foreign::output,
};

/// Calls without an answer yet that are remembered.
const OPEN_MAX: usize = 256;

fn recognises(head: &Head<'_>) -> bool {
    head.has("\"jsonrpc\"")
        && ["\"tools/call\"", "\"tools/list\"", "\"initialize\""].iter().any(|word| head.has(word))
}

#[derive(Default)]
struct Messages {
    sessions: u32,
    calls: u64,
    /// Calls that wait for an answer: the message's id, and the call's.
    open: Vec<(String, String)>,
}

object! {
    struct Message<'a> {
        "jsonrpc" => version: Text<'a>,
        "id" => id: Option<Raw<'a>>,
        "method" => method: Text<'a>,
        "params" => params: Maybe<Params<'a>>,
        "result" => result: Maybe<ToolAnswer<'a>>,
        "error" => error: Maybe<Fault<'a>>,
    }
}

object! {
    struct Params<'a> {
        "name" => name: Text<'a>,
        "arguments" => arguments: Option<Raw<'a>>,
    }
}

object! {
    struct ToolAnswer<'a> {
        "content" => content: Option<Raw<'a>>,
        "isError" => is_error: Flag,
    }
}

object! {
    struct Fault<'a> {
        "message" => message: Text<'a>,
    }
}

impl RecordReader for Messages {
    fn record(&mut self, record: &Record<'_>, to: &mut Teller<'_>) -> Result<(), String> {
        // A line without a message is something else the program logs.
        let Some(at) = memmem::find(record.text.as_bytes(), b"{\"") else { return Ok(()) };
        let (before, json) = record.text.split_at(at);
        if memmem::find(json.as_bytes(), b"\"jsonrpc\"").is_none() {
            return Ok(());
        }
        if let Some(time) = before.split_whitespace().next() {
            to.time(time);
        }
        // Something may stand behind it, too.
        let first = serde_json::Deserializer::from_str(json).into_iter::<Message<'_>>().next();
        match first {
            Some(Ok(message)) => self.message(&message, to),
            Some(Err(error)) => return Err(error.to_string()),
            None => {}
        }
        Ok(())
    }
}

impl Messages {
    fn message(&mut self, message: &Message<'_>, to: &mut Teller<'_>) {
        let id = message.id.map_or("", Raw::get);
        match &*message.method {
            "initialize" => {
                self.sessions += 1;
                if self.sessions > 1 {
                    to.session(&format!("connection {}", self.sessions));
                }
                self.open.clear();
            }
            "tools/call" => {
                let Some(params) = &message.params.0 else { return };
                self.calls += 1;
                let call = format!("{id} of call {}", self.calls);
                let args = params.arguments.map_or("{}", Raw::get);
                to.called(&Call { id: &call, tool: &params.name, args, ..Call::default() });
                if self.open.len() < OPEN_MAX {
                    self.open.push((id.to_owned(), call));
                }
            }
            "" => self.answered(id, message, to),
            _ => {}
        }
    }

    fn answered(&mut self, id: &str, message: &Message<'_>, to: &mut Teller<'_>) {
        let Some(at) = self.open.iter().position(|(open, _)| open == id) else { return };
        let (_, call) = self.open.swap_remove(at);
        let (text, failed) = match (&message.result.0, &message.error.0) {
            (Some(result), _) => (content_text(result.content), result.is_error.0),
            (None, Some(fault)) => (fault.message.0.clone(), true),
            (None, None) => return,
        };
        let outcome = if failed { ToolOutcome::Tool } else { ToolOutcome::Ok };
        to.returned(&Answer { id: &call, agent: "", outcome, text: &text });
    }
}
