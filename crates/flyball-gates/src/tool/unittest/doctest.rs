//! `python -m doctest`: the examples that failed, one by one.

use crate::report::Block;
use crate::{Finding, FindingKind, text};

/// One example, from its place to the rule below it.
#[derive(Clone)]
pub(super) struct Example {
    number: u64,
    file: String,
    line: u32,
    name: String,
    block: Block,
}

impl Example {
    /// The example that begins with `File "shop.py", line 3, in shop.add`.
    pub(super) fn begun(line: &str, number: u64) -> Option<Self> {
        let (file, at, name) = head(line)?;
        let (file, name) = (file.to_owned(), name.to_owned());
        Some(Self { number, file, line: at, name, block: Block::default() })
    }

    /// Takes a line; false at the rule that ends it, and at what is no example at all.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let is_first = self.block.is_blank();
        if text::is_rule(line, '*', 60) || (is_first && line.trim_end() != "Failed example:") {
            return false;
        }
        self.block.push(line);
        true
    }

    /// What was expected and what came, or the error that came instead.
    pub(super) fn finding(mut self) -> Option<(u64, Finding)> {
        let block = self.block.take();
        let (_, outcome) = block.split_once("\nExpected").or_else(|| {
            let (_, raised) = block.split_once("\nException raised:")?;
            Some(("", raised))
        })?;
        let error = outcome.contains("Traceback (most recent").then(|| outcome.lines().last());
        let message = match error.flatten() {
            Some(error) => error.trim().to_owned(),
            None => format!("Expected{outcome}").trim().to_owned(),
        };
        let finding = Finding::new(FindingKind::Test, message).named(self.name);
        Some((self.number, finding.at(self.file, self.line, None).with_excerpt(block)))
    }
}

/// Where the example is that begins with this line.
pub(super) fn place(line: &str) -> Option<(&str, u32)> {
    head(line).map(|(file, line, _)| (file, line))
}

/// File, line and name of `File "shop.py", line 3, in shop.add`.
fn head(line: &str) -> Option<(&str, u32, &str)> {
    let (file, rest) = line.strip_prefix("File \"")?.split_once("\", line ")?;
    let (at, rest) = text::small(rest)?;
    Some((file, at, rest.strip_prefix(", in ")?.trim_end()))
}
