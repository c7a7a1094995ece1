//! Anthropic Messages.

use serde_json::{Value, json};

use super::step::Step;
use super::wire::{Given, content, halves, list, text};

type Frame = (&'static str, Value);

pub(super) fn frames(step: &Step, model: &str) -> Vec<Frame> {
    let mut frames = vec![(
        "message_start",
        json!({ "type": "message_start", "message": {
            "id": format!("msg_{}", super::chat::unique(0)), "type": "message", "role": "assistant", "model": model, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage(step, 1),
        }}),
    )];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        let kind = "content_block_start";
        frames.push((kind, json!({ "type": kind, "index": index, "content_block": start })));
        for delta in deltas {
            let kind = "content_block_delta";
            frames.push((kind, json!({ "type": kind, "index": index, "delta": delta })));
        }
        let kind = "content_block_stop";
        frames.push((kind, json!({ "type": kind, "index": index })));
        index += 1;
    };
    if let Some(thought) = &step.thought {
        let mut deltas = halves(&thought.text)
            .map(|half| json!({ "type": "thinking_delta", "thinking": half }))
            .to_vec();
        deltas.push(json!({ "type": "signature_delta", "signature": thought.signature }));
        block(json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas);
    }
    if !step.text.is_empty() {
        let deltas = halves(&step.text).map(|half| json!({ "type": "text_delta", "text": half }));
        block(json!({ "type": "text", "text": "" }), deltas.to_vec());
    }
    for (number, call) in step.calls.iter().enumerate() {
        let start = json!({ "type": "tool_use", "id": id(number), "name": call.tool, "input": {} });
        block(start, vec![json!({ "type": "input_json_delta", "partial_json": call.args })]);
    }
    frames.push((
        "message_delta",
        json!({ "type": "message_delta", "delta": { "stop_reason": stop(step), "stop_sequence": null },
            "usage": { "output_tokens": step.usage.output } }),
    ));
    frames.push(("message_stop", json!({ "type": "message_stop" })));
    frames
}

pub(super) fn whole(step: &Step, model: &str) -> Value {
    let mut blocks = Vec::new();
    if let Some(thought) = &step.thought {
        blocks.push(
            json!({ "type": "thinking", "thinking": thought.text, "signature": thought.signature }),
        );
    }
    if !step.text.is_empty() {
        blocks.push(json!({ "type": "text", "text": step.text }));
    }
    for (number, call) in step.calls.iter().enumerate() {
        let input: Value = serde_json::from_str(&call.args).unwrap_or_else(|_| json!({}));
        blocks.push(
            json!({ "type": "tool_use", "id": id(number), "name": call.tool, "input": input }),
        );
    }
    json!({
        "id": format!("msg_{}", super::chat::unique(0)), "type": "message", "role": "assistant", "model": model, "content": blocks,
        "stop_reason": stop(step), "stop_sequence": null, "usage": usage(step, step.usage.output),
    })
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        429 => "rate_limit_error",
        529 => "overloaded_error",
        401 => "authentication_error",
        400 => "invalid_request_error",
        _ => "api_error",
    };
    json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_1" })
}

pub(super) fn given(body: &Value) -> Given {
    let mut given = Given::default();
    for message in list(body, "messages").iter().filter(|m| text(m, "role") == "user") {
        let Some(blocks) = message.get("content").and_then(Value::as_array) else {
            given.messages.push(text(message, "content").to_owned());
            continue;
        };
        for block in blocks {
            match text(block, "type") {
                "tool_result" => {
                    given.results.push(content(block.get("content").unwrap_or(&Value::Null)));
                }
                _ => given.messages.push(text(block, "text").to_owned()),
            }
        }
    }
    given
}

fn usage(step: &Step, output: u64) -> Value {
    json!({
        "input_tokens": step.usage.input.saturating_sub(step.usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": step.usage.cached,
        "output_tokens": output,
    })
}

fn stop(step: &Step) -> &str {
    let usual = if step.calls.is_empty() { "end_turn" } else { "tool_use" };
    step.stop.as_deref().unwrap_or(usual)
}

fn id(number: usize) -> String {
    format!("toolu_{}", super::chat::unique(number))
}
