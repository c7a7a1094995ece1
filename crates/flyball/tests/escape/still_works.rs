//! What an honest agent needs works behind the shield and in a sandbox, and nothing is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::house::{House, User};

/// Everything below a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            found.insert(entry.path());
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
        }
    }
    found
}

#[track_caller]
fn works(house: &House, flags: &[&str], group: &str) {
    let found = house.attempts(flags, group);
    let failed: Vec<_> = found.values().filter(|(through, _)| !through).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn an_honest_agent_notices_no_shield() {
    for user in User::all() {
        let house = House::new(user);
        works(&house, &[], "work,shield-work");
    }
}

#[test]
fn an_honest_agent_works_in_a_workspace() {
    for user in User::all() {
        let house = House::new(user);
        if house.falls_back() {
            return;
        }
        let (home, work) = (house.text("home"), house.text("work"));
        // Clones and worktrees lie outside of the one worktree: the user names the places.
        let house = house.env("FLYBALL_SANDBOX__WRITE", format!("[\"{work}\", \"{home}\"]"));
        works(&house, &["--sandbox", "workspace"], "work");
    }
}

/// Clients unpack themselves there when they are started for the first time.
#[test]
fn an_agent_that_is_started_for_the_first_time_has_its_folders() {
    for user in User::all() {
        let house = House::new(user);
        if house.falls_back() {
            return;
        }
        let script =
            "#!/bin/sh\ntouch ~/.copilot/file ~/.cache/copilot/file ~/.claude ~/elsewhere\n";
        house.file("work/copilot", script);
        let program = house.path("work/copilot");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", house.text("work"));
        let house = house.env("PATH", path);
        house.settle();
        let words =
            ["run", "--once", "--trust-claims", "--sandbox", "workspace", "--agent", "copilot"];
        let output = house.flyball(&words).output().unwrap();
        for (file, is_there) in [
            (".copilot/file", true),
            (".cache/copilot/file", true),
            (".claude", false),
            ("elsewhere", false),
        ] {
            let path = house.path("home").join(file);
            assert_eq!(path.exists(), is_there, "{file}: {output:?}");
        }
    }
}

#[test]
fn nothing_new_is_in_home_or_worktree_afterwards() {
    for user in User::all() {
        let house = House::new(user);
        fs::create_dir_all(house.path("home/.config/flyball")).unwrap();
        house.play(&["true"]);
        let (home, repo) = (house.path("home"), house.path("repo"));
        let before = files(&home);
        for profile in ["off", "workspace"] {
            if profile == "off" || house.has_walls() {
                house.play_with(&["--sandbox", profile], &["true"]);
            }
        }
        assert_eq!(files(&home), before);
        let own = [repo.join(".git"), repo.join(".flyball")];
        let is_own = |path: &PathBuf| own.iter().any(|folder| path.starts_with(folder));
        let new: Vec<_> = files(&repo).into_iter().filter(|path| !is_own(path)).collect();
        assert_eq!(new, [repo.join("a.txt")]);
    }
}
