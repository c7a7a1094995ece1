//! Budgets (B4): what has been used, and whether that is all there was.

use alloc::format;

use serde::{Deserialize, Serialize};

use crate::event::Spend;
use crate::guard::{GuardKind, Trip};
use crate::moment::Millis;
use crate::policy::Policy;

/// What a run has used so far. Belongs to the run: a resume does not reset it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meters {
    /// Iterations finished or lost.
    pub iterations: u32,
    /// Tokens, input and output together.
    pub tokens: u64,
    /// Money in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// Time alive and not waiting.
    pub runtime: Millis,
}

impl Meters {
    /// Adds what was just used.
    pub fn spend(&mut self, spend: Spend) {
        let Spend { input_tokens, output_tokens, cost_micro_usd } = spend;
        self.tokens = self.tokens.saturating_add(input_tokens).saturating_add(output_tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(cost_micro_usd);
    }
}

/// Dollars as millionths, rounded to the nearest; nonsense is nothing.
pub fn micro_usd(usd: f64) -> u64 {
    if !usd.is_finite() || usd <= 0.0 {
        return 0;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and finite; a float cast saturates"
    )]
    let micro = (usd * 1_000_000.0 + 0.5) as u64;
    micro
}

/// What is used up in mid-iteration: tokens, cost or runtime, in this order.
pub fn budget_trip(meters: &Meters, policy: &Policy) -> Option<Trip> {
    tokens(meters, policy).or_else(|| cost(meters, policy)).or_else(|| runtime(meters, policy))
}

pub(super) fn iterations(meters: &Meters, policy: &Policy) -> Option<Trip> {
    let max = policy.limits.iterations;
    (max > 0 && meters.iterations >= max).then(|| {
        let next = meters.iterations.saturating_add(1);
        let text = format!("Iteration {next} exceeds maximum of {max}.");
        Trip::new(GuardKind::MaxIterations, next, max, text)
    })
}

pub(super) fn tokens(meters: &Meters, policy: &Policy) -> Option<Trip> {
    let (used, max) = (meters.tokens, policy.limits.tokens);
    (max > 0 && used >= max).then(|| {
        Trip::new(GuardKind::MaxTokens, used, max, format!("{used} tokens used of {max} allowed"))
    })
}

pub(super) fn cost(meters: &Meters, policy: &Policy) -> Option<Trip> {
    let (used, max) = (meters.cost_micro_usd, micro_usd(policy.limits.cost_usd));
    (max > 0 && used >= max).then(|| {
        let text = format!("{} used of {} allowed", dollars(used), dollars(max));
        Trip::new(GuardKind::MaxCost, used, max, text)
    })
}

pub(super) fn runtime(meters: &Meters, policy: &Policy) -> Option<Trip> {
    let (used, max) = (meters.runtime, policy.limits.runtime);
    (!max.is_zero() && used >= max).then(|| {
        let text = format!("{used} used of {max} allowed");
        Trip::new(GuardKind::MaxRuntime, used.get(), max.get(), text)
    })
}

fn dollars(micro: u64) -> alloc::string::String {
    // Two places are enough for people, four where two would say nothing.
    let cents = micro / 10_000;
    if cents == 0 && micro > 0 {
        return format!("$0.{:04}", micro / 100);
    }
    format!("${}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_reads_as_money() {
        let cases = [(5_000_000, "$5.00"), (380_000, "$0.38"), (6_400, "$0.0064"), (0, "$0.00")];
        for (micro, text) in cases {
            assert_eq!(dollars(micro), text);
        }
    }

    #[test]
    fn nonsense_money_is_nothing() {
        for usd in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(micro_usd(usd), 0);
        }
        assert_eq!(micro_usd(0.1 + 0.2), 300_000);
    }
}
