//! Questions at the session's door, and advice on its way to the agent (A2, A9).

use std::format;
use std::prelude::rust_2024::*;

use super::story::{Act, Story};
use crate::call::{ToolCall, ToolOutcome, ToolResult};
use crate::door::{DoorAnswer, DoorQuestion, Matter};
use crate::effect::{Effect, Notice};
use crate::event::{AgentFact, Event, Spend, StopCause};
use crate::guard::{GuardKind, Rung};
use crate::id::{CallId, IterationNo};
use crate::policy::Policy;

fn call(id: u64) -> ToolCall {
    let rules = Policy::default().calls.clone();
    ToolCall::new(CallId::new(format!("{id}")), "bash", &serde_json::json!({ "c": "ls" }), &rules)
}

fn result(id: u64) -> ToolResult {
    ToolResult::new(CallId::new(format!("{id}")), ToolOutcome::Exit, "error: no such file at all")
}

/// Whether the asker carries advice to the agent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asker {
    Deaf,
    Hears,
}

fn asked(number: u64, matter: Matter, asker: Asker) -> AgentFact {
    let hears = asker == Asker::Hears;
    AgentFact::Asked(DoorQuestion { number, matter, hears, context: None })
}

struct Session {
    story: Story,
    iteration: IterationNo,
}

impl Session {
    fn begin(change: impl FnOnce(&mut Story)) -> Self {
        let mut story = Story::new().gate(|_| Vec::new());
        change(&mut story);
        story.start();
        let iteration = story.alive().unwrap();
        Self { story, iteration }
    }

    fn tell(&mut self, fact: AgentFact) {
        self.story.tell(Event::Agent { iteration: self.iteration, fact });
    }

    /// Asks, and gives the one answer.
    fn ask(&mut self, number: u64, matter: Matter, asker: Asker) -> DoorAnswer {
        let before = self.story.effects.len();
        self.tell(asked(number, matter, asker));
        let answers: Vec<DoorAnswer> = self.story.effects[before..]
            .iter()
            .filter_map(|effect| {
                let Effect::AnswerDoor { question, answer, .. } = effect else { return None };
                (*question == number).then(|| answer.clone())
            })
            .collect();
        assert_eq!(answers.len(), 1, "question {number}");
        answers.into_iter().next().unwrap()
    }
}

#[test]
fn a_call_that_is_asked_about_and_then_shown_counts_once() {
    let mut session = Session::begin(Story::alone_with_streaks);
    let mut rungs = Vec::new();
    for id in 0..8 {
        let answer = session.ask(id, Matter::Call(call(id)), Asker::Deaf);
        rungs.push(answer.rung);
        if answer.rung < Rung::Refuse {
            session.tell(AgentFact::CalledTool(call(id)));
            session.tell(AgentFact::ToolReturned(result(id)));
        }
    }
    let (halt, pass, refuse) = (Rung::Halt, Rung::Pass, Rung::Refuse);
    assert_eq!(rungs, [pass, pass, pass, pass, pass, refuse, refuse, halt]);
    assert_eq!(session.story.tripped(GuardKind::Repetition).last(), Some(&halt));
}

#[test]
fn advice_waits_for_a_door_that_carries_it_and_is_announced_when_it_is_given() {
    let mut session = Session::begin(|story| story.agent.steerable = false);
    session.ask(1, Matter::Nothing, Asker::Deaf);
    for id in 0..2 {
        session.tell(AgentFact::CalledTool(call(id)));
        session.tell(AgentFact::ToolReturned(result(id)));
    }
    assert_eq!(session.story.tripped(GuardKind::Repetition), []);
    let deaf = session.ask(2, Matter::Nothing, Asker::Deaf);
    assert_eq!((deaf.rung, deaf.message.as_str()), (Rung::Pass, ""));
    let heard = session.ask(3, Matter::Nothing, Asker::Hears);
    assert_eq!(heard.rung, Rung::Nudge);
    assert!(heard.message.contains("the last 2 calls of tool 'bash'"), "{}", heard.message);
    assert_eq!(session.story.tripped(GuardKind::Repetition), [Rung::Nudge]);
    assert_eq!(session.ask(4, Matter::Nothing, Asker::Hears).rung, Rung::Pass);
}

#[test]
fn advice_that_reached_nobody_stands_in_the_next_briefing() {
    let mut story = Story::new().gate(|_| Vec::new());
    story.agent.steerable = false;
    let act = |n: u32| {
        let act = Act::commits(n);
        if n > 1 {
            return act;
        }
        (0..2).fold(act, |act, id| {
            act.with(AgentFact::CalledTool(call(id))).with(AgentFact::ToolReturned(result(id)))
        })
    };
    let mut rules = story.policy().into_rules();
    rules.limits.iterations = 3;
    let mut story = story.rules(|own| *own = rules);
    story.run(act);
    let noticed =
        story.notices.iter().filter(|notice| matches!(notice, Notice::Noticed { .. })).count();
    assert_eq!(noticed, 1, "nobody listened when it was found");
    assert_eq!(story.tripped(GuardKind::Repetition), [Rung::Nudge], "given with the briefing");
    let told = |n: usize| story.briefings[n].contains("# Advice From The Last Session");
    assert_eq!([told(0), told(1), told(2)], [false, true, false]);
    let briefing = &story.briefings[1];
    for part in ["That session lasted", "The last tool, 'bash',", "the last 2 calls"] {
        assert!(briefing.contains(part), "{part}: {briefing}");
    }
}

#[test]
fn an_agent_that_listens_is_told_at_once() {
    let mut session = Session::begin(|_| {});
    for id in 0..2 {
        session.tell(AgentFact::CalledTool(call(id)));
        session.tell(AgentFact::ToolReturned(result(id)));
    }
    let told = |effect: &Effect| matches!(effect, Effect::SteerAgent { .. });
    assert_eq!(session.story.effects.iter().filter(|effect| told(effect)).count(), 1);
    assert_eq!(session.story.tripped(GuardKind::Repetition), [Rung::Nudge]);
}

#[test]
fn the_context_that_a_hook_tells_is_answered_with_the_notice() {
    let mut session = Session::begin(|story| story.agent.steerable = false);
    let question =
        DoorQuestion { number: 1, matter: Matter::Nothing, hears: true, context: Some(720) };
    session.tell(AgentFact::Asked(question));
    let told = session.story.effects.iter().any(|effect| {
        matches!(effect, Effect::AnswerDoor { answer, .. } if answer.message.contains("70"))
    });
    assert!(told, "{:?}", session.story.effects.last());
    assert_eq!(session.story.tripped(GuardKind::ContextFill), [Rung::Nudge]);
}

#[test]
fn an_agent_that_is_being_stopped_begins_no_call_and_may_stop() {
    let mut session = Session::begin(|_| {});
    let cause = StopCause::Interrupt;
    // The story's agent obeys at once; here it lingers and asks.
    let iteration = session.iteration;
    let effects = session.story.governor.step(session.story.now, &Event::StopRequested { cause });
    assert!(effects.iter().any(|effect| matches!(effect, Effect::StopAgent { .. })));
    let ask = |matter| Event::Agent { iteration, fact: asked(7, matter, Asker::Hears) };
    let effects = session.story.governor.step(session.story.now, &ask(Matter::Call(call(1))));
    assert!(matches!(&effects[..],
        [Effect::AnswerDoor { answer, .. }] if answer.rung == Rung::Halt));
    let stop = Matter::Stop { said: String::new(), client_cap: 3 };
    let effects = session.story.governor.step(session.story.now, &ask(stop));
    assert!(matches!(&effects[..],
        [Effect::AnswerStop { verdict, .. }] if verdict.reason().is_none()));
}

#[test]
fn who_tells_what_it_spent_before_it_asks_its_model_again_is_ended_in_time() {
    let mut session = Session::begin(|_| {});
    let spend = |tokens| Spend { input_tokens: tokens, ..Spend::default() };
    session.tell(AgentFact::Spent(spend(9)));
    assert_eq!(session.ask(1, Matter::AsksModel, Asker::Deaf).rung, Rung::Pass);
    session.tell(AgentFact::Spent(spend(u64::MAX / 2)));
    let unlimited = session.ask(2, Matter::AsksModel, Asker::Deaf).rung;
    assert_eq!(unlimited, Rung::Pass, "no limit is set");
    // The story's agent obeys at once; here it lingers and asks.
    let cause = StopCause::Command;
    session.story.governor.step(session.story.now, &Event::StopRequested { cause });
    assert_eq!(session.ask(3, Matter::AsksModel, Asker::Deaf).rung, Rung::Halt);
}
