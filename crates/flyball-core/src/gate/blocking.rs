//! The blocking event (B10): why a completion was refused, in a form the agent can use.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Finding, GateResult};
use crate::id::GateName;

/// Why a completion was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockingEvent {
    /// What was asked for.
    pub original_request: String,
    /// All red gates, the first one leading.
    pub blocked_by: Vec<GateName>,
    /// One line.
    pub summary: String,
    /// Individual failures from every red gate.
    pub details: Vec<Finding>,
    /// What to do, most useful first.
    pub suggestions: Vec<String>,
    /// The gates themselves.
    pub gate_result: GateResult,
    /// What changed since the last time.
    pub difference: Difference,
}

/// What changed since the last gate result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Red now, not before.
    pub newly_failing: Vec<String>,
    /// Red now and before.
    pub still_failing: Vec<String>,
    /// Red before, not now.
    pub fixed: Vec<String>,
}
