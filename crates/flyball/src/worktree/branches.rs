//! Branches and the worktrees they are checked out in: merged without touching a file, moved only when
//! they still are where they were.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::git::{Git, Starter};
use super::{Worktree, WorktreeError};

/// How two commits go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergedTree {
    /// As this tree.
    Clean(String),
    /// Not: these files are in conflict.
    Conflict(Vec<String>),
}

/// A worktree of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedWorktree {
    /// Where it is.
    pub path: PathBuf,
    /// The branch that is checked out there, without `refs/heads/`.
    pub branch: Option<String>,
}

impl Worktree {
    /// The branch that is checked out here.
    pub fn branch(&self) -> Result<Option<String>, WorktreeError> {
        let answer = self.git.call(["symbolic-ref", "--quiet", "--short", "HEAD"]).answer()?;
        Ok(answer.ok().then(|| answer.text()))
    }

    /// The commit that is checked out here.
    pub fn head(&self) -> Result<Option<String>, WorktreeError> {
        self.commit_of("HEAD")
    }

    /// The commit a branch ends with.
    pub fn tip(&self, branch: &str) -> Result<Option<String>, WorktreeError> {
        self.commit_of(&format!("refs/heads/{branch}"))
    }

    fn commit_of(&self, name: &str) -> Result<Option<String>, WorktreeError> {
        let asked = format!("{name}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &asked];
        let answer = self.git.call(args).answer()?;
        Ok(answer.ok().then(|| answer.text()))
    }

    /// The tree of a commit.
    pub fn tree_of(&self, commit: &str) -> Result<String, WorktreeError> {
        let asked = format!("{commit}^{{tree}}");
        Ok(self.git.call(["rev-parse", "--verify", "--end-of-options", &asked]).run()?.text())
    }

    /// Whether one commit is part of another's history.
    pub fn is_part_of(&self, commit: &str, other: &str) -> Result<bool, WorktreeError> {
        let answer = self.git.call(["merge-base", "--is-ancestor", commit, other]).answer()?;
        match answer.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(answer.refusal("merge-base")),
        }
    }

    /// How many commits a branch has that are part of no other branch, remote branch or tag.
    pub fn only_on(&self, branch: &str) -> Result<usize, WorktreeError> {
        let (name, without) = (format!("refs/heads/{branch}"), format!("--exclude={branch}"));
        let args = ["rev-list", "--count", &name, "--not", &without];
        let others = ["--branches", "--remotes", "--tags"];
        let answer = self.git.call(args.into_iter().chain(others)).run()?;
        Ok(answer.text().parse().unwrap_or(usize::MAX))
    }

    /// Merges two commits in memory: no worktree, no index, nobody's files.
    pub fn merge_trees(&self, ours: &str, theirs: &str) -> Result<MergedTree, WorktreeError> {
        let args =
            ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs];
        let answer = self.git.call(args).answer()?;
        let mut parts = answer.parts();
        match (answer.code(), parts.next()) {
            (Some(0), Some(tree)) => Ok(MergedTree::Clean(tree)),
            (Some(1), Some(_)) => {
                let mut files: Vec<String> = parts.collect();
                files.dedup();
                Ok(MergedTree::Conflict(files))
            }
            _ => Err(answer.refusal("merge-tree")),
        }
    }

    /// A commit of a merged tree, in the name of who asked for it.
    pub fn merge_commit(
        &self,
        tree: &str,
        parents: [&str; 2],
        message: &str,
    ) -> Result<String, WorktreeError> {
        let [ours, theirs] = parents;
        let call = || {
            let args = ["commit-tree", tree, "-p", ours, "-p", theirs, "-F", "-"];
            self.git.call(args).input(message)
        };
        // Who has told git no name has flyball sign.
        let answer = call().in_own_name().answer()?;
        if answer.ok() { Ok(answer.text()) } else { Ok(call().run()?.text()) }
    }

    /// Moves a branch, if it still is where it was: all or nothing.
    pub fn move_branch(
        &self,
        branch: &str,
        (from, to): (&str, &str),
        why: &str,
    ) -> Result<(), WorktreeError> {
        let name = format!("refs/heads/{branch}");
        let args = ["update-ref", "--create-reflog", "-m", why, &name, to, from];
        self.git.call(args).in_own_name().run().map(drop)
    }

    /// Makes a branch, which must not be there.
    pub fn make_branch(&self, branch: &str, commit: &str) -> Result<(), WorktreeError> {
        self.git.call(["branch", "--no-track", "--", branch, commit]).run().map(drop)
    }

    /// Removes a branch, if it still is where it was. Git is left alone with it: killed half way, it would
    /// leave a lock on all packed refs that nobody removes.
    pub fn remove_branch(&self, branch: &str, at: &str) -> Result<(), WorktreeError> {
        let git = Git::discover(&self.git.root, Arc::new(Starter::alone()))?;
        git.call(["update-ref", "-d", &format!("refs/heads/{branch}"), at]).run().map(drop)
    }

    /// The worktrees of this repository.
    pub fn linked(&self) -> Result<Vec<LinkedWorktree>, WorktreeError> {
        let answer = self.git.call(["worktree", "list", "--porcelain", "-z"]).run()?;
        let mut all: Vec<LinkedWorktree> = Vec::new();
        for line in answer.raw_parts() {
            if let Some(path) = line.strip_prefix(b"worktree ") {
                let path = PathBuf::from(OsString::from_vec(path.to_vec()));
                all.push(LinkedWorktree { path, branch: None });
            } else if let (Some(name), Some(last)) =
                (line.strip_prefix(b"branch refs/heads/"), all.last_mut())
            {
                last.branch = Some(String::from_utf8_lossy(name).into_owned());
            }
        }
        Ok(all)
    }

    /// What is not committed here, untracked files too.
    pub fn uncommitted(&self) -> Result<Vec<String>, WorktreeError> {
        let args = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"];
        let answer = self.git.call(args).run()?;
        Ok(answer.parts().filter_map(|line| line.get(3..).map(str::to_owned)).collect())
    }

    /// Makes a worktree with a branch of its own.
    pub fn add_worktree(
        &self,
        path: &Path,
        branch: &str,
        commit: &str,
    ) -> Result<(), WorktreeError> {
        let args = ["worktree", "add", "--quiet", "--no-track", "-b", branch, "--"];
        self.git.call(args).as_people_do().arg(path).arg(commit).run().map(drop)
    }

    /// Makes a worktree without a branch.
    pub fn add_detached(&self, path: &Path, commit: &str) -> Result<(), WorktreeError> {
        let args = ["worktree", "add", "--quiet", "--detach", "--"];
        self.git.call(args).as_people_do().arg(path).arg(commit).run().map(drop)
    }

    /// Removes a worktree with all that is in it. One that is gone already is forgotten.
    pub fn remove_worktree(&self, path: &Path) -> Result<(), WorktreeError> {
        let args = ["worktree", "remove", "--force", "--force", "--"];
        let answer = self.git.call(args).as_people_do().arg(path).answer()?;
        if !answer.ok() && path.exists() {
            return Err(answer.refusal("worktree"));
        }
        self.git.call(["worktree", "prune"]).as_people_do().run().map(drop)
    }

    /// Moves the branch that is checked out here on to a commit, with its files. Git is left alone with
    /// it: it comes to its end even if flyball does not.
    pub fn fast_forward(&self, commit: &str) -> Result<(), WorktreeError> {
        let git = Git::discover(&self.git.root, Arc::new(Starter::alone()))?;
        let args = ["merge", "--ff-only", "--quiet", "--no-stat", "--end-of-options", commit];
        git.call(args).in_own_name().run().map(drop)
    }
}
