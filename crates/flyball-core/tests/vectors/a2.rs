//! A2: the repetition ladder.

use serde::Deserialize;

use super::session::{Config, Step, name, play};
use super::vector::Vector;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expect {
    verdicts: Option<Vec<String>>,
    refused_at: Option<Vec<usize>>,
    halt: Option<String>,
    halt_at: Option<usize>,
    message_contains: Vec<String>,
}

pub(crate) fn check(vector: &Vector) {
    let steps: Vec<Step> = vector.input();
    let expect: Expect = vector.expect();
    let played = play(&vector.config::<Config>().rules(), &steps);
    if let Some(verdicts) = expect.verdicts {
        vector.same(played.rungs.iter().map(name).collect(), verdicts);
    }
    if let Some(refused_at) = expect.refused_at {
        vector.same(played.refused_at, refused_at);
    }
    let (halt, halt_at) = played.halt.unzip();
    vector.same(halt, expect.halt);
    vector.same(halt_at, expect.halt_at);
    for part in expect.message_contains {
        let found = played.messages.iter().any(|message| message.contains(&part));
        assert!(found, "{}: {part:?} in {:?}", vector.id, played.messages);
    }
}
