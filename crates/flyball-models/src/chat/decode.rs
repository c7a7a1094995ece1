//! The stream of chat completions.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::calls::{Piece, Places};
use super::thoughts::{Details, Field};
use crate::assembly::Assembly;
use crate::decoder::{Decoded, Str, read};
use crate::reply::Stop;
use crate::stream::Frame;
use crate::trouble::{Told, Trouble};
use crate::usage::Usage;

/// The longest text of details that is kept to be sent back.
const DETAILS_MAX: usize = 1024 * 1024;

/// What must be known from one piece to the next.
#[derive(Debug, Default)]
pub(crate) struct Chat {
    places: Places,
    details: Details,
    details_bytes: usize,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    model: Option<Str<'a>>,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<UsageData>,
    timings: Option<Timings>,
    error: Option<Value>,
    /// `error` for servers that name no field of that name.
    #[serde(borrow)]
    object: Option<Str<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    /// Where a server does not stream although it was asked to.
    #[serde(borrow)]
    message: Option<Delta<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Str<'a>>,
    usage: Option<UsageData>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow)]
    reasoning_content: Option<Content<'a>>,
    #[serde(borrow)]
    reasoning: Option<Content<'a>>,
    reasoning_details: Option<Vec<Value>>,
    #[serde(borrow)]
    refusal: Option<Str<'a>>,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallData<'a>>>,
}

/// A text, or parts that hold it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Parts(Value),
}

#[derive(Deserialize)]
struct CallData<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    function: Option<FunctionData<'a>>,
}

#[derive(Deserialize)]
struct FunctionData<'a> {
    #[serde(borrow)]
    name: Option<Str<'a>>,
    #[serde(borrow)]
    arguments: Option<Content<'a>>,
}

#[derive(Deserialize)]
struct UsageData {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    prompt_cache_hit_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    cost: Option<f64>,
}

#[derive(Default, Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

/// What llama.cpp counts beside, or instead of, the usage.
#[derive(Deserialize)]
struct Timings {
    #[serde(rename = "prompt_n")]
    prompt: Option<u64>,
    #[serde(rename = "cache_n")]
    cached: Option<u64>,
    #[serde(rename = "predicted_n")]
    written: Option<u64>,
}

impl Chat {
    /// Takes one event.
    pub(crate) fn frame(
        &mut self,
        frame: Frame<'_>,
        into: &mut Assembly<'_>,
    ) -> Result<Decoded, Trouble> {
        match frame.data.trim() {
            "[DONE]" => {
                self.sign(into);
                return Ok(Decoded::Whole);
            }
            "" => return Ok(Decoded::More),
            _ => {}
        }
        let chunk: Chunk<'_> = read(frame.data)?;
        let is_error = frame.name == "error" || chunk.object.as_deref() == Some("error");
        if is_error || chunk.error.as_ref().is_some_and(|error| !error.is_null()) {
            let error = chunk.error.filter(|error| !error.is_null());
            let error = error.map_or_else(|| read(frame.data), Ok)?;
            return Err(Told::in_stream(&error).into());
        }
        into.started(
            chunk.id.as_deref().unwrap_or_default(),
            chunk.model.as_deref().unwrap_or_default(),
        );
        if let Some(timings) = &chunk.timings {
            count_timings(timings, into);
        }
        if let Some(usage) = &chunk.usage {
            count(usage, into);
        }
        // Several choices were never asked for: only the first is the answer.
        if let Some(choice) = chunk.choices.and_then(|choices| choices.into_iter().next()) {
            self.choice(choice, into)?;
        }
        Ok(Decoded::More)
    }

    fn choice(&mut self, choice: Choice<'_>, into: &mut Assembly<'_>) -> Result<(), Trouble> {
        if let Some(error) = choice.error.filter(|error| !error.is_null()) {
            return Err(Told::in_stream(&error).into());
        }
        if let Some(usage) = &choice.usage {
            count(usage, into);
        }
        if let Some(delta) = choice.delta.or(choice.message) {
            self.delta(delta, into)?;
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            into.stopped(stop(&reason));
            self.sign(into);
        }
        Ok(())
    }

    fn delta(&mut self, delta: Delta<'_>, into: &mut Assembly<'_>) -> Result<(), Trouble> {
        self.think(&delta, into);
        if let Some(content) = &delta.content {
            say(content, into);
        }
        if let Some(refusal) = delta.refusal.filter(|text| !text.is_empty()) {
            into.text(None, &refusal);
            into.stopped(Stop::Refused);
        }
        for call in delta.tool_calls.unwrap_or_default() {
            self.call(&call, into)?;
        }
        Ok(())
    }

    fn think(&mut self, delta: &Delta<'_>, into: &mut Assembly<'_>) {
        let fields = [
            (Field::Content, delta.reasoning_content.as_ref()),
            (Field::Reasoning, delta.reasoning.as_ref()),
        ];
        // Servers in transition send the same words in both.
        let told = fields.into_iter().find_map(|(field, content)| match content {
            Some(Content::Text(text)) if !text.is_empty() => Some((field, text.as_ref())),
            Some(_) | None => None,
        });
        for piece in delta.reasoning_details.iter().flatten() {
            self.details_bytes = self.details_bytes.saturating_add(piece.to_string().len());
            if self.details_bytes <= DETAILS_MAX {
                self.details.add(piece.clone());
            }
        }
        if let Some((field, text)) = told {
            into.thought(None, text);
            if !self.has_details() {
                into.thought_signed(None, field.name());
            }
        }
    }

    /// Thoughts go back with their details, once these are whole.
    fn sign(&self, into: &mut Assembly<'_>) {
        if self.has_details()
            && let Some(details) = self.details.text()
        {
            into.first_thought_signed(&details);
        }
    }

    /// Details cut short would be refused: they go back whole or not at all.
    fn has_details(&self) -> bool {
        self.details_bytes > 0 && self.details_bytes <= DETAILS_MAX
    }

    fn call(&mut self, call: &CallData<'_>, into: &mut Assembly<'_>) -> Result<(), Trouble> {
        let function = call.function.as_ref();
        let piece = Piece {
            index: call.index,
            id: call.id.as_deref().unwrap_or_default(),
            name: function.and_then(|function| function.name.as_deref()).unwrap_or_default(),
        };
        let Some(key) = self.places.of(piece, into) else { return Ok(()) };
        match function.and_then(|function| function.arguments.as_ref()) {
            Some(Content::Text(text)) => into.call_arguments(key, text)?,
            Some(Content::Parts(Value::Null)) | None => {}
            Some(Content::Parts(value)) => into.call_arguments(key, &value.to_string())?,
        }
        Ok(())
    }
}

/// Words, or parts of which some are thoughts.
fn say(content: &Content<'_>, into: &mut Assembly<'_>) {
    let parts = match content {
        Content::Text(text) => return into.text(None, text),
        Content::Parts(Value::Array(parts)) => parts,
        Content::Parts(_) => return,
    };
    for part in parts {
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            into.text(None, text);
        }
        let thoughts = part.get("thinking").and_then(Value::as_array);
        for thought in thoughts.into_iter().flatten() {
            into.thought(None, thought.get("text").and_then(Value::as_str).unwrap_or_default());
        }
    }
}

fn count(told: &UsageData, into: &mut Assembly<'_>) {
    let known = into.used();
    let Some(prompt) = told.prompt_tokens else { return };
    let details = told.prompt_tokens_details.as_ref();
    let cached = details.and_then(|details| details.cached_tokens);
    let cached = cached.or(told.prompt_cache_hit_tokens).or(told.cached_tokens);
    let written = details.and_then(|details| details.cache_write_tokens);
    let reasoning =
        told.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
    into.usage(Usage {
        output: told.completion_tokens.unwrap_or(known.output),
        reasoning: reasoning.unwrap_or(known.reasoning),
        cost: told.cost.or(known.cost),
        // llama.cpp tells the cached part in its timings only.
        ..Usage::of_prompt(prompt, cached.unwrap_or(known.cache_read), written.unwrap_or(0))
    });
}

fn count_timings(told: &Timings, into: &mut Assembly<'_>) {
    let known = into.used();
    into.usage(Usage {
        input: told.prompt.unwrap_or(known.input),
        cache_read: told.cached.unwrap_or(known.cache_read),
        output: told.written.unwrap_or(known.output),
        ..known
    });
}

fn stop(reason: &str) -> Stop {
    match reason {
        "stop" | "eos" | "end_turn" => Stop::End,
        "tool_calls" | "function_call" | "tool_use" => Stop::Calls,
        "length" | "max_tokens" | "model_length" => Stop::Length,
        "content_filter" => Stop::Filtered,
        "refusal" => Stop::Refused,
        other => Stop::Other(other.to_owned()),
    }
}
