//! A finding in the making: what it is about, and what brings back what was there.

use flyball_core::gate::{Finding, FindingKind, Restore, TamperFinding, Weight};

use super::Edited;
use super::excerpt::Side;
use super::pairing::Placed;
use crate::worktree::Change;

/// A finding, and which side its line belongs to.
#[derive(Debug)]
pub(super) struct Suspicion {
    pub(super) found: TamperFinding,
    pub(super) side: Side,
}

impl Suspicion {
    pub(super) fn new(name: &str, message: String, side: Side) -> Self {
        let finding = Finding::new(FindingKind::Tamper, message).named(name);
        Self { found: TamperFinding::bare(finding), side }
    }

    /// About a whole file that was there.
    pub(super) fn of_file(path: &str, name: &str, message: String) -> Self {
        let mut this = Self::new(name, message, Side::Now).at(path, None);
        this.found.subjects.push(format!("file:{path}"));
        this.found.restore.push(Restore::File { path: path.to_owned() });
        this
    }

    /// About a test as it was.
    pub(super) fn of_test(
        old: &Placed,
        name: &str,
        message: String,
        side: Side,
        tests: u32,
    ) -> Self {
        let mut this = Self::new(name, message, side);
        this.found.subjects.push(test_subject(old));
        this.found.tests = tests;
        let (from, to) = old.test.lines();
        this.found.restore.push(Restore::Lines { path: old.file.clone(), from, to });
        this
    }

    /// A test or watched file that cannot be read.
    pub(super) fn unread(change: &Change) -> Self {
        let how = if change.after.is_some() { "was changed" } else { "was removed" };
        let message = format!("`{}` {how} and is too large to be read", change.path);
        Self::of_file(&change.path, &change.path, message)
    }

    pub(super) fn at(mut self, file: &str, line: impl Into<Option<u32>>) -> Self {
        self.found.finding = self.found.finding.at(file, line, None);
        self
    }

    pub(super) fn about(mut self, subject: String) -> Self {
        if let Some(path) = self.found.finding.file.clone() {
            self.found.restore = match self.found.finding.line {
                Some(line) if self.side == Side::Before => {
                    vec![Restore::Lines { path, from: line, to: line }]
                }
                _ => vec![Restore::File { path }],
            };
        }
        self.found.subjects.push(subject);
        self
    }

    /// Brought back as a whole: removed when it was not there.
    pub(super) fn whole(mut self, edit: &Edited) -> Self {
        let path = edit.path.clone();
        let back =
            if edit.before.is_some() { Restore::File { path } } else { Restore::Remove { path } };
        self.found.restore = vec![back];
        self
    }

    /// Whether it is about this file.
    pub(super) fn is_about(&self, path: &str) -> bool {
        self.found.finding.file.as_deref() == Some(path)
    }

    /// Whether it is about fixtures that were added, and nothing else.
    pub(super) fn is_about_fixtures(&self) -> bool {
        self.found.weight == Weight::UnlessAllRun
    }

    /// The gates' own numbers may show that it is harmless.
    pub(super) fn soften(&mut self) {
        self.found.weight = Weight::UnlessAllRun;
    }

    #[cfg(test)]
    pub(super) fn is_soft(&self) -> bool {
        self.found.weight == Weight::UnlessAllRun
    }
}

/// What a finding about a test is about.
pub(super) fn test_subject(placed: &Placed) -> String {
    format!("test:{}:{}", placed.file, placed.test.name)
}
