//! A6: silence.

use flyball_core::call::CallRing;
use flyball_core::{Millis, Moment};
use serde::Deserialize;

use super::vector::Vector;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    stall_after_ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    idle_ms: u64,
    elapsed_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    stalled: bool,
}

pub(crate) fn check(vector: &Vector) {
    let config: Config = vector.config();
    let input: Input = vector.input();
    let expect: Expect = vector.expect();
    let start = Moment::from_millis(1_000_000);
    let now = start.plus(Millis::new(input.elapsed_ms.unwrap_or(input.idle_ms)));
    let mut ring = CallRing::new();
    ring.life(start);
    ring.life(now.minus(Millis::new(input.idle_ms)));
    let stall = ring.stalled(now, Millis::new(config.stall_after_ms));
    vector.same(stall.is_some(), expect.stalled);
    if let Some(stall) = stall {
        assert!(stall.message.contains(&format!("stalled after {}ms", input.idle_ms)));
    }
}
