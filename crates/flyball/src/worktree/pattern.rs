//! Patterns of paths: a folder, a file, or either with `*`, `**` and `?`.

use flyball_core::gate::fits;

/// Whether the pattern names the path: the path itself, or a folder it is in.
pub(super) fn names(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    // A pattern without a folder is one of names, wherever they are.
    if pattern.contains(['*', '?']) && !pattern.contains('/') {
        return fits(&format!("**/{pattern}"), path);
    }
    fits(pattern, path)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn folders_files_and_stars() {
        for (pattern, path) in [
            ("web", "web/src/a.ts"),
            ("web/", "web/a.ts"),
            ("./web", "web/a.ts"),
            ("Cargo.toml", "Cargo.toml"),
            ("*.rs", "src/deep/a.rs"),
            ("src/*.rs", "src/a.rs"),
            ("src/**", "src/deep/a.rs"),
            ("src/**/*.rs", "src/a.rs"),
            ("src/**/*.rs", "src/x/y/a.rs"),
            ("**/a.rs", "a.rs"),
            ("te?t/*", "test/a"),
        ] {
            assert!(names(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("web", "website/a.ts"),
            ("src/*.rs", "src/deep/a.rs"),
            ("*.rs", "a.rsx"),
            ("Cargo.toml", "x/Cargo.toml"),
            ("te?t", "te/t"),
        ] {
            assert!(!names(pattern, path), "{pattern} {path}");
        }
    }
}
