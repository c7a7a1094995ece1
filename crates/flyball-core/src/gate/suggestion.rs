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

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    fn of(kind: FindingKind, message: &str) -> Check {
        let finding = Finding::new(kind, message).named("a").at("src/a.rs", 3, None);
        Check { findings: vec![finding], ..Check::failed("tests") }
    }

    fn told(checks: Vec<Check>) -> Vec<String> {
        suggestions(&GateResult { tree: "t".into(), checks }, None)
    }

    #[test]
    fn each_kind_of_finding_has_its_own_advice_and_no_other() {
        let table = [
            (of(FindingKind::Compile, "no `b`"), "Fix the compile error at src/a.rs:3 first"),
            (of(FindingKind::Test, "no"), "Begin with a (src/a.rs:3): run it alone"),
            (of(FindingKind::Type, "no"), "Mend 1 type error in the code itself"),
            (of(FindingKind::Lint, "no"), "Mend 1 lint finding in the code itself"),
            (of(FindingKind::Format, "no"), "it would change src/a.rs."),
            (of(FindingKind::Crash, "signal 11"), "did not get to its end (signal 11)"),
            (of(FindingKind::CouldNotRun, "no npm"), "did not get to its end (no npm)"),
            (
                of(FindingKind::Tamper, "`t` was deleted"),
                "Bring back what was weakened (`t` was deleted)",
            ),
            (Check::failed("tests"), "Run the gate `tests` yourself"),
        ];
        for (check, part) in table {
            let advice = told(vec![check]);
            assert_eq!(advice.len(), 1, "{advice:?}");
            assert!(advice.iter().any(|text| text.contains(part)), "{part}: {advice:?}");
        }
        let timed = Check { status: CheckStatus::TimedOut, ..Check::failed("tests") };
        assert!(told(vec![timed]).iter().any(|text| text.contains("ran into its time limit")));
        assert_eq!(told(vec![Check::passed("tests")]), [""; 0]);
    }

    #[test]
    fn several_kinds_are_told_most_useful_first() {
        let both = [of(FindingKind::Lint, "no"), of(FindingKind::Type, "no")];
        assert_eq!(
            told(both.to_vec()),
            ["Mend 1 type error and 1 lint finding in the code itself; do not switch rules off."]
        );
        let missing = told(vec![of(FindingKind::Compile, "Cannot find module 'left-pad'")]);
        assert!(missing.first().is_some_and(|text| text.starts_with("Fix the compile error")));
        assert!(missing.get(1).is_some_and(|text| text.contains("add `left-pad`")), "{missing:?}");
        let red = GateResult { tree: "t".into(), checks: vec![of(FindingKind::Test, "no")] };
        let again = suggestions(&red, Some(&red));
        assert!(again.last().is_some_and(|text| text.contains("exactly the failures")));
        assert_eq!(again.len(), 2);
    }
}
