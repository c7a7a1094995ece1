//! What to do about what was found: suggestions from the findings themselves, most useful first.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Check, CheckStatus, Finding, FindingKind, GateResult};
use crate::text;

/// The most suggestions given at once.
const MAX: usize = 6;

/// What to do about what was found, most useful first. `before` is the result of the last time.
pub fn suggestions(result: &GateResult, before: Option<&GateResult>) -> Vec<String> {
    let findings: Vec<&Finding> = result.failures().map(|(_, finding)| finding).collect();
    let mut out = Vec::new();
    out.extend(compile(&findings));
    out.extend(missing_module(&findings));
    out.extend(timeouts(result));
    out.extend(crashes(&findings));
    out.extend(tests(&findings));
    out.extend(snapshot(&findings));
    out.extend(types_and_lint(&findings));
    out.extend(formatting(&findings));
    out.extend(tamper(&findings));
    out.extend(unread(result));
    out.extend(before.and_then(|before| same_again(before, result)));
    out.truncate(MAX);
    out
}

fn of_kind<'a>(findings: &[&'a Finding], kind: FindingKind) -> Vec<&'a Finding> {
    findings.iter().filter(|finding| finding.kind == kind).copied().collect()
}

fn compile(findings: &[&Finding]) -> Option<String> {
    let errors = of_kind(findings, FindingKind::Compile);
    let first = errors.first()?;
    let place = first.place().map(|place| format!(" at {place}")).unwrap_or_default();
    Some(format!("Fix the compile error{place} first: other failures may only follow from it."))
}

fn missing_module(findings: &[&Finding]) -> Option<String> {
    const MARKS: [&str; 7] = [
        "No module named ",
        "Cannot find module ",
        "cannot find package ",
        "unresolved import ",
        "no required module provides package ",
        "can't find crate for ",
        "Failed to resolve import ",
    ];
    findings.iter().find_map(|finding| {
        let mark = MARKS.iter().find(|mark| finding.message.contains(**mark))?;
        let after = finding.message.split(mark).nth(1)?;
        let name: String = after
            .trim_start_matches(['\'', '"', '`'])
            .chars()
            .take_while(|c| !c.is_whitespace() && !"'\"`;,:".contains(*c))
            .take(80)
            .collect();
        let name = if name.is_empty() { String::from("it") } else { format!("`{name}`") };
        Some(format!("A module is missing: add {name} to the dependencies, or correct the import."))
    })
}

fn timeouts(result: &GateResult) -> Option<String> {
    let check = result.red().find(|check| check.status == CheckStatus::TimedOut)?;
    Some(format!(
        "`{}` ran into its time limit after {}: look for a test that hangs or waits for input, and \
         run it alone.",
        check.gate, check.duration
    ))
}

fn crashes(findings: &[&Finding]) -> Option<String> {
    let stopped =
        |finding: &&&Finding| matches!(finding.kind, FindingKind::Crash | FindingKind::CouldNotRun);
    let first = findings.iter().find(stopped)?;
    Some(format!(
        "The check itself did not get to its end ({}): make it start again before anything else.",
        text::head(text::first_line(&first.message), 120)
    ))
}

fn tests(findings: &[&Finding]) -> Option<String> {
    let failing = of_kind(findings, FindingKind::Test);
    let first = failing.first()?;
    let name = first.name.as_deref().unwrap_or("the first failing test");
    let place = first.place().map(|place| format!(" ({place})")).unwrap_or_default();
    let advice = "run it alone, make it pass by mending the code, then run them all";
    Some(match failing.len() {
        1 => format!("Begin with {name}{place}: {advice}."),
        count => format!("Begin with {name}{place}, the first of {count}: {advice}."),
    })
}

fn snapshot(findings: &[&Finding]) -> Option<String> {
    let is_snapshot = |finding: &&&Finding| {
        let message = finding.message.to_ascii_lowercase();
        message.contains("snapshot") && !message.contains("no snapshot")
    };
    findings.iter().find(is_snapshot).map(|_| {
        String::from(
            "A snapshot differs: decide whether the new output is right; only then update the \
             snapshot.",
        )
    })
}

fn types_and_lint(findings: &[&Finding]) -> Option<String> {
    let types = of_kind(findings, FindingKind::Type).len() as u64;
    let lint = of_kind(findings, FindingKind::Lint).len() as u64;
    let counted = match (types, lint) {
        (0, 0) => return None,
        (_, 0) => text::count(types, "type error"),
        (0, _) => text::count(lint, "lint finding"),
        _ => format!(
            "{} and {}",
            text::count(types, "type error"),
            text::count(lint, "lint finding")
        ),
    };
    Some(format!("Mend {counted} in the code itself; do not switch rules off."))
}

fn formatting(findings: &[&Finding]) -> Option<String> {
    let first = *of_kind(findings, FindingKind::Format).first()?;
    let place = first.file.as_deref().unwrap_or("the files named");
    Some(format!("Run the project's formatter; it would change {place}."))
}

fn tamper(findings: &[&Finding]) -> Option<String> {
    of_kind(findings, FindingKind::Tamper).first().map(|finding| {
        format!(
            "Bring back what was weakened ({}): tests and gates are not yours to lower.",
            text::head(text::first_line(&finding.message), 120)
        )
    })
}

fn unread(result: &GateResult) -> Option<String> {
    let is_unread = |check: &&Check| check.is_unread() && check.status == CheckStatus::Failed;
    result.red().find(is_unread).map(|check| {
        format!("Run the gate `{}` yourself and read its last lines: they say why.", check.gate)
    })
}

fn same_again(before: &GateResult, now: &GateResult) -> Option<String> {
    let failing: BTreeSet<String> = now.failing();
    (!failing.is_empty() && failing == before.failing()).then(|| {
        String::from(
            "These are exactly the failures of the last time: what was tried did not help, so look \
             for another cause.",
        )
    })
}
