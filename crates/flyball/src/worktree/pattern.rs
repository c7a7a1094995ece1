//! Patterns of paths: a folder, a file, or either with `*`, `**` and `?`.

/// Whether the pattern names the path: the path itself, or a folder it is in.
pub(super) fn names(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    if !pattern.contains(['*', '?']) {
        return path
            .strip_prefix(pattern)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    }
    // A pattern without a folder is one of names, wherever they are.
    let path = if pattern.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) };
    fits(pattern.as_bytes(), path.as_bytes())
}

/// Whether the whole text fits. Only the last `*` and the last `**` are tried again, so the cost stays
/// small.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Where the pattern goes on, and where in the text that was tried last.
    let mut star: Option<(usize, usize)> = None;
    let mut deep: Option<(usize, usize)> = None;
    while from < text.len() {
        let byte = text.get(from).copied();
        match pattern.get(at).copied() {
            Some(b'*') => {
                if pattern.get(at + 1) == Some(&b'*') {
                    // `**/` also stands for nothing at all.
                    at += if pattern.get(at + 2) == Some(&b'/') { 3 } else { 2 };
                    (star, deep) = (None, Some((at, from)));
                } else {
                    at += 1;
                    star = Some((at, from));
                }
            }
            Some(b'?') if byte != Some(b'/') => (at, from) = (at + 1, from + 1),
            Some(same) if Some(same) == byte => (at, from) = (at + 1, from + 1),
            _ => match (star, deep) {
                (Some((next, begun)), _) if text.get(begun) != Some(&b'/') => {
                    star = Some((next, begun + 1));
                    (at, from) = (next, begun + 1);
                }
                (_, Some((next, begun))) => {
                    (star, deep) = (None, Some((next, begun + 1)));
                    (at, from) = (next, begun + 1);
                }
                _ => return false,
            },
        }
    }
    pattern.get(at..).is_none_or(|rest| rest.iter().all(|byte| *byte == b'*'))
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
