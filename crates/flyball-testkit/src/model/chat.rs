//! `OpenAI` chat completions.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::step::Step;
use super::wire::{Given, content, halves, list, text};

pub(super) fn frames(step: &Step, model: &str) -> Vec<(&'static str, Value)> {
    let id = format!("chatcmpl-{}", unique(0));
    let chunk = |choices: Value| json!({ "id": id, "object": "chat.completion.chunk", "created": 1, "model": model, "choices": choices });
    let delta = |delta: Value, finish: Option<&str>| {
        ("", chunk(json!([{ "index": 0, "delta": delta, "finish_reason": finish }])))
    };
    let mut frames = vec![delta(json!({ "role": "assistant", "content": "" }), None)];
    if let Some(thought) = &step.thought {
        let pieces = halves(&thought.text).map(|half| json!({ "reasoning_content": half }));
        frames.extend(pieces.map(|piece| delta(piece, None)));
    }
    if !step.text.is_empty() {
        frames.extend(halves(&step.text).map(|half| delta(json!({ "content": half }), None)));
    }
    for (index, call) in step.calls.iter().enumerate() {
        let function = json!({ "name": call.tool, "arguments": "" });
        let start = json!({
            "index": index, "id": call_id(index), "type": "function", "function": function,
        });
        frames.push(delta(json!({ "tool_calls": [start] }), None));
        for half in halves(&call.args) {
            let piece = json!({ "index": index, "function": { "arguments": half } });
            frames.push(delta(json!({ "tool_calls": [piece] }), None));
        }
    }
    frames.push(delta(json!({}), Some(finish(step))));
    let mut last = chunk(json!([]));
    if let Some(last) = last.as_object_mut() {
        last.insert("usage".to_owned(), usage(step));
    }
    frames.push(("", last));
    frames.push(("", json!("[DONE]")));
    frames
}

pub(super) fn whole(step: &Step, model: &str) -> Value {
    let calls: Vec<Value> = step.calls.iter().enumerate().map(|(index, call)| {
        json!({ "id": call_id(index), "type": "function", "function": { "name": call.tool, "arguments": call.args } })
    }).collect();
    let mut message = json!({ "role": "assistant", "content": step.text });
    if let Some(message) = message.as_object_mut().filter(|_| !calls.is_empty()) {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish(step) });
    json!({
        "id": format!("chatcmpl-{}", unique(0)), "object": "chat.completion", "created": 1,
        "model": model, "choices": [choice], "usage": usage(step),
    })
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let (kind, code) = match status {
        429 => ("tokens", "rate_limit_exceeded"),
        401 => ("invalid_request_error", "invalid_api_key"),
        400 => ("invalid_request_error", "invalid_request"),
        _ => ("server_error", "server_error"),
    };
    json!({ "error": { "message": message, "type": kind, "code": code, "param": null } })
}

pub(super) fn given(body: &Value) -> Given {
    let mut given = Given::default();
    for message in list(body, "messages") {
        let words = content(message.get("content").unwrap_or(&Value::Null));
        match text(message, "role") {
            "tool" => given.results.push(words),
            "user" | "system" | "developer" => given.messages.push(words),
            _ => {}
        }
    }
    given
}

fn usage(step: &Step) -> Value {
    json!({
        "prompt_tokens": step.usage.input,
        "completion_tokens": step.usage.output,
        "total_tokens": step.usage.input.saturating_add(step.usage.output),
        "prompt_tokens_details": { "cached_tokens": step.usage.cached },
        "completion_tokens_details": { "reasoning_tokens": 0 },
    })
}

fn finish(step: &Step) -> &str {
    let usual = if step.calls.is_empty() { "stop" } else { "tool_calls" };
    step.stop.as_deref().unwrap_or(usual)
}

fn call_id(index: usize) -> String {
    format!("call_{}", unique(index))
}

/// A number no other id of this process has.
pub(super) fn unique(index: usize) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    format!("{}_{index}", NEXT.fetch_add(1, Ordering::Relaxed))
}
