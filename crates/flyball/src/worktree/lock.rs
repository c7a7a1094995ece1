//! Git's locks: on the index, on HEAD and its branch, on the list of packed refs, on checkpoints. One
//! that nobody holds keeps every commit from happening until somebody removes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use flyball_core::{Moment, RunId};

use super::checkpoint::REFS;
use super::{Vault, Worktree};
use crate::clock::Deadline;
use crate::{files, platform};

/// A lock of a git at work is there for a moment; so long it is waited for.
const MOMENT: Duration = Duration::from_millis(1500);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// File times may lag behind the clock.
const LAG_MS: u64 = 1000;
/// `HEAD` is one short line.
const HEAD_BYTES: u64 = 4096;

impl Worktree {
    /// A lock of git's that keeps everybody from committing, where it is there and stays.
    pub fn lasting_lock(&self) -> Option<PathBuf> {
        let limit = Deadline::after(MOMENT);
        while let Some(lock) = self.locks().into_iter().find(|lock| is_there(lock)) {
            if limit.passed() {
                return Some(lock);
            }
            thread::sleep(PAUSE);
        }
        None
    }

    /// Locks that were made since this moment and that nobody holds any more.
    pub fn stale_locks(&self, since: Moment) -> Vec<PathBuf> {
        self.stale(self.locks(), since)
    }

    /// The same when a run was lost, with those on its checkpoints. Its last git is given a moment to
    /// end, and to put its locks away itself.
    pub fn locks_left_by(&self, run: &RunId, since: Moment) -> Vec<PathBuf> {
        let limit = Deadline::after(MOMENT);
        loop {
            let mut locks = self.locks();
            locks.extend(locks_of(self.common_dir(), run));
            locks.retain(|lock| is_there(lock));
            if locks.is_empty() {
                return locks;
            }
            let stale = self.stale(locks, since);
            if !stale.is_empty() || limit.passed() {
                return stale;
            }
            thread::sleep(PAUSE);
        }
    }

    /// Where locks on what every commit changes would be.
    fn locks(&self) -> Vec<PathBuf> {
        let (own, shared) = (self.git_dir(), self.common_dir());
        let mut locks = vec![own.join("index.lock"), own.join("HEAD.lock")];
        locks.push(shared.join("packed-refs.lock"));
        let head = files::read_text(&own.join("HEAD"), HEAD_BYTES).unwrap_or_default();
        let branch = head.strip_prefix("ref: ").map(str::trim_end);
        // A name that leads elsewhere is none of git's.
        let is_branch = |name: &&str| name.starts_with("refs/") && !name.contains("..");
        locks.extend(branch.filter(is_branch).map(|name| shared.join(format!("{name}.lock"))));
        locks
    }

    fn stale(&self, mut locks: Vec<PathBuf>, since: Moment) -> Vec<PathBuf> {
        locks.retain(|lock| {
            let made = made_at(lock);
            made.is_some_and(|made| made.saturating_add(LAG_MS) >= since.as_millis())
                && !platform::is_open(lock)
        });
        if locks.is_empty() || self.somebody_is_at_work() { Vec::new() } else { locks }
    }

    /// Whether a git is at work here, or in another worktree of the repository: a lock is not always
    /// open while it is held.
    fn somebody_is_at_work(&self) -> bool {
        let shared = self.common_dir();
        let mut roots = vec![self.root().to_path_buf(), shared.to_path_buf()];
        roots.extend(shared.parent().map(Path::to_path_buf));
        let linked = fs::read_dir(shared.join("worktrees")).into_iter().flatten().flatten();
        roots.extend(linked.filter_map(|one| {
            let place = files::read_text(&one.path().join("gitdir"), HEAD_BYTES).ok()?;
            Path::new(place.trim_end()).parent().map(Path::to_path_buf)
        }));
        roots.iter().any(|root| platform::works_in("git", root))
    }
}

impl Vault {
    /// Puts away the locks that a fetch of this run left when it was killed.
    pub(super) fn clear_locks(&self, run: &RunId) {
        let folder = self.folder();
        let left: Vec<PathBuf> =
            locks_of(folder, run).into_iter().filter(|at| is_there(at)).collect();
        if left.is_empty() || platform::works_in("git", folder) {
            return;
        }
        for lock in left {
            // What cannot be removed is told by the fetch that it fails.
            fs::remove_file(lock).ok();
        }
    }
}

/// The locks on a run's checkpoints in a repository.
fn locks_of(repository: &Path, run: &RunId) -> Vec<PathBuf> {
    let folder = repository.join(REFS).join(run.as_str());
    let there = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    there.filter(|path| path.extension().is_some_and(|ending| ending == "lock")).collect()
}

fn is_there(lock: &Path) -> bool {
    fs::symlink_metadata(lock).is_ok()
}

/// When a file was made or last written, in milliseconds.
fn made_at(path: &Path) -> Option<u64> {
    let modified = fs::symlink_metadata(path).ok()?.modified().ok()?;
    let since = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}
