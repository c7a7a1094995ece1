//! `[finish] command`: after a verified completion only, as it stood at the start.

use crate::scenario::Scenario;

const TELLS: &str = "[finish]\ncommand = 'echo \"$FLYBALL_OUTCOME $FLYBALL_RUN_ID $FLYBALL_BRANCH \
                     [$FLYBALL_RUN] $1\" > $OUT/finished; head -c 40 \"$FLYBALL_REPORT\" >> $OUT/finished; \
                     echo https://example.test/pull/1'\n";

#[test]
fn it_runs_after_a_verified_completion_with_the_report() {
    let scenario = Scenario::new().config(TELLS).committed().agent("pass a; pass b");
    let ran = scenario.run().ended(0);
    assert!(ran.stderr.contains("finish: https://example.test/pull/1"), "{}", ran.stderr);
    let (told, run) = (scenario.told("finished"), scenario.last_run().run);
    assert!(told.starts_with(&format!("complete {run} main [] ")), "{told}");
    assert!(told.contains(".flyball/logs/report.md\n"), "{told}");
    assert!(scenario.read(".flyball/logs/report.md").contains(run.as_str()));
}

#[test]
fn the_report_that_was_asked_for_is_the_one_it_gets() {
    let config = format!("{TELLS}[report]\nfile = \".flyball/logs/all.html\"\n");
    let scenario = Scenario::new().config(&config).committed().agent("pass a; pass b");
    scenario.run().ended(0);
    assert!(scenario.told("finished").contains("/.flyball/logs/all.html\n"));
}

#[test]
fn nothing_else_than_a_verified_completion_runs_it() {
    let scenario = Scenario::new().config(TELLS).committed().flags(&["--once"]).agent("work");
    scenario.run().ended(1);
    assert_eq!(scenario.told("finished"), "");
    let trusted = Scenario::bare()
        .config(TELLS)
        .committed()
        .flags(&["--trust-claims"])
        .agent("work; say '<promise>COMPLETE</promise>'");
    trusted.run().ended(0);
    assert_eq!(trusted.told("finished"), "", "nothing verified it");
}

#[test]
fn a_failing_one_is_told_and_changes_no_exit_code() {
    let config = "[finish]\ncommand = \"echo no network; exit 3\"\n";
    let scenario = Scenario::new().config(config).committed().agent("pass a; pass b");
    let ran = scenario.run().ended(0).saying("finish: no network");
    assert!(ran.stderr.contains("failed: it exited with 3"), "{}", ran.stderr);
    let config = "[finish]\ncommand = \"sleep 700\"\ntimeout = \"300ms\"\n";
    let scenario = Scenario::new().config(config).committed().agent("pass a; pass b");
    scenario.run().ended(0).saying("failed: it took longer than");
}

#[test]
fn the_agent_cannot_put_another_one_there() {
    let scenario = Scenario::new().config(TELLS).committed().agent(
        "printf '[finish]\\ncommand = \"touch $OUT/owned\"\\n' > flyball.toml; pass a; pass b",
    );
    scenario.run();
    assert!(!scenario.outside("owned").exists());
}
