//! What the shell saw of the worktree.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::gate::TamperSight;
use crate::tasklist::TasksSnapshot;

/// The worktree at one moment. Trees hold untracked and leave out ignored files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeSnapshot {
    /// The commit checked out; none in a repository without one.
    pub head: Option<String>,
    /// The tree without the loop folder: key of gate results.
    pub code_tree: String,
    /// The code tree with the task list: what progress is measured by.
    pub progress_tree: String,
    /// Everything: what can be brought back.
    pub checkpoint_tree: String,
    /// Paths with uncommitted changes, without flyball's own files.
    #[serde(default)]
    pub uncommitted: Vec<String>,
    /// Files changed since the snapshot before, without the loop folder.
    #[serde(default)]
    pub changed: Vec<String>,
    /// Commits made since the snapshot before, oldest first.
    #[serde(default)]
    pub commits: Vec<Commit>,
    /// The task list as it stands in the file.
    pub tasks: TasksSnapshot,
    /// Weakened checks, and what else the work must not change unseen.
    #[serde(default, skip_serializing_if = "TamperSight::is_empty")]
    pub tamper: TamperSight,
}

/// One commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its full hash.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
}
