//! What a client writes down about its session while it runs: what is the same for each.
//!
//! codex, gemini and goose print their tokens only at the end of a session and copilot never; all
//! of them keep them in a file of their own. It is read while the session runs, so that limits hold
//! in the middle of it. Nothing is ever written there, and a file that cannot be found or read only
//! means that tokens are learned later.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::lines::{Line, Lines};
use super::meter::Usage;

/// The most that is read at once; the rest comes the next time.
const BITE: usize = 4 * 1024 * 1024;

/// Where a session may be found.
#[derive(Clone, Copy)]
pub struct SessionPlace<'a> {
    /// The session's id.
    pub session: &'a str,
    /// The client's environment.
    pub env: &'a dyn Fn(&str) -> Option<String>,
}

impl SessionPlace<'_> {
    /// A folder named by a variable, or one in the user's home.
    pub(crate) fn folder(&self, variable: &str, in_home: &str) -> Option<PathBuf> {
        let named = (self.env)(variable).filter(|value| !value.is_empty());
        match named {
            Some(folder) => Some(PathBuf::from(folder)),
            None => Some(PathBuf::from((self.env)("HOME")?).join(in_home)),
        }
    }
}

/// The usage file of one session.
pub trait UsageFile: Send {
    /// The model calls written down since the last time.
    fn news(&mut self) -> Vec<UsageEntry>;
}

/// One model call, or several together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageEntry {
    pub(super) usage: Usage,
    /// Tokens in the context window after it, where one call stands for it.
    pub(super) context: Option<u64>,
    /// The size of the context window.
    pub(super) window: Option<u64>,
    /// The model.
    pub(super) model: Option<String>,
}

/// A file of JSON lines that grows.
pub(crate) struct Growing {
    path: PathBuf,
    offset: u64,
    lines: Lines,
}

impl Growing {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, offset: 0, lines: Lines::default() }
    }

    /// Takes every whole line that is new. A line longer than can be kept is no entry.
    pub(crate) fn each(&mut self, mut take: impl FnMut(&str)) {
        let Ok(bytes) = self.more() else { return };
        self.lines.feed(&bytes, |line| {
            if let Line::Whole(text) = line {
                take(text.trim());
            }
        });
    }

    fn more(&mut self) -> std::io::Result<Vec<u8>> {
        let mut file = crate::files::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        let limit = u64::try_from(BITE).unwrap_or(u64::MAX);
        file.take(limit).read_to_end(&mut bytes)?;
        self.offset = self.offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(bytes)
    }
}

/// The entries of a folder, those with the greatest names first.
pub(crate) fn latest(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_unstable_by(|a, b| b.cmp(a));
    paths
}

/// Whether a file's name ends with this.
pub(crate) fn is_named(path: &Path, end: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(end))
}

/// A session's id goes into a path only when it can be a part of a name.
pub(crate) fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

#[cfg(test)]
mod tests;
