//! Budgets (B4): what has been used, and whether that is all there was.

use alloc::format;

use serde::{Deserialize, Serialize};

use crate::event::Spend;
use crate::guard::{GuardKind, Trip};
use crate::moment::{Millis, Moment};
use crate::policy::LimitRules;

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

/// Budgets for a loop of one's own, without a run around it: the limits, what was used, and a clock.
/// Time runs from its making; 0 means no limit.
///
/// ```
/// use flyball_core::event::Spend;
/// use flyball_core::iteration::Budget;
/// use flyball_core::policy::{LimitRules, Policy};
/// use flyball_core::{Moment, Outcome};
///
/// let limits = LimitRules { tokens: 1_000, ..Policy::default().limits.clone() };
/// let mut budget = Budget::new(limits, || Moment::from_millis(0));
/// assert!(budget.used_up().is_none());
/// budget.spend(Spend { input_tokens: 900, output_tokens: 100, cost_micro_usd: 0 });
/// let trip = budget.used_up().unwrap();
/// assert_eq!(trip.guard.outcome(), Some(Outcome::MaxTokens));
/// ```
#[derive(Clone, Debug)]
pub struct Budget<C> {
    limits: LimitRules,
    meters: Meters,
    clock: C,
    /// Until when the runtime is counted.
    counted: Moment,
}

impl<C: FnMut() -> Moment> Budget<C> {
    /// A budget of which nothing is used.
    pub fn new(limits: LimitRules, clock: C) -> Self {
        Self::with_meters(limits, Meters::default(), clock)
    }

    /// A budget of which a part was used before: meters that were stored.
    pub fn with_meters(limits: LimitRules, meters: Meters, mut clock: C) -> Self {
        let counted = clock();
        Self { limits, meters, clock, counted }
    }

    /// Tokens and money were used.
    pub fn spend(&mut self, spend: Spend) {
        self.meters.spend(spend);
    }

    /// An iteration is over.
    pub fn iterated(&mut self) {
        self.meters.iterations = self.meters.iterations.saturating_add(1);
    }

    /// The time since the last question was spent waiting, for a usage limit or a human: it does not
    /// count as runtime.
    pub fn waited(&mut self) {
        self.counted = (self.clock)();
    }

    /// What is used up in the middle of an iteration: tokens, cost or runtime, in this order.
    pub fn used_up(&mut self) -> Option<Trip> {
        self.count_time();
        budget_trip(&self.meters, &self.limits)
    }

    /// What is used up before another iteration: iterations, then as [`Budget::used_up`].
    pub fn used_up_before_next(&mut self) -> Option<Trip> {
        self.count_time();
        iterations(&self.meters, &self.limits).or_else(|| budget_trip(&self.meters, &self.limits))
    }

    /// What has been used, to be stored or shown.
    pub const fn meters(&self) -> &Meters {
        &self.meters
    }

    fn count_time(&mut self) {
        let now = (self.clock)();
        self.meters.runtime = self.meters.runtime.plus(now.since(self.counted));
        self.counted = now;
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
pub fn budget_trip(meters: &Meters, limits: &LimitRules) -> Option<Trip> {
    tokens(meters, limits).or_else(|| cost(meters, limits)).or_else(|| runtime(meters, limits))
}

pub(super) fn iterations(meters: &Meters, limits: &LimitRules) -> Option<Trip> {
    let max = limits.iterations;
    (max > 0 && meters.iterations >= max).then(|| {
        let next = meters.iterations.saturating_add(1);
        let text = format!("Iteration {next} exceeds maximum of {max}.");
        Trip::new(GuardKind::MaxIterations, next, max, text)
    })
}

pub(super) fn tokens(meters: &Meters, limits: &LimitRules) -> Option<Trip> {
    let (used, max) = (meters.tokens, limits.tokens);
    (max > 0 && used >= max).then(|| {
        Trip::new(GuardKind::MaxTokens, used, max, format!("{used} tokens used of {max} allowed"))
    })
}

pub(super) fn cost(meters: &Meters, limits: &LimitRules) -> Option<Trip> {
    let (used, max) = (meters.cost_micro_usd, micro_usd(limits.cost_usd));
    (max > 0 && used >= max).then(|| {
        let text = format!("{} used of {} allowed", dollars(used), dollars(max));
        Trip::new(GuardKind::MaxCost, used, max, text)
    })
}

pub(super) fn runtime(meters: &Meters, limits: &LimitRules) -> Option<Trip> {
    let (used, max) = (meters.runtime, limits.runtime);
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

    fn limits() -> LimitRules {
        LimitRules {
            iterations: 2,
            runtime: Millis::new(100),
            tokens: 0,
            cost_usd: 0.5,
            ..crate::Policy::default().limits.clone()
        }
    }

    #[test]
    fn a_budget_of_ones_own_counts_iterations_money_and_time() {
        let now = core::cell::Cell::new(1_000);
        let mut budget = Budget::new(limits(), || Moment::from_millis(now.get()));
        let guard = |trip: Option<Trip>| trip.map(|trip| trip.guard);
        assert_eq!(guard(budget.used_up_before_next()), None);
        budget.iterated();
        budget.iterated();
        // Iterations end no iteration that is under way.
        assert_eq!(guard(budget.used_up()), None);
        assert_eq!(guard(budget.used_up_before_next()), Some(GuardKind::MaxIterations));
        now.set(1_099);
        assert_eq!(guard(budget.used_up()), None);
        // A wait is no runtime.
        now.set(9_000);
        budget.waited();
        assert_eq!(guard(budget.used_up()), None);
        now.set(9_001);
        assert_eq!(guard(budget.used_up()), Some(GuardKind::MaxRuntime));
        let half = Spend { input_tokens: 9, output_tokens: 9, cost_micro_usd: 500_000 };
        budget.spend(half);
        assert_eq!(guard(budget.used_up()), Some(GuardKind::MaxCost));
        assert_eq!((budget.meters().tokens, budget.meters().runtime), (18, Millis::new(100)));
    }

    #[test]
    fn a_stored_budget_goes_on_where_it_was() {
        let meters = Meters { iterations: 2, ..Meters::default() };
        let mut budget = Budget::with_meters(limits(), meters, || Moment::from_millis(5));
        assert!(budget.used_up_before_next().is_some());
    }

    #[test]
    fn nonsense_money_is_nothing() {
        for usd in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(micro_usd(usd), 0);
        }
        assert_eq!(micro_usd(0.1 + 0.2), 300_000);
    }
}
