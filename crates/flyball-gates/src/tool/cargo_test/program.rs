//! Test programs without Rust's own harness: what they print is all there is.

use super::super::panic;
use crate::report::Block;
use crate::{Finding, FindingKind};

/// The program that runs, until its harness speaks.
#[derive(Clone)]
pub(super) struct Program {
    output: Block,
}

impl Program {
    /// The one that `     Running tests/smoke.rs (target/debug/deps/smoke-1f)` begins.
    pub(super) fn begun(text: &str) -> Option<Self> {
        let rest = text.trim_start().strip_prefix("Running ")?;
        let (_, program) = rest.strip_suffix(')')?.rsplit_once(" (")?;
        program.contains("deps/").then(|| Self { output: Block::default() })
    }

    /// Takes a line; a finding where cargo says that it failed and it has said something.
    pub(super) fn line(&mut self, text: &str) -> Option<Finding> {
        let Some(rest) = text.strip_prefix("error: test failed, to rerun pass `") else {
            self.output.push(text);
            return None;
        };
        let name = rest.trim_end_matches('`').rsplit(' ').next().unwrap_or(rest);
        let output = self.output.take();
        if output.trim().is_empty() {
            return None;
        }
        Some(Finding { kind: FindingKind::Test, ..panic::finding(name, &output) })
    }
}
