//! B6: a run that moves is not ended by the breaker, and one that does not is.

use std::prelude::rust_2024::*;
use std::vec;

use super::story::{Act, Story, passed, repeats, stories};
use crate::effect::IterationResult;
use crate::outcome::Outcome;

const FIVE: [&str; 5] = ["a", "b", "c", "d", "e"];

#[test]
fn five_stories_with_a_gate_that_is_red_until_the_last_complete() {
    let mut story = Story::new()
        .tasks(stories(&FIVE))
        .rules(|r| r.review.enabled = false)
        .gate(|tree| if tree == "5" { vec![] } else { vec!["all of it"] });
    let outcome = story.run(|n| {
        let done: Vec<&str> = FIVE.iter().take(n as usize).copied().collect();
        Act::commits(n).and_tasks(passed(&FIVE, &done))
    });
    assert_eq!(outcome, Outcome::Complete);
    let results: Vec<_> = story.reports.iter().map(|report| report.result).collect();
    assert_eq!(results[..4], [IterationResult::Improved; 4]);
}

/// With review each story is handed on before it passes: that moves the work too.
#[test]
fn a_story_handed_on_to_its_review_is_no_failure() {
    let review = |status: &str| {
        std::format!(
            r#"{{"userStories":[{{"id":"a","title":"a","passes":false,"notes":"n","reviewStatus":{status}}}]}}"#
        )
    };
    let mut story = Story::new()
        .tasks(review("null"))
        .rules(|r| r.iterations.circuit_breaker = 1)
        .gate(|tree| if tree == "start" { vec!["old"] } else { vec!["old", "new"] });
    story.run(|n| match n {
        1 => Act::commits("start2").and_tasks(review("\"needs_review\"")),
        _ => Act::idle(),
    });
    assert_eq!(story.reports[0].result, IterationResult::Improved);
    assert_eq!(story.ending().outcome, Outcome::CircuitBreaker, "an idle one is a failure");
    assert_eq!(story.iterations(), 2);
}

#[test]
fn one_failure_after_another_goes_on_and_going_back_does_not() {
    let mut story = Story::new()
        .tasks(stories(&["a"]))
        .rules(|r| (r.limits.iterations, r.iterations.thrashing) = (6, 90))
        .gate(|tree| match tree {
            "start" => vec!["zero"],
            "1" => vec!["one"],
            "2" => vec!["two"],
            "3" => vec!["three"],
            "4" => vec!["four"],
            "5" => vec!["five"],
            _ => vec!["six"],
        });
    assert_eq!(story.run(Act::commits), Outcome::MaxIterations);
    let mut story = Story::new()
        .tasks(stories(&["a"]))
        .gate(|tree| if tree.len() % 2 == 0 { vec!["one"] } else { vec!["two"] });
    let outcome = story.run(|n| Act::commits("x".repeat(n as usize)));
    assert_eq!(outcome, Outcome::CircuitBreaker);
    assert_eq!(story.iterations(), 4);
}

#[test]
fn an_iteration_that_breaks_a_green_gate_fails_whatever_story_it_passes() {
    let mut story = Story::new()
        .tasks(stories(&FIVE))
        .rules(|r| (r.review.enabled, r.iterations.circuit_breaker) = (false, 1))
        .gate(|tree| if tree == "start" { vec![] } else { vec!["broken"] });
    let outcome = story.run(|n| Act::commits(n).and_tasks(passed(&FIVE, &["a"])));
    assert_eq!((outcome, story.iterations()), (Outcome::CircuitBreaker, 1));
}

#[test]
fn a_halted_session_that_passed_a_story_is_no_failure() {
    let mut story = Story::new().tasks(stories(&FIVE)).rules(|r| {
        (r.review.enabled, r.iterations.circuit_breaker) = (false, 1);
        r.limits.iterations = 2;
    });
    story.start();
    let iteration = story.alive().unwrap();
    story.tasks = Some(passed(&FIVE, &["a"]));
    story.perform(iteration, Act { facts: repeats(20), ..Act::idle() });
    assert_eq!(story.reports[0].result, IterationResult::Halted(Outcome::RepetitionLoop));
    assert!(story.governor.is_running());
}

#[test]
fn the_breaker_says_what_the_failures_were() {
    let mut story = Story::new().tasks(stories(&["a"]));
    let outcome = story.run(|n| match n {
        2 => Act::dies(),
        _ => Act { facts: repeats(20), ..Act::idle() },
    });
    assert_eq!(outcome, Outcome::CircuitBreaker);
    let end = "Manual intervention required. (2 sessions halted for repetition, 1 agent crash)";
    assert!(story.ending().why.ends_with(end), "{}", story.ending().why);
}

#[test]
fn an_iteration_nothing_checked_has_not_passed() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.iterations = 1);
    story.run(Act::commits);
    assert_eq!(story.reports[0].result, IterationResult::Unchecked);
}
