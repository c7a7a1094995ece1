//! Makes one result of what several recognisers have understood.

use flyball_core::gate::Counts;

use super::Parsed;
use super::report::{Findings, Report};

/// Recognisers that only speak when no tool has explained the failure, in this order.
pub(super) const SHELL: &str = "shell";
/// Mentions of places in output nobody understands.
pub(super) const MENTIONS: &str = "mentions";

/// One result of all reports.
pub(super) fn merge(reports: Vec<Report>, exit_code: Option<i32>) -> Parsed {
    let (tools, fallbacks): (Vec<Report>, Vec<Report>) = without_repeats(reports)
        .into_iter()
        .partition(|report| !matches!(report.tool, SHELL | MENTIONS));
    let counts = tools.iter().filter_map(|report| report.counts).reduce(sum);
    let names = tools.iter().map(|report| report.tool).collect();
    let findings =
        if exit_code == Some(0) { Findings::default() } else { choose(tools, fallbacks) };
    let (mut kept, left_out) = findings.take();
    kept.sort_by_key(|(number, _)| *number);
    Parsed {
        counts,
        findings: kept.into_iter().map(|(_, finding)| finding).collect(),
        findings_left_out: left_out,
        tail: String::new(),
        tools: names,
    }
}

/// The findings of the tools; failing that their warnings; failing that what is left.
fn choose(tools: Vec<Report>, fallbacks: Vec<Report>) -> Findings {
    let mut warnings = Vec::new();
    let mut all = Vec::new();
    for report in tools {
        all.push(report.findings);
        warnings.push(report.warnings);
    }
    let mut found = together(all);
    if found.is_empty() {
        found = together(warnings);
    }
    for report in fallbacks {
        if found.is_empty() {
            found = report.findings;
        }
    }
    found
}

/// The first findings of all lists, by where they were seen.
fn together(lists: Vec<Findings>) -> Findings {
    let mut found = Findings::default();
    let mut all = Vec::new();
    for list in lists {
        let (kept, left_out) = list.take();
        all.extend(kept);
        found.leave_out(left_out);
    }
    all.sort_by_key(|(number, _)| *number);
    for (number, finding) in all {
        found.push(number, finding);
    }
    found
}

/// Drops reports of what another report already says.
fn without_repeats(mut reports: Vec<Report>) -> Vec<Report> {
    let has = |reports: &[Report], tool: &str| reports.iter().any(|report| report.tool == tool);
    for (winner, loser) in [("nextest", "cargo-test"), ("tap", "prove")] {
        if has(&reports, winner) {
            reports.retain(|report| report.tool != loser);
        }
    }
    // The same run as text and as a document: the document, which comes later in the list.
    let mut at = 0;
    while let Some(tool) = reports.get(at).map(|report| report.tool) {
        if reports.iter().skip(at + 1).any(|later| later.tool == tool) {
            reports.remove(at);
        } else {
            at += 1;
        }
    }
    // A JUnit report of tests that were counted already.
    let others = reports
        .iter()
        .filter(|report| report.tool != "junit")
        .filter_map(|report| report.counts)
        .map(total)
        .reduce(u64::saturating_add);
    reports.retain(|report| {
        report.tool != "junit" || others.is_none() || report.counts.map(total) != others
    });
    reports
}

const fn total(counts: Counts) -> u64 {
    counts.passed.saturating_add(counts.failed).saturating_add(counts.skipped)
}

const fn sum(one: Counts, other: Counts) -> Counts {
    Counts {
        passed: one.passed.saturating_add(other.passed),
        failed: one.failed.saturating_add(other.failed),
        skipped: one.skipped.saturating_add(other.skipped),
    }
}
