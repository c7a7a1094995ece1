//! B3–B9: how runs end that do not end well, and some that do.

use std::prelude::rust_2024::*;
use std::vec;

use serde_json::json;

use super::story::{Act, Story, passed, repeats, stories};
use crate::call::{ToolCall, ToolOutcome, ToolResult, ValidationFailure, ValidationKind};
use crate::effect::IterationResult;
use crate::event::{AgentFact, ExitHow};
use crate::guard::GuardKind;
use crate::id::CallId;
use crate::outcome::Outcome;
use crate::policy::{Baseline, OnSessionHalt, OnStuck, OnTamper, Policy, Progress};

const DONE: &str = "<promise>COMPLETE</promise>";

#[test]
fn all_complete_and_green_before_it_began_starts_no_agent() {
    let mut story = Story::new()
        .tasks(passed(&["a"], &["a"]))
        .gate(|_| vec![])
        .rules(|r| r.review.enabled = false);
    assert_eq!(story.run(|_| Act::idle()), Outcome::Complete);
    assert_eq!(story.iterations(), 0);
}

#[test]
fn idle_iterations_are_stuck_at_the_third() {
    let mut story = Story::new().tasks(stories(&["a"]));
    assert_eq!(story.run(|_| Act::says("thinking about it")), Outcome::Stuck);
    assert_eq!(story.iterations(), 3);
    assert!(story.briefings[2].contains("(2 of 3 allowed)"));
}

#[test]
fn flip_flop_commits_are_stuck_too() {
    let mut story = Story::new().tasks(stories(&["a"]));
    let outcome = story.run(|n| Act::commits(if n % 2 == 1 { "A" } else { "B" }));
    assert_eq!(outcome, Outcome::Stuck);
    assert_eq!(story.iterations(), 5);
}

#[test]
fn uncommitted_work_is_progress_only_where_trees_are_the_measure() {
    let act = |n: u32| Act { dirty: Some(n.to_string()), ..Act::idle() };
    let mut story = Story::new().tasks(stories(&["a"]));
    assert_eq!(story.run(act), Outcome::Stuck);
    let mut story =
        Story::new().tasks(stories(&["a"])).rules(|r| r.iterations.progress = Progress::Tree);
    assert_eq!(story.run(act), Outcome::MaxIterations);
}

#[test]
fn an_agent_that_dies_every_time_opens_the_breaker() {
    let mut story = Story::new().tasks(stories(&["a"]));
    assert_eq!(story.run(|_| Act::dies()), Outcome::CircuitBreaker);
    assert_eq!(story.iterations(), 3);
    assert!(story.briefings[1].contains("it exited with code 1"));
}

#[test]
fn an_agent_that_dies_after_good_work_has_not_failed() {
    let mut story = Story::new().tasks(stories(&["a"])).gate(|_| vec![]);
    let outcome = story.run(|n| Act { exit: ExitHow::Code(1), ..Act::commits(n) });
    assert_eq!(outcome, Outcome::MaxIterations);
}

#[test]
fn sessions_halted_for_repetition_open_the_breaker() {
    let mut story = Story::new().tasks(stories(&["a"]));
    let outcome = story.run(|_| Act { facts: repeats(9), ..Act::idle() });
    assert_eq!(outcome, Outcome::CircuitBreaker);
    assert!(story.briefings[1].contains("Fresh Start"));
    assert!(story.briefings[1].contains("read_file"));
}

#[test]
fn what_follows_a_halted_session_is_told_what_to_do_otherwise() {
    let calls = |times: usize, paths: usize, outcome: ToolOutcome| -> Vec<AgentFact> {
        let one = |n: usize| {
            let (id, args) = (CallId::new(n.to_string()), json!({ "path": n % paths }));
            let call = ToolCall::new(id.clone(), "read_file", &args, &Policy::default().calls);
            let text = if outcome == ToolOutcome::Ok { n % paths } else { 404 }.to_string();
            let result = ToolResult::new(id, outcome, &text);
            [AgentFact::CalledTool(call), AgentFact::ToolReturned(result)]
        };
        (0..times).flat_map(one).collect()
    };
    let after = |account: bool, facts: Vec<AgentFact>| -> String {
        let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.calls.account = account);
        story.start();
        let iteration = story.alive().unwrap();
        story.perform(iteration, Act { facts, ..Act::idle() });
        story.briefings.remove(1)
    };
    let failure = ValidationFailure::new(ValidationKind::UnknownTool, "", "", "");
    for (facts, advice) in [
        (repeats(9), "Do not go through the same steps again"),
        (calls(40, 4, ToolOutcome::Ok), "Do not go through the same steps again"),
        (calls(40, 40, ToolOutcome::Tool), "Find out why the tool fails"),
        (vec![AgentFact::SpokeNonsense(failure); 9], "Write complete, valid tool calls"),
    ] {
        let told = after(true, facts);
        assert!(told.contains("# Fresh Start") && told.contains(advice), "{advice}: {told}");
    }
    let told = after(false, repeats(20));
    assert!(told.contains("Do not make that call again"), "{told}");
}

#[test]
fn a_session_halt_may_end_the_run_at_once() {
    let mut story = Story::new()
        .tasks(stories(&["a"]))
        .rules(|r| r.iterations.on_session_halt = OnSessionHalt::Stop);
    let outcome = story.run(|_| Act { facts: repeats(9), ..Act::idle() });
    assert_eq!(outcome, Outcome::RepetitionLoop);
    assert_eq!(story.iterations(), 1);
}

#[test]
fn red_gates_open_the_breaker_and_the_agent_is_told_the_failing_test() {
    let mut story = Story::new().tasks(stories(&["a"])).gate(|tree| match tree {
        "start" => vec![],
        _ => vec!["it_adds"],
    });
    let outcome = story.run(|n| Act::commits(n).and_says(DONE));
    assert_eq!(outcome, Outcome::CircuitBreaker);
    assert_eq!(story.iterations(), 3);
    let also: Vec<_> = story.ending().also.iter().map(|trip| trip.guard).collect();
    assert_eq!(also, [GuardKind::QualityRegression]);
    assert!(story.briefings[1].contains("it_adds (src/lib.rs:7) left != right"));
    assert!(story.briefings[1].contains("[ ] tests: failed (9 passed, 1 failed)"));
    assert!(story.briefings[2].contains("Still failing (1): it_adds"));
}

#[test]
fn an_idle_iteration_after_an_improvement_improves_nothing() {
    let mut story = Story::new()
        .tasks(stories(&["a"]))
        .rules(|r| r.limits.stuck = 9)
        .gate(|tree| if tree == "better" { vec!["t1"] } else { vec!["t1", "t2"] });
    let act = |n: u32| if n == 1 { Act::commits("better") } else { Act::idle() };
    assert_eq!(story.run(act), Outcome::CircuitBreaker);
    let results: Vec<_> = story.reports.iter().map(|report| report.result).collect();
    let (improved, red) = (IterationResult::Improved, IterationResult::Red);
    assert_eq!(results, [improved, red, red, red]);
}

#[test]
fn a_red_streak_that_improves_does_not_open_the_breaker() {
    let mut story = Story::new().tasks(stories(&["a"])).gate(|tree| {
        let all = ["t1", "t2", "t3", "t4", "t5", "t6"];
        let fixed = tree.parse::<usize>().unwrap_or(0);
        all.into_iter().skip(fixed).collect()
    });
    let outcome = story.run(|n| match n {
        1..=6 => Act::commits(n),
        _ => Act::says("idle"),
    });
    assert_eq!(outcome, Outcome::Stuck);
    assert!(story.iterations() > 6);
}

#[test]
fn falling_scores_are_a_regression() {
    let mut story = Story::new()
        .tasks(stories(&["a"]))
        .rules(|r| r.iterations.circuit_breaker = 9)
        .gate(|tree| match tree {
            "1" => vec!["t1"],
            "2" => vec!["t1", "t2", "t3"],
            "3" => vec!["t1", "t2", "t3", "t4", "t5"],
            _ => vec![],
        });
    assert_eq!(story.run(Act::commits), Outcome::QualityRegression);
    assert_eq!(story.iterations(), 3);
}

#[test]
fn the_same_file_red_five_times_is_thrashing() {
    let mut story = Story::new()
        .tasks(stories(&["a"]))
        .rules(|r| {
            r.iterations.circuit_breaker = 9;
            r.iterations.regression_window = 9;
        })
        .gate(|tree| if tree == "start" { vec!["t", "u"] } else { vec!["t", "v"] });
    let outcome = story.run(Act::commits);
    assert_eq!(outcome, Outcome::Thrashing);
    assert!(story.ending().why.ends_with("src/lib.rs"), "{}", story.ending().why);
}

#[test]
fn what_was_red_before_blocks_by_default_and_not_on_request() {
    let red: super::story::Reds = |_| vec!["old_failure"];
    let act = |_| Act::commits("t1").and_says(DONE).and_tasks(passed(&["a"], &["a"]));
    let mut story =
        Story::new().tasks(stories(&["a"])).gate(red).rules(|r| r.review.enabled = false);
    assert_ne!(story.run(act), Outcome::Complete);
    assert!(story.briefings[0].contains("red before this run"));
    let mut story = Story::new().tasks(stories(&["a"])).gate(red).rules(|r| {
        r.review.enabled = false;
        r.gates.baseline = Baseline::Ignore;
    });
    assert_eq!(story.run(act), Outcome::Complete);
}

#[test]
fn weakened_tests_are_told_once_and_then_a_human_decides() {
    let act = |n: u32| Act::commits(n).and_says(DONE).and_tasks(passed(&["a"], &["a"]));
    let plot = || {
        Story::new()
            .tasks(stories(&["a"]))
            .gate(|_| vec![])
            .tampered("test `it_adds` was deleted")
            .rules(|r| r.review.enabled = false)
    };
    let mut story = plot();
    assert_eq!(story.run(act), Outcome::Decide);
    assert_eq!(story.iterations(), 2);
    assert!(story.briefings[1].contains("test `it_adds` was deleted"));
    let mut story = plot().rules(|r| r.gates.on_tamper = OnTamper::Refuse);
    assert_eq!(story.run(act), Outcome::QualityGateExhausted);
    let mut story = plot().rules(|r| r.gates.on_tamper = OnTamper::Report);
    assert_eq!(story.run(act), Outcome::Complete);
}

#[test]
fn overnight_a_stuck_task_is_set_aside_and_two_stuck_tasks_end_it() {
    let mut story = Story::new()
        .tasks(stories(&["a", "b", "c"]))
        .rules(|r| r.iterations.on_stuck = OnStuck::Next);
    assert_eq!(story.run(|_| Act::idle()), Outcome::Stuck);
    assert_eq!(story.iterations(), 6);
    let tasks: Vec<_> = story.reports.iter().map(|r| r.task.clone().unwrap().to_string()).collect();
    assert_eq!(tasks, ["a", "a", "a", "b", "b", "b"]);
}

#[test]
fn an_ending_is_final() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.run(|_| Act::idle());
    let before = story.governor.clone();
    let events: Vec<_> = story.journal.iter().map(|(_, event)| event.clone()).collect();
    for event in events {
        assert_eq!(story.governor.step(story.now, &event), []);
    }
    assert_eq!(story.governor, before);
}
