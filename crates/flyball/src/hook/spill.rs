//! Large results (A7): written to a file of the user's alone inside the loop folder, under a name of
//! flyball's own making.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use flyball_core::call::{CallRing, texts};
use flyball_core::policy::CallRules;

use crate::clock;
use crate::loopdir::LoopDir;

/// Keeps the folder out of commits, whoever makes them.
const IGNORE: &str = ".gitignore";

/// What the agent is told about a result that is too large; none when it is not.
pub(super) fn spilled(
    rules: &CallRules,
    (loop_dir, key): (&LoopDir, &str),
    result: &str,
) -> Option<Spilled> {
    // Characters are counted only when there may be too many.
    if (result.len() as u64) <= rules.large_response {
        return None;
    }
    let chars = result.chars().count() as u64;
    CallRing::large(rules, chars)?;
    Some(match write(&loop_dir.file("responses"), key, result) {
        Ok(path) => Spilled::Written(texts::spilled(rules, result, chars, &path.to_string_lossy())),
        Err(_) => Spilled::Cut(texts::cut(rules, result)),
    })
}

/// What became of a large result.
#[derive(Debug)]
pub(super) enum Spilled {
    /// It is in a file; this says so.
    Written(String),
    /// It could not be written; this is its beginning.
    Cut(String),
}

/// Removes what a session has left.
pub(crate) fn remove_spilled(loop_dir: &LoopDir, key: &str) {
    let (folder, prefix) = (loop_dir.file("responses"), prefix(key));
    let Ok(entries) = fs::read_dir(&folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // Leftovers are swept a day later.
            fs::remove_file(entry.path()).ok();
        }
    }
    let is_left =
        |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|one| one.file_name() != IGNORE);
    // Stays when another session's files are in it.
    if fs::read_dir(&folder).is_ok_and(|mut entries| !entries.any(is_left)) {
        fs::remove_file(folder.join(IGNORE)).ok();
        fs::remove_dir(&folder).ok();
    }
}

fn write(folder: &Path, key: &str, text: &str) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let ignore = folder.join(IGNORE);
    if !ignore.exists() {
        // An agent that commits everything does not commit this.
        fs::write(ignore, "*\n")?;
    }
    for attempt in 0_u32..100 {
        let name = format!(
            "{}{:x}-{}-{attempt}.txt",
            prefix(key),
            clock::unique_nanos(),
            std::process::id()
        );
        let path = folder.join(name);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes())?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no free name"))
}

/// What the files of a session begin with.
fn prefix(key: &str) -> String {
    let hash = blake3::hash(key.as_bytes()).to_hex();
    format!("{}-", hash.get(..12).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use flyball_core::Policy;

    use super::*;

    fn rules() -> CallRules {
        let mut rules = Policy::default().calls.clone();
        (rules.large_response, rules.preview) = (10, 3);
        rules
    }

    #[test]
    fn a_large_result_is_for_the_users_eyes_only_and_goes_with_its_session() {
        let dir = tempfile::tempdir().unwrap();
        let place = LoopDir::new(dir.path(), Path::new(".f"), Path::new("t"));
        assert!(spilled(&rules(), (&place, "a"), "äöüäöüäöüä").is_none());
        for key in ["a", "a", "b"] {
            let text = match spilled(&rules(), (&place, key), "äöüäöüäöüäx") {
                Some(Spilled::Written(text)) => text,
                other => panic!("{other:?}"),
            };
            assert!(text.contains("11 characters") && text.ends_with("äöü"), "{text}");
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = place.file("responses");
        let files = || -> Vec<PathBuf> {
            let all = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            all.filter(|path| !path.ends_with(IGNORE)).collect()
        };
        assert_eq!(fs::read_to_string(folder.join(IGNORE)).unwrap(), "*\n");
        assert_eq!((mode(&folder), files().len()), (0o700, 3));
        assert!(files().iter().all(|file| mode(file) == 0o600));
        remove_spilled(&place, "a");
        assert_eq!(files().len(), 1);
        remove_spilled(&place, "b");
        assert!(!folder.exists());
    }

    #[test]
    fn a_result_that_cannot_be_written_is_cut() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("responses"), "in the way").unwrap();
        let place = LoopDir::new(dir.path(), Path::new(""), Path::new("t"));
        let Some(Spilled::Cut(text)) = spilled(&rules(), (&place, "a"), "0123456789abc") else {
            panic!("not cut");
        };
        assert!(text.starts_with("0123456789\n[cut here: 3 characters of 13"), "{text}");
    }
}
