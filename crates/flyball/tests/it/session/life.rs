//! A session that is killed, interrupted, talked with, or given too much.

use std::time::Duration;

use flyball_testkit::memory::held_kib;
use flyball_testkit::model::Step;
use rustix::process::{Pid, Signal, kill_process};

use super::{Talk, call, done, sh};
use crate::pty::Terminal;
use crate::scenario::{LONG, Scenario};
use flyball::clock::Deadline;
use serde_json::json;

/// Kills flyball from inside of a call, with the effect already there.
const KILL: &str = "echo effect >> effects; kill -9 $(ps -o ppid= -p $PPID)";

#[test]
fn a_call_that_had_its_effect_is_not_made_again_after_kill_9() {
    // Behind the shield no signal of its commands reaches it.
    let talk = Talk::new(vec![sh(KILL), sh("echo next >> effects"), done()])
        .env("FLYBALL_SANDBOX__SHIELD", "off");
    let ran = talk.scenario.flyball(&["session", "mend it"]);
    assert_eq!(ran.code, -9, "{}", ran.stderr);
    talk.scenario.until_quiet();
    talk.ends_with(&["--resume"], 0);
    assert_eq!(talk.scenario.read("effects"), "effect\nnext\n");
    let results = talk.model.turns().last().unwrap().given().results;
    assert!(results[0].starts_with("interrupted: flyball was killed"), "{results:?}");
    let ran = talk.ends_with(&["--resume", "nothing-like-it"], 66);
    assert!(ran.stderr.contains("there is no session `nothing-like-it`"), "{}", ran.stderr);
}

/// Killed while it waits for each of its answers: everything is there once.
#[test]
fn kill_9_at_every_question_loses_and_repeats_nothing() {
    for killed_at in 0..3 {
        let step = |n: usize, step: Step| {
            if n == killed_at { step.after(Duration::from_mins(1)) } else { step }
        };
        let edit = call("edit", &json!({ "path": "a.txt", "old": "hi", "new": "hi hi" }));
        // The question that is hung up on is asked again, and answered by the step after it.
        let script = [sh("echo one >> effects"), edit, done()];
        let mut steps = Vec::new();
        for (n, plain) in script.into_iter().enumerate() {
            if n == killed_at {
                steps.push(step(n, plain.clone()));
            }
            steps.push(plain);
        }
        let talk = Talk::new(steps);
        let running = talk.scenario.spawn_with_words(&["session", "mend it"]);
        let limit = Deadline::after(LONG);
        while talk.model.turns().len() <= killed_at {
            assert!(!limit.passed(), "the model was never asked");
            std::thread::sleep(Duration::from_millis(5));
        }
        running.signal(Signal::KILL);
        assert_eq!(running.wait().code, -9);
        talk.scenario.until_quiet();
        talk.ends_with(&["--resume"], 0);
        assert_eq!(talk.scenario.read("effects"), "one\n", "killed at {killed_at}");
        assert_eq!(talk.scenario.read("a.txt"), "hi hi\n", "killed at {killed_at}");
    }
}

#[test]
fn one_that_is_at_work_is_not_taken_up_by_another() {
    let talk = Talk::new(vec![Step::text("late").after(Duration::from_mins(1))]);
    let running = talk.scenario.spawn_with_words(&["session", "mend it"]);
    running.until_says("session ");
    let refused = talk.scenario.flyball(&["session", "--resume"]);
    assert_eq!(refused.code, 75, "{}", refused.stderr);
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!((ran.code, ran.left.len()), (130, 0), "{}", ran.stderr);
    assert!(ran.stderr.contains("flyball session --resume "), "{}", ran.stderr);
}

/// 200 calls with 100 MB of results in all.
#[test]
fn what_tools_say_does_not_fill_the_memory() {
    let step = |n: u32| sh(&format!("yes {n} | head -c 500000"));
    let mut script: Vec<Step> = (0..200).map(step).collect();
    script.push(sh("echo > \"$OUT/ready\"; sleep 30"));
    script.push(done());
    let talk = Talk::new(script);
    let words = ["session", "mend it"];
    let mut child = talk
        .scenario
        .program(env!("CARGO_BIN_EXE_flyball"))
        .args(words)
        .env("FLYBALL_CALLS__ACCOUNT", "false")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let limit = Deadline::after(LONG * 5);
    // What it holds of its own: the code of a build for tests alone is larger than that.
    let mut most = 0;
    while !talk.scenario.outside("ready").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended early");
        assert!(!limit.passed(), "it never came to its end");
        most = most.max(held_kib(child.id()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    talk.scenario.until_quiet();
    assert!((1..40 * 1024).contains(&most), "{most} KiB");
}

/// At a terminal, narrow too: a question before a change, streaming, Ctrl-C, and a second turn.
#[test]
fn a_talk_at_a_terminal() {
    let script = vec![
        call("edit", &json!({ "path": "a.txt", "old": "hi", "new": "ho" })).saying("I change it."),
        done(),
        Step::text("late").after(Duration::from_mins(1)),
        sh(&format!("echo {} && touch made", "a long story ".repeat(8))),
        Step::text("Second turn."),
    ];
    let talk = Talk::with(script, Scenario::bare()).env("FLYBALL_SESSION__PERMISSION", "ask");
    let program = talk.scenario.program(env!("CARGO_BIN_EXE_flyball"));
    let terminal = Terminal::with_keys(program, &["session"], (60, 30));
    let shows = |words: &str| {
        terminal.until(|rows| rows.iter().any(|row| row.contains(words)));
    };
    let prompts = |wanted: usize| {
        terminal.until(|rows| rows.iter().filter(|row| row.starts_with('>')).count() >= wanted);
    };
    prompts(1);
    terminal.types("mend it\n");
    shows("[y]es, [n]o, [a]lways");
    terminal.types("y\n");
    shows("All done.");
    prompts(2);
    let rows = terminal.rows();
    assert!(rows.iter().any(|row| row.trim() == "- hi"), "{rows:#?}");
    assert!(rows.iter().any(|row| row.trim() == "+ ho"), "{rows:#?}");
    terminal.types("go on\n");
    let limit = Deadline::after(LONG);
    while talk.model.turns().len() < 3 {
        assert!(!limit.passed(), "the model was never asked");
        std::thread::sleep(Duration::from_millis(5));
    }
    // The terminal of this test sends no signals of its own.
    let pid = Pid::from_raw(i32::try_from(terminal.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    prompts(3);
    terminal.types("and now?\n");
    // All of it is seen before it is allowed.
    shows("&& touch made");
    shows("? run [y]es");
    terminal.types("n\n");
    shows("Second turn.");
    assert!(!talk.scenario.has("made"));
    terminal.types("/quit\n");
    let (code, _) = terminal.end();
    assert_eq!(code, 0);
    assert_eq!(talk.scenario.read("a.txt"), "ho\n");
}

/// Whoever looks at runs sees sessions too: as one more agent of `inspect`, in a report, in the window.
#[test]
fn a_session_is_seen_wherever_runs_are() {
    let mut script: Vec<Step> = (0..4).map(|_| sh("cat a.txt")).collect();
    script.push(call("task", &json!({ "prompt": "count" })));
    script.extend([sh("ls"), Step::text("One."), done()]);
    let talk = Talk::new(script);
    let ran = talk.ends(0);
    let name = ran.stderr.split([' ', ':']).nth(1).unwrap().to_owned();
    let json = |words: &[&str]| -> serde_json::Value {
        let ran = talk.scenario.flyball(words);
        assert_eq!(ran.code, 0, "{words:?}: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let all = json(&["inspect", "--agent", "session", "--json", "--no-cache", "--all"]);
    let listed = all["worst"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "{all:#}");
    assert!(listed[0].to_string().contains(&name), "{all:#}");
    let one = json(&["report", &name, "--format", "json"]);
    let text = one.to_string();
    assert!(text.contains("cat a.txt") && text.contains("nudge"), "{one:#}");
    let page = talk.scenario.flyball(&["report", &name]);
    assert!(page.stdout.starts_with("<!DOCTYPE html>"), "{}{}", page.stdout, page.stderr);
    assert!(page.stdout.contains(&name));
    let refused = talk.scenario.flyball(&["report", &name, "--format", "csv"]);
    assert_eq!(refused.code, 64, "{}", refused.stderr);
}
