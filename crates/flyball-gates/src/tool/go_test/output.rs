//! What a failed Go test printed: its `file_test.go:8: text` lines, or a panic.

use crate::{Finding, FindingKind};

use crate::place;
use crate::text;

/// The message of a test that printed nothing.
pub(super) const SILENT: &str = "test failed";

/// A finding for the test `name`, empty when a panic came outside any test.
pub(super) fn finding(name: &str, output: &str) -> Finding {
    let finding = match panic_at(output) {
        Some(panic) => of_panic(output, panic),
        None => of_lines(output),
    };
    let name = if name.is_empty() { running_test(output) } else { Some(name.to_owned()) };
    let finding = match name {
        Some(name) => finding.named(name),
        None => finding,
    };
    if output.trim().is_empty() { finding } else { finding.with_excerpt(output) }
}

/// Where a panic begins. Without a stack below it, it is what a test printed.
fn panic_at(output: &str) -> Option<usize> {
    let at = output.lines().position(|line| line.starts_with("panic: "))?;
    let mut below = output.lines().skip(at + 1).take(12);
    let is_stack = |line: &str| {
        ["goroutine ", "[signal ", "\tpanic: ", "running tests:"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let has_lines = output
        .lines()
        .any(|line| place::prefix(line.trim_start()).is_some_and(|at| at.has_extension(&["go"])));
    (below.any(is_stack) || !has_lines).then_some(at)
}

/// The `file_test.go:8: text` lines with what belongs to them; the place is that of the last, which
/// a log line never is when the test then failed.
fn of_lines(output: &str) -> Finding {
    let mut entries: Vec<(&str, u32, Vec<&str>, usize)> = Vec::new();
    let mut in_stack = false;
    for line in output.lines() {
        let depth = text::indent(line);
        // The frames of a stack that a test printed are no lines of the test's own.
        let own = line.trim_start();
        in_stack |= own.starts_with("goroutine ") && own.ends_with("]:");
        let is_entry = place::prefix(own).filter(|place| {
            place.has_extension(&["go"])
                && place.column.is_none()
                && place.file != "testing.go"
                // What a test printed itself is not as deep as its own lines.
                && entries.first().is_none_or(|(.., first)| depth >= *first)
                && !(in_stack && is_frame(line))
        });
        in_stack &= is_entry.is_none();
        if let Some(place) = is_entry {
            entries.push((place.file, place.line, vec![place.rest], depth));
        } else if let Some((_, _, lines, own)) = entries.last_mut()
            && depth > *own
            && !line.trim().is_empty()
        {
            lines.push(text::dedent(line, *own + 4));
        }
    }
    let last = entries.last().map(|(file, line, ..)| (*file, *line));
    let Some((file, line)) = panicked(output).or(last) else {
        return Finding::new(FindingKind::Test, silent(output));
    };
    let said: Vec<String> = entries.iter().map(|(_, _, lines, _)| lines.join("\n")).collect();
    Finding::new(FindingKind::Test, said.join("\n")).at(file, line, None)
}

/// Whether a line is a frame of a stack, below its function: `<TAB>/repo/a.go:3 +0x1f`.
fn is_frame(line: &str) -> bool {
    let own = line.trim_start_matches(' ');
    own.starts_with('\t')
        && place::prefix(own.trim_start()).is_some_and(|at| !at.rest.contains(' '))
}

/// Where a panic that somebody caught and printed came from: the first frame of the project below it.
fn panicked(output: &str) -> Option<(&str, u32)> {
    let mut lines = output.lines().skip_while(|line| !line.trim_start().starts_with("panic("));
    let frames = lines.by_ref().filter(|line| is_frame(line) && !place::is_foreign(line));
    let mut places = frames.filter_map(|line| place::prefix(line.trim_start()));
    let own =
        places.find(|at| !at.file.contains("/src/runtime/") && !at.file.contains("/src/reflect/"));
    own.map(|at| (at.file, at.line))
}

/// What a test without such lines printed itself.
fn silent(output: &str) -> String {
    let kept: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).take(10).collect();
    if kept.is_empty() { SILENT.to_owned() } else { kept.join("\n") }
}

/// A panic: its words, and the innermost frame outside Go itself.
fn of_panic(output: &str, at: usize) -> Finding {
    let head = output.lines().nth(at).unwrap_or_default();
    let message = head.strip_suffix(" [recovered]").unwrap_or(head);
    let is_timeout = message.starts_with("panic: test timed out");
    let kind = if is_timeout { FindingKind::Timeout } else { FindingKind::Test };
    let finding = Finding::new(kind, message);
    let frame = output.lines().skip(at).filter_map(|line| {
        let line = line.strip_prefix('\t')?;
        let place = place::prefix(line)?;
        let inner = ["/src/testing/", "/src/runtime/", "/src/time/", "/src/sync/", "/src/reflect/"];
        let own = place.has_extension(&["go"])
            && !inner.iter().any(|inner| place.file.contains(inner))
            && place.file != "_testmain.go";
        own.then_some(place)
    });
    let mut frame = frame;
    match frame.next() {
        Some(place) => finding.at(place.file, place.line, None),
        None => finding,
    }
}

/// The test that was running: listed since Go 1.20, else in the stack.
fn running_test(output: &str) -> Option<String> {
    let mut lines = output.lines();
    if lines.by_ref().any(|line| line.trim() == "running tests:") {
        let name = lines.next()?.trim().split(" (").next()?;
        return Some(name.to_owned());
    }
    output.lines().find_map(|line| {
        let (function, _) = line.split_once('(')?;
        let name = function.rsplit('.').next()?;
        (name.starts_with("Test") && !line.starts_with('\t')).then(|| name.to_owned())
    })
}
