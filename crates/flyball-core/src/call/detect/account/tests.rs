//! Weights and ladder of the account, one event at a time.

use std::vec::Vec;

use super::*;
use crate::call::detect::{Answered, Mark};
use crate::policy::Policy;

struct Teller {
    account: Account,
    number: u64,
}

impl Teller {
    fn new() -> Self {
        Self { account: Account::default(), number: 0 }
    }

    /// A call and its answer: letters name them, upper case changes files.
    fn turn(&mut self, call: char, result: &str, outcome: ToolOutcome) -> Option<Detection> {
        self.raw_turn(call, (result, result), outcome)
    }

    /// As [`Self::turn`], with the result as it stood besides the normalised one.
    fn raw_turn(
        &mut self,
        call: char,
        (result, raw): (&str, &str),
        outcome: ToolOutcome,
    ) -> Option<Detection> {
        self.number += 1;
        let mutating = call.is_uppercase();
        let mut letter = [0; 4];
        let call = Mark::of_text(call.encode_utf8(&mut letter));
        let of = CallSeen { tool: Mark::of_text("tool"), call, number: self.number, mutating };
        let (mark, raw) = (Mark::of_text(result), Mark::of_text(raw));
        let answer = Answered { result: mark, raw, outcome, empty: result.is_empty() };
        self.account.answered(&Policy::default().calls, &ResultSeen { of, answer })
    }

    /// The balance after each call of a story, every call answered with its own letter.
    fn story(&mut self, calls: &str) -> Vec<u8> {
        let mut balance = |call: char| {
            let answer: std::string::String = ["the answer of ", &std::format!("{call}")].concat();
            self.turn(call, &answer, ToolOutcome::Ok);
            self.account.balance
        };
        calls.chars().map(&mut balance).collect()
    }
}

#[test]
fn every_weight_is_the_one_of_the_table() {
    // In a row: +3, then +6 each, never above 40.
    assert_eq!(Teller::new().story("aaaaaaaaa"), [0, 3, 9, 15, 21, 27, 33, 39, 40]);
    // Again in the same epoch: +2, then on the old path +5.
    assert_eq!(Teller::new().story("abcabc"), [0, 0, 0, 2, 7, 12]);
    // Something was changed in between: known answers say nothing, on the path +3.
    assert_eq!(Teller::new().story("abAab"), [0, 0, 0, 0, 3]);
    // A change made again: +2 in another epoch.
    assert_eq!(Teller::new().story("ABA"), [0, 0, 2]);
    let mut teller = Teller::new();
    teller.story("aaa");
    // A known call with a new answer: −4; a new call: −3; refused by the tool: 0.
    teller.turn('a', "another answer", ToolOutcome::Ok);
    assert_eq!(teller.account.balance, 5);
    teller.turn('b', "no such file", ToolOutcome::Tool);
    assert_eq!(teller.account.balance, 5);
    teller.turn('c', "an answer", ToolOutcome::Ok);
    assert_eq!(teller.account.balance, 2);
    // Words without a call: −3.
    teller.account.only_spoke();
    assert_eq!(teller.account.balance, 0);
    // A known pair refused by the tool: one more than again; an empty answer: one less.
    teller.turn('b', "no such file", ToolOutcome::Tool);
    assert_eq!(teller.account.balance, 3);
    teller.turn('d', "", ToolOutcome::Ok);
    teller.turn('b', "no such file", ToolOutcome::Tool);
    teller.turn('d', "", ToolOutcome::Ok);
    assert_eq!(teller.account.balance, 5 + 5 - 1);
}

#[test]
fn it_tells_once_until_it_has_fallen() {
    let mut teller = Teller::new();
    let told = |teller: &mut Teller, call: char| {
        teller.turn(call, &std::format!("answer of {call}"), ToolOutcome::Ok).is_some()
    };
    let story: Vec<bool> = "aaaabcdeaaa".chars().map(|call| told(&mut teller, call)).collect();
    // 0, 3, 9, 15; then new calls: 12, 9, 6, 3; then old ones: 7, 10, 16.
    let rises = [false, false, false, true];
    let falls_and_rises = [false, false, false, false, false, true, false];
    let wanted = [&rises[..], &falls_and_rises].concat();
    assert_eq!(story, wanted);
}

/// Word for word the same proves it at the third time, all but the same at the sixth.
#[test]
fn a_session_is_ended_the_later_the_less_the_answers_are_the_same() {
    let halted_at = |word_for_word: bool| {
        let mut teller = Teller::new();
        (1..=20).find(|number| {
            let call = if number % 2 == 0 { 'b' } else { 'a' };
            let result = std::format!("the answer of {call}");
            let raw = std::format!("{result} in {} ms", if word_for_word { 1 } else { *number });
            let found = teller.raw_turn(call, (&result, &raw), ToolOutcome::Ok);
            found.is_some_and(|found| found.severity == Severity::Halt)
        })
    };
    assert_eq!((halted_at(true), halted_at(false)), (Some(8), Some(11)));
}

#[test]
fn a_change_made_four_times_proves_it_whatever_it_was_answered() {
    let mut teller = Teller::new();
    teller.turn('A', "changed 1 line", ToolOutcome::Ok);
    teller.story("aaaaaaaa");
    let answers = ["changed 2 lines", "changed 3 lines", "changed 4 lines"];
    let found = answers.map(|answer| teller.turn('A', answer, ToolOutcome::Ok));
    let severities = found.map(|found| found.map(|found| found.severity));
    assert_eq!(severities, [None, None, Some(Severity::Halt)]);
}

#[test]
fn a_change_that_brings_something_new_is_not_told_as_one_made_again() {
    let mut teller = Teller::new();
    teller.turn('A', "changed one line", ToolOutcome::Ok);
    teller.story("aaa");
    assert_eq!(teller.account.balance, 9);
    let told = teller.turn('A', "changed two lines", ToolOutcome::Ok);
    assert_eq!(told.map(|found| found.seen), Some(Seen::Old(3)));
    let mut teller = Teller::new();
    teller.story("Aaaa");
    let told = teller.turn('A', "the answer of A", ToolOutcome::Ok);
    assert_eq!(told.map(|found| found.seen), Some(Seen::SameChange(2)));
}

#[test]
fn an_answer_no_change_changes_is_told_at_4_and_8_changes() {
    let mut teller = Teller::new();
    let changes = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I'];
    let mut told = Vec::new();
    for (number, change) in changes.into_iter().enumerate() {
        if let Some(found) = teller.turn('t', "3 tests failed", ToolOutcome::Exit) {
            told.push((number, found.seen));
        }
        let done = std::format!("changed {number}");
        teller.turn(change, &done, ToolOutcome::Ok);
    }
    assert_eq!(told.first(), Some(&(4, Seen::Stale(4))));
    assert_eq!(told.last(), Some(&(8, Seen::Stale(8))));
}

#[test]
fn one_answer_whatever_is_asked_is_told_at_6() {
    let mut teller = Teller::new();
    let told = "abcdef"
        .chars()
        .filter_map(|call| teller.turn(call, "nothing found here", ToolOutcome::Ok));
    let told: Vec<Seen> = told.map(|found| found.seen).collect();
    assert_eq!(told, [Seen::Stagnant(6)]);
}

#[test]
fn the_state_is_read_back_as_it_was_and_stays_below_3_kb() {
    let mut teller = Teller::new();
    for number in 0..500_u32 {
        let call = char::from_u32(0x4e00 + number % 90).unwrap();
        teller.turn(call, &std::format!("answer {}", number % 7), ToolOutcome::Ok);
    }
    let json = serde_json::to_string(&teller.account).unwrap();
    assert!(json.len() <= 3_000, "{} bytes", json.len());
    assert_eq!(serde_json::from_str::<Account>(&json).unwrap(), teller.account);
    let broken = json.replacen("\"pairs\":\"", "\"pairs\":\"AAAA", 1);
    assert!(serde_json::from_str::<Account>(&broken).is_err());
}
