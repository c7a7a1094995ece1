//! The same call again and again (A2).
//!
//! Identical calls in a row that bring the same result are nudged, then refused. Results that change
//! (paging with a cursor, polling that moves) begin that count anew, and only a much longer streak of
//! such calls is refused. Calls without any answer count as having the same. The same *change* made
//! again and again is worth a word whatever it brings: an edit applied twice is no progress.

use serde::{Deserialize, Serialize};

use super::{Allowed, CallSeen, Detection, Detector, Mark, ResultSeen, Seen, Severity};
use crate::call::ToolOutcome;
use crate::guard::GuardKind;
use crate::policy::CallRules;

/// The streak of identical calls of one sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Repetition {
    /// The call being repeated; none before the first.
    call: Option<Mark>,
    /// The number of the streak's first call.
    first: u64,
    /// How many calls it has, refused ones included.
    calls: u64,
    /// What it brought last.
    result: Option<(Mark, ToolOutcome)>,
    /// How many results in a row were that one.
    same: u64,
    /// How many calls were refused since the result last changed.
    refused: u64,
    /// The count of same results that brings the next nudge.
    nudge_at: u64,
    /// Whether a nudge was given in this streak.
    nudged: bool,
}

impl Repetition {
    /// How many identical calls in a row were made.
    pub(super) const fn streak(&self) -> u64 {
        self.calls
    }

    /// The same change, with yet another result: told once in a streak (A3).
    fn same_change(&mut self, rules: &CallRules, seen: &ResultSeen) -> Option<Detection> {
        let allowed = u64::from(rules.nudge_after.max(1).saturating_mul(2));
        if !rules.account || !seen.of.mutating || self.calls < allowed || self.nudged {
            return None;
        }
        self.nudged = true;
        Some(Detection {
            guard: GuardKind::GoingNowhere,
            severity: Severity::Nudge,
            measured: self.calls,
            allowed,
            seen: Seen::SameChange(self.calls),
        })
    }

    /// Whether a nudge was given in this streak.
    pub(super) const fn was_nudged(&self) -> bool {
        self.nudged
    }
}

impl Detector for Repetition {
    fn judge(&self, rules: &CallRules, seen: &CallSeen) -> Option<Detection> {
        if self.call != Some(seen.call) {
            return None;
        }
        let refuse_after = rules.refuse_after.max(1);
        let found = |seen: Seen, measured: u64, allowed: u32| Detection {
            guard: GuardKind::Repetition,
            severity: Severity::Refuse,
            measured,
            allowed: u64::from(allowed),
            seen,
        };
        // Of a client that tells no results, every call counts.
        let earlier = match self.result {
            Some(_) => self.same.saturating_add(self.refused),
            None => self.calls,
        };
        let same = earlier.saturating_add(1);
        if same > u64::from(refuse_after) {
            return Some(found(Seen::Streak(same), same, refuse_after));
        }
        let calls = self.calls.saturating_add(1);
        let changing = rules.refuse_after_changing.max(refuse_after);
        (calls > u64::from(changing)).then(|| found(Seen::Changing(calls), calls, changing))
    }

    fn book(&mut self, seen: &CallSeen, allowed: Allowed) {
        if self.call != Some(seen.call) {
            *self = Self { call: Some(seen.call), first: seen.number, ..Self::default() };
        }
        self.calls = self.calls.saturating_add(1);
        if allowed == Allowed::No {
            self.refused = self.refused.saturating_add(1);
        }
    }

    fn answered(&mut self, rules: &CallRules, seen: &ResultSeen) -> Option<Detection> {
        // A result of an earlier streak comes too late to say anything about this one.
        if self.call != Some(seen.of.call) || seen.of.number < self.first {
            return None;
        }
        let result = Some((seen.answer.result, seen.answer.outcome));
        let allowed = match seen.answer.outcome {
            ToolOutcome::Ok => rules.nudge_after_success.max(rules.nudge_after),
            ToolOutcome::Exit | ToolOutcome::Tool | ToolOutcome::Refused => rules.nudge_after,
        };
        let allowed = u64::from(allowed.max(1));
        if self.result == result {
            self.same = self.same.saturating_add(1);
        } else {
            self.result = result;
            (self.same, self.refused) = (1, 0);
            self.nudge_at = allowed;
            return self.same_change(rules, seen);
        }
        if self.same < self.nudge_at {
            return None;
        }
        self.nudge_at = self.same.saturating_mul(2);
        self.nudged = true;
        Some(Detection {
            guard: GuardKind::Repetition,
            severity: Severity::Nudge,
            measured: self.same,
            allowed,
            seen: Seen::SameResults(self.same),
        })
    }
}
