//! Which files differ between two trees, and what is in them.

use super::git::Object;
use super::objects::{Entry, Going, Seen};
use super::{Worktree, WorktreeError};

/// The largest file whose content is handed out.
const FILE_MAX: usize = 4 * 1024 * 1024;

/// A file that is not the same in two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path.
    pub path: String,
    /// The id of its content in the first tree, where it was a file there.
    pub before: Option<String>,
    /// The id of its content in the second tree, where it is a file there.
    pub after: Option<String>,
}

impl Worktree {
    /// The files that differ between two trees; a moved file is two of them.
    pub fn changes(&self, from: &str, to: &str) -> Result<Vec<Change>, WorktreeError> {
        if from == to {
            return Ok(Vec::new());
        }
        let mut changes = Vec::new();
        let seen = self.git.differences(from, to, |found| {
            let file = |entry: Option<Entry>| entry.filter(Entry::is_file).map(|entry| entry.id());
            let (before, after) = (file(found.before), file(found.after));
            if before != after {
                changes.push(Change { path: found.path, before, after });
            }
            Going::On
        })?;
        if seen == Seen::Part {
            let message =
                format!("the repository no longer has all of the tree {from}, or of {to}");
            return Err(WorktreeError::Git { command: "cat-file".to_owned(), message });
        }
        Ok(changes)
    }

    /// The contents with these ids, in this order; none for one that is not there or very large.
    pub fn contents(&self, ids: &[&str]) -> Result<Vec<Option<Vec<u8>>>, WorktreeError> {
        let content = |id: &&str| match self.git.object(id, FILE_MAX)? {
            Object::Found { bytes, .. } => Ok(Some(bytes)),
            Object::Missing | Object::TooLarge => Ok(None),
        };
        ids.iter().map(content).collect()
    }
}
