//! Paths the work itself may change (B10): patterns of a person's, matched without a file system.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// Patterns of paths: `*` and `?` stay within a folder, `**` does not, and a folder's name stands
/// for everything in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MayChange(Vec<String>);

impl MayChange {
    /// These patterns.
    pub fn new(patterns: impl IntoIterator<Item = String>) -> Self {
        let tidy = |pattern: String| String::from(pattern.trim().trim_start_matches("./"));
        Self(patterns.into_iter().map(tidy).filter(|pattern| !pattern.is_empty()).collect())
    }

    /// Whether a path is one of those.
    pub fn covers(&self, path: &str) -> bool {
        self.0.iter().any(|pattern| fits(pattern, path))
    }
}

/// Whether a path fits a pattern, or lies in a folder that does: `*` and `?` stay within a folder,
/// `**` does not.
pub fn fits(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    (1..=path.len()).any(|end| parts_fit(&pattern, path.get(..end).unwrap_or(&[])))
}

#[expect(clippy::match_same_arms, reason = "each case is told by itself")]
fn parts_fit(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some((&"**", rest)), _) => {
            (0..=path.len()).any(|skip| parts_fit(rest, path.get(skip..).unwrap_or(&[])))
        }
        (Some(_), None) => false,
        (Some((first, rest)), Some((part, others))) => {
            name_fits(first.as_bytes(), part.as_bytes()) && parts_fit(rest, others)
        }
    }
}

/// `*` is any number of bytes, `?` one. Goes back to the last star only: no pattern is slow.
fn name_fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut of) = (0_usize, 0_usize);
    let mut star: Option<(usize, usize)> = None;
    while of < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, of));
                at = at.saturating_add(1);
            }
            Some(byte) if *byte == b'?' || name.get(of) == Some(byte) => {
                at = at.saturating_add(1);
                of = of.saturating_add(1);
            }
            Some(_) | None => {
                let Some((star_at, taken)) = star else { return false };
                at = star_at.saturating_add(1);
                of = taken.saturating_add(1);
                star = Some((star_at, of));
            }
        }
    }
    pattern.get(at..).unwrap_or(&[]).iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;

    use super::*;

    #[test]
    fn patterns_cover_files_and_whole_folders() {
        let cases = [
            ("src/old", "src/old/a.rs", true),
            ("src/old/", "src/old/deep/a.rs", true),
            ("src/old", "src/older/a.rs", false),
            ("./check.sh", "check.sh", true),
            ("*.sh", "check.sh", true),
            ("*.sh", "ci/check.sh", false),
            ("**/*.sh", "ci/deep/check.sh", true),
            ("**/*.sh", "check.sh", true),
            ("tests/**", "tests/a/b.py", true),
            ("tests/*/b.py", "tests/a/b.py", true),
            ("tests/test_?.py", "tests/test_a.py", true),
            ("tests/test_?.py", "tests/test_ab.py", false),
            ("tests/*_old*.py", "tests/x_old_y.py", true),
            ("**", "anything/at/all", true),
            ("", "a", false),
            ("  ", "a", false),
        ];
        for (pattern, path, covered) in cases {
            let may = MayChange::new([pattern.to_owned()]);
            assert_eq!(may.covers(path), covered, "{pattern} {path}");
        }
        assert!(!MayChange::default().covers("a"));
    }

    proptest::proptest! {
        #[test]
        fn a_path_covers_itself_and_what_is_in_it_and_no_pattern_is_slow(
            path in "[a-c]{1,3}(/[a-c]{1,3}){0,4}",
            pattern in "[*?a/]{0,24}",
        ) {
            let may = MayChange::new([path.clone()]);
            let inside = alloc::format!("{path}/x");
            proptest::prop_assert!(may.covers(&path) && may.covers(&inside));
            let longer = alloc::format!("{path}x");
            proptest::prop_assert!(!may.covers(&longer));
            MayChange::new([pattern]).covers(&path);
        }
    }
}
