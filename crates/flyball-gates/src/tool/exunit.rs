//! Elixir: `ExUnit`'s numbered failures, and errors of its compiler.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads `  1) test name (Module)` with its place and reason below.
#[derive(Clone, Default)]
pub(super) struct Exunit {
    spoke: bool,
    counts: Option<Counts>,
    /// The totals come right below `Finished in …`.
    finished: bool,
    open: Option<Open>,
    diagnostic: Option<Diagnostic>,
    findings: Findings,
    warnings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    name: String,
    place: Option<(String, u32)>,
    message: Block,
    /// The stack has begun.
    stack: bool,
    excerpt: Block,
}

#[derive(Clone)]
struct Diagnostic {
    number: u64,
    is_error: bool,
    message: String,
    lines: usize,
}

impl Recogniser for Exunit {
    fn name(&self) -> &'static str {
        "exunit"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["0) t", "0) d", "0) p", "Fini", "** (", "warn", "erro"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some(name) = title(text) {
            self.close();
            self.open = Some(Open::new(name, line.number));
        } else if text.starts_with("Finished in ") {
            self.close();
            self.finished = true;
        } else if let Some(counts) = total(text).filter(|_| self.finished) {
            self.close();
            (self.spoke, self.finished) = (true, false);
            self.counts = Some(counts);
        } else if let Some(finding) = compile_error(text) {
            self.close();
            self.spoke = true;
            // With `(errors have been logged)` the reasons stand above.
            let list = match finding.line {
                Some(_) => &mut self.findings,
                None => &mut self.warnings,
            };
            list.push(line.number, finding);
        } else if let Some(open) = &mut self.open {
            if !open.line(text) {
                self.close();
            }
        } else {
            self.diagnostic(line);
        }
        let is_open = self.open.is_some() || self.diagnostic.is_some() || self.finished;
        if is_open { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let findings = std::mem::take(&mut self.findings);
        let warnings = std::mem::take(&mut self.warnings);
        (self.spoke || !findings.is_empty() || !warnings.is_empty()).then(|| Report {
            tool: "exunit",
            counts: self.counts,
            findings,
            warnings,
            ..Report::default()
        })
    }
}

impl Exunit {
    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        if open.message.is_blank() {
            return;
        }
        let message = open.message.take();
        let finding = Finding::new(FindingKind::Test, text::trim_lines(&message)).named(open.name);
        let finding = finding.with_excerpt(open.excerpt.take());
        let finding = match open.place {
            Some((file, line)) => finding.at(file, line, None),
            None => finding,
        };
        self.findings.push(open.number, finding);
    }

    /// `warning: text` or `error: text`, and its place some lines below.
    fn diagnostic(&mut self, line: &Line<'_>) {
        let own = line.text.trim_start();
        let head = own.strip_prefix("warning: ").map(|message| (false, message));
        let head = head.or_else(|| own.strip_prefix("error: ").map(|message| (true, message)));
        if let Some((is_error, message)) = head {
            let message = message.to_owned();
            self.diagnostic = Some(Diagnostic { number: line.number, is_error, message, lines: 0 });
            return;
        }
        let Some(open) = &mut self.diagnostic else { return };
        open.lines += 1;
        let at = own.strip_prefix("└─ ").unwrap_or(own);
        let at = place::prefix(at).filter(|at| at.has_extension(&["ex", "exs", "eex", "heex"]));
        if let Some(at) = at {
            let finding = Finding::new(FindingKind::Compile, open.message.as_str());
            let finding = finding.at(place::tidy(at.file), at.line, at.column);
            let list = if open.is_error { &mut self.findings } else { &mut self.warnings };
            list.push(open.number, finding);
            self.spoke |= open.is_error;
        }
        if at.is_some() || open.lines > 14 || own.is_empty() {
            self.diagnostic = None;
        }
    }
}

impl Open {
    fn new(name: &str, number: u64) -> Self {
        Self {
            number,
            name: name.to_owned(),
            place: None,
            message: Block::default(),
            stack: false,
            excerpt: Block::default(),
        }
    }

    /// Takes a line; false when the failure is over.
    fn line(&mut self, text: &str) -> bool {
        let own = text.trim();
        if own.is_empty() && self.stack {
            return false;
        }
        if !own.is_empty() && text::indent(text) < 5 {
            return false;
        }
        self.excerpt.push(text);
        let at = place::prefix(own).filter(|at| at.has_extension(&["ex", "exs"]));
        if self.place.is_none() {
            // The first line below the title is the place of the test.
            self.place = at.map(|at| (place::tidy(at.file).to_owned(), at.line));
            return self.place.is_some();
        }
        if own == "stacktrace:" {
            self.stack = true;
        } else if self.stack {
            if let Some(at) = at.filter(|at| at.rest.starts_with("(test)")) {
                self.place = Some((place::tidy(at.file).to_owned(), at.line));
            }
        } else {
            self.message.push(text::dedent(text, 5));
        }
        true
    }
}

/// The name in `  1) test adds two prices (CartTest)`, also of doctests and properties.
fn title(text: &str) -> Option<&str> {
    // More digits leave less room before them.
    let own = text.strip_prefix(' ')?.trim_start();
    let (_, rest) = text::number(own)?;
    let rest = rest.strip_prefix(") ")?;
    let known = ["test ", "doctest ", "property "];
    let is_test = known.iter().any(|word| rest.starts_with(word));
    (is_test && rest.ends_with(')')).then_some(rest)
}

/// `1 doctest, 7 tests, 5 failures, 1 skipped`.
fn total(text: &str) -> Option<Counts> {
    let (mut all, mut failed, mut skipped, mut is_total) = (0_u64, 0_u64, 0_u64, false);
    text::number(text)?;
    for (count, word) in text::tally(text) {
        match word {
            "test" | "tests" | "doctest" | "doctests" | "property" | "properties" => {
                all = all.saturating_add(count);
            }
            "failure" | "failures" => (failed, is_total) = (count, true),
            "skipped" | "excluded" | "invalid" => skipped = skipped.saturating_add(count),
            _ => return None,
        }
    }
    let passed = all.saturating_sub(failed).saturating_sub(skipped);
    (is_total && all > 0).then_some(Counts { passed, failed, skipped })
}

/// `** (CompileError) lib/cart.ex:2: text`.
fn compile_error(text: &str) -> Option<Finding> {
    let (class, rest) = text.strip_prefix("** (")?.split_once(") ")?;
    let known = ["CompileError", "SyntaxError", "TokenMissingError", "MismatchedDelimiterError"];
    if !known.contains(&class) {
        return None;
    }
    let place = place::prefix(rest);
    let message = place.map_or(rest, |at| at.rest);
    let finding = Finding::new(FindingKind::Compile, format!("({class}) {message}"));
    Some(match place {
        Some(at) => finding.at(place::tidy(at.file), at.line, at.column),
        None => finding,
    })
}
