//! A history of iterations, for the checks that look at one.

use flyball_core::iteration::{IterationRing, Safety, Validation};
use flyball_core::policy::Rules;
use flyball_core::{IterationNo, Moment, Policy, Trip};

/// The defaults, changed.
pub(crate) fn policy(change: impl FnOnce(&mut Rules)) -> Policy {
    let mut rules = Policy::default().into_rules();
    change(&mut rules);
    Policy::new(rules).unwrap()
}

/// A ring that has seen these scores; 1 is green.
pub(crate) fn ring_of(scores: impl IntoIterator<Item = f64>) -> IterationRing {
    let mut ring = IterationRing::default();
    for (number, score) in (1..).zip(scores) {
        let (no, at) = (IterationNo::new(number), Moment::from_millis(number.into()));
        ring.record(if score < 1.0 {
            Validation::red(no, at, score)
        } else {
            Validation::green(no, at)
        });
    }
    ring
}

/// Everything that tripped, the leading one first.
pub(crate) fn all(safety: Safety) -> Vec<Trip> {
    safety.trip.into_iter().chain(safety.also).collect()
}
