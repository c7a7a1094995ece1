//! Reads a Rust panic out of the captured output of a test.

use crate::{Finding, FindingKind};

use crate::{place, text};

/// A finding for the test `name` whose captured output is `output`.
pub(super) fn finding(name: &str, output: &str) -> Finding {
    let found = of_output(name, output).named(name);
    // A documentation test says where it is in its name; panics inside it count their own lines.
    let found = match doc_place(name) {
        Some((file, line)) => found.at(file, line, None),
        None => found,
    };
    if output.trim().is_empty() { found } else { found.with_excerpt(output) }
}

fn of_output(name: &str, output: &str) -> Finding {
    let lines: Vec<&str> = output.lines().collect();
    let panics = || {
        lines.iter().enumerate().filter_map(|(at, line)| {
            let (thread, place) = header(line)?;
            Some((at, thread, place))
        })
    };
    // What a test caught, or tried again to shrink, comes before the panic that it failed of.
    let own = panics().rfind(|(_, thread, _)| *thread == name);
    let chosen = own.or_else(|| panics().next());
    if let Some((at, _, place)) = chosen {
        let message =
            unexpected(&lines).unwrap_or_else(|| message(lines.get(at + 1..).unwrap_or_default()));
        let finding = Finding::new(FindingKind::Test, message);
        // A library may panic on behalf of the test, and say whose line it is about.
        let source = || lines.iter().find_map(|line| place::prefix(line.strip_prefix("Source: ")?));
        let place = place::prefix(place);
        let place = place.filter(|at| !place::is_foreign(at.file)).or_else(source).or(place);
        return match place {
            Some(place) => finding.at(place.file, place.line, place.column),
            None => finding,
        };
    }
    plain(&lines)
}

/// A panic with other words than the test expects: the harness says both.
fn unexpected(lines: &[&str]) -> Option<String> {
    let is_note = |line: &&str| line.trim() == "note: panic did not contain expected string";
    let at = lines.iter().position(is_note)?;
    let said: Vec<&str> = lines.iter().skip(at).take(3).map(|line| line.trim()).collect();
    Some(said.join("\n").trim_start_matches("note: ").to_owned())
}

/// The thread and the place in `thread 'x' (123) panicked at src/lib.rs:3:9:`.
pub(super) fn header(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix("thread '")?;
    let (thread, rest) = rest.split_once('\'')?;
    let (_, place) = rest.split_once("panicked at ")?;
    // Older compilers put the message in quotes first: `panicked at 'boom', src/lib.rs:3:9`.
    let place = match place.strip_prefix('\'') {
        Some(quoted) => quoted.rsplit_once("', ").map_or(place, |(_, place)| place),
        None => place,
    };
    Some((thread, place.trim_end_matches(':')))
}

/// The lines of a panic message, which end at the backtrace or at a note.
fn message(lines: &[&str]) -> String {
    let kept: Vec<&str> = lines
        .iter()
        .copied()
        .take_while(|line| {
            let line = line.trim_start();
            !line.starts_with("stack backtrace:")
                && !line.starts_with("note: ")
                && header(line).is_none()
        })
        .take(15)
        .collect();
    text::trim_lines(&kept.join("\n")).to_owned()
}

/// A test that failed without a panic: what it printed last.
fn plain(lines: &[&str]) -> Finding {
    let note = lines.iter().find_map(|line| line.trim().strip_prefix("note: test did not panic"));
    if let Some(rest) = note {
        let (_, place) = rest.rsplit_once(" at ").unwrap_or((rest, ""));
        let finding = Finding::new(FindingKind::Test, format!("test did not panic{rest}"));
        return match place::prefix(place) {
            Some(place) => finding.at(place.file, place.line, place.column),
            None => finding,
        };
    }
    if let Some(message) = unexpected(lines) {
        return Finding::new(FindingKind::Test, message);
    }
    let compile = lines.iter().find(|line| line.starts_with("error"));
    if let Some(error) = compile.filter(|_| lines.contains(&"Couldn't compile the test.")) {
        return Finding::new(FindingKind::Test, *error);
    }
    let error = lines.iter().rposition(|line| line.starts_with("Error: "));
    let kept: Vec<&str> = match error {
        Some(at) => lines.iter().skip(at).copied().collect(),
        None => lines.to_vec(),
    };
    let message = text::trim_lines(&kept.join("\n")).to_owned();
    Finding::new(FindingKind::Test, if message.is_empty() { "test failed".into() } else { message })
}

/// The place in the name of a documentation test, `src/lib.rs - half (line 14)`.
fn doc_place(name: &str) -> Option<(&str, u32)> {
    let (file, rest) = name.split_once(" - ")?;
    let (_, line) = rest.rsplit_once("(line ")?;
    let (line, _) = text::small(line)?;
    (file.rsplit('.').next() == Some("rs")).then_some((file, line))
}

#[cfg(test)]
mod tests {
    use super::finding;

    #[test]
    fn an_old_panic_line_is_understood() {
        let found =
            finding("a", "thread 'a' panicked at 'boom', src/lib.rs:3:9\nnote: run with x\n");
        assert_eq!(found.place().as_deref(), Some("src/lib.rs:3:9"));
    }

    #[test]
    fn the_panic_of_the_tests_own_thread_is_preferred() {
        let output = "thread 'worker' panicked at src/w.rs:1:1:\nother\n\
                      thread 't::x' panicked at src/x.rs:2:2:\nmine\n";
        let found = finding("t::x", output);
        assert_eq!(found.message, "mine");
        let caught = format!("thread 't::x' panicked at src/x.rs:1:1:\ncaught\n{output}");
        assert_eq!(finding("t::x", &caught).message, "mine");
        assert_eq!(found.place().as_deref(), Some("src/x.rs:2:2"));
    }
}
