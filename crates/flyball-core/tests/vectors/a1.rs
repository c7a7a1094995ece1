//! A1: what the same call and the same result are.

use flyball_core::call::{fingerprint_call, fingerprint_result};
use serde::Deserialize;
use serde_json::Value;

use super::vector::Vector;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    free_text_args: Vec<String>,
    /// The two are results, not arguments.
    results: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    same: bool,
}

pub(crate) fn check(vector: &Vector) {
    let config: Config = vector.config();
    let Expect { same } = vector.expect();
    let found = if config.results {
        let [one, two]: [String; 2] = vector.input();
        fingerprint_result(&one) == fingerprint_result(&two)
    } else {
        let [one, two]: [Value; 2] = vector.input();
        let of = |args: &Value| fingerprint_call("tool", args, &config.free_text_args);
        of(&one) == of(&two)
    };
    vector.same(found, same);
}
