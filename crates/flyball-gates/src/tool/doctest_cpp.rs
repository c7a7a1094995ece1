//! doctest for C++, as text; and its XML, which Catch2 prints as well.

use super::checkstyle::attribute;
use crate::place;
use crate::recogniser::{Attention, Cues, Line, Places, Recogniser};
use crate::report::{Findings, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads the first failure of each test.
#[derive(Clone, Default)]
pub(super) struct DoctestCpp {
    tool: Option<&'static str>,
    counts: Option<Counts>,
    /// The test that runs, and whether it was told already.
    test: Option<(String, Option<(String, u32)>)>,
    is_told: bool,
    /// Whether an XML document is open.
    in_xml: bool,
    /// Where the failure is whose words come in the next line.
    failed: Option<(Option<String>, Option<u32>)>,
    findings: Findings,
}

impl Recogniser for DoctestCpp {
    fn name(&self) -> &'static str {
        self.tool.unwrap_or("doctest")
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["TEST", "[doc", "<Cat", "<doc"],
            places: Places::Before(b"EF"),
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        let own = text::trim_start(text);
        if self.in_xml {
            self.element(own, line.number);
        } else if own.starts_with("<Catch ") || own.starts_with("<doctest ") {
            self.in_xml = true;
            self.tool = Some(if own.starts_with("<Catch") { "catch2" } else { "doctest" });
        } else if let Some(name) = text.strip_prefix("TEST CASE:  ") {
            self.is_told &= self.test.as_ref().is_some_and(|(known, _)| known == name);
            self.test = Some((name.to_owned(), None));
        } else if let Some(rest) = text.strip_prefix("[doctest] test cases:") {
            self.tool = Some("doctest");
            self.counts = totals(rest);
        } else if let Some(place) = line.place
            && let Some((_, message)) = place.rest.split_once("ERROR: ")
            && self.test.is_some()
        {
            self.push(line.number, message, place.file, Some(place.line));
        }
        if self.in_xml { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        let tool = self.tool?;
        let is_told = self.counts.is_some() || !findings.is_empty();
        is_told.then(|| Report { tool, counts: self.counts, findings, ..Report::default() })
    }
}

impl DoctestCpp {
    fn element(&mut self, own: &str, number: u64) {
        if own.starts_with("</Catch>") || own.starts_with("</doctest>") {
            self.in_xml = false;
        } else if own.starts_with("<TestCase ") {
            let name = attribute(own, "name").unwrap_or_default();
            let line = attribute(own, "line").and_then(|line| line.parse().ok());
            self.test = Some((name, attribute(own, "filename").zip(line)));
            self.is_told = false;
        } else if own.starts_with("<Expression ")
            && attribute(own, "success").as_deref() == Some("false")
            || own.starts_with("<Exception ")
            || own.starts_with("<Failure ")
            || own.starts_with("<FatalErrorCondition ")
        {
            let line = attribute(own, "line").and_then(|line| line.parse().ok());
            self.failed = Some((attribute(own, "filename"), line));
        } else if own.starts_with("<OverallResultsCases ") {
            self.counts = counted(own).or(self.counts);
        } else if own.starts_with("<OverallResultsTestCases ") {
            self.counts = counted(own);
        } else if !own.starts_with('<')
            && let Some((file, line)) = self.failed.take()
        {
            let test = self.test.as_ref().and_then(|(_, place)| place.clone());
            let (file, line) = match (file, test) {
                (Some(file), _) => (file, line),
                (None, Some((file, line))) => (file, Some(line)),
                (None, None) => (String::new(), None),
            };
            self.push(number, &super::checkstyle::decoded(own.trim()), &file, line);
        }
    }

    fn push(&mut self, number: u64, message: &str, file: &str, line: Option<u32>) {
        if std::mem::replace(&mut self.is_told, true) {
            return;
        }
        let name = self.test.as_ref().map(|(name, _)| name.as_str()).unwrap_or_default();
        let mut finding = Finding::new(FindingKind::Test, message).named(name);
        if !file.is_empty() {
            finding = finding.at(place::tidy(file), line, None);
        }
        self.findings.push(number, finding);
    }
}

/// `  3 | 1 passed | 2 failed | 0 skipped`.
fn totals(rest: &str) -> Option<Counts> {
    let mut counts = Counts::default();
    for part in rest.split('|').skip(1) {
        let (count, word) = text::number(part.trim_start())?;
        match word.trim() {
            "passed" => counts.passed = count,
            "failed" => counts.failed = count,
            "skipped" => counts.skipped = count,
            _ => {}
        }
    }
    Some(counts)
}

/// `<OverallResultsCases successes="1" failures="2" …/>`.
fn counted(tag: &str) -> Option<Counts> {
    let of = |key: &str| attribute(tag, key).and_then(|value| value.parse().ok());
    let (passed, failed) = (of("successes")?, of("failures")?);
    Some(Counts { passed, failed, skipped: of("skipped").unwrap_or(0) })
}
