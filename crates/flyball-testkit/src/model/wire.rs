//! The four wire formats, seen from outside.

use serde_json::Value;

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
        let answer = match (self, streams) {
            (Self::Anthropic, true) => Answer::stream(anthropic::frames(step, model)),
            (Self::Anthropic, false) => Answer::json(200, &anthropic::whole(step, model)),
            (Self::Responses, true) => Answer::stream(responses::frames(step, model)),
            (Self::Responses, false) => Answer::json(200, &responses::whole(step, model)),
            (Self::Chat, true) => Answer::stream(chat::frames(step, model)),
            (Self::Chat, false) => Answer::json(200, &chat::whole(step, model)),
            (Self::Gemini, true) => Answer::stream(gemini::frames(step, model)),
            (Self::Gemini, false) => Answer::json(200, &gemini::whole(step, model)),
        };
        let answer = answer.with_headers(&step.headers);
        if step.cut { answer.cut() } else { answer }
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
