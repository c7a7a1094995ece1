//! The call ring: what happens inside one agent session.
//!
//! Adapters and hooks turn what an agent says into [`ToolCall`], [`ToolResult`] and
//! [`ValidationFailure`]; [`CallRing`] judges them.
//!
//! For someone who builds an agent: report each call before it runs and each result after it, and do
//! what the [`Verdict`] says.
//!
//! ```
//! use flyball_core::call::{CallRing, ToolCall, ToolOutcome, ToolResult, Verdict};
//! use flyball_core::{CallId, Moment, Policy};
//!
//! let rules = &Policy::default().calls;
//! let mut ring = CallRing::new();
//! let mut told = Vec::new();
//!
//! // A model that reads the same file over and over.
//! for turn in 1..=8_u64 {
//!     let now = Moment::from_millis(turn * 1000);
//!     let id = CallId::new(turn.to_string());
//!     let args = serde_json::json!({ "path": "a.rs", "reason": format!("try {turn}") });
//!
//!     // Record this call: may it run?
//!     let call = ToolCall::new(id.clone(), "read_file", &args, rules);
//!     let verdict = ring.before(rules, now, &call);
//!     if !verdict.may_run() {
//!         told.extend(verdict.message().map(String::from));
//!         if matches!(verdict, Verdict::Halt { .. }) {
//!             break;
//!         }
//!         continue;
//!     }
//!
//!     // It ran: is there something the model should be told with the result?
//!     let result = ToolResult::new(id, ToolOutcome::Ok, "fn main() {}");
//!     told.extend(ring.after(rules, now, &result).message().map(String::from));
//! }
//!
//! // Nudged after the 2nd and the 4th call, refused at the 6th and 7th, ended at the 8th.
//! assert_eq!(told.len(), 5);
//! assert!(told[0].contains("the last 2 calls of tool 'read_file'"));
//! assert!(told[2].contains(
//!     "tool 'read_file' called 6 times consecutively with identical parameters (blocked 1/3)"
//! ));
//! assert_eq!(ring.status().refusals, 3);
//! ```

mod arguments;
mod canonical;
mod context;
mod detect;
mod fingerprint;
mod ring;
pub mod texts;
mod verdict;
mod volatile;

use alloc::string::String;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::context::{ContextLevel, ContextNotice};
pub use self::fingerprint::{
    Fingerprint, FingerprintError, canonical_args, fingerprint_call, fingerprint_call_text,
    fingerprint_result,
};
pub use self::ring::{CallRing, CallStatus, LastCall, Stall};
pub use self::verdict::Verdict;
use crate::id::{CallId, SubAgent};
use crate::policy::CallRules;
use crate::text;

/// Characters of arguments and results kept beside their identity.
const PREVIEW: usize = 200;

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

impl ToolCall {
    /// A call of the main agent with these arguments.
    pub fn new(id: CallId, tool: impl Into<String>, args: &Value, rules: &CallRules) -> Self {
        let tool = tool.into();
        let (call, preview) = fingerprint::identify(&tool, args, &rules.free_text, PREVIEW);
        Self { id, agent: SubAgent::default(), tool, call, preview }
    }

    /// The same call, made by this sub-agent.
    #[must_use]
    pub fn by(mut self, agent: SubAgent) -> Self {
        self.agent = agent;
        self
    }
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

impl ToolResult {
    /// A result for the main agent with this text.
    pub fn new(id: CallId, outcome: ToolOutcome, text: &str) -> Self {
        Self {
            id,
            agent: SubAgent::default(),
            outcome,
            result: fingerprint_result(text),
            chars: text.chars().count() as u64,
            preview: String::from(text::prefix(text, PREVIEW)),
        }
    }

    /// The same result, for a call of this sub-agent.
    #[must_use]
    pub fn by(mut self, agent: SubAgent) -> Self {
        self.agent = agent;
        self
    }
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
