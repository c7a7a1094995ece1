//! What the call ring costs: one call with its result, early and late in a session, and the identity
//! of arguments and results.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use flyball_core::call::{
    CallRing, ToolCall, ToolOutcome, ToolResult, fingerprint_call, fingerprint_result,
};
use flyball_core::policy::CallRules;
use flyball_core::{CallId, Moment, Policy};
use serde_json::{Value, json};

/// The call with this number and its result: a session of 500 different calls over and over.
fn turn(number: u64, rules: &CallRules) -> (ToolCall, ToolResult) {
    let id = CallId::new(format!("toolu_{number:020}"));
    let args = json!({ "path": format!("src/file{}.rs", number % 500) });
    let tool = format!("tool{}", number % 4);
    let call = ToolCall::new(id.clone(), tool, &args, rules);
    (call, ToolResult::new(id, ToolOutcome::Ok, &format!("line {}", number % 500)))
}

fn ring_after(calls: u64, rules: &CallRules) -> CallRing {
    let mut ring = CallRing::new();
    for number in 0..calls {
        let (call, result) = turn(number, rules);
        ring.before(rules, Moment::from_millis(number), &call);
        ring.after(rules, Moment::from_millis(number), &result);
    }
    ring
}

fn ring(c: &mut Criterion) {
    let rules = &Policy::default().calls;
    let mut group = c.benchmark_group("before+after");
    for calls in [1_000, 1_000_000] {
        let ring = ring_after(calls - 1, rules);
        let (call, result) = turn(calls, rules);
        let now = Moment::from_millis(calls);
        group.bench_function(format!("call {calls}"), |b| {
            b.iter_batched_ref(
                || ring.clone(),
                |ring| {
                    black_box(ring.before(rules, now, &call));
                    black_box(ring.after(rules, now, &result));
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

/// Test output as agents see it: words, numbers, durations, paths, times.
fn output(bytes: usize) -> String {
    let lines = "test call::ring::a_refused_call_is_neither_success_nor_failure ... ok (12 ms)\n\
                 2026-11-15T09:48:01.123Z INFO built target/debug/deps/flyball-3fa9c21bdeadbeef\n\
                 error[E0308]: mismatched types --> crates/flyball-core/src/call.rs:120:17\n\
                 \x20   expected `&str`, found `String` in /tmp/xyz123/src/lib.rs, pid 4711\n";
    lines.repeat(bytes / lines.len() + 1)
}

fn arguments(bytes: usize) -> Value {
    let text = output(bytes);
    json!({ "path": "src/lib.rs", "edits": [{ "old": text, "new": "x", "line": 3.0 }], "reason": "y" })
}

fn identity(c: &mut Criterion) {
    let rules = &Policy::default().calls;
    let mut group = c.benchmark_group("identity");
    for bytes in [1_000, 1_000_000] {
        let (text, args) = (output(bytes), arguments(bytes));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("result of {bytes} bytes"), |b| {
            b.iter(|| fingerprint_result(black_box(&text)));
        });
        group.bench_function(format!("arguments of {bytes} bytes"), |b| {
            b.iter(|| fingerprint_call("edit", black_box(&args), &rules.free_text));
        });
    }
    group.finish();
}

criterion_group!(benches, ring, identity);
criterion_main!(benches);
