//! perl's `prove`: it swallows the TAP and shows the diagnostics and a summary.

use crate::{Counts, Finding, FindingKind};

use super::tap_diagnostics;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::text;

/// Reads `#   Failed test 'x'` with its lines, and `Files=2, Tests=7`.
#[derive(Clone, Default)]
pub(super) struct Prove {
    total: Option<u64>,
    in_summary: bool,
    failed: u64,
    skipped: u64,
    /// A subtest has just failed: the next failure at the margin is its parent.
    parent_next: bool,
    /// A file in the summary none of whose tests failed, and what was wrong with it.
    ended: Option<Ended>,
    open: Option<(u64, Finding, Block)>,
    findings: Findings,
}

/// A file that ended badly though none of its tests failed.
#[derive(Clone)]
struct Ended {
    number: u64,
    file: String,
    why: String,
    /// Whether it ran any test.
    ran: bool,
}

impl Recogniser for Prove {
    fn name(&self) -> &'static str {
        "prove"
    }

    fn cues(&self) -> Cues {
        Cues { first: b"#", starts: &["File", "(les", "Test"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let trimmed = line.text.trim_start();
        if let Some(comment) = trimmed.strip_prefix('#') {
            self.comment(comment, line);
        } else {
            self.close();
            self.summary(line.text, line.number);
        }
        let busy = self.open.is_some() || self.in_summary;
        if busy { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.close_file();
        let total = self.total?;
        let passed = total.saturating_sub(self.failed).saturating_sub(self.skipped);
        Some(Report {
            tool: "prove",
            counts: Some(Counts { passed, failed: self.failed, skipped: self.skipped }),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

/// The name without its quotes; it may have some of its own.
fn unquoted(name: &str) -> &str {
    name.strip_prefix('\'').and_then(|name| name.strip_suffix('\'')).unwrap_or(name)
}

impl Prove {
    fn summary(&mut self, text: &str, number: u64) {
        if text == "Test Summary Report" {
            self.in_summary = true;
        } else if text.starts_with("Files=") {
            self.close_file();
            self.in_summary = false;
            let tests = text.split_once(", Tests=").and_then(|(_, tests)| text::number(tests));
            self.total = tests.map(|(tests, _)| tests);
        } else if let Some(skipped) = text.trim_start().strip_prefix("(less ") {
            self.skipped += text::number(skipped).map_or(0, |(skipped, _)| skipped);
        } else if self.in_summary
            && text.contains(" (Wstat: ")
            && let Some((_, failed)) = text.split_once(" Failed: ")
        {
            let failed = text::number(failed).map_or(0, |(failed, _)| failed);
            self.failed += failed;
            self.close_file();
            let file = text.split(" (Wstat: ").next().unwrap_or(text).trim_end();
            let ran = !text.contains(" Tests: 0 ");
            self.ended = (failed == 0).then(|| Ended {
                number,
                file: file.to_owned(),
                why: String::new(),
                ran,
            });
        } else if let Some(Ended { why, .. }) = self.ended.as_mut().filter(|_| self.in_summary) {
            let own = text.trim();
            if own.starts_with("Non-zero ") || own.starts_with("Parse errors: ") {
                let joint = if why.is_empty() { "" } else { ", " };
                why.push_str(joint);
                why.push_str(text::clip(own, 300));
            }
        }
    }

    /// A file that ended badly though none of its tests failed: it died, or ran too few of them.
    fn close_file(&mut self) {
        let Some(Ended { number, file, why, ran }) = self.ended.take() else { return };
        if !why.is_empty() {
            let kind = if ran { FindingKind::Test } else { FindingKind::CouldNotRun };
            let finding = Finding::new(kind, why).named(&file).at(file, None, None);
            self.findings.push(number, finding);
        }
    }

    fn comment(&mut self, comment: &str, line: &Line<'_>) {
        let words = comment.trim();
        if let Some(name) = words.strip_prefix("Failed test") {
            self.close();
            let inner = text::indent(line.text) > 0;
            if !inner && std::mem::take(&mut self.parent_next) {
                return;
            }
            let (name, place) = match tap_diagnostics::perl_place(name.trim()) {
                Some((file, at, _)) => ("", Some((file, at))),
                None => (unquoted(name.trim()), None),
            };
            let finding = Finding::new(FindingKind::Test, words);
            let mut finding = if name.is_empty() { finding } else { finding.named(name) };
            (finding.file, finding.line) = place.unzip();
            self.open = Some((line.number, finding, Block::default()));
        } else if words.starts_with("Looks like you failed") {
            self.close();
            self.parent_next = text::indent(line.text) > 0;
        } else if let Some((_, finding, block)) = &mut self.open {
            if let Some((file, at, _)) = tap_diagnostics::perl_place(words) {
                finding.file = Some(file);
                finding.line = Some(at);
            } else {
                block.push(comment.trim_end());
            }
        }
    }

    fn close(&mut self) {
        let Some((number, mut finding, mut block)) = self.open.take() else { return };
        let text = block.take();
        let depth = text.lines().filter(|l| !l.trim().is_empty()).map(text::indent).min();
        let kept: Vec<&str> = text.lines().map(|l| text::dedent(l, depth.unwrap_or(0))).collect();
        let message = kept.join("\n");
        if !message.trim().is_empty() {
            finding.message = message;
        }
        self.findings.push(number, finding);
    }
}
