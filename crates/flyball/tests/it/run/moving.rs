//! B6: a run that moves is not ended by the breaker; the breaker says what the failures were.

use crate::scenario::Scenario;

const FIVE: &str = r#"{"project":"p","userStories":[
{"id":"a","title":"do a","passes":false,"notes":""},
{"id":"b","title":"do b","passes":false,"notes":""},
{"id":"c","title":"do c","passes":false,"notes":""},
{"id":"d","title":"do d","passes":false,"notes":""},
{"id":"e","title":"do e","passes":false,"notes":""}
]}
"#;

fn gate(command: &str) -> String {
    format!("[[gates.check]]\nname = \"build\"\ncommand = \"{command}\"\n")
}

#[test]
fn five_stories_with_a_gate_that_is_red_until_the_last_complete() {
    let scenario = Scenario::new()
        .tasks(FIVE)
        .config(&gate("test -e e.txt"))
        .committed()
        .agent("echo $n > $FLYBALL_TASK.txt; pass $FLYBALL_TASK");
    scenario.run().ended(0).saying("Stories:     5/5 complete");
    let improved = ["improved", "improved", "improved", "improved", "passed"];
    assert_eq!(scenario.column("outcome"), improved);
}

#[test]
fn one_compile_error_after_another_goes_on() {
    let scenario = Scenario::new()
        .file("x.code", "cannot find value `v0` in this scope\n")
        .config(&gate("sed 's/^/src.lib.rs:3:5: error: /' *.code; ! grep -q cannot *.code"))
        .committed()
        .agent(
            "echo \"cannot find value \\`v$n\\` in this scope\" > x.code
             if [ $n = 5 ]; then echo fine > x.code; pass a; pass b; else commit mend; fi",
        );
    scenario.run().ended(0).saying("Iterations:  5 / 15");
}

#[test]
fn the_same_error_again_and_again_opens_the_breaker() {
    let scenario = Scenario::new()
        .config(&gate("echo 'src/lib.rs:3:5: error: no such thing'; exit 1"))
        .committed()
        .agent("work");
    let ran = scenario.run();
    ran.ended(6).saying("Circuit breaker OPEN: 3 consecutive validation failures (threshold: 3).");
}

#[test]
fn the_breaker_names_failures_that_were_no_red_gates() {
    let repeat = "i=0; while [ $i -lt 20 ]; do call $i read '{\"path\":\"x\"}'
        result $i same null; i=$((i + 1)); done; sleep 60";
    let scenario =
        Scenario::new().committed().speaker(&format!("if [ $n = 2 ]; then exit 3; fi; {repeat}"));
    scenario
        .run()
        .ended(6)
        .saying("Manual intervention required. (2 sessions halted for repetition, 1 agent crash)");
}

#[test]
fn an_iteration_nothing_checked_has_passed_nowhere() {
    let scenario = Scenario::new().committed().flags(&["--once"]).agent("work");
    let ran = scenario.run();
    assert_eq!(scenario.column("outcome"), ["unchecked"]);
    assert!(ran.stderr.contains("unchecked · commit"), "{}", ran.stderr);
    let log = scenario.flyball(&["log"]).stdout;
    assert!(log.contains("DONE  #1   unchecked · commit"), "the same words: {log}");
}
