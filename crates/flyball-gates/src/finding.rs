//! One thing a gate found.

use alloc::format;
#[cfg(not(feature = "read"))]
use alloc::string::String;
use core::fmt::Display;

use serde::{Deserialize, Serialize};

/// What sort of thing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The check could not run at all, or found nothing to run: the reason is the message.
    CouldNotRun,
    /// The code does not compile, or a module is missing.
    Compile,
    /// A type checker disagrees.
    Type,
    /// A test failed.
    Test,
    /// A linter objects.
    Lint,
    /// Formatting is off.
    Format,
    /// A time limit was reached.
    Timeout,
    /// The checker, or what it ran, came to its end before its time.
    Crash,
    /// Tests or gates were weakened.
    Tamper,
    /// Anything else that was red.
    Other,
}

/// One thing a gate found: what, where, and in which words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What sort.
    pub kind: FindingKind,
    /// Test name, lint rule or error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// File, as the tool wrote it, relative to the repository where possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The package whose file it is, where a tool names only the file: Go's import path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// What is wrong, in one or few lines.
    pub message: String,
    /// A few lines of the tool's own output around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// Whether it was red before the run began.
    #[serde(default)]
    pub old: bool,
}

impl Finding {
    /// A finding with a message and nothing else yet.
    pub fn new(kind: FindingKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            name: None,
            file: None,
            line: None,
            column: None,
            package: None,
            message: message.into(),
            excerpt: None,
            old: false,
        }
    }

    /// With the test name, rule or code.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// With its place.
    #[must_use]
    pub fn at(
        mut self,
        file: impl Into<String>,
        line: impl Into<Option<u32>>,
        column: impl Into<Option<u32>>,
    ) -> Self {
        self.file = Some(file.into());
        self.line = line.into();
        self.column = column.into();
        self
    }

    /// With an excerpt of the tool's output.
    #[must_use]
    pub fn with_excerpt(mut self, excerpt: impl Into<String>) -> Self {
        self.excerpt = Some(excerpt.into());
        self
    }

    /// What makes it the same finding in another iteration: never its line or column, and for a
    /// named test not its message either, so that a shift or a new value does not make it new.
    pub fn identity(&self, gate: &(impl Display + ?Sized)) -> String {
        let name = self.name.as_deref().unwrap_or("");
        let file = self.file.as_deref().unwrap_or("");
        let package = self.package.as_deref().map_or_else(String::new, |name| format!(":{name}"));
        let message = match (self.kind, &self.name) {
            (
                FindingKind::Test
                | FindingKind::Timeout
                | FindingKind::Crash
                | FindingKind::CouldNotRun,
                Some(_),
            ) => String::new(),
            _ => without_digits(&self.message),
        };
        format!("{gate}:{:?}:{name}:{file}:{message}{package}", self.kind)
    }

    /// Where it is, as `file:line:column` with what is known.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_deref()?;
        Some(match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
            (Some(line), None) => format!("{file}:{line}"),
            (None, _) => String::from(file),
        })
    }

    /// What people call it: its name, its place or the gate, and its first line.
    pub fn label(&self, gate: &(impl Display + ?Sized)) -> String {
        let message = self.message.trim().lines().next().unwrap_or("").trim();
        match (&self.name, self.place()) {
            (Some(name), Some(_)) if self.kind == FindingKind::Test => name.clone(),
            (Some(name), Some(place)) => format!("{name} at {place}"),
            (Some(name), None) => name.clone(),
            (None, Some(place)) => format!("{place}: {message}"),
            (None, None) => format!("{gate}: {message}"),
        }
    }
}

/// The text with every run of digits replaced by `#`: what two messages share when only a
/// number in them differs.
fn without_digits(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_number = false;
    for c in text.chars() {
        if c.is_ascii_digit() {
            if !in_number {
                out.push('#');
            }
            in_number = true;
        } else {
            out.push(c);
            in_number = false;
        }
    }
    out
}
