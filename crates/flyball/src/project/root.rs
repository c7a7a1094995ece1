//! Where the repository begins.

use std::path::{Path, PathBuf};

use crate::config::FILE_NAME;

/// The root of the git repository or worktree `start` is in: the nearest folder with a `.git`.
pub fn find_repository(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

/// The folder whose `flyball.toml` holds for `start`: the repository's root, or without one the
/// nearest folder that has the file, or `start` itself.
pub fn find_root(start: &Path) -> PathBuf {
    find_repository(start)
        .or_else(|| start.ancestors().find(|f| f.join(FILE_NAME).is_file()).map(Path::to_owned))
        .unwrap_or_else(|| start.to_owned())
}
