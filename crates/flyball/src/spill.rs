//! Large results (A7): written to a file of the user's alone, under a name of flyball's own making,
//! and a short text in their place. The files of an owner go when its session ends.
//!
//! ```
//! use flyball::spill::{Spill, Spilled};
//! use flyball_core::Policy;
//!
//! let folder = std::env::temp_dir().join(format!("spill-example-{}", std::process::id()));
//! let spill = Spill::in_folder(&folder, "my session");
//! let mut rules = Policy::default().calls.clone();
//! rules.large_response = 10;
//! assert!(spill.large(&rules, "short").is_none());
//! let Some(Spilled::Written(text)) = spill.large(&rules, "a long result") else { panic!() };
//! assert!(text.contains("The result has 13 characters"));
//! spill.clear();
//! assert!(!folder.exists());
//! ```

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use flyball_core::Moment;
use flyball_core::call::{CallRing, texts};
use flyball_core::policy::CallRules;

use crate::clock;
use crate::files;
use crate::loopdir::LoopDir;

/// Keeps the folder out of commits, whoever makes them.
const IGNORE: &str = ".gitignore";
/// How old what others left must be before it is swept.
const SWEEP_AFTER: Duration = Duration::from_hours(24);
/// What the private folders are called.
const PRIVATE: &str = "flyball-responses-";
/// Names tried for one file.
const NAMES_MAX: u32 = 100;

/// Where the large results of one owner go.
#[derive(Debug)]
pub struct Spill {
    folder: PathBuf,
    /// What the owner's files begin with.
    prefix: String,
    goes: Goes,
}

/// When the files go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goes {
    /// When somebody says so: the owner outlives this value.
    WhenTold,
    /// With this value.
    WithThis,
}

/// What became of a large result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spilled {
    /// It is in a file; this says so, and shows its beginning.
    Written(String),
    /// It could not be written; this is its beginning, and what was cut.
    Cut(String),
}

impl Spilled {
    /// What the agent gets in place of the result.
    pub fn into_text(self) -> String {
        match self {
            Self::Written(text) | Self::Cut(text) => text,
        }
    }
}

impl Spill {
    /// The files of this owner in a folder of its own choice. They stay until [`Self::clear`].
    pub fn in_folder(folder: &Path, owner: &str) -> Self {
        let hash = blake3::hash(owner.as_bytes()).to_hex();
        let prefix = format!("{}-", hash.get(..12).unwrap_or_default());
        Self { folder: folder.to_path_buf(), prefix, goes: Goes::WhenTold }
    }

    /// The files of a session that this process holds: in the loop folder, or in a private one
    /// without it. They go with this value.
    pub fn of_process(loop_dir: &LoopDir, now: Moment) -> Self {
        let owner = format!("{}-{}", std::process::id(), clock::unique_nanos());
        let folder = if loop_dir.path().is_dir() {
            loop_dir.sweep_responses(now);
            loop_dir.file("responses")
        } else {
            sweep_private(now);
            std::env::temp_dir().join(format!("{PRIVATE}{owner}"))
        };
        let mut spill = Self::in_folder(&folder, &owner);
        spill.goes = Goes::WithThis;
        spill
    }

    /// Where they go.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a result if it is too large, and says what the agent gets instead.
    pub fn large(&self, rules: &CallRules, result: &str) -> Option<Spilled> {
        // Characters are counted only when there may be too many.
        if (result.len() as u64) <= rules.large_response {
            return None;
        }
        let chars = result.chars().count() as u64;
        CallRing::large(rules, chars)?;
        Some(self.spilled(rules, result, chars))
    }

    /// Writes a result that is too large; where it cannot be written, it is cut.
    pub(crate) fn spilled(&self, rules: &CallRules, result: &str, chars: u64) -> Spilled {
        match self.write_with(|file| file.write_all(result.as_bytes())) {
            Ok(path) => {
                Spilled::Written(texts::spilled(rules, result, chars, &path.to_string_lossy()))
            }
            Err(_) => Spilled::Cut(texts::cut(rules, result)),
        }
    }

    /// Has something written to a file of its own.
    pub fn write_with(
        &self,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<PathBuf> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let ignore = self.folder.join(IGNORE);
        if !ignore.exists() {
            // An agent that commits everything does not commit this.
            files::write_whole(&ignore, "*\n")?;
        }
        let (path, mut file) = self.new_file()?;
        if let Err(error) = write(&mut file).and_then(|()| file.flush()) {
            fs::remove_file(&path).ok();
            return Err(error);
        }
        Ok(path)
    }

    fn new_file(&self) -> io::Result<(PathBuf, File)> {
        for attempt in 0..NAMES_MAX {
            // Never built from a tool's name, and no two share it.
            let (nanos, process) = (clock::unique_nanos(), std::process::id());
            let path =
                self.folder.join(format!("{}{nanos:x}-{process}-{attempt}.txt", self.prefix));
            match files::create_private(&path) {
                Ok(file) => return Ok((path, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("no free name"))
    }

    /// Takes away what the owner has left, and the folder when nothing of others is in it.
    pub fn clear(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(&self.prefix) {
                // Leftovers are swept a day later.
                fs::remove_file(entry.path()).ok();
            }
        }
        let is_left =
            |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|one| one.file_name() != IGNORE);
        if fs::read_dir(&self.folder).is_ok_and(|mut entries| !entries.any(is_left)) {
            fs::remove_file(self.folder.join(IGNORE)).ok();
            fs::remove_dir(&self.folder).ok();
        }
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        if self.goes == Goes::WithThis {
            self.clear();
        }
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
    use std::os::unix::fs::PermissionsExt;

    use flyball_core::Policy;

    use super::*;

    fn rules() -> CallRules {
        CallRules { large_response: 10, preview: 3, ..Policy::default().calls.clone() }
    }

    #[test]
    fn a_large_result_is_for_the_users_eyes_only_and_goes_with_its_session() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("responses");
        let of = |owner: &str| Spill::in_folder(&folder, owner);
        assert!(of("a").large(&rules(), "äöüäöüäöüä").is_none());
        for owner in ["a", "a", "b"] {
            let text = match of(owner).large(&rules(), "äöüäöüäöüäx") {
                Some(Spilled::Written(text)) => text,
                other => panic!("{other:?}"),
            };
            assert!(text.contains("11 characters") && text.ends_with("äöü"), "{text}");
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let files = || -> Vec<PathBuf> {
            let all = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            all.filter(|path| !path.ends_with(IGNORE)).collect()
        };
        assert_eq!(fs::read_to_string(folder.join(IGNORE)).unwrap(), "*\n");
        assert_eq!((mode(&folder), files().len()), (0o700, 3));
        assert!(files().iter().all(|file| mode(file) == 0o600));
        of("a").clear();
        assert_eq!(files().len(), 1);
        of("b").clear();
        assert!(!folder.exists());
    }

    #[test]
    fn a_result_that_cannot_be_written_is_cut() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("responses");
        fs::write(&folder, "in the way").unwrap();
        let Some(Spilled::Cut(text)) =
            Spill::in_folder(&folder, "a").large(&rules(), "0123456789abc")
        else {
            panic!("not cut");
        };
        assert!(text.starts_with("0123456789\n[cut here: 3 characters of 13"), "{text}");
    }

    #[test]
    fn what_a_process_holds_goes_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let place = LoopDir::new(dir.path(), Path::new("."), Path::new("t"));
        let spill = Spill::of_process(&place, clock::wall());
        assert!(matches!(spill.large(&rules(), "0123456789abc"), Some(Spilled::Written(_))));
        assert!(place.file("responses").exists());
        drop(spill);
        assert!(!place.file("responses").exists());
    }
}
