//! The TypeScript compiler, plain and pretty.

use crate::{Finding, FindingKind};

use crate::recogniser::{Attention, Cues, Line, Places, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{bytes, text};

/// Reads `src/a.ts(3,28): error TS2322: text` and `src/a.ts:3:28 - error TS2322: text`.
#[derive(Clone, Default)]
pub(super) struct Tsc {
    open: Option<(u64, Finding, Block)>,
    findings: Findings,
}

impl Recogniser for Tsc {
    fn name(&self) -> &'static str {
        "tsc"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["erro"], places: Places::Before(b"-e"), ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let head = match line.place {
            Some(place) => error(place.rest.strip_prefix("- ").unwrap_or(place.rest)),
            None => error(line.text),
        };
        if let Some((code, message)) = head {
            self.close();
            if self.findings.is_only_counted() {
                return Attention::Idle;
            }
            let mut finding = Finding::new(kind(code), message).named(code);
            if let Some(place) = line.place {
                finding = finding.at(place.file, place.line, place.column);
            }
            let mut excerpt = Block::default();
            excerpt.push(line.text);
            self.open = Some((line.number, finding, excerpt));
        } else if let Some((_, finding, excerpt)) = &mut self.open {
            let opened = excerpt.as_str().lines().count() == 1 || !finding.message.is_empty();
            let is_more = opened
                && excerpt.as_str().lines().all(|line| !line.trim().is_empty())
                && line.text.starts_with("  ")
                && !line.text.trim().is_empty();
            if is_more {
                // The reasons come indented below the first line.
                if finding.message.len() < 2_000 {
                    finding.message = format!("{}\n{}", finding.message, line.text.trim_end());
                }
                excerpt.push(line.text);
            } else if excerpt.as_str().lines().count() < 8 && is_source(line.text) {
                excerpt.push(line.text);
            } else {
                self.close();
            }
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
        (!findings.is_empty()).then(|| Report { tool: "tsc", findings, ..Report::default() })
    }
}

impl Tsc {
    fn close(&mut self) {
        if let Some((number, finding, mut excerpt)) = self.open.take() {
            self.findings.push(number, finding.with_excerpt(excerpt.take()));
        }
    }
}

/// Whether a line can belong to the quoted source of the pretty form.
fn is_source(text: &str) -> bool {
    text.is_empty()
        || text.starts_with(' ')
        || text::number(text).is_some_and(|(_, rest)| rest.starts_with(' '))
}

/// Whether a line is `src/a.ts(3,28): error TS2322: text`.
fn is_error(line: &[u8]) -> bool {
    let rest = bytes::bracketed_place(line).map(|(_, rest)| rest);
    let rest = rest.and_then(|rest| rest.strip_prefix(b"error TS")).and_then(bytes::after_digits);
    rest.is_some_and(|rest| rest.starts_with(b": "))
}

/// Code and message of `error TS2322: text`.
fn error(text: &str) -> Option<(&str, &str)> {
    let (code, message) = text.strip_prefix("error ")?.split_once(": ")?;
    let digits = code.strip_prefix("TS")?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some((code, message))
}

/// Syntax errors, missing modules and bad settings stop the compilation; the rest is about types.
fn kind(code: &str) -> FindingKind {
    let number = code.strip_prefix("TS").and_then(|digits| digits.parse::<u32>().ok());
    match number {
        Some(1000..=1999 | 2306 | 2307 | 2792 | 5000..=6999 | 18000..=18003) => {
            FindingKind::Compile
        }
        _ => FindingKind::Type,
    }
}
