//! C: the task ring through whole runs.

use std::format;
use std::prelude::rust_2024::*;

use super::story::{Act, Story, passed, stories};
use crate::effect::{Effect, Notice};
use crate::event::AgentFact;
use crate::guard::GuardKind;
use crate::guard::Rung;
use crate::outcome::Outcome;
use crate::policy::{OnBlocked, OnStuck};
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
    assert_eq!(story.tripped(GuardKind::TaskCycle), [Rung::Ask]);
}

#[test]
fn a_task_left_as_done_has_not_passed_and_the_run_says_so() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| {
        r.limits.stuck = 20;
        r.tasks.force_next_marks = crate::policy::ForceNextMarks::Done;
    });
    assert_eq!(story.run(|_| Act::idle()), Outcome::Blocked);
    let ending = story.ending();
    assert_eq!(ending.left[0].standing, Standing::ForcedDone);
    assert!(ending.why.contains("- a (left as done)"), "{}", ending.why);
    assert!(ending.nothing_left);
    let retry =
        "a was left as done and has not passed; to have it tried again: flyball tasks retry a";
    assert_eq!(ending.next_steps[0], retry);
    // A new run does not take it for passed either.
    let mut again = Story::new().tasks(stories(&["a"]));
    again.memory = story.governor.standing().unwrap().task_ring.memory();
    assert_eq!(again.run(|_| Act::idle()), Outcome::Blocked);
    assert_eq!(again.iterations(), 0);
}

#[test]
fn a_task_that_a_guard_stopped_is_brought_back_by_its_name_and_the_run_says_so() {
    let standings = [
        (crate::TaskId::new("a"), Standing::Tripped),
        (crate::TaskId::new("b"), Standing::Tripped),
    ];
    let mut story = Story::new().tasks(stories(&["a", "b"]));
    story.memory.standings = standings.into_iter().collect();
    assert_eq!(story.run(|_| Act::idle()), Outcome::Blocked);
    let steps = story.ending().next_steps.clone();
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert!(steps[0].contains("flyball tasks retry a && flyball run"), "{steps:?}");
    assert!(!steps.iter().any(|step| step.contains("unblock")), "{steps:?}");
    // One that is blocked otherwise is unblocked as ever.
    let mut story = Story::new().tasks(stories(&["a", "b"]));
    story.memory.standings = [
        (crate::TaskId::new("a"), Standing::Tripped),
        (crate::TaskId::new("b"), Standing::Escalated),
    ]
    .into_iter()
    .collect();
    assert_eq!(story.run(|_| Act::idle()), Outcome::Blocked);
    let steps = story.ending().next_steps.clone();
    assert!(steps[0].contains("flyball tasks retry a"), "{steps:?}");
    assert!(steps[1].contains("flyball unblock"), "{steps:?}");
}

#[test]
fn what_depends_on_a_task_left_as_done_is_worked_on() {
    let tasks = r#"{"userStories":[{"id":"a","title":"a"},
        {"id":"b","title":"b","dependsOn":["a"]}]}"#;
    let mut story = Story::new().tasks(tasks).rules(|r| {
        r.limits.stuck = 20;
        r.tasks.force_next_marks = crate::policy::ForceNextMarks::Done;
    });
    assert_eq!(story.run(|_| Act::idle()), Outcome::Blocked);
    let last = story.reports.last().and_then(|report| report.task.clone());
    assert_eq!(last, Some(crate::TaskId::new("b")));
}

#[test]
fn a_remedy_stands_in_every_briefing_until_its_task_is_done() {
    let mut story = Story::new().tasks(stories(&["a", "b"])).rules(|r| {
        r.limits.stuck = 20;
        r.review.enabled = false;
        r.tasks.max_attempts_before_force_next = 20;
    });
    story.run(|n| match n {
        1..=6 => Act::idle(),
        7 => Act::commits(7).and_tasks(passed(&["a", "b"], &["a"])),
        _ => Act::says("<promise>BLOCKED:enough</promise>"),
    });
    let advice = "Task `a` was attempted";
    let told: Vec<bool> = story.briefings.iter().map(|text| text.contains(advice)).collect();
    assert_eq!(told, [false, false, false, true, true, true, true, false]);
}

#[test]
fn a_directive_to_leave_a_task_stands_until_a_human_brings_it_back() {
    let mut story = Story::new().tasks(stories(&["a", "b"])).rules(|r| r.limits.stuck = 20);
    story.run(|_| Act::idle());
    let directive = "Task `a` is left for now";
    assert!(story.briefings[5..].iter().all(|text| text.contains(directive)));
    assert_eq!(story.briefings.len(), 10);
    story.reopen();
    assert!(!story.briefings[10].contains(directive), "{}", story.briefings[10]);
}

#[test]
fn a_task_set_aside_for_being_stuck_stays_named() {
    let mut story =
        Story::new().tasks(stories(&["a", "b"])).rules(|r| r.iterations.on_stuck = OnStuck::Next);
    story.run(|_| Act::idle());
    assert_eq!(story.ending().outcome, Outcome::Stuck);
    let told: Vec<bool> =
        story.briefings.iter().map(|text| text.contains("Task a was set aside")).collect();
    assert_eq!(told, [false, false, false, true, true, true]);
}

#[test]
fn a_finished_task_worked_on_after_two_directives_is_told_to_a_human_and_holds_nothing_up() {
    let mut story = Story::new().tasks(passed(&["a", "b"], &["a"])).rules(|r| {
        r.review.enabled = false;
        r.limits.iterations = 40;
    });
    let outcome = story.run(|n| match n {
        20 => Act::commits(20).and_tasks(passed(&["a", "b"], &["a", "b"])),
        n => Act { subject: "a: polish".into(), ..Act::commits(n) },
    });
    assert_eq!(outcome, Outcome::Complete);
    let rungs = story.tripped(GuardKind::CompletedTaskRevisit);
    assert_eq!(rungs, [Rung::Redirect, Rung::Redirect, Rung::Ask]);
    let told = |notice: &&Notice| matches!(notice, Notice::TaskRevisited { task, .. } if task.as_str() == "a");
    assert_eq!(story.notices.iter().filter(told).count(), 1);
    assert_eq!(story.ending().left, []);
    assert!(story.briefings[7..].iter().all(|text| text.contains("A human has been told")));
}

#[test]
fn each_task_of_a_round_is_named_as_itself() {
    let mut story = Story::new()
        .tasks(stories(&["a", "b"]))
        .rules(|r| r.iterations.on_blocked = OnBlocked::Next);
    story.run(|n| Act::says(&format!("<promise>BLOCKED:reason number {n}</promise>")));
    assert_eq!(story.tripped(GuardKind::TaskCycle), [Rung::Ask]);
    let left = &story.ending().left;
    assert_eq!(left.len(), 2);
    for one in left {
        let begin = format!("task {} is part of the round a → b", one.task);
        assert!(one.why.starts_with(&begin), "{}", one.why);
    }
}

#[test]
fn an_outage_is_no_attempt() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    for _ in 0..5 {
        let iteration = story.alive().unwrap();
        let lost = AgentFact::LostModel { message: "overloaded".into() };
        story.perform(iteration, Act::dies().with(lost));
        story.now = story.now.plus(crate::Millis::from_secs(1_800));
        story.tell(crate::Event::TimerFired { timer: crate::event::Timer::Wait, iteration });
    }
    assert_eq!(attempts(&story), Vec::<&Attempt>::new());
}

fn reports(task: &str, status: AttemptStatus, blockers: &[&str], work: &[&str]) -> AgentFact {
    let set = |items: &[&str]| items.iter().map(|item| String::from(*item)).collect();
    let (blockers, work) = (set(blockers), set(work));
    AgentFact::ReportedAttempt(AttemptReport {
        task: crate::TaskId::new(task),
        status,
        blockers,
        work,
        tripped: false,
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

fn trips(task: &str) -> AgentFact {
    let AgentFact::ReportedAttempt(report) = reports(task, AttemptStatus::Blocked, &["guard"], &[])
    else {
        unreachable!("a report")
    };
    AgentFact::ReportedAttempt(AttemptReport { tripped: true, ..report })
}

#[test]
fn a_task_whose_own_loop_tripped_is_left_until_a_human_brings_it_back() {
    let mut story = Story::new().tasks(stories(&["a", "b"])).rules(|r| r.limits.stuck = 20);
    story.run(|n| if n == 1 { Act::idle().with(trips("a")) } else { Act::idle() });
    let tasks: Vec<_> =
        story.reports.iter().map(|report| report.task.clone().unwrap().to_string()).collect();
    assert_eq!(tasks, ["a", "b", "b", "b", "b", "b"]);
    let ending = story.ending();
    assert!(ending.why.contains("- a (stopped by a guard): guard"), "{}", ending.why);
    let marked = Effect::MarkTask { task: crate::TaskId::new("a"), standing: Standing::Tripped };
    assert_eq!(story.effects.iter().filter(|effect| **effect == marked).count(), 1);
}

#[test]
fn a_tripped_loop_holds_up_neither_what_passed_nor_what_is_on_no_list() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.review.enabled = false);
    let act = Act::commits(1).and_tasks(passed(&["a"], &["a"]));
    let end = story.run(|_| act.clone().with(trips("a")).with(trips("helper")));
    assert_eq!((end, story.ending().left.len()), (Outcome::Complete, 0));
    let marked = story.effects.iter().filter_map(|effect| {
        let Effect::MarkTask { task, standing } = effect else { return None };
        Some((task.as_str(), *standing))
    });
    assert_eq!(marked.collect::<Vec<_>>(), [("helper", Standing::Tripped)]);
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
    story.fallbacks = 1;
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
    let written = Effect::WriteBlocked { reason: why.clone() };
    assert!(again.effects.contains(&written), "it lies on the desk");
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
