//! Notices when the state folder is no longer the one the run began with. An agent cannot write into
//! it behind the shield, but it can move a folder above it away and put another one there.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The state folder as the run knows it.
#[derive(Clone, Debug)]
pub(crate) struct StateWatch {
    path: PathBuf,
    known: (u64, u64),
}

impl StateWatch {
    /// Watches the folder from now on.
    pub(crate) fn begin(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_path_buf(), known: identity(path)? })
    }

    /// What is wrong, if anything is.
    pub(crate) fn trouble(&self) -> Option<String> {
        let found = identity(&self.path);
        if found.as_ref().is_ok_and(|found| *found == self.known) {
            return None;
        }
        let is = found.map_or_else(|_| "gone".to_owned(), shown);
        Some(format!(
            "the state folder was replaced during the run (was {}, is {is}); stopped before \
             anything was believed",
            shown(self.known)
        ))
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let folder = fs::metadata(path)?;
    Ok((folder.dev(), folder.ino()))
}

/// Device and number of a folder, as people know them.
fn shown((device, inode): (u64, u64)) -> String {
    format!("{}:{}/{inode}", rustix::fs::major(device), rustix::fs::minor(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_folder_at_the_same_place_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("a/state");
        fs::create_dir_all(&state).unwrap();
        let watch = StateWatch::begin(&state).unwrap();
        fs::write(state.join("file"), "").unwrap();
        assert_eq!(watch.trouble(), None);
        fs::rename(dir.path().join("a"), dir.path().join("b")).unwrap();
        assert!(watch.trouble().unwrap().contains("is gone"));
        fs::create_dir_all(&state).unwrap();
        let trouble = watch.trouble().unwrap();
        assert!(trouble.starts_with("the state folder was replaced during the run (was "));
        fs::remove_dir(&state).unwrap();
        fs::remove_dir(dir.path().join("a")).unwrap();
        fs::rename(dir.path().join("b"), dir.path().join("a")).unwrap();
        assert_eq!(watch.trouble(), None);
    }
}
