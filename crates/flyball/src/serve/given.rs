//! What a page or a program sent with an act.

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use serde_json::Value;

use super::window::Problem;

/// Words every act may be given: the page's token, and where to go on.
const COMMON: [&str; 2] = ["page", "from"];

/// What was sent, in pairs: a form has nothing else, and JSON is made into them.
#[derive(Debug)]
pub(super) struct Given(Vec<(String, String)>);

impl Given {
    pub(super) fn read(headers: &HeaderMap, body: &Bytes) -> Result<Self, Problem> {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let wrong = |why: &dyn std::fmt::Display| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                &format!("what was sent cannot be read: {why}"),
                "",
            )
        };
        if kind.is_some_and(|kind| kind.starts_with("application/json")) {
            let value: Value = serde_json::from_slice(body).map_err(|error| wrong(&error))?;
            return Self::of_json(&value)
                .ok_or_else(|| wrong(&"an object of plain values is wanted"));
        }
        let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(
            &format!("/?{}", String::from_utf8_lossy(body))
                .parse()
                .map_err(|error: axum::http::uri::InvalidUri| wrong(&error))?,
        );
        pairs.map(|pairs| Self(pairs.0)).map_err(|error| wrong(&error))
    }

    fn of_json(value: &Value) -> Option<Self> {
        let mut pairs = Vec::new();
        for (name, value) in value.as_object()? {
            let plain = |value: &Value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                Value::Bool(flag) => Some(flag.to_string()),
                Value::Null | Value::Array(_) | Value::Object(_) => None,
            };
            if let Value::Array(list) = value {
                for one in list {
                    pairs.push((name.clone(), plain(one)?));
                }
            } else {
                pairs.push((name.clone(), plain(value)?));
            }
        }
        Some(Self(pairs))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| matches!(value, "true" | "1" | "on"))
    }

    /// The findings that were shown.
    pub(super) fn findings(&self) -> Vec<String> {
        let named = self.0.iter().filter(|(name, _)| name == "finding" || name == "findings");
        named.map(|(_, value)| value.clone()).collect()
    }

    pub(super) fn refuse_unknown(&self, known: &[&str]) -> Result<(), Problem> {
        let unknown = self.0.iter().map(|(name, _)| name.as_str());
        let mut unknown = unknown.filter(|name| !known.contains(name) && !COMMON.contains(name));
        match unknown.next() {
            None => Ok(()),
            Some(name) => {
                let error = format!("`{name}` is not known here");
                let hint = format!("one of {}", known.join(", "));
                Err(Problem::new(StatusCode::BAD_REQUEST, &error, &hint))
            }
        }
    }

    /// What it is about: all but the page's token and where to go on.
    pub(super) fn own(&self) -> impl Iterator<Item = &(String, String)> {
        self.0.iter().filter(|(name, _)| !COMMON.contains(&name.as_str()))
    }

    /// What is written down of it: neither the page's token nor where to go on.
    pub(super) fn record(&self) -> Value {
        let kept = self.own().map(|(name, value)| {
            (name.clone(), Value::String(crate::view::words::line(value, 2_000)))
        });
        Value::Object(kept.collect())
    }
}
