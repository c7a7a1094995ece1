//! A gate's word, on one line.

use flyball_core::Moment;
use flyball_core::gate::{Check, CheckStatus};

use super::super::line::{Line, Severity, Verb};
use super::super::words;

/// How much of a failing check's name or message is told.
const NAME_MAX: usize = 100;

/// How a gate ended: its counts, what failed first, and how long it took.
pub(super) fn told(at: Moment, check: &Check, note: &str) -> Line {
    let mut parts = vec![format!("{} {}", check.gate, check.status.as_str())];
    if let Some(counts) = check.counts {
        parts.push(format!("{} passed, {} failed", counts.passed, counts.failed));
    }
    if let (true, Some(tries)) = (check.status.is_red(), check.tries) {
        parts.push(format!("{tries} tries"));
    }
    if check.flaky.is_some() {
        parts.push("flaky".to_owned());
    }
    parts.extend(what(check));
    parts.push(check.duration.to_string());
    let severity = match &check.status {
        CheckStatus::Passed => Severity::Good,
        CheckStatus::Skipped { .. } => Severity::Quiet,
        CheckStatus::Failed | CheckStatus::TimedOut => Severity::Bad,
    };
    Line::new(at, Verb::Gate, severity, format!("{}{note}", parts.join(" · ")))
}

/// What failed, or why it did not run.
fn what(check: &Check) -> Option<String> {
    match &check.status {
        CheckStatus::Passed => check.flaky.as_deref().map(|why| words::line(why, NAME_MAX)),
        CheckStatus::Skipped { reason } => Some(words::line(reason, NAME_MAX)),
        CheckStatus::Failed | CheckStatus::TimedOut => {
            let first = check.findings.first()?;
            let name = words::line(first.name.as_deref().unwrap_or(&first.message), NAME_MAX);
            Some(if check.findings.len() == 1 { name } else { format!("first {name}") })
        }
    }
}
