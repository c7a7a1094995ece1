//! One failure section of pytest, from its heading to the next.

use crate::{Finding, FindingKind};

use super::node::title_of;
use crate::report::Block;
use crate::{place, text};

/// A section while its lines are coming.
#[derive(Clone)]
pub(super) struct Section {
    pub(super) number: u64,
    /// The test's name, or the file of a collection error.
    pub(super) title: String,
    collecting: bool,
    errors: Block,
    excerpt: Block,
    /// The innermost place of the project's own code.
    place: Option<(String, u32)>,
    /// The place a `SyntaxError` names itself.
    syntax: Option<(String, u32)>,
    /// Whether what comes now was printed by the test.
    pub(super) is_captured: bool,
    /// What Python itself says below its own traceback.
    native: Option<Block>,
    /// What a doctest expected and got.
    doctest: Option<Block>,
    other: Option<String>,
}

impl Section {
    /// One that keeps nothing where `room` is closed.
    pub(super) fn new(title: &str, number: u64, room: Block) -> Self {
        let (collecting, title) = if let Some(file) = title.strip_prefix("ERROR collecting ") {
            (true, file)
        } else {
            let bare = ["ERROR at setup of ", "ERROR at teardown of "];
            (false, bare.iter().find_map(|start| title.strip_prefix(start)).unwrap_or(title))
        };
        Self {
            number,
            title: text::clip(title, 500).to_owned(),
            collecting,
            errors: Block::default(),
            excerpt: room,
            place: None,
            syntax: None,
            is_captured: false,
            native: None,
            doctest: None,
            other: None,
        }
    }

    /// Whether it can only be counted.
    pub(super) const fn is_counted(&self) -> bool {
        self.excerpt.is_closed()
    }

    pub(super) fn line(&mut self, text: &str) {
        if text.starts_with("-----") && text.contains(" Captured ") {
            self.is_captured = true;
        }
        if self.is_counted() {
            return;
        }
        self.excerpt.push(text);
        if self.is_captured {
            return;
        }
        if let Some(error) = text.strip_prefix("E ") {
            self.error(error);
        } else if let Some((file, line, _)) = own_place(text) {
            self.place = Some((file, line));
        } else if text.starts_with("Traceback (most recent call last):")
            || text.trim_start().starts_with("+ Exception Group Traceback (")
        {
            self.native = Some(Block::default());
        } else if self.native.is_some() {
            self.native(text);
        } else if ["Expected:", "Expected nothing", "Differences (", "UNEXPECTED EXCEPTION: "]
            .iter()
            .any(|start| text.starts_with(start))
        {
            self.doctest.get_or_insert_default().push(text);
        } else if let Some(doctest) = &mut self.doctest {
            doctest.push(text);
        } else if self.other.is_none()
            && (text.starts_with("[XPASS(strict)]") || text.starts_with("FAILURE: "))
        {
            self.other = Some(text.trim().to_owned());
        }
    }

    /// A line of Python's own traceback, also of a group behind its bars.
    fn native(&mut self, text: &str) {
        let own = text.trim_start();
        let own = own.strip_prefix("| ").unwrap_or(if own == "|" { "" } else { text });
        if let Some((file, line)) = frame(own) {
            if !is_library(file) {
                self.place = Some((file.to_owned(), line));
            }
            // What the last frame leads to is the message; of a group it is what holds it together.
            let is_group = self.native.as_ref().is_some_and(|said| is_group(said.as_str()));
            if !is_group {
                self.native = Some(Block::default());
            }
        } else if !own.starts_with(' ') && !own.trim().is_empty() {
            let is_bar = own.trim_start().starts_with("+-");
            if let Some(native) = self.native.as_mut().filter(|_| !is_bar) {
                native.push(own);
            }
        }
    }

    fn error(&mut self, error: &str) {
        if let Some(rest) = error.trim_start().strip_prefix("File \"")
            && let Some((file, rest)) = rest.split_once("\", line ")
            && let Some((line, _)) = text::small(rest)
        {
            self.syntax = Some((file.to_owned(), line));
        }
        self.errors.push(error);
    }

    pub(super) fn into_finding(mut self) -> Option<Finding> {
        let errors = self.errors.take();
        let depth = errors.lines().map(text::indent).min().unwrap_or(0);
        let message: Vec<&str> = errors.lines().map(|line| text::dedent(line, depth)).collect();
        let mut message = message.join("\n");
        let native = self.native.as_mut().map(Block::take).unwrap_or_default();
        let doctest = self.doctest.as_mut().map(Block::take).unwrap_or_default();
        // Of an error in a doctest both say something.
        let both = doctest.lines().next().filter(|_| !native.is_empty());
        let both = both.map(|first| format!("{first}\n{native}"));
        for said in [both.as_deref(), Some(&native), Some(&doctest)].into_iter().flatten() {
            if message.is_empty() {
                text::trim_lines(said).clone_into(&mut message);
            }
        }
        if message.is_empty() {
            message = self.other.take().unwrap_or_default();
        }
        if message.is_empty() && !self.collecting {
            bare(self.excerpt.as_str()).unwrap_or_default().clone_into(&mut message);
            if let Some(node) = crashed(&message) {
                self.title = title_of("FAILED", node);
            }
        }
        if message.is_empty() && self.excerpt.is_blank() {
            return None;
        }
        let mut found = FindingKind::Test;
        if self.collecting {
            message = named_error(&message).unwrap_or(message);
            found = FindingKind::Compile;
        } else if kind(&message) == FindingKind::Timeout {
            found = FindingKind::Timeout;
        }
        if message.is_empty() && self.collecting {
            // What pytest itself does not like about a file has no traceback.
            text::trim_lines(self.excerpt.as_str()).clone_into(&mut message);
        }
        if message.is_empty() {
            "test failed".clone_into(&mut message);
        }
        let mut finding = Finding::new(found, message).with_excerpt(self.excerpt.take());
        let place = if self.collecting { self.syntax.or(self.place) } else { self.place };
        if let Some((file, line)) = place {
            finding = finding.at(file, line, None);
        }
        if self.collecting {
            finding.file.get_or_insert_with(|| self.title.clone());
        }
        Some(finding.named(self.title))
    }
}

/// What stands below a heading in words alone: no source, no values.
fn bare(excerpt: &str) -> Option<&str> {
    let mut lines = excerpt.lines().filter(|line| !line.trim().is_empty());
    let first = lines.find(|line| !line.starts_with("[gw"))?;
    let is_source = first.starts_with([' ', '>', '@', '-']) || first.contains(" = ");
    let is_placed = || own_place(first).is_some() || first.starts_with("def ");
    (!is_source && !is_placed() && first.contains(' ')).then_some(first)
}

/// The test that a worker of pytest-xdist was at when it ended.
fn crashed(message: &str) -> Option<&str> {
    let (worker, node) = message.split_once("' crashed while running '")?;
    worker.starts_with("worker '").then(|| node.trim_end_matches('\''))
}

/// The kind of a failure, by its words.
pub(super) fn kind(message: &str) -> FindingKind {
    if message.starts_with("Failed: Timeout ") { FindingKind::Timeout } else { FindingKind::Test }
}

/// The line that names the error, for errors that quote source lines before it.
fn named_error(message: &str) -> Option<String> {
    let line = message.lines().find(|line| {
        let word = line.split(':').next().unwrap_or_default();
        !word.contains(' ') && (word.ends_with("Error") || word.ends_with("Exception"))
    })?;
    Some(line.to_owned())
}

/// Whether this is what a group of errors says of itself.
fn is_group(said: &str) -> bool {
    let first = said.lines().next().unwrap_or_default();
    first.contains("ExceptionGroup: ") && first.contains(" sub-exception")
}

/// File and line of `  File "x.py", line 3, in f`.
fn frame(text: &str) -> Option<(&str, u32)> {
    let (file, rest) = text.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
    Some((file, text::small(rest)?.0))
}

/// Whether a file belongs to an installed library and not to the project.
fn is_library(file: &str) -> bool {
    file.contains("site-packages/")
        || file.contains("/lib/python")
        || file.starts_with("<frozen")
        || file.contains("dist-packages/")
}

/// The file and line of `path:3: …` unless it is a library's.
fn own_place(text: &str) -> Option<(String, u32, &str)> {
    let place = place::prefix(text).or_else(|| with_blanks(text))?;
    (!is_library(place.file) && place.column.is_none())
        .then(|| (place.file.to_owned(), place.line, place.rest))
}

/// A place whose path has blanks: only `path.py:3: SomeError` is sure enough.
fn with_blanks(text: &str) -> Option<place::Place<'_>> {
    let (file, rest) = text.split_once(".py:")?;
    let file = text.get(..file.len() + 3)?;
    let (line, rest) = text::small(rest)?;
    let rest = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(':'))?;
    let is_path = !file.starts_with([' ', '>', 'E']) && !rest.contains(' ');
    is_path.then_some(place::Place { file, line, column: None, rest })
}
