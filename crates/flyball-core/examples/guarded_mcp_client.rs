//! An MCP client that asks a guard before each `tools/call`, and counts each answer.
//!
//! `cargo run -p flyball-core --example guarded_mcp_client [-- SERVER ARGUMENT…]`
//!
//! Without a server it starts itself as one with a single tool, and calls that tool as a stuck agent
//! would: again and again, until the guard refuses. With one, it calls the server's first tool that
//! takes no arguments. Nothing here needs more than standard input and output.
#![expect(clippy::disallowed_methods, reason = "a program of its own has a clock of its own")]
#![expect(clippy::print_stdout, reason = "an example talks to its terminal")]
#![expect(clippy::indexing_slicing, reason = "a JSON value without the member answers null")]

use std::error::Error;
use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use flyball_core::call::{CallGuard, ToolOutcome, ToolResult};
use flyball_core::{CallId, Moment, Policy};
use serde_json::{Value, json};

type Failure = Box<dyn Error>;

fn main() -> Result<ExitCode, Failure> {
    let mut given: Vec<String> = std::env::args().skip(1).collect();
    if given.first().is_some_and(|one| one == "--serve") {
        return serve();
    }
    let shown = given.is_empty();
    if shown {
        let own = std::env::current_exe()?.to_string_lossy().into_owned();
        given = vec![own, "--serve".to_owned()];
    }
    let mut server = Server::start(&given)?;
    let (tool, changes) = server.plain_tool()?;
    let mut guard = CallGuard::new(Policy::default().calls.clone(), now);
    let mut refused = false;
    for number in 1..=8 {
        let args = json!({});
        let mut call = guard.call(CallId::new(number.to_string()), &tool, &args);
        if changes {
            call = call.changing_files();
        }
        let before = guard.before(&call);
        let verdict = if before.may_run() {
            let (outcome, text) = server.call(&tool, &args)?;
            println!("{number} {tool}: {text}");
            before.firmer(guard.after(&ToolResult::new(call.id, outcome, &text)))
        } else {
            before
        };
        // This is what the model is told: beside the result, or instead of it.
        if let Some(message) = verdict.message() {
            println!("{number} {}: {message}", verdict.rung().as_str());
        }
        refused |= !verdict.may_run();
        if verdict.is_halt() {
            break;
        }
    }
    server.end()?;
    // The own server answers the same each time: a guard that let all of it through is broken.
    Ok(if shown && !refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A server on standard input and output, one message a line.
struct Server {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn start(command: &[String]) -> Result<Self, Failure> {
        let (program, args) = command.split_first().ok_or("no server was given")?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
        let to = child.stdin.take().ok_or("the server has no input")?;
        let from = BufReader::new(child.stdout.take().ok_or("the server has no output")?);
        let mut server = Self { child, to, from, asked: 0 };
        server.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "guarded-mcp-client", "version": "1" },
            }),
        )?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    /// The first tool that needs no arguments, and whether it may change something.
    fn plain_tool(&mut self) -> Result<(String, bool), Failure> {
        let answer = self.ask("tools/list", &json!({}))?;
        let tools = answer["tools"].as_array().ok_or("the server lists no tools")?;
        let plain =
            |tool: &&Value| tool["inputSchema"]["required"].as_array().is_none_or(Vec::is_empty);
        let tool = tools.iter().find(plain).ok_or("every tool of this server needs arguments")?;
        let name = tool["name"].as_str().ok_or("a tool without a name")?;
        Ok((name.to_owned(), tool["annotations"]["readOnlyHint"] != true))
    }

    fn call(&mut self, tool: &str, args: &Value) -> Result<(ToolOutcome, String), Failure> {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": args }))?;
        let texts: Vec<&str> = answer["content"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one["text"].as_str())
            .collect();
        let outcome = if answer["isError"] == true { ToolOutcome::Tool } else { ToolOutcome::Ok };
        Ok((outcome, texts.join("\n")))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.from.read_line(&mut line)? == 0 {
                return Err(format!("the server ended before it answered `{method}`").into());
            }
            let mut message: Value = serde_json::from_str(&line)?;
            // Notifications and questions of the server stand between the answers.
            if message["id"] == id && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(format!("`{method}`: {error}").into()),
                    None => Ok(message["result"].take()),
                };
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Failure> {
        writeln!(self.to, "{message}")?;
        Ok(self.to.flush()?)
    }

    fn end(mut self) -> Result<(), Failure> {
        // A server ends when its input does.
        drop(self.to);
        self.child.wait()?;
        Ok(())
    }
}

/// A server with one tool that always answers the same.
fn serve() -> Result<ExitCode, Failure> {
    for line in stdin().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else { continue };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-06-18",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "one-tool", "version": "1" },
            }),
            Some("tools/list") => json!({ "tools": [{
                "name": "status",
                "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": true },
            }] }),
            _ => json!({ "content": [{ "type": "text", "text": "still building" }] }),
        };
        let mut out = stdout();
        writeln!(out, "{}", json!({ "jsonrpc": "2.0", "id": id, "result": result }))?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}
