//! Apart from the user's work: `run --worktree`, `land`, `drop`, and the note in a dirty worktree.

use std::path::PathBuf;

use serde_json::Value;

use crate::scenario::{Ran, Scenario};

/// A gate that a merge can break: `x` and `y` together are too much.
fn scenario() -> Scenario {
    Scenario::new()
        .config("[[gates.check]]\nname = \"tests\"\ncommand = \"test ! -e x || test ! -e y\"\n")
        .committed()
        .flags(&["--worktree"])
        .agent("echo work > x; commit x; pass a; pass b")
}

/// Runs it, and gives its name and its worktree.
#[track_caller]
fn ran(scenario: &Scenario) -> (String, PathBuf) {
    let ran = scenario.run().ended(0);
    let run = scenario.last_run();
    for line in [format!("flyball land {}", run.run), format!("flyball drop {}", run.run)] {
        assert!(ran.stderr.contains(&line), "{line} in {}", ran.stderr);
    }
    (run.run.to_string(), run.root)
}

fn tip(scenario: &Scenario, branch: &str) -> String {
    scenario.git(&["rev-parse", branch]).trim().to_owned()
}

#[track_caller]
fn lands(scenario: &Scenario, run: &str) -> Ran {
    let ran = scenario.flyball(&["land", run]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran
}

#[track_caller]
fn stays(scenario: &Scenario, run: &str, words: &str) {
    let (before, files) = (tip(scenario, "main"), scenario.git(&["status", "--porcelain"]));
    let ran = scenario.flyball(&["land", run]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(words), "{words} in {}{}", ran.stdout, ran.stderr);
    assert_eq!(tip(scenario, "main"), before);
    assert_eq!(scenario.git(&["status", "--porcelain"]), files);
}

#[test]
fn a_run_works_in_a_worktree_of_its_own_and_lands() {
    let scenario = scenario();
    let before = tip(&scenario, "main");
    let (run, path) = ran(&scenario);
    assert!(
        path.starts_with(scenario.outside("home").join(".cache/flyball/worktrees")),
        "{path:?}"
    );
    assert_eq!(tip(&scenario, "main"), before, "the user's branch stays");
    assert!(!scenario.has("x"), "and so do the user's files");
    let own = tip(&scenario, &format!("flyball/{run}"));
    let said = lands(&scenario, &run);
    assert!(said.stdout.contains(&format!("Landed run {run} on main")), "{}", said.stdout);
    assert!(
        said.stderr.contains("known for this tree"),
        "gates of a fast-forward: {}",
        said.stderr
    );
    assert_eq!(tip(&scenario, "main"), own);
    assert!(scenario.has("x") && scenario.git(&["status", "--porcelain"]).is_empty());
    assert!(scenario.git(&["reflog", "main"]).contains("merge"), "the move can be seen");
    assert!(!path.exists(), "nothing is left of it");
    assert!(scenario.git(&["branch", "--list", "flyball/*"]).is_empty());
    assert_eq!(scenario.git(&["worktree", "list"]).lines().count(), 1);
    let again = scenario.flyball(&["land", &run]);
    assert!(again.code == 66 && again.stderr.contains("was landed already"), "{}", again.stderr);
}

#[test]
fn both_sides_are_merged_and_the_gates_run_on_the_merge() {
    let scenario = scenario();
    let (run, _) = ran(&scenario);
    scenario.write("z", "mine");
    scenario.git(&["add", "-A"]);
    scenario.git(&["commit", "-qm", "z"]);
    let (mine, own) = (tip(&scenario, "main"), tip(&scenario, &format!("flyball/{run}")));
    let json = scenario.flyball(&["land", &run, "--json"]);
    assert_eq!(json.code, 0, "{}{}", json.stdout, json.stderr);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json["landed"], &json["target"]), (&true.into(), &"main".into()));
    let parents = scenario.git(&["log", "-1", "--format=%P%n%an%n%s", "main"]);
    let lines: Vec<&str> = parents.lines().collect();
    assert_eq!(lines[0], format!("{mine} {own}"));
    assert_eq!(lines[1], "somebody", "in the name of who asked");
    assert_eq!(lines[2], format!("Merge branch 'flyball/{run}' into main"));
    assert!(scenario.has("x") && scenario.has("z"));
    assert_eq!(scenario.git(&["worktree", "list"]).lines().count(), 1, "no landing place is left");
}

#[test]
fn red_on_the_merge_moves_nothing() {
    let scenario = scenario();
    let (run, path) = ran(&scenario);
    scenario.write("y", "too much");
    scenario.git(&["add", "-A"]);
    scenario.git(&["commit", "-qm", "y"]);
    stays(&scenario, &run, "Red on the merged tree: tests failed");
    assert!(path.exists(), "the work stays where it was");
}

#[test]
fn a_conflict_moves_nothing() {
    let scenario = scenario();
    let (run, _) = ran(&scenario);
    scenario.write("x", "otherwise");
    scenario.git(&["add", "-A"]);
    scenario.git(&["commit", "-qm", "x otherwise"]);
    stays(&scenario, &run, "In conflict:\n  x\n");
}

#[test]
fn weakened_checks_do_not_land_until_a_human_accepts_them() {
    let tests = "def test_one():\n    assert 1\n\ndef test_two():\n    assert 1\n";
    let scenario = Scenario::new()
        .config("[gates]\non_tamper = \"report\"\n[[gates.check]]\nname = \"tests\"\ncommand = \"true\"\n")
        .file("test_a.py", tests)
        .committed()
        .flags(&["--worktree"])
        .agent("printf 'def test_one():\\n    assert 1\\n' > test_a.py; commit fewer; pass a; pass b");
    let (run, _) = ran(&scenario);
    scenario.write("flyball.toml", "[[gates.check]]\nname = \"tests\"\ncommand = \"true\"\n");
    stays(&scenario, &run, "Weakened, and not accepted:");
    let accepted = scenario.flyball(&["accept", "tamper", "--run", &run]);
    assert_eq!(accepted.code, 0, "{}", accepted.stderr);
    scenario.git(&["checkout", "-q", "flyball.toml"]);
    lands(&scenario, &run);
}

#[test]
fn a_target_with_uncommitted_work_is_left_to_its_owner() {
    let scenario = scenario();
    let (run, _) = ran(&scenario);
    scenario.write("a.txt", "not yet committed");
    let line = format!("merge --ff-only flyball/{run}");
    stays(&scenario, &run, &line);
    assert_eq!(scenario.read("a.txt"), "not yet committed");
    scenario.git(&["checkout", "-q", "-b", "elsewhere"]);
    lands(&scenario, &run);
    assert_eq!(scenario.read("a.txt"), "not yet committed");
    assert!(scenario.git(&["show", "main:x"]).contains("work"));
}

#[test]
fn a_merge_its_owner_has_to_take_is_kept_until_it_is_taken() {
    let scenario = scenario();
    let (run, path) = ran(&scenario);
    scenario.write("z", "mine");
    scenario.git(&["add", "-A"]);
    scenario.git(&["commit", "-qm", "z"]);
    scenario.write("a.txt", "not yet committed");
    let kept = format!("flyball/{run}-landed");
    stays(&scenario, &run, &format!("merge --ff-only {kept}"));
    scenario.git(&["stash", "-q"]);
    scenario.git(&["merge", "-q", "--ff-only", &kept]);
    let said = lands(&scenario, &run);
    assert!(said.stdout.contains("has everything of run"), "{}", said.stdout);
    assert!(!path.exists() && scenario.git(&["branch", "--list", "flyball/*"]).is_empty());
}

#[test]
fn a_run_can_be_dropped_and_brought_back() {
    let scenario = scenario();
    let (run, path) = ran(&scenario);
    let own = tip(&scenario, &format!("flyball/{run}"));
    std::fs::write(path.join("note"), "mine").unwrap();
    let refused = scenario.flyball(&["drop", &run]);
    assert!(refused.code == 64 && refused.stderr.contains("note"), "{}", refused.stderr);
    let dropped = scenario.flyball(&["drop", &run, "--force"]);
    assert_eq!(dropped.code, 0, "{}", dropped.stderr);
    assert!(dropped.stdout.contains(&own), "{}", dropped.stdout);
    assert!(!path.exists() && scenario.git(&["branch", "--list", "flyball/*"]).is_empty());
    assert_eq!(scenario.flyball(&["land", &run]).code, 66);
    assert_eq!(scenario.flyball(&["rewind", &run, "1"]).code, 0, "checkpoints stay");
}

#[test]
fn a_named_worktree_is_used_again_and_set_up_once() {
    let scenario = Scenario::new()
        .config("[worktree]\nsetup = [\"echo once >> $OUT/setup\"]\n")
        .committed()
        .flags(&["--worktree", "shop", "--once"])
        .agent("echo $FLYBALL_RUN > which; commit one more");
    scenario.run().ended(1);
    let first = scenario.last_run();
    assert!(first.root.ends_with("shop"), "{:?}", first.root);
    scenario.run().ended(1);
    let second = scenario.last_run();
    assert_eq!((second.root == first.root, second.run == first.run), (true, false));
    assert_eq!(scenario.told("setup"), "once\n");
    assert_eq!(scenario.git(&["rev-list", "--count", "main..flyball/shop"]).trim(), "2");
    lands(&scenario, second.run.as_str());
    assert_eq!(scenario.flyball(&["land", first.run.as_str()]).code, 66);
}

#[test]
fn what_has_blanks_is_the_task_and_no_name() {
    let scenario = Scenario::bare()
        .config("[[gates.check]]\nname = \"tests\"\ncommand = \"test -e x\"\n")
        .committed()
        .agent("cat > $OUT/prompt; echo work > x; commit x; say \"<promise>COMPLETE</promise>\"");
    let ran = scenario.run_with(&["--worktree", "Make x, please"]).ended(0);
    assert!(scenario.told("prompt").contains("Make x, please"));
    let run = scenario.last_run().run.to_string();
    assert!(ran.stderr.contains(&format!("flyball/{run}")), "named like its run: {}", ran.stderr);
    lands(&scenario, &run);
    let ran = scenario.run_with(&["Make x", "--worktree", "my tree"]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    assert!(ran.stderr.contains("`my tree` cannot name a worktree"), "{}", ran.stderr);
}

#[test]
fn a_branch_with_fewer_tests_does_not_land() {
    // A runner that tells how many tests it ran: as many as there are files.
    let runner = "n=$(ls t | wc -l); echo \"running $n tests\"; echo; echo \"test result: ok. $n passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\"";
    let config = "[gates]\nmay_change = [\"none/\"]\n[[gates.check]]\nname = \"tests\"\ncommand = \"sh run.sh\"\n";
    let scenario = Scenario::new()
        .config(config)
        .file("run.sh", runner)
        .file("t/a", "1")
        .file("t/b", "2")
        .file("t/c", "3")
        .committed()
        .flags(&["--worktree"])
        .agent("echo work > x; commit x; pass a; pass b");
    let (run, path) = ran(&scenario);
    // After the run, somebody takes one away.
    std::fs::remove_file(path.join("t/c")).unwrap();
    let git = |words: &[&str]| {
        let ran = std::process::Command::new("git").arg("-C").arg(&path).args(words).status();
        assert!(ran.unwrap().success());
    };
    git(&["add", "-A"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "less"]);
    stays(&scenario, &run, "gate `tests` ran 3 tests before and is green with 2 of them");
    let ran = scenario.flyball(&["land", &run, "--accept-tamper"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(!scenario.has("t/c"));
}

#[test]
fn old_worktrees_are_pruned_and_those_with_work_of_their_own_are_kept() {
    let scenario = scenario();
    let (landed, first) = ran(&scenario);
    let again = scenario.agent("echo more > z; commit z; pass a; pass b");
    let (open, second) = ran(&again);
    let kept = again.flyball(&["land", &landed, "--keep"]);
    assert_eq!(kept.code, 0, "{}", kept.stderr);
    let dry = again.flyball(&["prune", "--older-than", "0", "--dry-run"]).stdout;
    assert!(dry.contains(&format!("worktree {} with branch", first.display())), "{dry}");
    assert!(first.is_dir() && second.is_dir(), "only said");
    let told = again.flyball(&["prune", "--older-than", "0"]).stdout;
    assert!(told.contains("1 worktree of runs"), "{told}");
    let kept = told.lines().find(|line| line.starts_with("Kept ")).unwrap();
    assert!(kept.contains(&second.display().to_string()), "{told}");
    assert!(
        kept.ends_with("no other branch has") && told.contains(&format!("flyball land {open}")),
        "{told}"
    );
    assert!(!first.exists() && second.is_dir());
    assert_eq!(again.git(&["branch", "--list", "flyball/*"]).lines().count(), 1);
    assert_eq!(again.flyball(&["log", &landed]).code, 66, "its journal went with it");
    std::fs::write(second.join("mine"), "x").unwrap();
    let told = again.flyball(&["prune", "--older-than", "0"]).stdout;
    assert!(told.contains("no other branch has, and 1 file not committed"), "{told}");
    lands(&again, &open);
    let told = again.flyball(&["prune", "--older-than", "0"]).stdout;
    assert!(told.contains(&format!("Kept {}: 1 file not committed", second.display())), "{told}");
    std::fs::remove_file(second.join("mine")).unwrap();
    again.flyball(&["prune", "--older-than", "0"]);
    assert!(!second.exists() && again.git(&["worktree", "list"]).lines().count() == 1);
}

#[test]
fn a_run_apart_is_shown_as_one_of_the_repository_it_came_from() {
    let scenario = scenario();
    let (run, _) = ran(&scenario);
    let status = scenario.flyball(&["status"]).stdout;
    let name = scenario.root().file_name().unwrap().to_string_lossy().into_owned();
    let row = status.lines().find(|line| line.contains(&run)).unwrap();
    assert!(row.starts_with('*'), "{status}");
    assert!(!row.contains(&format!("{run}  {run}")), "{status}");
    assert!(status.contains(&format!("flyball land {run}")), "{status}");
    let stats = scenario.flyball(&["stats"]).stdout;
    assert!(stats.contains(&format!("\n{name} ")) && !stats.contains(&run), "{stats}");
    let told = scenario.flyball(&["status", "--json"]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert!(told["runs"][0]["origin"].as_str().unwrap().ends_with(&name), "{told}");
    lands(&scenario, &run);
    assert!(!scenario.flyball(&["status"]).stdout.contains("flyball land"));
}

#[test]
fn a_refused_start_leaves_no_worktree_behind() {
    let failing = Scenario::new()
        .config("[worktree]\nsetup = [\"echo cannot; exit 3\"]\n")
        .committed()
        .flags(&["--worktree"]);
    let ran = failing.run();
    assert_eq!(ran.code, 74, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("cannot") && ran.stderr.contains("it exited with 3"),
        "{}",
        ran.stderr
    );
    let bad = Scenario::new().tasks("{").committed().flags(&["--worktree"]);
    assert_eq!(bad.run().code, 65);
    for scenario in [failing, bad] {
        assert!(scenario.git(&["branch", "--list", "flyball/*"]).is_empty());
        assert_eq!(scenario.git(&["worktree", "list"]).lines().count(), 1);
    }
}

#[test]
fn a_worktree_run_is_told_stopped_and_resumed_from_where_it_was_started() {
    let waits = "echo up > $OUT/up; while ! test -e $OUT/go; do sleep 0.05; done; pass a; pass b";
    let scenario = Scenario::new().committed().flags(&["--worktree"]).agent(waits);
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    let early = scenario.flyball(&["land", scenario.last_run().run.as_str()]);
    assert!(early.code == 75 && early.stderr.contains("still at work"), "{}", early.stderr);
    assert_eq!(scenario.flyball(&["tell", "hello"]).code, 0);
    assert_eq!(scenario.flyball(&["stop"]).code, 0);
    running.wait().ended(143);
    std::fs::write(scenario.outside("go"), "").unwrap();
    let run = scenario.last_run().run.to_string();
    let ran = scenario.flyball(&["run", "--resume", &run]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    lands(&scenario, &run);
}

#[test]
fn the_agent_of_a_run_cannot_land_or_drop_it() {
    let tries = r#"for c in land drop; do "$FLYBALL_BIN" $c $FLYBALL_RUN >> $OUT/tried 2>&1; done; pass a; pass b"#;
    let scenario = Scenario::new()
        .committed()
        .flags(&["--worktree"])
        .env("FLYBALL_BIN", env!("CARGO_BIN_EXE_flyball"))
        .agent(tries);
    ran(&scenario);
    assert_eq!(scenario.told("tried").matches("is for humans").count(), 2);
}

#[test]
fn what_is_not_committed_is_named_before_the_agent_may_commit_it() {
    let scenario = Scenario::new().committed().file("a.txt", "changed").agent("pass a; pass b");
    let ran = scenario.run();
    assert!(
        ran.stderr.contains("`a.txt` is not committed: the agent may commit that too"),
        "{}",
        ran.stderr
    );
    let apart = Scenario::new()
        .committed()
        .file("a.txt", "changed")
        .flags(&["--worktree"])
        .agent("pass a; pass b");
    let ran = apart.run();
    assert!(ran.stderr.contains("1 uncommitted file of"), "{}", ran.stderr);
    assert_eq!(apart.read("a.txt"), "changed");
    let clean = Scenario::new().committed().agent("pass a; pass b").run();
    clean.ended(0).silent_on("not committed");
}

/// Killed at any point, the branch has its old or its new end, and its worktree is whole.
#[test]
fn a_killed_landing_leaves_the_old_or_the_new_branch() {
    let scenario = scenario();
    let (run, _) = ran(&scenario);
    scenario.write("z", "mine");
    scenario.git(&["add", "-A"]);
    scenario.git(&["commit", "-qm", "z"]);
    let old = tip(&scenario, "main");
    for pause in [0, 15, 40, 80, 120, 200, 300, 450, 700] {
        let landing = scenario.spawn_with_words(&["land", &run, "--keep"]);
        std::thread::sleep(std::time::Duration::from_millis(pause));
        landing.signal_if_there(rustix::process::Signal::KILL);
        drop(landing.wait());
        scenario.until_quiet();
        let now = tip(&scenario, "main");
        let parents = scenario.git(&["log", "-1", "--format=%P", "main"]);
        assert!(now == old || parents.starts_with(&old), "{now}");
        assert_eq!(scenario.git(&["status", "--porcelain"]), "", "after {pause} ms");
        assert_eq!(scenario.has("x"), now != old);
        assert!(!scenario.root().join(".git/index.lock").exists());
        scenario.git(&["fsck", "--connectivity-only"]);
        if now != old {
            return;
        }
    }
    lands(&scenario, &run);
    assert_eq!(scenario.git(&["worktree", "list"]).lines().count(), 1, "what died was swept");
}
