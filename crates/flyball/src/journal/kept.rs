//! Whether the journal is still the file it was when it was opened. A file that was deleted or replaced
//! can be written to for ever, and nobody will find what was written.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::JournalError;

/// Which files the journal is kept in, by what the file system knows them by.
#[derive(Debug)]
pub(super) struct Kept {
    path: PathBuf,
    main: Identity,
    /// The file of changes; known from the first change on, and there until the last one closes it.
    changes: Option<Identity>,
    /// Whether its place no longer matters: what is left to write goes wherever the open file is.
    is_let_go: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(path: &Path) -> io::Result<Self> {
        let meta = path.metadata()?;
        Ok(Self { device: meta.dev(), inode: meta.ino() })
    }
}

impl Kept {
    /// The files as they are now.
    pub(super) fn now(path: &Path) -> Result<Self, JournalError> {
        let found = Identity::of(path);
        let main = found.map_err(|error| gone(path, &error))?;
        Ok(Self { path: path.to_path_buf(), main, changes: None, is_let_go: false })
    }

    /// Refuses when one of them is another file by now, or none.
    pub(super) fn check(&self) -> Result<(), JournalError> {
        if self.is_let_go {
            return Ok(());
        }
        same(&self.path, self.main)?;
        self.changes.map_or(Ok(()), |changes| same(&changes_path(&self.path), changes))
    }

    /// From now on nothing is refused for its place.
    pub(super) const fn let_go(&mut self) {
        self.is_let_go = true;
    }

    /// Something was written: from now on the file of changes belongs to it.
    pub(super) fn written(&mut self) {
        if self.changes.is_none() {
            self.changes = Identity::of(&changes_path(&self.path)).ok();
        }
    }
}

/// The file that holds changes until they are tidied away.
pub(super) fn changes_path(path: &Path) -> PathBuf {
    let mut changes = path.as_os_str().to_owned();
    changes.push("-wal");
    PathBuf::from(changes)
}

fn same(path: &Path, known: Identity) -> Result<(), JournalError> {
    match Identity::of(path) {
        Ok(found) if found == known => Ok(()),
        Ok(_) => Err(JournalError::Gone { path: path.to_path_buf(), how: "replaced by another" }),
        Err(error) => Err(gone(path, &error)),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds mean the same here")]
fn gone(path: &Path, error: &io::Error) -> JournalError {
    let how = match error.kind() {
        io::ErrorKind::NotFound => "deleted or moved",
        _ => "put out of reach",
    };
    JournalError::Gone { path: path.to_path_buf(), how }
}
