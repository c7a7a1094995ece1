//! eslint's stylish reporter: a path, then its problems.

use crate::{Finding, FindingKind};

use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::{Findings, Level, Report};
use crate::skim::Skimmed;
use crate::{bytes, text};

/// Reads `  1:10  error  text  rule` below a path.
#[derive(Clone, Default)]
pub(super) struct Eslint {
    file: Option<String>,
    crashed: bool,
    findings: Findings,
    warnings: Findings,
}

impl Recogniser for Eslint {
    fn name(&self) -> &'static str {
        "eslint"
    }

    fn cues(&self) -> Cues {
        const PATHS: &[u8] = b"/.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        Cues { starts: &["Oops", "ESLint found"], also: &[(PATHS, Trait::Slash)], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if self.crashed {
            // Its version comes first.
            let said = text.trim();
            if said.is_empty() || said.starts_with("ESLint: ") {
                return Attention::Busy;
            }
            self.crashed = false;
            let is_crash = said.contains("Error: ");
            let kind = if is_crash { FindingKind::Crash } else { FindingKind::CouldNotRun };
            self.findings.push(line.number, Finding::new(kind, said));
            return Attention::Idle;
        }
        if text.starts_with("ESLint found too many warnings (maximum: ") {
            // It says so where there are no errors: then they are what is wrong, whatever others find.
            self.findings.absorb(std::mem::take(&mut self.warnings));
        }
        if text.starts_with("Oops! Something went wrong") {
            self.crashed = true;
            self.file = None;
            return Attention::Busy;
        }
        if let Some(file) = &self.file {
            let Some(problem) = problem(text) else {
                // Another path, or the blank line that ends a file; anything else is noise.
                if text.is_empty() {
                    self.file = None;
                } else if let Some(next) = path(text) {
                    self.file = Some(next.to_owned());
                }
                return self.attention();
            };
            let finding = problem.finding.at(file.as_str(), problem.line, problem.column);
            if problem.is_warning {
                self.warnings.push(line.number, finding);
            } else {
                self.findings.push(line.number, finding);
            }
            return Attention::Busy;
        }
        self.file = path(text).map(str::to_owned);
        self.attention()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        if self.file.is_none() || self.crashed {
            return false;
        }
        match level(line) {
            Some(Level::Error) => self.findings.is_only_counted(),
            Some(Level::Warning) => self.warnings.is_only_counted(),
            None => false,
        }
    }

    fn together(&mut self, lines: &[u8]) -> Skimmed {
        let Some((length, path)) = next_file(lines).filter(|_| !self.crashed) else {
            return Skimmed::default();
        };
        match &mut self.file {
            Some(file) if self.findings.is_full() => {
                // Where everything is only counted nobody asks for the file.
                if !self.warnings.is_full() {
                    path.clone_into(file);
                }
                Skimmed { bytes: length, lines: 2 }
            }
            _ => Skimmed::default(),
        }
    }

    fn after_routine(&self) -> Attention {
        self.attention()
    }

    fn is_patient(&self) -> bool {
        true
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        let warnings = std::mem::take(&mut self.warnings);
        (!findings.is_empty() || !warnings.is_empty()).then(|| Report {
            tool: "eslint",
            findings,
            warnings,
            ..Report::default()
        })
    }
}

impl Eslint {
    const fn attention(&self) -> Attention {
        if self.file.is_some() { Attention::Busy } else { Attention::Idle }
    }
}

#[derive(Clone)]
struct Problem {
    line: u32,
    column: u32,
    is_warning: bool,
    finding: Finding,
}

/// The level of `  1:10  error  Missing semicolon  semi`.
fn level(line: &[u8]) -> Option<Level> {
    let (_, rest) = bytes::after_blanks(line.strip_prefix(b"  ")?);
    let rest = bytes::after_digits(bytes::after_digits(rest)?.strip_prefix(b":")?)?;
    let digits = line.len() - rest.len();
    let (blanks, rest) = bytes::after_blanks(rest);
    let level = match rest {
        [b'e', b'r', b'r', b'o', b'r', b' ', ..] => Level::Error,
        [b'w', b'a', b'r', b'n', b'i', b'n', b'g', b' ', ..] => Level::Warning,
        _ => return None,
    };
    (blanks > 0 && digits < 18).then_some(level)
}

/// A blank line and a path with a problem below it: how long the two are, and the path.
fn next_file(lines: &[u8]) -> Option<(usize, &str)> {
    let rest = lines.strip_prefix(b"\n")?;
    let end = memchr::memchr(b'\n', rest)?;
    level(rest.get(end + 1..)?)?;
    let own = std::str::from_utf8(rest.get(..end)?).ok()?;
    let is_path = path(own).is_some() && memchr::memchr(b' ', own.as_bytes()).is_none();
    is_path.then_some((end + 2, own))
}

/// Whether a line is nothing but a path.
fn path(text: &str) -> Option<&str> {
    // Cheap questions first: this looks at very many lines.
    let bytes = text.as_bytes();
    if bytes.len() >= 400 || matches!(bytes, [] | [b' ', ..] | [.., b':' | b'.' | b')' | b';']) {
        return None;
    }
    // What jest says of a file of tests.
    if text.starts_with("FAIL ") || text.starts_with("PASS ") {
        return None;
    }
    let name = memchr::memrchr(b'/', bytes).and_then(|slash| bytes.get(slash..))?;
    memchr::memchr(b'.', name)?;
    for (blanks, at) in memchr::memchr_iter(b' ', bytes).enumerate() {
        let (before, after) = bytes.split_at_checked(at).unwrap_or_default();
        if blanks >= 2 || before.ends_with(b":") || after.starts_with(b" - ") {
            return None;
        }
    }
    Some(text)
}

/// `  1:10  error  Missing semicolon  semi`; some align the end of the place.
fn problem(text: &str) -> Option<Problem> {
    if !text.starts_with(' ') {
        return None;
    }
    let (line, rest) = text::small(text::trim_start(text))?;
    let (column, rest) = text::small(rest.strip_prefix(':')?)?;
    let rest = rest.trim_start();
    let (is_warning, rest) = match rest.strip_prefix("error ") {
        Some(rest) => (false, rest),
        None => (true, rest.strip_prefix("warning ")?),
    };
    let rest = rest.trim();
    let (message, rule) = match rest.rsplit_once("  ") {
        Some((message, rule)) if !rule.contains(' ') => (message.trim_end(), Some(rule)),
        _ => (rest, None),
    };
    let is_parse = message.starts_with("Parsing error");
    let kind = if is_parse { FindingKind::Compile } else { FindingKind::Lint };
    let mut finding = Finding::new(kind, message);
    finding.name = rule.map(str::to_owned);
    Some(Problem { line, column, is_warning, finding })
}
