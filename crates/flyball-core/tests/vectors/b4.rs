//! B4: budgets.

use flyball_core::event::Spend;
use flyball_core::iteration::IterationRing;
use flyball_core::{Millis, Outcome, Policy};
use serde::Deserialize;

use super::vector::Vector;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    max_iterations: u32,
    max_tokens: u64,
    max_cost_usd: f64,
    max_runtime_ms: Millis,
    /// Dollars for a million tokens read, and written.
    usd_per_mtok: Option<(u64, u64)>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Used {
    iterations: u32,
    input: u64,
    output: u64,
    elapsed_ms: Millis,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    outcome: Option<Outcome>,
    exit: Option<u8>,
}

pub(crate) fn check(vector: &Vector) {
    let config: Config = vector.config();
    let used: Used = vector.input();
    let expect: Expect = vector.expect();
    let mut rules = Policy::default().into_rules();
    rules.limits.iterations = config.max_iterations;
    rules.limits.tokens = config.max_tokens;
    rules.limits.cost_usd = config.max_cost_usd;
    rules.limits.runtime = config.max_runtime_ms;
    let (read, written) = config.usd_per_mtok.unwrap_or_default();
    let mut ring = IterationRing::default();
    ring.meters.iterations = used.iterations;
    ring.meters.runtime = used.elapsed_ms;
    ring.meters.spend(Spend {
        input_tokens: used.input,
        output_tokens: used.output,
        // A dollar for a million tokens is a millionth of it for one.
        cost_micro_usd: used.input * read + used.output * written,
    });
    let safety = ring.may_start(&Policy::new(rules).unwrap());
    let outcome = safety.blocked_by().and_then(flyball_core::GuardKind::outcome);
    vector.same(outcome, expect.outcome);
    vector.same(safety.can_continue(), expect.outcome.is_none());
    if expect.exit.is_some() {
        vector.same(outcome.map(Outcome::exit_code), expect.exit);
    }
}
