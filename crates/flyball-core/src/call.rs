//! The call ring: what happens inside one agent session.
//!
//! Adapters and hooks turn what an agent says into [`ToolCall`], [`ToolResult`] and
//! [`ValidationFailure`]; [`CallRing`] judges them.

mod fingerprint;
mod ring;
pub mod texts;

use alloc::string::String;

use serde::{Deserialize, Serialize};

pub use self::fingerprint::{Fingerprint, canonical_args, fingerprint_call, fingerprint_result};
pub use self::ring::{CallRing, CallStatus, ContextNotice, Verdict};
use crate::id::{CallId, SubAgent};

/// A tool call, reduced to what the ring needs. The arguments themselves stay with the shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id the agent gave it.
    pub id: CallId,
    /// Who made it.
    #[serde(default)]
    pub agent: SubAgent,
    /// The tool's name.
    pub tool: String,
    /// Identity of tool and arguments (A1).
    pub call: Fingerprint,
    /// The arguments' first characters, for people.
    #[serde(default)]
    pub preview: String,
}

/// What a tool answered, reduced to what the ring needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call it answers.
    pub id: CallId,
    /// Who made the call.
    #[serde(default)]
    pub agent: SubAgent,
    /// How it went.
    pub outcome: ToolOutcome,
    /// Identity of the result with volatile parts normalised away (A1).
    pub result: Fingerprint,
    /// Length in characters (A7).
    pub chars: u64,
    /// Its first characters, for people and recovery texts.
    #[serde(default)]
    pub preview: String,
}

/// How a tool call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// It ran.
    Ok,
    /// A program ran and exited non-zero: a result, not a failure of the tool (A5).
    Exit,
    /// The tool itself failed.
    Tool,
    /// It was refused before it ran: neither success nor failure.
    Refused,
}

/// Output that could not be understood (A4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidationFailure {
    /// Which of the eight kinds.
    pub kind: ValidationKind,
    /// What would have been right.
    pub expected: String,
    /// What came, at most 200 characters of it.
    pub received: String,
    /// What is wrong with it.
    pub error: String,
}

/// The eight kinds of validation failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValidationKind {
    /// Arguments that are no JSON.
    UnparseableJson,
    /// A required field is missing.
    MissingField,
    /// A field of the wrong type.
    WrongType,
    /// No such tool.
    UnknownTool,
    /// A promise tag that is unclosed or of unknown kind.
    MalformedClaim,
    /// A promise tag without reason or question.
    EmptyClaim,
    /// A response cut off by the token limit.
    TruncatedResponse,
    /// A line of a structured stream that is no event.
    BadStreamLine,
}
