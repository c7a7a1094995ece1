//! Panics printed outside a failure block: with `--nocapture`, and when a test takes the program
//! down with it.

use std::sync::Arc;

use super::super::panic;
use crate::recogniser::Line;
use crate::report::Block;
use crate::{Finding, FindingKind};

/// How many panics are remembered until their test is named.
const PANICS_MAX: usize = 200;

/// Panics by the name of their thread, which is that of the test.
#[derive(Clone, Default)]
pub(super) struct Loose {
    open: bool,
    /// Shared by copies until there are more.
    panics: Arc<Vec<(String, String)>>,
    block: Block,
    name: String,
    /// An `Error: …` that was printed last: a test that returned it fails next.
    error: Option<String>,
    /// A test whose stack was too small: nothing else tells of it.
    pub(super) overflow: Option<(u64, Finding)>,
}

impl Loose {
    /// Whether the lines of a panic are coming.
    pub(super) const fn is_open(&self) -> bool {
        self.open
    }

    /// A test passed: what was printed before it is none of its business.
    pub(super) fn forget_error(&mut self) {
        self.error = None;
    }

    /// Takes a line outside a block.
    pub(super) fn line(&mut self, line: &Line<'_>) {
        let text = line.text;
        if let Some((thread, _)) = panic::header(text) {
            self.close();
            thread.clone_into(&mut self.name);
            self.open = true;
            self.block.push(text);
        } else if let Some(name) = failed(text) {
            self.close();
            if let Some(error) = self.error.take() {
                self.keep(name.to_owned(), error);
            }
        } else if let Some(name) = overflowed(text) {
            self.close();
            let finding = Finding::new(FindingKind::Crash, text.trim()).named(name);
            self.overflow = Some((line.number, finding));
        } else if text.starts_with("test ") || text.starts_with("running ") {
            self.close();
            self.error = None;
        } else if self.open && matches!(text, "FAILED" | "ok") {
            // The result of a test that began before.
            self.close();
        } else if self.open {
            self.block.push(text);
        } else if text.starts_with("Error: ") {
            self.error = Some(text.to_owned());
        }
    }

    /// The panic of a test.
    pub(super) fn of(&self, name: &str) -> Option<&str> {
        self.panics.iter().find(|(thread, _)| thread == name).map(|(_, text)| text.as_str())
    }

    /// A finding for a test that failed without a block.
    pub(super) fn finding(&self, name: &str) -> Finding {
        match self.of(name) {
            Some(text) => panic::finding(name, text),
            None => Finding::new(FindingKind::Test, "test failed").named(name),
        }
    }

    /// A finding for a program that a signal ended: a test may have panicked as its last deed.
    pub(super) fn taken_down(&mut self, message: String) -> Finding {
        self.close();
        let last = self.panics.last().filter(|(thread, _)| thread != "main");
        let died = last.filter(|_| message.contains("(signal: ")).map(|(thread, _)| thread);
        let Some(name) = died else { return Finding::new(FindingKind::Crash, message) };
        let mut finding = self.finding(name);
        finding.kind = FindingKind::Crash;
        finding.message = format!("{}\n{message}", finding.message);
        finding
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            let (name, text) = (std::mem::take(&mut self.name), self.block.take());
            self.keep(name, text);
        }
    }

    fn keep(&mut self, name: String, text: String) {
        if self.panics.len() < PANICS_MAX {
            Arc::make_mut(&mut self.panics).push((name, text));
        }
    }
}

/// The name in `test tests::x - should panic ... FAILED`.
fn failed(text: &str) -> Option<&str> {
    let name = text.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    Some(name.strip_suffix(" - should panic").unwrap_or(name))
}

/// The test in `thread 'deep' (1260) has overflowed its stack`.
fn overflowed(text: &str) -> Option<&str> {
    let (name, rest) = text.strip_prefix("thread '")?.split_once('\'')?;
    rest.ends_with(" has overflowed its stack").then_some(name)
}
