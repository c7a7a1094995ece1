//! B1, B2: what claims do.

use std::prelude::rust_2024::*;
use std::vec;

use super::story::{Act, Story, passed, stories};
use crate::door::{DoorQuestion, Matter};
use crate::effect::Effect;
use crate::event::{AgentFact, HumanFiles};
use crate::guard::{GuardKind, Rung};
use crate::outcome::Outcome;
use crate::policy::OnBlocked;

const DONE: &str = "<promise>COMPLETE</promise>";

#[test]
fn an_honest_completion_ends_with_zero_with_and_without_the_tag() {
    for words in [DONE, "finished"] {
        let mut story = Story::new().tasks(stories(&["a"])).gate(|_| vec![]).rules(|r| {
            r.review.enabled = false;
        });
        let outcome =
            story.run(|_| Act::commits("t1").and_tasks(passed(&["a"], &["a"])).and_says(words));
        assert_eq!(outcome, Outcome::Complete);
        assert_eq!(story.iterations(), 1);
    }
}

#[test]
fn a_lie_with_an_open_story_is_refused_until_the_guard_halts() {
    let mut story = Story::new().tasks(stories(&["a", "b"])).gate(|_| vec![]);
    let outcome = story.run(|n| Act::commits(n).and_says(DONE));
    assert_eq!(outcome, Outcome::QualityGateExhausted);
    assert_eq!(story.iterations(), 5);
    assert!(story.briefings[1].contains("Completion Blocked: 2 stories are not finished: a, b"));
}

#[test]
fn zero_stories_are_never_complete() {
    let mut story = Story::new().tasks(r#"{"userStories": []}"#).gate(|_| vec![]);
    assert_eq!(story.run(|_| Act::says(DONE)), Outcome::Stuck);
    assert!(story.briefings[1].contains("the task list has no story"));
}

#[test]
fn uncommitted_work_keeps_it_from_being_complete() {
    let mut story = Story::new().gate(|_| vec![]);
    let outcome = story.run(|n| match n {
        1 => Act { dirty: Some("t1".into()), ..Act::says(DONE) },
        _ => Act::commits("t1").and_says(DONE),
    });
    assert_eq!(outcome, Outcome::Complete);
    assert_eq!(story.iterations(), 2);
    assert!(story.briefings[1].contains("1 path not committed: src/lib.rs"));
}

#[test]
fn what_the_gates_changed_keeps_it_from_being_complete_until_it_is_committed() {
    let mut story = Story::new().gate(|_| vec![]);
    story.edits = |tree| if tree == "unformatted" { vec!["src/a.rs".into()] } else { vec![] };
    let outcome = story.run(|n| match n {
        1 => Act::commits("unformatted").and_says(DONE),
        _ => Act::commits("formatted").and_says(DONE),
    });
    assert_eq!((outcome, story.iterations()), (Outcome::Complete, 2));
    assert!(story.briefings[1].contains("the gates changed 1 file while they ran"));
    let done = passed(&["a"], &["a"]);
    let mut story = Story::new().tasks(done).gate(|_| vec![]);
    story.edits = |_| vec!["src/a.rs".into()];
    story.start();
    assert!(story.governor.ending().is_none(), "it was all done but for what the gate changed");
}

#[test]
fn a_completion_is_not_refused_by_a_red_word_nobody_asked_for_again() {
    let mut story = Story::new().gate(|tree| if tree == "start" { vec![] } else { vec!["a"] });
    story.start();
    story.perform(story.alive().unwrap(), Act::commits("t1").and_says(DONE));
    assert_eq!(story.tripped(GuardKind::Completion), [Rung::Refuse]);
    // What was missing has been installed, which is no part of the tree.
    story.reds = |_| vec![];
    story.perform(story.alive().unwrap(), Act::says("installed it"));
    assert!(story.governor.ending().is_none(), "without a claim the word stands");
    story.perform(story.alive().unwrap(), Act::says(DONE));
    assert_eq!(story.ending().outcome, Outcome::Complete);
    let asked = |effect: &&Effect| matches!(effect, Effect::RunGates { tree, .. } if tree == "t1");
    assert_eq!(story.effects.iter().filter(asked).count(), 2);
}

#[test]
fn blocked_ends_with_the_reason_in_the_file() {
    let mut story = Story::new().tasks(stories(&["a"]));
    let outcome = story.run(|_| Act::says("<promise>BLOCKED:no API key</promise>"));
    assert_eq!(outcome, Outcome::Blocked);
    let reason = Effect::WriteBlocked { reason: "no API key".into() };
    assert!(story.effects.contains(&reason));
}

#[test]
fn a_human_who_has_not_acted_ends_the_next_run_at_once() {
    let cases = [
        (HumanFiles { blocked: Some("no key".into()), ..HumanFiles::default() }, Outcome::Blocked),
        (HumanFiles { question: Some("a or b?".into()), ..HumanFiles::default() }, Outcome::Decide),
    ];
    for (human_files, expected) in cases {
        let mut story = Story::new().tasks(stories(&["a"]));
        story.human_files = human_files;
        assert_eq!(story.run(|_| Act::idle()), expected);
        assert_eq!(story.iterations(), 0);
    }
}

#[test]
fn an_answer_reaches_the_agent_once_and_then_the_file_goes() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.human_files = HumanFiles {
        question: Some("sockets or polling?".into()),
        answer: Some("polling".into()),
        ..HumanFiles::default()
    };
    story.run(Act::commits);
    assert!(story.briefings[0].contains("Answer: polling"));
    assert!(!story.briefings[1].contains("polling"));
    let removals = story.effects.iter().filter(|e| **e == Effect::RemoveDecide).count();
    assert_eq!(removals, 1);
}

#[test]
fn overnight_a_blocked_task_waits_while_others_are_worked_on() {
    let mut story = Story::new().tasks(stories(&["a", "b"])).rules(|r| {
        r.iterations.on_blocked = OnBlocked::Next;
        r.review.enabled = false;
    });
    let outcome = story.run(|n| match n {
        1 => Act::says("<promise>DECIDE:which colour?</promise>"),
        _ => Act::commits("t1").and_tasks(passed(&["a", "b"], &["b"])),
    });
    assert_eq!(outcome, Outcome::Decide);
    assert_eq!(story.iterations(), 2);
    let question = String::from("a: which colour?");
    assert!(story.effects.iter().any(|effect| matches!(
        effect, Effect::WriteDecide { question: asked, .. } if *asked == question
    )));
}

#[test]
fn without_tasks_a_claim_needs_a_gate_and_without_both_it_is_only_believed_on_request() {
    let mut story = Story::new().gate(|_| vec![]);
    assert_eq!(story.run(|_| Act::says(DONE)), Outcome::Complete);
    let mut story = Story::new().rules(|r| r.iterations.trust_claims = true);
    assert_eq!(story.run(|_| Act::says(DONE)), Outcome::CompleteUnverified);
}

#[test]
fn stops_refused_in_a_hook_count_from_the_first_session_on() {
    let mut story = Story::new()
        .tasks(stories(&["a"]))
        .gate(|_| Vec::from(["t"]))
        .rules(|r| r.iterations.gate_refusals = 3);
    let matter = Matter::Stop { said: "done".into(), client_cap: 9 };
    let held = AgentFact::Asked(DoorQuestion { number: 1, matter, hears: false, context: None });
    let act = |n: u32| Act::commits(n).with(held.clone()).with(held.clone()).with(held.clone());
    assert_eq!(story.run(act), Outcome::QualityGateExhausted);
    assert_eq!(story.iterations(), 1);
}

const MALFORMED: &str = "<promise>BLOCKED:</promise>";

#[test]
fn a_third_iteration_in_a_row_with_a_malformed_claim_and_no_progress_ends_the_run() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.stuck = 9);
    assert_eq!(story.run(|_| Act::says(MALFORMED)), Outcome::ValidationFailure);
    assert_eq!(story.iterations(), 3);
    assert!(story.briefings[1].contains("# Malformed Promise"), "{}", story.briefings[1]);
}

#[test]
fn progress_or_plain_words_end_the_streak_of_malformed_claims() {
    for other in [Act::commits("new").and_says(MALFORMED), Act::says("nothing to say")] {
        let mut story = Story::new().tasks(stories(&["a"])).rules(|r| {
            (r.limits.stuck, r.limits.iterations) = (99, 5);
            r.calls.max_validation_failures = 3;
        });
        let outcome = story.run(|n| match n {
            3 => other.clone(),
            _ => Act::says(MALFORMED),
        });
        assert_eq!(outcome, Outcome::MaxIterations);
    }
}
