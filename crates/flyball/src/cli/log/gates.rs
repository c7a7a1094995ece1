//! What gates said, on one line.

use flyball_core::IterationNo;
use flyball_core::gate::{Check, CheckStatus, Finding, GateResult};

use super::super::columns::Tint;
use super::words;

/// All gates with how they ended, red ones first, and weakened tests.
pub(super) fn told(
    iteration: IterationNo,
    result: &GateResult,
    tamper: &[Finding],
) -> (String, Tint) {
    let of = |wanted: fn(&CheckStatus) -> bool| -> Vec<&Check> {
        result.checks.iter().filter(|check| wanted(&check.status)).collect()
    };
    let mut parts: Vec<String> = of(CheckStatus::is_red).into_iter().map(red).collect();
    let names = |checks: Vec<&Check>| {
        let names: Vec<&str> = checks.iter().map(|check| check.gate.as_str()).collect();
        names.join(", ")
    };
    let green = of(|status| *status == CheckStatus::Passed);
    if !green.is_empty() {
        parts.push(format!("{} green", names(green)));
    }
    let skipped = of(|status| matches!(status, CheckStatus::Skipped { .. }));
    if !skipped.is_empty() {
        parts.push(format!("{} skipped", names(skipped)));
    }
    if let Some(first) = tamper.first() {
        let count = words::counted(tamper.len(), "weakened test");
        parts.push(format!("{count} or gate: {}", words::line(&first.message, 160)));
    }
    if parts.is_empty() {
        parts.push("none ran".to_owned());
    }
    let before = if iteration == IterationNo::BASELINE { "before the run: " } else { "" };
    let tint = if result.is_green() && tamper.is_empty() { Tint::Good } else { Tint::Bad };
    (format!("{before}{}", parts.join("; ")), tint)
}

fn red(check: &Check) -> String {
    let first = check.findings.first().map(|finding| {
        let name = finding.name.as_deref().unwrap_or(&finding.message);
        words::line(name, 100)
    });
    let failed = check.counts.map(|counts| counts.failed).filter(|failed| *failed > 0);
    let what = match (failed, first) {
        (Some(failed), Some(first)) => format!(" ({failed} failed, first {first})"),
        (Some(failed), None) => format!(" ({failed} failed)"),
        (None, Some(first)) => format!(" ({first})"),
        (None, None) => String::new(),
    };
    let word = if check.status == CheckStatus::TimedOut { "timed out" } else { "red" };
    format!("{} {word}{what}", check.gate)
}
