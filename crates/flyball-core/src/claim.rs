//! Claims (B1): what the agent says of itself in its final words.

mod quotes;
mod read;

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use self::read::{read_plain, read_structured};
use crate::call::ValidationFailure;

/// What an agent says of itself. Never a fact until flyball has checked it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Claim {
    /// The work is done.
    Complete,
    /// It cannot go on.
    Blocked {
        /// Why.
        reason: String,
    },
    /// It needs a decision.
    Decide {
        /// The question.
        question: String,
    },
}

/// The claims found in an agent's final words, the last of each kind, and what was malformed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimReading {
    /// COMPLETE stands there.
    #[serde(default)]
    pub complete: bool,
    /// The last BLOCKED.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// The last DECIDE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decide: Option<String>,
    /// Tags that are no claims.
    #[serde(default)]
    pub failures: Vec<ValidationFailure>,
}

impl ClaimReading {
    /// The claim that counts: a verified COMPLETE, then BLOCKED, then DECIDE, then an unverified
    /// COMPLETE standing alone.
    #[expect(clippy::fn_params_excessive_bools, reason = "a fact found elsewhere, not a mode")]
    pub fn leading(&self, complete_verifies: bool) -> Option<Claim> {
        if self.complete && complete_verifies {
            return Some(Claim::Complete);
        }
        if let Some(reason) = &self.blocked {
            return Some(Claim::Blocked { reason: reason.clone() });
        }
        if let Some(question) = &self.decide {
            return Some(Claim::Decide { question: question.clone() });
        }
        self.complete.then_some(Claim::Complete)
    }
}
