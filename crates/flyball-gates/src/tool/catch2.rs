//! Catch2: a title between rules, and its failed assertions.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Places, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads `path.cc:4: FAILED:` below the title of a test case, and the compact form.
#[derive(Clone, Default)]
pub(super) struct Catch2 {
    spoke: bool,
    counts: Option<Counts>,
    /// The lines between two rules of dashes.
    title: Option<Block>,
    case: Option<String>,
    section: String,
    open: Option<Open>,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    place: (String, u32),
    text: Block,
}

impl Recogniser for Catch2 {
    fn name(&self) -> &'static str {
        "catch2"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["----", "====", "test", "All ", "Fail", "No t"],
            places: Places::Before(b"FfP"),
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if text::is_rule(text, '-', 60) {
            self.close();
            match self.title.take() {
                Some(mut title) => self.begin(&title.take()),
                None => self.title = Some(Block::default()),
            }
        } else if text::is_rule(text, '=', 60) {
            self.close();
            (self.title, self.case) = (None, None);
        } else if let Some(title) = &mut self.title {
            title.push(text);
        } else if let Some(place) = line.place
            && let Some(rest) = failed(place.rest)
        {
            self.close();
            let mut text = Block::default();
            if !rest.is_empty() {
                text.push(rest);
            }
            let place = (place::tidy(place.file).to_owned(), place.line);
            self.open = Some(Open { number: line.number, place, text });
            if self.case.is_none() {
                // The compact form: one line each, and no titles.
                self.close();
            }
        } else if let Some(open) = &mut self.open {
            if line.place.is_some_and(|place| place.rest.starts_with("PASSED:")) {
                self.close();
            } else if !is_duration(text) {
                open.text.push(text);
            }
        } else {
            self.total(text, line.number);
        }
        let is_open = self.title.is_some() || self.open.is_some() || self.case.is_some();
        if is_open { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "catch2",
            counts: self.counts,
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Catch2 {
    fn begin(&mut self, title: &str) {
        let lines = || title.lines().filter(|line| !line.trim().is_empty());
        // A long name goes on in the next line; sections are indented.
        let name: Vec<&str> =
            lines().take_while(|line| !line.starts_with(' ')).map(str::trim).collect();
        let sections = lines().skip(name.len()).map(str::trim);
        self.section = sections.collect::<Vec<_>>().join(" > ");
        self.case = (!name.is_empty()).then(|| name.join(" "));
    }

    fn close(&mut self) {
        let Some(Open { number, place, mut text }) = self.open.take() else { return };
        let body = text.take();
        let body = text::trim_lines(&body);
        let mut message: String = body.lines().map(str::trim).collect::<Vec<_>>().join("\n");
        if !self.section.is_empty() {
            message = format!("{message}\nin {}", self.section);
        }
        let finding = Finding::new(FindingKind::Test, message.as_str());
        let finding = finding.at(place.0, place.1, None).with_excerpt(body);
        let Some(case) = &self.case else {
            self.findings.push(number, finding);
            return;
        };
        // One test case fails once, however many of its assertions do.
        let is_same = |earlier: &Finding| earlier.name.as_deref() == Some(case.as_str());
        if let Some(earlier) = self.findings.first(is_same) {
            if earlier.message.len() < 1_500 {
                earlier.message = format!("{}\n\n{message}", earlier.message);
            }
        } else {
            self.findings.push(number, finding.named(case.as_str()));
        }
    }

    fn total(&mut self, text: &str, number: u64) {
        if let Some(rest) = text.strip_prefix("test cases: ") {
            self.spoke = true;
            let mut counts = Counts::default();
            for (count, word) in text::tally(rest) {
                match word.split(' ').next() {
                    Some("passed") => counts.passed = count,
                    Some("failed") => counts.failed = counts.failed.saturating_add(count),
                    Some("skipped") => counts.skipped = count,
                    _ => {}
                }
            }
            self.counts = Some(counts);
        } else if let Some(rest) = text.strip_prefix("All tests passed (")
            && let Some((_, cases)) = rest.split_once(" in ")
            && let Some((passed, _)) = text::number(cases)
        {
            self.spoke = true;
            self.counts = Some(Counts { passed, ..Counts::default() });
        } else if text.starts_with("Failed ") && text.contains(" test case") {
            self.spoke = true;
        } else if text.starts_with("No test cases matched ") {
            self.spoke = true;
            self.findings.push(number, Finding::new(FindingKind::CouldNotRun, text.trim()));
        }
    }
}

/// `0.004 s: adds two prices`.
fn is_duration(text: &str) -> bool {
    let rest = text::number(text).and_then(|(_, rest)| text::number(rest.strip_prefix('.')?));
    rest.is_some_and(|(_, rest)| rest.starts_with(" s: "))
}

/// What follows `FAILED:` in the long form or `failed:` in the compact one.
fn failed(rest: &str) -> Option<&str> {
    match rest {
        "FAILED:" => Some(""),
        _ => rest.strip_prefix("failed: "),
    }
}
