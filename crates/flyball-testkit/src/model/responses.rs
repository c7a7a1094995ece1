//! `OpenAI` Responses.

use serde_json::{Value, json};

use super::chat::unique;
use super::step::Step;
use super::wire::{Given, content, list, text};

pub(super) fn frames(step: &Step, model: &str) -> Vec<(&'static str, Value)> {
    let id = format!("resp_{}", unique(0));
    let begun = json!({
        "id": id, "object": "response", "status": "in_progress", "model": model, "output": [],
    });
    let mut frames = vec![
        ("response.created", json!({ "response": begun.clone() })),
        ("response.in_progress", json!({ "response": begun })),
    ];
    let output = output(step);
    for (index, item) in output.iter().enumerate() {
        let of = |extra: Value| {
            let mut frame = json!({ "output_index": index, "item_id": item.get("id") });
            if let (Some(frame), Value::Object(extra)) = (frame.as_object_mut(), extra) {
                frame.extend(extra);
            }
            frame
        };
        frames.push(("response.output_item.added", of(json!({ "item": started(item) }))));
        if text(item, "type") == "message" {
            let part = json!({ "type": "output_text", "text": step.text, "annotations": [] });
            let empty = json!({ "type": "output_text", "text": "", "annotations": [] });
            let at = |extra: Value| of(merged(&json!({ "content_index": 0 }), extra));
            frames.push(("response.content_part.added", at(json!({ "part": empty }))));
            frames.push(("response.output_text.delta", at(json!({ "delta": step.text }))));
            frames.push(("response.output_text.done", at(json!({ "text": step.text }))));
            frames.push(("response.content_part.done", at(json!({ "part": part }))));
        } else if let Some(thought) =
            step.thought.as_ref().filter(|_| text(item, "type") == "reasoning")
        {
            let at = |extra: Value| of(merged(&json!({ "summary_index": 0 }), extra));
            let delta = json!({ "delta": thought.text });
            frames.push(("response.reasoning_summary_text.delta", at(delta)));
        } else {
            let args = item.get("arguments");
            frames.push(("response.function_call_arguments.delta", of(json!({ "delta": args }))));
            frames
                .push(("response.function_call_arguments.done", of(json!({ "arguments": args }))));
        }
        frames.push(("response.output_item.done", of(json!({ "item": item }))));
    }
    let last = if step.stop.is_some() { "response.incomplete" } else { "response.completed" };
    frames.push((last, json!({ "response": completed(&id, step, model, &output) })));
    for (number, (name, frame)) in frames.iter_mut().enumerate() {
        if let Some(frame) = frame.as_object_mut() {
            frame.insert("type".to_owned(), json!(name));
            frame.insert("sequence_number".to_owned(), json!(number));
        }
    }
    frames
}

pub(super) fn whole(step: &Step, model: &str) -> Value {
    completed(&format!("resp_{}", unique(0)), step, model, &output(step))
}

pub(super) fn given(body: &Value) -> Given {
    let mut given = Given::default();
    for item in list(body, "input") {
        match text(item, "type") {
            "function_call_output" | "custom_tool_call_output" => {
                given.results.push(content(item.get("output").unwrap_or(&Value::Null)));
            }
            "message" | "" if text(item, "role") != "assistant" => {
                given.messages.push(content(item.get("content").unwrap_or(&Value::Null)));
            }
            _ => {}
        }
    }
    given
}

fn output(step: &Step) -> Vec<Value> {
    let mut output = Vec::new();
    if let Some(thought) = &step.thought {
        let part = json!({ "type": "summary_text", "text": thought.text });
        output.push(json!({
            "type": "reasoning", "id": format!("rs_{}", unique(0)), "summary": [part],
            "encrypted_content": thought.signature,
        }));
    }
    if !step.text.is_empty() {
        let part = json!({ "type": "output_text", "text": step.text, "annotations": [] });
        output.push(json!({
            "type": "message", "id": format!("msg_{}", unique(0)), "role": "assistant",
            "status": "completed", "content": [part],
        }));
    }
    for (number, call) in step.calls.iter().enumerate() {
        // `NAMESPACE/NAME`: tools that were offered as a group are called by both.
        let (namespace, name) = call.tool.rsplit_once('/').unwrap_or(("", &call.tool));
        let mut item = json!({
            "type": "function_call", "id": format!("fc_{}", unique(number)),
            "call_id": format!("call_{}", unique(number)), "name": name,
            "arguments": call.args, "status": "completed",
        });
        if !namespace.is_empty() {
            item = merged(&item, json!({ "namespace": namespace }));
        }
        output.push(item);
    }
    output
}

fn started(item: &Value) -> Value {
    let empty = match text(item, "type") {
        "message" => json!({ "status": "in_progress", "content": [] }),
        "reasoning" => json!({ "summary": [], "encrypted_content": null }),
        _ => json!({ "status": "in_progress", "arguments": "" }),
    };
    merged(item, empty)
}

fn completed(id: &str, step: &Step, model: &str, output: &[Value]) -> Value {
    let status = if step.stop.is_some() { "incomplete" } else { "completed" };
    let details = step.stop.as_ref().map(|reason| json!({ "reason": reason }));
    json!({
        "id": id, "object": "response", "status": status, "model": model, "output": output,
        "incomplete_details": details,
        "usage": {
            "input_tokens": step.usage.input,
            "input_tokens_details": { "cached_tokens": step.usage.cached },
            "output_tokens": step.usage.output,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": step.usage.input.saturating_add(step.usage.output),
        },
    })
}

fn merged(base: &Value, extra: Value) -> Value {
    let mut merged = base.clone();
    if let (Some(merged), Value::Object(extra)) = (merged.as_object_mut(), extra) {
        merged.extend(extra);
    }
    merged
}
