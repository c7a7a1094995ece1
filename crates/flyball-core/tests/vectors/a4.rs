//! A4: validation failures.

use flyball_core::Moment;
use flyball_core::call::{CallRing, ValidationFailure, ValidationKind};
use serde::Deserialize;

use super::session::{Config, Step, play};
use super::vector::Vector;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expect {
    halt: Option<String>,
    halt_at: Option<usize>,
    total: Option<u64>,
    all_count: bool,
}

pub(crate) fn check(vector: &Vector) {
    let expect: Expect = vector.expect();
    if expect.all_count {
        return kinds(vector);
    }
    let steps: Vec<Step> = vector.input();
    let played = play(&vector.config::<Config>().rules(), &steps);
    let (halt, halt_at) = played.halt.unzip();
    vector.same(halt, expect.halt);
    vector.same(halt_at, expect.halt_at);
    if let Some(total) = expect.total {
        vector.same(played.ring.status().validation_failures, total);
    }
}

fn kinds(vector: &Vector) {
    let rules = vector.config::<Config>().rules();
    let mut ring = CallRing::new();
    let kinds: Vec<ValidationKind> = vector.input();
    for (count, kind) in (1..).zip(kinds) {
        let failure = ValidationFailure::new(kind, "a", "b", "c");
        ring.invalid(&rules, Moment::default(), &failure);
        vector.same(ring.status().validation_failures, count);
    }
}
