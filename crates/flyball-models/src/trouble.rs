//! What services say when something is wrong, told apart.

use serde_json::Value;

use crate::assembly::ArgumentsTooLong;
use crate::failure::{FailureKind, RetryTime};
use crate::retry_time;
use crate::stream::LineTooLong;

/// The longest words of a service that are passed on.
const WORDS_MAX: usize = 500;

/// Why a stream cannot be read on.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It is not what the format says.
    Unreadable(String),
    /// The service says so itself.
    Told(Box<Told>),
    /// Something is larger than allowed.
    TooLarge(String),
}

impl From<LineTooLong> for Trouble {
    fn from(_: LineTooLong) -> Self {
        Self::TooLarge("a line of the answer is longer than allowed".to_owned())
    }
}

impl From<ArgumentsTooLong> for Trouble {
    fn from(ArgumentsTooLong(max): ArgumentsTooLong) -> Self {
        Self::TooLarge(format!("the model wrote arguments of more than {max} bytes"))
    }
}

impl From<Told> for Trouble {
    fn from(told: Told) -> Self {
        Self::Told(Box::new(told))
    }
}

/// What a service said was wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) status: Option<u16>,
    /// Its kind in the service's words: type, code, status.
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) retry: Option<RetryTime>,
}

impl Told {
    /// An error inside a stream.
    pub(crate) fn in_stream(error: &Value) -> Self {
        Self::of(error)
    }

    /// An answer that is an error as a whole.
    pub(crate) fn in_answer(status: u16, headers: &[(String, String)], body: &[u8]) -> Self {
        let mut told = match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::of(&value),
            Err(_) => Self { message: plain(body), ..Self::default() },
        };
        told.status = Some(status);
        told.retry = retry_time::in_headers(headers).or(told.retry);
        told
    }

    /// Reads the many shapes errors have.
    fn of(value: &Value) -> Self {
        if let Some(first) = value.as_array().and_then(|list| list.first()) {
            return Self::of(first);
        }
        if let Some(text) = value.as_str() {
            return Self { message: short(text), ..Self::default() };
        }
        if let Some(inner) = value.get("error").filter(|inner| !inner.is_null()) {
            return Self::of(inner);
        }
        let text = |field: &str| value.get(field).and_then(Value::as_str);
        let kinds = ["type", "code", "status"].into_iter().filter_map(text);
        let message = text("message").or_else(|| text("detail")).map(str::to_owned);
        let is_empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
        let mut message =
            message.unwrap_or_else(|| if is_empty { String::new() } else { value.to_string() });
        // A router repeats the words of the service behind it.
        if let Some(raw) = value.pointer("/metadata/raw").and_then(Value::as_str) {
            message = format!("{message}: {raw}");
        }
        let status = ["code", "status"].into_iter().find_map(|field| value.get(field)?.as_u64());
        let retry = retry_time::in_details(value).or_else(|| retry_time::in_words(&message));
        Self {
            status: status.and_then(|code| u16::try_from(code).ok()),
            kind: kinds.collect::<Vec<_>>().join(" "),
            message: short(&message),
            retry,
        }
    }

    /// What that means.
    pub(crate) fn meaning(&self) -> FailureKind {
        let words = format!("{} {}", self.kind, self.message).to_ascii_lowercase();
        let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
        let status = self.status.unwrap_or(0);
        if has(&TOO_LONG) || status == 413 {
            FailureKind::TooLong
        } else if has(&WRONG_KEY) || matches!(status, 401 | 403) && !has(&REGION) {
            FailureKind::Credentials
        } else if status == 402 || has(&NO_MONEY) || has(&NO_QUOTA) && self.retry.is_none() {
            FailureKind::Quota
        } else if has(&NO_MODEL) || status == 404 && words.contains("model") {
            FailureKind::UnknownModel
        } else if status == 429 || has(&LIMITED) {
            FailureKind::Limited
        } else if status >= 500 || matches!(status, 408 | 409 | 425) || has(&BUSY) {
            FailureKind::Overloaded
        } else if has(&BLOCKED) {
            FailureKind::Refused
        } else {
            FailureKind::Rejected
        }
    }
}

const TOO_LONG: [&str; 13] = [
    "prompt is too long",
    "context_length_exceeded",
    "maximum context length",
    "exceed context limit",
    "exceed_context_size",
    "exceeds the available context size",
    "exceeds the context window",
    "context window exceeded",
    "exceeds the maximum number of tokens allowed",
    "input is too long",
    "request_too_large",
    "context overflow",
    "larger than the context",
];
const WRONG_KEY: [&str; 8] = [
    "authentication_error",
    "invalid_api_key",
    "invalid x-api-key",
    "incorrect api key",
    "api key not valid",
    "api_key_invalid",
    "unauthenticated",
    "no auth credentials",
];
const REGION: [&str; 2] = ["unsupported_country", "location is not supported"];
const NO_MONEY: [&str; 4] =
    ["credit balance is too low", "billing_error", "insufficient credits", "billing_hard_limit"];
const NO_QUOTA: [&str; 3] = ["insufficient_quota", "exceeded your current quota", "usage_limit"];
const NO_MODEL: [&str; 5] = [
    "model_not_found",
    "not_found_error model",
    "is not a valid model",
    "is not found for api version",
    "try pulling it",
];
const LIMITED: [&str; 3] = ["rate_limit", "resource_exhausted", "too many requests"];
const BUSY: [&str; 6] =
    ["overloaded", "api_error", "server_error", "service_unavailable", "unavailable", "internal"];
const BLOCKED: [&str; 4] =
    ["content_policy", "content_filter", "invalid_prompt", "prohibited_content"];

/// The words of an answer that is no JSON.
fn plain(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    if text.starts_with('<') {
        return "an HTML page came instead of an answer".to_owned();
    }
    short(text)
}

/// One line, bounded, without control characters.
pub(crate) fn short(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = words.chars().filter(|c| !c.is_control()).take(WORDS_MAX).collect();
    if shown.len() < words.len() {
        shown.push('…');
    }
    shown
}
