//! Output nobody understands: the places it mentions.

use std::collections::HashSet;

use flyball_core::gate::{Finding, FindingKind};

use super::merge::MENTIONS;
use super::place;
use super::recogniser::{Attention, Cues, Line, Recogniser};
use super::report::{Findings, Report};

/// How many mentions are kept.
const MENTIONS_MAX: usize = 50;

/// Collects lines that mention `path:line`, one per place.
#[derive(Default)]
pub(super) struct Generic {
    seen: HashSet<(String, u32)>,
    findings: Findings,
}

impl Recogniser for Generic {
    fn name(&self) -> &'static str {
        MENTIONS
    }

    fn cues(&self) -> Cues {
        // Any letter, digit, path mark or opening bracket.
        let first =
            b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./[(<'\"`!*-#>~_@";
        Cues { first, place: false }
    }

    fn line(&mut self, line: Line<'_>) -> Attention {
        if self.seen.len() >= MENTIONS_MAX || !has_number_after_colon(line.text) {
            return Attention::Idle;
        }
        if let Some(place) = place::mention(line.text) {
            let file = place::tidy(place.file);
            if self.seen.insert((file.to_owned(), place.line)) {
                let finding = Finding::new(FindingKind::Other, line.text.trim());
                self.findings.push(line.number, finding.at(file, place.line, place.column));
            }
        }
        Attention::Idle
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        (!findings.is_empty()).then(|| Report { tool: MENTIONS, findings, ..Report::default() })
    }
}

/// A cheap look before the thorough one.
fn has_number_after_colon(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b':', bytes).any(|at| bytes.get(at + 1).is_some_and(u8::is_ascii_digit))
}
