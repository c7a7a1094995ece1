//! Death and resume: the same path, one more event.

use std::prelude::rust_2024::*;
use std::{format, vec};

use super::story::{Act, Story, passed, stories};
use crate::Governor;
use crate::effect::Effect;
use crate::outcome::Outcome;

#[test]
fn replaying_the_journal_rebuilds_the_same_state_byte_for_byte() {
    let mut story = Story::new().tasks(stories(&["a"])).gate(|_| vec!["t"]);
    story.run(|n| Act::commits(n));
    let (replayed, _) = Governor::replay(story.journal.iter().cloned());
    assert_eq!(replayed, story.governor);
    assert_eq!(
        serde_json::to_string(&replayed).unwrap(),
        serde_json::to_string(&story.governor).unwrap()
    );
}

#[test]
fn an_iteration_lost_in_a_crash_counts_for_the_maximum_only() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.iterations = 4);
    story.start();
    for _ in 0..4 {
        story.resume(false);
    }
    assert_eq!(story.ending().outcome, Outcome::MaxIterations);
    assert!(story.briefings[1].contains("flyball itself was interrupted"));
}

#[test]
fn a_resume_at_every_event_reaches_the_same_end() {
    let plot = || {
        Story::new()
            .tasks(stories(&["a", "b"]))
            .gate(|_| vec![])
            .rules(|r| r.review.enabled = false)
    };
    let act = |story: &Story| {
        let done: &[&str] = if story.iterations() == 0 { &["a"] } else { &["a", "b"] };
        Act::commits(format!("t{}", story.journal.len())).and_tasks(passed(&["a", "b"], done))
    };
    let mut calm = plot();
    calm.start();
    while let Some(iteration) = calm.alive() {
        let next = act(&calm);
        calm.perform(iteration, next);
    }
    assert_eq!(calm.ending().outcome, Outcome::Complete);
    for crash_at in 1..calm.journal.len() {
        let mut story = plot();
        story.start();
        let mut crashed = false;
        for _ in 0..20 {
            if story.journal.len() >= crash_at && !crashed {
                crashed = true;
                let (replayed, _) = Governor::replay(story.journal.iter().cloned());
                assert_eq!(replayed, story.governor);
                story.governor = replayed;
                story.resume(false);
            }
            let Some(iteration) = story.alive() else { break };
            let next = act(&story);
            story.perform(iteration, next);
        }
        assert_eq!(story.ending().outcome, Outcome::Complete, "crash at event {crash_at}");
    }
}

#[test]
fn a_run_that_ended_for_its_budget_goes_on_with_a_larger_one() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.iterations = 2);
    assert_eq!(story.run(|n| Act::commits(n)), Outcome::MaxIterations);
    let mut story = story.rules(|r| r.limits.iterations = 3);
    story.resume(true);
    assert_eq!(story.alive().map(|n| n.get()), Some(3));
}

#[test]
fn an_end_that_was_not_performed_is_ordered_again() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.run(|_| Act::says("<promise>BLOCKED:no key</promise>"));
    story.effects.clear();
    story.resume(false);
    assert!(story.effects.contains(&Effect::WriteBlocked { reason: "no key".into() }));
    assert!(matches!(story.effects.last(), Some(Effect::FinishRun(_))));
}
