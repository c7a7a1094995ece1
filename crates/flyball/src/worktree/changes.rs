//! Which files differ between two trees, and what is in them, in two calls of git.

use super::{Worktree, WorktreeError};

/// The largest file whose content is handed out.
const FILE_MAX: usize = 4 * 1024 * 1024;
/// How many files are read in one call.
const BATCH: usize = 200;

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
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to];
        let answer = self.git.call(args).run()?;
        let mut changes = Vec::new();
        let mut parts = answer.parts();
        while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
            let mut words = head.trim_start_matches(':').split(' ');
            let (Some(mode), Some(new_mode), Some(id), Some(new_id)) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            let file = |mode: &str, id: &str| mode.starts_with("100").then(|| id.to_owned());
            let (before, after) = (file(mode, id), file(new_mode, new_id));
            if before != after {
                changes.push(Change { path, before, after });
            }
        }
        Ok(changes)
    }

    /// The contents with these ids, in this order; none for one that is not there or very large.
    pub fn contents(&self, ids: &[&str]) -> Result<Vec<Option<Vec<u8>>>, WorktreeError> {
        let mut contents = Vec::with_capacity(ids.len());
        for batch in ids.chunks(BATCH) {
            let asked: String = batch.iter().flat_map(|id| [id, "\n"]).collect();
            let answer = self.git.call(["cat-file", "--batch"]).input(asked).run()?;
            let mut rest = answer.stdout.as_slice();
            for _ in batch {
                let (content, after) = next_content(rest).unwrap_or_default();
                contents.push(content.filter(|bytes| bytes.len() <= FILE_MAX).map(<[u8]>::to_vec));
                rest = after;
            }
        }
        Ok(contents)
    }
}

/// The next content of a batch and what comes after it.
fn next_content(bytes: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let end = memchr::memchr(b'\n', bytes)?;
    let (head, rest) = (bytes.get(..end)?, bytes.get(end.saturating_add(1)..)?);
    let head = String::from_utf8_lossy(head);
    let mut words = head.rsplit(' ');
    let Some(size) = words.next().and_then(|size| size.parse::<usize>().ok()) else {
        return Some((None, rest));
    };
    let content = rest.get(..size)?;
    Some((Some(content), rest.get(size.saturating_add(1)..).unwrap_or_default()))
}
