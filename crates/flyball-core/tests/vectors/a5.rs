//! A5: tools that fail.

use serde::Deserialize;

use super::session::{Config, Step, play};
use super::vector::Vector;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    halt: Option<String>,
    halt_at: Option<usize>,
}

pub(crate) fn check(vector: &Vector) {
    let steps: Vec<Step> = vector.input();
    let expect: Expect = vector.expect();
    let played = play(&vector.config::<Config>().rules(), &steps);
    let (halt, halt_at) = played.halt.unzip();
    vector.same(halt, expect.halt);
    vector.same(halt_at, expect.halt_at);
}
