//! MCP servers of the settings: their tools are tools of the session, judged like all others. They live as
//! long as it does, behind the same walls as its commands.

use std::io::{PipeWriter, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use flyball_core::call::{ValidationFailure, ValidationKind};
use flyball_models::Tool;
use serde_json::{Value, json};

use super::super::ground::Ground;
use super::Done;
use crate::clock::Deadline;
use crate::error::CliError;
use crate::process::{InputPipe, ProcessEvent, Spec, Stream, Supervised};

/// The version of the protocol that is asked for.
const VERSION: &str = "2025-06-18";
/// How long a server may take to be ready.
const START_MAX: Duration = Duration::from_mins(1);
/// The longest line that is read.
const LINE_MAX: usize = 16 * 1024 * 1024;
/// Pages of tools that are asked for.
const PAGES_MAX: usize = 20;
/// What stands between the server's name and the tool's.
const BETWEEN: &str = "__";
/// JSON-RPC's own words for a call that is none.
const NO_METHOD: i64 = -32601;
const BAD_PARAMS: i64 = -32602;

/// A server at work.
pub(crate) struct Server {
    name: String,
    tools: Vec<Tool>,
    wire: Mutex<Wire>,
}

struct Wire {
    input: PipeWriter,
    lines: Receiver<Value>,
    next: u64,
    _process: Supervised,
}

/// Why a server did not do what it was asked.
struct Refusal {
    code: Option<i64>,
    message: String,
}

impl Refusal {
    fn new(message: impl Into<String>) -> Self {
        Self { code: None, message: message.into() }
    }
}

impl Server {
    /// Starts a server and asks it for its tools.
    pub(crate) fn start(name: &str, argv: &[String], ground: &Ground) -> Result<Self, CliError> {
        let failed = |why: &dyn std::fmt::Display| {
            CliError::config(format!("the MCP server `{name}` cannot be used: {why}"))
                .hint(format!("look at `session.mcp.{name}`"))
        };
        let (program, args) = argv.split_first().ok_or_else(|| failed(&"it has no command"))?;
        let mut spec = Spec::new(program, &ground.root);
        spec.args = args.to_vec();
        spec.env.clone_from(&ground.env);
        spec.walls.clone_from(&ground.walls);
        let pipe = InputPipe::new().map_err(|error| failed(&error))?;
        pipe.feed(&mut spec);
        let (sender, lines) = channel();
        let reader = Mutex::new(Lines::default());
        let process = Supervised::start(&spec, move |event| {
            if let ProcessEvent::Output { stream: Stream::Stdout, bytes } = event {
                reader.lock().unwrap_or_else(PoisonError::into_inner).take(&bytes, &sender);
            }
        })
        .map_err(|error| failed(&error))?;
        let input = pipe.into_writer();
        let mut wire = Wire { input, lines, next: 0, _process: process };
        let tools = wire.greet().map_err(|refusal| failed(&refusal.message))?;
        let named = |tool: Tool| Tool { name: format!("{name}{BETWEEN}{}", tool.name), ..tool };
        let tools = tools.into_iter().map(named).collect();
        Ok(Self { name: name.to_owned(), tools, wire: Mutex::new(wire) })
    }

    /// Its tools, with its name before theirs.
    pub(crate) fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The server's own name for a tool, if it is one of its own.
    pub(super) fn own<'n>(&self, tool: &'n str) -> Option<&'n str> {
        tool.strip_prefix(&self.name)?.strip_prefix(BETWEEN)
    }

    /// Makes a call.
    pub(super) fn call(&self, tool: &str, args: &Value, limit: Duration) -> Done {
        let mut wire = self.wire.lock().unwrap_or_else(PoisonError::into_inner);
        let params = json!({ "name": tool, "arguments": args });
        match wire.ask("tools/call", &params, limit) {
            Ok(answer) => {
                let text = content(&answer);
                let failed = answer.get("isError").and_then(Value::as_bool).unwrap_or(false);
                if failed { Done::failed(text) } else { Done::said(text) }
            }
            Err(Refusal { code: Some(NO_METHOD | BAD_PARAMS), message }) => {
                let kind = ValidationKind::WrongType;
                let expected = format!("arguments the server `{}` takes", self.name);
                let failure =
                    ValidationFailure::new(kind, expected, &args.to_string(), message.clone());
                Done { invalid: Some(failure), ..Done::failed(message) }
            }
            Err(Refusal { message, .. }) => Done::failed(message),
        }
    }
}

impl Wire {
    fn greet(&mut self) -> Result<Vec<Tool>, Refusal> {
        let client = json!({ "name": "flyball", "version": env!("CARGO_PKG_VERSION") });
        let params =
            json!({ "protocolVersion": VERSION, "capabilities": {}, "clientInfo": client });
        self.ask("initialize", &params, START_MAX)?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let params =
                cursor.take().map_or_else(|| json!({}), |at: Value| json!({ "cursor": at }));
            let page = self.ask("tools/list", &params, START_MAX)?;
            let found = page.get("tools").and_then(Value::as_array).into_iter().flatten();
            tools.extend(found.filter_map(tool));
            cursor = page.get("nextCursor").filter(|next| next.is_string()).cloned();
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    }

    fn ask(&mut self, method: &str, params: &Value, limit: Duration) -> Result<Value, Refusal> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let limit = Deadline::after(limit);
        loop {
            let line = self.lines.recv_timeout(limit.left()).map_err(|error| match error {
                RecvTimeoutError::Timeout => Refusal::new("the server did not answer in time"),
                RecvTimeoutError::Disconnected => Refusal::new("the server has ended"),
            })?;
            if line.get("method").is_some() {
                self.refuse(&line)?;
            } else if line.get("id").and_then(Value::as_u64) == Some(id) {
                return answer(&line);
            }
        }
    }

    /// A server that asks something itself: it is alive, and there is nothing else to be had here.
    fn refuse(&mut self, line: &Value) -> Result<(), Refusal> {
        let Some(id) = line.get("id") else { return Ok(()) };
        if line.get("method").and_then(Value::as_str) == Some("ping") {
            return self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        }
        let error = json!({ "code": NO_METHOD, "message": "not offered" });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    }

    fn send(&mut self, message: &Value) -> Result<(), Refusal> {
        self.input
            .write_all(format!("{message}\n").as_bytes())
            .map_err(|error| Refusal::new(format!("the server does not listen: {error}")))
    }
}

/// What a server prints, cut into lines.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    fn take(&mut self, bytes: &[u8], to: &Sender<Value>) {
        self.0.extend_from_slice(bytes);
        while let Some(end) = self.0.iter().position(|byte| *byte == b'\n') {
            let rest = self.0.split_off(end + 1);
            let line = std::mem::replace(&mut self.0, rest);
            // What is no message is some library's chatter.
            if let Ok(message) = serde_json::from_slice(&line) {
                to.send(message).ok();
            }
        }
        if self.0.len() > LINE_MAX {
            self.0.clear();
        }
    }
}

fn answer(line: &Value) -> Result<Value, Refusal> {
    if let Some(error) = line.get("error") {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("it failed");
        let code = error.get("code").and_then(Value::as_i64);
        return Err(Refusal { code, message: message.to_owned() });
    }
    Ok(line.get("result").cloned().unwrap_or_default())
}

fn tool(value: &Value) -> Option<Tool> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = value.get("name").and_then(Value::as_str)?.to_owned();
    let schema = value.get("inputSchema").cloned().unwrap_or_else(|| json!({ "type": "object" }));
    Some(Tool { name, description: text("description"), schema })
}

/// The words of an answer; what is no text is named.
fn content(answer: &Value) -> String {
    let parts = answer.get("content").and_then(Value::as_array).into_iter().flatten();
    let words = parts.map(|part| match part.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => format!("({})", part.get("type").and_then(Value::as_str).unwrap_or("nothing")),
    });
    words.collect::<Vec<_>>().join("\n")
}
