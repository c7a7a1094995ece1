//! The guarded never holds the keys, and nothing of the user's is touched.

use std::fs;

use crate::scenario::Scenario;

#[test]
fn an_agent_that_deletes_logs_and_sign_changes_nothing() {
    let script = "rm -rf .flyball/logs .flyball/active.json; say hi";
    let scenario = Scenario::new().committed().agent(script);
    scenario.run().ended(4).saying("Iterations:  3 / 15");
    assert_eq!(scenario.last_run().outcome.as_deref(), Some("stuck"));
    let closed = scenario.journal().iterations(&scenario.last_run().run).unwrap();
    assert_eq!(closed.len(), 3);
}

#[test]
fn an_agent_that_deletes_the_whole_loop_folder_changes_nothing() {
    let scenario = Scenario::new().committed().agent("rm -rf .flyball");
    let ran = scenario.run();
    assert_eq!((ran.code, ran.left.len()), (4, 0), "{}", ran.stderr);
    assert_eq!(scenario.stories().len(), 2);
}

#[test]
fn settings_are_read_once() {
    let gate = "[limits]\nstuck = 3\n[[gates.check]]\nname = \"tests\"\ncommand = \"false\"\n";
    let script = "printf '[limits]\\nstuck = 100\\niterations = 100\\n' > flyball.toml; \
                  commit config; pass a; pass b; work; say '<promise>COMPLETE</promise>'";
    let scenario = Scenario::new().config(gate).committed().agent(script);
    let ran = scenario.run();
    assert_eq!((ran.code, ran.left.len()), (6, 0), "the gate is still red: {}", ran.stderr);
    let idle = "printf '[limits]\\nstuck = 100\\n' > flyball.toml";
    Scenario::new().config("[limits]\nstuck = 2\n").committed().agent(idle).run().ended(4);
}

#[test]
fn the_environment_of_the_agent_is_not_flyballs() {
    let script = "export FLYBALL_LIMITS__STUCK=100; env -u FLYBALL_RUN true";
    Scenario::new().committed().agent(script).run().ended(4).saying("Iterations:  3 / 15");
}

#[test]
fn nothing_of_the_users_is_touched_over_a_whole_run() {
    let scenario = Scenario::new().file(".gitignore", "ignored\n").file("b.txt", "b\n").committed();
    scenario.write("a.txt", "to be stashed\n");
    scenario.git(&["stash"]);
    scenario.write("staged", "staged\n");
    scenario.git(&["add", "staged"]);
    scenario.write("staged", "staged, then changed\n");
    scenario.write("b.txt", "changed\n");
    scenario.write("untracked", "mine\n");
    scenario.write("ignored", "mine too\n");
    scenario.git(&["branch", "other"]);
    let index = || fs::read(scenario.root().join(".git/index")).unwrap();
    let look = || {
        ["status --porcelain=v2 --branch", "stash list", "diff --cached", "diff", "branch -av"]
            .map(|words| scenario.git(&words.split(' ').collect::<Vec<_>>()))
    };
    // git itself may refresh the index when asked for the status: look once before.
    let (before, index_before) = (look(), index());
    scenario.run().ended(4);
    let index_after = index();
    assert_eq!(look(), before);
    assert_eq!(index_after, index_before, "the index, byte for byte");
    for (name, text) in [("untracked", "mine\n"), ("ignored", "mine too\n"), ("b.txt", "changed\n")]
    {
        assert_eq!(scenario.read(name), text);
    }
    let heads = scenario.git(&["for-each-ref", "--format=%(refname)"]);
    let others: Vec<&str> =
        heads.lines().filter(|name| !name.starts_with("refs/flyball/")).collect();
    assert_eq!(others, ["refs/heads/main", "refs/heads/other", "refs/stash"]);
    let run = scenario.last_run().run;
    let tree = scenario.git(&["ls-tree", "-r", "--name-only", &format!("refs/flyball/{run}/3")]);
    assert!(tree.contains("untracked") && !tree.lines().any(|name| name == "ignored"), "{tree}");
}

#[test]
fn work_that_was_never_committed_can_be_brought_back() {
    let script = "if [ $n = 1 ]; then echo precious > precious; else rm -f precious; fi";
    let scenario = Scenario::new().committed().agent(script);
    scenario.run().ended(4);
    let run = scenario.last_run().run;
    assert!(!scenario.has("precious"));
    assert_eq!(scenario.git(&["show", &format!("refs/flyball/{run}/1:precious")]), "precious\n");
}

#[test]
fn two_runs_in_one_worktree_are_refused() {
    let scenario = Scenario::new().committed().agent("echo up > $OUT/up; sleep 700");
    let first = scenario.spawn();
    scenario.until_told("up", "up");
    assert!(scenario.has(".flyball/active.json"));
    for second in [scenario.run(), scenario.resume(&[])] {
        assert_eq!(second.code, 75, "{}", second.stderr);
        assert!(second.stderr.starts_with("error: "), "{}", second.stderr);
        assert!(second.stderr.contains("hint: "), "{}", second.stderr);
    }
    first.signal(rustix::process::Signal::TERM);
    assert_eq!(first.wait().code, 143);
    assert!(!scenario.has(".flyball/active.json"));
}

#[test]
fn a_sign_left_by_a_dead_run_is_noticed_and_taken_down() {
    let scenario = Scenario::new().committed().agent("pass a; pass b");
    scenario.write(".flyball/active.json", "{\"pid\": 4194303, \"run\": \"x\"}");
    scenario.run().ended(0).saying("4194303");
    assert!(!scenario.has(".flyball/active.json"));
}
