//! `CTest`: one line per test, and what a failed one printed.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Names, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads `3/7 Test #3: name ......***Failed    0.00 sec`. What a test printed comes below, or
/// before in the verbose form; its first failure gives the place.
#[derive(Clone, Default)]
pub(super) struct Ctest {
    spoke: bool,
    counts: Option<Counts>,
    names: Names,
    /// What the test that runs now printed, each line behind its number.
    printed: Block,
    open: Option<Open>,
    /// What a test could not be started for.
    missing: Option<String>,
    listed: bool,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    name: String,
    reason: String,
    missing: Option<String>,
    output: Block,
    /// The lines of failures behind what is kept.
    further: Block,
}

impl Recogniser for Ctest {
    fn name(&self) -> &'static str {
        "ctest"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["0/", "0: ", "0% t", "Star", "No t", "The ", "Coul"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some(result) = result(text) {
            self.close();
            self.spoke = true;
            self.names.ran(result.name);
            let missing = self.missing.take();
            if let Some(reason) = result.failed {
                let missing = missing.filter(|_| reason == "Not Run");
                self.open = Some(Open {
                    number: line.number,
                    name: result.name.to_owned(),
                    reason: reason.to_owned(),
                    missing,
                    output: std::mem::take(&mut self.printed),
                    further: Block::default(),
                });
            }
            self.printed.clear();
        } else if is_start(text) {
            self.close();
            self.printed.clear();
        } else if let Some(counts) = total(text) {
            self.close();
            self.spoke = true;
            self.counts = Some(counts);
        } else if self.counts.is_some() && text.starts_with("The following tests ") {
            self.listed = text.ends_with("FAILED:");
        } else if self.listed && text.starts_with('\t') {
            self.list(text, line.number);
        } else if text == "No tests were found!!!" || text == "No test configuration file found!" {
            self.spoke = true;
            self.findings.push(line.number, Finding::new(FindingKind::CouldNotRun, text));
        } else if self.open.is_none() && text.starts_with("Could not find executable ") {
            self.missing = Some(text.to_owned());
        } else if let Some(own) = numbered(text) {
            self.printed.push(own);
        } else if let Some(open) = &mut self.open {
            if open.output.has_room() {
                open.output.push(text);
            } else if failed_at(text).is_some() {
                open.further.push(text);
            }
        } else if self.listed {
            self.listed = false;
        }
        let is_open = self.open.is_some() || self.listed;
        if is_open { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "ctest",
            counts: self.counts,
            names: std::mem::take(&mut self.names),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Ctest {
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let Open { number, name, reason, missing, mut output, mut further } = open;
        let output = output.take() + &further.take();
        let kind = match reason.as_str() {
            "Timeout" => FindingKind::Timeout,
            "Not Run" | "Bad Command" => FindingKind::CouldNotRun,
            _ if reason.contains("Exception") || reason.contains("abort") => FindingKind::Crash,
            _ => FindingKind::Test,
        };
        let failures = failures(&output);
        let message = match failures.as_str() {
            "" if reason == "Failed" => printed(&output).unwrap_or(reason),
            "" => missing.unwrap_or(reason),
            found => found.to_owned(),
        };
        // Of a few lines the first is what it is about.
        let bare = place::prefix(&message).filter(|_| failures.is_empty());
        let place = output.lines().find_map(failed_at).or(bare);
        let mut finding =
            Finding::new(kind, message.as_str()).named(name).with_excerpt(output.as_str());
        if let Some(place) = place {
            finding = finding.at(place::tidy(place.file), place.line, place.column);
        }
        self.findings.push(number, finding);
    }

    /// `5 - missing (Not Run)`: what was not shown above.
    fn list(&mut self, text: &str, number: u64) {
        let Some((_, rest)) = text.trim().split_once(" - ") else { return };
        let Some((name, reason)) = rest.split_once(" (") else { return };
        let known = |f: &Finding| f.name.as_deref() == Some(name.trim());
        if !self.findings.kept().any(known) {
            let reason = reason.split(')').next().unwrap_or(reason);
            if reason == "Disabled" {
                return;
            }
            let finding = Finding::new(FindingKind::Test, reason).named(name.trim());
            self.findings.push(number, finding);
        }
    }
}

struct TestLine<'a> {
    name: &'a str,
    failed: Option<&'a str>,
}

/// `3/7 Test #3: name ......***Failed    0.00 sec`.
fn result(text: &str) -> Option<TestLine<'_>> {
    let rest = text.trim_start();
    let (_, rest) = text::number(rest)?;
    let (_, rest) = text::number(rest.strip_prefix('/')?)?;
    let rest = rest.trim_start().strip_prefix("Test")?.trim_start().strip_prefix('#')?;
    let (_, rest) = text::number(rest)?;
    let rest = rest.strip_prefix(": ")?;
    // A reason may have lines of its own, and the time comes behind it.
    if !rest.contains(" sec") && !rest.contains("***Failed  ") {
        return None;
    }
    let (name, after) = rest.split_once(" .").or_else(|| rest.split_once("   "))?;
    let after = after.trim_start_matches('.').trim();
    if after.starts_with("Passed") {
        return Some(TestLine { name: name.trim(), failed: None });
    }
    let reason = after.split("  ").next().unwrap_or(after);
    let reason = reason.replace("***", " ");
    let known = ["Failed", "Timeout", "Not Run", "Exception", "Skipped", "Bad Command", "aborted"];
    let word = known.iter().find(|word| reason.contains(*word))?;
    let shown = after.trim_start_matches('*').split("  ").next().unwrap_or(word).trim();
    // What is switched off did not fail.
    let is_off = *word == "Skipped" || shown.contains("(Disabled)");
    let why = after.split_once("Failed  ").map(|(_, why)| why.trim());
    let why = why.filter(|why| why.starts_with("Required ") || why.starts_with("Error "));
    let failed = (!is_off).then(|| why.unwrap_or(shown).trim_end_matches(':'));
    Some(TestLine { name: name.trim(), failed })
}

fn is_start(text: &str) -> bool {
    let rest = text.trim_start().strip_prefix("Start").map(str::trim_start);
    rest.and_then(text::number).is_some_and(|(_, rest)| rest.starts_with(": "))
}

/// The line behind `3: `, as the verbose form prints it.
fn numbered(text: &str) -> Option<&str> {
    let (_, rest) = text::number(text)?;
    rest.strip_prefix(": ").or_else(|| (rest == ":").then_some(""))
}

/// `29% tests passed, 5 tests failed out of 7`.
fn total(text: &str) -> Option<Counts> {
    let (_, rest) = text::number(text)?;
    let rest = rest.strip_prefix("% tests passed, ")?;
    let (failed, rest) = text::number(rest)?;
    let (_, all) = rest.split_once(" out of ")?;
    let (all, _) = text::number(all)?;
    Some(Counts { passed: all.saturating_sub(failed), failed, ..Counts::default() })
}

/// So many lines are a message.
const PRINTED_MAX: usize = 5;

/// All that a test printed, where that is little.
fn printed(output: &str) -> Option<String> {
    let said = text::trim_lines(output);
    let is_little = !said.is_empty() && said.lines().count() <= PRINTED_MAX;
    is_little.then(|| said.trim().to_owned())
}

/// What the test itself said of its failures: the lines where they stand, and what follows.
fn failures(output: &str) -> String {
    let mut kept = Vec::new();
    let mut following = 0_usize;
    for line in output.lines() {
        if let Some(place) = failed_at(line) {
            let said = place.rest.split_once("FAIL: ").map_or(line, |(_, said)| said);
            let is_said = said != line || !place.rest.ends_with("Failure");
            following = if is_said { 0 } else { 4 };
            if is_said {
                kept.push(said.trim());
            }
        } else if line == "unknown file: Failure" {
            following = 4;
        } else if following > 0 && !line.starts_with('[') {
            following -= 1;
            kept.push(line.trim_end());
        } else {
            following = 0;
        }
    }
    kept.truncate(20);
    text::trim_lines(&kept.join("\n")).to_owned()
}

/// The place of a line that reports a failure in the words of a test framework.
fn failed_at(line: &str) -> Option<place::Place<'_>> {
    // `unit: /repo/unit.c:7: main: Assertion `n == 3' failed.`
    let asserted = || {
        let (program, rest) = line.split_once(": ")?;
        let is_one = !program.contains(' ') && rest.contains(": Assertion `");
        place::prefix(rest).filter(|_| is_one)
    };
    if let Some(place) = asserted() {
        return Some(place);
    }
    let place = place::prefix(line)?;
    let rest = place.rest;
    let is_failure = rest == "Failure"
        || rest.starts_with("FAILED:")
        || rest.contains(":FAIL: ")
        || rest.starts_with("FAIL: ")
        || rest.starts_with("error: ")
        || rest.starts_with("Assertion ");
    is_failure.then_some(place)
}

#[cfg(test)]
mod tests {
    use super::result;

    #[test]
    fn outcomes_are_read_in_all_their_words() {
        let table = [
            ("1/7 Test #1: a.b .....................***Failed    0.00 sec", "a.b", Some("Failed")),
            (" 2/7 Test  #2: c ....................   Passed    0.01 sec", "c", None),
            (
                "6/7 Test #6: d ....Subprocess aborted***Exception:   0.00 sec",
                "d",
                Some("Subprocess aborted***Exception"),
            ),
            (
                "14/19 Test #14: e .......***Exception: SegFault  0.00 sec",
                "e",
                Some("Exception: SegFault"),
            ),
            (
                "4/7 Test #4: f ...........................***Timeout   1.00 sec",
                "f",
                Some("Timeout"),
            ),
            (
                "5/7 Test #5: g ..........................***Not Run   0.00 sec",
                "g",
                Some("Not Run"),
            ),
            (
                "5/7 Test #5: i .......***Failed  Required regular expression not found. Regex=[a",
                "i",
                Some("Required regular expression not found. Regex=[a"),
            ),
            ("5/7 Test #5: h ..........................***Skipped   0.00 sec", "h", None),
        ];
        for (text, name, failed) in table {
            let outcome = result(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((outcome.name, outcome.failed), (name, failed), "{text}");
        }
    }
}
