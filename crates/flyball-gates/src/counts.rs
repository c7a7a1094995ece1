//! How many tests there were.

use serde::{Deserialize, Serialize};

/// Tests (or checks) counted by a gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// How many passed.
    pub passed: u64,
    /// How many failed.
    pub failed: u64,
    /// How many were skipped.
    pub skipped: u64,
}

impl Counts {
    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            passed: self.passed.saturating_add(other.passed),
            failed: self.failed.saturating_add(other.failed),
            skipped: self.skipped.saturating_add(other.skipped),
        }
    }

    /// So many times as many.
    #[cfg(feature = "read")]
    pub(crate) const fn times(self, times: u64) -> Self {
        Self {
            passed: self.passed.saturating_mul(times),
            failed: self.failed.saturating_mul(times),
            skipped: self.skipped.saturating_mul(times),
        }
    }

    /// Passed, failed and skipped.
    pub const fn total(self) -> u64 {
        self.ran().saturating_add(self.skipped)
    }

    /// Passed and failed.
    pub const fn ran(self) -> u64 {
        self.passed.saturating_add(self.failed)
    }
}
