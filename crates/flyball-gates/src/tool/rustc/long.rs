//! Errors of cargo that go on for a while and say why only further down: a build script that failed,
//! a program that could not be linked.

use super::super::panic;
use crate::{place, text};

/// How many lines are looked at.
const LINES_MAX: usize = 200;

/// What was found so far below such an error.
#[derive(Clone, Debug, Default)]
pub(super) struct Long {
    lines: usize,
    /// Whether the next line is what a panic says.
    panicked: bool,
    pub(super) why: Option<String>,
    pub(super) place: Option<(String, u32, Option<u32>)>,
}

impl Long {
    /// One for an error with this message, if it is of that sort.
    pub(super) fn of(message: &str) -> Option<Self> {
        let starts = ["failed to run custom build command", "linking with `"];
        starts.iter().any(|start| message.starts_with(start)).then(Self::default)
    }

    /// Whether a line still belongs to it.
    pub(super) fn belongs(&self, line: &str) -> bool {
        let is_inner = line.is_empty() || line.starts_with(' ') || line.starts_with("Caused by:");
        self.lines < LINES_MAX && is_inner
    }

    /// Takes a line that belongs to it.
    pub(super) fn line(&mut self, line: &str) {
        self.lines += 1;
        let own = line.trim();
        if std::mem::take(&mut self.panicked) {
            self.why = Some(own.to_owned());
        } else if let Some((_, at)) = panic::header(own).filter(|_| self.why.is_none()) {
            self.panicked = true;
            self.place = place::prefix(at).map(|at| (at.file.to_owned(), at.line, at.column));
        } else if self.why.is_none() {
            self.why = unlinked(own).map(str::to_owned);
            self.refer(own);
        } else if self.place.is_none() {
            self.refer(own);
        }
    }

    /// `>>> referenced by main.rs:4 (src/main.rs:4)`, `/repo/src/main.rs:4: undefined reference to`.
    fn refer(&mut self, own: &str) {
        let place = match own.strip_prefix(">>> referenced by ") {
            Some(rest) => {
                rest.rsplit_once('(').and_then(|(_, at)| place::prefix(at.trim_end_matches(')')))
            }
            None => {
                text::split(own, ": undefined reference to `").and_then(|(at, _)| place::prefix(at))
            }
        };
        let own = place.filter(|at| at.has_extension(&["rs", "c", "cc", "cpp"]));
        self.place = own.map(|at| (at.file.to_owned(), at.line, None));
    }
}

/// What a linker misses.
fn unlinked(line: &str) -> Option<&str> {
    let starts = [
        "undefined symbol: ",
        "undefined reference to `",
        "cannot find -l",
        "unable to find library ",
    ];
    starts.iter().find_map(|start| line.find(start).and_then(|at| line.get(at..)))
}
