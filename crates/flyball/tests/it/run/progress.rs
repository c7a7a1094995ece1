//! B3: what counts as progress, and when a run is stuck.

use crate::scenario::Scenario;

#[test]
fn runs_without_progress_end_stuck_after_three_iterations() {
    let cases = [
        ("idle", "true"),
        ("varying prose", "say \"iteration $n brings me closer, $(date +%N)\""),
        ("staged once, then idle", "echo A > x; git add -A; say staged"),
        ("untracked work that is never committed", "echo $n > new-$n"),
        ("the diary alone", "echo $n >> .flyball/progress.txt; commit diary"),
    ];
    for (name, script) in cases {
        let scenario = Scenario::new().committed().agent(script);
        let ran = scenario.run();
        assert_eq!(ran.code, 4, "{name}: {}", ran.stderr);
        assert_eq!(scenario.column("stuck_count"), ["1", "2", "3"], "{name}");
        ran.ended(4).saying("Exit:        stuck (code 4)");
    }
}

#[test]
fn flip_flop_commits_do_not_pass_for_progress() {
    let flip = "if [ $((n % 2)) = 1 ]; then echo A > x; else echo B > x; fi; commit flip";
    let scenario = Scenario::new().committed().agent(flip);
    scenario.run().ended(4);
    assert_eq!(scenario.column("stuck_count"), ["0", "0", "1", "2", "3"]);
}

#[test]
fn new_untracked_work_counts_where_the_tree_is_the_measure() {
    let scenario = Scenario::new()
        .committed()
        .env("FLYBALL_ITERATIONS__PROGRESS", "tree")
        .flags(&["--max-iterations", "5"])
        .agent("echo $n > new-$n");
    scenario.run().ended(1).saying("Iterations:  5 / 5").saying("Stuck iters: 0");
    assert_eq!(scenario.column("commit_hash"), ["", "", "", "", ""]);
}

#[test]
fn a_commit_resets_the_count() {
    let scenario = Scenario::new()
        .committed()
        .flags(&["--max-iterations", "5"])
        .agent("if [ $n = 3 ]; then work; fi");
    scenario.run().ended(1);
    assert_eq!(scenario.column("stuck_count"), ["1", "2", "0", "1", "2"]);
}

#[test]
fn the_limit_is_the_users() {
    let scenario = Scenario::new().committed().flags(&["--max-stuck", "1"]).agent("true");
    scenario.run().ended(4).saying("Iterations:  1 / 15");
}
