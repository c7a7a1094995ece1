//! bandit: `>> Issue: [B110:try_except_pass] text`, and some lines below its location.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{Finding, FindingKind};

/// Reads issues of every severity: each makes the exit code red.
#[derive(Clone, Default)]
pub(super) struct Bandit {
    open: Option<(u64, Finding, Block)>,
    findings: Findings,
}

impl Recogniser for Bandit {
    fn name(&self) -> &'static str {
        "bandit"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &[">> "], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some((rule, message)) = issue(line.text) {
            let finding = Finding::new(FindingKind::Lint, message).named(rule);
            self.open = Some((line.number, finding, Block::default()));
        } else if let Some((number, finding, mut excerpt)) = self.open.take() {
            let own = line.text.trim();
            if let Some(at) = own.strip_prefix("Location: ") {
                let finding = match place::prefix(at) {
                    Some(at) => finding.at(place::tidy(at.file), at.line, at.column),
                    None => finding.at(place::tidy(at), None, None),
                };
                self.findings.push(number, finding.with_excerpt(excerpt.take()));
            } else if line.text.starts_with("   ") {
                excerpt.push(own);
                self.open = Some((number, finding, excerpt));
            }
        }
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        (!findings.is_empty()).then(|| Report { tool: "bandit", findings, ..Report::default() })
    }
}

/// Rule and text of `>> Issue: [B110:try_except_pass] text`.
fn issue(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix(">> Issue: [")?.split_once("] ")
}
