//! A run in the background: `run --detach`, `attach`, `log --follow`, and what becomes of it when the
//! terminal it was started in is closed.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use flyball::clock::Deadline;
use flyball::platform;
use serde_json::Value;

use crate::scenario::{LONG, Scenario};

/// Waits until somebody lets it go on, then does everything.
const WAITS: &str = "say working on it; echo up > $OUT/up; while ! test -e $OUT/go; do sleep 0.05; done\n\
                     say nearly there; pass a; pass b";

fn waiting() -> Scenario {
    Scenario::new().committed().agent(WAITS)
}

fn go(scenario: &Scenario) {
    std::fs::write(scenario.outside("go"), "").unwrap();
}

/// Starts it in the background, and gives the run's name.
#[track_caller]
fn detach(scenario: &Scenario) -> String {
    let ran = scenario.run_with(&["--detach"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let name = ran.stdout.strip_prefix("Run ").and_then(|rest| rest.split_once(' ')).unwrap().0;
    for line in [format!("flyball attach {name} "), format!("flyball stop {name} ")] {
        assert!(ran.stdout.contains(&line), "{}", ran.stdout);
    }
    name.to_owned()
}

#[track_caller]
fn until_ended(scenario: &Scenario) -> String {
    let limit = Deadline::after(LONG);
    loop {
        if let Some(outcome) = scenario.last_run().outcome {
            scenario.until_quiet();
            return outcome;
        }
        assert!(!limit.passed(), "the run does not end");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_detached_run_goes_on_by_itself_and_keeps_what_it_prints() {
    let scenario = waiting();
    let run = detach(&scenario);
    assert_eq!(scenario.last_run().run.as_str(), run);
    scenario.until_told("up", "up");
    let pid = scenario.last_run().pid.unwrap();
    let process = platform::look(pid).unwrap();
    assert_eq!(process.session, pid, "a session of its own");
    go(&scenario);
    assert_eq!(until_ended(&scenario), "complete");
    let printed =
        std::fs::read_to_string(scenario.state().join(format!("runs/{run}.out"))).unwrap();
    for words in ["working on it", "nearly there", "flyball summary", "complete"] {
        assert!(printed.contains(words), "{words} in {printed}");
    }
}

#[test]
fn it_outlives_the_terminal_it_was_started_in() {
    // `script` gives the shell a terminal of its own, which is closed when it ends.
    let scenario = waiting();
    let words = scenario.arguments(&["--detach"]).join(" ");
    let line = format!("{} {words}", env!("CARGO_BIN_EXE_flyball"));
    let status = scenario
        .program("script")
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    scenario.until_told("up", "up");
    go(&scenario);
    assert_eq!(until_ended(&scenario), "complete");
}

#[test]
fn the_task_may_come_on_standard_input_before_the_terminal_is_left() {
    let scenario = Scenario::bare()
        .config("[[gates.check]]\nname = \"tests\"\ncommand = \"test -e x\"\n")
        .committed()
        .agent("cat > $OUT/prompt; echo work > x; commit x; say \"<promise>COMPLETE</promise>\"");
    let words = scenario.arguments(&["--detach", "--file", "-"]);
    let mut child = scenario
        .program(env!("CARGO_BIN_EXE_flyball"))
        .args(&words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"Make x from a pipe\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(until_ended(&scenario), "complete");
    assert!(scenario.told("prompt").contains("Make x from a pipe"));
}

#[test]
fn a_refused_start_is_told_by_who_asked_with_its_code() {
    let scenario = Scenario::new().tasks("{").committed();
    let refused = scenario.run_with(&["--detach"]).refused(65);
    assert!(refused.contains("tasks.json"), "{refused}");
    let left: Vec<_> = std::fs::read_dir(scenario.state().join("runs"))
        .map(|found| found.filter_map(Result::ok).map(|one| one.file_name()).collect())
        .unwrap_or_default();
    assert!(left.is_empty(), "{left:?}");
    let scenario = waiting();
    detach(&scenario);
    let twice = scenario.run_with(&["--detach"]);
    assert_eq!(twice.code, 75, "{}", twice.stderr);
    assert!(twice.stderr.contains("already"), "{}", twice.stderr);
    go(&scenario);
    until_ended(&scenario);
}

#[test]
fn a_refused_resume_is_told_too() {
    let scenario = waiting();
    detach(&scenario);
    go(&scenario);
    assert_eq!(until_ended(&scenario), "complete");
    let ran = scenario.flyball(&["run", "--resume", "--detach"]);
    assert_eq!(ran.code, 64, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.starts_with("error: ") && ran.stderr.contains("is complete"),
        "{}",
        ran.stderr
    );
}

#[test]
fn attaching_shows_it_and_ends_with_its_code() {
    let scenario = waiting();
    let run = detach(&scenario);
    scenario.until_told("up", "up");
    let attached = scenario.spawn_with_words(&["attach"]);
    attached.until_says("working on it");
    go(&scenario);
    let ran = attached.wait();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for words in [&format!("Run {run}; "), "nearly there", "flyball summary"] {
        assert!(ran.stderr.contains(words), "{words} in {}", ran.stderr);
    }
    let late = scenario.flyball(&["attach", &run]);
    assert!(late.code == 66 && late.stderr.contains("has ended already"), "{}", late.stderr);
}

#[test]
fn leaving_changes_nothing_and_a_run_of_another_terminal_can_be_watched_too() {
    let scenario = waiting();
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    let attached = scenario.spawn_with_words(&["attach"]);
    attached.until_says("START");
    attached.signal(rustix::process::Signal::INT);
    let left = attached.wait();
    assert_eq!(left.code, 0, "{}", left.stderr);
    assert!(left.stderr.contains("goes on without you: flyball attach"), "{}", left.stderr);
    let again = scenario.spawn_with_words(&["attach"]);
    again.until_says("START");
    go(&scenario);
    running.wait().code.eq(&0).then_some(()).unwrap();
    let seen = again.wait();
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert!(seen.stderr.contains("flyball summary"), "{}", seen.stderr);
}

#[test]
fn a_log_is_followed_until_the_run_ends() {
    let scenario = waiting();
    detach(&scenario);
    scenario.until_told("up", "up");
    let text = scenario.spawn_with_words(&["log", "--follow"]);
    let json = scenario.spawn_with_words(&["log", "--follow", "--json"]);
    go(&scenario);
    let text = text.wait();
    assert_eq!(text.code, 0, "{}", text.stderr);
    assert_eq!(text.stdout.matches("START").count(), 1, "{}", text.stdout);
    assert!(text.stdout.contains("complete (exit 0)"), "{}", text.stdout);
    let lines: Vec<Value> =
        json.wait().stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<u64> = lines.iter().filter_map(|line| line["seq"].as_u64()).collect();
    assert_eq!(numbers, (1..=scenario.last_run().events).collect::<Vec<_>>());
    until_ended(&scenario);
}

#[test]
fn a_detached_run_that_died_is_resumed_in_the_background() {
    let scenario = waiting();
    let run = detach(&scenario);
    scenario.until_told("up", "up");
    let process = platform::look(scenario.last_run().pid.unwrap()).unwrap();
    platform::signal(&process, platform::Signal::Kill);
    scenario.until_quiet();
    go(&scenario);
    let ran = scenario.flyball(&["run", "--resume", "--detach"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with(&format!("Run {run} ")), "{}", ran.stdout);
    assert_eq!(until_ended(&scenario), "complete");
}
