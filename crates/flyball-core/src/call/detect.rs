//! The detectors of the call ring: each watches the calls and results of one sub-agent and says what
//! it finds. They never decide: the ring owns the ladder, the count of refusals and the texts.
//!
//! To add one (A3: cycles, idle results, …):
//! 1. write `detect/<name>.rs` with a small, bounded, serialisable state that implements
//!    [`Detector`];
//! 2. give [`Detectors`] a field for it, with `#[serde(default)]` so that stored state still reads;
//! 3. add that field to the list in [`Detectors::each`].
//!
//! The state of one sub-agent's detectors together may take 600 bytes as JSON (`ring/tests.rs`
//! measures the whole).

mod repetition;

use alloc::string::String;

use serde::{Deserialize, Serialize};

use self::repetition::Repetition;
use super::{Fingerprint, ToolOutcome};
use crate::policy::CallRules;

/// A call that is about to run.
pub(super) struct CallSeen<'a> {
    /// The tool's name.
    pub(super) tool: &'a str,
    /// Identity of the call.
    pub(super) call: Fingerprint,
    /// Its number among this sub-agent's calls: one more than the call before.
    pub(super) number: u64,
}

/// What an earlier call came to. Results may come late and in any order; each comes once.
pub(super) struct ResultSeen<'a> {
    /// The call it answers.
    pub(super) of: CallSeen<'a>,
    /// Identity of the result.
    pub(super) result: Fingerprint,
    /// How it went.
    pub(super) outcome: ToolOutcome,
}

/// How far up the ladder a finding reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// The agent should be told.
    Nudge,
    /// The call should not run. Found after a call, it is too late for that one: the agent is told.
    Refuse,
}

/// What a detector found.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// How far up the ladder it reaches.
    pub(super) severity: Severity,
    /// What was measured.
    pub(super) measured: u64,
    /// What is allowed.
    pub(super) allowed: u64,
    /// What it is, in words without a full stop.
    pub(super) what: String,
}

/// Something that looks for one way of going nowhere.
pub(super) trait Detector {
    /// A call is about to run.
    fn before(&mut self, rules: &CallRules, call: &CallSeen<'_>) -> Option<Finding>;

    /// A call was answered.
    fn after(&mut self, rules: &CallRules, result: &ResultSeen<'_>) -> Option<Finding>;
}

/// All detectors of one sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Detectors {
    #[serde(default)]
    repetition: Repetition,
}

impl Detectors {
    /// The list: every detector sees everything; of equally severe findings the first one counts.
    fn each(&mut self) -> [&mut dyn Detector; 1] {
        [&mut self.repetition]
    }

    /// A call is about to run.
    pub(super) fn before(&mut self, rules: &CallRules, call: &CallSeen<'_>) -> Option<Finding> {
        strongest(self.each().map(|detector| detector.before(rules, call)))
    }

    /// A call was answered.
    pub(super) fn after(&mut self, rules: &CallRules, result: &ResultSeen<'_>) -> Option<Finding> {
        strongest(self.each().map(|detector| detector.after(rules, result)))
    }

    /// How many identical calls in a row were made last.
    pub(super) const fn streak(&self) -> u64 {
        self.repetition.streak()
    }
}

fn strongest(findings: impl IntoIterator<Item = Option<Finding>>) -> Option<Finding> {
    findings
        .into_iter()
        .flatten()
        .reduce(|best, next| if next.severity > best.severity { next } else { best })
}
