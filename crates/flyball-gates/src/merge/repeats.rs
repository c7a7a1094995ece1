//! What one report says once more that stands in another, and what it only explains.

use super::said;
use crate::report::{ANNOTATIONS, Findings, LOOSE_TAP, Report};
use crate::{Counts, Finding, FindingKind, place, text};

/// `prove -v` shows the TAP of the tests, which say why they failed elsewhere: on stderr.
fn explained(reports: &mut [Report]) {
    let prove = reports.iter().find(|report| report.tool == "prove");
    let told: Vec<Finding> =
        prove.map(|prove| prove.findings.kept().cloned().collect()).unwrap_or_default();
    let Some(tap) = reports.iter_mut().find(|report| report.tool == "tap") else { return };
    for finding in told {
        let is_same = |own: &Finding| own.name.is_some() && own.name == finding.name;
        if let Some(own) = tap.findings.first(is_same) {
            if own.line.is_none() {
                *own = finding;
            }
        } else if finding.line.is_none() {
            tap.findings.push(u64::MAX, finding);
        }
    }
}

/// Results without a plan are what a test printed, where somebody else counts tests.
fn loose(reports: &mut Vec<Report>) {
    let is_runner =
        |report: &Report| !matches!(report.tool, LOOSE_TAP | "prove") && report.counts.is_some();
    if reports.iter().any(is_runner) {
        reports.retain(|report| report.tool != LOOSE_TAP);
    }
    for report in reports.iter_mut().filter(|report| report.tool == LOOSE_TAP) {
        report.tool = "tap";
    }
}

/// A file that died says why and where itself, on stderr; prove only that it did.
pub(super) fn died(findings: &mut Findings, lines: &[(u64, &str)]) {
    let is_dead = |finding: &Finding| {
        finding.line.is_none() && finding.file.is_some() && finding.file == finding.name
    };
    for finding in findings.those(is_dead) {
        let last = lines.iter().find_map(|(_, line)| {
            let (file, at) = said::perl_place(line).filter(|_| !line.starts_with('#'))?;
            (Some(file) == finding.file.as_deref()).then_some((*line, at))
        });
        if let Some((said, at)) = last {
            finding.message = format!("{}\n{}", said.trim(), finding.message);
            finding.line = Some(at);
        }
    }
    // Or only why, right before it ended; of several nobody knows whose words those are.
    let last = last_words(lines).filter(|_| findings.those(is_dead).count() == 1);
    if let Some((said, finding)) = last.and_then(|said| Some((said, findings.first(is_dead)?))) {
        finding.message = format!("{}\n{}", said.trim(), finding.message);
    }
}

/// A test program of Go that gave up says why right before it ends, if it does.
pub(super) fn gave_up(findings: &mut Findings, lines: &[(u64, &str)]) {
    let is_one = |finding: &Finding| {
        finding.kind == FindingKind::Crash && finding.message.ends_with(" and no test failed")
    };
    let is_end = |line: &str| line.starts_with("exit status ") || line.starts_with("FAIL\t");
    let end = lines.iter().position(|(_, line)| is_end(line));
    let said = end.and_then(|end| lines.get(end.checked_sub(1)?)).map(|(_, said)| said.trim());
    let is_own = |said: &&str| {
        let marks = ["=== ", "--- ", "ok  ", "PASS", "FAIL", "panic: "];
        !said.is_empty() && !marks.iter().any(|mark| said.starts_with(mark))
    };
    if let Some(said) = said.filter(is_own)
        && let Some(finding) = findings.first(is_one)
    {
        finding.message = format!("{}: {}", finding.message, text::clip(said, 500));
    }
}

/// tape ends with the first error nobody catches: it is of the test that was begun last, `# its name`.
pub(super) fn within(findings: &mut Findings, lines: &[(u64, &str)]) {
    let is_place = |line: &str| place::prefix(line).is_some_and(|place| place.rest.is_empty());
    let begun = lines.iter().zip(lines.iter().skip(1)).find_map(|((at, one), (next, two))| {
        one.strip_prefix("# ").filter(|_| *next == at + 1 && is_place(two))
    });
    let is_open = |finding: &Finding| finding.kind == FindingKind::Crash && finding.name.is_none();
    if let Some((name, finding)) = begun.and_then(|name| Some((name, findings.first(is_open)?))) {
        finding.name = Some(name.trim().to_owned());
    }
}

/// What stands before `# Looks like your test exited with 255`.
fn last_words<'a>(lines: &[(u64, &'a str)]) -> Option<&'a str> {
    let end =
        lines.iter().position(|(_, line)| line.starts_with("# Looks like your test exited"))?;
    let (_, said) = lines.get(end.checked_sub(1)?)?;
    let is_said = !said.starts_with('#') && said.contains(' ') && !said.contains(" ... ");
    is_said.then_some(*said)
}

/// A file that could not be loaded fails as a test as well, without a word: node says why elsewhere.
/// Files that nobody speaks of remain.
fn unloaded(reports: &mut [Report]) {
    let is_silent = |finding: &Finding| finding.message == "test failed";
    let node = reports.iter().find(|report| report.tool == "node");
    let told: Vec<Finding> =
        node.map(|node| node.findings.kept().cloned().collect()).unwrap_or_default();
    let is_about = |told: &Finding, test: &Finding| {
        test.name.as_deref().is_some_and(|name| {
            let file = told.file.as_deref().map(place::tidy);
            file.is_some_and(|file| name.ends_with(file) || file.ends_with(place::tidy(name)))
                || (name.contains('/') && told.message.contains(name))
        })
    };
    let names = reports.iter().filter(|report| report.tool == "node-test");
    let silent: Vec<Finding> = names
        .flat_map(|tests| tests.findings.kept())
        .filter(|test| is_silent(test))
        .cloned()
        .collect();
    for node in reports.iter_mut().filter(|report| report.tool == "node") {
        for found in node.findings.those(|found| found.name.is_none()) {
            found.name =
                silent.iter().find(|test| is_about(found, test)).and_then(|test| test.name.clone());
        }
    }
    let Some(tests) = reports.iter_mut().find(|report| report.tool == "node-test") else { return };
    let is_told = |test: &Finding| told.iter().any(|told| is_about(told, test));
    let silent = silent.len();
    let mut strangers =
        told.iter().filter(|told| !tests.findings.kept().any(|test| is_about(told, test))).count();
    // What broke may be in a file that the test's file loads.
    let all = strangers >= silent;
    tests.findings.retain(|test| {
        let goes = is_silent(test) && (all || is_told(test) || strangers > 0);
        if goes && !is_told(test) {
            strangers = strangers.saturating_sub(1);
        }
        !goes
    });
}

/// Runners that count tests annotate the same failures once more; linters beside them have their own.
fn annotated(reports: &mut Vec<Report>) {
    let (notes, others): (Vec<Report>, Vec<Report>) =
        std::mem::take(reports).into_iter().partition(|report| report.tool == ANNOTATIONS);
    *reports = others;
    let runners = || reports.iter().filter(|report| report.counts.is_some());
    let told: Vec<&Finding> = runners().flat_map(|runner| runner.findings.kept()).collect();
    let is_again = |note: &Finding| {
        let own = note.file.as_deref().map(place::tidy).unwrap_or_default();
        told.iter().any(|found| {
            let is_file = found.file.as_deref().map(place::tidy).is_some_and(|file| {
                !file.is_empty() && (own.ends_with(file) || file.ends_with(own))
            });
            let names = note.name.as_deref().zip(found.name.as_deref());
            let said = found.message.lines().next().unwrap_or_default().trim();
            (is_file && note.line == found.line)
                || names.is_some_and(|(title, name)| title.ends_with(name))
                || (!said.is_empty() && note.message.contains(said))
        })
    };
    let has_runner = runners().next().is_some();
    let notes: Vec<Report> = notes
        .into_iter()
        .map(|mut report| {
            report.findings.retain(|note| !is_again(note));
            report.warnings.retain(|_| !has_runner);
            report
        })
        .filter(|report| !report.findings.is_empty() || !report.warnings.is_empty())
        .collect();
    reports.extend(notes);
}

/// The last part of the name of a test.
fn leaf(name: &str) -> &str {
    name.rsplit([' ', '.', ':', '>', '/']).next().unwrap_or(name)
}

/// Drops reports of what another report already says.
pub(super) fn without_repeats(mut reports: Vec<Report>) -> Vec<Report> {
    let has = |reports: &[Report], tool: &str| reports.iter().any(|report| report.tool == tool);
    loose(&mut reports);
    explained(&mut reports);
    for (winner, loser) in [
        ("nextest", "cargo-test"),
        ("tap", "prove"),
        // What a test of CTest printed is told with that test.
        ("ctest", "gtest"),
        ("ctest", "catch2"),
    ] {
        if has(&reports, winner) {
            reports.retain(|report| report.tool != loser);
        }
    }
    // What looks like a compiler's word in what a test of CTest printed.
    let quoted: Vec<String> = reports
        .iter()
        .filter(|report| report.tool == "ctest")
        .flat_map(|report| report.findings.kept())
        .filter_map(|finding| finding.excerpt.clone())
        .collect();
    for report in reports.iter_mut().filter(|report| matches!(report.tool, "gcc" | "clang")) {
        let is_quoted = |message: &str| quoted.iter().any(|quoted| quoted.contains(message));
        report.findings.retain(|finding| !is_quoted(&finding.message));
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
    annotated(&mut reports);
    unloaded(&mut reports);
    // A JUnit report of tests that were counted already.
    let others = reports
        .iter()
        .filter(|report| report.tool != "junit")
        .filter_map(|report| report.counts)
        .map(Counts::total)
        .reduce(u64::saturating_add);
    let names: Vec<String> = reports
        .iter()
        .filter(|report| report.tool != "junit" && report.counts.is_some())
        .flat_map(|report| report.findings.kept())
        .filter_map(|found| found.name.clone())
        .collect();
    let is_named = |found: &Finding| {
        let own = found.name.as_deref().map(leaf).unwrap_or_default();
        names.iter().any(|name| leaf(name) == own || name.ends_with(own))
    };
    reports.retain(|report| {
        let is_again = others.is_some() && report.counts.map(Counts::total) == others;
        let is_other = !names.is_empty() && !report.findings.kept().any(is_named);
        report.tool != "junit" || !is_again || (is_other && !report.findings.is_empty())
    });
    reports
}
