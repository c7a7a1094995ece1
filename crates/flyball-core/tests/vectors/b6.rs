//! B6: the circuit breaker.

use flyball_core::GuardKind;
use serde::Deserialize;

use super::history::{all, policy, ring_of};
use super::vector::Vector;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    threshold: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    open: bool,
    failures: u32,
    message: Option<String>,
}

pub(crate) fn check(vector: &Vector) {
    let config: Config = vector.config();
    let passed: Vec<bool> = vector.input();
    let expect: Expect = vector.expect();
    let ring = ring_of(passed.into_iter().map(|passed| if passed { 1.0 } else { 0.0 }));
    vector.same(ring.failures(), expect.failures);
    let policy = policy(|rules| rules.iterations.circuit_breaker = config.threshold);
    let trips = all(ring.may_start(&policy));
    let trip = trips.into_iter().find(|trip| trip.guard == GuardKind::CircuitBreaker);
    vector.same(trip.is_some(), expect.open);
    if expect.message.is_some() {
        vector.same(trip.map(|trip| trip.evidence), expect.message);
    }
}
