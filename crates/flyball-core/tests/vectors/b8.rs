//! B8: thrashing.

use flyball_core::iteration::{IterationRing, Validation, files_in_message};
use flyball_core::{GuardKind, IterationNo, Moment};
use serde::Deserialize;

use super::history::{all, policy};
use super::vector::Vector;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    threshold: u32,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Input {
    /// The messages of red iterations.
    Messages(Vec<Vec<String>>),
    Iterations {
        iterations: Vec<Iteration>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Iteration {
    passed: bool,
    #[serde(default)]
    score: f64,
    changed: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expect {
    thrashing: Option<Vec<String>>,
    message: Option<String>,
    message_ends: Option<String>,
}

pub(crate) fn check(vector: &Vector) {
    let config: Config = vector.config();
    let expect: Expect = vector.expect();
    let mut ring = IterationRing::default();
    for (number, iteration) in (1..).zip(iterations(vector.input())) {
        let (no, at) = (IterationNo::new(number), Moment::from_millis(number.into()));
        let validation = if iteration.passed {
            Validation::green(no, at)
        } else {
            Validation::red(no, at, iteration.score)
        };
        ring.record(validation.touching(iteration.changed));
    }
    let trips = all(ring.may_start(&policy(|rules| rules.iterations.thrashing = config.threshold)));
    let trip = trips.into_iter().find(|trip| trip.guard == GuardKind::Thrashing);
    let text = trip.map(|trip| trip.evidence);
    if let Some(files) = expect.thrashing {
        let named = text.as_deref().and_then(|text| text.rsplit_once("without progress: "));
        let named: Vec<&str> = named.map_or(vec![], |(_, files)| files.split(", ").collect());
        vector.same(named, files.iter().map(String::as_str).collect());
    }
    if expect.message.is_some() {
        vector.same(text.clone(), expect.message);
    }
    if let Some(end) = expect.message_ends {
        assert!(text.as_ref().is_some_and(|text| text.ends_with(&end)), "{}: {text:?}", vector.id);
    }
}

fn iterations(input: Input) -> Vec<Iteration> {
    let red = |messages: Vec<String>| {
        let files = messages.iter().flat_map(|message| files_in_message(message));
        let changed = files.map(String::from).collect();
        Iteration { passed: false, score: 0.0, changed }
    };
    match input {
        Input::Messages(messages) => messages.into_iter().map(red).collect(),
        Input::Iterations { iterations } => iterations,
    }
}
