//! The few lines that may say why a check is red when no recogniser knows: the first lines, the
//! first that speak of an error, and the last.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::hints::may_tell;
use crate::passing::Passing;
use crate::text;

const FIRST_MAX: usize = 40;
/// So many of them are for who reads an output nobody understands.
const ALL_MAX: usize = 120;
const ERRORS_MAX: usize = 20;
const LAST_MAX: usize = 40;
const LINE_CHARS_MAX: usize = 400;
/// After so many lines that might have spoken of an error and did not, nobody looks any more.
const LOOKS_MAX: u32 = 50_000;

/// Lines with their numbers. A copy shares those that do not change any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    first: Arc<Vec<(u64, String)>>,
    errors: Arc<Vec<(u64, String)>>,
    last: VecDeque<(u64, String)>,
    looks: u32,
}

impl Kept {
    /// Takes a line.
    pub(crate) fn take(&mut self, line: Passing<'_>) {
        if self.first.len() < ALL_MAX {
            Arc::make_mut(&mut self.first).push(kept(line));
        }
        if line.hints.error && self.is_curious() {
            self.looks += 1;
            if is_error(line.text) {
                Arc::make_mut(&mut self.errors).push(kept(line));
            }
        }
        self.take_last(line);
    }

    /// Takes a line that is of interest only as one of the last.
    pub(crate) fn take_last(&mut self, line: Passing<'_>) {
        if line.near_end {
            if self.last.len() >= LAST_MAX {
                self.last.pop_front();
            }
            self.last.push_back(kept(line));
        }
    }

    /// Whether lines that speak of an error are still looked for.
    pub(crate) fn is_curious(&self) -> bool {
        self.errors.len() < ERRORS_MAX && self.looks < LOOKS_MAX
    }

    /// Whether the first lines are all there.
    pub(crate) fn is_begun(&self) -> bool {
        self.first.len() >= ALL_MAX
    }

    /// Forgets what was only near the end of a piece of the output: `total` lines there were.
    pub(crate) fn settle(&mut self, total: u64) {
        let since = total.saturating_sub(LAST_MAX as u64);
        self.last.retain(|(number, _)| *number > since);
    }

    /// All of them, in the order of the output and once each.
    pub(crate) fn lines(&self) -> Vec<(u64, &str)> {
        self.up_to(FIRST_MAX)
    }

    /// The same with more of the first.
    pub(crate) fn all(&self) -> Vec<(u64, &str)> {
        self.up_to(ALL_MAX)
    }

    fn up_to(&self, first: usize) -> Vec<(u64, &str)> {
        let all = self.first.iter().take(first).chain(&*self.errors).chain(&self.last);
        let mut lines: Vec<(u64, &str)> =
            all.map(|(number, text)| (*number, text.as_str())).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The first lines that speak of an error.
    pub(crate) fn errors(&self) -> impl Iterator<Item = (u64, &str)> {
        self.errors.iter().map(|(number, text)| (*number, text.as_str()))
    }
}

fn kept(line: Passing<'_>) -> (u64, String) {
    (line.number, text::clip(line.text.trim_end(), LINE_CHARS_MAX).to_owned())
}

/// Whether a line says that something went wrong, as its main point.
fn is_error(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "error",
        "fatal",
        "panic",
        "exception",
        "abort",
        "cannot ",
        "can't ",
        "could not ",
        "unable to ",
        "critical",
        "uncaught",
        "unhandled",
        "failed to ",
        "failure:",
        "failed:",
        "segmentation fault",
        "killed",
        "no such ",
        "missing ",
    ];
    const INSIDE: &[&str] =
        &["error:", "fatal:", "exception:", " error ", "panicked at", "not found", "error!"];
    const NOT: &[&str] = &["0 error", "no error", "errors: 0", "error: 0", "0 fail", "warning"];
    let line = text::clip(line.trim_start(), LINE_CHARS_MAX);
    let bare = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    // Cheap questions first: this looks at very many lines.
    let may_start = |start: &str| {
        let (first, bare) = (start.as_bytes().get(..2), bare.as_bytes().get(..2));
        first.zip(bare).is_some_and(|(first, bare)| first.eq_ignore_ascii_case(bare))
    };
    if !may_tell(bare.as_bytes()) && !STARTS.iter().any(|start| may_start(start)) {
        return false;
    }
    let lower = bare.to_ascii_lowercase();
    (STARTS.iter().any(|start| lower.starts_with(start))
        || INSIDE.iter().any(|word| lower.contains(word)))
        && !NOT.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::is_error;

    #[test]
    fn errors_are_told_from_talk_about_them() {
        for line in
            ["FATAL: no", "error: x", "[x] Error: y", "sh: 1: x: not found", "Cannot open x"]
        {
            assert!(is_error(line), "{line}");
        }
        for line in ["0 errors", "errors: 0", "warning: error", "all good", "terror of the deep"] {
            assert!(!is_error(line), "{line}");
        }
    }
}
