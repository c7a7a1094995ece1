//! Large results (A7): written to a file the agent can read, and a short text in their place. The
//! folder is for the user alone; what a session wrote goes when the session ends.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use flyball_core::Moment;
use flyball_core::call::texts;
use flyball_core::policy::CallRules;

use crate::clock;
use crate::loopdir::LoopDir;

/// How old what others left must be before it is swept.
const SWEEP_AFTER: Duration = Duration::from_hours(24);
/// What the private folders are called.
const PRIVATE: &str = "flyball-responses-";

/// Where large results go.
#[derive(Debug)]
pub struct Spill {
    folder: PathBuf,
    keep: Keep,
    number: AtomicU64,
    written: Mutex<Vec<PathBuf>>,
}

/// What becomes of the files in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    /// They stay until they are swept: nobody knows when the session ends.
    UntilSwept,
    /// They go with this value.
    Files,
    /// They go with this value, and the folder too.
    Folder,
}

impl Spill {
    /// In this folder, which is made when it is needed, for a session that ends with this value.
    /// What is in the folder already is left alone.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self::new(folder.into(), Keep::Files)
    }

    /// For a session that outlives this call: in the loop folder, or a private one without it.
    pub fn lasting(loop_dir: &LoopDir, now: Moment) -> Self {
        let mut spill = Self::of_session(loop_dir, now);
        spill.keep = Keep::UntilSwept;
        spill
    }

    /// For a session that ends with this value.
    pub fn of_session(loop_dir: &LoopDir, now: Moment) -> Self {
        let (folder, keep) = if loop_dir.path().is_dir() {
            loop_dir.sweep_responses(now);
            (loop_dir.file("responses"), Keep::Files)
        } else {
            sweep_private(now);
            let name = format!("{PRIVATE}{}-{}", std::process::id(), clock::unique_nanos());
            (std::env::temp_dir().join(name), Keep::Folder)
        };
        Self::new(folder, keep)
    }

    fn new(folder: PathBuf, keep: Keep) -> Self {
        Self { folder, keep, number: AtomicU64::new(0), written: Mutex::default() }
    }

    /// Writes a large result and says what the agent gets instead; where it cannot be written, its
    /// beginning and what was cut.
    pub fn replacement(&self, rules: &CallRules, text: &str, chars: u64) -> String {
        match self.write(text.as_bytes()) {
            Ok(path) => texts::spilled(rules, text, chars, &path.display().to_string()),
            Err(_) => texts::cut(rules, text),
        }
    }

    /// Writes it to a file of its own.
    pub fn write(&self, bytes: &[u8]) -> io::Result<PathBuf> {
        self.write_with(|file| file.write_all(bytes))
    }

    /// Has it written to a file of its own.
    pub fn write_with(
        &self,
        write: impl FnOnce(&mut fs::File) -> io::Result<()>,
    ) -> io::Result<PathBuf> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        // Never built from a tool's name, and no two share it.
        let name = format!("result-{}-{}-{number}.txt", std::process::id(), clock::unique_nanos());
        let path = self.folder.join(name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let done = write(&mut file).and_then(|()| file.flush());
        if let Err(error) = done {
            fs::remove_file(&path).ok();
            return Err(error);
        }
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        Ok(path)
    }

    /// Takes away what goes with the session.
    pub fn clear(&self) {
        if self.keep == Keep::UntilSwept {
            return;
        }
        // What cannot be removed now is swept later.
        for path in self.written.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            fs::remove_file(path).ok();
        }
        if self.keep == Keep::Folder {
            fs::remove_dir(&self.folder).ok();
        }
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Removes private folders that sessions which were killed have left.
fn sweep_private(now: Moment) {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    let ours = |name: &str| name.starts_with(PRIVATE);
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(ours) && is_old(&entry.path(), now) {
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}

fn is_old(path: &Path, now: Moment) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
    changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).is_some_and(|since| {
        let age = u128::from(now.as_millis()).saturating_sub(since.as_millis());
        age > SWEEP_AFTER.as_millis()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flyball_core::policy::Policy;

    #[test]
    fn in_a_folder_of_ones_own_results_are_files_until_the_session_ends() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("theirs"), "x").unwrap();
        let spill = Spill::in_folder(place.path());
        let rules = &Policy::default().calls;
        let text = "line\n".repeat(100_000);
        let told = spill.replacement(rules, &text, 500_000);
        let path = spill.write(b"small").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"small");
        assert!(told.len() < text.len() && told.contains(&place.path().display().to_string()));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3);
        drop(spill);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn where_nothing_can_be_written_the_beginning_is_told() {
        let spill = Spill::in_folder("/dev/null/none");
        let text = "beginning ".repeat(100_000);
        let told = spill.replacement(&Policy::default().calls, &text, 1_000_000);
        assert!(told.starts_with("beginning ") && told.len() < text.len());
    }
}
