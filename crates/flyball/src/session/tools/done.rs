//! What came of a call.

use flyball_core::call::{ToolOutcome, ValidationFailure};

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) outcome: ToolOutcome,
    /// What the tool says.
    pub(crate) text: String,
    /// What was changed in a file, for people.
    pub(crate) change: Option<Change>,
    /// The result is in a file already, and this is what the model gets in its place.
    pub(crate) spilled: Option<String>,
    /// A server says that it was no call at all (A4).
    pub(crate) invalid: Option<ValidationFailure>,
}

/// A file before and after a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

impl Done {
    /// It went well, and this was said.
    pub(crate) fn said(text: impl Into<String>) -> Self {
        let (change, spilled, invalid) = (None, None, None);
        Self { outcome: ToolOutcome::Ok, text: text.into(), change, spilled, invalid }
    }

    /// The tool itself failed.
    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self { outcome: ToolOutcome::Tool, ..Self::said(text) }
    }

    /// It was not done at all.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self { outcome: ToolOutcome::Refused, ..Self::said(text) }
    }
}
