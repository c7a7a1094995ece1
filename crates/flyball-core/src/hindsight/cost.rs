//! What steps cost: calls, tokens, and money where its amount is known.

use serde::{Deserialize, Serialize};

use crate::event::Spend;

/// Calls, tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Calls.
    pub calls: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Millionths of a US dollar, as far as they are known.
    pub micro_usd: u64,
    /// Tokens of which nobody knows the price.
    pub unpriced_tokens: u64,
}

impl Cost {
    /// What a model call used. Tokens without money have a price that nobody told.
    pub const fn of(spend: Spend) -> Self {
        let tokens = spend.input_tokens.saturating_add(spend.output_tokens);
        Self {
            calls: 0,
            input_tokens: spend.input_tokens,
            output_tokens: spend.output_tokens,
            micro_usd: spend.cost_micro_usd,
            unpriced_tokens: if spend.cost_micro_usd == 0 { tokens } else { 0 },
        }
    }

    /// All tokens.
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// The money, where any of it is known.
    pub fn known_micro_usd(&self) -> Option<u64> {
        (self.micro_usd > 0 || (self.unpriced_tokens == 0 && self.tokens() > 0))
            .then_some(self.micro_usd)
    }

    /// The sum of two.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            micro_usd: self.micro_usd.saturating_add(other.micro_usd),
            unpriced_tokens: self.unpriced_tokens.saturating_add(other.unpriced_tokens),
        }
    }

    /// What is left of it without another.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(other.calls),
            input_tokens: self.input_tokens.saturating_sub(other.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(other.output_tokens),
            micro_usd: self.micro_usd.saturating_sub(other.micro_usd),
            unpriced_tokens: self.unpriced_tokens.saturating_sub(other.unpriced_tokens),
        }
    }
}
