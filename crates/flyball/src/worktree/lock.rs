//! Git's lock on its index. One that nobody holds keeps every commit from happening until somebody
//! removes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use flyball_core::Moment;

use super::Worktree;
use crate::clock::Deadline;
use crate::platform;

/// A lock of a git at work is there for a moment; so long it is waited for.
const MOMENT: Duration = Duration::from_millis(1500);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// File times may lag behind the clock.
const LAG_MS: u64 = 1000;

impl Worktree {
    /// Git's lock on the index, where it is there and stays.
    pub fn index_lock(&self) -> Option<PathBuf> {
        let lock = self.git_dir().join("index.lock");
        let limit = Deadline::after(MOMENT);
        while is_there(&lock) {
            if limit.passed() {
                return Some(lock);
            }
            thread::sleep(PAUSE);
        }
        None
    }

    /// A lock that was made since this moment and that nobody holds any more.
    pub fn stale_index_lock(&self, since: Moment) -> Option<PathBuf> {
        let lock = self.git_dir().join("index.lock");
        let made = made_at(&lock)?;
        let is_ours = made.saturating_add(LAG_MS) >= since.as_millis();
        (is_ours && !platform::is_open(&lock) && !platform::works_in("git", self.root()))
            .then_some(lock)
    }
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
