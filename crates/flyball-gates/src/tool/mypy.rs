//! mypy: `path:10: error: text  [code]`, on one line or wrapped.

use crate::{Finding, FindingKind};

use crate::bytes;
use crate::recogniser::{Attention, Cues, Line, PATHS, Places, Recogniser, Trait};
use crate::report::{Block, Findings, Report};

/// Reads errors; notes and revealed types are not findings.
#[derive(Clone, Default)]
pub(super) struct Mypy {
    spoke: bool,
    open: Option<(u64, Finding, Block)>,
    findings: Findings,
}

impl Recogniser for Mypy {
    fn name(&self) -> &'static str {
        "mypy"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["Succ"],
            places: Places::Of(&["py", "pyi"]),
            also: &[(PATHS, Trait::EndsWith(b')'))],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some(place) = line.place
            && place.has_extension(&["py", "pyi"])
        {
            self.close();
            if let Some(message) = place.rest.strip_prefix("error: ") {
                self.spoke = true;
                if self.findings.is_only_counted() {
                    return Attention::Idle;
                }
                let finding = Finding::new(FindingKind::Type, message);
                let finding = finding.at(place.file, place.line, place.column);
                let mut excerpt = Block::default();
                excerpt.push(line.text);
                self.open = Some((line.number, finding, excerpt));
            }
        } else if let Some((_, finding, excerpt)) = &mut self.open {
            if line.text.starts_with("    ") {
                excerpt.push(line.text);
            } else if code(&finding.message).is_none() && goes_on(excerpt.as_str(), line.text) {
                // `--pretty` wraps long messages.
                if finding.message.len() < 2_000 {
                    finding.message.push(' ');
                    finding.message.push_str(line.text.trim());
                }
                excerpt.push(line.text);
            } else {
                self.close();
            }
        } else if let Some((file, rest)) = line.text.split_once(": error: ")
            && rest.starts_with("Duplicate module named ")
        {
            self.spoke = true;
            let finding = Finding::new(FindingKind::Compile, rest).at(file, None, None);
            self.findings.push(line.number, finding);
        } else if line.text.starts_with("Success: no issues found in ") {
            self.spoke = true;
        }
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        self.open.is_none()
            && self.findings.is_full()
            && is_error(line)
            && self.findings.is_only_counted()
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let findings = std::mem::take(&mut self.findings);
        self.spoke.then(|| Report { tool: "mypy", findings, ..Report::default() })
    }
}

impl Mypy {
    fn close(&mut self) {
        let Some((number, mut finding, mut excerpt)) = self.open.take() else { return };
        if let Some((message, code)) = code(&finding.message) {
            let (message, code) = (message.to_owned(), code.to_owned());
            if matches!(code.as_str(), "syntax" | "import-not-found" | "import") {
                finding.kind = FindingKind::Compile;
            }
            finding.message = message;
            finding = finding.named(code);
        }
        self.findings.push(number, finding.with_excerpt(excerpt.take()));
    }
}

/// Whether the words before, which filled their line, go on with this one.
fn goes_on(before: &str, text: &str) -> bool {
    const FULL: usize = 40;
    let is_full = before.lines().last().is_some_and(|last| last.len() >= FULL);
    let is_total = text.starts_with("Found ") || text.starts_with("Success: ");
    is_full && !is_total && !text.trim().is_empty() && !text.starts_with("===")
}

/// Whether a line is `a.py:3: error: text`.
fn is_error(line: &[u8]) -> bool {
    let place = bytes::place(line).filter(|place| place.file.ends_with(b".py"));
    place.is_some_and(|place| place.rest.starts_with(b"error: "))
}

/// Message and code of `text  [code]`.
fn code(message: &str) -> Option<(&str, &str)> {
    let (text, code) = message.strip_suffix(']')?.rsplit_once('[')?;
    let is_code = code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    (is_code && !code.is_empty()).then(|| (text.trim_end(), code))
}
