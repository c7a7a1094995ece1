//! B4, B13, A6: budgets, waits and silence.

use std::prelude::rust_2024::*;

use super::story::{Act, Story, stories};
use crate::effect::{Effect, Force};
use crate::event::{
    AgentFact, AgentTraits, Event, ExitHow, Spend, StopCause, Timer, WorktreeSnapshot,
};
use crate::guard::GuardKind;
use crate::guard::Rung;
use crate::moment::{Millis, Moment};
use crate::outcome::Outcome;

fn spend(tokens: u64, micro: u64) -> AgentFact {
    AgentFact::Spent(Spend { input_tokens: tokens, output_tokens: 0, cost_micro_usd: micro })
}

#[test]
fn tokens_and_money_end_it_in_mid_iteration() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.tokens = 1_000);
    assert_eq!(story.run(|_| Act::commits("x").with(spend(1_000, 0))), Outcome::MaxTokens);
    assert!(story.effects.iter().any(|e| matches!(e, Effect::StopAgent { .. })));
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.cost_usd = 0.5);
    let outcome = story.run(|n| Act::commits(n).with(spend(1, 200_000)));
    assert_eq!(outcome, Outcome::MaxCost);
    assert_eq!(story.iterations(), 3);
}

#[test]
fn runtime_is_time_alive_and_ends_a_sleeping_agent() {
    let mut story =
        Story::new().tasks(stories(&["a"])).rules(|r| r.limits.runtime = Millis::from_secs(2));
    story.start();
    let iteration = story.alive().unwrap();
    let timer = Effect::SetTimer {
        timer: Timer::Runtime,
        iteration,
        at: story.now.plus(Millis::from_secs(2)),
    };
    assert!(story.effects.contains(&timer));
    story.now = story.now.plus(Millis::from_secs(2));
    story.tell(Event::TimerFired { timer: Timer::Runtime, iteration });
    assert_eq!(story.ending().outcome, Outcome::MaxRuntime);
}

#[test]
fn a_usage_limit_is_waited_for_and_is_no_iteration() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let iteration = story.alive().unwrap();
    let resets_at = Some(story.now.plus(Millis::from_secs(600)));
    let limit = AgentFact::HitLimit { resets_at, message: "limit".into() };
    story.perform(iteration, Act::dies().with(limit));
    assert_eq!(story.alive(), None);
    assert_eq!(story.iterations(), 0);
    let before = story.governor.standing().unwrap().tally.runtime_ms;
    story.now = story.now.plus(Millis::from_secs(700));
    story.tell(Event::TimerFired { timer: Timer::Wait, iteration });
    assert_eq!(story.alive(), Some(iteration), "on with the same iteration");
    assert_eq!(story.governor.standing().unwrap().tally.runtime_ms, before);
}

#[test]
fn a_limit_beyond_the_allowed_wait_ends_it() {
    let mut story = Story::new().tasks(stories(&["a"]));
    let resets_at = Some(Moment::from_millis(u64::MAX / 2));
    let limit = AgentFact::HitLimit { resets_at, message: "weekly limit".into() };
    let outcome = story.run(|_| Act::dies().with(limit.clone()));
    assert_eq!(outcome, Outcome::UsageLimit);
}

#[test]
fn an_unreachable_model_backs_off_and_gives_up_after_the_allowed_wait() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    for _ in 0..100 {
        let Some(iteration) = story.alive() else { break };
        let lost = AgentFact::LostModel { message: "overloaded".into() };
        story.perform(iteration, Act::dies().with(lost));
        story.now = story.now.plus(Millis::from_secs(1_800));
        story.tell(Event::TimerFired { timer: Timer::Wait, iteration });
    }
    assert_eq!(story.ending().outcome, Outcome::UsageLimit);
    assert_eq!(story.iterations(), 0);
}

#[test]
fn refused_credentials_and_a_missing_program_end_it_with_seven() {
    let cases = [
        (AgentFact::RefusedCredentials { message: "401".into() }, Outcome::AgentRefused),
        (AgentFact::CouldNotStart { why: "no `x`".into() }, Outcome::AgentNotStarted),
    ];
    for (fact, expected) in cases {
        let mut story = Story::new().tasks(stories(&["a"]));
        assert_eq!(story.run(|_| Act::dies().with(fact.clone())), expected);
    }
}

#[test]
fn silence_is_a_stall_and_three_stalls_open_the_breaker() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    while let Some(iteration) = story.alive() {
        story.now = story.now.plus(Millis::from_secs(600));
        story.tell(Event::TimerFired { timer: Timer::Stall, iteration });
    }
    assert_eq!(story.ending().outcome, Outcome::CircuitBreaker);
    let told_then_stopped = [Rung::Nudge, Rung::Halt];
    assert_eq!(story.tripped(GuardKind::Stall), told_then_stopped.repeat(3));
}

#[test]
fn an_agent_told_of_its_silence_has_the_same_time_again_and_may_come_back() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let iteration = story.alive().unwrap();
    let stall = Event::TimerFired { timer: Timer::Stall, iteration };
    story.now = story.now.plus(Millis::from_secs(600));
    story.tell(stall.clone());
    story.now = story.now.plus(Millis::from_secs(1));
    story.tell(stall.clone());
    assert_eq!(story.alive(), Some(iteration), "a timer that fires early stops nobody");
    story.tell(Event::Agent { iteration, fact: AgentFact::ShowedLife });
    story.now = story.now.plus(Millis::from_secs(600));
    story.tell(stall);
    assert_eq!(story.alive(), Some(iteration));
    assert_eq!(story.tripped(GuardKind::Stall), [Rung::Nudge, Rung::Nudge]);
}

#[test]
fn a_sign_of_life_moves_the_stall_but_not_the_iteration_timeout() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let iteration = story.alive().unwrap();
    for _ in 0..11 {
        story.now = story.now.plus(Millis::from_secs(300));
        story.tell(Event::Agent { iteration, fact: AgentFact::ShowedLife });
        story.tell(Event::TimerFired { timer: Timer::Stall, iteration });
    }
    assert_eq!(story.alive(), Some(iteration));
    story.now = story.now.plus(Millis::from_secs(300));
    story.tell(Event::TimerFired { timer: Timer::IterationTimeout, iteration });
    assert_eq!(story.reports.len(), 1);
    assert_eq!(story.tripped(GuardKind::IterationTimeout).len(), 1);
}

#[test]
fn an_interrupt_stops_the_agent_first_and_then_ends_the_run() {
    let cases = [
        (StopCause::Interrupt, Outcome::Interrupted),
        (StopCause::Terminate, Outcome::Terminated),
        (StopCause::Command, Outcome::Terminated),
    ];
    for (cause, expected) in cases {
        let mut story = Story::new().tasks(stories(&["a"]));
        story.start();
        story.tell(Event::StopRequested { cause });
        assert_eq!(story.ending().outcome, expected);
        assert_eq!(story.reports.len(), 1);
    }
}

#[test]
fn an_agent_that_ignores_everything_is_killed_and_given_up_on_at_last() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let iteration = story.alive().unwrap();
    let effects =
        story.governor.step(story.now, &Event::StopRequested { cause: StopCause::Interrupt });
    let mut forces = Vec::new();
    let mut pending = effects;
    while story.governor.is_running() {
        for effect in pending.drain(..) {
            if let Effect::StopAgent { force, .. } = effect {
                forces.push(force);
            }
        }
        story.now = story.now.plus(Millis::from_secs(5));
        let fired = Event::TimerFired { timer: Timer::StopGrace, iteration };
        pending = story.governor.step(story.now, &fired);
    }
    assert_eq!(forces, [Force::Interrupt, Force::Terminate, Force::Kill, Force::Kill, Force::Kill]);
    assert_eq!(story.ending().outcome, Outcome::Fault);
}

#[test]
fn exit_codes_of_the_agent_do_not_become_the_runs() {
    for code in [2, 3, 4, 64, 130] {
        let mut story = Story::new().tasks(stories(&["a"]));
        let outcome = story.run(|_| Act { exit: ExitHow::Code(code), ..Act::idle() });
        assert_eq!(outcome, Outcome::CircuitBreaker);
    }
}

#[test]
fn at_a_usage_limit_the_fallback_goes_on_with_the_same_iteration_before_anyone_waits() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.other_agents = Vec::from([AgentTraits::default()]);
    story.fallbacks = 1;
    story.start();
    let limit = AgentFact::HitLimit { resets_at: None, message: "limit".into() };
    let first = story.alive().unwrap();
    story.perform(first, Act::dies().with(limit.clone()));
    assert_eq!(story.alive(), Some(first));
    story.perform(first, Act::dies().with(limit));
    assert_eq!(story.alive(), None, "now everybody waits");
    story.now = story.now.plus(Millis::from_secs(60));
    story.tell(Event::TimerFired { timer: Timer::Wait, iteration: first });
    let agents: Vec<u32> = story
        .effects
        .iter()
        .filter_map(|effect| {
            let Effect::StartAgent { agent, .. } = effect else { return None };
            Some(*agent)
        })
        .collect();
    assert_eq!(agents, [0, 1, 0]);
}

#[test]
fn an_agent_brings_its_own_limits_and_takes_them_with_it() {
    let mut story = Story::new().tasks(stories(&["a"]));
    let careful = AgentTraits { refuse_after_at_most: Some(3), ..AgentTraits::default() };
    story.other_agents = Vec::from([careful]);
    story.fallbacks = 1;
    story.start();
    let refuse_after =
        |story: &Story| story.governor.run.as_ref().unwrap().state.policy.calls.refuse_after;
    assert_eq!(refuse_after(&story), 5);
    let limit = AgentFact::HitLimit { resets_at: None, message: "limit".into() };
    let first = story.alive().unwrap();
    story.perform(first, Act::dies().with(limit.clone()));
    assert_eq!(refuse_after(&story), 3, "the other agent has a loop guard of its own");
    story.perform(first, Act::dies().with(limit));
    assert_eq!(refuse_after(&story), 5, "the first agent has its turn again");
}

fn is_look_timer(effect: &Effect) -> bool {
    matches!(effect, Effect::SetTimer { timer: Timer::StopGrace, .. })
}

#[test]
fn a_look_that_never_ends_is_not_waited_for_when_a_human_asks() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let iteration = story.alive().unwrap();
    story.blind = true;
    story.perform(iteration, Act::commits("x"));
    assert!(!story.effects.iter().any(is_look_timer), "nobody is in a hurry");
    story.tell(Event::StopRequested { cause: StopCause::Terminate });
    assert!(story.governor.is_running(), "the look may still come to its end");
    assert!(story.effects.iter().any(is_look_timer));
    story.now = story.now.plus(Millis::from_secs(5));
    story.tell(Event::TimerFired { timer: Timer::StopGrace, iteration });
    assert_eq!(story.ending().outcome, Outcome::Terminated);
    assert_eq!(story.reports.len(), 1, "the iteration is closed");
}

#[test]
fn asked_twice_nobody_waits_for_a_look_at_all() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let iteration = story.alive().unwrap();
    story.blind = true;
    story.perform(iteration, Act::commits("x"));
    for _ in 0..2 {
        story.tell(Event::StopRequested { cause: StopCause::Interrupt });
    }
    assert_eq!(story.ending().outcome, Outcome::Interrupted);
}

#[test]
fn the_runtime_limit_holds_while_the_worktree_is_looked_at() {
    let mut story =
        Story::new().tasks(stories(&["a"])).rules(|r| r.limits.runtime = Millis::from_secs(90));
    story.start();
    let iteration = story.alive().unwrap();
    story.blind = true;
    story.perform(iteration, Act::commits("x"));
    // Too early: it is set anew.
    story.tell(Event::TimerFired { timer: Timer::Runtime, iteration });
    assert!(story.governor.is_running());
    story.now = story.now.plus(Millis::from_secs(90));
    story.tell(Event::TimerFired { timer: Timer::Runtime, iteration });
    assert!(story.governor.is_running() && story.effects.iter().any(is_look_timer));
    story.tell(Event::TimerFired { timer: Timer::StopGrace, iteration });
    assert_eq!(story.ending().outcome, Outcome::MaxRuntime);
}

#[test]
fn a_look_that_comes_in_time_is_taken_whoever_is_in_a_hurry() {
    let mut story = Story::new().tasks(stories(&["a"]));
    story.start();
    let iteration = story.alive().unwrap();
    story.blind = true;
    story.perform(iteration, Act::commits("x"));
    story.tell(Event::StopRequested { cause: StopCause::Terminate });
    let snapshot = Box::new(WorktreeSnapshot { head: Some("h9".into()), ..Default::default() });
    story.tell(Event::WorktreeSeen { iteration, snapshot });
    assert_eq!(story.ending().outcome, Outcome::Terminated);
    assert_eq!(story.reports[0].commit.as_deref(), Some("h9"));
}

fn agents(story: &Story) -> Vec<u32> {
    let starts = story.effects.iter().filter_map(|effect| {
        let Effect::StartAgent { agent, .. } = effect else { return None };
        Some(*agent)
    });
    starts.collect()
}

/// The agent at work cannot: it exits after such a word, or never began.
fn cannot_work(story: &mut Story, fact: &AgentFact) {
    let iteration = story.alive().unwrap();
    if let AgentFact::CouldNotStart { why } = fact {
        story.never_began(iteration, why);
    } else {
        story.perform(iteration, Act::dies().with(fact.clone()));
    }
}

#[test]
fn an_agent_that_cannot_work_is_replaced_and_not_asked_again() {
    for fact in [
        AgentFact::RefusedCredentials { message: "401".into() },
        AgentFact::CouldNotStart { why: "no `x`".into() },
    ] {
        let two = || {
            let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.limits.iterations = 2);
            story.fallbacks = 1;
            story.start();
            story
        };
        let mut story = two();
        cannot_work(&mut story, &fact);
        for n in 1..=2 {
            let iteration = story.alive().unwrap();
            assert_eq!(iteration.get(), n, "the same iteration: {fact:?}");
            story.perform(iteration, Act::commits(n));
        }
        assert_eq!(story.ending().outcome, Outcome::MaxIterations);
        assert_eq!(agents(&story), [0, 1, 1], "{fact:?}");
        let mut story = two();
        cannot_work(&mut story, &fact);
        cannot_work(&mut story, &fact);
        assert_eq!(story.ending().outcome.exit_code(), 7, "nobody is left: {fact:?}");
        assert_eq!(story.iterations(), 0);
    }
}
