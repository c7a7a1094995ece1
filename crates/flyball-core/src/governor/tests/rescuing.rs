//! The redirect rung: another agent takes one iteration before a guard ends the run.

use std::prelude::rust_2024::*;
use std::vec;

use super::story::{Act, Story, stories};
use crate::effect::{Effect, IterationResult, Notice};
use crate::event::AgentFact;
use crate::guard::{GuardKind, Rung};
use crate::outcome::Outcome;

fn rescued(mut story: Story) -> Story {
    story.rescue = Some(1);
    story
}

fn agents(story: &Story) -> Vec<u32> {
    let starts = story.effects.iter().filter_map(|effect| {
        let Effect::StartAgent { agent, .. } = effect else { return None };
        Some(*agent)
    });
    starts.collect()
}

#[test]
fn every_guard_that_judges_the_work_calls_for_help_once_per_task() {
    type Case = (&'static str, fn() -> Story, fn(u32) -> Act, Outcome, &'static [u32]);
    let cases: [Case; 4] = [
        (
            "breaker",
            || Story::new().tasks(stories(&["a"])),
            |_| Act::dies(),
            Outcome::CircuitBreaker,
            &[0, 0, 0, 1],
        ),
        (
            "stuck",
            || Story::new().tasks(stories(&["a"])),
            |_| Act::idle(),
            Outcome::Stuck,
            &[0, 0, 0, 1],
        ),
        (
            "regression",
            || {
                Story::new()
                    .tasks(stories(&["a"]))
                    .rules(|r| r.iterations.circuit_breaker = 20)
                    .gate(|tree| match tree {
                        "start" => vec![],
                        "1" => vec!["a"],
                        "2" => vec!["a", "b"],
                        "3" => vec!["a", "b", "c"],
                        _ => vec!["a", "b", "c", "d"],
                    })
            },
            Act::commits,
            Outcome::QualityRegression,
            &[0, 0, 0, 1],
        ),
        (
            "thrashing",
            || {
                Story::new()
                    .tasks(stories(&["a"]))
                    .rules(|r| {
                        (r.iterations.circuit_breaker, r.iterations.regression_window) = (20, 20);
                    })
                    .gate(|_| vec!["a"])
            },
            Act::commits,
            Outcome::Thrashing,
            &[0, 0, 0, 0, 0, 1],
        ),
    ];
    for (what, story, act, expected, who) in cases {
        let mut story = rescued(story());
        assert_eq!(story.run(act), expected, "{what}");
        assert_eq!(agents(&story), who, "{what}");
        let briefing = story.briefings.last().unwrap();
        assert!(briefing.contains("You Are Called To Help"), "{what}: {briefing}");
        assert!(briefing.contains("- iteration 1: "), "{what}: {briefing}");
        let [rescue] = &story.ending().rescues[..] else { unreachable!("{what}: one rescue") };
        assert!(rescue.result.is_some() && rescue.agent == 1, "{what}: {rescue:?}");
        let called = |notice: &&Notice| matches!(notice, Notice::RescueCalled(_));
        assert_eq!(story.notices.iter().filter(called).count(), 1, "{what}");
    }
}

#[test]
fn help_that_helps_lets_the_run_go_on_with_the_usual_agent() {
    let mut story = rescued(Story::new().tasks(stories(&["a"])))
        .rules(|r| r.limits.iterations = 6)
        .gate(|tree| if tree == "help" { vec![] } else { vec!["a"] });
    let outcome = story.run(|n| if n == 4 { Act::commits("help") } else { Act::commits(n) });
    assert_eq!(outcome, Outcome::MaxIterations);
    assert_eq!(agents(&story), [0, 0, 0, 1, 0, 0]);
    assert_eq!(story.tripped(GuardKind::CircuitBreaker)[0], Rung::Redirect);
    assert_eq!(story.ending().rescues[0].result, Some(IterationResult::Passed));
}

#[test]
fn help_that_moves_the_work_a_little_is_not_in_vain() {
    let mut story = rescued(Story::new().tasks(stories(&["a"])))
        .rules(|r| r.limits.iterations = 5)
        .gate(|tree| if tree == "help" { vec!["a"] } else { vec!["a", "b"] });
    story.run(|n| if n == 4 { Act::commits("help") } else { Act::idle() });
    assert_eq!(agents(&story), [0, 0, 0, 1, 0]);
}

#[test]
fn a_used_up_budget_leaves_nothing_for_help() {
    let mut story = rescued(Story::new().tasks(stories(&["a"]))).rules(|r| r.limits.iterations = 3);
    assert_eq!(story.run(|_| Act::idle()), Outcome::Stuck);
    assert_eq!(agents(&story), [0, 0, 0]);
}

#[test]
fn help_that_cannot_come_leaves_the_guard_its_word() {
    let mut story = rescued(Story::new().tasks(stories(&["a"])));
    let why = String::from("`other` was not found");
    let outcome = story.run(|n| match n {
        4 => Act::idle().with(AgentFact::CouldNotStart { why: why.clone() }),
        _ => Act::dies(),
    });
    assert_eq!(outcome, Outcome::CircuitBreaker);
    assert!(story.ending().why.contains("could not help: `other`"), "{}", story.ending().why);
}

#[test]
fn help_that_runs_into_a_limit_is_waited_for_and_called_again() {
    let mut story = rescued(Story::new().tasks(stories(&["a"])));
    story.start();
    for _ in 0..3 {
        let iteration = story.alive().unwrap();
        story.perform(iteration, Act::dies());
    }
    let iteration = story.alive().unwrap();
    let limit = AgentFact::LostModel { message: "overloaded".into() };
    story.perform(iteration, Act::dies().with(limit));
    story.now = story.now.plus(crate::Millis::from_secs(120));
    let timer = crate::event::Timer::Wait;
    story.tell(crate::Event::TimerFired { timer, iteration });
    assert_eq!(agents(&story), [0, 0, 0, 1, 1]);
    assert!(story.briefings[4].contains("You Are Called To Help"));
}
