//! The same call again and again (A2).
//!
//! Identical calls in a row are refused whatever they bring; identical calls that also bring the same
//! result are nudged before that. Of a tool that polls, a changed result ends the streak.

use alloc::format;

use serde::{Deserialize, Serialize};

use super::{CallSeen, Detector, Finding, ResultSeen, Severity};
use crate::call::{Fingerprint, ToolOutcome, texts};
use crate::policy::CallRules;

/// The streak of identical calls of one sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Repetition {
    /// The call being repeated; none before the first.
    call: Option<Fingerprint>,
    /// The number of the streak's first call.
    first: u64,
    /// The number of its latest call, refused ones included.
    latest: u64,
    /// What it brought last.
    result: Option<(Fingerprint, ToolOutcome)>,
    /// How many results in a row were that one.
    same: u64,
    /// The count of same results that brings the next nudge.
    nudge_at: u64,
    /// Whether the tool polls.
    polls: bool,
}

impl Repetition {
    /// How many identical calls in a row were made.
    pub(super) const fn streak(&self) -> u64 {
        match self.call {
            Some(_) => self.latest.saturating_sub(self.first).saturating_add(1),
            None => 0,
        }
    }
}

impl Detector for Repetition {
    fn before(&mut self, rules: &CallRules, seen: &CallSeen<'_>) -> Option<Finding> {
        if self.call != Some(seen.call) {
            *self = Self {
                call: Some(seen.call),
                first: seen.number,
                polls: rules.polling.iter().any(|tool| tool == seen.tool),
                ..Self::default()
            };
        }
        self.latest = seen.number;
        let (measured, allowed) = (self.streak(), u64::from(rules.refuse_after.max(1)));
        (measured > allowed).then(|| Finding {
            severity: Severity::Refuse,
            measured,
            allowed,
            what: format!(
                "tool '{}' called {measured} times consecutively with identical parameters",
                texts::name(seen.tool)
            ),
        })
    }

    fn after(&mut self, rules: &CallRules, seen: &ResultSeen<'_>) -> Option<Finding> {
        // A result of an earlier streak comes too late to say anything about this one.
        if self.call != Some(seen.of.call) || seen.of.number < self.first {
            return None;
        }
        let result = Some((seen.result, seen.outcome));
        let allowed = u64::from(rules.nudge_after.max(1));
        if self.result == result {
            self.same = self.same.saturating_add(1);
        } else {
            if self.polls && self.result.is_some() {
                self.first = seen.of.number;
            }
            self.result = result;
            self.same = 1;
            self.nudge_at = allowed;
        }
        if self.same < self.nudge_at {
            return None;
        }
        self.nudge_at = self.same.saturating_mul(2);
        Some(Finding {
            severity: Severity::Nudge,
            measured: self.same,
            allowed,
            what: format!(
                "the last {} calls of tool '{}' had identical parameters and the same result",
                self.same,
                texts::name(seen.of.tool)
            ),
        })
    }
}
