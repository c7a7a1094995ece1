//! Thrashing (B8): the same files in red iterations, again and again, and no better for it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::guard::{GuardKind, Trip};

/// How many files are counted at once; an iteration that touches more is no thrashing.
const FILES_MAX: usize = 4096;

/// How often each file was in a red iteration since the last new best score.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileCounts(BTreeMap<String, u32>);

impl FileCounts {
    /// A new best score: what was counted before it is forgiven.
    pub(super) fn begin_anew(&mut self) {
        self.0.clear();
    }

    /// Counts each file of a red iteration once.
    pub(super) fn count(&mut self, files: &[String]) {
        for file in files.iter().collect::<BTreeSet<_>>() {
            if let Some(count) = self.0.get_mut(file) {
                *count = count.saturating_add(1);
            } else if self.0.len() < FILES_MAX {
                self.0.insert(file.clone(), 1);
            }
        }
    }

    /// The files counted this often, and how often each was.
    pub(super) fn at_least(&self, threshold: u32) -> Vec<(&str, u32)> {
        let often = self.0.iter().filter(|(_, count)| **count >= threshold);
        often.map(|(file, count)| (file.as_str(), *count)).collect()
    }

    pub(super) fn check(&self, threshold: u32) -> Option<Trip> {
        let files: Vec<&str> = self.at_least(threshold).into_iter().map(|(file, _)| file).collect();
        let most = self.0.values().max().copied().unwrap_or(0);
        (!files.is_empty()).then(|| {
            let named = files.iter().take(3).copied().collect::<Vec<_>>().join(", ");
            let more = if files.len() > 3 { "..." } else { "" };
            let text = format!(
                "Thrashing detected: {} file(s) modified {threshold}+ times without progress: \
                 {named}{more}",
                files.len(),
            );
            Trip::new(GuardKind::Thrashing, most, threshold, text)
        })
    }
}

/// The paths a free-text message names as `file: <path>`: a word of its own, in any case, several
/// per message.
pub fn files_in_message(message: &str) -> Vec<&str> {
    const MARK: &str = "file:";
    let mut files = Vec::new();
    let mut rest = message;
    let mut before = None;
    while let Some(at) = find_ignoring_case(rest, MARK) {
        let last_char = rest.get(..at).and_then(|head| head.chars().next_back()).or(before);
        let after = rest.get(at + MARK.len()..).unwrap_or("");
        if !last_char.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-') {
            let path = after.trim_start();
            let end = path.find(|c: char| c.is_whitespace() || ",;\"'`()".contains(c));
            let path = path.get(..end.unwrap_or(path.len())).unwrap_or("");
            let path = path.trim_end_matches(['.', ':']);
            if !path.is_empty() {
                files.push(path);
            }
        }
        before = Some(':');
        rest = after;
    }
    files
}

fn find_ignoring_case(text: &str, mark: &str) -> Option<usize> {
    text.as_bytes()
        .windows(mark.len())
        .position(|window| window.eq_ignore_ascii_case(mark.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_only_from_the_word_file() {
        let cases: &[(&str, &[&str])] = &[
            ("Error in file: /src/api.ts", &["/src/api.ts"]),
            ("FILE: /a.rs, file: /b.rs", &["/a.rs", "/b.rs"]),
            ("profile: c.ts", &[]),
            ("file:", &[]),
            ("file: `x.rs`", &[]),
            ("see file: src/ä.rs.", &["src/ä.rs"]),
            ("file:file: a", &["file", "a"]),
        ];
        for (message, files) in cases {
            assert_eq!(files_in_message(message), *files, "{message}");
        }
    }
}
