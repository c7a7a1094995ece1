//! The four formats behind one face: where a request goes, what it says, how its answer is read.

use std::fmt::Write as _;

use serde_json::Value;

use crate::anthropic;
use crate::assembly::Assembly;
use crate::chat;
use crate::chat::decode::Chat;
use crate::conversation::turns;
use crate::decoder::{Decoded, read};
use crate::gemini;
use crate::message::Origin;
use crate::request::Request;
use crate::responses;
use crate::settings::Settings;
use crate::stream::Frame;
use crate::trouble::{Told, Trouble, short};
use crate::wire::Wire;

/// Where requests go.
pub(crate) fn address(settings: &Settings) -> String {
    let base = settings.url.trim_end_matches('/');
    let has_version = |version: &str| base.ends_with(version);
    match settings.wire {
        Wire::Anthropic if has_version("/v1") => format!("{base}/messages"),
        Wire::Anthropic => format!("{base}/v1/messages"),
        Wire::Responses => format!("{base}/responses"),
        Wire::Chat => format!("{base}/chat/completions"),
        Wire::Gemini => {
            let has_version = has_version("/v1beta") || has_version("/v1");
            let version = if has_version { "" } else { "/v1beta" };
            let model = settings.model.strip_prefix("models/").unwrap_or(&settings.model);
            format!("{base}{version}/models/{}:streamGenerateContent?alt=sse", in_path(model))
        }
    }
}

/// A name as part of a path: everything that could mean something else is escaped.
fn in_path(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'~' | b'/' => {
                path.push(char::from(byte));
            }
            _ => {
                // A string takes everything.
                let _ = write!(path, "%{byte:02X}");
            }
        }
    }
    path
}

/// The headers of a request. Those of the settings replace those of the same name.
pub(crate) fn headers(settings: &Settings, request: &Request<'_>) -> Vec<(String, String)> {
    let key = settings.key.text();
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        ("accept", "text/event-stream".to_owned()),
    ];
    match settings.wire {
        Wire::Anthropic => {
            headers.push(("anthropic-version", "2023-06-01".to_owned()));
            if anthropic::encode::wants_interleaving(request, &settings.model) {
                headers.push(("anthropic-beta", "interleaved-thinking-2025-05-14".to_owned()));
            }
            headers.extend(key.map(|key| ("x-api-key", key.to_owned())));
        }
        Wire::Responses | Wire::Chat => {
            headers.extend(key.map(|key| ("authorization", format!("Bearer {key}"))));
        }
        Wire::Gemini => headers.extend(key.map(|key| ("x-goog-api-key", key.to_owned()))),
    }
    let is_given =
        |name: &str| settings.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    headers
        .into_iter()
        .filter(|(name, _)| !is_given(name))
        .map(|(name, value)| (name.to_owned(), value))
        .chain(settings.headers.iter().cloned())
        .collect()
}

/// What a request says.
pub(crate) fn body(
    settings: &Settings,
    request: &Request<'_>,
    asked: &Origin,
) -> serde_json::Result<Vec<u8>> {
    let turns = turns(request.messages, asked);
    let model = settings.model.as_str();
    match settings.wire {
        Wire::Anthropic => anthropic::encode::body(request, turns, model),
        Wire::Responses => responses::encode::body(request, turns, model),
        Wire::Chat => chat::encode::body(request, turns, model),
        Wire::Gemini => gemini::encode::body(request, turns, model),
    }
}

/// Reads the answer of one request.
#[derive(Debug)]
pub(crate) enum Decoder {
    Anthropic,
    Responses,
    Chat(Chat),
    Gemini,
}

impl Decoder {
    pub(crate) fn new(wire: Wire) -> Self {
        match wire {
            Wire::Anthropic => Self::Anthropic,
            Wire::Responses => Self::Responses,
            Wire::Chat => Self::Chat(Chat::default()),
            Wire::Gemini => Self::Gemini,
        }
    }

    /// Takes one event of a stream.
    pub(crate) fn frame(
        &mut self,
        frame: Frame<'_>,
        into: &mut Assembly<'_>,
    ) -> Result<Decoded, Trouble> {
        match self {
            Self::Anthropic => anthropic::decode::frame(frame, into),
            Self::Responses => responses::decode::frame(frame, into),
            Self::Chat(chat) => chat.frame(frame, into),
            Self::Gemini => gemini::decode::frame(frame, into),
        }
    }

    /// Takes an answer that came as one piece of JSON and no stream.
    pub(crate) fn whole(&mut self, text: &str, into: &mut Assembly<'_>) -> Result<(), Trouble> {
        let value: Value = read(text)?;
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Told::in_stream(&value).into());
        }
        match self {
            Self::Anthropic => anthropic::decode::whole(text, into),
            Self::Responses => responses::decode::whole(text, into),
            Self::Chat(chat) => {
                chat.frame(Frame { name: "", data: text }, into)?;
                Self::ended(text, into)
            }
            // Without the stream's parameter every event is an item of a list.
            Self::Gemini => {
                for item in value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice) {
                    gemini::decode::frame(Frame { name: "", data: &item.to_string() }, into)?;
                }
                Self::ended(text, into)
            }
        }
    }

    /// JSON that says no reason to end is something else than an answer.
    fn ended(text: &str, into: &Assembly<'_>) -> Result<(), Trouble> {
        if into.has_stopped() { Ok(()) } else { Err(Trouble::Unreadable(short(text))) }
    }
}
