//! The `git` program in one worktree: how it is found, called and kept at hand.
//!
//! Every call has one environment: no hooks, no signing, no prompts, no locks on what is the user's,
//! a time limit, and bounded output. All of them are started in one place, `start.rs`.

mod call;
mod order;
mod pipe;
mod standing;
mod start;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::WorktreeError;
use crate::platform::{self, Walls};

use self::call::Call;
use self::order::GitOrder;
use self::standing::Helpers;
pub(super) use self::standing::{Kind, Object, Written};
pub(super) use self::start::Starter;

/// The name of temporary indexes: this, the process id, and a number.
const SCRATCH: &str = "flyball-index";

/// Git in one worktree. Clones share the programs that stand by.
#[derive(Clone, Debug)]
#[expect(clippy::struct_field_names, reason = "git calls its folder so")]
pub(super) struct Git {
    pub(super) root: PathBuf,
    /// The worktree's own git folder.
    pub(super) git_dir: PathBuf,
    /// The repository's; another one in a linked worktree.
    pub(super) common_dir: PathBuf,
    starter: Arc<Starter>,
    helpers: Arc<Helpers>,
}

impl Git {
    /// Finds the worktree a folder lies in.
    pub(super) fn discover(dir: &Path, starter: Arc<Starter>) -> Result<Self, WorktreeError> {
        let asked = [
            "rev-parse",
            "--is-bare-repository",
            "--absolute-git-dir",
            "--git-common-dir",
            "--show-toplevel",
        ];
        let answer = Call::new(GitOrder::in_folder(dir).args(asked), &starter).answer()?;
        let mut lines = answer.stdout.splitn(4, |byte| *byte == b'\n');
        let (_bare, git_dir) = (lines.next(), lines.next());
        let (common_dir, root) = (lines.next(), lines.next());
        if answer.ok() {
            let path = |bytes: Option<&[u8]>| {
                let bytes = bytes.unwrap_or_default();
                let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
                PathBuf::from(OsString::from_vec(bytes.to_vec()))
            };
            let common_dir = dir.join(path(common_dir));
            let common_dir = common_dir.canonicalize().unwrap_or(common_dir);
            let (root, git_dir, helpers) = (path(root), path(git_dir), Arc::default());
            return Ok(Self { root, git_dir, common_dir, starter, helpers });
        }
        let dir = dir.to_path_buf();
        if answer.stderr.contains("not a git repository") {
            return Err(WorktreeError::NoRepository { dir });
        }
        if answer.stderr.contains("must be run in a work tree") {
            return Err(WorktreeError::NoWorktree { dir });
        }
        Err(answer.refusal("rev-parse"))
    }

    /// A call in this worktree. Which one that is was found out at the start: what a configuration
    /// says of it since then (`core.worktree`, `core.bare`) does not lead anywhere else.
    pub(super) fn call<I, S>(&self, args: I) -> Call
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        Call::new(self.order().args(args), &self.starter)
    }

    /// A call in another folder, for what is not there yet.
    pub(super) fn call_in<I, S>(&self, dir: &Path, args: I) -> Call
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        Call::new(GitOrder::in_folder(dir).args(args), &self.starter)
    }

    fn order(&self) -> GitOrder {
        if self.root == self.git_dir {
            return GitOrder::in_folder(&self.git_dir).in_bare(&self.git_dir);
        }
        GitOrder::in_folder(&self.root).in_worktree(&self.git_dir, &self.root)
    }

    /// A repository without a worktree, known by its place.
    pub(super) fn bare(git_dir: &Path, starter: Arc<Starter>) -> Self {
        let (root, common_dir) = (git_dir.to_path_buf(), git_dir.to_path_buf());
        Self { root, git_dir: git_dir.to_path_buf(), common_dir, starter, helpers: Arc::default() }
    }

    /// Another repository without a worktree, with the same clerk.
    pub(super) fn bare_beside(&self, git_dir: &Path) -> Self {
        Self::bare(git_dir, Arc::clone(&self.starter))
    }

    /// From now on git runs behind these walls.
    pub(super) fn enclose(&self, walls: Walls) {
        self.starter.enclose(walls);
    }

    /// Ends every call under way, and refuses new ones.
    pub(super) fn end(&self) {
        self.starter.end();
    }
}

/// What git says its version is.
pub(super) fn version() -> Result<String, WorktreeError> {
    let order = GitOrder::in_folder(Path::new("/")).args(["--version"]);
    let text = Call::new(order, &Arc::new(Starter::of_process())).run()?.text();
    Ok(text.trim_start_matches("git version").trim().to_owned())
}

/// A name for a temporary index that nobody else uses. What dead processes left is removed.
pub(super) fn scratch_index(git_dir: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    for entry in fs::read_dir(git_dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(SCRATCH).and_then(|rest| rest.split('-').nth(1));
        let dead = |pid: &str| pid.parse().is_ok_and(|pid| !platform::alive(pid));
        // The lock of an index goes with it.
        let owner = owner.map(|pid| pid.trim_end_matches(".lock"));
        if owner.is_some_and(dead) {
            // Someone else may have removed it first.
            fs::remove_file(entry.path()).ok();
        }
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    git_dir.join(format!("{SCRATCH}-{}-{number}", std::process::id()))
}
