//! How runs end when nothing is claimed.

use crate::scenario::Scenario;

#[test]
fn an_agent_that_crashes_each_time_opens_the_breaker_within_five_iterations() {
    let scenario = Scenario::new().committed().agent("exit 3");
    let ran = scenario.run().ended(6).saying("circuit_breaker (code 6)");
    let wanted = "Circuit breaker OPEN: 3 consecutive validation failures (threshold: 3)";
    assert!(ran.stderr.contains(wanted), "{}", ran.stderr);
    assert_eq!(scenario.column("outcome"), ["died", "died", "died"]);
    assert_eq!(scenario.column("stuck_count"), ["0", "0", "0"]);
}

#[test]
fn an_agent_that_dies_by_a_signal_of_its_own_opens_the_breaker_too() {
    let scenario = Scenario::new().committed().agent("kill -SEGV $$");
    scenario.run().ended(6).saying("circuit_breaker");
}

#[test]
fn the_exit_code_of_the_agent_never_leaks() {
    for code in [2, 3, 4, 5, 7, 64, 65, 75, 78, 130, 143] {
        let scenario = Scenario::new().committed().agent(&format!("exit {code}"));
        let ran = scenario.run();
        assert_eq!(ran.code, 6, "exit {code}: {}", ran.stderr);
    }
}

#[test]
fn an_agent_that_fails_but_leaves_good_work_does_not_fail_the_run() {
    let scenario = Scenario::new().committed().agent("pass a; pass b; exit 1");
    scenario.run().ended(0);
}

#[test]
fn stuck_overnight_sets_the_task_aside_and_takes_the_next() {
    let scenario = Scenario::new()
        .committed()
        .flags(&["--profile", "overnight"])
        .agent("if [ $FLYBALL_TASK = b ]; then pass b; fi");
    let ran = scenario.run().saying("Left:        a (set aside)").saying("1/2 complete");
    assert!(ran.code != 0, "set aside is not passed: {}", ran.stderr);
    assert_eq!(scenario.column("task"), ["a", "a", "a", "b"]);
}

#[test]
fn stuck_overnight_on_everything_still_ends() {
    let scenario = Scenario::new().committed().flags(&["--profile", "overnight"]).agent("true");
    let ran = scenario.run().ended(4);
    assert_eq!(scenario.column("task"), ["a", "a", "a", "b", "b", "b"], "{}", ran.stderr);
}

#[test]
fn what_is_green_before_it_begins_needs_no_agent() {
    let done = r#"{"userStories":[{"id":"a","title":"do a","passes":true,"notes":"x","reviewStatus":"approved"}]}"#;
    let scenario = Scenario::new().tasks(done).committed().agent("touch $OUT/started");
    scenario.run().ended(0).saying("Iterations:  0 / 15").saying("1/1 complete");
    assert!(!scenario.outside("started").exists());
}

#[test]
fn done_stories_with_a_red_gate_are_not_done() {
    let done = r#"{"userStories":[{"id":"a","title":"do a","passes":true,"notes":"x","reviewStatus":"approved"}]}"#;
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -e mended\"\n";
    let scenario =
        Scenario::new().tasks(done).config(gate).committed().agent("touch mended; commit mended");
    scenario.run().ended(0).saying("begins red").saying("Iterations:  1 / 15");
}

#[test]
fn the_limit_of_iterations_ends_the_run_with_1() {
    let scenario = Scenario::new().committed().agent("work").flags(&["--max-iterations", "2"]);
    scenario.run().ended(1).saying("Iterations:  2 / 2").saying("--resume");
    let scenario = Scenario::new().committed().agent("work").flags(&["--once"]);
    scenario.run().ended(1).saying("Iterations:  1 / 1");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let scenario = Scenario::new().committed().command(&["no-such-agent", "--do"]);
    let error = scenario.run().refused(7);
    assert!(error.contains("`no-such-agent` (agent_not_started, code 7)"), "{error}");
    let scenario = Scenario::new().file("plain", "not executable").committed();
    assert!(scenario.command(&["./plain"]).run().refused(7).contains("./plain"));
}
