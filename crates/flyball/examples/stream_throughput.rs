//! How fast streams are read, compared with `serde_json` skipping over the same lines: one gigabyte
//! of Claude Code's events, the recordings of every other client over and over, and extremes.
//!
//! `cargo run --release -p flyball --example stream_throughput [megabytes [case...]]`

#![expect(clippy::print_stdout, reason = "the figures are the output")]

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use flyball::client::{ReadRequest, Reader, adapter};
use flyball_core::event::ExitHow;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

const PIECE: usize = 64 * 1024;
const LINE: &str = "    let value = table.get(&key).map(|entry| \"found\"); // line\n";
const CLIENTS: [&str; 9] =
    ["claude", "codex", "copilot", "gemini", "goose", "opencode", "pi", "qwen", "cline"];

/// What is read over and over.
struct Case {
    name: String,
    client: &'static str,
    make: Box<dyn Fn() -> Vec<u8>>,
}

fn main() {
    let mut args = std::env::args().skip(1);
    let megabytes: usize = args.next().and_then(|text| text.parse().ok()).unwrap_or(1024);
    let wanted: Vec<String> = args.collect();
    println!("case                        MB    lines    facts  IgnoredAny     reader  share");
    for case in cases() {
        if wanted.is_empty() || wanted.contains(&case.name) {
            // The gigabyte that was promised, and a quarter of it for the others.
            let share = if case.name == "claude" { 1 } else { 4 };
            measure(&case, megabytes * 1_000_000 / share);
        }
    }
    println!("most memory held: {}", most_memory());
}

fn measure(case: &Case, wanted: usize) {
    let Some(adapter) = adapter(case.client) else { return };
    let stream = (case.make)();
    let rounds = wanted.div_ceil(stream.len().max(1));
    let bytes = rounds * stream.len();
    let mut reader = adapter.output().reader(&ReadRequest::default());
    let (mut skipped, mut read) = (Duration::ZERO, Duration::ZERO);
    let (mut lines, mut facts, mut shares) = (0, 0, Vec::new());
    // In turns, so that whatever else the machine does hits both alike.
    for _ in 0..rounds {
        let skipping = timed(|| lines += skip(&stream));
        let reading = timed(|| facts += pass(&stream, reader.as_mut()));
        shares.push(skipping.as_secs_f64() / reading.as_secs_f64());
        skipped += skipping;
        read += reading;
    }
    black_box(reader.finish(ExitHow::Code(0), &mut Vec::new()));
    shares.sort_by(f64::total_cmp);
    let median = shares.get(shares.len() / 2).copied().unwrap_or(0.0);
    println!(
        "{:24} {:5} {lines:8} {facts:8} {:6.0} MB/s {:6.0} MB/s   {median:.2}",
        case.name,
        bytes / 1_000_000,
        rate(bytes, skipped),
        rate(bytes, read),
    );
}

/// Every case by name, with what it is made of; made only when it is wanted.
fn cases() -> Vec<Case> {
    let own = |name: &str, make: fn() -> String| Case {
        name: name.to_owned(),
        client: "claude",
        make: Box::new(move || make().into_bytes()),
    };
    let mut cases = vec![
        own("claude", session),
        own("claude: 7 MB results", || result(&LINE.repeat(100_000), &Value::Null)),
        own("claude: 50 MB results", || result(&LINE.repeat(780_000), &Value::Null)),
        own("claude: plain results", || result(&"x".repeat(1_000_000), &Value::Null)),
        own("claude: escapes", || {
            escaped(&result(&"größe, 大きさ, размер\n".repeat(40_000), &Value::Null))
        }),
        own("claude: numbers", || {
            result(&"12 3.5 2026-11-15 a1b2c3d4 7 ms\n".repeat(40_000), &Value::Null)
        }),
        own("claude: tiny", || "{\"type\":\"stream_event\"}\n".repeat(40_000)),
        own("claude: tiny texts", || said("ok").repeat(4_000)),
    ];
    for client in CLIENTS {
        let make = Box::new(move || recorded(client));
        cases.push(Case { name: format!("{client} recorded"), client, make });
    }
    cases
}

/// All that a client printed in the recordings, one session after the other.
fn recorded(client: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(client);
    let mut stream = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            stream.extend(fs::read(&path).unwrap_or_default());
            if stream.last().is_some_and(|last| *last != b'\n') {
                stream.push(b'\n');
            }
        }
    }
    stream
}

/// The largest amount of memory this process ever held, as the kernel tells.
fn most_memory() -> String {
    let peak = flyball_testkit::memory::peak_kib(std::process::id());
    peak.map_or_else(|| "unknown".to_owned(), |peak| format!("{peak} kB"))
}

/// Every character that is not ASCII as `\uXXXX`.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if character.is_ascii() {
            out.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string never fails.
                write!(out, "\\u{unit:04x}").ok();
            }
        }
    }
    out
}

/// Skips over the lines: the least that can be done with JSON.
fn skip(stream: &[u8]) -> usize {
    let (mut lines, mut begin) = (0, 0);
    for end in memchr::memchr_iter(b'\n', stream) {
        let line = stream.get(begin..end).unwrap_or_default();
        lines += usize::from(serde_json::from_slice::<IgnoredAny>(black_box(line)).is_ok());
        begin = end + 1;
    }
    lines
}

fn pass(stream: &[u8], reader: &mut dyn Reader) -> usize {
    let (mut facts, mut count) = (Vec::new(), 0);
    for piece in stream.chunks(PIECE) {
        reader.stdout(black_box(piece), &mut facts);
        count += facts.len();
        facts.clear();
    }
    count
}

/// Some megabytes of a session: text, calls, and results from a line to 30 kB.
fn session() -> String {
    let mut stream = String::new();
    for turn in 0..400_usize {
        let text = "I will look at the next file.\n".repeat(1 + turn % 9);
        stream += &assistant(turn, &json!({ "type": "text", "text": text }));
        let command = format!("sed -n '{turn},200p' src/lib.rs");
        let input = json!({ "command": command, "description": "Read the next part" });
        let id = format!("toolu_{turn}");
        stream += &assistant(
            turn,
            &json!({ "type": "tool_use", "id": id, "name": "Bash", "input": input }),
        );
        let output = LINE.repeat(1 + (turn * 37) % 500);
        stream +=
            &result(&output, &json!({ "stdout": output, "stderr": "", "interrupted": false }));
    }
    stream
}

fn said(text: &str) -> String {
    assistant(1, &json!({ "type": "text", "text": text }))
}

fn assistant(turn: usize, block: &Value) -> String {
    let id = format!("msg_{turn}");
    let usage = json!({
        "input_tokens": turn, "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 90 * turn, "output_tokens": 1,
    });
    let message = json!({
        "id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [block], "stop_reason": null, "usage": usage,
    });
    let event = json!({
        "type": "assistant", "message": message, "parent_tool_use_id": null,
        "session_id": "84c21c74-5977-4425-ba8b-674248d88b42", "uuid": id,
    });
    format!("{event}\n")
}

fn result(output: &str, beside: &Value) -> String {
    let result = json!({
        "type": "tool_result", "tool_use_id": "toolu_1", "content": output, "is_error": false,
    });
    let event = json!({
        "type": "user", "message": { "role": "user", "content": [result] },
        "parent_tool_use_id": null, "uuid": "msg_1", "tool_use_result": beside,
    });
    format!("{event}\n")
}

#[expect(clippy::disallowed_methods, reason = "a measurement of real time")]
fn timed(work: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    work();
    begin.elapsed()
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn rate(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}
