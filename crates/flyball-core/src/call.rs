//! The call ring: what happens inside one agent session.
//!
//! Adapters and hooks turn what an agent says into [`ToolCall`], [`ToolResult`] and
//! [`ValidationFailure`]; [`CallRing`] judges them.
//!
//! For someone who builds an agent: make a [`CallGuard`], report each call before it runs and each
//! result after it, and do what the [`Verdict`] says.
//!
//! ```
//! use flyball_core::call::{CallGuard, ToolOutcome, ToolResult};
//! use flyball_core::{CallId, Moment, Outcome, Policy};
//!
//! let mut seconds = 0;
//! let clock = move || {
//!     seconds += 1;
//!     Moment::from_millis(seconds * 1000)
//! };
//! let mut guard = CallGuard::new(Policy::default().calls.clone(), clock);
//! let mut told = Vec::new();
//! let mut outcome = None;
//!
//! // A model that reads the same file over and over.
//! for turn in 1..=9 {
//!     let args = serde_json::json!({ "path": "a.rs", "reason": format!("try {turn}") });
//!     let call = guard.call(CallId::new(turn.to_string()), "read_file", &args);
//!
//!     // May it run?
//!     let verdict = guard.before(&call);
//!     told.extend(verdict.message().map(String::from));
//!     outcome = verdict.outcome();
//!     if verdict.is_halt() {
//!         break;
//!     }
//!     if !verdict.may_run() {
//!         continue;
//!     }
//!
//!     // It ran: is there something the model should be told with the result?
//!     let result = ToolResult::new(call.id, ToolOutcome::Ok, "fn main() { start(); }");
//!     told.extend(guard.after(&result).message().map(String::from));
//! }
//!
//! // Nudged after the 3rd call, refused at the 5th and 6th, ended at the 7th.
//! assert_eq!(told.len(), 4);
//! assert!(told[0].contains("the last 3 calls of tool 'read_file'"));
//! assert!(told[1].contains("tool 'read_file' called 5 times with identical parameters"));
//! assert!(told[2].contains(
//!     "tool 'read_file' called 6 times consecutively with identical parameters (blocked 2/3)"
//! ));
//! assert_eq!(outcome, Some(Outcome::RepetitionLoop));
//! assert_eq!(guard.status().refusals, 3);
//! ```
//!
//! [`CallRing`] is the same without rules and clock, to be stored and brought back.

mod arguments;
mod canonical;
mod chant;
mod context;
mod detect;
mod empty;
mod fingerprint;
mod guard;
mod packed;
mod ring;
mod schema;
mod shell;
mod stream;
pub mod texts;
mod verdict;
mod volatile;

use alloc::string::String;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::chant::{Chant, fingerprint_words};
pub use self::context::{ContextLevel, ContextNotice};
pub use self::empty::is_empty_answer;
pub use self::fingerprint::{
    Fingerprint, FingerprintError, canonical_args, fingerprint_call, fingerprint_call_text,
    fingerprint_result,
};
pub use self::guard::CallGuard;
pub use self::ring::{CallRing, CallStatus, LastCall, Stall};
pub use self::schema::check_arguments;
pub use self::shell::mutates;
pub use self::stream::StreamLines;
pub use self::verdict::Verdict;
use crate::id::{CallId, RoundId, SubAgent};
use crate::policy::CallRules;
use crate::text;

/// Characters of arguments and results kept beside their identity.
const PREVIEW: usize = 200;

/// A tool call, reduced to what the ring needs. The arguments themselves stay with the shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
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
    /// Whether it changes files: by what the tool is for, or, for a shell, by [`mutates`].
    #[serde(default, skip_serializing_if = "is_false")]
    pub mutating: bool,
    /// The model's turn it belongs to, where the agent tells.
    #[serde(default, skip_serializing_if = "is_alone")]
    pub round: RoundId,
}

fn is_alone(round: &RoundId) -> bool {
    round.as_str().is_empty()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl ToolCall {
    /// A call of the main agent with these arguments.
    pub fn new(id: CallId, tool: impl Into<String>, args: &Value, rules: &CallRules) -> Self {
        let tool = tool.into();
        let (call, preview) = fingerprint::identify(&tool, args, &rules.free_text, PREVIEW);
        Self { preview, ..Self::identified(id, tool, call) }
    }

    /// A call of the main agent whose arguments are JSON text, read only as far as is needed.
    pub fn from_json(
        id: CallId,
        tool: impl Into<String>,
        args: &str,
        free_text: &[String],
    ) -> Self {
        let tool = tool.into();
        let call = fingerprint_call_text(&tool, args, free_text);
        let preview = String::from(text::prefix(args, PREVIEW));
        Self { preview, ..Self::identified(id, tool, call) }
    }

    /// A call of the main agent of which only the identity is known.
    pub fn identified(id: CallId, tool: impl Into<String>, call: Fingerprint) -> Self {
        Self {
            id,
            agent: SubAgent::default(),
            tool: tool.into(),
            call,
            preview: String::new(),
            mutating: false,
            round: RoundId::default(),
        }
    }

    /// The same call, made by this sub-agent.
    #[must_use]
    pub fn by(mut self, agent: SubAgent) -> Self {
        self.agent = agent;
        self
    }

    /// The same call, which changes files.
    #[must_use]
    pub const fn changing_files(mut self) -> Self {
        self.mutating = true;
        self
    }

    /// The same call, made in this turn of the model.
    #[must_use]
    pub fn in_round(mut self, round: RoundId) -> Self {
        self.round = round;
        self
    }
}

/// What a tool answered, reduced to what the ring needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
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
    /// Identity of the result as it stands; none where it was not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Fingerprint>,
    /// Whether it says nothing: no output, or a bare acknowledgement ([`is_empty_answer`]).
    #[serde(default, skip_serializing_if = "is_false")]
    pub empty: bool,
    /// Length in characters (A7).
    pub chars: u64,
    /// Its first characters, for people and recovery texts.
    #[serde(default)]
    pub preview: String,
}

impl ToolResult {
    /// A result for the main agent with this text. A refusal of the ring that comes back through the
    /// client as the tool's failure is known by its words, and did not run.
    pub fn new(id: CallId, outcome: ToolOutcome, text: &str) -> Self {
        let is_refusal = outcome == ToolOutcome::Tool && texts::is_refusal(text);
        Self {
            id,
            agent: SubAgent::default(),
            outcome: if is_refusal { ToolOutcome::Refused } else { outcome },
            result: fingerprint_result(text),
            raw: Some(Fingerprint::of_text(text)),
            empty: is_empty_answer(text),
            chars: text.chars().count() as u64,
            preview: String::from(text::prefix(text, PREVIEW)),
        }
    }

    /// A result for the main agent of which only the identities are known: without its volatile
    /// parts, and as it stands.
    pub fn identified(
        id: CallId,
        outcome: ToolOutcome,
        result: Fingerprint,
        raw: Fingerprint,
    ) -> Self {
        Self {
            id,
            agent: SubAgent::default(),
            outcome,
            result,
            raw: Some(raw),
            empty: false,
            chars: 0,
            preview: String::new(),
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
    /// The tool itself failed or refused: a bad edit, an unknown command, a time-out.
    Tool,
    /// It did not run: refused by a guard, denied by a person, or cancelled because another call of
    /// its round failed. Neither success nor failure, and no answer.
    Refused,
}

impl ToolOutcome {
    /// Whether it ran at all.
    pub const fn ran(self) -> bool {
        !matches!(self, Self::Refused)
    }

    /// Whether it ran and failed: the tool, or the program it started.
    pub const fn failed(self) -> bool {
        matches!(self, Self::Exit | Self::Tool)
    }
}

/// Output that could not be understood (A4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
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

impl ValidationFailure {
    /// A failure of this kind; of what came, the first 200 characters are kept.
    pub fn new(
        kind: ValidationKind,
        expected: impl Into<String>,
        received: &str,
        error: impl Into<String>,
    ) -> Self {
        let received = String::from(text::prefix(received, PREVIEW));
        Self { kind, expected: expected.into(), received, error: error.into() }
    }
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

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use serde_json::json;

    use super::*;
    use crate::policy::Policy;

    #[test]
    fn a_call_read_from_text_is_the_call_read_from_its_value_and_shows_the_same_beginning() {
        let (rules, id) = (Policy::default().calls.clone(), CallId::new("1"));
        let args = json!({ "path": "a.rs" });
        let read = ToolCall::from_json(id.clone(), "read", &args.to_string(), &rules.free_text);
        assert_eq!(read, ToolCall::new(id, "read", &args, &rules));
        assert_eq!(read.preview, r#"{"path":"a.rs"}"#);
    }
    #[test]
    fn a_call_and_its_result_say_only_what_is_not_usual_and_are_read_as_they_were_written() {
        let plain = ToolCall::identified(CallId::new("1"), "read", Fingerprint::of_text("x"));
        let usual = serde_json::to_string(&plain).unwrap();
        assert!(!usual.contains("mutating") && !usual.contains("round"), "{usual}");
        let changing = plain.clone().changing_files().in_round(RoundId::new("7"));
        for call in [plain, changing] {
            let written = serde_json::to_string(&call).unwrap();
            assert_eq!(serde_json::from_str::<ToolCall>(&written).unwrap(), call, "{written}");
        }
        for (text, is_said) in [("", true), ("fn main() {} and 41 lines more", false)] {
            let result = ToolResult::new(CallId::new("1"), ToolOutcome::Ok, text);
            let written = serde_json::to_string(&result).unwrap();
            assert_eq!(written.contains("empty"), is_said, "{written}");
            assert_eq!(serde_json::from_str::<ToolResult>(&written).unwrap(), result, "{written}");
        }
    }
}
