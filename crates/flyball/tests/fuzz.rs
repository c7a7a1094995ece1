//! Everything that reads what others write, given what nobody should write: the streams of all clients, what they
//! keep of their sessions, task lists, hook inputs, messages over MCP and at the door of a run. No panic, no hang, and whoever
//! was served goes on serving. A few hundred inputs each here, 10,000 by `cargo xtask fuzz`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails loudly")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use flyball::client::{ReadRequest, adapters};
use flyball::hook::dialects;
use flyball::transcript::{Entry, SessionHead, Sink, find_at, read};
use flyball_core::event::ExitHow;
use flyball_core::tasklist::TaskList;
use flyball_testkit::fuzz::{Fuzz, count};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long one answer may take on a machine with much to do.
const LONG: Duration = Duration::from_mins(2);

/// What a client has printed in recordings.
fn recorded(name: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    for folder in fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
        let is_its = folder.file_name().unwrap().to_str().unwrap().split('-').next() == Some(name);
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let is_stream = path.extension().is_some_and(|end| end == "jsonl" || end == "txt");
            if is_its && is_stream {
                found.push(fs::read(path).unwrap());
            }
        }
    }
    // Large ones only make it slower.
    found.sort_by_key(Vec::len);
    found.truncate(6);
    found.push(br#"{"type":"call","id":"1","tool":"bash","args":{"command":"ls"}}"#.to_vec());
    found
}

/// Hears everything and keeps nothing.
struct Deaf;

impl Sink for Deaf {
    fn session(&mut self, _head: &SessionHead<'_>) {}

    fn entry(&mut self, _entry: Entry<'_>) {}
}

/// All files below a folder.
fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if !path.is_dir() {
            found.push(path);
        } else if !path.ends_with("readings") {
            files_below(&path, found);
        }
    }
}

#[test]
fn transcripts_of_every_format() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    let mut files = Vec::new();
    files_below(&root, &mut files);
    files.sort();
    let scratch = TempDir::new().unwrap();
    let mut fuzz = Fuzz::new(16);
    for file in &files {
        let inputs = [fs::read(file).unwrap()];
        let copy = scratch.path().join(file.file_name().unwrap());
        for _ in 0..count().div_ceil(10) {
            fs::write(&copy, fuzz.spoil(&inputs)).unwrap();
            for source in find_at(&copy).sources {
                // It may fail as a whole: a database that is none any more.
                drop(read(&source, &ReadRequest::default(), &mut Deaf));
            }
        }
    }
}

#[test]
fn streams_of_every_client() {
    for adapter in adapters() {
        let inputs = recorded(adapter.name());
        let mut fuzz = Fuzz::new(11);
        for _ in 0..count() {
            let (out, err) = (fuzz.spoil(&inputs), fuzz.spoil(&inputs));
            let mut reader = adapter.output().reader(&ReadRequest::default());
            let mut facts = Vec::new();
            for piece in fuzz.pieces(&out) {
                reader.stdout(piece, &mut facts);
            }
            reader.stderr(err.get(..err.len().min(2000)).unwrap_or_default(), &mut facts);
            let how = if fuzz.below(2) == 0 { ExitHow::Code(0) } else { ExitHow::Signal(9) };
            reader.finish(how, &mut facts);
        }
    }
}

#[test]
fn task_lists() {
    let story = |id: &str, more: Value| {
        let mut story = json!({ "id": id, "title": "t", "passes": false, "notes": "" });
        story.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        story
    };
    let inputs = [
        json!({ "userStories": [story("a", json!({})), story("b", json!({ "dependsOn": ["a"] }))] }),
        json!({ "project": "p", "verifyCommands": ["true"], "userStories": [
            story("a", json!({ "priority": 1, "acceptanceCriteria": ["x"], "reviewStatus": "approved" })),
            story("b", json!({ "passes": true, "reviewFeedback": "no", "mayChange": ["tests/**"] })),
        ] }),
    ];
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|list| list.to_string().into_bytes()).collect();
    let mut fuzz = Fuzz::new(12);
    for _ in 0..count() {
        let bytes = fuzz.spoil(&inputs);
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if let Ok(list) = TaskList::parse(&text) {
            list.verify_commands();
            list.counts(&flyball_core::Policy::default().review);
        }
    }
}

fn hook_inputs_of(event: &str) -> Vec<Vec<u8>> {
    let inputs = [
        json!({ "session_id": "s", "hook_event_name": event, "cwd": "/", "tool_name": "Bash",
            "tool_input": { "command": "ls" }, "tool_response": { "stdout": "x" }, "tool_use_id": "1" }),
        json!({ "type": "call", "id": "1", "tool": "bash", "args": { "command": "ls" } }),
        json!({ "sessionId": "s", "toolName": "bash", "toolArgs": "{\"command\":\"ls\"}",
            "toolResult": { "resultType": "success", "textResultForLlm": "x" } }),
        json!({ "session_id": "s", "stop_hook_active": true, "last_assistant_message": "done" }),
    ];
    inputs.iter().map(|input| input.to_string().into_bytes()).collect()
}

#[test]
fn hook_inputs() {
    for dialect in dialects() {
        let mut fuzz = Fuzz::new(13);
        for turn in 0..count() {
            let events =
                ["PreToolUse", "PostToolUse", "Stop", "BeforeTool", "preToolUse", "nonsense"];
            let event = events.get(usize::try_from(turn).unwrap() % events.len()).unwrap();
            let bytes = fuzz.spoil(&hook_inputs_of(event));
            if let Ok(value) = serde_json::from_slice::<Value>(&bytes) {
                dialect.read(dialect.occasion(event), &value);
            }
        }
    }
}

/// A repository with a task list, a home and a state folder.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let this = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(this.root().join(".flyball")).unwrap();
        fs::create_dir_all(this.0.path().join("home")).unwrap();
        let tasks = r#"{"userStories":[{"id":"a","title":"t","passes":false,"notes":""}]}"#;
        fs::write(this.root().join(".flyball/tasks.json"), tasks).unwrap();
        for words in ["init -q -b main", "add -A", "commit -q -m init"] {
            assert!(this.command("git").args(words.split(' ')).status().unwrap().success());
        }
        this
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("repo")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.root())
            .env("HOME", self.0.path().join("home"))
            .env("FLYBALL_STATE", self.0.path().join("state"))
            .env("OUT", self.0.path());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "somebody");
            command.env(format!("GIT_{who}_EMAIL"), "somebody@localhost");
        }
        command
    }
}

/// Ends a server that a failed test would leave.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn hook_inputs_from_outside() {
    let place = Place::new();
    let mut fuzz = Fuzz::new(14);
    for turn in 0..(count() / 20).min(300) {
        let bytes = fuzz.spoil(&hook_inputs_of("PreToolUse"));
        let agent = if turn % 2 == 0 { "claude" } else { "flyball" };
        let mut hook = place
            .command(env!("CARGO_BIN_EXE_flyball"))
            .args(["hook", agent, "PreToolUse"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A hook that has heard enough does not read to the end.
        hook.stdin.take().unwrap().write_all(&bytes).ok();
        let output = hook.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked") && output.status.code().is_some(), "{said}");
    }
}

#[test]
fn mcp_messages() {
    let inputs: Vec<Vec<u8>> = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "call_check", "arguments": { "tool": "bash", "arguments": { "command": "ls" } } } }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "plan_next", "arguments": {} } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } }),
        json!([{ "jsonrpc": "2.0", "id": 4, "method": "ping" }]),
    ]
    .iter()
    .map(|message| message.to_string().into_bytes())
    .collect();
    let place = Place::new();
    let child = place
        .command(env!("CARGO_BIN_EXE_flyball"))
        .arg("mcp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut served = Served(child);
    let mut stdin = served.0.stdin.take().unwrap();
    let stdout = BufReader::new(served.0.stdout.take().unwrap());
    let (tell, told) = channel();
    thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == "last" {
                tell.send(()).ok();
            }
        }
    });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "fuzz", "version": "1" } } });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    write!(stdin, "{hello}\n{ready}\n").unwrap();
    let mut fuzz = Fuzz::new(15);
    for _ in 0..count() {
        let mut line = fuzz.spoil(&inputs);
        line.retain(|byte| *byte != b'\n');
        line.push(b'\n');
        stdin.write_all(&line).unwrap_or_else(|error| panic!("the server is gone: {error}"));
    }
    let last = json!({ "jsonrpc": "2.0", "id": "last", "method": "ping" });
    writeln!(stdin, "{last}").unwrap();
    told.recv_timeout(LONG).unwrap_or_else(|error| panic!("no answer any more: {error}"));
}

/// Knocks at the door from inside of a run, with questions that are none; then asks a right one.
const KNOCKER: &str = r#"
import json, os, random, socket, sys
rng = random.Random(16)
place = os.path.join(os.environ["FLYBALL_STATE"], "runs", os.environ["FLYBALL_RUN"], "door.sock")
right = {"v": 1, "run": os.environ["FLYBALL_RUN"], "iteration": 1, "agent": "claude",
         "event": "PreToolUse", "session": "s", "hears": True, "input": {"nothing": None}}
tokens = ['"', "{", "}", "[", "]", ",", ":", "null", "-1", "1e999", "\\u0000", "\\ud800", "[" * 2000]
def spoiled():
    text = json.dumps(right)
    for _ in range(rng.randrange(1, 6)):
        at, to = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        kind = rng.randrange(5)
        if kind == 0: text = text[:at] + text[to:]
        elif kind == 1: text = text[:to]
        elif kind == 2: text = text[:at] + rng.choice(tokens) + text[at:]
        elif kind == 3: text = text[:to] + text[at:to] + text[to:]
        else: text = text[:at] + "x" * rng.randrange(20000) + text[at:]
        if not text: text = "{"
    return text.replace("\n", "").encode()
for _ in range(int(sys.argv[1])):
    door = socket.socket(socket.AF_UNIX)
    door.connect(place)
    door.settimeout(60)
    try:
        door.sendall(spoiled() + (b"\n" if rng.random() < 0.9 else b""))
        door.shutdown(socket.SHUT_WR)
        while door.recv(65536): pass
    except (BrokenPipeError, ConnectionResetError):
        pass
    door.close()
open(os.path.join(os.environ["OUT"], "knocked"), "w").write("all")
"#;

#[test]
fn door_messages() {
    let place = Place::new();
    let script = place.0.path().join("knock.py");
    fs::write(&script, KNOCKER).unwrap();
    let count = count();
    let script = script.display();
    let agent = format!(
        "python3 {script} {count} && sed -i 's/\"passes\":false,\"notes\":\"\"/\"passes\":true,\"notes\":\"d\"/' \
         .flyball/tasks.json && git add -A && git commit -qm done"
    );
    let run = place
        .command(env!("CARGO_BIN_EXE_flyball"))
        .args(["run", "--skip-review", "--max-iterations", "1", "--", "sh", "-c", &agent])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(
        fs::read_to_string(place.0.path().join("knocked")).unwrap_or_default(),
        "all",
        "{said}"
    );
    assert_eq!(run.status.code(), Some(0), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}
