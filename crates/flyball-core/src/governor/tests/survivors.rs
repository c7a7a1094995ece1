//! Rules that mutants have survived: each of these fails when its line is broken.

use std::collections::BTreeSet;
use std::format;
use std::prelude::rust_2024::*;
use std::vec;

use super::story::{Act, Story, stories};
use crate::call::{ValidationFailure, ValidationKind};
use crate::effect::{IterationResult, Notice};
use crate::event::{AgentFact, Event, Exit, ExitHow, StopCause};
use crate::gate::{Check, GateResult};
use crate::guard::GuardKind;
use crate::iteration::{IterationRing, IterationVerdict, Validation};
use crate::moment::Moment;
use crate::outcome::Outcome;
use crate::task::{Attempt, AttemptStatus, Remedy, Standing, TaskMemory, TaskRing};
use crate::{IterationNo, Policy, RunId, TaskId};

/// A gate that turned green although nothing was changed is flaky: no work ended the streak.
#[test]
fn a_flaky_gate_turning_green_does_not_end_the_streak_of_refusals() {
    // The tree moves between the looks, but nothing the agent changed is told.
    let mut story = Story::new()
        .tasks(stories(&["a"]))
        .rules(|r| r.limits.stuck = 20)
        .gate(|tree| if tree == "1" { vec!["flaky"] } else { vec![] });
    story.start();
    for n in 1..=3 {
        let iteration = story.alive().unwrap();
        let act = Act { dirty: Some(n.to_string()), ..Act::says("<promise>COMPLETE</promise>") };
        story.perform(iteration, act);
    }
    let last = story.notices.iter().rev().find_map(|notice| {
        let Notice::Tripped { trip, .. } = notice else { return None };
        (trip.guard == GuardKind::Completion).then_some(trip.measured)
    });
    assert_eq!(last, Some(3));
}

/// An iteration that failed for another reason on a green tree says nothing against its files.
#[test]
fn a_failed_iteration_with_full_score_does_not_count_for_thrashing() {
    let mut ring = IterationRing::default();
    let policy = Policy::default();
    for n in 1..=9 {
        let failed = Validation::red(IterationNo::new(n), Moment::from_millis(1), 1.0);
        ring.record(failed.touching(["src/a.rs"]));
    }
    assert_eq!(ring.thrashed(&policy), []);
    for n in 10..=14 {
        let failed = Validation::red(IterationNo::new(n), Moment::from_millis(1), 0.5);
        assert_eq!(failed.verdict, IterationVerdict::Failed);
        ring.record(failed.touching(["src/a.rs"]));
    }
    assert_eq!(ring.thrashed(&policy), [("src/a.rs", 5)]);
}

#[test]
fn a_run_taken_up_again_begins_with_a_fresh_stuck_count() {
    let mut story =
        Story::new().tasks(stories(&["a"])).rules(|r| r.tasks.max_attempts_before_force_next = 60);
    assert_eq!(story.run(|_| Act::idle()), Outcome::Stuck);
    story.reopen();
    assert_eq!(story.governor.standing().unwrap().stuck, 0);
    for _ in 0..2 {
        let iteration = story.alive().unwrap();
        story.perform(iteration, Act::idle());
    }
    assert!(story.governor.is_running());
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::idle());
    assert_eq!(story.ending().outcome, Outcome::Stuck);
}

/// What is done stays done, and stays the task while something else is missing.
#[test]
fn a_finished_task_told_to_be_left_stays_done_and_planned() {
    let tasks = super::story::passed(&["a"], &["a"]);
    let story = Story::new().tasks(tasks).rules(|r| {
        r.review.enabled = false;
        r.limits.stuck = 20;
        r.limits.iterations = 8;
    });
    // Uncommitted work holds the completion up: the last story stays the task.
    let mut story = story.gate(|tree| if tree == "start" { vec!["old"] } else { vec![] });
    let outcome = story.run(|n| Act { dirty: Some(format!("w{n}")), ..Act::idle() });
    assert_eq!(outcome, Outcome::MaxIterations);
    assert!(story.tripped(GuardKind::CompletedTaskRevisit).len() >= 2);
    assert!(story.reports.iter().all(|report| report.task == Some(TaskId::new("a"))));
    let ring = story.governor.standing().unwrap().task_ring;
    assert_eq!(ring.standing(&TaskId::new("a")), Standing::Open);
}

#[test]
fn force_next_leaves_a_finished_task_where_it_stands() {
    let mut ring = TaskRing::new(TaskMemory::default());
    let (rules, run, task) = (&Policy::default().tasks, RunId::new("r"), TaskId::new("t"));
    for _ in 0..3 {
        ring.record(Attempt {
            task: task.clone(),
            at: Moment::from_millis(1),
            run: run.clone(),
            iteration: IterationNo::new(1),
            status: AttemptStatus::Done,
            blockers: BTreeSet::default(),
            work: BTreeSet::default(),
            session: String::new(),
        });
    }
    let found = ring.detect(rules, &run, Moment::from_millis(2), &task).unwrap();
    assert_eq!(found.remedy, Some(Remedy::ForceNext));
    let applied = ring.apply(rules, Moment::from_millis(2), &found, "e");
    assert_eq!((applied.standing_changes, ring.standing(&task)), (vec![], Standing::Open));
}

/// A human's word outranks what a guard sees in the last words of the agent it stopped.
#[test]
fn an_exit_that_trips_a_guard_does_not_override_a_humans_stop() {
    let mut story =
        Story::new().tasks(stories(&["a"])).rules(|r| r.calls.max_validation_failures = 1);
    story.start();
    let iteration = story.alive().unwrap();
    let stop = Event::StopRequested { cause: StopCause::Interrupt };
    drop(story.governor.step(story.now, &stop));
    let claims = crate::claim::read_structured("<promise>NONSENSE</promise>");
    assert_eq!(claims.failures.len(), 1);
    let exit = Exit { how: ExitHow::Signal(2), claims, last_words: String::new() };
    story.exit(iteration, exit, Vec::new());
    assert_eq!(story.ending().outcome, Outcome::Interrupted);
    assert_eq!(story.reports[0].result, IterationResult::Cut(Outcome::Interrupted));
}

/// A guard's halt is a failed iteration, also when the agent had met a usage limit before.
#[test]
fn a_halted_session_with_a_usage_limit_counts_as_halted() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let iteration = story.alive().unwrap();
    let limit = AgentFact::HitLimit { resets_at: None, message: "limit".into() };
    let failure = ValidationFailure::new(ValidationKind::BadStreamLine, "an event", "%", "no JSON");
    let nonsense = AgentFact::SpokeNonsense(failure);
    let act = (0..3).fold(Act::idle().with(limit), |act, _| act.with(nonsense.clone()));
    story.perform(iteration, act);
    assert_eq!(story.iterations(), 1, "no wait, but an iteration");
    assert_eq!(story.reports[0].result, IterationResult::Halted(Outcome::ValidationFailure));
}

/// A second beginning is late: it changes nothing, whatever it says.
#[test]
fn a_late_start_changes_nothing() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let before = story.governor.clone();
    let mut other = Story::new().tasks(stories(&["x", "y"])).gate(|_| vec!["red"]);
    other.human_files.blocked = Some("no key".into());
    assert_eq!(story.governor.step(story.now, &other.clone_start()), []);
    assert_eq!(story.governor, before);
    // And nothing happens before a first one.
    let mut fresh = crate::Governor::new();
    let stop = Event::StopRequested { cause: StopCause::Command };
    assert_eq!(fresh.step(Moment::from_millis(9), &stop), []);
    let result = Box::new(GateResult { tree: "t".into(), checks: vec![Check::passed("x")] });
    let gates = Event::GatesFinished { iteration: IterationNo::BASELINE, result, tamper: vec![] };
    assert_eq!(fresh.step(Moment::from_millis(9), &gates), []);
    assert_eq!(fresh, crate::Governor::new());
}

/// What each role used is told with the name of the agent that had it.
#[test]
fn agents_are_called_by_the_names_the_run_began_with() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.iterations = 1);
    let mut start = story.clone_start();
    if let Event::RunStarted(start) = &mut start {
        start.agent_names = vec!["claude".into()];
    }
    story.tell(start);
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::says("nothing"));
    let roles: Vec<&str> = story.ending().roles.iter().map(|role| role.agent.as_str()).collect();
    assert_eq!(roles, ["claude"]);
}
