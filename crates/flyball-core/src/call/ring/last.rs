//! The latest call, kept for the texts.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::call::detect::Mark;
use crate::call::{ToolOutcome, ToolResult, texts};

/// A call and how it went, short enough to be put into a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LastCall {
    /// The tool's name, its first characters.
    pub tool: String,
    /// The arguments' first characters.
    pub args: String,
    /// How it went; none while it has not been answered.
    pub outcome: Option<ToolOutcome>,
    /// The result's first characters.
    pub result: String,
    id: Mark,
}

impl LastCall {
    /// A call that has not been answered.
    pub(super) fn new(tool: &str, args: &str, id: Mark) -> Self {
        Self {
            tool: texts::stored_name(tool),
            args: texts::excerpt(args),
            outcome: None,
            result: String::new(),
            id,
        }
    }

    /// A call that has been answered like this.
    pub(super) fn answered(tool: &str, result: &ToolResult) -> Self {
        let id = Mark::of_text(result.id.as_str());
        let mut call = Self::new(tool, "", id);
        call.answer(result);
        call
    }

    /// Takes the answer in, if it is the answer to this call and the first.
    pub(super) fn answer(&mut self, result: &ToolResult) {
        if self.outcome.is_none() && self.id == Mark::of_text(result.id.as_str()) {
            self.outcome = Some(result.outcome);
            self.result = texts::excerpt(&result.preview);
        }
    }
}
