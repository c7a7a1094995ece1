//! Rules A1 to A9 and B10 in process, beyond the first scenario of each.

use std::time::Duration;

use flyball_testkit::model::Step;
use serde_json::json;

use super::{Talk, call, done, sh};
use crate::scenario::Scenario;

/// A1: a clock in a result hides no loop, the order of keys neither; a number that moves is progress.
#[test]
fn the_same_call_is_the_same_whatever_it_looks_like() {
    let clock = || sh("cat a.txt; date +%T");
    let talk = Talk::new(vec![clock()]);
    talk.ends(6);
    assert!(talk.was_told("(blocked 1/3)"), "{:?}", talk.told());
    let read = |n: usize| {
        let args = ["{\"path\":\"a.txt\",\"from\":1}", "{\"from\":1.0,\"path\":\"a.txt\"}"];
        Step::malformed("read", args[n % 2])
    };
    let talk = Talk::new((0..20).map(read).collect());
    talk.ends(6);
    let count = || sh("echo >> n; wc -l < n");
    let mut script: Vec<Step> = (0..12).map(|_| count()).collect();
    script.push(done());
    let talk = Talk::new(script);
    talk.ends(0);
    assert_eq!(talk.scenario.read("n").len(), 12, "what moves is let run");
}

/// A2: identical calls of one round are one, and a sub-agent has a streak of its own.
#[test]
fn streaks_are_counted_by_round_and_by_agent() {
    let thrice = || {
        let args = json!({ "path": "a.txt" });
        call("read", &args).and_call("read", &args).and_call("read", &args)
    };
    let talk = Talk::new(vec![thrice(), thrice(), done()]);
    talk.ends(0);
    assert!(!talk.was_told("blocked"), "{:?}", talk.told());
    let look = || sh("cat a.txt");
    let script = vec![
        look(),
        look(),
        look(),
        call("task", &json!({ "prompt": "look" })),
        look(),
        look(),
        look(),
        Step::text("It says hi."),
        done(),
    ];
    let talk = Talk::new(script);
    talk.ends(0);
    for turn in talk.model.turns() {
        let given = turn.given();
        assert!(!given.results.iter().any(|text| text.contains("blocked")), "{given:?}");
    }
}

/// A5: a program that ran and failed is a result; a tool that failed is a failure.
#[test]
fn a_failing_program_is_no_failing_tool() {
    let mut script: Vec<Step> = (0..8).map(|n| sh(&format!("echo try {n}; exit 1"))).collect();
    script.push(done());
    Talk::new(script).ends(0);
    // One that goes well begins anew.
    let edit = |n: u32| call("edit", &json!({ "path": "a.txt", "old": n.to_string(), "new": "" }));
    let mut script: Vec<Step> = (0..4).map(edit).collect();
    script.push(sh("true"));
    script.extend((4..8).map(edit));
    script.push(done());
    Talk::new(script).ends(0);
}

/// A6: a model that stops in the middle is asked once more, and what it had said is not lost.
#[test]
fn a_model_that_stops_in_the_middle_goes_on_in_the_same_session() {
    let script = vec![
        sh("echo one >> effects"),
        sh("echo never >> effects").saying("one two three").pausing(Duration::from_mins(1)),
        sh("echo two >> effects"),
        done(),
    ];
    let talk = Talk::new(script);
    let talk =
        Talk { scenario: talk.scenario.env("FLYBALL_SESSION__STALL_AFTER", "500ms"), ..talk };
    talk.ends(0);
    assert_eq!(talk.scenario.read("effects"), "one\ntwo\n");
    assert!(talk.was_told("stalled after"), "{:?}", talk.told());
}

/// A7: a file that is read, and an MCP server's answer, count like a command's.
#[test]
fn a_large_result_of_any_tool_goes_to_a_file() {
    let scenario = Scenario::bare().file("big.txt", &"0123456789 0123456789\n".repeat(2_000));
    let script = vec![call("read", &json!({ "path": "big.txt" })), done()];
    let talk = Talk::with(script, scenario);
    let scenario = talk.scenario.env("FLYBALL_CALLS__LARGE_RESPONSE", "20000");
    let talk = Talk { scenario, ..talk };
    talk.ends(0);
    let results = talk.model.turns().last().unwrap().given().results;
    assert!(results[0].contains("characters") && results[0].len() < 3_000, "{}", results[0].len());
}

/// A9: each advice is given with the next thing the model is told, once; one that nobody would hear is
/// not announced.
#[test]
fn every_advice_is_told_once_and_with_the_next_thing_said() {
    let script = vec![
        // A8: a notice.
        sh("echo one").using(55_000, 0, 10),
        // A2: a nudge with the third.
        sh("cat a.txt").using(56_000, 0, 10),
        sh("cat a.txt").using(57_000, 0, 10),
        sh("cat a.txt").using(58_000, 0, 10),
        // A4: what was wrong.
        call("read", &json!({})).using(58_000, 0, 10),
        // A6: silence.
        Step::text("late").after(Duration::from_mins(1)),
        // Nobody hears of the 70 % any more.
        done().using(71_000, 0, 10),
    ];
    let talk = Talk::new(script);
    let scenario = talk.scenario.env("FLYBALL_SESSION__WINDOW", "100000");
    let talk = Talk { scenario: scenario.env("FLYBALL_SESSION__FIRST_BYTE", "1s"), ..talk };
    let ran = talk.ends(0);
    let turns = talk.model.turns();
    let told = |n: usize| {
        let given = turns[n].given();
        given.results.into_iter().chain(given.messages).collect::<Vec<_>>().join("\n")
    };
    let last = told(turns.len() - 1);
    for (first, words) in [
        (1, "% of the context window is used"),
        (4, "going round in circles"),
        (5, "`path` is missing"),
        (6, "stalled after"),
    ] {
        assert!(!told(first - 1).contains(words), "{words} came early");
        assert!(told(first).contains(words), "{words}: {}", told(first));
        assert_eq!(last.matches(words).count(), 1, "{words}: {last}");
    }
    assert!(!ran.stderr.contains("71%"), "announced to nobody: {}", ran.stderr);
}

const GATES: &str = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -f one || { echo src/a.rs:7: one is missing; exit 1; }\"\n\
    [[gates.check]]\nname = \"lint\"\ncommand = \"test -f two || { echo two is missing; exit 1; }\"\n\
    [[gates.check]]\nname = \"docs\"\ncommand = \"true\"\n";

/// B10: every red gate is told, with its findings, what is green, and what has changed since.
#[test]
fn what_blocks_a_completion_is_told_whole_and_then_what_changed() {
    let script = vec![sh("touch other"), done(), sh("touch one"), done(), sh("touch two"), done()];
    let talk = Talk::with(script, Scenario::bare().config(GATES));
    let ran = talk.ends(0);
    let turns = talk.model.turns();
    let first = turns[2].given().messages.join("\n");
    for words in [
        "# Completion Blocked: ",
        "one is missing",
        "two is missing",
        "[ ] tests",
        "[ ] lint",
        "[x] docs",
        "mend it",
    ] {
        assert!(first.contains(words), "{words}: {first}");
    }
    let second = turns[4].given().messages.last().unwrap().clone();
    assert!(second.contains("[x] tests") && second.contains("[ ] lint"), "{second}");
    assert!(second.to_lowercase().contains("fixed"), "{second}");
    // What runs is shown while it runs.
    for words in ["gate tests (1 of 3) …", "gate tests: failed", "gate docs: passed"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
}

/// A claim that something blocks it ends it as that, gates or not; a decision too.
#[test]
fn a_claim_is_the_last_word() {
    for (words, code) in [("BLOCKED:no network", 2), ("DECIDE:red or blue?", 3)] {
        let last = Step::text(format!("<promise>{words}</promise>"));
        let talk = Talk::with(vec![sh("touch other"), last], Scenario::bare().config(GATES));
        talk.ends(code);
    }
}

/// The times a service names are those that are waited, and said.
#[test]
fn a_limit_is_waited_for_as_long_as_the_service_says() {
    for status in [429, 529, 503] {
        let talk = Talk::new(vec![Step::error(status).header("retry-after", "1"), done()]);
        let ran = talk.ends(0);
        assert!(ran.stderr.contains("again in 1 s"), "{status}: {}", ran.stderr);
    }
}
