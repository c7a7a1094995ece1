//! Folders for tests that need one where nobody else writes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use tempfile::TempDir;

/// Whether somebody else may write into a folder or into one it is in.
fn is_shared(folder: &Path) -> io::Result<bool> {
    for folder in folder.canonicalize()?.ancestors() {
        if fs::metadata(folder)?.permissions().mode() & 0o002 != 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A folder below the usual one, or, where that is below one everybody writes to, below the user's
/// caches. A sandbox protects nothing below `/tmp`, and gemini takes no settings from there.
pub fn folder(usual: &Path) -> io::Result<TempDir> {
    let caches = || -> Option<PathBuf> {
        let own = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        own.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))
    };
    let mut base = usual.to_owned();
    if is_shared(usual)? {
        base = caches().unwrap_or(base).join("flyball-tests");
        fs::create_dir_all(&base)?;
    }
    if is_shared(&base)? {
        let told = format!("{} is where everybody writes; set CARGO_TARGET_DIR", base.display());
        return Err(io::Error::other(told));
    }
    tempfile::Builder::new().prefix("flyball-").tempdir_in(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_where_everybody_writes_is_told_from_one_of_ones_own() {
        let own = tempfile::tempdir().unwrap();
        let shared = own.path().join("shared");
        fs::create_dir_all(shared.join("deep")).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(is_shared(&shared.join("deep")).unwrap());
        assert!(!is_shared(Path::new("/usr/bin")).unwrap());
    }
}
