//! Makes one result of what several recognisers have understood.

use crate::report::{Findings, MENTIONS, Report, SHELL};
use crate::{Counts, Exit, Parsed};

/// One result of all reports.
pub(crate) fn merge(reports: Vec<Report>, exit: Exit) -> Parsed {
    let (tools, fallbacks): (Vec<Report>, Vec<Report>) = without_repeats(reports)
        .into_iter()
        .partition(|report| !matches!(report.tool, SHELL | MENTIONS));
    let counts = tools.iter().filter_map(|report| report.counts).reduce(Counts::and);
    let executed = tools.iter().filter_map(Report::executed).collect();
    let names = tools.iter().map(|report| report.tool).collect();
    let findings = if exit.is_success() { Findings::default() } else { choose(tools, fallbacks) };
    let (mut kept, left_out) = findings.take();
    kept.sort_by_key(|(number, _)| *number);
    Parsed {
        counts,
        findings: kept.into_iter().map(|(_, finding)| finding).collect(),
        findings_left_out: left_out,
        tail: String::new(),
        executed,
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
        .map(Counts::total)
        .reduce(u64::saturating_add);
    reports.retain(|report| {
        report.tool != "junit" || others.is_none() || report.counts.map(Counts::total) != others
    });
    reports
}
