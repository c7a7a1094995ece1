//! What an honest agent needs works behind the shield and in a sandbox, and nothing is left behind.

use std::collections::BTreeSet;
use std::fs;
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
