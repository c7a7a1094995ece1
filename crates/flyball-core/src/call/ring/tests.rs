//! The ring as a whole: streaks, late and double answers, bounds.

use std::format;
use std::string::ToString;
use std::vec::Vec;

use serde_json::json;

use super::*;
use crate::call::ValidationKind;
use crate::guard::Rung;
use crate::id::{CallId, RoundId};
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
fn of_two_guards_that_refuse_a_call_the_one_that_names_its_streak_speaks() {
    let mut session = Session::with_account();
    let guards = (0..6).filter_map(|number| {
        let id = number.to_string();
        let verdict = session.before(&call(&id, "t", "x"));
        if verdict.may_run() {
            session.after(&ok(&id, "a longer result"));
        }
        verdict.trip().map(|trip| trip.guard)
    });
    // The fifth time the account alone has seen enough.
    assert_eq!(guards.collect::<Vec<_>>(), [GuardKind::GoingNowhere, GuardKind::Repetition]);
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
fn a_fixed_time_is_measured_from_the_start_however_busy_the_session_is() {
    let mut session = Session::new();
    let at = Moment::from_millis;
    let limit = Millis::from_secs(30);
    assert_eq!(session.ring.overdue(at(99_999), limit), None);
    session.ring.life(at(1_000));
    session.before(&call("1", "fetch", "x"));
    session.ring.life(at(30_900));
    assert_eq!(session.ring.overdue(at(30_999), limit), None);
    assert_eq!(session.ring.overdue(at(99_999), Millis::ZERO), None);
    let over = session.ring.overdue(at(31_000), limit).unwrap();
    assert_eq!((over.idle, over.elapsed), (Millis::new(100), limit));
    assert_eq!((over.trip.guard, over.trip.measured), (GuardKind::IterationTimeout, 30_000));
    assert!(over.message.starts_with("stalled after 30000ms"), "{}", over.message);
    assert!(over.message.contains("'fetch', has not answered yet"), "{}", over.message);
}

/// A client whose hooks have no ids, and whose stream shows each call before its hook asks.
#[test]
fn a_shown_call_that_a_hook_without_ids_asks_about_counts_once() {
    let mut session = Session::new();
    session.rules.account = false;
    let mut refused_at = None;
    for number in 1..=6 {
        let shown = call(&format!("s{number}"), "bash", "ls");
        let verdict = session.before(&shown);
        let asked = session.ring.ask(&session.rules, NOW, &call("", "bash", "ls"));
        assert_eq!(asked.rung(), verdict.rung(), "{number}");
        if !verdict.may_run() {
            refused_at = Some(number);
            break;
        }
        session.after(&ok("", "told by the hook, in its words"));
        session.after(&ok(&format!("s{number}"), "told by the stream"));
    }
    assert_eq!(refused_at, Some(6));
    assert_eq!(session.ring.status().calls, 6);
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
    assert!(size > CallRing::MAX_STATE / 4, "{size} bytes: the tables are not full");
    assert!(session.ring.status().other_tools > 0);
}

/// 24 sub-agents with full accounts, and as many calls without an answer as are kept.
#[test]
fn the_state_of_24_sub_agents_with_full_accounts_stays_small() {
    let mut session = Session::with_account();
    let name = |number: u32| format!("{number}{}", "\u{10ffff}".repeat(40));
    for number in 0..80_u32 {
        for agent in 0..24_u32 {
            let agent = SubAgent::new(format!("sub-agent {agent}"));
            let id = format!("{number}");
            session.before(&call(&id, &name(number), &id).by(agent.clone()));
            session.after(&ok(&id, &format!("the answer number {number}")).by(agent));
        }
    }
    for number in 0..60_u32 {
        let agent = SubAgent::new(format!("sub-agent {}", number % 24));
        let round = RoundId::new("round");
        let mut open = call(&format!("open {number}"), &name(number), "x").by(agent.clone());
        open.preview = "\u{10ffff}".repeat(200);
        session.before(&open.in_round(round));
        if number % 2 == 0 {
            session.after(&ok(&format!("open {number}"), &"\u{10ffff}".repeat(200)).by(agent));
        }
    }
    let size = serde_json::to_vec(&session.ring).unwrap().len();
    assert!(size <= CallRing::MAX_STATE, "{size} bytes");
    assert!(size > CallRing::MAX_STATE * 3 / 4, "{size} bytes: the tables are not full");
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

/// A call of this round.
fn member(id: &str, tool: &str, round: &str) -> ToolCall {
    call(id, tool, "x").in_round(RoundId::new(round))
}

impl Session {
    fn with_account() -> Self {
        let mut session = Self::new();
        session.rules.account = true;
        session
    }

    fn ask(&mut self, call: &ToolCall) -> Verdict {
        self.ring.ask(&self.rules, NOW, call)
    }

    fn failed(&mut self, id: &str, text: &str) -> Verdict {
        self.after(&ToolResult::new(CallId::new(id), ToolOutcome::Tool, text))
    }
}

#[test]
fn a_call_that_is_asked_about_and_shown_counts_once() {
    let mut session = Session::new();
    for id in ["1", "2", "3", "4", "5"] {
        let call = call(id, "t", "x");
        assert_eq!(session.ask(&call), Verdict::Pass);
        assert_eq!(session.ask(&call), Verdict::Pass, "asked again");
        assert_eq!(session.before(&call), Verdict::Pass, "shown");
        assert_eq!(session.ask(&call), Verdict::Pass, "asked after it was shown");
        session.after(&ok(id, "r"));
        assert_eq!(session.after(&ok(id, "r")), Verdict::Pass, "told twice");
    }
    let status = session.ring.status();
    assert_eq!((status.calls, status.streak), (5, 5));
    let sixth = call("6", "t", "x");
    let asked = session.ask(&sixth);
    assert_eq!(asked.rung(), Rung::Refuse);
    assert_eq!((session.ask(&sixth), session.before(&sixth)), (asked.clone(), asked));
    assert_eq!(session.ring.status().refusals, 1);
    let seventh = session.before(&call("7", "t", "x"));
    assert!(seventh.message().unwrap().contains("called 7 times"), "{seventh:?}");
}

#[test]
fn a_client_without_a_stream_is_judged_by_its_questions() {
    use Rung::{Halt, Nudge, Pass, Refuse};
    let mut session = Session::new();
    let mut rungs = Vec::new();
    for id in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        let verdict = session.ask(&call(id, "t", "x"));
        let after = if verdict.may_run() { session.after(&ok(id, "r")) } else { Verdict::Pass };
        rungs.push(verdict.rung().max(after.rung()));
    }
    assert_eq!(rungs, [Pass, Pass, Nudge, Pass, Pass, Refuse, Refuse, Halt]);
}

#[test]
fn calls_the_stream_never_shows_are_refused_and_touch_no_other_track() {
    let mut session = Session::new();
    for number in 0..5 {
        // What the stream shows is repeated, and so is what it never shows, in turn.
        let (shown, hidden) = (format!("s{number}"), format!("h{number}"));
        session.before(&call(&shown, "shown", "x"));
        session.after(&ok(&shown, "r"));
        assert_eq!(session.ask(&call(&hidden, "hidden", "x")), Verdict::Pass);
        session.after(&ok(&hidden, "r"));
    }
    assert_eq!(session.ask(&call("h5", "hidden", "x")).rung(), Rung::Refuse);
    assert_eq!(session.before(&call("s5", "shown", "x")).rung(), Rung::Refuse);
    assert_eq!(session.ask(&call("h6", "hidden", "x")).rung(), Rung::Halt);
    assert_eq!(session.ring.status().refusals, 3);
}

#[test]
fn a_result_that_overtakes_its_call_on_the_stream_is_booked_where_it_belongs() {
    let mut session = Session::new();
    session.before(&call("0", "t", "x"));
    session.after(&ok("0", "r"));
    let late = call("1", "t", "x");
    session.ask(&late);
    session.after(&ok("1", "r"));
    session.before(&late);
    assert_eq!(session.after(&ok("1", "r")), Verdict::Pass);
    session.before(&call("2", "t", "x"));
    assert_eq!(session.after(&ok("2", "r")).rung(), Rung::Nudge, "the third of the streak");
}

#[test]
fn a_question_without_an_id_is_matched_by_what_it_calls() {
    let mut session = Session::new();
    for id in ["1", "2", "3", "4", "5"] {
        session.ask(&call("", "t", "x"));
        session.before(&call(id, "t", "x"));
        session.after(&ok(id, "r"));
    }
    assert_eq!(session.ring.status().calls, 5);
    assert_eq!(session.ask(&call("", "t", "x")).rung(), Rung::Refuse);
    assert_eq!(session.before(&call("6", "t", "x")).rung(), Rung::Refuse);
    assert_eq!(session.ring.status().refusals, 1);
}

#[test]
fn identical_calls_of_one_round_are_one_call() {
    let mut session = Session::new();
    for round in ["a", "b", "c", "d", "e"] {
        let ids = [1, 2, 3].map(|number| format!("{round}{number}"));
        for id in &ids {
            assert_eq!(session.before(&member(id, "t", round)), Verdict::Pass);
        }
        for id in &ids {
            session.after(&ok(id, "r"));
        }
    }
    assert_eq!(session.ring.status().streak, 5);
    let verdicts = ["f1", "f2"].map(|id| session.before(&member(id, "t", "f")));
    assert_eq!(verdicts.each_ref().map(Verdict::rung), [Rung::Refuse, Rung::Refuse]);
    assert_eq!(session.ring.status().refusals, 1);
}

#[test]
fn a_parallel_round_fails_once_and_only_when_all_of_it_that_ran_failed() {
    use ToolOutcome::{Exit, Ok, Refused, Tool};
    let mut session = Session::new();
    session.rules.max_consecutive_failures = 3;
    let mut round = |name: &str, outcomes: &[ToolOutcome]| {
        let ids: Vec<String> = (0..outcomes.len()).map(|at| format!("{name}{at}")).collect();
        for id in &ids {
            session.before(&member(id, id, name));
        }
        for (id, outcome) in ids.iter().zip(outcomes) {
            session.after(&ToolResult::new(CallId::new(id), *outcome, "gone"));
        }
        session.ring.status().failure_streak
    };
    assert_eq!(round("a", &[Tool, Tool, Tool]), 1);
    assert_eq!(round("b", &[Tool, Refused, Refused]), 2);
    assert_eq!(round("c", &[Refused, Refused]), 2);
    assert_eq!(round("d", &[Tool, Ok, Tool]), 0);
    assert_eq!(round("e", &[Tool, Exit]), 0);
    assert_eq!(round("f", &[Tool, Tool]), 1);
}

#[test]
fn a_failing_call_never_made_before_begins_the_streak_anew_unless_it_says_the_same() {
    let mut session = Session::new();
    let mut fail = |tool: &str, text: &str| {
        let id = format!("{}", session.ring.status().calls);
        session.before(&call(&id, tool, "x"));
        session.failed(&id, text);
        session.ring.status().failure_streak
    };
    let steps = [("a", "1"), ("b", "2"), ("c", "2"), ("a", "3"), ("d", "3"), ("e", "4")];
    assert_eq!(steps.map(|(tool, text)| fail(tool, text)), [1, 1, 2, 3, 4, 1]);
    assert_eq!(session.ring.status().failures, 6);
}

#[test]
fn what_a_human_says_ends_every_streak_and_leaves_the_sums() {
    let mut session = Session::new();
    turns(&mut session, "t", &["r"; 6]);
    session.before(&call("f", "g", "x"));
    session.failed("f", "no such file");
    session.invalid();
    let counts = |session: &Session| {
        let status = session.ring.status();
        let streaks = (status.refusals, status.failure_streak, status.validation_streak);
        (streaks, status.failures, status.validation_failures)
    };
    assert_eq!(counts(&session), ((1, 1, 1), 1, 1));
    session.ring.human(NOW);
    assert_eq!(counts(&session), ((0, 0, 0), 1, 1));
}

#[test]
fn a_call_that_only_the_stream_knows_to_change_files_is_a_change() {
    for (asked, shown) in [(false, true), (true, false), (true, true)] {
        let mut session = Session::with_account();
        session.turn("1", "read", "what stands in the file");
        let edit = |mutating: bool| ToolCall { mutating, ..call("2", "edit", "x") };
        session.ask(&edit(asked));
        session.before(&edit(shown));
        session.after(&ok("2", "the file was changed"));
        session.turn("3", "read", "what stands in the file");
        assert_eq!(session.ring.status().evidence, 0, "asked {asked}, shown {shown}");
    }
    let mut session = Session::with_account();
    session.turn("1", "read", "what stands in the file");
    session.turn("2", "look", "nothing is changed by it");
    session.turn("3", "read", "what stands in the file");
    assert_eq!(session.ring.status().evidence, 2);
}

#[test]
fn a_call_without_an_answer_stands_between_two_that_have_one() {
    let mut session = Session::with_account();
    session.before(&member("1", "read", "a"));
    session.after(&ok("1", "what stands in the file"));
    session.before(&member("2", "cancelled", "b"));
    session.before(&member("3", "read", "c"));
    session.after(&ok("3", "what stands in the file"));
    assert_eq!(session.ring.status().evidence, 2, "again, and not in a row");
}

#[test]
fn an_answer_without_an_id_is_never_for_the_call_of_another_sub_agent() {
    let mut session = Session::new();
    let mut last = Rung::Pass;
    for id in ["1", "2", "3"] {
        session.before(&call(id, "t", "x").by(SubAgent::new("one")));
        session.after(&ok("", &format!("to nobody: {id}")));
        last = session.after(&ok(id, "r").by(SubAgent::new("one"))).rung();
    }
    assert_eq!(last, Rung::Nudge, "the same answer three times");
}

#[test]
fn a_human_begins_everything_anew() {
    let mut session = Session::with_account();
    for round in 0..4 {
        turns(&mut session, "t", &["a longer result"; 4]);
        session.ring.human(NOW);
        let status = session.ring.status();
        assert_eq!((status.refusals, status.streak, status.evidence), (0, 0, 0), "{round}");
    }
    assert_eq!(session.ring.status().calls, 16);
}

#[test]
fn the_account_sees_laps_that_no_streak_shows() {
    let mut session = Session::with_account();
    let mut seen = Vec::new();
    for lap in 0..6 {
        for tool in ["a", "b", "c", "d"] {
            let id = format!("{lap}{tool}");
            let before = session.before(&call(&id, tool, "x"));
            seen.push(before.clone());
            if before.may_run() {
                seen.push(session.after(&ok(&id, &format!("what {tool} answers"))));
            }
        }
    }
    let first = seen.iter().find(|verdict| **verdict != Verdict::Pass).unwrap();
    assert!(first.message().unwrap().contains("going round through the same 4 calls"), "{first:?}");
    assert_eq!(first.trip().unwrap().guard, GuardKind::GoingNowhere);
    let halt = seen.iter().find(|verdict| verdict.is_halt()).unwrap();
    assert_eq!(halt.outcome(), Some(crate::Outcome::RepetitionLoop));
    session.rules.account = false;
    assert_eq!(session.before(&call("last", "a", "x")), Verdict::Pass, "it is switched off");
}

#[test]
fn a_refusal_that_comes_back_as_the_tools_failure_did_not_run() {
    let mut session = Session::new();
    turns(&mut session, "t", &["r"; 5]);
    let refused = session.before(&call("6", "t", "x"));
    session.failed("6", refused.message().unwrap());
    session.failed("unknown", refused.message().unwrap());
    let status = session.ring.status();
    assert_eq!((status.failures, status.failure_streak), (0, 0));
}

#[test]
fn what_only_a_forged_hook_reports_changes_no_streak() {
    let mut session = Session::new();
    session.rules.max_consecutive_failures = 3;
    for number in 0..2 {
        let (shown, forged) = (format!("s{number}"), format!("f{number}"));
        session.before(&call(&shown, "t", "x"));
        assert!(session.failed(&shown, "boom").may_run());
        // Anyone can call a hook: of a call the stream never shows, and of an answer to nothing.
        session.ask(&call(&forged, "forged", "x"));
        session.ring.told(&session.rules, NOW, &ok(&forged, "fine"));
        session.ring.told(&session.rules, NOW, &ok(&format!("n{number}"), "fine"));
    }
    let status = session.ring.status();
    assert_eq!((status.streak, status.failure_streak), (2, 2));
    session.before(&call("s2", "t", "x"));
    let verdict = session.failed("s2", "boom");
    assert_eq!(verdict.trip().map(|trip| trip.guard), Some(GuardKind::ToolFailures));
}

#[test]
fn what_was_asked_and_is_shown_after_its_answer_counts_as_made() {
    let mut session = Session::new();
    session.rules.max_consecutive_failures = 2;
    session.before(&call("0", "t", "x"));
    session.failed("0", "boom");
    let late = call("1", "t", "x");
    session.ask(&late);
    let told = ToolResult::new(CallId::new("1"), ToolOutcome::Tool, "boom");
    assert_eq!(session.ring.told(&session.rules, NOW, &told), Verdict::Pass);
    let verdict = session.before(&late);
    assert_eq!(verdict.trip().map(|trip| trip.guard), Some(GuardKind::ToolFailures));
}

#[test]
fn a_call_neither_shown_nor_answered_is_never_booked() {
    let mut session = Session::new();
    session.turn("0", "t", "r");
    for number in 1..40 {
        session.ask(&call(&format!("n{number}"), "other", "x"));
    }
    assert_eq!(session.ring.status().streak, 1);
    assert_eq!(session.turn("1", "t", "r"), Rung::Pass);
    assert_eq!(session.turn("2", "t", "r"), Rung::Nudge, "the third of an unbroken streak");
}

#[test]
fn the_same_words_without_a_call_between_are_worth_a_word() {
    use crate::call::fingerprint_words;
    use Rung::{Nudge, Pass};
    let mut session = Session::new();
    session.rules.account = true;
    let say = |session: &mut Session, words: &str| {
        let agent = SubAgent::default();
        session.ring.only_spoke(&session.rules, NOW, &agent, fingerprint_words(words)).rung()
    };
    let rungs: Vec<Rung> = (0..6).map(|_| say(&mut session, "Let me try again.")).collect();
    assert_eq!(rungs, [Pass, Pass, Nudge, Pass, Pass, Nudge]);
    assert_eq!(say(&mut session, "Something else."), Pass);
    for words in ["Done.", "Done."] {
        assert_eq!(say(&mut session, words), Pass);
    }
    session.turn("1", "t", "r");
    assert_eq!(say(&mut session, "Done."), Pass, "a call came between");
    for _ in 0..5 {
        assert_eq!(say(&mut session, "..."), Pass, "no word at all");
    }
    session.rules.account = false;
    assert!((0..9).all(|_| say(&mut session, "Again.") == Pass), "switched off with the account");
}

#[test]
fn a_chant_is_told_and_never_more() {
    let mut session = Session::new();
    session.rules.account = true;
    let chant = Chant::at_end_of(&"I am stuck. ".repeat(30)).unwrap();
    for _ in 0..50 {
        let verdict = session.ring.chanted(&session.rules, NOW, &chant);
        assert_eq!(verdict.rung(), Rung::Nudge);
        assert!(verdict.message().unwrap().contains("30 times in a row: \"I am stuck.\""));
    }
}

#[test]
fn the_same_change_again_and_again_is_told_once_whatever_it_brings() {
    use Rung::{Nudge, Pass};
    let mut session = Session::new();
    session.rules.account = true;
    let rungs: Vec<Rung> = (0..8)
        .map(|number| {
            let id = format!("{number}");
            session.before(&call(&id, "insert", "import os").changing_files());
            session.after(&ok(&id, &format!("a file of {number} lines now"))).rung()
        })
        .collect();
    assert_eq!(rungs, [Pass, Pass, Pass, Nudge, Pass, Pass, Pass, Pass]);
}

#[test]
fn where_the_stream_shows_every_call_a_forged_first_question_changes_nothing_either() {
    let mut session = Session::new();
    session.ring = CallRing::streamed();
    for number in 0..3 {
        session.ask(&call(&format!("f{number}"), "forged", "x"));
    }
    assert_eq!(session.ring.status().streak, 0);
    for number in 0..5 {
        let shown = call(&format!("{number}"), "t", "x");
        assert_eq!(session.ask(&shown), Verdict::Pass);
        session.before(&shown);
        session.after(&ok(&format!("{number}"), "r"));
    }
    assert_eq!(session.ring.status().streak, 5);
    assert_eq!(session.ask(&call("6", "t", "x")).rung(), Rung::Refuse);
}
