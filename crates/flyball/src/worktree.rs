//! Reading git: what the worktree looks like, and checkpoints of it that can be brought back.
//!
//! Everything goes through the `git` program: one `git status` a look, processes that stand by for
//! objects and refs, and a temporary index that is kept for what was not committed. The user's index, stash, branch, `HEAD` and files are
//! never touched: trees are made in a temporary index and kept by private refs under
//! `refs/flyball/`.

mod branches;
mod changes;
mod checkpoint;
mod git;
mod identity;
mod index;
mod lock;
mod objects;
mod pattern;
mod planted;
mod quick;
mod snapshot;
mod status;
mod tree;
mod unwatched;
mod vault;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use flyball_core::{IterationNo, RunId};

use crate::platform::Walls;

pub use self::branches::{LinkedWorktree, MergedTree};
pub use self::changes::Change;
pub use self::checkpoint::{Checkpoint, RewindTarget};
use self::git::{Git, Starter};
use self::index::ScratchIndex;
use self::planted::Planted;
use self::quick::Quick;
use self::snapshot::Previous;
pub use self::tree::Detached;
pub use self::vault::{Deposit, Kept, Stock, Vault};

/// The largest untracked file a tree holds, unless set otherwise.
const MAX_FILE: u64 = 50_000_000;

/// An untracked file that is too large for a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// Its path from the root.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
}

/// A git worktree, as flyball sees it.
#[derive(Debug)]
pub struct Worktree {
    git: Git,
    scratch: ScratchIndex,
    quick: Quick,
    previous: Option<Previous>,
    /// The largest untracked file a tree holds, in bytes; 0 for no limit.
    max_file: u64,
    /// What the look before left out.
    left_out: Vec<LeftOut>,
    planted: Option<Planted>,
    /// The checkpoint made last, so that an equal one needs no new commit.
    latest: Option<(RunId, Checkpoint)>,
}

impl Worktree {
    /// Finds the worktree `dir` lies in.
    pub fn open(dir: &Path) -> Result<Self, WorktreeError> {
        Ok(Self::of(Git::discover(dir, Arc::new(Starter::of_process()))?))
    }

    /// The same worktree, seen by somebody else who has not looked at it yet. Both use the same
    /// programs.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self::of(self.git.clone()).holding_files_up_to(self.max_file)
    }

    /// The same worktree with programs of its own: for who comes after the run's git has ended.
    pub fn beside_afresh(&self) -> Option<Self> {
        Self::open(&self.git.root).ok()
    }

    /// Trees hold no untracked file larger than this, in bytes; 0 for no limit.
    #[must_use]
    pub fn holding_files_up_to(mut self, bytes: u64) -> Self {
        self.max_file = bytes;
        self
    }

    /// What the latest look left out for its size.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    fn of(git: Git) -> Self {
        let scratch = ScratchIndex::new(&git.git_dir);
        let (max_file, left_out, quick) = (MAX_FILE, Vec::new(), Quick::default());
        Self {
            git,
            scratch,
            quick,
            previous: None,
            max_file,
            left_out,
            planted: None,
            latest: None,
        }
    }

    /// Ends what git does for this worktree and those beside it, and lets it do nothing any more.
    pub fn end_git(&self) {
        self.git.end();
    }

    /// Has git run behind these walls from now on, for those beside it too.
    pub fn enclose(&self, walls: Walls) {
        self.git.enclose(walls);
    }

    /// The top folder of the worktree.
    pub fn root(&self) -> &Path {
        &self.git.root
    }

    /// The repository's git folder; another one in a linked worktree.
    pub fn common_dir(&self) -> &Path {
        &self.git.common_dir
    }

    /// The worktree's own git folder; a linked worktree has one inside that of the repository.
    pub fn git_dir(&self) -> &Path {
        &self.git.git_dir
    }
}

/// The version of the `git` program, as it says itself: `2.47.3`.
pub fn git_version() -> Result<String, WorktreeError> {
    git::version()
}

/// Why git could not be read.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// There is no repository.
    #[error("`{}` is not in a git repository", dir.display())]
    NoRepository {
        /// Where one was looked for.
        dir: PathBuf,
    },
    /// The repository has no files to work on.
    #[error("`{}` has no worktree (a bare repository or its inside)", dir.display())]
    NoWorktree {
        /// Where one was looked for.
        dir: PathBuf,
    },
    /// Git is not installed.
    #[error("no program named `git` was found")]
    NoGit,
    /// The worktree was there and is gone.
    #[error("the directory `{}` is not there", dir.display())]
    NoDirectory {
        /// Which.
        dir: PathBuf,
    },
    /// Git refused.
    #[error("`git {command}` failed: {message}")]
    Git {
        /// Its command.
        command: String,
        /// In its own words.
        message: String,
    },
    /// Git did not come to an end.
    #[error("`git {command}` took longer than {} s and was ended", limit.as_secs())]
    TimedOut {
        /// Its command.
        command: String,
        /// How long it may take.
        limit: Duration,
    },
    /// It was ended, with the run it worked for.
    #[error("`git {command}` was ended with the run")]
    Ended {
        /// Its command.
        command: String,
    },
    /// A file or a process could not be used.
    #[error("could not {doing}")]
    Io {
        /// What was being done, with its subject.
        doing: String,
        /// What went wrong.
        source: io::Error,
    },
    /// There is no such checkpoint.
    #[error("run `{run}` has no checkpoint of iteration {iteration}")]
    NoCheckpoint {
        /// The run.
        run: RunId,
        /// The iteration.
        iteration: IterationNo,
    },
    /// A run's name cannot be part of a ref.
    #[error("`{run}` cannot name a checkpoint: only letters, digits, `-` and `_` can")]
    BadRun {
        /// The name.
        run: RunId,
    },
}

impl WorktreeError {
    /// What can be done about it.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoRepository { .. } => Some("run `git init` there first"),
            Self::NoWorktree { .. } => Some("run flyball in a checkout of it"),
            Self::NoGit => Some("install git and have it on PATH"),
            Self::NoDirectory { .. }
            | Self::Git { .. }
            | Self::TimedOut { .. }
            | Self::Ended { .. }
            | Self::Io { .. }
            | Self::NoCheckpoint { .. }
            | Self::BadRun { .. } => None,
        }
    }

    fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Self::Io { doing: doing.into(), source }
    }
}
