//! What pytest says in one line when it ends without a list of failures.

use crate::report::Findings;
use crate::{Counts, Finding, FindingKind, text};

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

/// Not one test could begin: what they ask for is not there.
pub(super) fn without_fixtures(findings: &mut Findings, counts: Option<Counts>) {
    let is_missing = |found: &Finding| {
        found.message.starts_with("fixture '") && found.message.contains("' not found")
    };
    let is_all = counts.is_some_and(|counts| counts.ran() == findings.len() as u64);
    if is_all && findings.kept().all(is_missing) {
        findings.those(is_missing).for_each(|found| found.kind = FindingKind::CouldNotRun);
    }
}
