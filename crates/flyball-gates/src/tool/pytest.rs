//! pytest: failure sections, the short summary and the last line.

mod section;

use crate::{Counts, Finding, FindingKind};

use self::section::Section;
use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Findings, Report};
use crate::text;

/// How many one-line tracebacks (`--tb=line`) are remembered for the summary to name.
const LINES_MAX: usize = 400;

/// Reads `____ test_x ____` sections and `FAILED path::test_x - why` lines.
#[derive(Default)]
pub(super) struct Pytest {
    counts: Option<Counts>,
    spoke: bool,
    section: Option<Section>,
    /// Findings of sections, by the name in the heading.
    sections: Vec<(u64, String, Finding)>,
    sections_left_out: u64,
    /// `path:line: message` lines outside sections.
    lines: Vec<(String, u32, String)>,
    /// Node ids already summed up.
    findings: Findings,
}

impl Recogniser for Pytest {
    fn name(&self) -> &'static str {
        "pytest"
    }

    fn cues(&self) -> Cues {
        Cues { first: b"=_FEpI!0123456789n", place: false, also: None }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if text.starts_with("__")
            && let Some(title) = text::in_rule(text, '_')
        {
            self.close();
            self.section = Some(Section::new(title, line.number));
        } else if text.starts_with("=====") || is_last(text) {
            self.close();
            self.rule(text);
        } else if text.starts_with("FAILED ") || text.starts_with("ERROR ") {
            self.close();
            self.summary(text, line.number);
        } else if let Some(section) = &mut self.section {
            section.line(text);
        } else {
            self.outside(line);
        }
        if self.section.is_some() || self.spoke { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        if !self.spoke {
            return None;
        }
        // Sections that no summary line has named.
        for (number, _, finding) in std::mem::take(&mut self.sections) {
            self.findings.push(number, finding);
        }
        self.findings.leave_out(self.sections_left_out);
        Some(Report {
            tool: "pytest",
            counts: self.counts,
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Pytest {
    fn close(&mut self) {
        let Some(section) = self.section.take() else { return };
        let (number, title) = (section.number, section.title.clone());
        let Some(finding) = section.into_finding() else { return };
        if self.sections.len() < LINES_MAX {
            self.sections.push((number, title, finding));
        } else {
            self.sections_left_out = self.sections_left_out.saturating_add(1);
        }
    }

    fn rule(&mut self, text: &str) {
        let title = text::in_rule(text, '=').unwrap_or_else(|| text.trim());
        if title == "test session starts" || title == "short test summary info" {
            self.spoke = true;
        }
        if let Some(counts) = counts(title) {
            self.spoke = true;
            self.counts = Some(counts);
        }
    }

    fn outside(&mut self, line: &Line<'_>) {
        if let Some(rest) = line.text.strip_prefix("pytest: error: ") {
            self.spoke = true;
            self.findings.push(line.number, Finding::new(FindingKind::Crash, rest));
        } else if let Some(rest) = line.text.strip_prefix("INTERNALERROR> ") {
            if !rest.starts_with(' ') && !rest.starts_with("Traceback") {
                self.spoke = true;
                self.findings.push(line.number, Finding::new(FindingKind::Crash, rest));
            }
        } else if let Some(place) = line.place
            && self.spoke
            && self.lines.len() < LINES_MAX
            && !place.rest.is_empty()
        {
            let message = text::clip(place.rest, 2_000).to_owned();
            self.lines.push((place.file.to_owned(), place.line, message));
        }
    }

    /// `FAILED path::Class::test[x] - why` or `ERROR path - why`.
    fn summary(&mut self, text: &str, number: u64) {
        let Some((word, rest)) = text.split_once(' ') else { return };
        let (node, why) = match rest.split_once(" - ") {
            Some((node, why)) => (node, why.trim()),
            None => (rest.trim(), ""),
        };
        let (file, test) = match node.split_once("::") {
            Some((file, test)) => (file, Some(test)),
            None => (node, None),
        };
        if file.contains(' ') || !file.contains('.') {
            return;
        }
        self.spoke = true;
        let title = match test {
            Some(test) => test.replace("::", "."),
            None => file.to_owned(),
        };
        if let Some(at) = self.sections.iter().position(|(_, name, _)| *name == title) {
            let (number, _, mut finding) = self.sections.remove(at);
            finding.name = test.map(|_| node.to_owned());
            finding.file.get_or_insert_with(|| file.to_owned());
            self.findings.push(number, finding);
            return;
        }
        let kind = if word == "ERROR" && test.is_none() { FindingKind::Compile } else { kind(why) };
        let message = if why.is_empty() { "test failed" } else { why };
        let mut finding = Finding::new(kind, message).at(file, None, None);
        finding.name = test.map(|_| node.to_owned());
        let finding = self.with_line(finding);
        self.findings.push(number, finding);
    }

    /// The place of a one-line traceback with the same words.
    fn with_line(&mut self, mut finding: Finding) -> Finding {
        let start = finding.message.trim_end_matches("...").to_owned();
        let same = |(_, _, message): &(String, u32, String)| {
            !start.is_empty() && message.starts_with(start.as_str())
        };
        if let Some(at) = self.lines.iter().position(same) {
            let (file, line, message) = self.lines.remove(at);
            finding.message = message;
            return finding.at(file, line, None);
        }
        finding
    }
}

/// The kind of a failure, by its words.
fn kind(message: &str) -> FindingKind {
    if message.starts_with("Failed: Timeout ") { FindingKind::Timeout } else { FindingKind::Test }
}

/// Whether this is the last line of `-q`: `1 failed, 2 passed in 0.03s`.
fn is_last(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || first == 'n')
        && text.ends_with(['s', ')'])
        && counts(text).is_some()
}

/// The numbers of the last line.
fn counts(title: &str) -> Option<Counts> {
    let (list, time) = title.rsplit_once(" in ")?;
    let is_time = text::number(time).is_some_and(|(_, rest)| rest.starts_with('.') || rest == "s");
    if !is_time {
        return None;
    }
    let mut counts = Counts::default();
    let mut known = list.trim() == "no tests ran";
    for (count, word) in text::tally(list) {
        let slot = match word {
            "passed" | "xpassed" => &mut counts.passed,
            "failed" | "error" | "errors" => &mut counts.failed,
            "skipped" | "xfailed" => &mut counts.skipped,
            "deselected" | "warning" | "warnings" | "rerun" | "subtests passed" => {
                known = true;
                continue;
            }
            _ => return None,
        };
        *slot = slot.saturating_add(count);
        known = true;
    }
    known.then_some(counts)
}

/// Whether a file belongs to an installed library and not to the project.
fn is_library(file: &str) -> bool {
    file.contains("site-packages/")
        || file.contains("/lib/python")
        || file.starts_with("<frozen")
        || file.contains("dist-packages/")
}

/// The file and line of `path:3: …` unless it is a library's.
fn own_place(text: &str) -> Option<(String, u32, &str)> {
    let place = place::prefix(text)?;
    (!is_library(place.file) && place.column.is_none())
        .then(|| (place.file.to_owned(), place.line, place.rest))
}
