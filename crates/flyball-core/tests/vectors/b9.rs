//! B9: the order of the checks before an iteration.

use flyball_core::GuardKind;
use serde::Deserialize;

use super::history::{policy, ring_of};
use super::vector::Vector;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    max_iterations: u32,
    threshold: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    next: u32,
    #[serde(default)]
    history: Vec<bool>,
    #[serde(default)]
    scores: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    blocked_by: GuardKind,
    message: Option<String>,
    also: Option<Vec<GuardKind>>,
}

pub(crate) fn check(vector: &Vector) {
    let config: Config = vector.config();
    let input: Input = vector.input();
    let expect: Expect = vector.expect();
    let passed = input.history.into_iter().map(|passed| if passed { 1.0 } else { 0.0 });
    let mut ring = ring_of(passed.chain(input.scores));
    ring.meters.iterations = input.next - 1;
    let safety = ring.may_start(&policy(|rules| {
        rules.limits.iterations = config.max_iterations;
        rules.iterations.circuit_breaker = config.threshold;
    }));
    vector.same(safety.blocked_by(), Some(expect.blocked_by));
    if let Some(message) = expect.message {
        vector.same(safety.message(), Some(message.as_str()));
    }
    if let Some(also) = expect.also {
        vector.same(safety.also.iter().map(|trip| trip.guard).collect(), also);
    }
}
