//! A client that speaks JSON-RPC by hand over standard input and output, and hides nothing.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

/// A client with its server.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    /// Starts flyball with these arguments in a folder of its own world.
    pub(crate) fn start(root: &Path, args: &[&str]) -> Self {
        let mut child = flyball(root).args(args).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, next: 0 }
    }

    /// Starts `flyball mcp` with a state folder of someone else's, and shakes hands.
    pub(crate) fn with_state(root: &Path, state: &Path) -> Self {
        let mut child = flyball(root).arg("mcp").env("FLYBALL_STATE", state).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, input, output, next: 0 };
        client.shake_hands();
        client
    }

    /// Starts `flyball mcp` and shakes hands.
    pub(crate) fn mcp(root: &Path) -> Self {
        let mut client = Self::start(root, &["mcp"]);
        client.shake_hands();
        client
    }

    pub(crate) fn shake_hands(&mut self) -> Value {
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "by-hand", "version": "1" },
        });
        let answer = self.request("initialize", hello);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        answer
    }

    /// Sends one line.
    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// Reads one line.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    /// Reads one line, whatever it is.
    pub(crate) fn bytes(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        self.output.read_until(b'\n', &mut line).unwrap();
        line
    }

    /// Reads one message.
    pub(crate) fn message(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request and reads its answer.
    pub(crate) fn request(&mut self, method: &str, params: impl Into<Value>) -> Value {
        let params = params.into();
        self.next += 1;
        let id = self.next;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string());
        let answer = self.message();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool; its result.
    pub(crate) fn raw_call(&mut self, tool: &str, arguments: impl Into<Value>) -> Value {
        let arguments = arguments.into();
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool that must succeed; its structured result.
    pub(crate) fn call(&mut self, tool: &str, arguments: impl Into<Value>) -> Value {
        let arguments = arguments.into();
        let result = self.raw_call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(value, result["structuredContent"], "{tool}");
        value
    }

    /// Calls a tool that must be refused; the text.
    pub(crate) fn refused(&mut self, tool: &str, arguments: impl Into<Value>) -> String {
        let result = self.raw_call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes the client's side and waits for the end; the rest of what was said.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        drop(self.input.take());
        let mut rest = String::new();
        while self.output.read_line(&mut rest).unwrap() > 0 {}
        (self.child.wait().unwrap(), rest)
    }

    /// Waits for the end without closing anything.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Already gone is as good.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn flyball(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flyball"));
    let home = root.parent().unwrap();
    command
        .current_dir(root)
        .env("HOME", home.join("home"))
        .env("FLYBALL_STATE", home.join("state"))
        // What a killed server leaves goes with the test.
        .env("TMPDIR", home)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("FLYBALL_RUN")
        .env_remove("FLYBALL_ITERATION")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    command
}
