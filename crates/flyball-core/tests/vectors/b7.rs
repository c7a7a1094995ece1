//! B7: quality regression.

use flyball_core::GuardKind;
use serde::Deserialize;

use super::history::{all, policy, ring_of};
use super::vector::Vector;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    regression: bool,
    declines: Option<u64>,
}

pub(crate) fn check(vector: &Vector) {
    let Config {} = vector.config();
    let scores: Vec<f64> = vector.input();
    let expect: Expect = vector.expect();
    let trips = all(ring_of(scores).may_start(&policy(|_| {})));
    let trip = trips.into_iter().find(|trip| trip.guard == GuardKind::QualityRegression);
    vector.same(trip.is_some(), expect.regression);
    vector.same(trip.as_ref().map(|trip| trip.measured), expect.declines);
    if let (Some(trip), Some(declines)) = (trip, expect.declines) {
        let text = format!(
            "Quality regression detected: Validation scores declined {declines} consecutive times. \
             Consider changing approach."
        );
        vector.same(trip.evidence, text);
    }
}
