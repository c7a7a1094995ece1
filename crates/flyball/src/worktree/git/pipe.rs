//! A named pipe in the place of a file that git reads: git would wait for ever. It is looked for when
//! git was seen to wait, so that people are told which it is.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::worktree::WorktreeError;

/// Files git reads in any folder.
const ANYWHERE: [&str; 4] = [".gitignore", ".gitattributes", ".gitmodules", ".mailmap"];
/// Files it reads of a repository.
const OF_REPOSITORY: [&str; 9] = [
    "info/exclude",
    "info/attributes",
    "info/sparse-checkout",
    "config",
    "HEAD",
    "packed-refs",
    "index",
    "shallow",
    "objects/info/alternates",
];
/// The most folders that are searched.
const FOLDERS_MAX: usize = 20_000;

/// The error that a named pipe is in git's way.
pub(super) fn in_the_way(command: &str, root: &Path) -> WorktreeError {
    let place = find(root).map_or_else(
        || "a file of the repository".to_owned(),
        |pipe| format!("`{}`", pipe.strip_prefix(root).unwrap_or(&pipe).display()),
    );
    WorktreeError::Git {
        command: command.to_owned(),
        message: format!("{place} is a named pipe and no file: git would wait for ever; remove it"),
    }
}

fn is_pipe(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_fifo())
}

fn find(root: &Path) -> Option<PathBuf> {
    let git_dir = root.join(".git");
    let of_repository = OF_REPOSITORY.iter().map(|name| git_dir.join(name));
    if let Some(pipe) = of_repository.into_iter().find(|path| is_pipe(path)) {
        return Some(pipe);
    }
    let mut open = vec![root.to_path_buf()];
    let mut seen = 0_usize;
    while let Some(folder) = open.pop() {
        if let Some(pipe) = ANYWHERE.iter().map(|name| folder.join(name)).find(|path| is_pipe(path))
        {
            return Some(pipe);
        }
        seen = seen.saturating_add(1);
        if seen > FOLDERS_MAX {
            return None;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        open.extend(folders.map(|entry| entry.path()).filter(|path| !path.ends_with(".git")));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipe_in_gits_way_is_found_and_named() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        assert!(find(root).is_none());
        let pipe = root.join("src/deep/.gitignore");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let said = in_the_way("status", root).to_string();
        assert!(said.contains("`src/deep/.gitignore` is a named pipe"), "{said}");
    }
}
