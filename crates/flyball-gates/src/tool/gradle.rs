//! Gradle: `Class > test FAILED` blocks, totals, and what went wrong.

use crate::{Counts, Finding, FindingKind};

use super::jvm;
use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::{Block, Findings, Report};
use crate::text;

/// Reads test results, Kotlin compile errors and the reason of a failed build.
#[derive(Clone, Default)]
pub(super) struct Gradle {
    spoke: bool,
    counts: Option<Counts>,
    seen: Option<Counts>,
    open: Option<(u64, String, Block)>,
    /// Lines after `* What went wrong:`.
    reason: Option<(u64, Block)>,
    in_reason: bool,
    findings: Findings,
}

impl Recogniser for Gradle {
    fn name(&self) -> &'static str {
        "gradle"
    }

    fn cues(&self) -> Cues {
        // Any test may be named in the first word of its result.
        const NAMES: &[u8] = b"abcdfghijklmnopqrstuvwxyzACDEFGHIJKLMNOPQRSTUVWXYZ";
        Cues {
            starts: &["* Wh", "e: ", "BUIL", "0 te"],
            also: &[(NAMES, Trait::EndsWith(b'D'))],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some((_, block)) = &mut self.reason
            && self.in_reason
        {
            if text.is_empty() || text.starts_with("* ") {
                self.in_reason = false;
            } else {
                block.push(text);
            }
        } else if let Some((name, word)) = result(text) {
            self.close();
            let seen = self.seen.get_or_insert_default();
            match word {
                "PASSED" => seen.passed += 1,
                "SKIPPED" => seen.skipped += 1,
                _ => {
                    seen.failed += 1;
                    self.open = Some((line.number, name.to_owned(), Block::default()));
                }
            }
        } else if let Some((_, _, block)) = &mut self.open {
            if text.starts_with(' ') {
                block.push(text::dedent(text, 4));
            } else {
                self.close();
            }
        } else {
            self.outside(line);
        }
        if self.open.is_some() || self.in_reason { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        if !self.spoke {
            return None;
        }
        let findings = std::mem::take(&mut self.findings);
        let mut report = Report {
            tool: "gradle",
            counts: self.counts.or(self.seen),
            findings,
            ..Report::default()
        };
        if let Some((number, finding)) = self.why() {
            report.warnings.push(number, finding);
        }
        Some(report)
    }
}

impl Gradle {
    fn outside(&mut self, line: &Line<'_>) {
        let text = line.text;
        if text == "* What went wrong:" {
            self.spoke = true;
            self.in_reason = true;
            self.reason.get_or_insert((line.number, Block::default()));
        } else if text.starts_with("BUILD FAILED") || text.starts_with("BUILD SUCCESSFUL") {
            self.spoke = true;
        } else if let Some((total, rest)) = text::number(text)
            && (rest.starts_with(" tests completed") || rest.starts_with(" test completed"))
        {
            self.total(total, rest);
        } else if let Some(rest) = text.strip_prefix("e: ")
            && let Some(place) = place::prefix(place::tidy(rest))
        {
            self.spoke = true;
            let finding = Finding::new(FindingKind::Compile, place.rest);
            self.findings.push(line.number, finding.at(place.file, place.line, place.column));
        }
    }

    fn total(&mut self, total: u64, rest: &str) {
        let before = self.counts.unwrap_or_default();
        let (mut failed, mut skipped) = (0, 0);
        for (count, word) in text::tally(rest) {
            match word {
                "failed" => failed = count,
                "skipped" => skipped = count,
                _ => {}
            }
        }
        let passed = total.saturating_sub(failed).saturating_sub(skipped);
        self.counts = Some(Counts {
            passed: before.passed.saturating_add(passed),
            failed: before.failed.saturating_add(failed),
            skipped: before.skipped.saturating_add(skipped),
        });
    }

    fn close(&mut self) {
        let Some((number, name, mut block)) = self.open.take() else { return };
        let trace = block.take();
        let class = name.split(" > ").next().unwrap_or_default();
        let mut message = jvm::message(&trace);
        let mut finding = Finding::new(FindingKind::Test, "");
        if let Some(frame) = jvm::own_frame(&trace, class) {
            finding = finding.at(frame.file, frame.line, None);
        } else if let Some((words, at)) = message.clone().rsplit_once(" at ")
            && let Some(place) = place::prefix(at)
        {
            // The short form: `java.lang.AssertionError at CartTest.java:9`.
            words.clone_into(&mut message);
            finding = finding.at(place.file, place.line, None);
        }
        finding.message = message;
        self.findings.push(number, finding.named(name).with_excerpt(trace));
    }

    /// Gradle's own reason; it matters when nothing else was found.
    fn why(&mut self) -> Option<(u64, Finding)> {
        let (number, mut block) = self.reason.take()?;
        Some((number, Finding::new(FindingKind::Other, block.take())))
    }
}

/// Name and word of `shop.CartTest > raises FAILED`.
fn result(text: &str) -> Option<(&str, &str)> {
    if !text.ends_with("ED") {
        return None;
    }
    let (name, word) = text.rsplit_once(' ')?;
    let is_result = matches!(word, "FAILED" | "PASSED" | "SKIPPED")
        && name.contains(" > ")
        && !name.starts_with(' ');
    is_result.then_some((name, word))
}
