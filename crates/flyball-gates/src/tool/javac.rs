//! javac: `Main.java:6: error: text`, the source line, and a caret below it.

use crate::{Finding, FindingKind};

use crate::recogniser::{Attention, Cues, Line, Places, Recogniser};
use crate::report::{Block, Findings, Report};

/// Reads errors and warnings with the column from the caret.
#[derive(Clone, Default)]
pub(super) struct Javac {
    spoke: bool,
    open: Option<Open>,
    findings: Findings,
    warnings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    is_warning: bool,
    finding: Finding,
    excerpt: Block,
}

impl Recogniser for Javac {
    fn name(&self) -> &'static str {
        "javac"
    }

    fn cues(&self) -> Cues {
        let starts = &["error: warnings found"];
        Cues { first: b":", starts, places: Places::Of(&["java"]), ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if line.text == "error: warnings found and -Werror specified" {
            // Then they are what is wrong, whatever others find.
            self.close();
            self.findings.absorb(std::mem::take(&mut self.warnings));
        }
        // Gradle prints the task and no line end before the first error.
        let glued = line.text.strip_prefix(':').and_then(|rest| rest.find('/'));
        let place = match glued {
            Some(at) => line.text.get(at + 1..).and_then(crate::place::prefix),
            None => line.place,
        };
        if let Some(place) = place
            && place.has_extension(&["java"])
        {
            self.close();
            let (is_warning, message) = if let Some(text) = place.rest.strip_prefix("error: ") {
                (false, text)
            } else if let Some(text) = place.rest.strip_prefix("warning: ") {
                (true, text)
            } else {
                return Attention::Idle;
            };
            self.spoke = true;
            let (name, message) = lint(message);
            let mut finding = Finding::new(FindingKind::Compile, message);
            finding.name = name.map(str::to_owned);
            finding = finding.at(place.file, place.line, place.column);
            let mut excerpt = Block::default();
            excerpt.push(line.text);
            self.open = Some(Open { number: line.number, is_warning, finding, excerpt });
        } else if let Some(open) = &mut self.open
            && !open.line(line.text)
        {
            self.close();
        }
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "javac",
            findings: std::mem::take(&mut self.findings),
            warnings: std::mem::take(&mut self.warnings),
            ..Report::default()
        })
    }
}

impl Javac {
    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let finding = open.finding.with_excerpt(open.excerpt.take());
        if open.is_warning {
            self.warnings.push(open.number, finding);
        } else {
            self.findings.push(open.number, finding);
        }
    }
}

impl Open {
    /// Takes a line; false when the diagnostic has ended.
    fn line(&mut self, text: &str) -> bool {
        let trimmed = text.trim();
        if trimmed == "^" && self.finding.column.is_none() {
            let column = text.len() - text.trim_start().len() + 1;
            self.finding.column = u32::try_from(column).ok();
        } else if self.finding.column.is_some() {
            if !text.starts_with("  ") {
                return false;
            }
            let says_what = trimmed.starts_with("symbol:") || trimmed.starts_with("location:");
            if says_what && self.finding.message.len() < 1_000 {
                self.finding.message = format!("{}\n{}", self.finding.message, text.trim_end());
            }
        } else if self.excerpt.as_str().lines().count() > 4 {
            return false;
        }
        self.excerpt.push(text);
        true
    }
}

/// Rule and message of `[rawtypes] text`.
fn lint(message: &str) -> (Option<&str>, &str) {
    match message.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((rule, text)) => (Some(rule), text),
        None => (None, message),
    }
}
