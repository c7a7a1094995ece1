//! One thing a gate found.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::id::GateName;
use crate::text;

/// What sort of thing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
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
    /// The checker itself crashed or could not start.
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
    pub fn identity(&self, gate: &GateName) -> String {
        let name = self.name.as_deref().unwrap_or("");
        let file = self.file.as_deref().unwrap_or("");
        let message = match (self.kind, &self.name) {
            (FindingKind::Test | FindingKind::Timeout | FindingKind::Crash, Some(_)) => {
                String::new()
            }
            _ => text::without_digits(&self.message),
        };
        format!("{gate}:{:?}:{name}:{file}:{message}", self.kind)
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
}
