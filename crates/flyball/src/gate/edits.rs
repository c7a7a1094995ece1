//! Whether gates changed what they check: then what they said is of other files than those that are there.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use flyball_core::event::WorktreeSnapshot;
use flyball_core::gate::{CheckStatus, GateResult};

use crate::worktree::{Change, Worktree};

/// The most files that are named.
const NAMED_MAX: usize = 50;

/// Looks at a worktree while gates run in it.
#[derive(Clone)]
pub struct TreeLook {
    worktree: Arc<Mutex<Worktree>>,
    loop_dir: String,
    tasks: PathBuf,
}

impl TreeLook {
    /// A look at this worktree, but for the loop's own folder and task list.
    pub fn new(worktree: Worktree, loop_dir: String, tasks: PathBuf) -> Self {
        Self { worktree: Arc::new(Mutex::new(worktree)), loop_dir, tasks }
    }

    /// The worktree as it is; none when it cannot be seen.
    pub(super) fn now(&self) -> Option<WorktreeSnapshot> {
        let mut worktree = self.worktree.lock().unwrap_or_else(PoisonError::into_inner);
        worktree.snapshot(&self.loop_dir, &self.tasks).ok()
    }

    /// The files that are others than at that look, new ones among them; none when that cannot be seen.
    pub(super) fn changed_since(&self, before: Option<&WorktreeSnapshot>) -> Option<Vec<String>> {
        let (before, now) = (before?, self.now()?);
        let worktree = self.worktree.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = changed(&worktree, &self.loop_dir, (before, &now))?;
        Some(changed.into_iter().map(|one| one.path).collect())
    }
}

impl fmt::Debug for TreeLook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeLook").field("loop_dir", &self.loop_dir).finish_non_exhaustive()
    }
}

/// Says in the result which files were there before the gates ran and are others now. New files are
/// left out: many tools leave some behind.
pub(crate) fn tell_edits(
    result: &mut GateResult,
    worktree: &Worktree,
    loop_dir: &str,
    (before, after): (&WorktreeSnapshot, &WorktreeSnapshot),
) {
    let edited: Vec<String> = match changed(worktree, loop_dir, (before, after)) {
        Some(changed) => {
            let there = changed.into_iter().filter(|one| one.before.is_some());
            there.take(NAMED_MAX).map(|one| one.path).collect()
        }
        // What cannot be seen is not taken for unchanged.
        None => vec!["what can no longer be compared".to_owned()],
    };
    for check in &mut result.checks {
        let has_run = !matches!(check.status, CheckStatus::Skipped { .. }) && !check.carried;
        check.edited = if has_run { edited.clone() } else { Vec::new() };
    }
}

/// What differs between two looks, but for the loop's own files; none when they cannot be compared.
fn changed(
    worktree: &Worktree,
    loop_dir: &str,
    (before, after): (&WorktreeSnapshot, &WorktreeSnapshot),
) -> Option<Vec<Change>> {
    if before.code_tree == after.code_tree {
        return Some(Vec::new());
    }
    let is_own = |path: &str| {
        path.strip_prefix(loop_dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let trees = (&before.checkpoint_tree, &after.checkpoint_tree);
    let mut changes = worktree.changes(trees.0, trees.1).ok()?;
    changes.retain(|one| !is_own(&one.path));
    Some(changes)
}
