//! What identifies a repository across its worktrees and clones: where its objects are, and the
//! commits it began with.

use std::path::{Path, PathBuf};

use flyball_core::Moment;

use super::index::ScratchIndex;
use super::{Worktree, WorktreeError};

/// The most first commits that name a repository.
const FIRST_MAX: usize = 10;
/// The most commits that are looked at for their time.
const COMMITS_MAX: usize = 1_000;
/// The most ignored files and folders that are named.
const IGNORED_MAX: usize = 10_000;

impl Worktree {
    /// The folder all worktrees of this repository share.
    pub fn shared_dir(&self) -> &Path {
        &self.git.common_dir
    }

    /// The commits without a parent that lead to what is checked out: the same in every clone.
    /// Reads the whole history.
    pub fn first_commits(&self) -> Vec<String> {
        let args = ["rev-list", "--max-parents=0", "HEAD", "--"];
        // A repository without a commit has none.
        let Ok(answer) = self.git.call(args).run() else { return Vec::new() };
        let text = answer.text();
        let mut commits: Vec<String> = text.lines().map(str::to_owned).collect();
        commits.sort();
        commits.truncate(FIRST_MAX);
        commits
    }

    /// The repository this one was cloned from, where that lies on this machine.
    pub fn local_origin(&self) -> Option<PathBuf> {
        let answer = self.git.call(["config", "--get", "remote.origin.url"]).run().ok()?;
        let text = answer.text();
        let path = text.trim();
        let path = path.strip_prefix("file://").unwrap_or(path);
        let path = Path::new(path);
        if path.as_os_str().is_empty() || !path.is_dir() {
            return None;
        }
        let inside = path.join(".git");
        let dir = if inside.is_dir() { inside } else { path.to_path_buf() };
        dir.canonicalize().ok()
    }

    /// Whether what is checked out was built on this commit.
    pub fn descends_from(&self, commit: &str) -> bool {
        let args = ["merge-base", "--is-ancestor", commit, "HEAD"];
        self.git.call(args).answer().is_ok_and(|answer| answer.ok())
    }

    /// The id git gives a content.
    pub fn object_id(&self, bytes: &[u8]) -> Option<String> {
        let call = self.git.call(["hash-object", "--stdin"]).input(bytes);
        call.run().ok().map(|answer| answer.text().trim().to_owned())
    }

    /// Whether a tree of another time or place can be read here.
    pub fn has_tree(&self, tree: &str) -> bool {
        let asked = format!("{tree}^{{tree}}");
        self.git.call(["cat-file", "-e", &asked]).answer().is_ok_and(|answer| answer.ok())
    }

    /// Whether something that is checked out was committed on top of this commit in between.
    pub fn committed_between(&self, commit: &str, from: Moment, to: Moment) -> bool {
        let range = format!("{commit}..HEAD");
        let most = format!("--max-count={COMMITS_MAX}");
        let call = self.git.call(["log", "--format=%ct", &most, &range, "--"]);
        let Ok(answer) = call.run() else { return false };
        let (from, to) = (from.as_millis() / 1_000, to.as_millis() / 1_000);
        let times = answer.text();
        times
            .lines()
            .filter_map(|time| time.trim().parse().ok())
            .any(|at: u64| from <= at && at <= to)
    }

    /// What git is told to ignore: files, and folders with a slash behind them.
    pub fn ignored(&self) -> Vec<String> {
        let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let Ok(answer) = self.git.call(args).run() else { return Vec::new() };
        answer.parts().take(IGNORED_MAX).collect()
    }

    /// The tree with these files in it too.
    pub fn with_files<'a>(
        &self,
        tree: &str,
        files: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<String, WorktreeError> {
        let mut lines = Vec::new();
        for (path, text) in files.filter(|(path, _)| !path.contains('\0')) {
            let call = self.git.call(["hash-object", "-w", "--stdin"]).input(text.as_bytes());
            let id = call.run()?.text().trim().to_owned();
            lines.extend_from_slice(format!("100644 {id}\t{path}\0").as_bytes());
        }
        if lines.is_empty() {
            return Ok(tree.to_owned());
        }
        let index = ScratchIndex::new(&self.git.git_dir);
        self.git.call(["read-tree", tree]).index(index.path()).run()?;
        let call = self.git.call(["update-index", "--add", "--replace", "-z", "--index-info"]);
        call.index(index.path()).input(lines).run()?;
        Ok(self.git.call(["write-tree"]).index(index.path()).run()?.text().trim().to_owned())
    }
}
