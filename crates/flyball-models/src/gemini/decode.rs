//! The stream of Gemini: every event is an answer of its own, with the next parts.

use serde::Deserialize;
use serde_json::Value;

use crate::assembly::Assembly;
use crate::decoder::{Decoded, Str, read};
use crate::reply::Stop;
use crate::stream::Frame;
use crate::trouble::{Told, Trouble};
use crate::usage::Usage;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    usage_metadata: Option<UsageData>,
    #[serde(borrow)]
    model_version: Option<Str<'a>>,
    #[serde(borrow)]
    response_id: Option<Str<'a>>,
    #[serde(borrow)]
    prompt_feedback: Option<Feedback<'a>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Str<'a>>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<PartData<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartData<'a> {
    #[serde(borrow)]
    text: Option<Str<'a>>,
    #[serde(default)]
    thought: bool,
    #[serde(borrow)]
    thought_signature: Option<Str<'a>>,
    #[serde(borrow)]
    function_call: Option<CallData<'a>>,
}

#[derive(Deserialize)]
struct CallData<'a> {
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    name: Option<Str<'a>>,
    args: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow)]
    block_reason: Option<Str<'a>>,
}

#[derive(Deserialize)]
struct UsageData {
    #[serde(rename = "promptTokenCount")]
    prompt: Option<u64>,
    #[serde(rename = "cachedContentTokenCount")]
    cached: Option<u64>,
    #[serde(rename = "candidatesTokenCount")]
    spoken: Option<u64>,
    #[serde(rename = "thoughtsTokenCount")]
    thoughts: Option<u64>,
    #[serde(rename = "toolUsePromptTokenCount")]
    tool_use: Option<u64>,
}

/// Takes one event.
pub(crate) fn frame(frame: Frame<'_>, into: &mut Assembly<'_>) -> Result<Decoded, Trouble> {
    let data: Data<'_> = read(frame.data)?;
    if let Some(error) = data.error.filter(|error| !error.is_null()) {
        return Err(Told::in_stream(&error).into());
    }
    if let Some(reason) = data.prompt_feedback.and_then(|feedback| feedback.block_reason) {
        let kind = "prohibited_content".to_owned();
        let message = format!("the prompt was blocked ({})", &*reason);
        return Err(Told { kind, message, ..Told::default() }.into());
    }
    into.started(
        data.response_id.as_deref().unwrap_or_default(),
        data.model_version.as_deref().unwrap_or_default(),
    );
    if let Some(usage) = &data.usage_metadata {
        count(usage, into);
    }
    let Some(candidate) = data.candidates.and_then(|list| list.into_iter().next()) else {
        return Ok(Decoded::More);
    };
    for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
        take(&part, into)?;
    }
    if let Some(reason) = candidate.finish_reason {
        into.stopped(stop(&reason));
    }
    Ok(Decoded::More)
}

fn take(part: &PartData<'_>, into: &mut Assembly<'_>) -> Result<(), Trouble> {
    let signature = part.thought_signature.as_deref();
    if let Some(call) = &part.function_call {
        let key = u64::try_from(into.calls()).unwrap_or(u64::MAX);
        into.call_began(
            key,
            call.id.as_deref().unwrap_or_default(),
            call.name.as_deref().unwrap_or_default(),
        );
        if let Some(args) = &call.args {
            into.call_arguments(key, &args.to_string())?;
        }
        if let Some(signature) = signature {
            into.call_signature(key, signature);
        }
        into.call_ended(key);
        return Ok(());
    }
    let text = part.text.as_deref().unwrap_or_default();
    if part.thought {
        into.thought(None, text);
        if let Some(signature) = signature {
            into.thought_signed(None, signature);
        }
    } else {
        into.text(None, text);
        if let Some(signature) = signature {
            into.text_signature(None, signature);
            // A signed part stays as it is: what follows is another.
            into.close();
        }
    }
    Ok(())
}

fn count(told: &UsageData, into: &mut Assembly<'_>) {
    let known = into.used();
    let prompt = told.prompt.unwrap_or_else(|| known.prompt());
    let prompt = prompt.saturating_add(told.tool_use.unwrap_or(0));
    let reasoning = told.thoughts.unwrap_or(known.reasoning);
    let spoken = told.spoken.unwrap_or_else(|| known.output.saturating_sub(known.reasoning));
    let cached = told.cached.unwrap_or(known.cache_read);
    into.usage(Usage {
        output: spoken.saturating_add(reasoning),
        reasoning,
        ..Usage::of_prompt(prompt, cached, 0)
    });
}

fn stop(reason: &str) -> Stop {
    match reason {
        "STOP" => Stop::End,
        "MAX_TOKENS" => Stop::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
            Stop::Filtered
        }
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MISSING_THOUGHT_SIGNATURE" => {
            Stop::Malformed
        }
        other => Stop::Other(other.to_owned()),
    }
}
