//! Transcripts of real clients, and of formats that are nobody's own, read as they were written.
//!
//! `tests/fixtures/transcripts/<client>/…` is what a client wrote about a session with the scripted model
//! (shortened; databases as the SQL that makes them), `readings/<name>.json` what flyball must read in it.
//! `FLYBALL_BLESS=1` rewrites the latter; look at every difference before you commit it.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails loudly")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use flyball::client::ReadRequest;
use flyball::transcript::{Entry, Reading, SessionHead, Sink, Source, What, find, find_at, read};
use flyball_core::AgentFact;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A transcript: where it is, and what it must be recognised as.
const TRANSCRIPTS: [(&str, &str, &str); 28] = [
    ("aider/.aider.chat.history.md", "aider", "history"),
    ("claude/session.jsonl", "claude", "transcript"),
    ("claude/session/subagents/agent-ac923f9d1eb656524.jsonl", "claude", "transcript"),
    ("claude/fork.jsonl", "claude", "transcript"),
    ("claude/refused_key.jsonl", "claude", "transcript"),
    ("cline/1794830787329_btofi/1794830787329_btofi.messages.json", "cline", "transcript"),
    (
        "codex/rollout-2026-11-16T12-01-07-01a1e43b-8118-7513-9c4c-a907013f7049.jsonl",
        "codex",
        "transcript",
    ),
    ("codex/rollout-compacted.jsonl", "codex", "transcript"),
    ("copilot/events.jsonl", "copilot", "transcript"),
    ("foreign/mcp.log", "mcp", "log"),
    ("foreign/openhands.json", "openhands", "events"),
    ("foreign/openhands/events", "openhands", "folder of events"),
    ("foreign/openhands_sdk/events", "openhands", "folder of events"),
    ("foreign/protocol.jsonl", "flyball", "stream"),
    ("foreign/run.atif.json", "atif", "trajectory"),
    ("foreign/run.jsonl", "flyball", "events"),
    ("foreign/run.traj", "swe-agent", "trajectory"),
    ("foreign/spans.otlp.jsonl", "otel", "spans"),
    ("gemini/tmp/repo/chats/session-2026-11-16T12-02-d320c8b4.jsonl", "gemini", "transcript"),
    ("goose/compacted.sql", "goose", "database"),
    ("goose/sessions.sql", "goose", "database"),
    ("opencode/opencode.sql", "opencode", "database"),
    ("opencode/opencode_compacted.sql", "opencode", "database"),
    ("pi/compacted.jsonl", "pi", "transcript"),
    ("pi/2026-11-16T12-03-36-515Z_01a1e43d.jsonl", "pi", "transcript"),
    ("qwen/chats/6542b74b-7b74-46cd-b39d-2a4a47242e39.jsonl", "qwen", "transcript"),
    ("roo-cline/tasks/1794830787329/api_conversation_history.json", "roo", "task"),
    ("../claude/a_tool_then_finish.jsonl", "claude", "stream"),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts")
}

/// The transcript as a client would have it: a database is made of its SQL.
fn as_written(name: &str, scratch: &TempDir) -> PathBuf {
    let path = fixtures().join(name);
    if path.extension().is_none_or(|extension| extension != "sql") {
        return path;
    }
    let folder = scratch.path().join("sessions");
    fs::create_dir_all(&folder).unwrap();
    let database = folder.join(path.with_extension("db").file_name().unwrap());
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    connection.execute_batch(&fs::read_to_string(&path).unwrap()).unwrap();
    database
}

/// Writes down what it hears: one line for each thing, identities as numbers in the order of their
/// first appearance, times from the first one on.
#[derive(Default)]
struct Written {
    lines: Vec<Value>,
    classes: BTreeMap<String, usize>,
    first: Option<u64>,
    calls: usize,
    answers: usize,
    tokens: u64,
    humans: usize,
}

impl Written {
    fn class(&mut self, kind: &str, value: &str) -> Value {
        let next = self.classes.len() + 1;
        json!(*self.classes.entry(format!("{kind} {value}")).or_insert(next))
    }
}

impl Sink for Written {
    fn session(&mut self, head: &SessionHead<'_>) {
        self.first = None;
        self.lines.push(json!({ "session": head.id, "agent": head.agent, "parent": head.parent }));
    }

    fn entry(&mut self, entry: Entry<'_>) {
        let mut value = match entry.what {
            What::Fact(fact) => {
                self.calls += usize::from(matches!(fact, AgentFact::CalledTool(_)));
                self.answers += usize::from(matches!(fact, AgentFact::ToolReturned(_)));
                let mut value = serde_json::to_value(&fact).unwrap();
                for field in ["call", "result", "raw", "words"] {
                    let Some(print) = value.get(field).filter(|print| print.is_string()) else {
                        continue;
                    };
                    let class = self.class(field, &print.to_string());
                    value[field] = class;
                }
                value
            }
            What::Note(note) => json!({ "note": note }),
            What::HumanSaid(words) => {
                self.humans += 1;
                json!({ "human": words })
            }
            What::Compacted => json!("compacted"),
            What::Project(folder) => {
                let here = fixtures().display().to_string();
                json!({ "project": folder.replace(&here, "") })
            }
            What::ModelCall(key) => {
                let class = self.class("model call", &key.to_string());
                json!({ "model_call": class })
            }
            What::Used(tokens) => {
                self.tokens +=
                    tokens.fresh + tokens.cache_read + tokens.cache_write + tokens.output;
                let t = tokens;
                json!({ "used": [t.fresh, t.cache_read, t.cache_write, t.output], "cost": t.cost_micro_usd, "by": t.agent })
            }
        };
        if let (Some(at), Value::Object(members)) = (entry.at, &mut value) {
            let first = *self.first.get_or_insert(at.as_millis());
            members.insert("ms".to_owned(), json!(at.as_millis().saturating_sub(first)));
        }
        self.lines.push(value);
    }
}

fn only(path: &Path) -> Source {
    let found = find_at(path);
    assert!(found.skipped.is_empty() && found.sources.len() == 1, "{}: {found:?}", path.display());
    found.sources.into_iter().next().unwrap()
}

fn written(source: &Source) -> (Written, Reading) {
    let mut sink = Written::default();
    let reading = read(source, &ReadRequest::default(), &mut sink).unwrap();
    (sink, reading)
}

#[test]
fn every_transcript_is_recognised_and_reads_as_it_was_reviewed() {
    let bless = std::env::var_os("FLYBALL_BLESS").is_some();
    let mut wrong = Vec::new();
    for (name, agent, format) in TRANSCRIPTS {
        let scratch = tempfile::tempdir().unwrap();
        let source = only(&as_written(name, &scratch));
        assert_eq!((source.agent, source.format), (agent, format), "{name}");
        let (sink, reading) = written(&source);
        assert_eq!((reading.unread, &reading.first_unread), (0, &None), "{name}");
        let mut told = String::from("[\n");
        for line in &sink.lines {
            writeln!(told, "{line},").unwrap();
        }
        writeln!(
            told,
            "{}\n]",
            json!({ "records": reading.records, "sessions": reading.sessions })
        )
        .unwrap();
        let file = name.trim_start_matches("../").replace('/', "-").replace(".aider", "aider");
        let reviewed = fixtures().join("readings").join(format!("{file}.json"));
        if bless {
            fs::create_dir_all(reviewed.parent().unwrap()).unwrap();
            fs::write(&reviewed, &told).unwrap();
        }
        if fs::read_to_string(&reviewed).unwrap_or_default() != told {
            wrong.push(format!("{name}:\n{told}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} transcripts read differently:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Each of the clients had the same session with the scripted model.
#[test]
fn every_client_tells_calls_answers_tokens_and_humans() {
    for (name, agent, _) in TRANSCRIPTS {
        let is_whole = !["agent-", "compacted", "fork", "refused_key", "foreign", "roo", ".."]
            .iter()
            .any(|other| name.contains(other));
        if !is_whole {
            continue;
        }
        let scratch = tempfile::tempdir().unwrap();
        let (sink, _) = written(&only(&as_written(name, &scratch)));
        assert!(sink.humans > 0 && sink.tokens > 0, "{agent}");
        if agent != "aider" {
            assert!(
                sink.calls >= 7 && sink.answers >= 6,
                "{agent}: {} {}",
                sink.calls,
                sink.answers
            );
        }
    }
}

#[test]
fn a_condensed_context_is_told_where_the_client_writes_it_down() {
    for (name, ..) in TRANSCRIPTS {
        if name.contains("compacted") || name == "claude/session.jsonl" {
            let scratch = tempfile::tempdir().unwrap();
            let (sink, _) = written(&only(&as_written(name, &scratch)));
            assert!(sink.lines.contains(&json!("compacted")), "{name}");
        }
    }
}

#[test]
fn transcripts_are_found_in_the_homes_of_their_clients() {
    let home = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let places = [
        ("claude/session.jsonl", ".claude/projects/-repo/session.jsonl"),
        (
            "claude/session/subagents/agent-ac923f9d1eb656524.jsonl",
            ".claude/projects/-repo/session/subagents/agent-ac923f9d1eb656524.jsonl",
        ),
        (
            "codex/rollout-2026-11-16T12-01-07-01a1e43b-8118-7513-9c4c-a907013f7049.jsonl",
            ".codex/sessions/2026/11/16/rollout-1.jsonl",
        ),
        (
            "gemini/tmp/repo/chats/session-2026-11-16T12-02-d320c8b4.jsonl",
            ".gemini/tmp/repo/chats/session-1.jsonl",
        ),
        (
            "qwen/chats/6542b74b-7b74-46cd-b39d-2a4a47242e39.jsonl",
            ".qwen/projects/-repo/chats/1.jsonl",
        ),
        ("goose/sessions.sql", ".local/share/goose/sessions/sessions.db"),
        ("opencode/opencode.sql", ".local/share/opencode/opencode.db"),
        ("copilot/events.jsonl", ".copilot/session-state/1/events.jsonl"),
        ("pi/2026-11-16T12-03-36-515Z_01a1e43d.jsonl", ".pi/agent/sessions/--repo--/1.jsonl"),
        (
            "cline/1794830787329_btofi/1794830787329_btofi.messages.json",
            ".cline/data/sessions/1/1.messages.json",
        ),
        (
            "roo-cline/tasks/1794830787329/api_conversation_history.json",
            ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json",
        ),
        ("aider/.aider.chat.history.md", ".aider.chat.history.md"),
    ];
    for (from, to) in places {
        let to = home.path().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(as_written(from, &scratch), to).unwrap();
    }
    let env = |name: &str| (name == "HOME").then(|| home.path().display().to_string());
    let found = find(&env, &[], None);
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    let mut agents: Vec<&str> = found.sources.iter().map(|source| source.agent).collect();
    agents.sort_unstable();
    assert_eq!(
        agents,
        [
            "aider", "claude", "claude", "cline", "codex", "copilot", "gemini", "goose",
            "opencode", "pi", "qwen", "roo"
        ]
    );
    for source in &found.sources {
        assert!(written(source).0.tokens > 0 || source.agent == "roo", "{source:?}");
    }
    assert_eq!(find(&env, &["codex"], None).sources.len(), 1);
    let later = flyball_core::Moment::from_millis(u64::MAX);
    assert!(find(&env, &[], Some(later)).sources.is_empty());
    let elsewhere = |name: &str| match name {
        "HOME" => Some("/nowhere".to_owned()),
        "CLAUDE_CONFIG_DIR" => Some(home.path().join(".claude").display().to_string()),
        "CODEX_HOME" => Some(home.path().join(".codex").display().to_string()),
        _ => None,
    };
    assert_eq!(find(&elsewhere, &[], None).sources.len(), 3);
}

#[test]
fn the_recordings_of_the_project_are_read_as_the_core_plays_them() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../flyball-testkit/data/recordings.jsonl.gz");
    let source = only(&path);
    assert_eq!(source.agent, "recording");
    let mut sink = Written::default();
    let reading = read(&source, &ReadRequest::default(), &mut sink).unwrap();
    assert_eq!((reading.sessions, reading.unread), (2195, 0));
    assert!(sink.calls > 70_000, "{}", sink.calls);
}

#[test]
fn what_is_no_transcript_is_named_and_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::copy(fixtures().join("claude/session.jsonl"), at("good.jsonl")).unwrap();
    fs::write(at("empty"), "").unwrap();
    fs::write(at("binary"), b"\x7fELF\0\0\0").unwrap();
    fs::write(at("notes.txt"), "dear diary\n").unwrap();
    fs::write(at("other.json"), "{\"hello\": 1}").unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    symlink("/dev/zero", at("zero.jsonl")).unwrap();
    symlink(folder.path(), at("loop")).unwrap();
    symlink(at("good.jsonl"), at("link.jsonl")).unwrap();
    let found = find_at(folder.path());
    let names: Vec<&str> = found
        .sources
        .iter()
        .map(|source| source.path.file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(names, ["good.jsonl", "link.jsonl"]);
    let why = |name: &str| {
        let skipped = found.skipped.iter().find(|skipped| skipped.path == at(name));
        skipped.map_or_else(|| panic!("{name} is not named"), |skipped| skipped.why.clone())
    };
    for (name, word) in [
        ("empty", "it is empty"),
        ("binary", "binary"),
        ("notes.txt", "begins with `dear diary`"),
        ("other.json", "begins with"),
        ("pipe", "a named pipe"),
        ("zero.jsonl", "a device"),
        ("loop", "a folder"),
    ] {
        assert!(why(name).contains(word), "{name}: {}", why(name));
    }
    assert!(find_at(&at("nothing")).skipped[0].why.contains("No such file"));
}

/// The lines of Claude Code around something nobody should write.
fn among_good_lines(bad: &[u8]) -> (Written, Reading) {
    let folder = tempfile::tempdir().unwrap();
    let good = fs::read(fixtures().join("claude/session.jsonl")).unwrap();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, [&good, bad, b"\n".as_slice(), &good].concat()).unwrap();
    written(&only(&path))
}

#[test]
fn bad_lines_are_counted_and_nothing_is_lost_of_the_others() {
    let (whole, _) = written(&only(&fixtures().join("claude/session.jsonl")));
    let deep = [b"{\"type\":\"user\",\"message\":".as_slice(), &b"[".repeat(200_000)].concat();
    let bad: [(&[u8], &str); 4] = [
        (b"{\"parentUuid\":null,\"type\":\"user\",\"mess", "EOF"),
        (b"\xff\xfe\0\x01", "expected"),
        (&deep, ""),
        (b"not json at all", "expected"),
    ];
    for (bytes, why) in bad {
        let (sink, reading) = among_good_lines(bytes);
        assert_eq!((sink.calls, sink.answers), (2 * whole.calls, 2 * whole.answers));
        assert_eq!(reading.unread, 1, "{reading:?}");
        let first = reading.first_unread.unwrap();
        assert!(first.record > 60 && first.why.contains(why), "{first:?}");
    }
    // Half a character is mended.
    let half = br#"{"parentUuid":null,"isSidechain":false,"type":"user","sessionId":"11111111-1111-4111-8111-111111111111","message":{"content":"\ud83d"}}"#;
    let (sink, reading) = among_good_lines(half);
    assert_eq!((sink.humans, reading.unread), (2 * whole.humans + 1, 0));
    // Unknown kinds of lines are none of our business.
    let (_, reading) = among_good_lines(b"{\"type\":\"tomorrow\",\"parentUuid\":null}");
    assert_eq!(reading.unread, 0);
}

#[test]
fn a_line_of_a_hundred_megabytes_is_passed_over() {
    let line = [b"{\"type\":\"user\",\"text\":\"".as_slice(), &b"x".repeat(100_000_000)].concat();
    let (_, reading) = among_good_lines(&line);
    assert_eq!(reading.unread, 1);
    assert!(reading.first_unread.unwrap().why.contains("longer than 8 MiB"));
}

#[test]
fn answers_without_calls_and_ids_used_twice_are_taken_as_they_are() {
    let line = |content: Value, role: &str| {
        json!({ "parentUuid": null, "isSidechain": false, "type": role, "sessionId": "s",
            "message": { "id": "m", "role": role, "content": content } })
        .to_string()
    };
    let call =
        json!([{ "type": "tool_use", "id": "1", "name": "Bash", "input": { "command": "ls" } }]);
    let answer = json!([{ "type": "tool_result", "tool_use_id": "1", "content": "a" }]);
    let lines = [
        line(answer.clone(), "user"),
        line(call.clone(), "assistant"),
        line(call, "assistant"),
        line(answer.clone(), "user"),
        line(answer, "user"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    let (sink, reading) = written(&only(&path));
    assert_eq!((sink.calls, sink.answers, reading.unread), (2, 3, 0));
}

/// A transcript of these lines, told.
fn told(name: &str, lines: &[Value]) -> (Vec<Value>, Reading) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(&path, text.join("\n")).unwrap();
    let (sink, reading) = written(&only(&path));
    (sink.lines, reading)
}

#[test]
fn files_one_after_the_other_are_sessions_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.jsonl");
    let read = |name: &str| fs::read(fixtures().join("claude").join(name)).unwrap();
    fs::write(
        &path,
        [read("session.jsonl"), read("fork.jsonl"), read("refused_key.jsonl")].concat(),
    )
    .unwrap();
    let (sink, reading) = written(&only(&path));
    assert_eq!((reading.sessions, reading.unread), (3, 0));
    let first = sink.lines.iter().filter(|line| line.get("session").is_some());
    let ids: Vec<&str> = first.map(|line| line["session"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 3);
    // What a fork repeats is known by the id of its model calls, and told once.
    let calls: std::collections::BTreeSet<u64> =
        sink.lines.iter().filter_map(|line| line["model_call"].as_u64()).collect();
    let told = sink.lines.iter().filter(|line| line.get("used").is_some()).count();
    assert_eq!(told, calls.len());
}

#[test]
fn sub_agents_of_older_releases_stand_among_the_lines_of_their_session() {
    let line = |kind: &str, side: bool, parent: Option<&str>, content: Value| {
        json!({ "parentUuid": parent, "isSidechain": side, "type": kind, "sessionId": "s",
            "message": { "id": "m", "role": kind, "content": content } })
    };
    let call = |id: &str| json!([{ "type": "tool_use", "id": id, "name": "Read", "input": { "file_path": "a" } }]);
    let (lines, _) = told(
        "s.jsonl",
        &[
            line("user", false, None, json!("go")),
            line("assistant", false, Some("1"), call("main")),
            line("user", true, None, json!("look")),
            line("assistant", true, Some("3"), call("first")),
            line("user", true, None, json!("look again")),
            line("assistant", true, Some("5"), call("second")),
        ],
    );
    let calls: Vec<(&str, &str)> = lines
        .iter()
        .filter(|line| line["fact"] == "called_tool")
        .map(|line| (line["id"].as_str().unwrap(), line["agent"].as_str().unwrap()))
        .collect();
    assert_eq!(calls, [("main", ""), ("first", "sub-agent 1"), ("second", "sub-agent 2")]);
    assert_eq!(lines.iter().filter(|line| line.get("human").is_some()).count(), 1);
}

#[test]
fn rollouts_of_older_releases_tell_totals_and_put_objects_into_texts() {
    let line = |kind: &str, payload: Value| json!({ "timestamp": "2025-09-01T12:00:00.000Z", "type": kind, "payload": payload });
    let total = |input: u64| {
        json!({ "type": "token_count", "info": {
            "total_token_usage": { "input_tokens": input, "cached_input_tokens": 0, "output_tokens": input / 10 },
            "last_token_usage": { "input_tokens": 100, "output_tokens": 10 }, "model_context_window": 1000 } })
    };
    let shell = json!({ "command": ["bash", "-lc", "ls"] }).to_string();
    let output =
        json!({ "output": "a.rs\n", "metadata": { "exit_code": 2, "duration_seconds": 0.1 } })
            .to_string();
    let (lines, reading) = told(
        "rollout-1.jsonl",
        &[
            line("session_meta", json!({ "id": "s", "cwd": "/repo" })),
            line("turn_context", json!({ "cwd": "/repo", "model": "gpt-5" })),
            line(
                "response_item",
                json!({ "type": "function_call", "name": "shell", "arguments": shell, "call_id": "1" }),
            ),
            line(
                "response_item",
                json!({ "type": "function_call_output", "call_id": "1", "output": output }),
            ),
            line("event_msg", total(100)),
            line("event_msg", total(100)),
            line("event_msg", total(300)),
            line("compacted", json!({ "message": "…" })),
        ],
    );
    assert_eq!(reading.unread, 0);
    let call = lines.iter().find(|line| line["fact"] == "called_tool").unwrap();
    assert_eq!((&call["tool"], &call["preview"]), (&json!("Bash"), &json!(r#"{"command":"ls"}"#)));
    let answer = lines.iter().find(|line| line["fact"] == "tool_returned").unwrap();
    assert_eq!((&answer["outcome"], &answer["preview"]), (&json!("exit"), &json!("a.rs\n")));
    let used: Vec<&Value> = lines.iter().filter_map(|line| line.get("used")).collect();
    assert_eq!(used, [&json!([100, 0, 0, 10]), &json!([200, 0, 0, 20])]);
    assert_eq!(lines.last(), Some(&json!("compacted")));
}

#[test]
fn chats_of_older_releases_are_one_document() {
    let lines = fs::read_to_string(
        fixtures().join("gemini/tmp/repo/chats/session-2026-11-16T12-02-d320c8b4.jsonl"),
    )
    .unwrap();
    let messages: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line.get("type").is_some())
        .collect();
    let chat = json!({ "sessionId": "s", "projectHash": "h", "messages": messages });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session-1.json");
    fs::write(&path, serde_json::to_string_pretty(&chat).unwrap()).unwrap();
    let source = only(&path);
    assert_eq!((source.agent, source.format), ("gemini", "document"));
    let (document, _) = written(&source);
    let (line_by_line, _) = written(&only(
        &fixtures().join("gemini/tmp/repo/chats/session-2026-11-16T12-02-d320c8b4.jsonl"),
    ));
    assert_eq!(
        (document.calls, document.answers, document.tokens, document.humans),
        (line_by_line.calls, line_by_line.answers, line_by_line.tokens, line_by_line.humans)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_transcript_cut_or_changed_anywhere_is_read_without_panic(
        pick in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let (name, ..) = *pick.get(&TRANSCRIPTS);
        let scratch = tempfile::tempdir().unwrap();
        let path = as_written(name, &scratch);
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            let at = cut.index(bytes.len());
            let copy = scratch.path().join(path.file_name().unwrap());
            let mut changed = bytes.clone();
            changed[at] = byte;
            for hostile in [&bytes[..at], &changed, &[&bytes[at..], &bytes[..at]].concat()] {
                fs::write(&copy, hostile).unwrap();
                for source in find_at(&copy).sources {
                    let mut sink = Written::default();
                    let _may_fail = read(&source, &ReadRequest::default(), &mut sink);
                }
            }
        }
    }
}
