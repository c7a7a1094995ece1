//! The vault: a second home of checkpoints, whatever happens to the first.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::scenario::Scenario;

/// The vaults in the state folder.
fn vaults(scenario: &Scenario) -> Vec<PathBuf> {
    let found = fs::read_dir(scenario.state().join("vault"));
    found.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

fn refs(scenario: &Scenario, git_dir: &str) -> Vec<String> {
    let format = "--format=%(refname) %(objectname)";
    let text = scenario.git(&["--git-dir", git_dir, "for-each-ref", format, "refs/flyball"]);
    text.lines().map(str::to_owned).collect()
}

fn worker() -> Scenario {
    Scenario::new()
        .committed()
        .agent("work; echo loose > loose-$n")
        .flags(&["--max-iterations", "3"])
}

#[test]
fn every_checkpoint_is_kept_a_second_time() {
    let scenario = worker();
    scenario.run().ended(1).silent_on("vault");
    let [vault] = vaults(&scenario).try_into().unwrap();
    let vault = vault.to_str().unwrap().to_owned();
    let own = refs(&scenario, ".git");
    assert_eq!(own.len(), 4, "{own:?}");
    assert_eq!(refs(&scenario, &vault), own);
    scenario.git(&["--git-dir", &vault, "fsck", "--strict", "--no-dangling"]);
    assert!(
        !PathBuf::from(&vault).join("objects/info/alternates").exists(),
        "copied, not borrowed"
    );
    let status = scenario.flyball(&["status"]).stdout;
    assert!(status.contains("4 checkpoints of this repository") && status.contains("vault"));
}

#[test]
fn what_is_deleted_or_moved_in_the_repository_comes_back_from_the_vault() {
    let scenario = worker();
    scenario.run().ended(1);
    let run = scenario.last_run().run.to_string();
    let name = |n: u32| format!("refs/flyball/{run}/{n}");
    scenario.git(&["update-ref", &name(1), "HEAD"]);
    scenario.git(&["update-ref", "-d", &name(2)]);
    scenario.git(&["update-ref", "-d", &name(3)]);
    scenario.git(&["reflog", "expire", "--expire=now", "--all"]);
    scenario.git(&["gc", "-q", "--prune=now"]);
    for iteration in ["1", "2"] {
        let ran = scenario.flyball(&["rewind", &run, iteration]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let told = format!(
            "checkpoint refs were changed by someone else (run {run}, iteration {iteration}); \
             using the copy in the state folder"
        );
        assert!(ran.stderr.contains(&told), "{}", ran.stderr);
        let branch = format!("flyball/{run}-{iteration}");
        let files = scenario.git(&["ls-tree", "-r", "--name-only", &branch]);
        assert!(files.contains(&format!("loose-{iteration}\n")), "{files}");
        assert!(!files.contains("loose-3"), "{files}");
    }
    let ran = scenario.flyball(&["rewind", &run, "0"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn refs_changed_in_mid_run_are_told_in_the_run() {
    let agent = "work $n; [ $n != 2 ] || git update-ref refs/flyball/$FLYBALL_RUN/0 HEAD
        [ $n != 3 ] || git update-ref -d refs/flyball/$FLYBALL_RUN/1";
    let scenario = Scenario::new().committed().agent(agent).flags(&["--max-iterations", "4"]);
    let ran = scenario.run().ended(1);
    for iteration in [0, 1] {
        let told = format!("iteration {iteration}); using the copy in the state folder");
        assert_eq!(ran.stderr.matches(&told).count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn a_repository_that_was_deleted_and_made_anew_is_served() {
    let scenario = worker();
    scenario.run().ended(1);
    let run = scenario.last_run().run.to_string();
    fs::remove_dir_all(scenario.root().join(".git")).unwrap();
    scenario.git(&["init", "-q", "-b", "main"]);
    let ran = scenario.flyball(&["rewind", &run, "2"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let files = scenario.git(&["ls-tree", "-r", "--name-only", &format!("flyball/{run}-2")]);
    assert!(files.contains("loose-2\n") && files.contains("a.txt\n"), "{files}");
}

#[test]
fn linked_worktrees_shallow_clones_and_new_hashes_have_vaults_too() {
    for kind in ["linked", "shallow", "sha256", "submodule"] {
        let scenario = match kind {
            "sha256" => {
                let scenario = Scenario::no_repository();
                scenario.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
                scenario.file("a.txt", "hi\n").tasks(crate::scenario::TWO_STORIES).committed()
            }
            "shallow" => {
                let scenario = Scenario::new().committed();
                for text in ["1", "2"] {
                    scenario.write("a.txt", text);
                    scenario.git(&["commit", "-qam", text]);
                }
                let full = scenario.outside("full");
                fs::rename(scenario.root(), &full).unwrap();
                fs::create_dir(scenario.root()).unwrap();
                let from = format!("file://{}", full.display());
                scenario.git(&["clone", "-q", "--depth", "1", &from, "."]);
                scenario
            }
            "submodule" => {
                let scenario = Scenario::new().committed();
                let inner = scenario.outside("inner");
                let path = inner.to_str().unwrap().to_owned();
                scenario.git(&["clone", "-q", ".", &path]);
                let allow = "protocol.file.allow=always";
                scenario.git(&["-c", allow, "submodule", "--quiet", "add", &path, "inner"]);
                scenario.committed()
            }
            _ => {
                let scenario = Scenario::new().committed();
                let main = scenario.outside("main");
                fs::rename(scenario.root(), &main).unwrap();
                fs::create_dir(scenario.root()).unwrap();
                let (git, root) = (main.join(".git"), scenario.root());
                let (git, root) = (git.to_str().unwrap(), root.to_str().unwrap());
                scenario.git(&["--git-dir", git, "worktree", "add", "-q", "--detach", root]);
                scenario
            }
        };
        let scenario = scenario
            .env("FLYBALL_REVIEW__ENABLED", "false")
            .agent("work; echo loose > loose-$n")
            .flags(&["--max-iterations", "2"]);
        let ran = scenario.run().ended(1);
        assert!(!ran.stderr.contains("vault"), "{kind}: {}", ran.stderr);
        let run = scenario.last_run().run.to_string();
        scenario.git(&["update-ref", "-d", &format!("refs/flyball/{run}/2")]);
        let ran = scenario.flyball(&["rewind", &run, "2"]);
        assert_eq!(ran.code, 0, "{kind}: {}", ran.stderr);
        assert!(ran.stderr.contains("using the copy in the state folder"), "{kind}");
        let files = scenario.git(&["ls-tree", "-r", "--name-only", &format!("flyball/{run}-2")]);
        assert!(files.contains("loose-2\n"), "{kind}: {files}");
    }
}

#[test]
fn a_vault_that_cannot_be_written_is_a_note_and_no_end() {
    let scenario = worker();
    fs::create_dir_all(scenario.state()).unwrap();
    fs::write(scenario.state().join("vault"), "in the way").unwrap();
    scenario.run().ended(1).saying("the vault could not be written");
    let run = scenario.last_run().run.to_string();
    assert_eq!(scenario.flyball(&["rewind", &run, "2"]).code, 0);
}

#[test]
#[expect(clippy::zero_repeat_side_effects, reason = "nothing is expected")]
fn without_a_vault_there_is_none() {
    let scenario = worker().env("FLYBALL_CHECKPOINTS__VAULT", "false");
    scenario.run().ended(1);
    assert_eq!(vaults(&scenario), [PathBuf::new(); 0]);
    let status = scenario.flyball(&["status"]).stdout;
    assert!(status.contains("4 checkpoints of this repository"), "{status}");
}

#[test]
fn a_run_that_died_gives_the_vault_what_it_lacks() {
    let scenario =
        Scenario::new().committed().agent("work; test -e go || sleep 770; pass a; pass b");
    let running = scenario.spawn();
    scenario.until_told("stderr-1", "START");
    running.signal(rustix::process::Signal::KILL);
    running.wait();
    scenario.until_quiet();
    for vault in vaults(&scenario) {
        fs::remove_dir_all(vault).unwrap();
    }
    scenario.write("go", "");
    scenario.resume(&[]).ended(0);
    let [vault] = vaults(&scenario).try_into().unwrap();
    assert_eq!(refs(&scenario, vault.to_str().unwrap()), refs(&scenario, ".git"));
}

#[test]
#[expect(clippy::zero_repeat_side_effects, reason = "nothing is expected")]
fn prune_knows_the_vault() {
    let scenario = worker();
    scenario.run().ended(1);
    let shown = scenario.flyball(&["prune", "--older-than", "0s", "--dry-run"]).stdout;
    assert!(shown.contains("in the vault") && shown.contains("of its vault"), "{shown}");
    let [vault] = vaults(&scenario).try_into().unwrap();
    let vault = vault.to_str().unwrap().to_owned();
    assert_eq!(refs(&scenario, &vault).len(), 4, "only said");
    // A checkpoint is as old as the second it was made in.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let pruned = scenario.flyball(&["prune", "--older-than", "0s"]);
    assert_eq!(pruned.code, 0, "{}", pruned.stderr);
    assert_eq!(refs(&scenario, &vault), [String::new(); 0]);
    assert_eq!(refs(&scenario, ".git"), [String::new(); 0]);
}

#[test]
fn a_large_untracked_file_is_left_out_and_named() {
    let agent = "test $n = 1 || exit 0; work; head -c 2000 /dev/zero > big.bin; \
                 head -c 900 /dev/zero > small.bin; truncate -s 5G huge.bin";
    let scenario = Scenario::new()
        .committed()
        .env("FLYBALL_CHECKPOINTS__MAX_FILE", "1kB")
        .agent(agent)
        .flags(&["--max-iterations", "2"]);
    let ran = scenario.run().ended(1);
    for (name, size) in [("big.bin", "2.0 kB"), ("huge.bin", "5.3 GB")] {
        let told = format!("left out of the checkpoint: {name} ({size}");
        assert_eq!(ran.stderr.matches(&told).count(), 1, "once: {}", ran.stderr);
    }
    let run = scenario.last_run().run.to_string();
    let files = scenario.git(&["ls-tree", "-r", "--name-only", &format!("refs/flyball/{run}/1")]);
    assert!(files.contains("small.bin\n") && !files.contains("g.bin") && !files.contains("huge"));
}

#[test]
fn what_the_agent_plants_for_the_users_git_is_told_once() {
    let agent = r"
git config user.signingkey x
git config filter.x.clean cat
printf '#!/bin/sh\n' > .git/hooks/post-commit
chmod +x .git/hooks/post-commit
";
    let scenario = Scenario::new().committed().agent(agent).flags(&["--max-iterations", "2"]);
    scenario.git(&["config", "filter.own.clean", "cat"]);
    let ran = scenario.run().ended(1).silent_on("filter.own");
    for told in [
        "the agent set filter.x.clean in .git/config; your own git would run it",
        "the agent set user.signingkey in .git/config\n",
        "the agent wrote .git/hooks/post-commit; your own git would run it",
    ] {
        assert!(ran.stderr.contains(told), "{told} in {}", ran.stderr);
    }
    assert_eq!(ran.stderr.matches("filter.x.clean").count(), 1, "{}", ran.stderr);
}

#[test]
fn the_vault_is_for_its_owner_only() {
    let scenario = worker();
    scenario.run().ended(1);
    let mode = fs::metadata(scenario.state().join("vault")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
}
