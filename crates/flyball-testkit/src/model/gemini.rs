//! Gemini.

use serde_json::{Value, json};

use super::step::Step;
use super::wire::{Given, halves, list, text};

pub(super) fn frames(step: &Step, model: &str) -> Vec<(&'static str, Value)> {
    let mut parts = Vec::new();
    if let Some(thought) = &step.thought {
        parts.push(json!({ "text": thought.text, "thought": true }));
    }
    if !step.text.is_empty() {
        parts.extend(halves(&step.text).map(|half| json!({ "text": half })));
    }
    let malformed = calls(step, &mut parts);
    let last = parts.len().saturating_sub(1);
    let mut frames: Vec<_> = parts
        .into_iter()
        .enumerate()
        .map(|(number, part)| {
            ("", candidate(step, model, &[part], (number == last).then_some(stop(step))))
        })
        .collect();
    if malformed || frames.is_empty() {
        let reason = if malformed { "MALFORMED_FUNCTION_CALL" } else { stop(step) };
        frames.push(("", candidate(step, model, &[], Some(reason))));
    }
    frames
}

pub(super) fn whole(step: &Step, model: &str) -> Value {
    let mut parts = Vec::new();
    if !step.text.is_empty() {
        parts.push(json!({ "text": step.text }));
    }
    let malformed = calls(step, &mut parts);
    let reason = if malformed { "MALFORMED_FUNCTION_CALL" } else { stop(step) };
    candidate(step, model, &parts, Some(reason))
}

pub(super) fn error(status: u16, step: &Step) -> Value {
    let name = match status {
        429 => "RESOURCE_EXHAUSTED",
        401 => "UNAUTHENTICATED",
        400 => "INVALID_ARGUMENT",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    // Where others have a header, this service has a detail.
    let waits = step.headers.iter().filter(|(name, _)| name == "retry-after");
    let kind = "type.googleapis.com/google.rpc.RetryInfo";
    let details: Vec<Value> =
        waits.map(|(_, secs)| json!({ "@type": kind, "retryDelay": format!("{secs}s") })).collect();
    json!({ "error": { "code": status, "message": step.text, "status": name, "details": details } })
}

pub(super) fn given(body: &Value) -> Given {
    let mut given = Given::default();
    for turn in list(body, "contents").iter().filter(|turn| text(turn, "role") != "model") {
        for part in list(turn, "parts") {
            if let Some(response) = part.pointer("/functionResponse/response") {
                let output = response.get("output").or_else(|| response.get("error"));
                let output = output.map_or_else(
                    || response.to_string(),
                    |output| output.as_str().map_or_else(|| output.to_string(), str::to_owned),
                );
                given.results.push(output);
            } else {
                given.messages.push(text(part, "text").to_owned());
            }
        }
    }
    given
}

/// Adds the calls; whether one of them cannot be written in this format.
fn calls(step: &Step, parts: &mut Vec<Value>) -> bool {
    let mut malformed = false;
    for (number, call) in step.calls.iter().enumerate() {
        let Ok(args) = serde_json::from_str::<Value>(&call.args) else {
            malformed = true;
            continue;
        };
        let mut part = json!({ "functionCall": { "name": call.tool, "args": args } });
        // Of several calls at once the first is signed.
        let thought = step.thought.as_ref().filter(|_| number == 0);
        if let (Some(part), Some(thought)) = (part.as_object_mut(), thought) {
            part.insert("thoughtSignature".to_owned(), json!(thought.signature));
        }
        parts.push(part);
    }
    malformed
}

fn stop(step: &Step) -> &str {
    step.stop.as_deref().unwrap_or("STOP")
}

fn candidate(step: &Step, model: &str, parts: &[Value], finish: Option<&str>) -> Value {
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    let mut whole = json!({ "modelVersion": model });
    if let (Some(finish), Some(candidate), Some(whole)) =
        (finish, candidate.as_object_mut(), whole.as_object_mut())
    {
        candidate.insert("finishReason".to_owned(), json!(finish));
        let usage = json!({
            "promptTokenCount": step.usage.input,
            "candidatesTokenCount": step.usage.output,
            "totalTokenCount": step.usage.input.saturating_add(step.usage.output),
            "cachedContentTokenCount": step.usage.cached,
            "thoughtsTokenCount": 0,
        });
        whole.insert("usageMetadata".to_owned(), usage);
    }
    if let Some(whole) = whole.as_object_mut() {
        whole.insert("candidates".to_owned(), json!([candidate]));
    }
    whole
}
