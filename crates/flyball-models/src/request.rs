//! What a model is asked.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Message;

/// What a model is asked. Borrowed: a conversation is never copied to be sent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// Who the model is to be.
    pub system: &'a str,
    /// The conversation so far.
    pub messages: &'a [Message],
    /// What it may call.
    pub tools: &'a [Tool],
    /// Whether it may call them now.
    pub calls: Calls,
    /// How long the answer may be; without it as long as the model's family can.
    pub max_tokens: Option<u32>,
    /// How much it is to think; without it as the model does by itself.
    pub effort: Option<Effort>,
    /// Whether the service is to keep what it has read.
    pub cache: Cache,
    /// A name of the conversation: services send those of one name to where their cache is.
    pub conversation: Option<&'a str>,
    /// How long the whole answer may take, however much comes of it; then it is cancelled.
    pub within: Option<Duration>,
}

/// A tool, as the model is told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, and when to use it.
    pub description: String,
    /// The JSON schema of its arguments, an object.
    pub schema: Value,
}

/// Whether tools may be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calls {
    /// As the model likes, several at once too.
    #[default]
    Allowed,
    /// Not now. The tools stay in the request: earlier calls need them, and so does the cache.
    Forbidden,
}

/// How much a model is to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all, where that can be asked for.
    Off,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl Effort {
    /// The word `OpenAI` has for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Off => "none",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Whether a service is to keep what it has read, where that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cache {
    /// No.
    Off,
    /// For minutes.
    #[default]
    Short,
    /// For an hour: costs more to write.
    Long,
}

impl<'a> Request<'a> {
    /// A conversation to go on with; the fields say the rest.
    pub fn new(messages: &'a [Message]) -> Self {
        Self {
            system: "",
            messages,
            tools: &[],
            calls: Calls::default(),
            max_tokens: None,
            effort: None,
            cache: Cache::default(),
            conversation: None,
            within: None,
        }
    }
}
