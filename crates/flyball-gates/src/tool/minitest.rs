//! Minitest, alone or in Rails.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Names, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads `  1) Failure:` with `CartTest#test_adds [test/cart_test.rb:4]:` below it.
#[derive(Clone, Default)]
pub(super) struct Minitest {
    spoke: bool,
    counts: Option<Counts>,
    names: Names,
    /// `Failure:` or `Error:` has come, the test follows.
    announced: bool,
    open: Option<Open>,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    name: String,
    place: Option<(String, u32)>,
    /// Whether a rule ends it.
    is_ruled: bool,
    text: Block,
}

impl Open {
    /// Whether all was said: its place is known, or its frames have come. Above them Ruby may quote
    /// the line, with blank lines around it; test-unit ends with a rule.
    fn is_told(&self) -> bool {
        let text = self.text.as_str();
        !self.is_ruled && (self.place.is_some() || text.lines().any(|line| frame(line).is_some()))
    }
}

impl Recogniser for Minitest {
    fn name(&self) -> &'static str {
        "minitest"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["0) F", "0) E", "Fail", "Erro", "0 ru", "0 te"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        let announced = std::mem::take(&mut self.announced);
        if is_announced(text) {
            self.close();
            self.announced = true;
        } else if announced && let Some((name, at)) = title(text) {
            let place = at.map(|(file, line)| (file.to_owned(), line));
            let (name, text) = (name.to_owned(), Block::default());
            self.open = Some(Open { number: line.number, name, place, is_ruled: false, text });
        } else if let Some((name, message)) = unit_title(text) {
            self.close();
            let mut words = Block::default();
            words.push(message);
            let name = name.to_owned();
            let number = line.number;
            self.open = Some(Open { number, name, place: None, is_ruled: true, text: words });
        } else if self.open.is_some() && text::is_rule(text, '=', 60) {
            self.close();
        } else if let Some(counts) = total(text) {
            self.close();
            self.spoke = true;
            self.counts = Some(self.counts.unwrap_or_default().and(counts));
        } else if text.is_empty() && self.open.as_ref().is_none_or(Open::is_told) {
            self.close();
        } else if let Some(open) = &mut self.open {
            open.text.push(text);
        }
        let is_open = self.open.is_some() || self.announced;
        if is_open { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "minitest",
            counts: self.counts,
            names: std::mem::take(&mut self.names),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Minitest {
    fn close(&mut self) {
        let Some(Open { number, name, place, is_ruled, mut text }) = self.open.take() else {
            return;
        };
        let text = text.take();
        let said: Vec<&str> = text
            .lines()
            .take_while(|line| frame(line).is_none() || line.starts_with(|c: char| c != ' '))
            .filter(|line| !(is_context(line) || is_ruled && line.trim().is_empty()))
            .collect();
        let said = said.join("\n");
        let place = place.or_else(|| {
            let own = text.lines().filter_map(frame).find(|(file, _)| !is_foreign(file));
            own.map(|(file, line)| (file.to_owned(), line))
        });
        let finding = Finding::new(FindingKind::Test, text::trim_lines(&said)).named(name);
        let finding = finding.with_excerpt(text.as_str());
        let finding = match place {
            Some((file, line)) => finding.at(file, line, None),
            None => finding,
        };
        // A test that failed may fail once more when it is put away.
        let is_same = self.findings.kept().last().is_some_and(|last| {
            last.name == finding.name && last.message.len() < 2_000 && last.file.is_none()
        });
        if let Some(last) = self.findings.last().filter(|_| is_same) {
            last.message = format!("{}\n{}", last.message, finding.message);
            (last.file, last.line) = (finding.file, finding.line);
        } else {
            self.findings.push(number, finding);
        }
    }
}

/// `  1) Failure:`, or in Rails `Failure:` alone.
fn is_announced(text: &str) -> bool {
    let own = text.trim();
    let own = match text::number(own) {
        Some((_, rest)) => rest.strip_prefix(") ").unwrap_or(""),
        None => own,
    };
    matches!(own, "Failure:" | "Error:")
}

/// Test and place of `CartTest#test_adds [test/cart_test.rb:4]:`.
fn title(text: &str) -> Option<(&str, Option<(&str, u32)>)> {
    let own = text.strip_suffix(':').unwrap_or(text);
    let (name, at) = match own.split_once(" [") {
        Some((name, at)) => (name, at.strip_suffix(']')),
        None => (own, None),
    };
    let at = at.and_then(|at| at.rsplit_once(':'));
    let at = at.and_then(|(file, line)| Some((place::tidy(file), line.parse().ok()?)));
    (name.contains('#') && !name.contains(' ') || name.contains("#test_")).then_some((name, at))
}

/// Test and message of test-unit's `Error: test_x(CartTest): RuntimeError: no`, and
/// `Failure: test_x(CartTest)`.
fn unit_title(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("Failure: ").or_else(|| text.strip_prefix("Error: "))?;
    let (name, rest) = rest.split_once('(')?;
    let (class, message) = rest.split_once(')')?;
    let is_titled = name.starts_with("test: ");
    let is_own = (!name.contains(' ') || is_titled) && !class.contains(' ');
    let is_own = is_own && name.starts_with("test");
    let message = message.strip_prefix(": ").unwrap_or(message);
    is_own.then_some((name, message))
}

/// What test-unit quotes: `  => 4:     assert_equal(5, 2)`, and the frame above it.
fn is_context(line: &str) -> bool {
    let own = line.trim_start();
    let number = text::number(own.strip_prefix("=> ").unwrap_or(own).trim_start());
    let is_quote = number.is_some_and(|(_, rest)| rest.starts_with(": ") || rest == ":");
    is_quote && line.starts_with("  ") || frame(line).is_some()
}

/// `    test/cart_test.rb:8:in 'test_error'`.
fn frame(line: &str) -> Option<(&str, u32)> {
    let own = line.strip_prefix("    ").unwrap_or(line);
    let (file, rest) = own.split_once(':')?;
    let (line, rest) = text::small(rest)?;
    (rest.starts_with(":in ") && place::has_extension(file, &["rb"]))
        .then(|| (place::tidy(file), line))
}

fn is_foreign(file: &str) -> bool {
    file.contains("/gems/") || file.starts_with("/usr/")
}

/// `4 runs, 2 assertions, 1 failures, 1 errors, 1 skips`.
fn total(text: &str) -> Option<Counts> {
    let (all, rest) = text::number(text)?;
    if !rest.starts_with(" runs, ") && !rest.starts_with(" tests, ")
        || !rest.contains(" assertions, ")
    {
        return None;
    }
    let (mut failed, mut skipped) = (0_u64, 0_u64);
    for (count, word) in text::tally(rest) {
        match word {
            "failures" | "errors" => failed = failed.saturating_add(count),
            "skips" | "pendings" | "omissions" => skipped = skipped.saturating_add(count),
            _ => {}
        }
    }
    let passed = all.saturating_sub(failed).saturating_sub(skipped);
    Some(Counts { passed, failed, skipped })
}
