//! Which model is asked, where, and within which limits.

use std::fmt;
use std::time::Duration;

use crate::key::Key;
use crate::wire::{Service, Wire};

/// Which model is asked, and where.
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// What the service speaks.
    pub wire: Wire,
    /// Where it is, without the path of a request: `https://api.anthropic.com`.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// The key.
    pub key: Key,
    /// Headers that go with every request. Their values are never printed.
    pub headers: Vec<(String, String)>,
    /// How long and how large an answer may be.
    pub limits: Limits,
}

/// How long and how large an answer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Until the first byte of the answer: a local model reads a long prompt for minutes.
    pub first_byte: Duration,
    /// From one byte to the next, whatever they say.
    pub between_bytes: Duration,
    /// Until a connection stands, its name looked up.
    pub connect: Duration,
    /// The whole answer as it is sent.
    pub response_bytes: usize,
    /// One line of its stream.
    pub line_bytes: usize,
    /// The arguments of one call.
    pub arguments_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_mins(5),
            between_bytes: Duration::from_secs(30),
            connect: Duration::from_secs(30),
            response_bytes: 64 * 1024 * 1024,
            line_bytes: 8 * 1024 * 1024,
            arguments_bytes: 4 * 1024 * 1024,
        }
    }
}

impl Settings {
    /// A model of a known service.
    pub fn of(service: &Service, model: &str, key: Key) -> Self {
        Self {
            wire: service.wire,
            url: service.url.to_owned(),
            model: model.to_owned(),
            key,
            headers: Vec::new(),
            limits: Limits::default(),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Settings")
            .field("wire", &self.wire)
            .field("url", &self.url)
            .field("model", &self.model)
            .field("headers", &names)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
