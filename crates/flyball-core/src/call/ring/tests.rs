//! The ring as a whole: streaks, late and double answers, bounds.

use std::format;
use std::string::ToString;
use std::vec::Vec;

use serde_json::json;

use super::*;
use crate::call::ValidationKind;
use crate::guard::Rung;
use crate::id::CallId;
use crate::policy::Policy;

const NOW: Moment = Moment::from_millis(1_000);

fn rules() -> CallRules {
    let mut rules = Policy::default().calls.clone();
    rules.account = false;
    rules
}

fn call(id: &str, tool: &str, arg: &str) -> ToolCall {
    ToolCall::new(CallId::new(id), tool, &json!({ "a": arg }), &rules())
}

fn ok(id: &str, text: &str) -> ToolResult {
    ToolResult::new(CallId::new(id), ToolOutcome::Ok, text)
}

/// A ring with short words for the common steps.
struct Session {
    rules: CallRules,
    ring: CallRing,
}

impl Session {
    fn new() -> Self {
        Self { rules: rules(), ring: CallRing::new() }
    }

    fn before(&mut self, call: &ToolCall) -> Verdict {
        self.ring.before(&self.rules, NOW, call)
    }

    fn after(&mut self, result: &ToolResult) -> Verdict {
        self.ring.after(&self.rules, NOW, result)
    }

    /// A call with its result; the higher rung of both.
    fn turn(&mut self, id: &str, tool: &str, result: &str) -> Rung {
        let before = self.before(&call(id, tool, "x"));
        if !before.may_run() {
            return before.rung();
        }
        before.rung().max(self.after(&ok(id, result)).rung())
    }

    fn invalid(&mut self) -> Verdict {
        let kind = ValidationKind::MissingField;
        let failure = ValidationFailure::new(kind, "`path`", &"é".repeat(900), "no `path`");
        self.ring.invalid(&self.rules, NOW, &failure)
    }
}

fn turns(session: &mut Session, tool: &str, results: &[&str]) -> Vec<Rung> {
    let mut number = 0;
    let mut one = |result: &&str| {
        number += 1;
        session.turn(&format!("{tool}{number}"), tool, result)
    };
    results.iter().map(&mut one).collect()
}

#[test]
fn nudges_come_when_the_streak_doubles() {
    use Rung::{Nudge, Pass};
    let mut session = Session::new();
    session.rules.refuse_after = 100;
    let wanted = [Pass, Pass, Nudge, Pass, Pass, Nudge, Pass, Pass, Pass, Pass, Pass, Nudge];
    assert_eq!(turns(&mut session, "t", &["r"; 12]), wanted);
}

#[test]
fn a_failure_is_nudged_at_the_second_time_a_success_at_the_third() {
    for (outcome, wanted) in [
        (ToolOutcome::Ok, [Rung::Pass, Rung::Pass, Rung::Nudge]),
        (ToolOutcome::Exit, [Rung::Pass, Rung::Nudge, Rung::Pass]),
        (ToolOutcome::Tool, [Rung::Pass, Rung::Nudge, Rung::Pass]),
    ] {
        let mut session = Session::new();
        let rungs = ["1", "2", "3"].map(|id| {
            session.before(&call(id, "t", "x"));
            session.after(&ToolResult::new(CallId::new(id), outcome, "r")).rung()
        });
        assert_eq!(rungs, wanted, "{outcome:?}");
    }
}

#[test]
fn a_changed_result_begins_the_count_anew() {
    use Rung::{Nudge, Pass, Refuse};
    let mut session = Session::new();
    let wanted = [Pass, Pass, Pass, Pass, Nudge, Pass, Pass, Refuse];
    assert_eq!(turns(&mut session, "t", &["a", "a", "b", "b", "b", "b", "b", "b"]), wanted);
}

#[test]
fn results_that_change_are_refused_beyond_25_calls() {
    let mut session = Session::new();
    let changing: Vec<String> = (0..26).map(|n| format!("line {n}")).collect();
    let changing: Vec<&str> = changing.iter().map(String::as_str).collect();
    let rungs = turns(&mut session, "poll", &changing);
    assert_eq!(rungs[..25], [Rung::Pass; 25]);
    assert_eq!(rungs[25], Rung::Refuse);
    let message = session.before(&call("again", "poll", "x")).message().map(String::from);
    assert!(message.unwrap().starts_with("tool 'poll' called 27 times consecutively"));
    assert_eq!(session.ring.status().streak, 27);
}

#[test]
fn the_refusal_names_the_real_streak_and_the_last_one_halts() {
    let mut session = Session::new();
    turns(&mut session, "t", &["r"; 5]);
    for (count, refusals) in [(6, 1), (7, 2), (8, 3), (9, 4)] {
        let verdict = session.before(&call("again", "t", "x"));
        let sentence = format!(
            "tool 't' called {count} times consecutively with identical parameters (blocked {refusals}/3)"
        );
        assert!(verdict.message().unwrap().contains(&sentence), "{verdict:?}");
        let rung = if refusals < 3 { Rung::Refuse } else { Rung::Halt };
        assert_eq!(verdict.rung(), rung);
        assert_eq!(verdict.trip().unwrap().guard, GuardKind::Repetition);
    }
}

#[test]
fn streaks_are_kept_per_sub_agent_and_refusals_per_session() {
    let mut session = Session::new();
    let agents = ["", "one", "two"].map(SubAgent::new);
    for round in 1..=5 {
        for agent in &agents {
            let id = round.to_string();
            let verdict = session.before(&call(&id, "t", "x").by(agent.clone()));
            assert_eq!(verdict, Verdict::Pass);
            session.after(&ok(&id, "r").by(agent.clone()));
        }
    }
    let rungs = agents.map(|agent| session.before(&call("6", "t", "x").by(agent)).rung());
    assert_eq!(rungs, [Rung::Refuse, Rung::Refuse, Rung::Halt]);
}

#[test]
fn a_refused_call_is_neither_success_nor_failure_even_if_it_ran() {
    let mut session = Session::new();
    session.rules.max_consecutive_failures = 2;
    turns(&mut session, "t", &["r"; 5]);
    session.before(&call("p", "t", "x"));
    session.before(&call("f", "other", "x"));
    session.invalid();
    session.after(&ToolResult::new(CallId::new("f"), ToolOutcome::Tool, "boom"));
    assert_eq!(session.after(&ok("p", "r")), Verdict::Pass);
    for _ in 0..5 {
        session.before(&call("", "t", "x"));
    }
    let refused = ToolResult::new(CallId::new("5"), ToolOutcome::Refused, "");
    assert_eq!(session.after(&refused), Verdict::Pass);
    let status = session.ring.status();
    assert_eq!((status.failure_streak, status.validation_streak), (1, 1));
}

#[test]
fn calls_in_parallel_are_matched_by_id() {
    let mut session = Session::new();
    for id in ["1", "2", "3"] {
        assert_eq!(session.before(&call(id, "t", "x")), Verdict::Pass);
    }
    let rungs = ["3", "1", "2"].map(|id| session.after(&ok(id, "r")).rung());
    assert_eq!(rungs, [Rung::Pass, Rung::Pass, Rung::Nudge]);
}

#[test]
fn an_answer_that_comes_twice_counts_once() {
    let mut session = Session::new();
    session.before(&call("1", "t", "x"));
    let failed = ToolResult::new(CallId::new("1"), ToolOutcome::Tool, "boom");
    for _ in 0..9 {
        assert_eq!(session.after(&failed), Verdict::Pass);
    }
    assert_eq!(session.ring.status().failures, 1);
}

#[test]
fn a_late_answer_says_nothing_about_a_new_streak() {
    let mut session = Session::new();
    for (id, tool) in [("1", "a"), ("2", "a"), ("3", "b"), ("4", "a")] {
        session.before(&call(id, tool, "x"));
    }
    session.rules.nudge_after_success = 2;
    for id in ["1", "2", "4"] {
        assert_eq!(session.after(&ok(id, "same")), Verdict::Pass);
    }
}

#[test]
fn an_answer_nobody_asked_for_still_counts_as_success_or_failure() {
    let mut session = Session::new();
    for id in ["1", "2", "3", "4"] {
        let failed = ToolResult::new(CallId::new(id), ToolOutcome::Tool, "boom");
        assert_eq!(session.after(&failed), Verdict::Pass);
    }
    let failed = ToolResult::new(CallId::new("5"), ToolOutcome::Tool, "boom");
    let verdict = session.after(&failed);
    assert_eq!(verdict.trip().map(|trip| trip.guard), Some(GuardKind::ToolFailures));
    assert_eq!(verdict.rung(), Rung::Halt);
}

#[test]
fn calls_without_ids_and_answers_without_a_sub_agent_find_each_other() {
    let mut session = Session::new();
    session.rules.nudge_after_success = 2;
    let rungs: Vec<Rung> = (0..2).map(|_| session.turn("", "t", "r")).collect();
    assert_eq!(rungs, [Rung::Pass, Rung::Nudge]);
    let by = |id: &str| call(id, "u", "x").by(SubAgent::new("sub"));
    session.before(&by("1"));
    session.after(&ok("1", "r"));
    session.before(&by("2"));
    assert_eq!(session.after(&ok("2", "r")).rung(), Rung::Nudge);
}

#[test]
fn a_program_that_exits_with_an_error_is_a_result() {
    let mut session = Session::new();
    let outcomes = [ToolOutcome::Tool, ToolOutcome::Exit, ToolOutcome::Ok];
    for (index, wanted) in [(0, 4), (1, 0), (0, 4), (2, 0)] {
        for id in 0..if wanted == 4 { 4 } else { 1 } {
            let id = format!("{wanted}{id}{index}{}", session.ring.status().calls);
            session.before(&call(&id, &id, "x"));
            session.after(&ToolResult::new(CallId::new(id), outcomes[index], "no"));
        }
        assert_eq!(session.ring.status().failure_streak, wanted);
    }
}

#[test]
fn validation_failures_end_with_good_words_and_their_total_stays() {
    let mut session = Session::new();
    assert_eq!(session.invalid().rung(), Rung::Nudge);
    assert_eq!(session.invalid().rung(), Rung::Nudge);
    session.ring.spoke(NOW);
    assert_eq!(session.invalid().rung(), Rung::Nudge);
    session.invalid();
    let verdict = session.invalid();
    assert_eq!(verdict.rung(), Rung::Halt);
    assert_eq!(verdict.trip().unwrap().guard, GuardKind::Validation);
    let message = verdict.message().unwrap();
    assert!(message.contains("Expected: `path`") && message.contains("no `path`"));
    assert_eq!(message.matches('é').count(), 200);
    assert_eq!(session.ring.status().validation_failures, 5);
}

#[test]
fn silence_is_measured_from_the_last_sign_of_life() {
    let mut session = Session::new();
    let at = Moment::from_millis;
    let limit = Millis::new(100);
    assert_eq!(session.ring.stalled(at(9_999), limit), None);
    session.ring.life(at(1_000));
    session.before(&call("1", "bash", "x"));
    session.ring.life(at(5_000));
    session.ring.life(at(4_000));
    assert_eq!(session.ring.stalled(at(5_099), limit), None);
    assert_eq!(session.ring.stalled(at(99_999), Millis::ZERO), None);
    assert_eq!(session.ring.stalled(at(10), limit), None);
    let stall = session.ring.stalled(at(5_100), limit).unwrap();
    assert_eq!((stall.idle, stall.elapsed), (Millis::new(100), Millis::new(4_100)));
    assert_eq!((stall.trip.guard, stall.trip.measured), (GuardKind::Stall, 100));
    assert!(stall.message.starts_with("stalled after 100ms"));
    assert!(stall.message.contains("'bash', has not answered yet"));
}

#[test]
fn state_of_another_version_is_refused() {
    let mut state = serde_json::to_value(CallRing::new()).unwrap();
    state["version"] = json!(1);
    let error = serde_json::from_value::<CallRing>(state).unwrap_err().to_string();
    assert!(error.contains("version 1"), "{error}");
}

/// The largest state there can be: every table full of the longest entries.
#[test]
fn the_state_stays_small_whatever_happens() {
    let mut session = Session::new();
    session.rules.max_refusals = u32::MAX;
    let wide = "\u{10ffff}".repeat(500);
    let nasty = "\u{0}\"\\".repeat(500);
    for number in 0..3_000_u32 {
        for text in [&wide, &nasty] {
            let id = format!("{number}{text}");
            let agent = SubAgent::new(format!("{}{text}", number % 60));
            let mut call = call(&id, &format!("{number}{text}"), text).by(agent.clone());
            call.preview = text.clone();
            session.before(&call);
            session.before(&ToolCall { id: CallId::new(format!("b{id}")), ..call });
            let mut result = ok(&format!("b{id}"), text).by(agent);
            result.preview = text.clone();
            if number % 3 == 0 {
                session.after(&result);
            }
        }
        session.invalid();
        session.ring.context(u16::MAX);
    }
    let size = serde_json::to_vec(&session.ring).unwrap().len();
    assert!(size <= CallRing::MAX_STATE, "{size} bytes");
    assert!(size > CallRing::MAX_STATE / 3, "{size} bytes: the tables are not full");
    assert!(session.ring.status().other_tools > 0);
}

#[test]
fn the_main_agent_is_not_forgotten_for_many_sub_agents() {
    let mut session = Session::new();
    for _ in 0..5 {
        session.turn("", "t", "r");
    }
    for number in 0..200 {
        session.before(&call("", "t", "x").by(SubAgent::new(format!("{number}"))));
    }
    assert_eq!(session.before(&call("", "t", "x")).rung(), Rung::Refuse);
}
