//! The detectors of the call ring: each watches the calls and results of one sub-agent and says what
//! it finds. They never decide: the ring owns the ladder, the count of refusals and the texts.
//!
//! To add one:
//! 1. write `detect/<name>.rs` with a small, bounded, serialisable state that implements
//!    [`Detector`];
//! 2. give [`Detectors`] a field for it, with `#[serde(default)]` so that stored state still reads;
//! 3. add that field to [`Detectors`]' own methods, in the order in which they speak.
//!
//! The state of one sub-agent's detectors together takes less than 3 KB as JSON (`ring/tests.rs`
//! measures the whole).

mod account;
mod repetition;
mod words;

use serde::{Deserialize, Serialize};

use self::account::Account;
use self::repetition::Repetition;
use self::words::SameWords;
use super::{Fingerprint, ToolOutcome};
use crate::guard::GuardKind;
use crate::policy::CallRules;

/// Identity of a call, a result, a name or an id inside the ring's state: half a fingerprint.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub(super) struct Mark(u64);

impl Mark {
    /// Of a fingerprint.
    #[expect(clippy::cast_possible_truncation, reason = "half of it is enough to compare")]
    pub(super) const fn of(fingerprint: Fingerprint) -> Self {
        Self(fingerprint.bits() as u64)
    }

    /// Of a name.
    pub(super) fn of_text(text: &str) -> Self {
        Self::of(Fingerprint::of_text(text))
    }

    /// A quarter of a fingerprint, for tables that are searched and rarely hit.
    #[expect(clippy::cast_possible_truncation, reason = "a quarter is enough for a small table")]
    pub(super) const fn short(self) -> u32 {
        self.0 as u32
    }

    /// Of two together.
    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0.rotate_left(1) ^ other.0)
    }
}

/// A call that is about to run, or was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallSeen {
    /// Identity of the tool's name.
    pub(super) tool: Mark,
    /// Identity of the call.
    pub(super) call: Mark,
    /// Its number among this sub-agent's calls: one more than the call before.
    pub(super) number: u64,
    /// Whether it changes files.
    pub(super) mutating: bool,
}

/// What an earlier call came to. Results may come late and in any order; each comes once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResultSeen {
    /// The call it answers.
    pub(super) of: CallSeen,
    /// What was answered.
    pub(super) answer: Answered,
}

/// An answer, as the detectors see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answered {
    /// Identity of the result without its volatile parts.
    pub(super) result: Mark,
    /// Identity of the result as it stands.
    pub(super) raw: Mark,
    /// How it went.
    pub(super) outcome: ToolOutcome,
    /// Whether it says nothing: no output, or a bare acknowledgement.
    pub(super) empty: bool,
}

/// How far up the ladder a finding reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// The agent should be told.
    Nudge,
    /// The call should not run.
    Refuse,
    /// The session should end.
    Halt,
}

/// What was seen. The words for it are in `texts/seen.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Seen {
    /// Identical calls in a row, with the same result as far as they were answered.
    Streak(u64),
    /// Identical calls in a row, with results that change.
    Changing(u64),
    /// Identical calls in a row with the same result, all of them answered.
    SameResults(u64),
    /// A call that was answered the same way this often since anything changed.
    Answered(u64),
    /// The same calls round and round, this many to a lap.
    Lap(u64),
    /// Old calls with old answers for this many steps.
    Old(u64),
    /// The same change made again and again.
    SameChange(u64),
    /// The same answer to the same question across this many changes.
    Stale(u64),
    /// The same answer this often from one tool, whatever it was asked.
    Stagnant(u64),
    /// The same words-only turn this often in a row.
    SameWords(u64),
}

/// What a detector found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Detection {
    /// Which guard it is.
    pub(super) guard: GuardKind,
    /// How far up the ladder it reaches.
    pub(super) severity: Severity,
    /// What was measured.
    pub(super) measured: u64,
    /// What is allowed.
    pub(super) allowed: u64,
    /// What it is.
    pub(super) seen: Seen,
}

/// Something that looks for one way of going nowhere.
pub(super) trait Detector {
    /// What is to be said of this call before it runs; nothing is booked.
    fn judge(&self, rules: &CallRules, call: &CallSeen) -> Option<Detection>;

    /// The call was announced.
    fn book(&mut self, call: &CallSeen, allowed: Allowed);

    /// A call was answered.
    fn answered(&mut self, rules: &CallRules, result: &ResultSeen) -> Option<Detection>;
}

/// Whether an announced call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    Yes,
    No,
}

/// All detectors of one sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Detectors {
    #[serde(default)]
    repetition: Repetition,
    #[serde(default)]
    account: Account,
    #[serde(default, skip_serializing_if = "SameWords::is_default")]
    words: SameWords,
}

impl Detectors {
    /// What is to be said of this call before it runs; of equally severe findings the first counts.
    pub(super) fn judge(&self, rules: &CallRules, call: &CallSeen) -> Option<Detection> {
        let repetition = self.repetition.judge(rules, call);
        let account = rules.account.then(|| self.account.judge(rules, call)).flatten();
        stronger(repetition, account)
    }

    /// The call was announced.
    pub(super) fn book(&mut self, call: &CallSeen, allowed: Allowed) {
        self.repetition.book(call, allowed);
        self.account.book(call, allowed);
        self.words.ended();
    }

    /// A call was answered. The account is silent in a streak that was nudged for itself (A3). A
    /// call that was refused and ran all the same is counted in its streak already.
    pub(super) fn answered(
        &mut self,
        rules: &CallRules,
        result: &ResultSeen,
        allowed: Allowed,
    ) -> Option<Detection> {
        let repetition = match allowed {
            Allowed::Yes => self.repetition.answered(rules, result),
            Allowed::No => None,
        };
        let account = rules.account.then(|| self.account.answered(rules, result)).flatten();
        let nudged = self.repetition.was_nudged();
        let account = account.filter(|found| found.severity > Severity::Nudge || !nudged);
        stronger(repetition, account)
    }

    /// A call was never answered.
    pub(super) const fn unanswered(&mut self) {
        self.account.unanswered();
    }

    /// The model's turn held words and no call; these, where they are known.
    pub(super) fn only_spoke(
        &mut self,
        rules: &CallRules,
        words: Option<Mark>,
    ) -> Option<Detection> {
        self.account.only_spoke();
        let finding = self.words.said(words);
        finding.filter(|_| rules.account)
    }

    /// How many identical calls in a row were made last.
    pub(super) const fn streak(&self) -> u64 {
        self.repetition.streak()
    }

    /// How much speaks for going nowhere.
    pub(super) const fn balance(&self) -> u8 {
        self.account.balance()
    }
}

fn stronger(first: Option<Detection>, second: Option<Detection>) -> Option<Detection> {
    match (first, second) {
        (Some(first), Some(second)) if second.severity > first.severity => Some(second),
        (first, second) => first.or(second),
    }
}
