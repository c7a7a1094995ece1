//! C: the task ring through whole runs.

use std::format;
use std::prelude::rust_2024::*;

use super::story::{Act, Story, passed, stories};
use crate::effect::Effect;
use crate::event::AgentFact;
use crate::guard::GuardKind;
use crate::guard::Rung;
use crate::outcome::Outcome;
use crate::policy::OnBlocked;
use crate::task::{Attempt, AttemptReport, AttemptStatus, Standing};

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

fn reports(task: &str, status: AttemptStatus, blockers: &[&str], work: &[&str]) -> AgentFact {
    let set = |items: &[&str]| items.iter().map(|item| String::from(*item)).collect();
    let (blockers, work) = (set(blockers), set(work));
    AgentFact::ReportedAttempt(AttemptReport {
        task: crate::TaskId::new(task),
        status,
        blockers,
        work,
    })
}

/// What the agent reports and says; status, blockers and work of the attempt.
type Case<'a> = (&'a [AgentFact], &'a str, AttemptStatus, &'a [&'a str], &'a [&'a str]);

fn attempts(story: &Story) -> Vec<&Attempt> {
    let recorded = story.effects.iter().filter_map(|effect| {
        let Effect::RecordAttempt(attempt) = effect else { return None };
        Some(attempt)
    });
    recorded.collect()
}

#[test]
fn what_is_reported_through_a_tool_is_part_of_the_iterations_one_attempt() {
    use AttemptStatus::{Blocked, Done, InProgress};
    let blocked = "<promise>BLOCKED:no key</promise>";
    let cases: [Case<'_>; 6] = [
        (&[], "", InProgress, &[], &[]),
        (&[reports("a", Blocked, &["x"], &["tried"])], "", Blocked, &["x"], &["tried"]),
        (&[reports("a", Blocked, &["x"], &[])], blocked, Blocked, &["no key", "x"], &[]),
        (&[reports("a", InProgress, &[], &["v"])], "", InProgress, &[], &["v"]),
        // Its word alone makes nothing done.
        (&[reports("a", Done, &[], &["w"])], "", InProgress, &[], &["w"]),
        (
            &[reports("a", Blocked, &["x"], &["v"]), reports("a", Blocked, &["y"], &["w"])],
            "",
            Blocked,
            &["x", "y"],
            &["v", "w"],
        ),
    ];
    for (facts, says, status, blockers, work) in cases {
        let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.iterations = 1);
        story.run(|_| Act { facts: facts.to_vec(), ..Act::says(says) });
        let [attempt] = attempts(&story)[..] else { unreachable!("{facts:?}: one attempt") };
        let list = |items: &std::collections::BTreeSet<String>| {
            items.iter().cloned().collect::<Vec<String>>()
        };
        assert_eq!(attempt.status, status, "{facts:?}");
        assert_eq!(
            (list(&attempt.blockers), list(&attempt.work)),
            (
                blockers.iter().map(ToString::to_string).collect(),
                work.iter().map(ToString::to_string).collect(),
            )
        );
    }
}

#[test]
fn a_task_that_passed_is_done_whatever_was_reported_before() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.review.enabled = false);
    let act = Act::commits(1).and_tasks(passed(&["a"], &["a"]));
    story.run(|_| act.clone().with(reports("a", AttemptStatus::Blocked, &["x"], &[])));
    let [attempt] = attempts(&story)[..] else { unreachable!("one attempt") };
    assert_eq!((attempt.status, attempt.blockers.len()), (AttemptStatus::Done, 0));
}

#[test]
fn a_spin_seen_only_through_the_tool_climbs_the_same_ladder() {
    let mut story = Story::new().tasks(stories(&["a", "b"])).rules(|r| r.limits.stuck = 20);
    story.run(|n| match n {
        1..=6 => Act::idle().with(reports("a", AttemptStatus::Blocked, &["no key"], &[])),
        _ => Act::says("<promise>BLOCKED:enough</promise>"),
    });
    assert_eq!(story.tripped(GuardKind::BlockedTaskSpin), [Rung::Redirect, Rung::Ask]);
    assert!(story.briefings[3].contains("no key"), "{}", story.briefings[3]);
    let tasks: Vec<_> =
        story.reports.iter().map(|report| report.task.clone().unwrap().to_string()).collect();
    assert_eq!(tasks, ["a", "a", "a", "a", "a", "a", "b"]);
    assert_eq!(attempts(&story).len(), 7, "one attempt for each iteration");
}

#[test]
fn reports_on_another_task_are_attempts_at_that_one() {
    let mut story = Story::new().tasks(passed(&["a", "b", "c"], &["a"])).rules(|r| {
        r.review.enabled = false;
        r.limits.iterations = 4;
    });
    story.run(|n| {
        let c_is_not = reports("c", AttemptStatus::Done, &[], &[]);
        Act::commits(n).with(reports("a", AttemptStatus::InProgress, &[], &[])).with(c_is_not)
    });
    let first: Vec<_> =
        attempts(&story)[..3].iter().map(|it| (it.task.as_str(), it.status)).collect();
    let [b, a, c] = [AttemptStatus::InProgress, AttemptStatus::Done, AttemptStatus::InProgress];
    assert_eq!(first, [("b", b), ("a", a), ("c", c)]);
    // A done task taken up three times is left.
    assert_eq!(story.tripped(GuardKind::CompletedTaskRevisit), [Rung::Redirect]);
    assert!(story.briefings[3].contains("`a`"), "{}", story.briefings[3]);
}

#[test]
fn what_a_session_reported_before_a_usage_limit_goes_with_the_iteration() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.iterations = 1);
    story.other_agents = Vec::from([crate::event::AgentTraits::default()]);
    let mut starts = 0;
    story.run(|_| {
        starts += 1;
        if starts > 1 {
            return Act::idle();
        }
        let limit = AgentFact::HitLimit { resets_at: None, message: "limit".into() };
        Act::dies().with(reports("a", AttemptStatus::Blocked, &["x"], &[])).with(limit)
    });
    let [attempt] = attempts(&story)[..] else { unreachable!("one attempt") };
    assert_eq!((attempt.status, attempt.blockers.len()), (AttemptStatus::Blocked, 1));
}

#[test]
fn a_replay_with_reports_leads_to_the_same_state() {
    let mut story = Story::new().tasks(stories(&["a", "b"])).rules(|r| r.limits.stuck = 20);
    story.run(|_| Act::idle().with(reports("a", AttemptStatus::Blocked, &["no key"], &["w"])));
    let text = serde_json::to_string(&story.journal).unwrap();
    let events: Vec<(crate::Moment, crate::Event)> = serde_json::from_str(&text).unwrap();
    let (again, _) = crate::Governor::replay(events);
    assert_eq!(again, story.governor);
}

#[test]
fn a_run_with_nothing_but_tasks_left_before_says_which_and_why() {
    let mut first = Story::new().tasks(stories(&["a", "b"])).rules(|r| r.limits.stuck = 20);
    first.run(|_| Act::idle());
    let memory = first.governor.standing().unwrap().task_ring.memory();
    let mut again = Story::new().tasks(stories(&["a", "b"]));
    again.memory = memory;
    assert_eq!(again.run(|_| Act::idle()), Outcome::Blocked);
    assert_eq!(again.iterations(), 0);
    let why = &again.ending().why;
    let line = "- b (set aside): left in an earlier run after 5 attempts (no_progress_repeat)";
    assert!(why.contains(line), "{why}");
    assert_eq!(again.ending().left.len(), 2);
}

#[test]
fn what_waits_on_a_task_that_was_left_is_listed_too() {
    let tasks = r#"{"userStories":[{"id":"a","title":"a"},
        {"id":"b","title":"b","dependsOn":["a"]}]}"#;
    let mut story = Story::new().tasks(tasks).rules(|r| r.limits.stuck = 20);
    assert_eq!(story.run(|_| Act::idle()), Outcome::Blocked);
    let why = &story.ending().why;
    assert!(why.contains("- a (set aside)") && why.ends_with("- b (open): waits on a"), "{why}");
}
