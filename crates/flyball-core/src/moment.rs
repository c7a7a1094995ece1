//! Time as a number someone hands in: the core never reads a clock.

use core::fmt;

use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since the Unix epoch, as the shell's clock told it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Moment(u64);

impl Moment {
    /// The moment `millis` milliseconds after the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Time passed since `earlier`; zero when the clock went backwards.
    pub const fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }

    /// The moment `span` later.
    #[must_use]
    pub const fn plus(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The moment `span` earlier.
    #[must_use]
    pub const fn minus(self, span: Millis) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

/// A span of time in milliseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(u64);

impl Millis {
    /// No time at all; as a limit it means "none" where the rules say so.
    pub const ZERO: Self = Self(0);

    /// A span of `millis` milliseconds.
    pub const fn new(millis: u64) -> Self {
        Self(millis)
    }

    /// A span of whole seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1000))
    }

    /// The number of milliseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whether the span is empty.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum of two spans.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What is left of this span after `other`; zero when nothing is.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// As a person would say it: `4h 00m`, `3m 41s`, `12s`, `250ms`.
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secs = self.0 / 1000;
        match (secs / 3600, (secs / 60) % 60, secs % 60) {
            (0, 0, 0) => write!(f, "{}ms", self.0),
            (0, 0, s) => write!(f, "{s}s"),
            (0, m, s) => write!(f, "{m}m {s:02}s"),
            (h, m, _) => write!(f, "{h}h {m:02}m"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn spans_read_as_a_person_would_say_them() {
        let cases = [(250, "250ms"), (12_000, "12s"), (221_000, "3m 41s"), (14_400_000, "4h 00m")];
        for (millis, text) in cases {
            assert_eq!(Millis::new(millis).to_string(), text);
        }
    }

    #[test]
    fn a_clock_that_goes_backwards_measures_nothing() {
        assert_eq!(Moment::from_millis(5).since(Moment::from_millis(9)), Millis::ZERO);
    }
}
