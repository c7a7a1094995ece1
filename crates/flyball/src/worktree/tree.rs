//! Trees that were seen: their files, their differences, and a place to run things on them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::git::{Kind, Object, scratch_index};
use super::{Worktree, WorktreeError, pattern};

/// The longest difference that is told.
const DIFF_MAX: usize = 1024 * 1024;
/// The largest file that is shown.
const FILE_MAX: usize = 64 * 1024 * 1024;

impl Worktree {
    /// What differs between two trees, as a patch; only in `paths` when there are any. A long one
    /// is cut and says so.
    pub fn diff(&self, from: &str, to: &str, paths: &[&str]) -> Result<String, WorktreeError> {
        let mut args = vec!["diff-tree", "-p", "-r", "--no-ext-diff", "--no-textconv", from, to];
        args.push("--");
        args.extend(paths);
        let answer = self.git.call(args).at_most(DIFF_MAX).run()?;
        let mut text = String::from_utf8_lossy(&answer.stdout).into_owned();
        if answer.cut {
            text.push_str("\n[the rest of the difference is left out]\n");
        }
        Ok(text)
    }

    /// A file of a tree; none when there is none, or a very large one.
    pub fn show(&self, tree: &str, path: &str) -> Result<Option<Vec<u8>>, WorktreeError> {
        if path.contains('\n') {
            return Ok(None);
        }
        match self.git.object(&format!("{tree}:{path}"), FILE_MAX)? {
            Object::Found { kind: Kind::Blob, bytes, .. } => Ok(Some(bytes)),
            Object::Found { .. } | Object::Missing | Object::TooLarge => Ok(None),
        }
    }

    /// The paths of all files of a tree.
    pub fn list(&self, tree: &str) -> Result<Vec<String>, WorktreeError> {
        let args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree];
        Ok(self.git.call(args).run()?.parts().collect())
    }

    /// The paths of all files at or below a place of the worktree that git does not ignore.
    pub fn files(&self, below: &Path) -> Result<Vec<String>, WorktreeError> {
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"];
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        let mut files: Vec<String> = self.git.call(args).arg(below).run()?.parts().collect();
        files.sort_unstable();
        files.dedup();
        Ok(files)
    }

    /// The paths of the files of a tree that hold a word.
    pub fn mentioning(&self, tree: &str, word: &str) -> Result<Vec<String>, WorktreeError> {
        let args = ["grep", "--no-color", "-lzIFw", "--full-name", "-e", word, tree];
        let answer = self.git.call(args).answer()?;
        let of_tree = |part: String| part.split_once(':').map(|(_, path)| path.to_owned());
        Ok(answer.parts().filter_map(of_tree).collect())
    }

    /// The programs through which git sees files, by setting. Those of Git LFS are its own.
    pub fn filters(&self) -> Vec<(String, String)> {
        let Ok(answer) = self.git.call(["config", "--list", "-z"]).run() else { return Vec::new() };
        let setting = |part: String| {
            let (key, value) = part.split_once('\n')?;
            let lower = key.to_ascii_lowercase();
            let (_, what) = lower.rsplit_once('.')?;
            let clean = ["clean", "process"].contains(&what);
            let lfs = value.starts_with("git-lfs ") || value.starts_with("git lfs ");
            let sees = lower.starts_with("filter.") && clean && !lfs;
            sees.then(|| (key.to_owned(), value.to_owned()))
        };
        answer.parts().filter_map(setting).collect()
    }

    /// A digest of those files of a tree that one of the patterns names.
    pub fn digest_of(&self, tree: &str, patterns: &[String]) -> Result<String, WorktreeError> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", tree];
        let mut hash = blake3::Hasher::new();
        for entry in self.git.call(args).run()?.parts() {
            let path = entry.split_once('\t').map_or("", |(_, path)| path);
            if patterns.iter().any(|pattern| pattern::names(pattern, path)) {
                hash.update(entry.as_bytes()).update(&[0]);
            }
        }
        Ok(hash.finalize().to_hex().to_string())
    }

    /// Puts the files of a tree into a new folder; it is removed again when the answer is dropped.
    pub fn detached(&self, tree: &str, path: &Path) -> Result<Detached, WorktreeError> {
        let doing = || format!("make the folder `{}`", path.display());
        fs::create_dir(path).map_err(|source| WorktreeError::io(doing(), source))?;
        let place = Detached { path: path.to_path_buf() };
        let path = path.canonicalize().map_err(|source| WorktreeError::io(doing(), source))?;
        let index = scratch_index(&self.git.git_dir);
        let args = ["read-tree", "--reset", "-u", "--no-sparse-checkout", tree];
        let done = self.git.call(args).index(&index).work_tree(&self.git.git_dir, &path).run();
        // It was made by the call, if that came so far.
        fs::remove_file(&index).ok();
        done.map(|_| place)
    }
}

/// A folder with the files of a tree, without a repository of its own. Dropping removes it.
#[derive(Debug)]
pub struct Detached {
    path: PathBuf,
}

impl Detached {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it, and says when that fails.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_dir_all(&self.path)
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        // Gone already when it was removed on purpose.
        fs::remove_dir_all(&self.path).ok();
    }
}
