//! What is kept and put away: `rewind`, `archive`, `prune`.

use std::fs;
use std::path::Path;

use flyball::clock;
use flyball::journal::{NewRun, lock_worktree};
use flyball::worktree::Worktree;
use flyball_core::task::Standing;
use flyball_core::{IterationNo, Millis, Outcome, RunId, TaskId};

use crate::home::Home;

/// Makes a checkpoint of the worktree as it is.
fn checkpoint(home: &Home, run: &RunId, iteration: u32) {
    let mut worktree = Worktree::open(&home.root()).unwrap();
    let snapshot = worktree.snapshot(".flyball", Path::new(".flyball/tasks.json")).unwrap();
    let iteration = IterationNo::new(iteration);
    worktree.checkpoint(run, iteration, &snapshot.checkpoint_tree).unwrap();
}

#[test]
fn an_iteration_comes_back_on_a_new_branch_beside_the_user_s_work() {
    let home = Home::new();
    let run = home.begin("run-7");
    home.file("new.txt", "of iteration 1\n");
    checkpoint(&home, &run, 1);
    home.file("new.txt", "mine\n");
    let said = home.run(&["rewind", "run", "1"]).ok();
    assert!(said.starts_with("Iteration 1 of run run-7 is on the new branch flyball/run-7-1 ("));
    assert!(said.contains("git switch flyball/run-7-1\n"), "{said}");
    assert_eq!(home.git(&["show", "flyball/run-7-1:new.txt"]), "of iteration 1");
    assert_eq!(home.read("new.txt"), "mine\n");
    assert_eq!(home.git(&["branch", "--show-current"]), "main");
    let taken = home.run(&["rewind", "run", "1"]).failed(64);
    assert!(taken.contains("already exists") && taken.contains("--branch NAME"), "{taken}");
    home.run(&["rewind", "run", "1", "--branch", "back"]).ok();
    assert_eq!(home.git(&["show", "back:new.txt"]), "of iteration 1");
    let unknown = home.run(&["rewind", "run", "9"]).failed(66);
    assert!(unknown.contains("no checkpoint of iteration 9\n  hint: known: 1\n"), "{unknown}");
    home.run(&["rewind", "nobody", "1"]).failed(66);
}

#[test]
fn an_iteration_comes_back_in_a_new_worktree() {
    let home = Home::new();
    let run = home.begin("run-7");
    home.file("new.txt", "of iteration 0\n");
    checkpoint(&home, &run, 0);
    let said = home.run(&["rewind", "run-7", "0", "--worktree", "../back"]).ok();
    assert!(said.contains("Look:  cd "), "{said}");
    assert_eq!(home.read("../back/new.txt"), "of iteration 0\n");
    let taken = home.run(&["rewind", "run-7", "0", "--worktree", "../back"]).failed(64);
    assert!(taken.contains("already exists"), "{taken}");
    home.run(&["rewind", "run-7", "0", "--worktree", "x", "--branch", "y"]).failed(64);
}

#[test]
fn finished_work_is_put_away_and_the_next_begins_with_templates() {
    let home = Home::new();
    home.file(".flyball/prd.md", "What I wanted\n");
    home.file(".flyball/progress.txt", "Diary\n");
    home.file(".flyball/logs/iteration-001.log", "log\n");
    let run = home.begin("r");
    home.end(&run, Outcome::Complete);
    let standing = (Standing::SetAside, clock::wall());
    home.journal().mark_task(&home.root(), &TaskId::new("US-001"), standing).unwrap();
    let said = home.run(&["archive", "--label", "first half"]).ok();
    assert!(
        said.starts_with("Moved prd.md, tasks.json, progress.txt to .flyball/archive/20"),
        "{said}"
    );
    let archive = only_folder(&home);
    assert!(archive.ends_with("-first-half"), "{archive}");
    assert_eq!(home.read(&format!("{archive}/prd.md")), "What I wanted\n");
    assert_eq!(home.read(&format!("{archive}/progress.txt")), "Diary\n");
    let summary = home.read(&format!("{archive}/summary.md"));
    for part in [
        "| Outcome | complete |",
        "| Iterations | 3 of 15 |",
        "| Stories | 1/2 |",
        "| Cost | $1.23 |",
        "- [x] A: First\n- [ ] B: Second\n",
    ] {
        assert!(summary.contains(part), "{part} in {summary}");
    }
    assert_eq!(home.read(".flyball/prompt.md"), "Do {{task}}.\n");
    assert!(home.read(".flyball/tasks.json").contains("\"project\": \"shop\""));
    assert!(home.read(".flyball/tasks.json").contains("US-001"));
    assert!(home.has(".flyball/logs/iteration-001.log"));
    let memory = home.journal().task_memory(&home.root(), clock::wall(), Millis::ZERO).unwrap();
    assert_eq!(memory.standings, [], "a new US-001 is not set aside");
}

#[test]
fn logs_are_put_away_on_request_and_names_never_collide() {
    let home = Home::new();
    home.file(".flyball/logs/iteration-001.log", "log\n");
    home.run(&["archive", "--label", "x", "--include-logs"]).ok();
    let archive = only_folder(&home);
    assert_eq!(home.read(&format!("{archive}/logs/iteration-001.log")), "log\n");
    assert!(!home.has(".flyball/logs"));
    assert!(home.read(&format!("{archive}/summary.md")).contains("No run is known."));
    let said = home.run(&["archive", "--label", "x"]).ok();
    assert!(said.contains("-x-2"), "{said}");
    home.run(&["archive", "--label", "///"]).failed(64);
    let said = home.run(&["archive"]).ok();
    assert!(said.contains("-shop\n"), "named after the project: {said}");
}

#[test]
fn nothing_is_put_away_while_a_run_is_at_work() {
    let home = Home::new();
    home.run(&["status"]).ok();
    let lock = lock_worktree(&home.state(), &home.root(), &RunId::new("r-9")).unwrap();
    let error = home.run(&["archive"]).failed(75);
    assert!(error.contains("run `r-9`") && error.contains("flyball stop r-9"), "{error}");
    assert!(!home.has(".flyball/archive"));
    drop(lock);
    home.run(&["archive"]).ok();
}

#[test]
fn where_nothing_is_there_nothing_is_put_away() {
    let home = Home::new();
    fs::remove_file(home.root().join(".flyball/tasks.json")).unwrap();
    let error = home.run(&["archive"]).failed(66);
    assert!(error.contains("there is nothing to put away"), "{error}");
}

fn only_folder(home: &Home) -> String {
    let folders: Vec<String> = fs::read_dir(home.root().join(".flyball/archive"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let [only] = folders.as_slice() else { panic!("{folders:?}") };
    format!(".flyball/archive/{only}")
}

/// Enters a run that ended long ago.
fn old(home: &Home, name: &str) {
    let run = NewRun {
        run: RunId::new(name),
        root: home.root(),
        agent: "x".to_owned(),
        pid: 1,
        started: clock::wall().minus(Millis::from_secs(40 * 24 * 3600)),
        max_iterations: 0,
    };
    home.journal().start_run(&run).unwrap();
}

#[test]
fn what_is_old_is_removed_only_when_asked() {
    let home = Home::new();
    old(&home, "ancient");
    let done = home.begin("young");
    home.end(&done, Outcome::Complete);
    checkpoint(&home, &done, 0);
    let said = home.run(&["prune", "--dry-run"]).ok();
    assert!(said.starts_with("Would remove what is older than "), "{said}");
    assert!(said.contains("  run ancient (lost, "), "{said}");
    assert!(said.contains("  0 checkpoints of this repository\n  1 run with 0 events,"), "{said}");
    assert!(home.journal().run(&RunId::new("ancient")).is_ok());
    let said = home.run(&["prune"]).ok();
    assert!(said.contains("1 run with 0 events, 0 gate results"), "{said}");
    assert!(home.journal().run(&RunId::new("ancient")).is_err());
    assert!(home.journal().run(&done).is_ok());
    home.run(&["prune", "--older-than", "soon"]).failed(64);
}

#[test]
fn checkpoints_go_with_their_age_and_a_run_at_work_keeps_its_own() {
    let home = Home::new();
    let done = home.begin("done");
    home.end(&done, Outcome::Complete);
    checkpoint(&home, &done, 0);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let refs = || home.git(&["for-each-ref", "--format=%(refname)", "refs/flyball/"]);
    let working = home.begin("working");
    let said = home.run(&["prune", "--older-than", "0"]).ok();
    assert!(said.contains("0 checkpoints"), "what a run at work may need stays: {said}");
    assert!(home.journal().run(&done).is_ok());
    home.end(&working, Outcome::Complete);
    let said = home.run(&["prune", "--older-than", "0", "--dry-run"]).ok();
    assert!(said.contains("  checkpoint refs/flyball/done/0\n"), "{said}");
    assert_eq!(refs(), "refs/flyball/done/0");
    let said = home.run(&["prune", "--older-than", "0"]).ok();
    assert!(said.contains("1 checkpoint of this repository\n  2 runs with 2 events"), "{said}");
    assert_eq!(refs(), "");
}
