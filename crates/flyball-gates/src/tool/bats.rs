//! bats with its pretty formatter: `✗ title`, and below it where and why.

use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::{Block, Findings, Names, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads failures that name their test file; the other formatters print TAP.
#[derive(Clone, Default)]
pub(super) struct Bats {
    counts: Option<Counts>,
    names: Names,
    open: Option<Open>,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    name: String,
    place: Option<(String, u32)>,
    text: Block,
}

impl Recogniser for Bats {
    fn name(&self) -> &'static str {
        "bats"
    }

    fn cues(&self) -> Cues {
        Cues { also: &[(b"\xe2", Trait::Sign(&['✗', '✓']))], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some(name) = line.text.strip_prefix(" ✗ ") {
            self.close();
            let (name, text) = (name.trim_end().to_owned(), Block::default());
            self.open = Some(Open { number: line.number, name, place: None, text });
        } else if let Some(name) = line.text.strip_prefix(" ✓ ") {
            self.close();
            self.names.ran(name.trim_end());
        } else if let Some(counts) = total(line.text) {
            self.close();
            self.counts = Some(counts);
        } else if let Some(open) = &mut self.open {
            match line.text.strip_prefix("   ") {
                Some(own) if open.place.is_none() => open.place = place(own),
                Some(own) => open.text.push(own.trim_end()),
                None => self.close(),
            }
        }
        // The totals come at the very end.
        if self.open.is_some() || !self.findings.is_empty() {
            Attention::Busy
        } else {
            Attention::Idle
        }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let findings = std::mem::take(&mut self.findings);
        (!findings.is_empty()).then(|| Report {
            tool: "bats",
            counts: self.counts,
            names: std::mem::take(&mut self.names),
            findings,
            ..Report::default()
        })
    }
}

impl Bats {
    fn close(&mut self) {
        let Some(Open { number, name, place, mut text }) = self.open.take() else { return };
        // Without it the mark is somebody else's.
        let Some((file, line)) = place else { return };
        self.names.ran(&name);
        let said = text.take();
        let message = said.trim();
        let finding = Finding::new(FindingKind::Test, message).named(name).with_excerpt(message);
        self.findings.push(number, finding.at(file, line, None));
    }
}

/// The place in `(in test file test/cart.bats, line 5)`.
fn place(own: &str) -> Option<(String, u32)> {
    // What helper functions it was in stands in the lines before.
    let own = own.strip_prefix('(').or_else(|| own.strip_prefix(' '))?;
    let (_, rest) = own.split_once("in test file ")?;
    let (file, line) = rest.rsplit_once(", line ")?;
    Some((file.to_owned(), text::small(line)?.0))
}

/// `5 tests, 3 failures, 1 skipped`.
fn total(text: &str) -> Option<Counts> {
    let (all, rest) = text::number(text)?;
    rest.strip_prefix(" test")?;
    let (mut failed, mut skipped) = (0_u64, 0_u64);
    for (count, word) in text::tally(rest) {
        match word {
            "failure" | "failures" => failed = count,
            "skipped" => skipped = count,
            _ => {}
        }
    }
    Some(Counts { passed: all.saturating_sub(failed).saturating_sub(skipped), failed, skipped })
}
