//! Playwright: `  1) tests/a.spec.js:2:1 › title ────`, and the lists at the end.

use super::{jest, js_frame};
use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads the numbered failures of every reporter that prints them.
#[derive(Clone, Default)]
pub(super) struct Playwright {
    spoke: bool,
    counts: Option<Counts>,
    /// The tests listed below are those that passed in the end.
    flaky: bool,
    open: Option<Open>,
    /// A file that could not be parsed, until it is known who says so.
    unread: Option<(u64, String)>,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    name: String,
    place: (String, u32),
    text: Block,
    /// Only the first try is read.
    retried: bool,
}

impl Recogniser for Playwright {
    fn name(&self) -> &'static str {
        "playwright"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &[
                "0) ", "0 pa", "0 fa", "0 fl", "0 sk", "0 in", "0 di", "Runn", "Erro", "Synt",
            ],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some((place, name)) = title(text) {
            self.close();
            self.flaky = false;
            let name = name.to_owned();
            let place = (place::tidy(place.file).to_owned(), place.line);
            let text = Block::default();
            self.open = Some(Open { number: line.number, name, place, text, retried: false });
        } else if self.total(text) {
            self.close();
        } else if let Some(open) = &mut self.open {
            if text.starts_with("    ") || text.is_empty() {
                open.line(text::dedent(text, 4));
            } else {
                self.close();
            }
        } else if self.flaky && text.starts_with("    ") {
            let listed = text.trim();
            let listed = listed.trim_end_matches('─').trim_end();
            self.findings.retain(|f| !f.name.as_deref().is_some_and(|n| listed.ends_with(n)));
        } else if text.starts_with("Running ") && text.contains(" tests using ")
            || text.starts_with("Running 1 test using ")
        {
            self.spoke = true;
        } else if text.starts_with("SyntaxError: ") {
            self.unread = Some((line.number, text.to_owned()));
        } else if text.trim() == "Error: No tests found" {
            self.spoke = true;
            let (number, finding) = match self.unread.take() {
                Some((number, error)) => (number, unread(&error)),
                None => (line.number, Finding::new(FindingKind::CouldNotRun, text.trim())),
            };
            self.findings.push(number, finding);
        }
        let is_open = self.open.is_some() || self.flaky;
        if is_open { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "playwright",
            counts: self.counts,
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Playwright {
    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let text = open.text.take();
        let message: Vec<&str> = text
            .lines()
            .skip_while(|line| line.trim().is_empty())
            .take_while(|line| !is_source(line) && !js_frame::is_frame(line))
            .take_while(|line| !line.starts_with("Error Context:"))
            .take(25)
            .collect();
        let message = message.join("\n");
        let message = text::trim_lines(&message);
        let is_late = message.starts_with("Test timeout of ");
        let kind = if is_late { FindingKind::Timeout } else { FindingKind::Test };
        let mut finding = Finding::new(kind, message).named(open.name).with_excerpt(text.as_str());
        finding = match text.lines().find_map(js_frame::own) {
            Some(at) => finding.at(at.file, at.line, at.column),
            None => finding.at(open.place.0, open.place.1, None),
        };
        self.findings.push(open.number, finding);
    }

    /// `  4 failed`, `  1 passed (2.1s)`: what the list below it is.
    fn total(&mut self, text: &str) -> bool {
        let Some(own) = text.strip_prefix("  ") else { return false };
        let Some((count, rest)) = text::number(own) else { return false };
        let word = rest.trim_start().split(" (").next().unwrap_or("").trim();
        let mut counts = self.counts.unwrap_or_default();
        let slot = match word {
            "passed" | "flaky" => &mut counts.passed,
            "failed" | "interrupted" => &mut counts.failed,
            "skipped" | "did not run" => &mut counts.skipped,
            _ => return false,
        };
        *slot = slot.saturating_add(count);
        self.counts = Some(counts);
        self.flaky = word == "flaky";
        true
    }
}

impl Open {
    fn line(&mut self, text: &str) {
        self.retried |= text.starts_with("Retry #");
        if !self.retried {
            self.text.push(text);
        }
    }
}

/// `SyntaxError: /path/a.spec.js: Unexpected token (1:10)`.
fn unread(error: &str) -> Finding {
    let finding = Finding::new(FindingKind::Compile, error);
    match jest::syntax_place(error) {
        Some((file, line, column)) => finding.at(file, line, column),
        None => finding,
    }
}

/// Place and name of `  1) [chromium] › tests/a.spec.js:2:1 › suite › title ─────`.
fn title(text: &str) -> Option<(place::Place<'_>, &str)> {
    let own = text.strip_prefix("  ")?;
    let (_, rest) = text::number(own.trim_start())?;
    let rest = rest.strip_prefix(") ")?;
    let rest = rest.trim_end_matches(['─', '=']).trim_end();
    let rest = match rest.strip_prefix('[') {
        Some(project) => project.split_once("] › ")?.1,
        None => rest,
    };
    let (at, name) = rest.split_once(" › ")?;
    Some((place::prefix(at)?, name.trim()))
}

/// Whether a line quotes source: `  > 6 |     expect(…)`.
fn is_source(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches("> ").trim_start();
    text::number(line).is_some_and(|(_, rest)| rest.starts_with(" |"))
}
