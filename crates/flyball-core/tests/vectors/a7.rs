//! A7: large results.

use flyball_core::call::{CallRing, ToolOutcome, ToolResult, texts};
use flyball_core::{CallId, Policy};
use serde::Deserialize;

use super::vector::Vector;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    large_response: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    chars: usize,
    #[serde(default)]
    bytes_per_char: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    spilled: bool,
    preview_chars: Option<usize>,
}

pub(crate) fn check(vector: &Vector) {
    let config: Config = vector.config();
    let input: Input = vector.input();
    let expect: Expect = vector.expect();
    let mut rules = Policy::default().calls.clone();
    rules.large_response = config.large_response;
    let one = ["x", "ä", "€", "\u{1f600}"]
        .into_iter()
        .find(|c| c.len() == input.bytes_per_char.unwrap_or(1))
        .unwrap();
    let text = one.repeat(input.chars);
    let result = ToolResult::new(CallId::new("1"), ToolOutcome::Tool, &text);
    vector.same(CallRing::large(&rules, result.chars).is_some(), expect.spilled);
    if let Some(preview) = expect.preview_chars {
        let spilled = texts::spilled(&rules, &text, result.chars, "responses/1");
        let (_, shown) = spilled.rsplit_once('\n').unwrap();
        vector.same(shown.chars().count(), preview);
        assert!(spilled.contains(&input.chars.to_string()) && spilled.contains("responses/1"));
        let cut = texts::cut(&rules, &text);
        let (shown, note) = cut.rsplit_once('\n').unwrap();
        vector.same(shown.chars().count() as u64, config.large_response);
        assert!(note.contains("cut here"));
    }
}
