//! How fast a stream is read: one gigabyte of Claude Code's events through the reader, compared
//! with `serde_json` skipping over the same lines.
//!
//! `cargo run --release -p flyball --example stream_throughput [megabytes]`

#![expect(clippy::print_stdout, reason = "the figures are the output")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use flyball::agent::{ReadRequest, Reader, adapter};
use flyball_core::call::fingerprint_result;
use flyball_core::event::ExitHow;
use serde::de::IgnoredAny;
use serde_json::json;

const PIECE: usize = 64 * 1024;

fn main() {
    let asked = std::env::args().nth(1).and_then(|megabytes| megabytes.parse().ok());
    let wanted: usize = asked.unwrap_or(1024) * 1024 * 1024;
    let (stream, results) = stream();
    let rounds = wanted.div_ceil(stream.len());
    let bytes = rounds * stream.len();
    let Some(adapter) = adapter("claude") else { return };
    let mut reader = adapter.reader(&ReadRequest::default());
    let (mut skipped, mut read, mut printed) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let (mut lines, mut facts) = (0, 0);
    // In turns, so that whatever else the machine does hits all three alike.
    for _ in 0..rounds {
        skipped += timed(|| lines += skip(stream.as_bytes()));
        read += timed(|| facts += pass(stream.as_bytes(), reader.as_mut()));
        printed += timed(|| {
            for result in &results {
                black_box(fingerprint_result(black_box(result)));
            }
        });
    }
    black_box(reader.finish(ExitHow::Code(0), &mut Vec::new()));
    let share = |part: Duration, whole: Duration| part.as_secs_f64() / whole.as_secs_f64();
    println!("stream: {} MB, {lines} lines, {facts} facts", bytes / 1_000_000);
    println!("`serde_json` IgnoredAny: {:.0} MB/s", rate(bytes, skipped));
    println!("reader:                  {:.0} MB/s", rate(bytes, read));
    println!("share:                   {:.2}", share(skipped, read));
    println!("  without fingerprints:  {:.2}", share(skipped, read.saturating_sub(printed)));
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

/// Some megabytes of a session: text, calls, and results from a line to 30 kB; and the results.
fn stream() -> (String, Vec<String>) {
    let (mut stream, mut results) = (String::new(), Vec::new());
    for turn in 0..400_usize {
        let id = format!("msg_{turn}");
        let usage = json!({
            "input_tokens": turn, "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 90 * turn, "output_tokens": 1,
        });
        let mut assistant = |block: serde_json::Value| {
            let message = json!({
                "id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                "content": [block], "stop_reason": null, "usage": usage,
            });
            line(
                &mut stream,
                &json!({
                    "type": "assistant", "message": message, "parent_tool_use_id": null,
                    "session_id": "84c21c74-5977-4425-ba8b-674248d88b42", "uuid": id,
                }),
            );
        };
        assistant(
            json!({ "type": "text", "text": "I will look at the next file.\n".repeat(1 + turn % 9) }),
        );
        let command = format!("sed -n '{turn},200p' src/lib.rs");
        let input = json!({ "command": command, "description": "Read the next part" });
        assistant(
            json!({ "type": "tool_use", "id": format!("toolu_{turn}"), "name": "Bash", "input": input }),
        );
        let output = "    let value = table.get(&key).map(|entry| \"found\"); // line\n";
        let output = output.repeat(1 + (turn * 37) % 500);
        let result = json!({
            "type": "tool_result", "tool_use_id": format!("toolu_{turn}"), "content": output,
            "is_error": false,
        });
        line(
            &mut stream,
            &json!({
                "type": "user", "message": { "role": "user", "content": [result] },
                "parent_tool_use_id": null, "uuid": id,
                "tool_use_result": { "stdout": output, "stderr": "", "interrupted": false },
            }),
        );
        results.push(output);
    }
    (stream, results)
}

fn line(stream: &mut String, event: &serde_json::Value) {
    stream.push_str(&event.to_string());
    stream.push('\n');
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
