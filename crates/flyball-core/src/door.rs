//! What is asked at the door of a running session, and what is answered.
//!
//! A session has two sides: the stream its agent prints, and the doors through which the agent (or a
//! program it started: a hook, a tool server, a proxy) asks before it acts. One ring judges both.
//! A question is a fact like any other; its answer is an order, and each question gets one answer.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::call::{CallStatus, ToolCall, ToolResult, ValidationFailure};
use crate::guard::{Rung, Trip};
use crate::task::AttemptReport;

/// A question at the door of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoorQuestion {
    /// Which: the answer carries the same number.
    pub number: u64,
    /// What is asked or told.
    pub matter: Matter,
    /// Whether advice in the answer reaches the agent.
    #[serde(default)]
    pub hears: bool,
    /// How full the context window is, in thousandths, where the asker knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u16>,
}

/// What is asked or told at the door.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "matter", rename_all = "snake_case")]
pub enum Matter {
    /// A call is about to run: may it?
    Call(ToolCall),
    /// A call was answered.
    Result(ToolResult),
    /// Something could not be understood.
    Invalid(ValidationFailure),
    /// The agent wants to stop: may it?
    Stop {
        /// What it said last; some clients tell everything since the prompt.
        #[serde(default)]
        said: String,
        /// How many stops the client itself lets be refused in one session.
        client_cap: u32,
    },
    /// How an attempt at a task stands, in the agent's own words.
    Report(AttemptReport),
    /// It is about to ask its model again: may it? Asked by those that tell at the door what they use.
    AsksModel,
    /// Nothing but a sign of life.
    Nothing,
}

/// The answer to a question at the door.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoorAnswer {
    /// Its rung of the ladder: pass, nudge, refuse or halt.
    pub rung: Rung,
    /// What the agent is told; empty for nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// What was measured, when the ring refuses or halts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trip: Option<Trip>,
    /// What the session's calls come to so far.
    #[serde(default)]
    pub calls: CallStatus,
}
