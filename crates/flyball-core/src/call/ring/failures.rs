//! Tools that fail (A5): how many in a row, and whether that says anything.

use alloc::vec::Vec;

use serde::de::Deserializer;
use serde::{Deserialize, Serialize, Serializer};

use crate::call::detect::Mark;
use crate::call::packed;

/// Calls that are remembered as made.
const MAX_MADE: usize = 64;

/// Failed calls in a row and in all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failures {
    streak: u32,
    total: u64,
    /// What the latest failure of the streak said.
    error: Option<Mark>,
    made: Made,
}

/// A round of calls of which every one that ran has failed.
pub(super) struct FailedRound {
    /// Whether none of them was ever made before.
    pub(super) is_first: bool,
    /// What the first and the last of them said.
    pub(super) errors: [Mark; 2],
}

impl Failures {
    /// A call is made: whether for the first time, as far as is remembered.
    pub(super) fn made(&mut self, call: Mark) -> bool {
        self.made.add(call.short())
    }

    /// A call ran and failed; whether that says anything is seen when its round is complete.
    pub(super) const fn count(&mut self) {
        self.total = self.total.saturating_add(1);
    }

    /// A call ran and did not fail.
    pub(super) const fn succeeded(&mut self) {
        self.streak = 0;
        self.error = None;
    }

    /// A round failed: how many in a row that makes. One that was never tried before begins anew,
    /// unless it says what the failure before it said.
    pub(super) fn failed(&mut self, round: &FailedRound) -> u32 {
        let [first, last] = round.errors;
        let is_same = self.error.is_some_and(|error| error == first || error == last);
        self.streak = if round.is_first && !is_same { 1 } else { self.streak.saturating_add(1) };
        self.error = Some(last);
        self.streak
    }

    /// Failures in a row.
    pub(super) const fn streak(&self) -> u32 {
        self.streak
    }

    /// Failures in all.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }
}

/// The calls made last, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Made(Vec<u32>);

impl Made {
    /// Adds a call; whether it was not there.
    fn add(&mut self, call: u32) -> bool {
        let found = self.0.iter().rposition(|other| *other == call);
        if let Some(at) = found {
            self.0.remove(at);
        } else if self.0.len() >= MAX_MADE {
            self.0.remove(0);
        }
        self.0.push(call);
        found.is_none()
    }
}

impl Serialize for Made {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        packed::serialize(self.0.iter().map(|call| call.to_le_bytes()), serializer)
    }
}

impl<'de> Deserialize<'de> for Made {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let made = packed::deserialize(deserializer)?;
        Ok(Self(made.into_iter().take(MAX_MADE).map(u32::from_le_bytes).collect()))
    }
}
