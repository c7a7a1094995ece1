//! The four wire formats, seen from outside.

use serde_json::{Value, json};

use super::http::Answer;
use super::step::Step;
use super::{anthropic, chat, gemini, responses};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Responses.
    Responses,
    /// `OpenAI` chat completions.
    Chat,
    /// Gemini.
    Gemini,
}

/// What a model was told in one request, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Texts of user, developer and system messages.
    pub messages: Vec<String>,
    /// Results of tools.
    pub results: Vec<String>,
}

impl Wire {
    /// The format a path belongs to.
    pub(super) fn of(path: &str) -> Option<Self> {
        if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with("enerateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    pub(super) fn answer(self, step: &Step, body: &Value, path: &str) -> Answer {
        if let Some((status, own)) = &step.error {
            let body = own.clone().unwrap_or_else(|| self.error(*status, step));
            return Answer::json(*status, &body).with_headers(&step.headers);
        }
        let model = body.get("model").and_then(Value::as_str).unwrap_or("mock-model");
        let streams = body.get("stream").and_then(Value::as_bool).unwrap_or(false)
            || path.ends_with("streamGenerateContent");
        let answer = if streams {
            Answer::stream(self.frames(step, model)).pausing(step.pause)
        } else {
            Answer::json(200, &self.whole(step, model))
        };
        let answer = answer.with_headers(&step.headers);
        if step.cut { answer.cut() } else { answer }
    }

    fn frames(self, step: &Step, model: &str) -> Vec<(&'static str, Value)> {
        let mut frames = match self {
            Self::Anthropic => anthropic::frames(step, model),
            Self::Responses => responses::frames(step, model),
            Self::Chat => chat::frames(step, model),
            Self::Gemini => gemini::frames(step, model),
        };
        if let Some(error) = &step.stream_error {
            frames.truncate(frames.len() / 2);
            frames.push(match self {
                Self::Anthropic | Self::Responses => {
                    ("error", json!({ "type": "error", "error": error }))
                }
                Self::Chat | Self::Gemini => ("", json!({ "error": error })),
            });
        }
        frames
    }

    fn whole(self, step: &Step, model: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(step, model),
            Self::Responses => responses::whole(step, model),
            Self::Chat => chat::whole(step, model),
            Self::Gemini => gemini::whole(step, model),
        }
    }

    fn error(self, status: u16, step: &Step) -> Value {
        let message = &step.text;
        match self {
            Self::Anthropic => anthropic::error(status, message),
            Self::Responses | Self::Chat => chat::error(status, message),
            Self::Gemini => gemini::error(status, step),
        }
    }

    pub(super) fn given(self, body: &Value) -> Given {
        match self {
            Self::Anthropic => anthropic::given(body),
            Self::Responses => responses::given(body),
            Self::Chat => chat::given(body),
            Self::Gemini => gemini::given(body),
        }
    }
}

/// The items of a list inside some JSON.
pub(super) fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A string inside some JSON.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or("")
}

/// Text that is a string, or the `text` of a list of blocks.
pub(super) fn content(value: &Value) -> String {
    if let Some(blocks) = value.as_array() {
        return blocks.iter().map(|block| text(block, "text")).collect::<Vec<_>>().join("\n");
    }
    if value.is_null() {
        return String::new();
    }
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A text in two halves, as a stream brings it.
pub(super) fn halves(text: &str) -> [&str; 2] {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    [text.get(..middle).unwrap_or(""), text.get(middle..).unwrap_or("")]
}
