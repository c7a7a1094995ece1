//! `flyball session` with a scripted model: its tools, and every guard around them, in process.

mod crash;
mod keys;
mod life;
mod models;
mod rules;
mod servers;

use std::time::Duration;

use flyball_testkit::model::{ModelServer, Step};
use serde_json::{Value, json};

use crate::scenario::{Ran, Scenario};

/// A session and its model.
pub(crate) struct Talk {
    pub(crate) scenario: Scenario,
    pub(crate) model: ModelServer,
}

impl Talk {
    /// A repository with one file, and a model that follows a script.
    pub(crate) fn new(script: Vec<Step>) -> Self {
        Self::with(script, Scenario::bare())
    }

    /// The same in a scenario of one's own.
    pub(crate) fn with(script: Vec<Step>, scenario: Scenario) -> Self {
        let model = ModelServer::start(script).unwrap();
        let scenario = scenario
            .env("ANTHROPIC_API_KEY", "a-key-that-is-none")
            .env("ANTHROPIC_BASE_URL", &model.url())
            .env("FLYBALL_SESSION__PERMISSION", "skip")
            .committed();
        Self { scenario, model }
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.scenario = self.scenario.env(name, value);
        self
    }

    /// One task to its end; nothing may be left running.
    #[track_caller]
    pub(crate) fn ends(&self, code: i32) -> Ran {
        self.ends_with(&["mend it"], code)
    }

    #[track_caller]
    pub(crate) fn ends_with(&self, words: &[&str], code: i32) -> Ran {
        let words: Vec<&str> = ["session"].into_iter().chain(words.iter().copied()).collect();
        let ran = self.scenario.flyball(&words);
        assert_eq!(ran.code, code, "{}\n{}", ran.stdout, ran.stderr);
        assert_eq!(ran.left, [0; 0], "left running:\n{}", ran.stderr);
        assert!(!ran.stderr.contains("a-key-that-is-none"), "{}", ran.stderr);
        ran
    }

    /// What the model was told in its last turn: results, then words.
    pub(crate) fn told(&self) -> Vec<String> {
        let given = self.model.turns().last().unwrap().given();
        given.results.into_iter().chain(given.messages).collect()
    }

    pub(crate) fn was_told(&self, words: &str) -> bool {
        self.told().iter().any(|text| text.contains(words))
    }
}

fn call(tool: &str, args: &Value) -> Step {
    Step::call(tool, args)
}

fn sh(command: &str) -> Step {
    call("run", &json!({ "command": command }))
}

fn done() -> Step {
    Step::text("All done.")
}

#[test]
fn a_task_is_worked_on_with_every_tool_and_told_to_its_end() {
    let script = vec![
        call("list", &json!({})).saying("Looking."),
        call("read", &json!({ "path": "a.txt" })),
        call("edit", &json!({ "path": "a.txt", "old": "hi", "new": "ho" })),
        call("write", &json!({ "path": "src/b.txt", "content": "one\nneedle\n" })),
        call("search", &json!({ "pattern": "need.e" })),
        sh("cat a.txt; echo $ANTHROPIC_API_KEY; exit 3"),
        done(),
    ];
    let talk = Talk::new(script);
    let ran = talk.ends(0);
    assert_eq!(ran.stdout, "Looking.\nAll done.\n");
    assert!(ran.stderr.contains("claude-sonnet-4-5 of anthropic (by ANTHROPIC_API_KEY)"));
    assert!(ran.stderr.contains("- hi") && ran.stderr.contains("+ ho"), "{}", ran.stderr);
    let given = talk.model.turns().last().unwrap().given();
    let wanted = [
        "a.txt",
        "     1\thi\n",
        "changed `a.txt` at line 1",
        "made `src/b.txt`, 2 lines",
        "src/b.txt:2: needle",
        // The key is the session's own affair.
        "ho\n\n[exit code 3]",
    ];
    assert_eq!(given.results, wanted);
    assert_eq!(given.messages, ["mend it"]);
    assert_eq!(talk.scenario.read("a.txt"), "ho\n");
    let status = talk.scenario.flyball(&["status"]).stdout;
    assert!(status.contains("session/") && status.contains('6'), "{status}");
    let log = talk.scenario.flyball(&["log", "--session", "session/"]);
    assert!(log.stdout.contains("search"), "{}{}", log.stdout, log.stderr);
    let shown = talk.scenario.flyball(&["session", "--show"]).stdout;
    assert!(shown.contains("human: mend it") && shown.contains("● edit"), "{shown}");
}

#[test]
fn nothing_outside_of_the_project_is_reached() {
    let script = vec![
        call("read", &json!({ "path": "../outside" })),
        call("write", &json!({ "path": "/tmp/x-of-flyball", "content": "x" })),
        call("write", &json!({ "path": ".git/hooks/pre-commit", "content": "x" })),
        sh("touch \"$FLYBALL_STATE/journal.sqlite-x\" || echo kept out"),
        done(),
    ];
    let talk = Talk::new(script);
    talk.ends(0);
    let results = talk.model.turns().last().unwrap().given().results;
    assert!(results[0].contains("is outside of the project"), "{results:?}");
    assert!(results[1].contains("is outside of the project"), "{results:?}");
    assert!(results[2].contains("is git's own"), "{results:?}");
    let doctor = talk.scenario.flyball(&["doctor"]).stdout;
    if doctor.contains("shield: on") {
        assert!(results[3].contains("kept out"), "{results:?}");
    }
}

/// A2: nudged, refused with the count, ended.
#[test]
fn a_repeated_call_is_nudged_refused_and_halted() {
    let talk = Talk::new(vec![sh("cat a.txt")]);
    let ran = talk.ends(6);
    assert!(ran.stderr.contains("stopped: repetition_loop"), "{}", ran.stderr);
    assert!(talk.was_told("going round in circles"), "{:?}", talk.told());
    assert!(talk.was_told("(blocked 1/3)") && talk.was_told("(blocked 2/3)"), "{:?}", talk.told());
    // A free-text argument does not make it another call (A1).
    let call = |n: u32| json!({ "command": "cat a.txt", "description": format!("try {n}") });
    let talk = Talk::new((0..20).map(|n| Step::call("run", &call(n))).collect());
    talk.ends(6);
}

/// A3: laps of different calls.
#[test]
fn going_round_in_laps_is_seen() {
    let lap = ["cat a.txt", "ls", "git status"];
    let talk = Talk::new((0..60).map(|n| sh(lap[n % 3])).collect());
    let ran = talk.ends(6);
    assert!(ran.stderr.contains("stopped: repetition_loop"), "{}", ran.stderr);
}

/// A4: what is no call goes back, and the third in a row ends it.
#[test]
fn what_is_no_call_is_told_and_counted() {
    let script = vec![
        Step::malformed("run", "{\"command\": \"ls\", "),
        call("fly", &json!({})),
        sh("true"),
        call("read", &json!({ "path": 7 })),
        call("edit", &json!({ "path": "a.txt", "old": "hi" })),
        done(),
    ];
    let talk = Talk::new(script);
    talk.ends(0);
    let results = talk.model.turns().last().unwrap().given().results;
    assert!(results[0].contains("JSON"), "{results:?}");
    assert!(results[1].contains("there is no tool `fly`"), "{results:?}");
    assert!(results[3].contains("`path` is a number"), "{results:?}");
    assert!(results[4].contains("`new` is missing"), "{results:?}");
    let talk = Talk::new(vec![Step::malformed("run", "nonsense")]);
    let ran = talk.ends(6);
    assert!(ran.stderr.contains("validation_failure"), "{}", ran.stderr);
    assert_eq!(talk.model.turns().len(), 3);
}

/// A4 for answers: cut off by the token limit, and a claim that is none.
#[test]
fn an_answer_that_is_cut_off_or_claims_nothing_is_sent_back() {
    let script = vec![
        Step::text("half of it").stopping("max_tokens"),
        Step::text("<promise>BLOCKED:</promise>"),
        Step::text("<promise>BLOCKED:no network</promise>"),
    ];
    let talk = Talk::new(script);
    talk.ends(2);
    assert!(talk.was_told("cut off by the token limit"), "{:?}", talk.told());
    assert_eq!(talk.model.turns().len(), 3);
}

/// A5: five failures of a tool with the same words.
#[test]
fn a_tool_that_fails_again_and_again_ends_it() {
    let edit = |n: u32| call("edit", &json!({ "path": "a.txt", "old": n.to_string(), "new": "" }));
    let talk = Talk::new((0..20).map(edit).collect());
    let ran = talk.ends(6);
    assert!(ran.stderr.contains("consecutive_failures"), "{}", ran.stderr);
    assert_eq!(talk.model.turns().len(), 5);
}

/// A6: asked again with the recovery prompt in the same session, then ended.
#[test]
fn a_silent_model_is_asked_once_more_and_then_given_up() {
    let slow = || Step::text("late").after(Duration::from_mins(1));
    let talk = Talk::new(vec![slow(), done()]).env("FLYBALL_SESSION__FIRST_BYTE", "300ms");
    talk.ends(0);
    assert!(talk.was_told("stalled after"), "{:?}", talk.told());
    assert!(talk.was_told("mend it"));
    let pausing = || Step::text("one two three four").pausing(Duration::from_mins(1));
    let talk = Talk::new(vec![pausing()]).env("FLYBALL_SESSION__STALL_AFTER", "300ms");
    let ran = talk.ends(6);
    assert!(ran.stderr.contains("stopped: stalled"), "{}", ran.stderr);
    assert_eq!(talk.model.turns().len(), 2);
}

/// A7: in a file, with its beginning and how to read it; the file is readable, and goes.
#[test]
fn a_large_result_goes_to_a_file() {
    let script = vec![sh("yes 0123456789 | head -c 300000"), sh("yes x | head -c 3000000"), done()];
    let talk = Talk::new(script);
    talk.ends(0);
    let results = talk.model.turns().last().unwrap().given().results;
    assert!(results[0].contains("300000 characters"), "{}", &results[0][..300]);
    assert!(results[1].contains("3000000 characters"), "{}", &results[1][..300]);
    assert!(results.iter().all(|result| result.len() < 3000));
    let is_path = |word: &&str| word.contains("responses") && word.contains('/');
    let path = results[1].split(|c: char| c == '`' || c.is_whitespace()).find(is_path).unwrap();
    assert!(!std::path::Path::new(path.trim_matches(['.', ',', '`'])).exists(), "{path}");
}

/// A8, and what follows: notices, then a summary that keeps the task.
#[test]
fn a_window_that_fills_up_is_told_and_made_room_in() {
    let script = vec![
        sh("echo one").using(6_500, 0, 10),
        sh("seq 3000").using(8_500, 0, 10),
        Step::text("learnt: the answer is 42"),
        done(),
    ];
    let talk = Talk::new(script).env("FLYBALL_SESSION__WINDOW", "10000");
    talk.ends(0);
    let turns = talk.model.turns();
    assert_eq!(turns.len(), 4);
    assert!(turns[1].given().messages.iter().any(|text| text.contains("60")), "no notice");
    let asked = turns[2].given();
    assert!(asked.messages.last().unwrap().contains("call no tool"), "{asked:?}");
    let after = turns[3].given();
    assert_eq!(after.results.len(), 0, "{after:?}");
    assert!(after.messages[0].starts_with("mend it\n"), "{after:?}");
    assert!(after.messages[0].contains("the answer is 42"), "{after:?}");
}

const GATE: &str = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -f mended || { echo mended is missing; exit 1; }\"\n";

/// B10: refused with the blocking event, in the same session.
#[test]
fn done_is_refused_while_a_gate_is_red() {
    let script = vec![sh("touch other"), done(), sh("touch mended"), done()];
    let talk = Talk::with(script, Scenario::bare().config(GATE));
    let ran = talk.ends(0);
    assert!(ran.stderr.contains("sent back: Completion Blocked"), "{}", ran.stderr);
    assert!(talk.was_told("# Completion Blocked: tests failed"), "{:?}", talk.told());
    assert!(talk.was_told("mended is missing"));
    let talk = Talk::with(vec![sh("touch other"), done()], Scenario::bare().config(GATE));
    let ran = talk.ends(6);
    assert!(ran.stderr.contains("quality_gate_exhausted"), "{}", ran.stderr);
    // Nothing was changed: an answer is an answer.
    let talk = Talk::with(vec![sh("ls"), done()], Scenario::bare().config(GATE));
    talk.ends(0);
}

/// Budgets end it before the next call, not after.
#[test]
fn a_budget_is_exact_to_the_call() {
    let step = |n: u32| sh(&format!("echo {n} >> called")).using(100, 0, 20);
    let talk = Talk::new((0..9).map(step).collect());
    let ran = talk.ends_with(&["mend it", "--max-tokens", "300"], 5);
    assert!(ran.stderr.contains("stopped: max_tokens"), "{}", ran.stderr);
    assert_eq!(talk.model.turns().len(), 3);
    assert_eq!(talk.scenario.read("called"), "0\n1\n");
    let talk = Talk::new((0..9).map(step).collect());
    // $3 and $15 for a million: 0.0006 a turn.
    let ran = talk.ends_with(&["mend it", "--max-cost", "0.001"], 5);
    assert!(ran.stderr.contains("stopped: max_cost"), "{}", ran.stderr);
    assert_eq!(talk.model.turns().len(), 2);
    let ran = talk.ends_with(&["x", "--max-cost", "1", "--model", "nobody-knows"], 78);
    assert!(ran.stderr.contains("the price of `nobody-knows` is unknown"), "{}", ran.stderr);
}

/// What a service says instead of an answer.
#[test]
fn a_service_that_does_not_answer_is_told_in_clear_words() {
    let again = || Step::error(429).header("retry-after", "0");
    let cases: Vec<(&str, Vec<Step>, i32, &str)> = vec![
        ("a wrong key", vec![Step::error(401).saying("invalid x-api-key")], 7, "key"),
        ("no such model", vec![Step::error(404).saying("model: claude-x")], 7, "model"),
        ("a limit that passes", vec![again(), again(), done()], 0, "again in"),
        (
            "a limit for hours",
            vec![Step::error(429).header("retry-after", "9999")],
            7,
            "no more requests",
        ),
        (
            "an overload that passes",
            vec![Step::error(529).header("retry-after", "0"), done()],
            0,
            "",
        ),
        ("a stream that is cut", vec![Step::text("half an answer").cut(), done()], 0, "again in"),
    ];
    for (what, script, code, words) in cases {
        let talk = Talk::new(script);
        let ran = talk.ends(code);
        assert!(ran.stderr.to_lowercase().contains(words), "{what}: {}", ran.stderr);
    }
    let scenario = Scenario::bare().committed();
    let ran = scenario.flyball(&["session", "mend it"]);
    assert_eq!(ran.code, 7, "{}", ran.stderr);
    assert!(ran.stderr.contains("export ANTHROPIC_API_KEY"), "{}", ran.stderr);
}

#[test]
fn a_command_is_ended_with_everything_it_started() {
    let script = vec![
        call(
            "run",
            &json!({ "command": "sleep 500 & setsid sleep 500 & sleep 500", "timeout_secs": 1 }),
        ),
        done(),
    ];
    let talk = Talk::new(script);
    talk.ends(0);
    assert!(talk.was_told("ended after 1 s, its time limit"), "{:?}", talk.told());
}

#[test]
fn nobody_who_could_be_asked_is_a_no() {
    let talk = Talk::new(vec![sh("touch made"), call("read", &json!({ "path": "a.txt" })), done()]);
    talk.ends_with(&["mend it", "--permission", "ask"], 0);
    assert!(!talk.scenario.has("made"));
    assert!(talk.was_told("denied by the human") && talk.was_told("hi"), "{:?}", talk.told());
}

/// A part of the work in a conversation of its own, on a track of its own.
#[test]
fn a_sub_agent_works_on_a_track_of_its_own() {
    let script = vec![
        call("task", &json!({ "prompt": "count the files" })),
        sh("ls | wc -l"),
        Step::text("There is one file."),
        done(),
    ];
    let talk = Talk::new(script);
    talk.ends(0);
    let turns = talk.model.turns();
    assert_eq!(turns[1].given().messages, ["count the files"]);
    let tools = turns[1].body["tools"].as_array().unwrap();
    assert!(tools.iter().all(|tool| tool["name"] != "task"), "bounded depth");
    assert_eq!(turns[3].given().results, ["There is one file."]);
}
