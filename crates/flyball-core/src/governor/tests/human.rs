//! A human's word in between: told, limits, and an end after the iteration.

use std::prelude::rust_2024::*;
use std::{format, panic};

use super::story::{Act, Story, passed, repeats, stories};
use crate::door::{DoorQuestion, Matter};
use crate::effect::{Effect, Notice};
use crate::event::{AgentFact, AgentTraits, Event, Spend, Timer};
use crate::guard::{GuardKind, Rung};
use crate::human::{HumanReply, HumanWish, LimitChange, WordWay};
use crate::moment::Millis;
use crate::outcome::Outcome;

fn ask(story: &mut Story, wish: HumanWish) -> HumanReply {
    let before = story.effects.len();
    story.tell(Event::HumanAsked { request: 7, wish });
    let replies: Vec<HumanReply> = story.effects[before..]
        .iter()
        .filter_map(|effect| {
            let Effect::AnswerHuman { request: 7, reply } = effect else { return None };
            Some(reply.clone())
        })
        .collect();
    assert_eq!(replies.len(), 1, "{replies:?}");
    replies.into_iter().next().unwrap()
}

fn tell(story: &mut Story, text: &str) -> HumanReply {
    ask(story, HumanWish::Tell { text: text.into() })
}

fn limits(story: &mut Story, limits: &[LimitChange]) -> HumanReply {
    ask(story, HumanWish::ChangeLimits { limits: limits.to_vec() })
}

fn ways(story: &Story) -> Vec<(String, WordWay)> {
    let way = |notice: &Notice| {
        let Notice::WordOnItsWay { text, way } = notice else { return None };
        Some((text.clone(), *way))
    };
    story.notices.iter().filter_map(way).collect()
}

fn deaf(story: &mut Story) {
    story.agent = AgentTraits::default();
}

#[test]
fn an_agent_that_listens_is_told_at_once() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    assert_eq!(tell(&mut story, " use sockets "), HumanReply::Steered);
    let steered = story.effects.iter().any(|effect| {
        matches!(effect, Effect::SteerAgent { message, .. } if message.contains("use sockets"))
    });
    assert!(steered);
    assert_eq!(ways(&story), [("use sockets".into(), WordWay::Steer)]);
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::commits("x"));
    assert!(!story.briefings[1].contains("use sockets"), "told once");
}

/// A3: what was refused before counts no longer once a human has spoken.
#[test]
fn a_word_forgives_refusals() {
    for (word, outcome) in [(false, 1), (true, 0)] {
        let mut story = Story::new().tasks(stories(&["a"]));
        story.alone_with_streaks();
        story.start();
        let iteration = story.alive().unwrap();
        for (number, fact) in repeats(8).into_iter().enumerate() {
            if number == 14 && word {
                tell(&mut story, "go on");
            }
            story.tell(Event::Agent { iteration, fact });
        }
        let halts = story.tripped(GuardKind::Repetition);
        let halts = halts.iter().filter(|rung| **rung == Rung::Halt).count();
        assert_eq!(halts, outcome, "with a word: {word}");
    }
}

#[test]
fn an_agent_that_only_asks_is_told_at_its_door() {
    let mut story = Story::new().tasks(stories(&["a"]));
    deaf(&mut story);
    story.start();
    let iteration = story.alive().unwrap();
    let ask_at_door = |story: &mut Story, number, hears| {
        let question = DoorQuestion { number, matter: Matter::Nothing, hears, context: None };
        story.tell(Event::Agent { iteration, fact: AgentFact::Asked(question) });
    };
    assert_eq!(tell(&mut story, "first"), HumanReply::NextBriefing, "no door is known of");
    ask_at_door(&mut story, 1, false);
    assert_eq!(ways(&story), [], "who asks does not carry it");
    assert_eq!(tell(&mut story, "second"), HumanReply::AtItsDoor);
    ask_at_door(&mut story, 2, true);
    let told = |effect: &Effect| {
        matches!(effect, Effect::AnswerDoor { question: 2, answer, .. }
            if answer.message.contains("first") && answer.message.contains("second"))
    };
    assert!(story.effects.iter().any(told));
    assert_eq!(ways(&story), [("first".into(), WordWay::Door), ("second".into(), WordWay::Door)]);
    story.perform(iteration, Act::commits("x"));
    assert!(!story.briefings[1].contains("first"));
}

#[test]
fn what_nobody_heard_stands_in_the_next_briefing_once() {
    let mut story = Story::new().tasks(stories(&["a"]));
    deaf(&mut story);
    story.start();
    assert_eq!(tell(&mut story, "use sockets"), HumanReply::NextBriefing);
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::commits("x"));
    assert!(story.briefings[1].contains("# A Human Says\nuse sockets\n"), "{}", story.briefings[1]);
    assert_eq!(ways(&story), [("use sockets".into(), WordWay::Briefing)]);
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::commits("y"));
    assert!(!story.briefings[2].contains("use sockets"));
}

#[test]
fn a_word_that_comes_too_late_is_said_to_be_unheard() {
    let mut story = Story::new().gate(|_| vec![]);
    deaf(&mut story);
    story.start();
    tell(&mut story, "one more thing");
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::commits("x").and_says("<promise>COMPLETE</promise>"));
    assert_eq!(story.ending().outcome, Outcome::Complete);
    assert_eq!(ways(&story), [("one more thing".into(), WordWay::Unheard)]);
}

#[test]
fn a_word_survives_the_death_of_flyball_and_of_the_iteration_it_was_given_to() {
    let mut story = Story::new().tasks(stories(&["a"]));
    deaf(&mut story);
    story.start();
    tell(&mut story, "one");
    story.resume_after_death();
    assert!(story.briefings[1].contains("one"));
    tell(&mut story, "two");
    story.resume_after_death();
    let again = &story.briefings[2];
    assert!(again.contains("one\n\ntwo"), "{again}");
}

#[test]
fn a_word_that_was_given_to_a_session_lost_with_flyball_is_said_again() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    assert_eq!(tell(&mut story, "use sockets"), HumanReply::Steered);
    story.resume_after_death();
    assert!(story.briefings[1].contains("# A Human Says\nuse sockets\n"), "{}", story.briefings[1]);
}

#[test]
fn more_words_than_a_briefing_holds_are_said_to_be_forgotten() {
    let mut story = Story::new().tasks(stories(&["a"]));
    deaf(&mut story);
    story.start();
    for number in 1..=5 {
        tell(&mut story, &format!("word {number}"));
    }
    assert_eq!(ways(&story), [("word 1".into(), WordWay::Forgotten)]);
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::commits("x"));
    assert!(story.briefings[1].contains("word 2\n\nword 3\n\nword 4\n\nword 5"));
}

#[test]
fn changed_limits_hold_from_now_on_and_in_a_replay() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.iterations = 2);
    story.start();
    assert_eq!(limits(&mut story, &[LimitChange::Iterations(4)]), HumanReply::Changed);
    for tree in 1..=9 {
        let Some(iteration) = story.alive() else { break };
        story.perform(iteration, Act::commits(tree));
    }
    assert_eq!((story.ending().outcome, story.iterations()), (Outcome::MaxIterations, 4));
    let (again, _) = crate::Governor::replay(story.journal.clone());
    assert_eq!(again, story.governor);
    assert_eq!(again.policy().unwrap().limits.iterations, 4);
}

#[test]
fn a_limit_below_what_is_used_ends_the_session_at_once() {
    let spend = AgentFact::Spent(Spend { input_tokens: 500, ..Spend::default() });
    let cases = [
        (LimitChange::Tokens(400), Outcome::MaxTokens),
        (LimitChange::Runtime(Millis::from_secs(1)), Outcome::MaxRuntime),
    ];
    for (change, outcome) in cases {
        let mut story = Story::new().tasks(stories(&["a"]));
        story.start();
        let iteration = story.alive().unwrap();
        story.now = story.now.plus(Millis::from_secs(2));
        story.tell(Event::Agent { iteration, fact: spend.clone() });
        assert_eq!(limits(&mut story, &[change]), HumanReply::Changed);
        assert_eq!(story.ending().outcome, outcome);
    }
}

#[test]
fn timers_follow_the_limits() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let (iteration, began) = (story.alive().unwrap(), story.now);
    let span = Millis::from_secs(90);
    limits(&mut story, &[LimitChange::IterationTimeout(span), LimitChange::Runtime(span)]);
    for timer in [Timer::IterationTimeout, Timer::Runtime] {
        let order = Effect::SetTimer { timer, iteration, at: began.plus(span) };
        assert!(story.effects.contains(&order), "{timer:?}");
    }
}

#[test]
fn senseless_limits_change_nothing_at_all() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let changes = [LimitChange::Iterations(40), LimitChange::Stuck(0)];
    let HumanReply::Refused { why } = limits(&mut story, &changes) else { panic!() };
    assert!(why.contains("limits.stuck"), "{why}");
    assert_eq!(story.governor.policy().unwrap().limits.iterations, 15);
}

#[test]
fn a_wait_that_is_no_longer_allowed_ends_the_run() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let iteration = story.alive().unwrap();
    let resets_at = Some(story.now.plus(Millis::from_secs(3_600)));
    let limit = AgentFact::HitLimit { resets_at, message: "limit".into() };
    story.perform(iteration, Act::dies().with(limit));
    assert_eq!(
        limits(&mut story, &[LimitChange::Wait(Millis::from_secs(7_200))]),
        HumanReply::Changed
    );
    assert!(story.governor.is_running());
    limits(&mut story, &[LimitChange::Wait(Millis::from_secs(60))]);
    assert_eq!(story.ending().outcome, Outcome::UsageLimit);
}

#[test]
fn the_run_ends_once_the_iteration_is_over() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let iteration = story.alive().unwrap();
    assert_eq!(
        ask(&mut story, HumanWish::StopAfterIteration),
        HumanReply::StopsAfter { iteration }
    );
    assert_eq!(story.alive(), Some(iteration), "it is let finish");
    story.perform(iteration, Act::commits("x"));
    assert_eq!((story.ending().outcome, story.iterations()), (Outcome::Terminated, 1));
    assert!(story.ending().why.contains("--after-iteration"), "{}", story.ending().why);
    story.reopen();
    assert!(story.alive().is_some(), "who goes on with it wants more");
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::commits("y"));
    assert!(story.alive().is_some(), "the wish is spent");
}

#[test]
fn a_completion_in_that_iteration_is_one() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.review.enabled = false);
    story.start();
    ask(&mut story, HumanWish::StopAfterIteration);
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::commits("x").and_tasks(passed(&["a"], &["a"])));
    assert_eq!(story.ending().outcome, Outcome::Complete);
}

#[test]
fn where_no_iteration_is_under_way_the_run_ends_now() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let iteration = story.alive().unwrap();
    let limit = AgentFact::HitLimit { resets_at: None, message: "limit".into() };
    story.perform(iteration, Act::dies().with(limit.clone()));
    assert_eq!(ask(&mut story, HumanWish::StopAfterIteration), HumanReply::EndsNow);
    assert_eq!(story.ending().outcome, Outcome::Terminated);
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    ask(&mut story, HumanWish::StopAfterIteration);
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::dies().with(limit));
    assert_eq!(story.ending().outcome, Outcome::Terminated, "it does not wait for a limit first");
}

#[test]
fn the_wish_to_end_survives_the_death_of_flyball() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    ask(&mut story, HumanWish::StopAfterIteration);
    story.resume_after_death();
    assert_eq!(story.ending().outcome, Outcome::Terminated);
    assert_eq!(story.effects.iter().filter(|e| matches!(e, Effect::StartAgent { .. })).count(), 1);
}

#[test]
fn an_ended_run_answers_nobody() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    ask(&mut story, HumanWish::StopAfterIteration);
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::commits("x"));
    for wish in [HumanWish::StopAfterIteration, HumanWish::Tell { text: "late".into() }] {
        let before = story.governor.clone();
        assert_eq!(story.governor.step(story.now, &Event::HumanAsked { request: 1, wish }), []);
        assert_eq!(story.governor, before);
    }
}
