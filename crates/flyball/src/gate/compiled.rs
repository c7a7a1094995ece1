//! A folder of the gates' own for what Python compiles. What lies beside the sources is the agent's to
//! write, and Python believes it without a look at the source; so does whoever checks with it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use flyball_core::Moment;

use crate::{clock, files};

/// The variable that tells Python where.
const VARIABLE: &str = "PYTHONPYCACHEPREFIX";
/// The folder of all of them in the cache folder.
const FOLDER: &str = "compiled";
/// How many files are looked at; a folder with more is begun anew.
const FILES_MAX: usize = 50_000;
/// How old a folder is that a run which died has left.
const OLD_MS: u64 = 7 * 24 * 3_600 * 1_000;

/// The folder of one run.
#[derive(Debug)]
pub struct Compiled {
    dir: PathBuf,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nobody has looked at it yet.
    Unknown,
    /// Gates may be at work.
    Open,
    /// No gate is at work since then: whatever is newer is somebody else's.
    Closed(Moment),
}

impl Compiled {
    /// For a run with a folder of this name, below the cache folder.
    pub fn of_run(cache: &Path, name: &OsStr) -> Self {
        let dir = cache.join(FOLDER).join(name);
        Self { dir, state: Mutex::new(State::Unknown) }
    }

    /// What a gate is started with; nothing where there can be no such folder.
    pub(super) fn variable(&self) -> Option<(String, Option<String>)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ours = match *state {
            State::Open => true,
            State::Closed(at) => is_untouched(&self.dir, at).unwrap_or(false),
            State::Unknown => {
                self.dir.parent().into_iter().for_each(forget_old);
                false
            }
        };
        if !is_ours {
            fs::remove_dir_all(&self.dir).ok();
            fs::create_dir_all(&self.dir).ok()?;
        }
        *state = State::Open;
        Some((VARIABLE.to_owned(), Some(self.dir.to_str()?.to_owned())))
    }

    /// The gates have ended.
    pub(super) fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == State::Open {
            forget_fresh(&self.dir);
            *state = State::Closed(clock::wall());
        }
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // What cannot be removed is old one day.
        fs::remove_dir_all(&self.dir).ok();
    }
}

/// Whether the system has changed nothing in a folder since.
fn is_untouched(dir: &Path, since: Moment) -> io::Result<bool> {
    let mut open = vec![dir.to_path_buf()];
    let mut left = FILES_MAX;
    while let Some(folder) = open.pop() {
        if changed_at(&fs::symlink_metadata(&folder)?) > since {
            return Ok(false);
        }
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let meta = fs::symlink_metadata(&path)?;
            left = left.saturating_sub(1);
            if left == 0 || changed_at(&meta) > since {
                return Ok(false);
            }
            if meta.is_dir() {
                open.push(path);
            }
        }
    }
    Ok(true)
}

/// Removes what was compiled in the second its source was written in, or the next: Python knows sources by
/// the second and the size, and would take another text of the same second for the one it has compiled.
fn forget_fresh(dir: &Path) {
    let mut open = vec![dir.to_path_buf()];
    let mut left = FILES_MAX;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => open.push(entry.path()),
                Ok(meta) if left == 0 || is_fresh(&entry.path(), &meta) => {
                    // One that stays is what Python would have believed anyway.
                    fs::remove_file(entry.path()).ok();
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
}

/// Whether a compiled file is hardly younger than the source it names.
fn is_fresh(path: &Path, meta: &fs::Metadata) -> bool {
    let Ok(head) = files::read_start(path, 12) else { return false };
    // A magic number, flags (none: known by time), the time of the source.
    let Ok([_, _, _, _, 0, 0, 0, 0, time @ ..]) = <[u8; 12]>::try_from(head) else { return false };
    meta.mtime() <= i64::from(u32::from_le_bytes(time)).saturating_add(1)
}

fn changed_at(meta: &fs::Metadata) -> Moment {
    let seconds = u64::try_from(meta.ctime()).unwrap_or(0);
    let millis = u64::try_from(meta.ctime_nsec()).unwrap_or(0) / 1_000_000;
    Moment::from_millis(seconds.saturating_mul(1_000).saturating_add(millis))
}

/// Removes what runs left that died long ago.
fn forget_old(parent: &Path) {
    let now = clock::wall().as_millis();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let meta = fs::symlink_metadata(entry.path());
        let is_old =
            |meta: fs::Metadata| changed_at(&meta).as_millis().saturating_add(OLD_MS) < now;
        if meta.is_ok_and(is_old) {
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_compiled_in_the_second_of_its_source_is_not_believed_again() {
        let cache = tempfile::tempdir().unwrap();
        let compiled = Compiled::of_run(cache.path(), OsStr::new("r-1"));
        let dir = PathBuf::from(compiled.variable().unwrap().1.unwrap()).join("below");
        fs::create_dir(&dir).unwrap();
        let now = u32::try_from(clock::wall().as_millis() / 1_000).unwrap();
        let put = |name: &str, time: u32| {
            let head = [&[1, 2, 3, 4, 0, 0, 0, 0], &time.to_le_bytes()[..], b"size and code"];
            fs::write(dir.join(name), head.concat()).unwrap();
        };
        put("fresh.pyc", now);
        put("old.pyc", now - 60);
        fs::write(dir.join("short.pyc"), "x").unwrap();
        compiled.close();
        let mut names: Vec<_> =
            fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["old.pyc", "short.pyc"]);
    }

    #[test]
    fn what_somebody_else_put_there_is_not_kept() {
        let cache = tempfile::tempdir().unwrap();
        let compiled = Compiled::of_run(cache.path(), OsStr::new("r-1"));
        let dir = cache.path().join("compiled/r-1");
        let ready = || compiled.variable().unwrap().1.unwrap();
        assert_eq!(ready(), dir.to_str().unwrap());
        fs::write(dir.join("by-a-gate.pyc"), "x").unwrap();
        assert_eq!(ready(), dir.to_str().unwrap());
        assert!(dir.join("by-a-gate.pyc").exists(), "one gate after the other");
        compiled.close();
        ready();
        assert!(dir.join("by-a-gate.pyc").exists(), "nobody has touched it");
        compiled.close();
        // The clock of files is coarser than ours.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(dir.join("by-the-agent.pyc"), "x").unwrap();
        ready();
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        drop(compiled);
        assert!(!dir.exists());
    }
}
