//! Sessions played to the guards: where loops begin and end, and what they cost.

use std::string::{String, ToString};

use serde_json::json;

use super::*;
use crate::call::{ValidationFailure, ValidationKind};
use crate::event::Spend;
use crate::recording::Step;

fn rules() -> CallRules {
    Policy::default().calls.clone()
}

/// Feeds a session call by call, each in a turn of its own that used tokens.
struct Player {
    hindsight: Hindsight,
    number: u64,
}

impl Player {
    fn new() -> Self {
        Self { hindsight: Hindsight::new(rules()), number: 0 }
    }

    /// A call of this sub-agent on this path; `edit_file` changes files.
    fn call(&mut self, agent: &str, tool: &str, path: &str, answer: &str) -> Rung {
        let id = CallId::new(self.number.to_string());
        self.number += 1;
        let agent = SubAgent::new(agent);
        let spend = Spend { input_tokens: 100, output_tokens: 10, cost_micro_usd: 7 };
        self.hindsight.used(&agent, Cost::of(spend));
        let mut call = ToolCall::new(id.clone(), tool, &json!({ "path": path }), &rules());
        call.mutating = tool == "edit_file";
        let before = self.hindsight.fact(None, &AgentFact::CalledTool(call.by(agent.clone())));
        let result = ToolResult::new(id, ToolOutcome::Ok, answer).by(agent);
        let after = self.hindsight.fact(None, &AgentFact::ToolReturned(result));
        before.verdict.rung().max(after.verdict.rung())
    }

    fn read(&mut self, path: &str) -> Rung {
        self.call("", "read_file", path, "what stands in the file, the same each time")
    }
}

#[test]
fn waste_begins_after_the_guards_word_and_ends_with_the_last_repetition() {
    let mut player = Player::new();
    for _ in 0..6 {
        player.read("a.rs");
    }
    for path in ["b.rs", "c.rs", "d.rs", "e.rs", "f.rs", "g.rs", "h.rs", "i.rs", "j.rs", "k.rs"] {
        player.call("", "read_file", path, &std::format!("something new in {path}"));
    }
    let judged = player.hindsight.finish();
    assert_eq!((judged.steps, judged.calls, judged.loops.len()), (16, 16, 1));
    // Told after the 3rd call: steps 3, 4 and 5 repeat; all that is new is no waste.
    assert_eq!(judged.firsts.nudge, Some(2));
    let found = &judged.loops[0];
    assert_eq!((found.kind, found.began, found.ended), (LoopKind::SameCall, 1, 5));
    let waste = found.waste();
    assert_eq!((waste.calls, waste.tokens(), waste.known_micro_usd()), (3, 330, Some(21)));
    assert_eq!(judged.waste[0], waste);
    assert!(judged.waste[1].calls < waste.calls, "what comes after a refusal is less");
    assert_eq!(judged.spent.calls, 16);
}

#[test]
fn a_look_elsewhere_ends_a_loop_only_when_nothing_is_left_against_the_agent() {
    for (elsewhere, loops) in [(1, 1), (4, 2)] {
        let mut player = Player::new();
        for path in 0..=elsewhere {
            for _ in 0..if path == 0 { 3 } else { 1 } {
                player.call("", "read_file", &path.to_string(), &std::format!("of {path}"));
            }
        }
        for _ in 0..4 {
            player.call("", "read_file", "0", "of 0");
        }
        let judged = player.hindsight.finish();
        assert_eq!(judged.loops_total, loops, "{elsewhere}: {:?}", judged.loops);
    }
}

#[test]
fn a_message_of_a_human_ends_a_loop_and_begins_a_new_account() {
    let mut player = Player::new();
    for _ in 0..2 {
        for _ in 0..4 {
            player.read("a.rs");
        }
        player.hindsight.human(None);
    }
    let judged = player.hindsight.finish();
    assert_eq!((judged.humans, judged.loops_total, judged.firsts.refuse), (2, 2, None));
    assert!(judged.loops.iter().all(|one| one.waste().calls == 1), "{:?}", judged.loops);
}

#[test]
fn a_change_that_counts_after_a_halt_is_harm_unless_a_human_spoke() {
    for (human, harmed) in [(false, true), (true, false)] {
        let mut player = Player::new();
        while player.read("a.rs") < Rung::Halt {}
        if human {
            player.hindsight.human(None);
        }
        player.call("", "edit_file", "b.rs", "the file was changed as asked");
        let judged = player.hindsight.finish();
        assert_eq!(judged.harmed, [harmed; 3], "human: {human}");
        let halt = judged.loops[0].halt.as_ref().unwrap();
        assert_eq!(halt.changed_later, harmed);
        assert_eq!(judged.last_change, Some(judged.steps - 1));
    }
}

#[test]
fn sub_agents_have_loops_and_costs_of_their_own() {
    let mut player = Player::new();
    for turn in 0..6 {
        player.call("one", "read_file", "a.rs", "what stands in the file, again");
        player.call("two", "read_file", &turn.to_string(), &std::format!("new {turn}"));
    }
    let judged = player.hindsight.finish();
    assert_eq!(judged.loops.len(), 1);
    assert_eq!(judged.loops[0].agent.as_str(), "one");
    assert_eq!(judged.loops[0].waste().calls, 3);
    assert_eq!(judged.dead_tail, 0, "half of it is new");
}

#[test]
fn an_answer_that_names_nobody_is_the_one_that_was_awaited_and_a_stranger_s_is_nobody_s() {
    for (who, id, failed) in [("", "1", 1), ("two", "1", 0), ("", "2", 0), ("one", "1", 1)] {
        let mut hindsight = Hindsight::new(rules());
        let call = ToolCall::new(CallId::new("1"), "read_file", &json!({}), &rules());
        hindsight.fact(None, &AgentFact::CalledTool(call.by(SubAgent::new("one"))));
        let result = ToolResult::new(CallId::new(id), ToolOutcome::Tool, "no such file");
        hindsight.fact(None, &AgentFact::ToolReturned(result.by(SubAgent::new(who))));
        assert_eq!(hindsight.finish().failed, failed, "{id} of {who:?}");
    }
}

#[test]
fn tokens_without_a_price_stay_without_one() {
    let unknown = Cost::of(Spend { input_tokens: 5, output_tokens: 1, cost_micro_usd: 0 });
    assert_eq!(unknown.known_micro_usd(), None);
    let known = Cost::of(Spend { input_tokens: 5, output_tokens: 1, cost_micro_usd: 9 });
    assert_eq!(unknown.plus(known).known_micro_usd(), Some(9));
    assert_eq!(unknown.plus(known).unpriced_tokens, 6);
    assert_eq!(Cost::default().known_micro_usd(), None);
}

fn words(tool: &str) -> Step {
    Step { tool: tool.into(), ..Step::default() }
}

/// A call of a recording that names everything, and its answer as a step of its own.
fn open(id: u64, round: u64, agent: Option<u64>) -> Step {
    let args = json!({ "call": 1 });
    let (call_id, round) = (Some(id), Some(round));
    Step { tool: "read".into(), args, call_id, round, sub_agent: agent, ..Step::default() }
}

fn late(id: u64, agent: Option<u64>) -> Step {
    let (result_nhash, result_hash) = (Some(String::from("1")), Some(String::from("1")));
    let (call_id, result_len) = (Some(id), Some(80));
    Step { call_id, result_nhash, result_hash, result_len, sub_agent: agent, ..words("_answer") }
}

#[test]
fn answers_that_come_late_and_calls_of_one_turn_are_played_as_they_came() {
    // Twins of one turn are one call; told of three times only after the third turn.
    let mut steps = Vec::new();
    for turn in 1..=3 {
        steps.extend([open(2 * turn, turn, None), open(2 * turn + 1, turn, None)]);
        steps.extend([late(2 * turn + 1, None), late(2 * turn, None)]);
    }
    let recording = Recording { steps, ..Recording::default() };
    let judged = Guards::All.judge(&recording);
    assert_eq!((judged.calls, judged.steps), (6, 6));
    assert_eq!(judged.said, [1, 0, 0]);
    assert_eq!(judged.firsts.nudge, Some(4));
}

#[test]
fn everything_a_recording_can_hold_is_heard() {
    let spent = Step { tok_in: Some(3), tok_out: Some(4), micro_usd: Some(5), ..words("_spent") };
    let steps = std::vec![
        words("_user"),
        spent,
        words("_message"),
        words("_compacted"),
        words("_invalid"),
        Step { times: Some(12), ..words("_chant") },
    ];
    let text = serde_json::to_string(&Recording { steps, ..Recording::default() }).unwrap();
    let recording: Recording = serde_json::from_str(&text).unwrap();
    let judged = Guards::All.judge(&recording);
    assert_eq!((judged.humans, judged.compactions, judged.steps), (1, 1, 1));
    assert_eq!((judged.spent.tokens(), judged.spent.known_micro_usd()), (7, Some(5)));
    assert_eq!(judged.said, [2, 0, 0], "malformed output, and a chant");
}

#[test]
fn a_dead_tail_is_the_longest_end_that_brings_little() {
    let step = |call: u64| Step {
        tool: "read".into(),
        args: json!({ "call": call }),
        result_nhash: Some(call.to_string()),
        ..Step::default()
    };
    let tail = |calls: &[u64]| {
        let steps = calls.iter().map(|call| step(*call)).collect();
        Guards::All.judge(&Recording { steps, ..Recording::default() }).dead_tail
    };
    assert_eq!(tail(&[1, 2, 3, 1, 2, 3, 1, 2, 3]), 6);
    assert_eq!(tail(&[1, 2, 3, 1, 2, 3, 1, 2]), 0, "too short");
    assert_eq!(tail(&[1, 2, 3, 1, 2, 3, 9, 1, 2, 3, 1]), 8, "one of eight may be new");
}

#[test]
fn malformed_output_is_a_loop_of_its_own() {
    let mut player = Player::new();
    player.read("a.rs");
    for _ in 0..3 {
        let failure = ValidationFailure::new(ValidationKind::UnknownTool, "", "", "");
        player.hindsight.fact(None, &AgentFact::SpokeNonsense(failure));
    }
    // Well-formed again, though it is an old question: that ends it, and begins another loop later.
    for _ in 0..4 {
        player.read("a.rs");
    }
    let judged = player.hindsight.finish();
    let kinds: Vec<LoopKind> = judged.loops.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [LoopKind::Malformed, LoopKind::SameCall]);
    assert_eq!(judged.loops[0].waste().calls, 0);
    assert!(judged.loops[0].halt.is_some() && judged.loops[1].halt.is_none());
}
