//! Scala through sbt: `ScalaTest`, `MUnit`, and the compiler's `[error]` lines.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads `[info] - adds two prices *** FAILED ***` below its suite, with or without `[info]`.
#[derive(Clone, Default)]
pub(super) struct Scalatest {
    spoke: bool,
    counts: Option<Counts>,
    suite: String,
    open: Option<Open>,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    indent: usize,
    finding: Finding,
    text: Block,
}

impl Recogniser for Scalatest {
    fn name(&self) -> &'static str {
        "scalatest"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["[inf", "[err", "[war", "- ", "Test", "==> "], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let (level, own) = level(line.text);
        if let Some(title) = failed(own) {
            self.close();
            let name = if self.suite.is_empty() {
                title.to_owned()
            } else {
                format!("{} {title}", self.suite)
            };
            let finding = Finding::new(FindingKind::Test, "").named(name);
            let (indent, text) = (text::indent(own), Block::default());
            self.open = Some(Open { number: line.number, indent, finding, text });
        } else if let Some((name, reason)) = munit(own) {
            self.close();
            self.spoke = true;
            let mut text = Block::default();
            text.push(reason);
            let finding = Finding::new(FindingKind::Test, "").named(name);
            self.open = Some(Open { number: line.number, indent: 0, finding, text });
        } else if let Some(finding) = compile_error(level, own) {
            self.close();
            self.open =
                Some(Open { number: line.number, indent: 0, finding, text: Block::default() });
        } else if let Some(counts) = total(own) {
            self.close();
            self.spoke = true;
            self.counts = Some(self.counts.unwrap_or_default().and(counts));
        } else if let Some(open) = &mut self.open {
            let is_more = !own.trim().is_empty() && text::indent(own) > open.indent;
            if is_more || (open.finding.kind == FindingKind::Compile && level == "error") {
                open.text.push(own.trim_end());
            } else {
                self.close();
                self.heading(level, own);
            }
        } else {
            self.heading(level, own);
        }
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "scalatest",
            counts: self.counts,
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Scalatest {
    /// `CartSpec:` alone on a line is the suite of the tests below it.
    fn heading(&mut self, level: &str, own: &str) {
        if let Some(suite) = own.strip_suffix(':')
            && level == "info"
            && suite.starts_with(|first: char| first.is_ascii_uppercase())
            && !suite.contains(' ')
        {
            suite.clone_into(&mut self.suite);
        }
    }

    fn close(&mut self) {
        let Some(Open { number, mut finding, mut text, .. }) = self.open.take() else { return };
        let body = text.take();
        let lines: Vec<&str> = text::trim_lines(&body).lines().map(str::trim).collect();
        if finding.kind == FindingKind::Compile {
            self.spoke = true;
            // Below the text come the source and the mark.
            let more: Vec<&str> = lines.into_iter().take_while(|line| is_reason(line)).collect();
            if !more.is_empty() {
                finding.message = format!("{}\n{}", finding.message, more.join("\n"));
            }
            self.findings.push(number, finding.with_excerpt(body));
            return;
        }
        let said: Vec<&str> =
            lines.iter().copied().take_while(|line| !line.starts_with("at ")).take(20).collect();
        finding.message = said.join("\n");
        let is_foreign = |line: &&&str| {
            ["at org.scalatest.", "at scala.", "at java.", "at jdk."]
                .iter()
                .any(|s| line.starts_with(s))
        };
        let own = lines.iter().filter(|line| !is_foreign(line));
        if let Some(at) = own.into_iter().find_map(|line| place::mention(line)) {
            finding = finding.at(place::tidy(at.file), at.line, None);
        }
        self.findings.push(number, finding.with_excerpt(body));
    }
}

/// The level and the rest of `[info] - title`; a line without a level is taken as information.
fn level(text: &str) -> (&str, &str) {
    for level in ["info", "error", "warn"] {
        let rest = text.strip_prefix('[').and_then(|rest| rest.strip_prefix(level));
        if let Some(rest) = rest.and_then(|rest| rest.strip_prefix(']')) {
            return (level, rest.strip_prefix(' ').unwrap_or(rest));
        }
    }
    ("info", text)
}

/// The title of `- adds two prices *** FAILED *** (12 milliseconds)`.
fn failed(own: &str) -> Option<&str> {
    let title = own.trim_start().strip_prefix("- ")?;
    Some(title.split_once(" *** FAILED ***")?.0)
}

/// Name and reason of `==> X shop.CartSuite.adds  0.01s munit.ComparisonFailException: text`.
fn munit(own: &str) -> Option<(&str, &str)> {
    let rest = own.strip_prefix("==> X ")?;
    let (name, rest) = rest.split_once("  ")?;
    Some((name, rest.split_once("s ").map_or(rest, |(_, reason)| reason)))
}

/// `/src/Cart.scala:3:5: type mismatch;`, and `-- [E007] Type Mismatch Error: /src/Cart.scala:3:5 --`.
fn compile_error(level: &str, own: &str) -> Option<Finding> {
    if level != "error" {
        return None;
    }
    if let Some(rest) = own.strip_prefix("-- ") {
        let (title, at) = rest.trim_end_matches('-').trim_end().rsplit_once(": ")?;
        let at = place::prefix(at).filter(|at| at.has_extension(&["scala", "sc"]))?;
        let (code, title) = match title.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            Some((code, title)) => (Some(code), title),
            None => (None, title),
        };
        let mut finding = Finding::new(FindingKind::Compile, title);
        finding.name = code.map(str::to_owned);
        return Some(finding.at(place::tidy(at.file), at.line, at.column));
    }
    let at = place::prefix(own).filter(|at| at.has_extension(&["scala", "sc", "java"]))?;
    let finding = Finding::new(FindingKind::Compile, at.rest);
    Some(finding.at(place::tidy(at.file), at.line, at.column))
}

/// Whether a line below an error still explains it: ` found   : Int`.
fn is_reason(line: &str) -> bool {
    line.starts_with("found ") || line.starts_with("required") || line.starts_with('|')
}

/// `Tests: succeeded 1, failed 1, canceled 0, ignored 0, pending 0`, and sbt's own
/// `Passed: Total 3, Failed 0, Errors 0, Passed 3` when nothing else counts.
fn total(own: &str) -> Option<Counts> {
    let list = own.strip_prefix("Tests: succeeded ")?;
    let mut counts = Counts { passed: text::number(list)?.0, ..Counts::default() };
    for part in list.split(", ").skip(1) {
        let (word, count) = part.split_once(' ')?;
        let count = text::number(count)?.0;
        match word {
            "failed" => counts.failed = count,
            "canceled" | "ignored" | "pending" => {
                counts.skipped = counts.skipped.saturating_add(count);
            }
            _ => {}
        }
    }
    Some(counts)
}
