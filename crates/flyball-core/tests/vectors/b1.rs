//! B1: claims.

use flyball_core::claim::{Claim, read_plain, read_structured};
use serde::Deserialize;

use super::vector::Vector;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    complete_verifies: bool,
    prompt: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    claim: Option<Claim>,
    #[serde(default)]
    validation_failure: bool,
}

pub(crate) fn check(vector: &Vector) {
    let config: Config = vector.config();
    let expect: Expect = vector.expect();
    let text: String = vector.input();
    let reading = match &config.prompt {
        Some(prompt) => read_plain(&text, prompt),
        None => read_structured(&text),
    };
    vector.same(reading.leading(config.complete_verifies), expect.claim);
    vector.same(!reading.failures.is_empty(), expect.validation_failure);
}
