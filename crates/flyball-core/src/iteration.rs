//! The iteration ring (B3–B9): what iterations came to, and whether the next one may start.
//!
//! An agent builder can use it alone: record what each iteration came to, then ask.
//!
//! ```
//! use flyball_core::iteration::{IterationRing, Validation};
//! use flyball_core::{GuardKind, IterationNo, Moment, Policy};
//!
//! let policy = Policy::default();
//! let mut ring = IterationRing::default();
//! for n in 1..=3 {
//!     ring.record(Validation::red(IterationNo::new(n), Moment::from_millis(n.into()), 0.0));
//! }
//! let safety = ring.may_start(&policy);
//! assert_eq!(safety.blocked_by(), Some(GuardKind::CircuitBreaker));
//! assert!(safety.message().unwrap().starts_with("Circuit breaker OPEN: 3 consecutive"));
//! ```

mod breaker;
mod budget;
mod progress;
mod regression;
mod stuck;
mod thrashing;

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use self::breaker::FailureKind;
use self::breaker::FailureStreak;
pub use self::budget::{Budget, Meters, budget_trip, micro_usd};
pub use self::progress::{Change, FindingSets};
pub use self::stuck::{Step, StuckMeter};
use self::thrashing::FileCounts;
pub use self::thrashing::files_in_message;
use crate::guard::{GuardKind, Trip};
use crate::id::IterationNo;
use crate::moment::Moment;
use crate::policy::Policy;

/// How many entries are kept; more than any window may ask for.
const HISTORY_MAX: usize = 64;

/// What one iteration came to (B5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Which iteration.
    pub iteration: IterationNo,
    /// When it was judged.
    pub at: Moment,
    /// Green, red, or red but better than before.
    pub verdict: IterationVerdict,
    /// What made it fail, where it did.
    #[serde(default)]
    pub failure: FailureKind,
    /// The gates' score; none when no gate ran.
    pub score: Option<f64>,
    /// Files named in findings or changed, without the loop folder.
    #[serde(default)]
    pub files: Vec<String>,
    /// The code tree.
    #[serde(default)]
    pub tree: String,
}

/// What an iteration means for the breaker (B6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IterationVerdict {
    /// It passed: the streak of failures ends.
    Passed,
    /// It failed: the streak grows.
    Failed,
    /// It did not pass, but it moved on and nothing turned red: neither.
    Improved,
    /// It says nothing about quality (lost in a crash).
    Unjudged,
}

impl Validation {
    /// A green iteration.
    pub fn green(iteration: IterationNo, at: Moment) -> Self {
        Self::of(IterationVerdict::Passed, iteration, at, 1.0)
    }

    /// A red iteration with this score.
    pub fn red(iteration: IterationNo, at: Moment, score: f64) -> Self {
        Self::of(IterationVerdict::Failed, iteration, at, score)
    }

    fn of(verdict: IterationVerdict, iteration: IterationNo, at: Moment, score: f64) -> Self {
        let (files, tree, failure) = (Vec::new(), String::new(), FailureKind::default());
        Self { iteration, at, verdict, failure, score: Some(score), files, tree }
    }

    /// Failed for this reason.
    #[must_use]
    pub fn because(mut self, failure: FailureKind) -> Self {
        self.failure = failure;
        self
    }

    /// What it came to, in a few words.
    pub fn words(&self) -> String {
        let words = match (self.verdict, self.failure) {
            (IterationVerdict::Passed, _) => String::from("passed"),
            (IterationVerdict::Improved, _) => String::from("moved on, not yet green"),
            (IterationVerdict::Unjudged, _) => String::from("lost in a crash"),
            (IterationVerdict::Failed, FailureKind::RedGates) => String::from("red"),
            (IterationVerdict::Failed, FailureKind::Halted(outcome)) => {
                format!("the session was halted ({outcome})")
            }
            (IterationVerdict::Failed, FailureKind::Died) => String::from("the agent died"),
        };
        match self.score {
            Some(score) => format!("{words}, score {score:.2}"),
            None => words,
        }
    }

    /// With the files it touched or was told about.
    #[must_use]
    pub fn touching(mut self, files: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.files = files.into_iter().map(Into::into).collect();
        self
    }
}

/// The iteration ring's state: bounded, serialisable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IterationRing {
    history: VecDeque<Validation>,
    failures: FailureStreak,
    /// The best score before the entries in `history`, the baseline's included.
    best_before: Option<f64>,
    best: Option<f64>,
    /// Scores before the oldest kept entry, for "better than the one before".
    score_before: Option<f64>,
    /// Where the best score was reached; iteration 0 is the baseline.
    best_at: Option<IterationNo>,
    files: FileCounts,
    refusals: u32,
    /// The sets of findings seen so far.
    pub findings: FindingSets,
    /// What has been used.
    pub meters: Meters,
}

impl IterationRing {
    /// A ring that begins with a score already reached: the baseline's.
    pub fn with_baseline(score: Option<f64>) -> Self {
        let best_at = score.map(|_| IterationNo::BASELINE);
        Self { best_before: score, best: score, best_at, ..Self::default() }
    }

    /// Records what an iteration came to.
    pub fn record(&mut self, validation: Validation) {
        match validation.verdict {
            IterationVerdict::Passed => self.failures.ended(),
            IterationVerdict::Failed => self.failures.count(validation.failure),
            IterationVerdict::Improved | IterationVerdict::Unjudged => {}
        }
        if let Some(score) = validation.score {
            let is_best = self.best.is_none_or(|best| score > best);
            if is_best {
                self.best = Some(score);
                self.best_at = Some(validation.iteration);
                self.files.begin_anew();
            }
            if score < 1.0 && validation.verdict != IterationVerdict::Passed {
                self.files.count(&validation.files);
            }
        }
        self.history.push_back(validation);
        if self.history.len() > HISTORY_MAX
            && let Some(gone) = self.history.pop_front()
            && gone.score.is_some()
        {
            self.best_before = max_score(self.best_before, gone.score);
            self.score_before = gone.score;
        }
    }

    /// A human wants it to go on: what was counted against it so far is forgiven, what was reached
    /// and used is not.
    pub fn forgive(&mut self) {
        self.failures.ended();
        self.files.begin_anew();
        self.refusals = 0;
        self.best_before = self.best;
        let last = self.history.iter().rev().find_map(|entry| entry.score);
        self.score_before = last.or(self.score_before);
        self.history.clear();
    }

    /// Counts a refused completion (B10).
    pub fn completion_refused(&mut self) {
        self.refusals = self.refusals.saturating_add(1);
    }

    /// Forgets refused completions: another task, or a pass.
    pub fn completion_streak_ended(&mut self) {
        self.refusals = 0;
    }

    /// Refused completions in a row.
    pub fn refusals(&self) -> u32 {
        self.refusals
    }

    /// Failed iterations in a row.
    pub fn failures(&self) -> u32 {
        self.failures.total()
    }

    /// The best score reached, the baseline's included.
    pub fn best(&self) -> Option<f64> {
        self.best
    }

    /// Where the best score was reached first; iteration 0 is the baseline.
    pub fn best_at(&self) -> Option<IterationNo> {
        self.best_at
    }

    /// Files in enough red iterations to be called thrashed, and how often each was.
    pub fn thrashed(&self, policy: &Policy) -> Vec<(&str, u32)> {
        self.files.at_least(policy.iterations.thrashing)
    }

    /// What iterations came to, oldest first, as far as kept.
    pub fn history(&self) -> impl Iterator<Item = &Validation> {
        self.history.iter()
    }

    /// Runs every safety check in the order of B9. The first trip wins, the others are also told.
    pub fn may_start(&self, policy: &Policy) -> Safety {
        let checks = [
            budget::iterations(&self.meters, &policy.limits),
            budget::tokens(&self.meters, &policy.limits),
            budget::cost(&self.meters, &policy.limits),
            budget::runtime(&self.meters, &policy.limits),
            self.failures.check(policy.iterations.circuit_breaker),
            self.regression(policy),
            self.files.check(policy.iterations.thrashing),
            self.gate_refusals(policy),
        ];
        let mut trips = checks.into_iter().flatten();
        Safety { trip: trips.next(), also: trips.collect() }
    }

    fn regression(&self, policy: &Policy) -> Option<Trip> {
        let scores: Vec<f64> = self.history.iter().filter_map(|entry| entry.score).collect();
        let window = policy.iterations.regression_window;
        let before = regression::Before { best: self.best_before, last: self.score_before };
        regression::declines(&scores, before, window).map(|declines| {
            let text = format!(
                "Quality regression detected: Validation scores declined {declines} consecutive \
                 times. Consider changing approach."
            );
            Trip::new(GuardKind::QualityRegression, declines, window.saturating_sub(1), text)
        })
    }

    fn gate_refusals(&self, policy: &Policy) -> Option<Trip> {
        let (refusals, limit) = (self.refusals, policy.iterations.gate_refusals);
        (refusals >= limit).then(|| {
            let text = format!(
                "Completion was claimed and refused {refusals} times in a row for the same task \
                 (limit: {limit})."
            );
            Trip::new(GuardKind::GateRefusals, refusals, limit, text)
        })
    }
}

fn max_score(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b > a { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// Whether the next iteration may start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Safety {
    /// What says no, when something does.
    pub trip: Option<Trip>,
    /// What would have said no too.
    pub also: Vec<Trip>,
}

impl Safety {
    /// Whether it may.
    pub fn can_continue(&self) -> bool {
        self.trip.is_none()
    }

    /// The guard that says no.
    pub fn blocked_by(&self) -> Option<GuardKind> {
        self.trip.as_ref().map(|trip| trip.guard)
    }

    /// Why not, in words.
    pub fn message(&self) -> Option<&str> {
        self.trip.as_ref().map(|trip| trip.evidence.as_str())
    }
}

#[cfg(test)]
mod tests;
