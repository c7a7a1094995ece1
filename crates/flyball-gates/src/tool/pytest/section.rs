//! One failure section of pytest, from its heading to the next.

use crate::{Finding, FindingKind};

use super::{kind, own_place};
use crate::report::Block;
use crate::text;

/// A section while its lines are coming.
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
    captured: bool,
    other: Option<String>,
}

impl Section {
    pub(super) fn new(title: &str, number: u64) -> Self {
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
            excerpt: Block::default(),
            place: None,
            syntax: None,
            captured: false,
            other: None,
        }
    }

    pub(super) fn line(&mut self, text: &str) {
        if text.starts_with("-----") && text.contains(" Captured ") {
            self.captured = true;
        }
        self.excerpt.push(text);
        if self.captured {
            return;
        }
        if let Some(error) = text.strip_prefix("E ") {
            self.error(error);
        } else if let Some((file, line, _)) = own_place(text) {
            self.place = Some((file, line));
        } else if self.other.is_none() && text.starts_with("[XPASS(strict)]") {
            self.other = Some(text.trim().to_owned());
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
        let mut message = match &self.other {
            Some(other) if message.is_empty() => other.clone(),
            _ => message.join("\n"),
        };
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
        if message.is_empty() {
            "test failed".clone_into(&mut message);
        }
        let mut finding = Finding::new(found, message).with_excerpt(self.excerpt.take());
        let place = if self.collecting { self.syntax.or(self.place) } else { self.place };
        if let Some((file, line)) = place {
            finding = finding.at(file, line, None);
        }
        if self.collecting {
            finding.file.get_or_insert(self.title);
            return Some(finding);
        }
        Some(finding.named(self.title))
    }
}

/// The line that names the error, for errors that quote source lines before it.
fn named_error(message: &str) -> Option<String> {
    let line = message.lines().find(|line| {
        let word = line.split(':').next().unwrap_or_default();
        !word.contains(' ') && (word.ends_with("Error") || word.ends_with("Exception"))
    })?;
    Some(line.to_owned())
}
