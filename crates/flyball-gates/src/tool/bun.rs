//! bun test: an error, and below it `(fail) suite > test [0.66ms]`.

use super::js_frame;
use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Names, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads a run that begins with `bun test v…`: what was printed since the last result belongs to
/// the next one.
#[derive(Clone, Default)]
pub(super) struct Bun {
    run: RunStage,
    file: String,
    block: Block,
    /// Inside an error that belongs to no test.
    between: bool,
    /// At the end, where all failures are listed again.
    is_again: bool,
    counts: Counts,
    names: Names,
    findings: Findings,
}

/// How far a run has come.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum RunStage {
    #[default]
    None,
    Begun,
    /// Its totals have come.
    Counted,
}

impl Recogniser for Bun {
    fn name(&self) -> &'static str {
        "bun"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["bun "], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if text.starts_with("bun test v") {
            if self.run == RunStage::None {
                self.run = RunStage::Begun;
            }
            self.is_again = false;
            self.block.clear();
        } else if self.run != RunStage::None {
            self.inside(line);
        }
        if self.run == RunStage::None { Attention::Idle } else { Attention::Busy }
    }

    fn finish(&mut self) -> Option<Report> {
        let is_counted = self.run == RunStage::Counted;
        (is_counted || !self.findings.is_empty()).then(|| Report {
            tool: "bun",
            counts: is_counted.then_some(self.counts),
            names: std::mem::take(&mut self.names),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Bun {
    fn inside(&mut self, line: &Line<'_>) {
        let text = line.text;
        if let Some((word, name)) = outcome(text) {
            if word == "fail" && !self.is_again {
                self.failed(name, line.number);
            }
            if matches!(word, "fail" | "pass") {
                self.names.ran(name);
            }
            self.block.clear();
        } else if let Some(reason) = text.strip_prefix("  ^ ") {
            // It comes below the test that ran out of time.
            let late = self.findings.last().filter(|last| last.message == "failed");
            if let Some(last) = late {
                last.kind = FindingKind::Timeout;
                reason.clone_into(&mut last.message);
            } else {
                self.block.push(text);
            }
        } else if is_list(text) {
            self.is_again = !self.findings.is_empty();
            self.block.clear();
        } else if text == "# Unhandled error between tests" {
            self.between = true;
            self.block.clear();
        } else if self.between && text::is_rule(text, '-', 20) {
            if !self.block.is_blank() {
                self.between = false;
                self.unhandled(line.number);
            }
        } else if self.total(text) || text.starts_with("::") {
            if let Some(file) = text.strip_prefix("::group::").and_then(heading) {
                file.clone_into(&mut self.file);
            }
        } else if let Some(file) = heading(text) {
            file.clone_into(&mut self.file);
            self.block.clear();
        } else if text.starts_with("No tests found!")
            || text.starts_with("The following filters did not match")
        {
            self.findings.push(line.number, Finding::new(FindingKind::CouldNotRun, text));
        } else {
            self.block.push(text);
        }
    }

    fn failed(&mut self, name: &str, number: u64) {
        let text = self.block.take();
        let finding = Finding::new(FindingKind::Test, message(&text)).named(name);
        let finding = self.placed(finding, &text);
        self.findings.push(number, finding);
    }

    fn unhandled(&mut self, number: u64) {
        let text = self.block.take();
        let finding = Finding::new(FindingKind::Compile, message(&text));
        let finding = self.placed(finding, &text);
        self.findings.push(number, finding);
    }

    fn placed(&self, finding: Finding, text: &str) -> Finding {
        let finding = finding.with_excerpt(text);
        match text.lines().find_map(js_frame::own) {
            Some(at) => finding.at(place::tidy(at.file), at.line, at.column),
            None if self.file.is_empty() => finding,
            None => finding.at(self.file.as_str(), None, None),
        }
    }

    /// ` 5 fail`, and `Ran 7 tests across 1 file.`, which is the last of them.
    fn total(&mut self, text: &str) -> bool {
        let Some((count, word)) = text::number(text.trim_start()) else {
            let is_end = text.starts_with("Ran ") && text.contains(" across ");
            if is_end {
                self.run = RunStage::Counted;
            }
            return is_end;
        };
        match word {
            " pass" => self.counts.passed = count,
            " fail" => self.counts.failed = count,
            " skip" | " todo" => self.counts.skipped = self.counts.skipped.saturating_add(count),
            _ => return false,
        }
        true
    }
}

/// Word and name of `(fail) cart > adds two prices [0.66ms]`.
fn outcome(text: &str) -> Option<(&str, &str)> {
    let (word, name) = match text.strip_prefix('(') {
        Some(rest) => rest.split_once(") ")?,
        None => [("✗ ", "fail"), ("✓ ", "pass"), ("» ", "skip"), ("✎ ", "todo")]
            .into_iter()
            .find_map(|(mark, word)| Some((word, text.strip_prefix(mark)?)))?,
    };
    let name = match name.rsplit_once(" [") {
        Some((name, time)) if time.ends_with("ms]") || time.ends_with("s]") => name,
        _ => name,
    };
    matches!(word, "fail" | "pass" | "skip" | "todo").then_some((word, name))
}

/// Whether this heads the list of all failures: `3 tests failed:`.
fn is_list(text: &str) -> bool {
    text::number(text).is_some_and(|(_, rest)| matches!(rest, " tests failed:" | " test failed:"))
}

/// The file of `test/cart.test.js:`.
fn heading(text: &str) -> Option<&str> {
    let file = text.strip_suffix(':')?;
    let name = file.rsplit('/').next()?;
    let is_test = ["test", "spec"].iter().any(|word| name.contains(word)) && name.contains('.');
    (is_test && !file.contains(' ')).then_some(file)
}

/// What is said between the quoted source and the stack.
fn message(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_quoted = |line: &str| text::number(line).is_some_and(|(_, rest)| rest.starts_with(" |"));
    let is_caret = |line: &str| line.trim() == "^";
    let start =
        lines.iter().rposition(|line| is_quoted(line) || is_caret(line)).map_or(0, |at| at + 1);
    let said: Vec<&str> = lines
        .get(start..)
        .unwrap_or_default()
        .iter()
        .copied()
        .skip_while(|line| line.trim().is_empty())
        .take_while(|line| !js_frame::is_frame(line))
        .take(25)
        .collect();
    let said = said.join("\n");
    let said = text::trim_lines(&said);
    let said = said.strip_prefix("error: ").unwrap_or(said);
    if said.is_empty() { "failed".to_owned() } else { said.to_owned() }
}
