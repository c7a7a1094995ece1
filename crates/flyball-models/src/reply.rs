//! What a model answers: event by event, and whole.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::message::{Call, Message};
use crate::usage::Usage;

/// Something of an answer has come.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Bytes have come, whatever they say. Sent before what is in them; keep-alives are only this.
    Alive {
        /// How many.
        bytes: usize,
    },
    /// The answer begins.
    Started {
        /// The service's name of the answer.
        id: &'a str,
        /// The model that answers.
        model: &'a str,
    },
    /// More of a thought.
    Thinking(&'a str),
    /// More words.
    Text(&'a str),
    /// A call begins.
    CallBegan {
        /// Its place among the calls of this answer.
        index: usize,
        /// Its id.
        id: &'a str,
        /// The tool.
        name: &'a str,
    },
    /// More of a call's arguments.
    CallArguments {
        /// The call's place.
        index: usize,
        /// The next piece of their text.
        text: &'a str,
    },
    /// A call is whole, its arguments read.
    CallReady {
        /// Its place.
        index: usize,
        /// The call.
        call: &'a Call,
    },
    /// What was used so far; the last word counts.
    Usage(Usage),
    /// It did not work and will be tried again: what has come of this answer does not count.
    Again {
        /// Why.
        failure: &'a Failure,
        /// After which time.
        wait: Duration,
        /// How many times it was tried.
        attempt: u32,
    },
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// What was said.
    pub message: Message,
    /// Why it ended.
    pub stop: Stop,
    /// What it cost.
    pub usage: Usage,
    /// The service's name of the answer.
    #[serde(default)]
    pub id: String,
    /// The model that answered.
    #[serde(default)]
    pub model: String,
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model had said everything.
    End,
    /// It waits for what its calls give.
    Calls,
    /// It came to the longest answer allowed.
    Length,
    /// It came to the end of the context window.
    Window,
    /// The model refused.
    Refused,
    /// The service held back what the model said.
    Filtered,
    /// The service paused a long answer: ask again with the message added.
    Paused,
    /// The model wrote a call the service could not read.
    Malformed,
    /// Another reason, in the service's word.
    Other(String),
}
