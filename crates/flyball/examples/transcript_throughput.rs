//! How fast Claude Code's transcripts are read and judged, compared with `wc -l` and `grep -c tool_use`
//! over the same files in the same run.
//!
//! `cargo run --release -p flyball --example transcript_throughput [megabytes [folder]]`: with a folder,
//! the transcripts are made there and stay, as a home (`HOME=folder flyball inspect`).

#![expect(clippy::print_stdout, reason = "the figures are the output")]

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use flyball::client::ReadRequest;
use flyball::transcript::{Entry, SessionHead, Sink, Source, What, find, read};
use flyball_core::call::CallRing;
use flyball_core::policy::CallRules;
use flyball_core::{AgentFact, Moment, Policy};
use serde_json::json;

/// Bytes of one session's file.
const FILE: usize = 8_000_000;
/// Rounds of measuring: whatever else the machine does hits all alike.
const ROUNDS: usize = 3;
const LINE: &str = "    let value = table.get(&key).map(|entry| \"found\"); // line\n";

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let megabytes: usize = args.next().and_then(|text| text.parse().ok()).unwrap_or(1024);
    let kept = args.next().map(PathBuf::from);
    let scratch = tempfile::tempdir()?;
    let home = kept.as_deref().unwrap_or(scratch.path());
    let folder = home.join(".claude/projects/-repo");
    let files = make(&folder, megabytes * 1_000_000)?;
    let (mut words, mut search, mut own) = (Duration::MAX, Duration::MAX, Duration::MAX);
    let mut told = Counts::default();
    for _ in 0..ROUNDS {
        words = words.min(timed(|| run("wc", &["-l"], &files))?);
        search = search.min(timed(|| run("grep", &["-c", "tool_use"], &files))?);
        own = own.min(timed(|| {
            told = judge(home);
            Ok(())
        })?);
    }
    let ratio = own.as_secs_f64() / (words + search).as_secs_f64();
    println!("{} files, {megabytes} MB: {told:?}", files.len());
    println!("wc -l {words:.2?}, grep -c tool_use {search:.2?}, read and judged {own:.2?}");
    println!("ratio {ratio:.2}, most memory held: {}", most_memory());
    Ok(())
}

/// What was told.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sessions: u64,
    calls: u64,
    answers: u64,
    worst: u32,
}

/// Judges as a session is judged.
struct Judge {
    rules: CallRules,
    ring: CallRing,
    at: Moment,
    counts: Counts,
}

impl Sink for Judge {
    fn session(&mut self, _head: &SessionHead<'_>) {
        self.ring = CallRing::new();
        self.counts.sessions += 1;
    }

    fn entry(&mut self, entry: Entry<'_>) {
        self.at = entry.at.unwrap_or(self.at);
        match entry.what {
            What::Fact(AgentFact::CalledTool(call)) => {
                self.counts.calls += 1;
                let verdict = self.ring.before(&self.rules, self.at, &call);
                self.counts.worst += u32::from(verdict.is_halt());
            }
            What::Fact(AgentFact::ToolReturned(result)) => {
                self.counts.answers += 1;
                self.ring.after(&self.rules, self.at, &result);
            }
            What::HumanSaid(_) => self.ring.human(self.at),
            What::Fact(_)
            | What::Note(_)
            | What::Compacted
            | What::Project(_)
            | What::ModelCall(_)
            | What::Used(_) => {}
        }
    }
}

/// Reads and judges everything on two threads.
fn judge(home: &Path) -> Counts {
    let home = home.display().to_string();
    let found = find(&|name| (name == "HOME").then(|| home.clone()), &["claude"], None);
    let left: Mutex<Vec<Source>> = Mutex::new(found.sources);
    let next = || left.lock().ok().and_then(|mut left| left.pop());
    let work = || {
        let (rules, request) = (Policy::default().calls.clone(), ReadRequest::default());
        let counts = Counts::default();
        let mut judge = Judge { rules, ring: CallRing::new(), at: Moment::default(), counts };
        while let Some(source) = next() {
            drop(read(&source, &request, &mut judge));
        }
        judge.counts
    };
    std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.into_iter().filter_map(|thread| thread.join().ok()).fold(
            Counts::default(),
            |a, b| Counts {
                sessions: a.sessions + b.sessions,
                calls: a.calls + b.calls,
                answers: a.answers + b.answers,
                worst: a.worst + b.worst,
            },
        )
    })
}

#[expect(clippy::disallowed_methods, reason = "measuring is what this is for")]
fn timed(work: impl FnOnce() -> io::Result<()>) -> io::Result<Duration> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed())
}

fn run(program: &str, args: &[&str], files: &[PathBuf]) -> io::Result<()> {
    // Into a pipe: `grep` looks no further than the first match when nobody can see what it prints.
    Command::new(program).args(args).args(files).output().map(drop)
}

/// Sessions as Claude Code writes them: two thirds of the bytes are answers of tools, each told twice.
fn make(folder: &Path, wanted: usize) -> io::Result<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    let mut files = Vec::new();
    let mut written = 0;
    while written < wanted {
        let session = format!("{:08x}-0000-4000-8000-000000000000", files.len());
        let path = folder.join(format!("{session}.jsonl"));
        let mut file = BufWriter::new(fs::File::create(&path)?);
        let mut size = 0;
        let mut turn = 0_usize;
        while size < FILE && written + size < wanted {
            for line in turn_lines(&session, turn) {
                size += line.len() + 1;
                writeln!(file, "{line}")?;
            }
            turn += 1;
        }
        file.flush()?;
        written += size;
        files.push(path);
    }
    Ok(files)
}

fn turn_lines(session: &str, turn: usize) -> Vec<String> {
    let around = |kind: &str, message: serde_json::Value, more: serde_json::Value| {
        let mut line = json!({
            "parentUuid": format!("{turn:08x}-aaaa"), "isSidechain": false, "userType": "external",
            "cwd": "/repo", "sessionId": session, "version": "2.1.325", "gitBranch": "main",
            "type": kind, "message": message, "uuid": format!("{turn:08x}-bbbb"),
            "timestamp": format!("2026-11-16T{:02}:{:02}:{:02}.000Z", turn / 3600 % 24, turn / 60 % 60, turn % 60),
        });
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object()) {
            line.extend(more.clone());
        }
        line.to_string()
    };
    let usage = json!({ "input_tokens": 12, "cache_creation_input_tokens": 800, "cache_read_input_tokens": 60_000,
        "output_tokens": 250, "service_tier": "standard",
        "cache_creation": { "ephemeral_5m_input_tokens": 800, "ephemeral_1h_input_tokens": 0 } });
    let said = |block: serde_json::Value| {
        json!({ "id": format!("msg_{session}_{turn}"), "type": "message", "role": "assistant",
            "model": "claude-sonnet-4-5", "content": [block], "stop_reason": "tool_use", "usage": usage })
    };
    let id = format!("toolu_{session}_{turn}");
    let (tool, input) = match turn % 4 {
        0 => (
            "Bash",
            json!({ "command": format!("cargo test -p part{turn}"), "description": "Run the tests" }),
        ),
        1 => (
            "Edit",
            json!({ "file_path": format!("/repo/src/part{turn}.rs"),
            "old_string": LINE.repeat(4), "new_string": LINE.repeat(5) }),
        ),
        _ => ("Read", json!({ "file_path": format!("/repo/src/part{}.rs", turn % 97) })),
    };
    let output = format!("part {turn}\n{}", LINE.repeat(8 + turn * 7 % 120));
    let result = json!({ "role": "user", "content": [{ "tool_use_id": id, "type": "tool_result", "content": output }] });
    let mut lines = vec![
        around(
            "assistant",
            said(
                json!({ "type": "text", "text": "Let me look at this part and run its tests again." }),
            ),
            json!({ "requestId": "req" }),
        ),
        around(
            "assistant",
            said(json!({ "type": "tool_use", "id": id, "name": tool, "input": input })),
            json!({ "requestId": "req" }),
        ),
        around(
            "user",
            result,
            json!({ "toolUseResult": { "stdout": output, "stderr": "", "interrupted": false } }),
        ),
    ];
    if turn.is_multiple_of(50) {
        let words = json!({ "role": "user", "content": "go on with the next part, please" });
        lines.insert(0, around("user", words, json!({})));
    }
    lines
}

/// The largest amount of memory this process ever held, as the kernel tells.
fn most_memory() -> String {
    let peak = flyball_testkit::memory::peak_kib(std::process::id());
    peak.map_or_else(|| "unknown".to_owned(), |kib| format!("{} MB", kib / 1024))
}
