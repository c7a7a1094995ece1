//! Death and resume: the same path, one more event.

use std::prelude::rust_2024::*;
use std::{format, vec};

use super::story::{Act, Story, passed, stories};
use crate::Governor;
use crate::claim::ClaimReading;
use crate::effect::{Effect, Force, IterationResult};
use crate::event::{AgentFact, Event, Exit, ExitHow, HumanFiles, StopCause, Timer};
use crate::gate::GateResult;
use crate::id::IterationNo;
use crate::moment::Millis;
use crate::outcome::Outcome;

#[test]
fn replaying_the_journal_rebuilds_the_same_state_byte_for_byte() {
    let mut story = Story::new().tasks(stories(&["a"])).gate(|_| vec!["t"]);
    story.run(Act::commits);
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
        story.resume_after_death();
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
                story.resume_after_death();
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
    assert_eq!(story.run(Act::commits), Outcome::MaxIterations);
    let mut story = story.rules(|r| r.limits.iterations = 3);
    story.reopen();
    assert_eq!(story.alive().map(IterationNo::get), Some(3));
}

#[test]
fn an_end_that_was_not_performed_is_ordered_again() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.run(|_| Act::says("<promise>BLOCKED:no key</promise>"));
    story.effects.clear();
    story.resume_after_death();
    assert!(story.effects.contains(&Effect::WriteBlocked { reason: "no key".into() }));
    assert!(matches!(story.effects.last(), Some(Effect::FinishRun(_))));
}

#[test]
fn an_agent_stopped_for_a_human_did_not_die_even_if_flyball_did() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.iterations.circuit_breaker = 1);
    story.start();
    let iteration = story.alive().unwrap();
    let stop = Event::StopRequested { cause: StopCause::Interrupt };
    story.governor.step(story.now, &stop);
    let (claims, last_words) = (ClaimReading::default(), String::new());
    let exit = Exit { how: ExitHow::Signal(2), claims, last_words };
    let gone = Event::Agent { iteration, fact: AgentFact::Exited(exit) };
    story.governor.step(story.now, &gone);
    // flyball dies here, before it could look at the worktree.
    story.resume_after_death();
    assert!(story.governor.is_running(), "{:?}", story.governor.ending());
    assert_eq!(story.reports[0].result, IterationResult::Lost);
}

#[test]
fn what_a_stopped_iteration_committed_is_not_the_next_ones_progress() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.stuck = 1);
    story.start();
    story.commits_meanwhile("kept");
    story.tell(Event::StopRequested { cause: StopCause::Command });
    assert_eq!(story.ending().outcome, Outcome::Terminated);
    story.reopen();
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::idle());
    assert_eq!(story.ending().outcome, Outcome::Stuck);
}

#[test]
fn a_run_taken_up_again_may_wait_anew() {
    let mut story =
        Story::new().tasks(stories(&["a"])).rules(|r| r.limits.wait = Millis::from_secs(100));
    story.start();
    for _ in 0..2 {
        let iteration = story.alive().unwrap();
        let lost = AgentFact::LostModel { message: "overloaded".into() };
        story.perform(iteration, Act::dies().with(lost));
        story.now = story.now.plus(Millis::from_secs(100));
        story.tell(Event::TimerFired { timer: Timer::Wait, iteration });
    }
    assert_eq!(story.ending().outcome, Outcome::UsageLimit);
    story.reopen();
    let iteration = story.alive().unwrap();
    let lost = AgentFact::LostModel { message: "overloaded".into() };
    story.perform(iteration, Act::dies().with(lost));
    assert!(story.governor.is_running(), "the first wait of the second life is allowed");
}

#[test]
fn the_gates_word_on_another_tree_is_not_believed() {
    let mut story = Story::new().tasks(stories(&["a"])).gate(|_| vec![]);
    let begin = story.clone_start();
    story.governor.step(story.now, &begin);
    let before = story.governor.clone();
    let result = Box::new(GateResult { tree: "elsewhere".into(), checks: vec![] });
    let iteration = IterationNo::BASELINE;
    let word = Event::GatesFinished { iteration, result, tamper: vec![] };
    assert_eq!(story.governor.step(story.now, &word), []);
    assert_eq!(story.governor, before);
}

#[test]
fn an_answer_on_its_way_is_not_delivered_again_after_a_death() {
    let mut story = Story::new().tasks(stories(&["a"]));
    let (question, answer) = (Some("sockets or polling?".into()), Some("polling".into()));
    story.human_files = HumanFiles { question, answer, ..HumanFiles::default() };
    story.start();
    assert!(story.briefings[0].contains("polling"));
    let iteration = story.alive().unwrap();
    let (claims, last_words) = (ClaimReading::default(), String::new());
    let fact = AgentFact::Exited(Exit { how: ExitHow::Code(0), claims, last_words });
    // flyball dies before it has looked at the worktree.
    drop(story.governor.step(story.now, &Event::Agent { iteration, fact }));
    story.resume_after_death();
    assert!(story.effects.contains(&Effect::RemoveDecide));
    assert!(!story.briefings[1].contains("polling"));
}

#[test]
fn a_failure_of_flyball_whose_end_was_not_written_is_gone_on_from() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.iterations = 4);
    story.start();
    story.tell(Event::ShellFailed { why: String::from("disk full") });
    assert_eq!(story.ending().outcome, Outcome::Fault);
    let is_kill = |effect: &Effect| matches!(effect, Effect::StopAgent { force: Force::Kill, .. });
    assert!(story.effects.iter().any(is_kill), "its agent goes with it");
    story.resume_after_death();
    assert!(story.alive().is_some(), "there may be room again");
}
