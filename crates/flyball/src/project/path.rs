//! Which programs can be started here.

use std::path::{Path, PathBuf};

/// The folders programs are looked for in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    folders: Vec<PathBuf>,
}

impl Programs {
    /// The folders of PATH.
    pub fn on_path() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self { folders: std::env::split_paths(&path).collect() }
    }

    /// These folders only.
    pub fn in_folders(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { folders: folders.into_iter().collect() }
    }

    /// Whether a program of this name can be started.
    pub fn has(&self, program: &str) -> bool {
        self.find(program).is_some()
    }

    /// Whether a program can be started from this folder: by its name, or by its path.
    pub fn can_start(&self, program: &str, from: &Path) -> bool {
        if program.contains('/') { is_executable(&from.join(program)) } else { self.has(program) }
    }

    /// Where the program is.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        if program.is_empty() {
            return None;
        }
        self.folders.iter().map(|folder| folder.join(program)).find(|path| is_executable(path))
    }
}

/// Whether a file can be started.
#[cfg(unix)]
pub(super) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Whether a file can be started.
#[cfg(not(unix))]
pub(super) fn is_executable(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file() || path.with_extension("cmd").is_file()
}
