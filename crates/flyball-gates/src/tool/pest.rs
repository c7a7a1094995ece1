//! Pest, and Laravel's printer for `PHPUnit`: `FAILED  Class > title` with the reason below.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads the failures below the list of tests, and `Tests:    1 failed, 2 passed (3 assertions)`.
#[derive(Clone, Default)]
pub(super) struct Pest {
    spoke: bool,
    counts: Option<Counts>,
    open: Option<Open>,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    name: String,
    place: Option<(String, u32)>,
    message: Block,
}

impl Recogniser for Pest {
    fn name(&self) -> &'static str {
        "pest"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["FAILED", "Test"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some(name) = title(text) {
            self.close();
            let name = name.to_owned();
            self.open =
                Some(Open { number: line.number, name, place: None, message: Block::default() });
        } else if let Some(counts) = total(text) {
            self.close();
            self.spoke = true;
            self.counts = Some(counts);
        } else if let Some(open) = &mut self.open {
            open.line(text);
        }
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "pest",
            counts: self.counts,
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Pest {
    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let message = open.message.take();
        let message = text::trim_lines(&message);
        let finding = Finding::new(FindingKind::Test, message).named(open.name);
        let finding = finding.with_excerpt(message);
        let finding = match open.place {
            Some((file, line)) => finding.at(file, line, None),
            None => finding,
        };
        self.findings.push(open.number, finding);
    }
}

impl Open {
    fn line(&mut self, text: &str) {
        let own = text::dedent(text, 2);
        let at = own.strip_prefix("at ").and_then(place::prefix);
        if let Some(at) = at.filter(|_| self.place.is_none()) {
            self.place = Some((place::tidy(at.file).to_owned(), at.line));
        } else if self.place.is_none() && !text::is_rule(own, '─', 9) {
            self.message.push(own);
        }
    }
}

/// The name in `   FAILED  Tests\Unit\CartTest > adds two prices   TypeError`.
fn title(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("   FAILED  ")?;
    // Far to the right may stand the class of the exception.
    let name = rest.trim_end().split("   ").next().unwrap_or(rest);
    name.contains(" > ").then(|| name.trim_end())
}

fn total(text: &str) -> Option<Counts> {
    let list = text.trim_start().strip_prefix("Tests:  ")?.trim_start();
    let (list, _) = list.split_once(" (").filter(|(_, rest)| rest.contains(" assertion"))?;
    let mut counts = Counts::default();
    for (count, word) in text::tally(list) {
        match word {
            "passed" => counts.passed = count,
            "failed" => counts.failed = count,
            "skipped" | "todos" | "todo" | "incomplete" => {
                counts.skipped = counts.skipped.saturating_add(count);
            }
            _ => {}
        }
    }
    Some(counts)
}
