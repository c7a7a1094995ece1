//! The stream of Anthropic Messages.

use std::borrow::Cow;

use serde::Deserialize;

use crate::assembly::Assembly;
use crate::decoder::{Decoded, Str, read};
use crate::reply::Stop;
use crate::stream::Frame;
use crate::trouble::{Told, Trouble};
use crate::usage::Usage;

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow, default)]
    r#type: Cow<'a, str>,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    message: Option<MessageData<'a>>,
    #[serde(borrow)]
    content_block: Option<BlockData<'a>>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    usage: Option<UsageData>,
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct MessageData<'a> {
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    model: Cow<'a, str>,
    usage: Option<UsageData>,
}

#[derive(Deserialize)]
struct WholeMessage<'a> {
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    model: Cow<'a, str>,
    #[serde(borrow)]
    content: Vec<BlockData<'a>>,
    #[serde(borrow)]
    stop_reason: Option<Str<'a>>,
    usage: Option<UsageData>,
}

#[derive(Deserialize)]
struct BlockData<'a> {
    #[serde(borrow, default)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Str<'a>>,
    #[serde(borrow)]
    thinking: Option<Str<'a>>,
    #[serde(borrow)]
    signature: Option<Str<'a>>,
    #[serde(borrow)]
    data: Option<Str<'a>>,
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    name: Option<Str<'a>>,
    input: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    text: Option<Str<'a>>,
    #[serde(borrow)]
    thinking: Option<Str<'a>>,
    #[serde(borrow)]
    signature: Option<Str<'a>>,
    #[serde(borrow)]
    partial_json: Option<Str<'a>>,
    #[serde(borrow)]
    stop_reason: Option<Str<'a>>,
}

#[derive(Deserialize)]
struct UsageData {
    #[serde(rename = "input_tokens")]
    input: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_write: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
}

/// Takes one event.
pub(crate) fn frame(frame: Frame<'_>, into: &mut Assembly<'_>) -> Result<Decoded, Trouble> {
    let data: Data<'_> = read(frame.data)?;
    // Some gateways leave the type to the event's name.
    let kind = if data.r#type.is_empty() { frame.name } else { data.r#type.as_ref() };
    match kind {
        "message_start" => {
            if let Some(message) = &data.message {
                into.started(&message.id, &message.model);
                add_usage(message.usage.as_ref(), into);
            }
        }
        "content_block_start" => {
            if let Some(block) = &data.content_block {
                block_began(data.index, block, into)?;
            }
        }
        "content_block_delta" => {
            if let Some(delta) = &data.delta {
                block_went_on(data.index, delta, into)?;
            }
        }
        "content_block_stop" => into.call_ended(data.index),
        "message_delta" => {
            add_usage(data.usage.as_ref(), into);
            if let Some(reason) = data.delta.and_then(|delta| delta.stop_reason) {
                into.stopped(stop(&reason));
            }
        }
        "message_stop" => return Ok(Decoded::Whole),
        "error" => {
            let told = Told::in_stream(&data.error.unwrap_or_default());
            return Err(told.into());
        }
        // `ping`, and what is yet to be invented.
        _ => {}
    }
    Ok(Decoded::More)
}

/// Takes an answer of a server that does not stream although it was asked to.
pub(crate) fn whole(text: &str, into: &mut Assembly<'_>) -> Result<(), Trouble> {
    let message: WholeMessage<'_> = read(text)?;
    into.started(&message.id, &message.model);
    add_usage(message.usage.as_ref(), into);
    for (index, block) in (0..).zip(&message.content) {
        block_began(index, block, into)?;
        into.call_ended(index);
    }
    into.stopped(message.stop_reason.map_or(Stop::End, |reason| stop(&reason)));
    Ok(())
}

fn block_began(index: u64, block: &BlockData<'_>, into: &mut Assembly<'_>) -> Result<(), Trouble> {
    let key = Some(index);
    match block.r#type.as_ref() {
        "text" => into.text(key, block.text.as_deref().unwrap_or_default()),
        "thinking" => {
            into.thought(key, block.thinking.as_deref().unwrap_or_default());
            if let Some(signature) = block.signature.as_deref().filter(|text| !text.is_empty()) {
                into.thought_signature(key, signature);
            }
        }
        "redacted_thinking" => into.redacted(key, block.data.as_deref().unwrap_or_default()),
        "tool_use" => {
            let id = block.id.as_deref().unwrap_or_default();
            into.call_began(index, id, block.name.as_deref().unwrap_or_default());
            // Compatible servers give the whole input here and no piece of it later.
            if let Some(serde_json::Value::Object(input)) = &block.input
                && !input.is_empty()
            {
                let text = serde_json::Value::Object(input.clone()).to_string();
                into.call_arguments(index, &text)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn block_went_on(index: u64, delta: &Delta<'_>, into: &mut Assembly<'_>) -> Result<(), Trouble> {
    let key = Some(index);
    if let Some(text) = &delta.text {
        into.text(key, text);
    }
    if let Some(thinking) = &delta.thinking {
        into.thought(key, thinking);
    }
    if let Some(signature) = &delta.signature {
        into.thought_signature(key, signature);
    }
    if let Some(json) = &delta.partial_json {
        into.call_arguments(index, json)?;
    }
    Ok(())
}

/// Later counts replace earlier ones; what is not told again stays.
fn add_usage(told: Option<&UsageData>, into: &mut Assembly<'_>) {
    if let Some(told) = told {
        let known = into.used();
        into.usage(Usage {
            input: told.input.unwrap_or(known.input),
            cache_read: told.cache_read.unwrap_or(known.cache_read),
            cache_write: told.cache_write.unwrap_or(known.cache_write),
            output: told.output.unwrap_or(known.output),
            ..known
        });
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "end_turn" | "stop_sequence" => Stop::End,
        "tool_use" => Stop::Calls,
        "max_tokens" => Stop::Length,
        "model_context_window_exceeded" => Stop::Window,
        "refusal" => Stop::Refused,
        "pause_turn" => Stop::Paused,
        other => Stop::Other(other.to_owned()),
    }
}
