//! C: the task ring through whole runs.

use std::format;
use std::prelude::rust_2024::*;

use super::story::{Act, Story, passed, stories};
use crate::effect::{Effect, Rung};
use crate::guard::GuardKind;
use crate::outcome::Outcome;
use crate::policy::OnBlocked;
use crate::task::Standing;

#[test]
fn five_attempts_without_progress_set_the_task_aside_and_the_next_is_taken() {
    let mut story = Story::new().tasks(stories(&["a", "b"])).rules(|r| r.limits.stuck = 20);
    let outcome = story.run(|_| Act::idle());
    assert_eq!(outcome, Outcome::Blocked);
    assert_eq!(story.tripped(GuardKind::NoProgressRepeat)[..2], [Rung::Nudge, Rung::Redirect]);
    let tasks: Vec<_> =
        story.reports.iter().map(|report| report.task.clone().unwrap().to_string()).collect();
    assert_eq!(tasks[..6], ["a", "a", "a", "a", "a", "b"]);
    assert_eq!(story.ending().left.len(), 2);
    assert!(story.ending().left.iter().all(|left| left.standing == Standing::SetAside));
}

#[test]
fn a_spin_brings_unblock_authority_and_then_a_human() {
    let mut story =
        Story::new().tasks(stories(&["a"])).rules(|r| r.iterations.on_blocked = OnBlocked::Next);
    let outcome = story.run(|_| Act::says("<promise>BLOCKED:no key</promise>"));
    assert_eq!(outcome, Outcome::Blocked);
    assert_eq!(story.iterations(), 6);
    assert_eq!(story.tripped(GuardKind::BlockedTaskSpin), [Rung::Redirect, Rung::Ask]);
    assert!(story.briefings[3].contains("no key"));
    let topics: Vec<_> = story
        .effects
        .iter()
        .filter_map(|effect| {
            let Effect::RecordContext(entry) = effect else { return None };
            Some(entry.topic.as_str())
        })
        .collect();
    assert_eq!(topics, ["unblock_authority", "loop_escalation"]);
}

#[test]
fn commits_that_keep_naming_a_finished_task_are_told_to_leave_it() {
    let mut story =
        Story::new().tasks(passed(&["a", "b"], &["a"])).rules(|r| r.review.enabled = false);
    story.run(|n| Act { subject: "a: polish once more".into(), ..Act::commits(n) });
    assert!(!story.tripped(GuardKind::CompletedTaskRevisit).is_empty());
}

#[test]
fn tasks_that_take_turns_without_moving_are_escalated_together() {
    let mut story = Story::new()
        .tasks(stories(&["a", "b"]))
        .rules(|r| r.iterations.on_blocked = OnBlocked::Next);
    let outcome =
        story.run(|n| Act::says(&format!("<promise>BLOCKED:reason number {n}</promise>")));
    assert_eq!(outcome, Outcome::Blocked);
    assert!(!story.tripped(GuardKind::TaskCycle).is_empty() || story.iterations() == 15);
}

#[test]
fn a_task_left_as_done_counts_as_done_only_where_that_is_asked_for() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| {
        r.limits.stuck = 20;
        r.tasks.force_next_marks = crate::policy::ForceNextMarks::Done;
    });
    assert_eq!(story.run(|_| Act::idle()), Outcome::Complete);
    assert_eq!(story.ending().left[0].standing, Standing::ForcedDone);
}
