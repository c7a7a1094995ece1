//! What pytest says in one line when it ends without a list of failures.

use crate::{place, text};

/// The reason of a coverage that was not reached.
pub(super) fn coverage(text: &str) -> Option<&str> {
    // Where it was reached, that is said in nearly the same words.
    let starts = ["FAIL Required test coverage of ", "Coverage failure: "];
    starts.iter().any(|start| text.starts_with(start)).then_some(text)
}

/// The file of `ImportError while loading conftest '/path/conftest.py'.`
pub(super) fn conftest(text: &str) -> Option<&str> {
    // A cheap question first: this looks at every line.
    if !text.ends_with("'.") {
        return None;
    }
    let (class, rest) = text.split_once(" while loading conftest '")?;
    (!class.contains(' ')).then(|| rest.trim_end_matches(['.', '\'']))
}

/// The place in a frame of the project's own code: `  File "/p/conftest.py", line 7, in x`.
pub(super) fn frame(text: &str) -> Option<(String, u32)> {
    let (file, rest) = text.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
    let (line, _) = text::small(rest)?;
    (!place::is_foreign(file)).then(|| (file.to_owned(), line))
}

/// Why nothing was run, in pytest's own words.
pub(super) fn cannot_run(text: &str) -> Option<&str> {
    if let Some(reason) = text.strip_prefix("ERROR: ") {
        let is_reason = ["file or directory not found", "not found: ", "found no collectors"]
            .iter()
            .any(|start| reason.starts_with(start));
        return is_reason.then_some(reason);
    }
    let stopped = text.strip_prefix("!!").and_then(|_| text::in_rule(text, '!'))?;
    let is_counted = stopped.contains("Interrupted: ") || stopped.starts_with("stopping after ");
    (!is_counted).then_some(stopped)
}
