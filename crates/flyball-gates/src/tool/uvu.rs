//! uvu: `   FAIL  suite  "test"` with the reason below, and the totals.

use super::js_frame;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads failures; only the totals make it sure that uvu speaks.
#[derive(Clone, Default)]
pub(super) struct Uvu {
    total: Option<u64>,
    counts: Option<Counts>,
    open: Option<(u64, String, Block)>,
    findings: Findings,
}

impl Recogniser for Uvu {
    fn name(&self) -> &'static str {
        "uvu"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["FAIL", "Tota", "Pass"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some(name) = title(line.text) {
            self.close();
            self.open = Some((line.number, name.to_owned(), Block::default()));
        } else if let Some((word, count)) = total(line.text) {
            self.close();
            if word == "Total" {
                self.total = Some(count);
            } else if let Some(all) = self.total {
                let failed = all.saturating_sub(count);
                self.counts = Some(Counts { passed: count, failed, ..Counts::default() });
            }
        } else if let Some((_, _, block)) = &mut self.open {
            block.push(text::dedent(line.text, 4));
        }
        let is_open = self.open.is_some() || (self.total.is_some() && self.counts.is_none());
        if is_open { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let counts = self.counts?;
        let findings = std::mem::take(&mut self.findings);
        Some(Report { tool: "uvu", counts: Some(counts), findings, ..Report::default() })
    }
}

impl Uvu {
    fn close(&mut self) {
        let Some((number, name, mut block)) = self.open.take() else { return };
        let block = block.take();
        let (message, place) = js_frame::of_stack(&block);
        let finding = Finding::new(FindingKind::Test, message).named(name).with_excerpt(&*block);
        let finding = match place {
            Some(at) => finding.at(at.file, at.line, at.column),
            None => finding,
        };
        self.findings.push(number, finding);
    }
}

/// The name in `   FAIL  "adds"` or `   FAIL  suite  "adds"`.
fn title(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("   FAIL  ")?.trim_end();
    let (_, name) = rest.strip_suffix('"')?.split_once('"')?;
    Some(name)
}

/// `  Total:     3`, `  Passed:    1`.
fn total(text: &str) -> Option<(&str, u64)> {
    let (word, count) = text.strip_prefix("  ")?.split_once(":  ")?;
    let is_total = matches!(word, "Total" | "Passed");
    is_total.then(|| Some((word, count.trim().parse().ok()?)))?
}
