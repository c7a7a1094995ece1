//! What is spent: money, tokens and time together.

use flyball_core::effect::Tally;
use serde::Serialize;

use crate::view::IterationView;

/// Money, tokens and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// Millionths of a US dollar.
    pub micro_usd: u64,
    /// Tokens.
    pub tokens: u64,
    /// Milliseconds.
    pub ms: u64,
}

impl Amount {
    /// What an iteration used.
    pub fn of(one: &IterationView) -> Self {
        Self { micro_usd: one.cost_micro_usd, tokens: one.tokens, ms: one.duration().get() }
    }

    /// What a run has used.
    pub const fn of_run(tally: &Tally) -> Self {
        Self { micro_usd: tally.cost_micro_usd, tokens: tally.tokens, ms: tally.runtime_ms }
    }

    /// The sum of two.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            micro_usd: self.micro_usd.saturating_add(other.micro_usd),
            tokens: self.tokens.saturating_add(other.tokens),
            ms: self.ms.saturating_add(other.ms),
        }
    }

    /// What is left of it without another.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self {
            micro_usd: self.micro_usd.saturating_sub(other.micro_usd),
            tokens: self.tokens.saturating_sub(other.tokens),
            ms: self.ms.saturating_sub(other.ms),
        }
    }

    /// So many times.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self {
            micro_usd: self.micro_usd.saturating_mul(count),
            tokens: self.tokens.saturating_mul(count),
            ms: self.ms.saturating_mul(count),
        }
    }
}
