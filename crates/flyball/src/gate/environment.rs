//! What of the surroundings decides a gate's result, besides the tree: a digest for the cache.

use std::ffi::OsString;
use std::path::Path;

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

/// The digest of the folder (its ignored files are no part of the tree) and of [`VARIABLES`].
pub(super) fn digest(root: &Path, variable: impl Fn(&str) -> Option<OsString>) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(root.as_os_str().as_encoded_bytes()).update(&[0]);
    for name in VARIABLES {
        if let Some(value) = variable(name) {
            hash.update(name.as_bytes()).update(b"=");
            hash.update(value.as_encoded_bytes()).update(&[0]);
        }
    }
    hash.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_changes_the_digest() {
        let of = |root: &str, set: &[(&str, &str)]| {
            digest(Path::new(root), |name| {
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
