//! Stack frames of JavaScript, and what a JavaScript failure says.

use crate::FindingKind;

use crate::place::{self, Place};

/// The place in `at fn (path:3:9)` or `at path:3:9`, unless it is not the project's own code.
pub(super) fn own(line: &str) -> Option<Place<'_>> {
    let rest = line.trim_start().strip_prefix("at ")?;
    bare(rest)
}

/// The place in a frame without its `at`.
pub(super) fn bare(frame: &str) -> Option<Place<'_>> {
    let frame = frame.trim();
    let inner = match frame.rsplit_once('(') {
        Some((_, inner)) => inner.strip_suffix(')').unwrap_or(inner),
        None => frame.strip_prefix("async ").unwrap_or(frame),
    };
    let inner = inner.strip_prefix("file://").unwrap_or(inner);
    // Bundled code names its source behind the bundle: `webpack:///./src/a.js`.
    let inner = match inner.strip_prefix("webpack://") {
        Some(bundled) => bundled.split_once("/./").map_or(bundled, |(_, source)| source),
        None => inner,
    };
    let place = place::prefix(inner)?;
    is_own(place.file).then_some(place)
}

/// Whether a line is a stack frame at all.
pub(super) fn is_frame(line: &str) -> bool {
    line.trim_start().strip_prefix("at ").is_some_and(|rest| {
        rest.ends_with(')') || rest.contains("<anonymous>") || place::prefix(rest).is_some()
    })
}

fn is_own(file: &str) -> bool {
    !file.contains("node_modules/") && !file.starts_with("node:") && !file.starts_with("internal/")
}

/// Whether a line begins with the name of an error: `TypeError: text`, `Error [CODE]: text`.
pub(super) fn is_error(line: &str) -> bool {
    let Some((word, _)) = line.split_once([':', ' ']) else { return false };
    word.ends_with("Error") && line.contains(": ")
}

/// The kind of a failure, by its words.
pub(super) fn kind(message: &str) -> FindingKind {
    const COMPILE: &[&str] = &[
        "Cannot find module",
        "Cannot find package",
        "SyntaxError",
        "Failed to resolve import",
        "Transform failed",
        "unexpected token",
        "Failed to load url",
    ];
    const TIMEOUT: &[&str] =
        &["Exceeded timeout of", "Test timed out in", "Timeout of ", "Hook timed out in"];
    if TIMEOUT.iter().any(|words| message.contains(words)) {
        FindingKind::Timeout
    } else if COMPILE.iter().any(|words| message.contains(words)) && !is_of_data(message) {
        FindingKind::Compile
    } else {
        FindingKind::Test
    }
}

/// Whether what cannot be parsed is no program: `SyntaxError: Unexpected end of JSON input`.
fn is_of_data(message: &str) -> bool {
    let first = message.lines().find(|line| line.contains("SyntaxError")).unwrap_or_default();
    ["JSON input", "in JSON at ", "valid JSON", "JSON Parse error"]
        .iter()
        .any(|words| first.contains(words))
}

/// The kind of a test's failure: a missing module inside a test is still the test's failure.
pub(super) fn test_kind(message: &str) -> FindingKind {
    if kind(message) == FindingKind::Timeout { FindingKind::Timeout } else { FindingKind::Test }
}

/// Message and own place of an error written as a stack.
pub(super) fn of_stack(stack: &str) -> (String, Option<Place<'_>>) {
    let message: Vec<&str> = stack.lines().take_while(|line| !is_frame(line)).take(15).collect();
    (message.join("\n").trim().to_owned(), stack.lines().find_map(own))
}

/// The lines up to where an error that was just described is printed again with its class.
pub(super) fn once<'a, 'b>(lines: &'b [&'a str]) -> &'b [&'a str] {
    let again = lines
        .iter()
        .skip(1)
        .position(|line| line.split([':', ' ']).next().is_some_and(|word| word.ends_with("Error")));
    lines.get(..again.map_or(lines.len(), |at| at + 1)).unwrap_or(lines)
}
