//! What of the surroundings decides a gate's result, besides the tree: a digest for the cache.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Variables that change what common toolchains do. Everything else is taken to be noise.
pub(super) const VARIABLES: [&str; 22] = [
    "PATH",
    "CARGO_BUILD_TARGET",
    "CARGO_ENCODED_RUSTFLAGS",
    "CFLAGS",
    "CI",
    "CXXFLAGS",
    "GOFLAGS",
    "GOOS",
    "GOARCH",
    "GRADLE_OPTS",
    "JAVA_HOME",
    "LDFLAGS",
    "MAKEFLAGS",
    "MAVEN_OPTS",
    "NODE_ENV",
    "NODE_OPTIONS",
    "PYTEST_ADDOPTS",
    "PYTHONPATH",
    "RUBYOPT",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
    "VIRTUAL_ENV",
];

/// What package managers write when they install something, in a project's folder. Git ignores it, as a
/// rule, so that it is no part of the tree.
const INSTALLED: [&str; 12] = [
    "node_modules",
    "node_modules/.package-lock.json",
    "node_modules/.modules.yaml",
    "node_modules/.yarn-integrity",
    "node_modules/.yarn-state.yml",
    ".pnp.cjs",
    ".venv",
    "venv",
    "env",
    "vendor/bundle",
    "vendor/composer/installed.json",
    "deps",
];
/// Folders of a project that are looked at.
const FOLDERS_MAX: usize = 200;

/// The digest of the folder (its ignored files are no part of the tree), of what is installed in it and
/// in those below, and of [`VARIABLES`].
pub(super) fn digest(
    root: &Path,
    folders: impl Iterator<Item = impl AsRef<str>>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> String {
    let mut hash = blake3::Hasher::new();
    let below = below(root);
    let own = folders.filter(|folder| !folder.as_ref().is_empty());
    let own = own.map(|folder| root.join(folder.as_ref()));
    let all: BTreeSet<PathBuf> = below.into_iter().chain(own).collect();
    for folder in std::iter::once(root).chain(all.iter().map(PathBuf::as_path)) {
        installed(&mut hash, folder);
    }
    hash.update(root.as_os_str().as_encoded_bytes()).update(&[0]);
    for name in VARIABLES {
        if let Some(value) = variable(name) {
            hash.update(name.as_bytes()).update(b"=");
            hash.update(value.as_encoded_bytes()).update(&[0]);
        }
    }
    hash.finalize().to_hex().to_string()
}

/// The folders of a project and those one further down, where several projects may stand side by side.
fn below(root: &Path) -> Vec<PathBuf> {
    let mut folders = folders_in(root);
    let further: Vec<PathBuf> = folders.iter().flat_map(|folder| folders_in(folder)).collect();
    folders.extend(further);
    folders.truncate(FOLDERS_MAX);
    folders
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_hidden = |name: &OsString| name.as_encoded_bytes().starts_with(b".");
    let is_other = |name: &OsString| {
        is_hidden(name) || ["node_modules", "target", "venv", "env"].iter().any(|own| name == own)
    };
    let kept = entries.filter(|entry| {
        !is_other(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    let mut found: Vec<PathBuf> = kept.take(FOLDERS_MAX).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// What of [`INSTALLED`] is in a folder, and when it was last written.
fn installed(hash: &mut blake3::Hasher, folder: &Path) {
    let mut put = |path: &Path| {
        let Ok(found) = fs::metadata(path) else { return };
        let since = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let written = since.unwrap_or_default().as_nanos();
        hash.update(path.as_os_str().as_encoded_bytes()).update(&[1]);
        hash.update(&written.to_le_bytes());
    };
    for name in INSTALLED {
        put(&folder.join(name));
    }
    // Of an environment of Python's its packages say it, not its own folder.
    for name in [".venv", "venv", "env"] {
        let versions = fs::read_dir(folder.join(name).join("lib")).into_iter().flatten().flatten();
        for version in versions {
            put(&version.path().join("site-packages"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_changes_the_digest() {
        let root = tempfile::tempdir().unwrap();
        let of = || digest(root.path(), ["deep/er/web"].into_iter(), |_| None);
        let mut seen = vec![of()];
        for folder in [
            "src",
            "node_modules",
            "packages/a/node_modules",
            "deep/er/web/.venv/lib/python3.11/site-packages/pytest",
        ] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
            let now = of();
            let is_same = seen.last() == Some(&now);
            assert_eq!(is_same, folder == "src", "{folder}");
            seen.push(now);
        }
    }

    #[test]
    fn only_what_matters_changes_the_digest() {
        let of = |root: &str, set: &[(&str, &str)]| {
            digest(Path::new(root), std::iter::empty::<&str>(), |name| {
                set.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value))
            })
        };
        let plain = of("/a", &[("PATH", "/bin")]);
        assert_eq!(plain, of("/a", &[("PATH", "/bin"), ("TERM", "xterm"), ("PWD", "/b")]));
        assert_ne!(plain, of("/b", &[("PATH", "/bin")]));
        assert_ne!(plain, of("/a", &[("PATH", "/usr/bin")]));
        assert_ne!(plain, of("/a", &[("PATH", "/bin"), ("RUSTFLAGS", "")]));
        assert_ne!(of("/a", &[("CFLAGS", "x")]), of("/a", &[("LDFLAGS", "x")]));
    }
}
