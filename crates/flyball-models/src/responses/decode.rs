//! The stream of Responses.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::assembly::Assembly;
use crate::decoder::{Decoded, Str, read};
use crate::reply::Stop;
use crate::stream::Frame;
use crate::trouble::{Told, Trouble, short};
use crate::usage::Usage;

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow, default)]
    r#type: Cow<'a, str>,
    #[serde(default)]
    output_index: u64,
    summary_index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Str<'a>>,
    #[serde(borrow)]
    arguments: Option<Str<'a>>,
    #[serde(borrow)]
    item: Option<Item<'a>>,
    #[serde(borrow)]
    response: Option<Response<'a>>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    call_id: Option<Str<'a>>,
    #[serde(borrow)]
    name: Option<Str<'a>>,
    #[serde(borrow)]
    arguments: Option<Str<'a>>,
    #[serde(borrow)]
    encrypted_content: Option<Str<'a>>,
    #[serde(borrow)]
    phase: Option<Str<'a>>,
    #[serde(borrow)]
    content: Option<Vec<Words<'a>>>,
    #[serde(borrow)]
    summary: Option<Vec<Words<'a>>>,
}

#[derive(Deserialize)]
struct Words<'a> {
    #[serde(borrow)]
    text: Option<Str<'a>>,
    #[serde(borrow)]
    refusal: Option<Str<'a>>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    model: Option<Str<'a>>,
    #[serde(borrow)]
    output: Option<Vec<Item<'a>>>,
    usage: Option<UsageData>,
    #[serde(borrow)]
    incomplete_details: Option<Incomplete<'a>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Incomplete<'a> {
    #[serde(borrow)]
    reason: Option<Str<'a>>,
}

#[derive(Deserialize)]
struct UsageData {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize)]
struct InputDetails {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

/// Takes one event.
pub(crate) fn frame(frame: Frame<'_>, into: &mut Assembly<'_>) -> Result<Decoded, Trouble> {
    if frame.data.trim() == "[DONE]" {
        return Ok(Decoded::Whole);
    }
    let data: Data<'_> = read(frame.data)?;
    let kind = if data.r#type.is_empty() { frame.name } else { data.r#type.as_ref() };
    let (index, key) = (data.output_index, Some(data.output_index));
    let delta = data.delta.as_deref().unwrap_or_default();
    match kind {
        "response.created" | "response.in_progress" => started(data.response.as_ref(), into),
        "response.output_item.added" => {
            if let Some(item) = data.item.filter(|item| item.r#type == "function_call") {
                call_began(index, &item, into);
            }
        }
        "response.output_text.delta" => into.text(key, delta),
        "response.refusal.delta" => {
            into.text(key, delta);
            into.stopped(Stop::Refused);
        }
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            into.thought(key, delta);
        }
        "response.reasoning_summary_part.added"
            if data.summary_index > Some(0) && into.has_thought(index) =>
        {
            into.thought(key, "\n\n");
        }
        "response.function_call_arguments.delta" => into.call_arguments(index, delta)?,
        "response.function_call_arguments.done" => {
            into.call_whole(index, data.arguments.as_deref().unwrap_or_default())?;
        }
        "response.output_item.done" => {
            if let Some(item) = &data.item {
                item_done(index, item, into)?;
            }
        }
        "response.completed" | "response.incomplete" | "response.done" => {
            ended(data.response, into)?;
            return Ok(Decoded::Whole);
        }
        "response.failed" | "error" => {
            let value: Value = read(frame.data)?;
            let error = data.response.and_then(|response| response.error);
            let told = Told::in_stream(error.as_ref().unwrap_or(&value));
            return Err(told.into());
        }
        // What repeats the above in other words, and what is yet to be invented.
        _ => {}
    }
    Ok(Decoded::More)
}

/// Takes an answer of a server that does not stream although it was asked to.
pub(crate) fn whole(text: &str, into: &mut Assembly<'_>) -> Result<(), Trouble> {
    let response: Response<'_> = read(text)?;
    if response.output.is_none() {
        return Err(Trouble::Unreadable(short(text)));
    }
    ended(Some(response), into)
}

fn started(response: Option<&Response<'_>>, into: &mut Assembly<'_>) {
    if let Some(response) = response {
        let id = response.id.as_deref().unwrap_or_default();
        into.started(id, response.model.as_deref().unwrap_or_default());
    }
}

fn call_began(index: u64, item: &Item<'_>, into: &mut Assembly<'_>) {
    let id = item.call_id.as_deref().or(item.id.as_deref()).unwrap_or_default();
    into.call_began(index, id, item.name.as_deref().unwrap_or_default());
}

/// An item told whole; what came of it in pieces is not taken twice.
fn item_done(index: u64, item: &Item<'_>, into: &mut Assembly<'_>) -> Result<(), Trouble> {
    let key = Some(index);
    match item.r#type.as_ref() {
        "function_call" => {
            if !into.has_call(index) {
                call_began(index, item, into);
            }
            into.call_whole(index, item.arguments.as_deref().unwrap_or_default())?;
            into.call_ended(index);
        }
        "reasoning" => {
            if !into.has_thought(index) {
                let texts = item.summary.iter().flatten().filter_map(|part| part.text.as_deref());
                into.thought(key, &texts.collect::<Vec<_>>().join("\n\n"));
            }
            if let Some(encrypted) = &item.encrypted_content {
                into.thought_signed(key, encrypted);
            }
        }
        "message" => {
            if !into.has_text(index) {
                for part in item.content.iter().flatten() {
                    into.text(key, part.text.as_deref().unwrap_or_default());
                    if let Some(refusal) = &part.refusal {
                        into.text(key, refusal);
                        into.stopped(Stop::Refused);
                    }
                }
            }
            if let Some(phase) = item.phase.as_deref().filter(|_| into.has_text(index)) {
                into.text_signature(key, phase);
            }
        }
        _ => {}
    }
    Ok(())
}

fn ended(response: Option<Response<'_>>, into: &mut Assembly<'_>) -> Result<(), Trouble> {
    started(response.as_ref(), into);
    let Some(response) = response else { return Ok(()) };
    // Servers that stream nothing but the end.
    if into.is_empty() {
        for (index, item) in (0..).zip(response.output.iter().flatten()) {
            item_done(index, item, into)?;
        }
    }
    if let Some(told) = response.usage {
        let cached = told.input_tokens_details.and_then(|details| details.cached_tokens);
        let reasoning = told.output_tokens_details.and_then(|details| details.reasoning_tokens);
        into.usage(Usage {
            output: told.output_tokens.unwrap_or(0),
            reasoning: reasoning.unwrap_or(0),
            ..Usage::of_prompt(told.input_tokens.unwrap_or(0), cached.unwrap_or(0), 0)
        });
    }
    let reason = response.incomplete_details.and_then(|details| details.reason);
    into.stopped(match reason.as_deref() {
        None => Stop::End,
        Some("max_output_tokens" | "max_tokens") => Stop::Length,
        Some("content_filter") => Stop::Filtered,
        Some(other) => Stop::Other(other.to_owned()),
    });
    Ok(())
}
