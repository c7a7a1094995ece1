//! What a halt kept from being spent: at least the next iteration, at most what the limits left.

use flyball_core::effect::Ending;
use flyball_core::{GuardKind, Policy};
use serde::Serialize;

use crate::replay::Amount;
use crate::view::RunView;

/// How many closed iterations say what the next one would have cost.
const LAST: usize = 3;

/// A run that a guard ended, and nobody took up again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Halt {
    /// The guard that ended it.
    pub guard: GuardKind,
    /// Guards that would have, too.
    pub also: Vec<GuardKind>,
    /// What it measured.
    pub measured: u64,
    /// What the next iteration would have used.
    pub next: Amount,
    /// Iterations its limits left; none where nothing limited it.
    pub left: Option<u64>,
    /// Not spent at least: the next iteration would have begun.
    pub at_least: Amount,
    /// Not spent at most: all that its limits left; none where nothing limited it.
    pub at_most: Option<Amount>,
}

impl Halt {
    /// The halt of a run; none where it ended otherwise.
    pub(super) fn of(run: &RunView) -> Option<Self> {
        let ending = run.run.ending.as_ref().filter(|ending| ending.outcome.is_guard())?;
        let trip = ending.trip.as_ref()?;
        let guard = trip.guard;
        let next = next_iteration(run);
        let left = left(&run.policy, ending, next);
        let at_least = if left == Some(0) { Amount::default() } else { next };
        Some(Self {
            guard,
            also: ending.also.iter().map(|trip| trip.guard).collect(),
            measured: trip.measured,
            next,
            left,
            at_least,
            at_most: left.map(|left| next.times(left)),
        })
    }
}

impl Halt {
    /// Not spent as likely as not: what runs that stood the same way and were not halted went on to
    /// do, in the middle. Bounded by what the limits left.
    pub(super) fn likely(&self, further: &[u64]) -> Option<Amount> {
        let mut further = further.to_vec();
        further.sort_unstable();
        let middle = further.get(further.len().saturating_sub(1) / 2)?;
        let count = self.left.map_or(*middle, |left| left.min(*middle));
        Some(self.next.times(count))
    }
}

/// What the next iteration would have used: the middle of the last three.
fn next_iteration(run: &RunView) -> Amount {
    let closed = run.iterations.iter().filter(|one| one.result.is_some());
    let last: Vec<Amount> = closed.rev().take(LAST).map(Amount::of).collect();
    let middle = |of: fn(&Amount) -> u64| {
        let mut values: Vec<u64> = last.iter().map(of).collect();
        values.sort_unstable();
        values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
    };
    Amount {
        micro_usd: middle(|one| one.micro_usd),
        tokens: middle(|one| one.tokens),
        ms: middle(|one| one.ms),
    }
}

/// How many more iterations the limits allowed.
fn left(policy: &Policy, ending: &Ending, next: Amount) -> Option<u64> {
    let (limits, tally) = (&policy.limits, ending.tally);
    let room = |limit: u64, used: u64, each: u64| {
        (limit > 0 && each > 0).then(|| limit.saturating_sub(used) / each)
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of money")]
    let money = (limits.cost_usd.max(0.0) * 1e6) as u64;
    [
        room(u64::from(limits.iterations), u64::from(tally.iterations), 1),
        room(money, tally.cost_micro_usd, next.micro_usd),
        room(limits.tokens, tally.tokens, next.tokens),
        room(limits.runtime.get(), tally.runtime_ms, next.ms),
    ]
    .into_iter()
    .flatten()
    .min()
}
