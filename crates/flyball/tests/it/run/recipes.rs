//! The recipes of the pages: cron, nohup, a CI job, a unit of systemd.

use std::fs;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::scenario::Scenario;

fn cart() -> Scenario {
    Scenario::bare()
        .config("[[gates.check]]\nname = \"tests\"\ncommand = \"test -e x\"\n")
        .committed()
        .agent("echo up > $OUT/up; echo work > x; commit x; say \"<promise>COMPLETE</promise>\"")
}

#[test]
fn under_cron_the_log_holds_the_story_and_the_summary() {
    let scenario = cart();
    let log = fs::File::create(scenario.outside("log")).unwrap();
    // No terminal, no locale, and what cron calls a path.
    let mut command = scenario.program(env!("CARGO_BIN_EXE_flyball"));
    command.env_remove("TERM").env_remove("LANG").env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let arguments = scenario.arguments(&["Make x", "--profile", "overnight"]);
    let status = command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    let told = scenario.told("log");
    assert!(told.contains("GATE  #1   tests passed"), "{told}");
    assert_eq!(told.matches("Exit:        complete (code 0)").count(), 1, "{told}");
    assert!(!told.contains(['\u{1b}', '\r']), "{told:?}");
}

#[test]
fn with_nohup_a_hangup_does_not_reach_the_run() {
    let waits = "echo up > $OUT/up; while ! test -e $OUT/go; do sleep 0.05; done; echo work > x; \
                 commit x; say \"<promise>COMPLETE</promise>\"";
    let scenario = cart().agent(waits);
    let mut command = scenario.program("nohup");
    let mut child = command
        .arg(env!("CARGO_BIN_EXE_flyball"))
        .args(scenario.arguments(&["Make x"]))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    scenario.until_told("up", "up");
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::HUP).unwrap();
    fs::write(scenario.outside("go"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    scenario.until_quiet();
}

#[test]
fn a_ci_job_gets_annotations_a_verdict_and_a_summary() {
    let scenario = cart().env("CI", "true");
    let gate = scenario.flyball(&["gate", "--format", "github"]);
    assert_eq!(gate.code, 1, "{}", gate.stderr);
    assert!(gate.stdout.contains("::error "), "{}", gate.stdout);
    scenario.run_with(&["Make x", "--max-runtime", "30m"]).ended(0);
    let report = scenario.flyball(&["report", "--format", "md"]).stdout;
    assert!(report.contains("complete") && report.contains("flyball:"), "{report}");
}

/// The exit codes of outcomes are no failures of a unit, and only flyball is sent the signal.
#[test]
fn the_units_of_the_pages_know_every_outcome() {
    for page in [
        include_str!("../../../../../docs/recipes.md"),
        include_str!("../../../../../docs/background.md"),
    ] {
        let unit = page.split("```ini\n").nth(1).unwrap().split("```").next().unwrap();
        let codes = unit.lines().find_map(|line| line.strip_prefix("SuccessExitStatus=")).unwrap();
        for code in 1..=6 {
            assert!(codes.split(' ').any(|one| one == code.to_string()), "{code} in {codes}");
        }
        assert!(unit.contains("KillMode=mixed") && unit.contains("ExecStart=%h/"), "{unit}");
    }
}
