//! One failure of jasmine: a message, then a stack.

use super::super::js_frame;
use crate::{Finding, FindingKind, text};

/// The name in `1) cart adds two prices`, which stands at the very left.
pub(super) fn head(text: &str) -> Option<&str> {
    let (_, rest) = text::number(text)?;
    rest.strip_prefix(") ").map(str::trim_end)
}

/// What stands below `  Message:` and `  Stack:`.
pub(super) fn finding(name: &str, block: &str) -> Finding {
    let message: Vec<&str> = block
        .lines()
        .skip_while(|line| line.trim() != "Message:")
        .skip(1)
        .take_while(|line| line.trim() != "Stack:")
        .map(|line| text::dedent(line, 4).trim_end())
        .collect();
    let message = message.join("\n");
    let finding = Finding::new(FindingKind::Test, text::trim_lines(&message)).named(name);
    let finding = finding.with_excerpt(block);
    match block.lines().find_map(js_frame::own) {
        Some(at) => finding.at(at.file, at.line, at.column),
        None => finding,
    }
}
