//! golangci-lint as text: `main.go:10:2: text (linter)`.

use crate::{Finding, FindingKind};

use crate::recogniser::{Attention, Cues, Line, Places, Recogniser};
use crate::report::{Block, Findings, Report};

/// Reads problems that name their linter at the end.
#[derive(Clone, Default)]
pub(super) struct Golangci {
    open: Option<(u64, Finding, Block)>,
    findings: Findings,
}

impl Recogniser for Golangci {
    fn name(&self) -> &'static str {
        "golangci-lint"
    }

    fn cues(&self) -> Cues {
        Cues { places: Places::Of(&["go"]), ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some(place) = line.place
            && place.has_extension(&["go"])
        {
            self.close();
            if let Some((message, linter)) = linter(place.rest) {
                let kind =
                    if linter == "typecheck" { FindingKind::Compile } else { FindingKind::Lint };
                let finding = Finding::new(kind, message).named(linter);
                let finding = finding.at(place.file, place.line, place.column);
                let mut excerpt = Block::default();
                excerpt.push(line.text);
                self.open = Some((line.number, finding, excerpt));
            }
        } else if let Some((_, _, excerpt)) = &mut self.open {
            if excerpt.as_str().lines().count() < 4 && !line.text.trim().is_empty() {
                excerpt.push(line.text);
            } else {
                self.close();
            }
        }
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let findings = std::mem::take(&mut self.findings);
        let tool = "golangci-lint";
        (!findings.is_empty()).then(|| Report { tool, findings, ..Report::default() })
    }
}

impl Golangci {
    fn close(&mut self) {
        if let Some((number, finding, mut excerpt)) = self.open.take() {
            self.findings.push(number, finding.with_excerpt(excerpt.take()));
        }
    }
}

/// Message and linter of `text (errcheck)`.
fn linter(rest: &str) -> Option<(&str, &str)> {
    let (message, linter) = rest.trim_end().strip_suffix(')')?.rsplit_once(" (")?;
    let is_name = linter.len() > 1
        && linter.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    // The compiler ends its own words with these.
    let is_own = matches!(linter, "overflows" | "truncated" | "untyped");
    (is_name && !is_own).then_some((message, linter))
}
