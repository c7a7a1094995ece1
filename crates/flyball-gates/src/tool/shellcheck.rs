//! shellcheck: `In run.sh line 3:`, the line, and marks with what is wrong.

use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Findings, Report};
use crate::{Finding, FindingKind, text};

/// Reads `     ^---^ SC2086 (info): text`; every level makes the exit code red.
#[derive(Clone, Default)]
pub(super) struct Shellcheck {
    at: Option<(String, u32)>,
    source: Option<String>,
    findings: Findings,
}

impl Recogniser for Shellcheck {
    fn name(&self) -> &'static str {
        "shellcheck"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["In "], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some((file, number)) = heading(line.text) {
            self.at = Some((file.to_owned(), number));
            self.source = None;
        } else if let Some((file, at)) = &self.at {
            if self.source.is_none() {
                self.source = Some(text::clip(line.text, 200).to_owned());
            } else if let Some((column, code, message)) = problem(line.text) {
                let kind = match code.as_bytes().get(2) {
                    // The first thousand is about what cannot be parsed.
                    Some(b'1') => FindingKind::Compile,
                    _ => FindingKind::Lint,
                };
                let finding = Finding::new(kind, message).named(code);
                let excerpt = format!("{}\n{}", self.source.as_deref().unwrap_or(""), line.text);
                let finding = finding.at(file.as_str(), *at, column).with_excerpt(excerpt);
                self.findings.push(line.number, finding);
            } else {
                self.at = None;
            }
        }
        if self.at.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        (!findings.is_empty()).then(|| Report { tool: "shellcheck", findings, ..Report::default() })
    }
}

/// File and line of `In run.sh line 3:`.
fn heading(text: &str) -> Option<(&str, u32)> {
    let (file, line) = text.strip_prefix("In ")?.strip_suffix(':')?.rsplit_once(" line ")?;
    Some((file, line.parse().ok()?))
}

/// Column, code and text of `     ^---^ SC2086 (info): text`.
fn problem(line: &str) -> Option<(Option<u32>, &str, &str)> {
    let marks = text::trim_start(line);
    let rest = marks.strip_prefix('^')?.trim_start_matches(['-', '^']).strip_prefix(' ')?;
    let (head, message) = rest.split_once(": ")?;
    let code = head.split(' ').next()?;
    let digits = code.strip_prefix("SC")?;
    let is_code = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let column = u32::try_from(text::indent(line) + 1).ok();
    is_code.then_some((column, code, message))
}
