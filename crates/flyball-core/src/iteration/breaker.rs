//! The circuit breaker (B6): failed iterations in a row, and what made them fail.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::guard::{GuardKind, Trip};
use crate::outcome::Outcome;
use crate::text;

/// What made an iteration fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The gates are red.
    #[default]
    RedGates,
    /// The session was halted by a guard of the call ring.
    Halted(Outcome),
    /// The agent died.
    Died,
}

impl FailureKind {
    /// So many of them, in words.
    fn words(self, number: u64) -> String {
        match self {
            Self::RedGates => format!("{} with red gates", text::count(number, "iteration")),
            Self::Halted(outcome) => {
                format!("{} halted{}", text::count(number, "session"), halted_for(outcome))
            }
            Self::Died if number == 1 => String::from("1 agent crash"),
            Self::Died => format!("{number} agent crashes"),
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only guards of the call ring halt a session")]
const fn halted_for(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::RepetitionLoop => " for repetition",
        Outcome::ValidationFailure => " for malformed output",
        Outcome::ConsecutiveFailures => " for failing tools",
        Outcome::Stalled => " for stalling",
        _ => "",
    }
}

/// Failed iterations in a row, by what made them fail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FailureStreak(Vec<(FailureKind, u32)>);

impl FailureStreak {
    pub(super) fn ended(&mut self) {
        self.0.clear();
    }

    pub(super) fn count(&mut self, kind: FailureKind) {
        match self.0.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => self.0.push((kind, 1)),
        }
    }

    pub(super) fn total(&self) -> u32 {
        self.0.iter().map(|(_, count)| *count).fold(0, u32::saturating_add)
    }

    /// The guard's word. What the failures were is said where they were not just red gates.
    pub(super) fn check(&self, threshold: u32) -> Option<Trip> {
        let failures = self.total();
        (failures >= threshold).then(|| {
            let mut text = format!(
                "Circuit breaker OPEN: {failures} consecutive validation failures \
                 (threshold: {threshold}). Manual intervention required."
            );
            if self.0.iter().any(|(kind, _)| *kind != FailureKind::RedGates) {
                let kinds: Vec<String> =
                    self.0.iter().map(|(kind, count)| kind.words((*count).into())).collect();
                text = format!("{text} ({})", kinds.join(", "));
            }
            Trip::new(GuardKind::CircuitBreaker, failures, threshold, text)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::prelude::rust_2024::*;

    use super::*;

    #[test]
    fn the_breaker_names_failures_that_were_no_red_gates() {
        let (red, died) = (FailureKind::RedGates, FailureKind::Died);
        let loops = FailureKind::Halted(Outcome::RepetitionLoop);
        let cases: &[(&[FailureKind], &str)] = &[
            (&[red, red, red], "Manual intervention required."),
            (&[loops, died, loops], "required. (2 sessions halted for repetition, 1 agent crash)"),
            (&[died, died, red], "required. (2 agent crashes, 1 iteration with red gates)"),
        ];
        for (kinds, end) in cases {
            let mut streak = FailureStreak::default();
            kinds.iter().for_each(|kind| streak.count(*kind));
            let trip = streak.check(3).unwrap();
            let begin = "Circuit breaker OPEN: 3 consecutive validation failures (threshold: 3). ";
            assert!(trip.evidence.starts_with(begin), "{}", trip.evidence);
            assert!(trip.evidence.ends_with(end), "{}", trip.evidence);
            streak.ended();
            assert_eq!(streak.check(1), None);
        }
    }
}
