//! B5, B6, B10: gates from end to end.

use std::fmt::Write;

use crate::scenario::Scenario;

/// A gate that speaks TAP: a test is red while its file says `broken`.
const CHECK: &str = r#"echo "1..2"
i=0
for t in one two; do
  i=$((i+1))
  if grep -q broken $t.txt; then
    bad=1; echo "not ok $i - $t works"; echo "  ---"; echo "  message: $t.txt is broken: $(cat $t.txt)"
    echo "  at: $t.txt:1"; echo "  ..."
  else echo "ok $i - $t works"; fi
done
exit ${bad:-0}
"#;

fn project(one: &str, two: &str, more: &str) -> Scenario {
    let mut config = "[[gates.check]]\nname = \"tests\"\ncommand = \"sh check.sh\"\n".to_owned();
    config.write_str(more).unwrap();
    Scenario::new()
        .config(&config)
        .file("check.sh", CHECK)
        .file("one.txt", one)
        .file("two.txt", two)
        .committed()
}

#[test]
fn an_agent_that_breaks_a_test_is_told_which_and_mends_it() {
    let script = "cat > $OUT/prompt-$n
case $n in
1) echo 'broken by haste' > two.txt; pass a; pass b; say '<promise>COMPLETE</promise>';;
*) echo fine > two.txt; commit mended; say '<promise>COMPLETE</promise>';;
esac";
    let scenario = project("fine\n", "fine\n", "").agent(script);
    scenario
        .run()
        .ended(0)
        .saying("Iterations:  2 / 15")
        .saying("tests failed · 1 passed, 1 failed");
    let told = scenario.told("prompt-2");
    for words in [
        "Completion Blocked",
        "two works",
        "two.txt:1",
        "two.txt is broken: broken by haste",
        "[ ] tests",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!told.contains("one works"), "{told}");
    assert_eq!(scenario.column("gates"), ["red", "green"]);
    assert_eq!(scenario.column("score"), ["0.50", "1.00"]);
}

#[test]
fn a_red_gate_is_told_even_when_nothing_is_claimed() {
    let script = "cat > $OUT/prompt-$n; [ $n = 1 ] && { echo broken > one.txt; commit oops; }; \
                  [ $n = 2 ] && { echo fine > one.txt; pass a; pass b; }; true";
    let scenario = project("fine\n", "fine\n", "").agent(script);
    scenario.run().ended(0);
    assert!(scenario.told("prompt-2").contains("one works"), "{}", scenario.told("prompt-2"));
}

#[test]
fn red_again_and_again_opens_the_breaker() {
    let script = "echo \"broken $n\" > one.txt; work";
    let scenario = project("fine\n", "fine\n", "").agent(script);
    let ran = scenario.run();
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    assert!(scenario.column("iteration").len() <= 5);
}

#[test]
fn a_run_that_begins_red_says_so_and_what_was_red_before_blocks() {
    let script = "pass a; pass b; [ $n = 2 ] && { echo fine > one.txt; commit mended; }; true";
    let scenario = project("broken\n", "fine\n", "").agent(script);
    scenario.run().ended(0).saying("begins red: tests").saying("Iterations:  2 / 15");
}

#[test]
fn what_was_red_before_can_be_left_out() {
    let more = "[gates]\nbaseline = \"ignore\"\n";
    let toml = |more: &str| {
        format!("{more}[[gates.check]]\nname = \"tests\"\ncommand = \"sh check.sh\"\n")
    };
    let scenario = project("broken\n", "fine\n", "").config(&toml(more)).committed();
    scenario.agent("pass a; pass b").run().ended(0).saying("Iterations:  1 / 15");
    let scenario = project("broken\n", "fine\n", "").config(&toml(more)).committed();
    let script = "pass a; pass b; if [ $n = 1 ]; then echo broken > two.txt; else echo ok > two.txt; fi; commit x";
    scenario.agent(script).run().ended(0).saying("Iterations:  2 / 15");
}

#[test]
fn fewer_red_tests_are_progress_and_do_not_feed_the_breaker() {
    let script = "case $n in 1|2) work;; 3) echo fine > one.txt; commit one;; \
                  4) work;; 5) echo fine > two.txt; pass a; pass b;; esac";
    let scenario = project("broken\n", "broken\n", "")
        .agent(script)
        .env("FLYBALL_ITERATIONS__CIRCUIT_BREAKER", "4")
        .env("FLYBALL_ITERATIONS__REGRESSION_WINDOW", "9");
    let ran = scenario.run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(scenario.column("outcome"), ["red", "red", "improved", "red", "passed"]);
}

#[test]
fn a_flaky_check_blocks_nothing_and_stands_in_the_summary() {
    let check = "echo x >> $OUT/tries\nif [ $(wc -l < $OUT/tries) = 2 ]; then echo 'not ok 1 - shaky'; exit 1; fi\n";
    let config = "[[gates.check]]\nname = \"tests\"\ncommand = \"sh check.sh\"\nretry = 1\n";
    let scenario = Scenario::new().config(config).file("check.sh", check).committed();
    let scenario = scenario
        .agent("echo x > work.txt; pass a; pass b; commit done; say '<promise>COMPLETE</promise>'");
    let ran = scenario.run();
    let ran = ran.ended(0).saying("Iterations:  1 / 15");
    let ran = ran.saying("Flaky:       tests: red once, then green: shaky");
    ran.saying("tests passed · flaky · red once, then green: shaky");
    for shown in [
        scenario.flyball(&["log"]).stdout,
        scenario.flyball(&["report"]).stdout,
        scenario.flyball(&["report", "--format", "md"]).stdout,
    ] {
        assert!(shown.to_lowercase().contains("flaky"), "{shown}");
    }
}

#[test]
fn a_check_that_is_red_on_every_try_stays_red_and_one_that_wavers_opens_no_breaker() {
    let config = "[[gates.check]]\nname = \"tests\"\ncommand = \"sh check.sh\"\nretry = 2\n";
    let check = "echo x >> $OUT/tries\nif test -e broken; then echo 'not ok 1 - firm'; exit 1; fi; echo 'ok 1 - firm'\n";
    let scenario = Scenario::new().config(config).file("check.sh", check).committed();
    let script = "echo \"iteration $n\" >> $OUT/tries; cat > $OUT/prompt-$n; pass a; pass b; \
                  if [ $n = 1 ]; then touch broken; else rm broken; fi; commit x; \
                  say '<promise>COMPLETE</promise>'";
    let scenario = scenario.agent(script);
    let ran = scenario.run().ended(0).saying("Iterations:  2 / 15");
    assert!(!ran.stderr.contains("Flaky:"), "{}", ran.stderr);
    let tries = scenario.told("tries");
    assert!(tries.contains("iteration 1\nx\nx\nx\niteration 2"), "red three times: {tries}");
    assert!(scenario.told("prompt-2").contains("Completion Blocked"));

    // Red at first in every iteration, green when asked again: nothing to be stopped for.
    let wavers = "echo x >> $OUT/tries\nif [ $(($(wc -l < $OUT/tries) % 2)) = 1 ]; then echo 'not ok 1 - shaky'; exit 1; fi; echo 'ok 1 - shaky'\n";
    let scenario = Scenario::new().config(config).file("check.sh", wavers).committed();
    let script = "echo $n > work.txt; if [ $n = 4 ]; then pass a; pass b; fi; commit x; \
                  [ $n = 4 ] && say '<promise>COMPLETE</promise>'; true";
    let scenario = scenario.agent(script).env("FLYBALL_ITERATIONS__CIRCUIT_BREAKER", "2");
    let ran = scenario.run().ended(0).saying("Iterations:  4 / 15");
    ran.saying("Flaky:       tests: red once, then green: shaky");
}

#[test]
fn a_check_of_some_files_runs_when_they_are_touched_and_for_a_completion() {
    let config = "[[gates.check]]\nname = \"web\"\ncommand = \"echo web >> $OUT/ran\"\npaths = [\"web\"]\n\
                  [[gates.check]]\nname = \"all\"\ncommand = \"echo all >> $OUT/ran\"\n";
    let scenario = Scenario::new().config(config).file("web/page.txt", "one\n").committed();
    let script = "echo \"iteration $n\" >> $OUT/ran; case $n in \
                  1) echo x > server.txt; commit server;; \
                  2) echo two > web/page.txt; commit page;; \
                  *) echo y > server.txt; pass a; pass b; commit last; \
                  say '<promise>COMPLETE</promise>';; esac";
    let scenario = scenario.agent(script);
    scenario.run().ended(0);
    let ran = scenario.told("ran");
    let parts: Vec<Vec<&str>> =
        ran.split("iteration ").map(|part| part.lines().skip(1).collect()).collect();
    let has_web = |part: usize| parts.get(part).is_some_and(|lines| lines.contains(&"web"));
    assert!(!has_web(1), "only the server was touched: {ran}");
    assert!(has_web(2), "the page was touched: {ran}");
    assert!(has_web(3), "a completion is about everything: {ran}");
}

#[test]
fn what_was_left_out_in_one_iteration_is_run_for_a_completion_in_the_next() {
    let config = "[[gates.check]]\nname = \"web\"\ncommand = \"! grep -q BAD notes.txt\"\npaths = [\"web\"]\n\
                  [[gates.check]]\nname = \"all\"\ncommand = \"true\"\n";
    let scenario = Scenario::new().config(config).file("notes.txt", "fine\n").committed();
    let script = "case $n in \
                  1) pass a; echo BAD > notes.txt; commit bad;; \
                  2) pass b; say '<promise>COMPLETE</promise>';; \
                  *) echo fine > notes.txt; commit mended; say '<promise>COMPLETE</promise>';; esac";
    let scenario = scenario.agent(script);
    let ran = scenario.run().ended(0).saying("its paths were not touched");
    assert!(ran.stderr.contains("web failed"), "{}", ran.stderr);
}

#[test]
fn a_gate_that_mends_what_it_checks_makes_nothing_green() {
    let gate = |more: &str, command: &str| {
        format!("[[gates.check]]\nname = \"fmt\"\ncommand = \"{command}\"\n{more}")
    };
    let script = "cat > $OUT/prompt-$n; if [ $n = 1 ]; then echo BAD > a.txt; pass a; pass b; fi; commit x; \
                  say '<promise>COMPLETE</promise>'";
    let of = |config: &str| {
        let scenario = Scenario::new().config(config).file("a.txt", "GOOD\n").committed();
        scenario.agent(script)
    };
    // Red, and green once it has edited what it found: that was another tree.
    let edits = "if grep -q BAD a.txt; then sed -i s/BAD/GOOD/ a.txt; exit 1; fi";
    let scenario = of(&gate("retry = 1\n", edits));
    let ran = scenario.run().ended(0).saying("Iterations:  2 / 15");
    assert!(!ran.stderr.contains("Flaky:"), "{}", ran.stderr);
    let told = scenario.told("prompt-2");
    assert!(
        told.contains("files changed while it ran (a.txt), so it was not tried again"),
        "{told}"
    );
    // Green at once, of a file that is not the committed one any more.
    let scenario = of(&gate("", "sed -i s/BAD/GOOD/ a.txt"));
    scenario.run().ended(0).saying("Iterations:  2 / 15");
    let told = scenario.told("prompt-2");
    assert!(told.contains("the gates changed 1 file while they ran"), "{told}");
}

#[test]
fn a_red_gate_is_run_again_for_a_claim_once_what_it_needs_is_installed() {
    let config = "[[gates.check]]\nname = \"tests\"\ncommand = \"echo x >> $OUT/ran; if test -e node_modules/leftpad; \
                  then echo 'ok 1 - pads'; else echo 'not ok 1 - pads'; exit 1; fi\"\n";
    let scenario = Scenario::new().config(config).file(".gitignore", "node_modules\n").committed();
    let script = "case $n in 1) pass a; pass b;; 2) true;; *) mkdir -p node_modules/leftpad;; esac; \
                  say '<promise>COMPLETE</promise>'";
    let scenario = scenario.agent(script);
    let ran = scenario.run().ended(0).saying("Iterations:  3 / 15");
    assert!(ran.stderr.contains("pads · ") && ran.stderr.contains("known for this tree"));
    // Before the run, after the first iteration, and with what was installed.
    assert_eq!(scenario.told("ran").lines().count(), 2, "{}", scenario.told("ran"));
}

#[test]
fn tests_in_a_new_folder_weaken_no_gate_that_was_detected() {
    let test =
        "import unittest\nclass A(unittest.TestCase):\n    def test_x(self):\n        pass\n";
    let scenario = Scenario::new()
        .file("pyproject.toml", "[project]\nname = \"x\"\n")
        .file(".gitignore", "__pycache__\n")
        .file("a/__init__.py", "")
        .file("a/test_a.py", test)
        .committed();
    let script = "mkdir b; touch b/__init__.py; cp a/test_a.py b/test_b.py; pass a; pass b; commit b; \
                  say '<promise>COMPLETE</promise>'";
    let scenario = scenario.agent(script);
    let ran = scenario.run().ended(0).saying("Iterations:  1 / 15");
    assert!(!ran.stderr.contains("weakened"), "{}", ran.stderr);
}

#[test]
fn the_same_tree_is_never_checked_twice() {
    let scenario = project("fine\n", "fine\n", "").file("check.sh", "echo x >> $OUT/checks\n");
    let scenario = scenario.committed().agent("say nothing new");
    scenario.run().ended(4);
    assert_eq!(scenario.told("checks"), "x\n");
    scenario.run().ended(4);
    assert_eq!(scenario.told("checks"), "x\n", "not in the next run either");
}

#[test]
fn a_gate_that_takes_too_long_is_red_and_ended() {
    let config = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -e slow && { setsid sleep 700 & sleep 701; }; true\"\ntimeout = \"500ms\"\n";
    let script = "cat > $OUT/prompt-$n; if [ $n = 1 ]; then touch slow; else rm slow; fi; pass a; pass b; commit x";
    let scenario = Scenario::new().config(config).committed().agent(script);
    scenario.run().ended(0).saying("timed out").saying("Iterations:  2 / 15");
    assert!(scenario.told("prompt-2").contains("tests"));
}

#[test]
fn a_gate_whose_needs_are_red_is_skipped_and_never_green() {
    let config = "[[gates.check]]\nname = \"build\"\ncommand = \"test ! -e broken\"\n\
                  [[gates.check]]\nname = \"tests\"\ncommand = \"true\"\nneeds = [\"build\"]\n";
    let script = "cat > $OUT/prompt-$n; if [ $n = 1 ]; then touch broken; else rm broken; fi; pass a; pass b; commit x";
    let scenario = Scenario::new().config(config).committed().agent(script);
    scenario.run().ended(0).saying("tests skipped");
    let told = scenario.told("prompt-2");
    assert!(told.contains("[~] tests") && told.contains("[ ] build"), "{told}");
}

#[test]
fn falling_scores_end_the_run() {
    let config = "[[gates.check]]\nname = \"tests\"\ncommand = \"sh check.sh\"\n";
    let check = "i=0; echo 1..4; while [ $i -lt 4 ]; do i=$((i+1)); if grep -q $i broken; then echo \"not ok $i - t$i\"; bad=1; else echo \"ok $i - t$i\"; fi; done; exit ${bad:-0}\n";
    let scenario = Scenario::new()
        .config(config)
        .file("check.sh", check)
        .file("broken", "none\n")
        .committed()
        .env("FLYBALL_ITERATIONS__CIRCUIT_BREAKER", "9")
        .agent("echo $n >> broken; commit worse");
    let ran = scenario.run().ended(6).saying("quality_regression (code 6)");
    assert!(ran.stderr.contains("Quality regression detected: Validation scores declined"));
}

#[test]
fn red_work_on_the_same_file_without_a_better_score_is_thrashing() {
    let scenario = project("fine\n", "fine\n", "")
        .env("FLYBALL_ITERATIONS__CIRCUIT_BREAKER", "20")
        .env("FLYBALL_ITERATIONS__REGRESSION_WINDOW", "20")
        .agent("echo \"broken $n\" > one.txt; commit try");
    scenario.run().ended(6).saying("thrashing (code 6)").saying("one.txt");
}
