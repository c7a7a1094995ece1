//! One run per worktree: a lock in the state folder, held as long as the run lives.

use std::fs::{DirBuilder, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use flyball_core::RunId;

use super::JournalError;
use super::schema::private_file;

/// The right to run in a worktree; given back when dropped, or when the process dies.
#[derive(Debug)]
pub struct WorktreeLock {
    file: File,
}

impl Drop for WorktreeLock {
    fn drop(&mut self) {
        // An empty lock names nobody. Closing the file would leave it to a child that is just being
        // started and has not yet closed its copy.
        self.file.set_len(0).ok();
        self.file.unlock().ok();
    }
}

/// Why a worktree could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another run works there.
    #[error("run `{run}` (process {pid}) is already at work here")]
    AlreadyRunning {
        /// Its process id; 0 when it has not yet written it down.
        pid: u32,
        /// The run; empty when it has not yet written it down.
        run: RunId,
    },
    /// The lock itself could not be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Takes the right to run in a worktree.
pub fn lock_worktree(
    state_dir: &Path,
    root: &Path,
    run: &RunId,
) -> Result<WorktreeLock, LockError> {
    let io = |source: io::Error| {
        JournalError::io(format!("lock the worktree `{}`", root.display()), source)
    };
    let folder = state_dir.join("locks");
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(io)?;
    let canonical = root.canonicalize().map_err(io)?;
    let name = blake3::hash(canonical.as_os_str().as_encoded_bytes()).to_hex();
    let mut file = private_file(&folder.join(format!("{name}.lock")))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(holder(&mut file)),
        Err(TryLockError::Error(error)) => return Err(io(error).into()),
    }
    file.set_len(0).map_err(io)?;
    file.rewind().map_err(io)?;
    writeln!(file, "{} {run}", std::process::id()).map_err(io)?;
    Ok(WorktreeLock { file })
}

fn holder(file: &mut File) -> LockError {
    let mut text = String::new();
    // Whoever holds it is named as far as can be read.
    file.take(4096).read_to_string(&mut text).ok();
    let (pid, run) = text.trim().split_once(' ').unwrap_or_default();
    LockError::AlreadyRunning { pid: pid.parse().unwrap_or(0), run: RunId::new(run) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_is_refused_and_told_who_is_first() {
        let (state, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let take = |run: &str| lock_worktree(state.path(), root.path(), &RunId::new(run));
        let first = take("one").unwrap();
        let error = take("two").unwrap_err();
        assert!(error.to_string().contains(&format!("`one` (process {})", std::process::id())));
        let elsewhere = tempfile::tempdir().unwrap();
        lock_worktree(state.path(), elsewhere.path(), &RunId::new("two")).unwrap();
        drop(first);
        take("three").unwrap();
    }
}
