//! pyright and basedpyright: a path, and below it `  path:3:7 - error: text (rule)`.

use crate::place::{self, Place};
use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::{Block, Findings, Level, Report};
use crate::{Finding, FindingKind, bytes, text};

/// Reads errors; warnings matter when there is no error.
#[derive(Clone, Default)]
pub(super) struct Pyright {
    spoke: bool,
    open: Option<Open>,
    findings: Findings,
    warnings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    level: Level,
    finding: Finding,
    excerpt: Block,
}

impl Recogniser for Pyright {
    fn name(&self) -> &'static str {
        "pyright"
    }

    fn cues(&self) -> Cues {
        const PATHS: &[u8] = b"/.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        Cues {
            starts: &["0 er", "No s", "Conf"],
            also: &[(PATHS, Trait::ColonNumber)],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some((level, place)) = head(text) {
            self.close();
            self.spoke = true;
            let finding = Finding::new(FindingKind::Type, place.rest);
            let finding = finding.at(place.file, place.line, place.column);
            let mut excerpt = self.list(level).room();
            excerpt.push(text);
            self.open = Some(Open { number: line.number, level, finding, excerpt });
        } else if let Some(open) = &mut self.open {
            match reason(text) {
                Some(reason) => open.more(text, reason),
                None => self.close(),
            }
        }
        if self.open.is_none() {
            let is_unset =
                text.starts_with("Config file \"") && text.ends_with("\" could not be read.");
            if text == "No source files found." || is_unset {
                self.spoke = true;
                self.findings.push(line.number, Finding::new(FindingKind::CouldNotRun, text));
            } else if is_total(text) {
                self.spoke = true;
            }
        }
        self.after_routine()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        // One more, or more of one, of which nothing is kept.
        if !self.open.as_ref().is_some_and(|open| open.excerpt.is_closed()) {
            return false;
        }
        let (blanks, own) = bytes::after_blanks(line);
        if blanks >= 4 || own.starts_with(FIRM.as_bytes()) {
            return !own.trim_ascii().is_empty();
        }
        let is_same = |(level, _)| self.open.as_ref().is_some_and(|open| open.level == level);
        let head = std::str::from_utf8(line).ok().filter(|_| blanks == 2).and_then(head);
        // The one that was open is counted; this one is open now.
        head.is_some_and(is_same) && self.counts_open()
    }

    fn after_routine(&self) -> Attention {
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "pyright",
            findings: std::mem::take(&mut self.findings),
            warnings: std::mem::take(&mut self.warnings),
            ..Report::default()
        })
    }
}

impl Pyright {
    const fn list(&mut self, level: Level) -> &mut Findings {
        match level {
            Level::Error => &mut self.findings,
            Level::Warning => &mut self.warnings,
        }
    }

    /// Counts what is open, of which nothing is kept.
    fn counts_open(&mut self) -> bool {
        let Some(level) = self.open.as_ref().map(|open| open.level) else { return false };
        self.list(level).is_only_counted()
    }

    fn close(&mut self) {
        let Some(Open { number, level, mut finding, mut excerpt }) = self.open.take() else {
            return;
        };
        let place = finding.place().unwrap_or_default();
        if self.list(level).is_known(&[&place, &finding.message, excerpt.as_str()]) {
            return;
        }
        if let Some((message, rule)) = rule(&finding.message) {
            let (message, rule) = (message.to_owned(), rule.to_owned());
            if matches!(rule.as_str(), "reportMissingImports" | "reportMissingModuleSource") {
                finding.kind = FindingKind::Compile;
            }
            finding.message = message;
            finding = finding.named(rule);
        } else {
            // Only what cannot be read at all has no rule.
            finding.kind = FindingKind::Compile;
        }
        self.list(level).push(number, finding.with_excerpt(excerpt.take()));
    }
}

impl Open {
    fn more(&mut self, text: &str, reason: &str) {
        if self.excerpt.is_closed() {
            return;
        }
        if self.finding.message.len() < 2_000 {
            self.finding.message = format!("{}\n{reason}", self.finding.message);
        }
        self.excerpt.push(text);
    }
}

/// A blank that does not break, of which pyright makes every second one before a reason.
const FIRM: &str = "\u{a0}";

/// A reason below an error, further to the right.
fn reason(text: &str) -> Option<&str> {
    let is_blank = |c: char| c == ' ' || c == '\u{a0}';
    let own = text.trim_start_matches(is_blank);
    let depth = text.chars().take_while(|c| is_blank(*c)).count();
    Some(own.trim_end()).filter(|own| depth >= 4 && !own.is_empty())
}

/// Level, place and text of `  path:3:7 - error: text`.
fn head(text: &str) -> Option<(Level, Place<'_>)> {
    let own = text.strip_prefix("  ").filter(|own| !own.starts_with(' '))?;
    // A path may hold blanks, which a place in front of a line never does.
    let at = text::find(own, " - error: ").or_else(|| text::find(own, " - warning: "))?;
    let (before, after) = own.split_at_checked(at)?;
    let (rest, column) = before.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    let is_python = [".py", ".pyi", ".ipynb"].iter().any(|end| file.ends_with(end));
    if !is_python || file.len() > 400 {
        return None;
    }
    let (level, message) = match after.strip_prefix(" - error: ") {
        Some(message) => (Level::Error, message),
        None => (Level::Warning, after.strip_prefix(" - warning: ")?),
    };
    let (line, column) = (line.parse().ok()?, column.parse().ok());
    let file = place::tidy(file);
    Some((level, Place { file, line, column, rest: message }))
}

/// Message and rule of `text (reportSomething)`.
fn rule(message: &str) -> Option<(&str, &str)> {
    let (text, rule) = message.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let is_rule = rule.starts_with("report") && rule.bytes().all(|b| b.is_ascii_alphanumeric());
    is_rule.then(|| (text.trim_end(), rule))
}

/// `5 errors, 2 warnings, 0 notes`, also of older versions with `informations`.
fn is_total(text: &str) -> bool {
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    let mut parts = text::tally(text);
    matches!(parts.next(), Some((_, "error" | "errors")))
        && matches!(parts.next(), Some((_, "warning" | "warnings")))
        && parts.next().is_some()
}
