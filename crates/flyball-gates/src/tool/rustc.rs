//! rustc, clippy and cargo itself: diagnostics as text, long and short.

mod long;

use self::long::Long;
use crate::{Finding, FindingKind};

use crate::recogniser::{Attention, Cues, Line, Places, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{bytes, place, text};

/// Reads `error[E0425]: …` with its `-->` line and its notes.
#[derive(Clone)]
pub(super) struct Rustc {
    /// Whether the command says that a bare `error:` is cargo's.
    is_cargo: bool,
    spoke: bool,
    open: Option<Open>,
    /// One that can only be counted.
    counted: Option<Counted>,
    findings: Findings,
    warnings: Findings,
}

/// A diagnostic of which nothing is kept.
#[derive(Clone)]
struct Counted {
    level: Level,
    has_code: bool,
    has_place: bool,
    lines: usize,
}

#[derive(Clone)]
struct Open {
    number: u64,
    level: Level,
    code: Option<String>,
    message: String,
    place: Option<(String, u32, Option<u32>)>,
    lint: Option<String>,
    /// What is found of one that says why only further down.
    long: Option<Long>,
    excerpt: Block,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
}

impl Rustc {
    pub(super) fn new(command: &str) -> Self {
        Self {
            is_cargo: command.contains("cargo") || command.contains("rustc"),
            spoke: false,
            open: None,
            counted: None,
            findings: Findings::default(),
            warnings: Findings::default(),
        }
    }
}

impl Recogniser for Rustc {
    fn name(&self) -> &'static str {
        "rustc"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["erro", "warn"], places: Places::Of(&["rs"]), ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if self.open.is_none() && self.count(line.text.as_bytes()) {
            return self.after_routine();
        }
        if let Some(place) = line.place
            && place.has_extension(&["rs"])
            && let Some((level, code, message)) = header(place.rest)
        {
            self.close();
            self.spoke = true;
            let mut open = Open::new(line, level, code, message);
            open.place = Some((place.file.to_owned(), place.line, place.column));
            self.open = Some(open);
            self.close();
        } else if let Some((level, code, message)) = header(line.text) {
            self.close();
            if !is_summary(message) {
                self.open = Some(Open::new(line, level, code, message));
            }
        } else if let Some(open) = &mut self.open {
            if open.belongs(line.text) {
                self.spoke |= open.line(line.text);
            } else {
                self.close();
            }
        }
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        self.open.is_none() && self.count(line)
    }

    fn after_routine(&self) -> Attention {
        if self.counted.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close_counted();
        self.close();
        self.spoke.then(|| Report {
            tool: "rustc",
            findings: std::mem::take(&mut self.findings),
            warnings: std::mem::take(&mut self.warnings),
            ..Report::default()
        })
    }
}

impl Rustc {
    /// Takes a line of a diagnostic that can only be counted.
    fn count(&mut self, line: &[u8]) -> bool {
        if let [b'e' | b'w', b'r' | b'a', ..] = line
            && let Some((level, code, message)) = std::str::from_utf8(line).ok().and_then(header)
        {
            self.close_counted();
            let list = if level == Level::Error { &self.findings } else { &self.warnings };
            let is_counted = list.is_full() && !is_summary(message);
            if is_counted {
                let has_code = code.is_some();
                self.counted = Some(Counted { level, has_code, has_place: false, lines: 1 });
            }
            return is_counted;
        }
        let Some(counted) = &mut self.counted else { return false };
        let belongs = counted.line(line);
        self.spoke |= counted.has_place;
        if !belongs {
            self.close_counted();
        }
        belongs || line.is_empty()
    }

    fn close_counted(&mut self) {
        let Some(counted) = self.counted.take() else { return };
        let is_error = counted.level == Level::Error;
        let is_cargos = self.is_cargo && is_error;
        if counted.has_place || counted.has_code || is_cargos {
            self.spoke |= is_cargos;
            let list = if is_error { &mut self.findings } else { &mut self.warnings };
            list.leave_out(1);
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        // Without a place it may be anybody's `error:`; with cargo in the command it is cargo's.
        let has_place =
            open.place.is_some() || open.long.as_ref().is_some_and(|long| long.place.is_some());
        if !has_place && open.code.is_none() {
            if !self.is_cargo || open.level == Level::Warning {
                return;
            }
            self.spoke = true;
        }
        let (number, level) = (open.number, open.level);
        let finding = open.into_finding();
        match level {
            Level::Error => self.findings.push(number, finding),
            Level::Warning => self.warnings.push(number, finding),
        }
    }
}

impl Counted {
    /// Takes a line if it still belongs to the diagnostic, as [`Open`] does.
    fn line(&mut self, line: &[u8]) -> bool {
        let own = line.trim_ascii_start();
        if self.has_place {
            return !own.is_empty();
        }
        if self.lines >= 12 || (own.is_empty() && self.lines >= 3) {
            return false;
        }
        self.lines += 1;
        let at = own.strip_prefix(b"--> ");
        self.has_place = at.is_some_and(|at| {
            let is_place = |at: &str| place::prefix(at).is_some();
            bytes::is_place(at) || std::str::from_utf8(at).is_ok_and(is_place)
        });
        true
    }
}

impl Open {
    fn new(line: &Line<'_>, level: Level, code: Option<&str>, message: &str) -> Self {
        let mut excerpt = Block::default();
        excerpt.push(line.text);
        Self {
            number: line.number,
            level,
            code: code.map(str::to_owned),
            message: message.to_owned(),
            place: None,
            lint: None,
            long: Long::of(message),
            excerpt,
        }
    }

    /// Whether a line still belongs to the diagnostic.
    fn belongs(&self, text: &str) -> bool {
        if let Some(long) = &self.long {
            return long.belongs(text);
        }
        if self.place.is_none() {
            // The arrow comes within a few lines; cargo's own errors go on after a blank line.
            return self.excerpt.as_str().lines().count() < 12
                && (!text.trim().is_empty() || self.excerpt.as_str().lines().count() < 3);
        }
        !text.trim().is_empty()
    }

    /// Takes a line; true when it proves that this is rustc speaking.
    fn line(&mut self, text: &str) -> bool {
        self.excerpt.push(text);
        if let Some(long) = &mut self.long {
            long.line(text);
            return long.place.is_some();
        }
        let trimmed = text.trim_start();
        if self.place.is_none() {
            if let Some(at) = trimmed.strip_prefix("--> ")
                && let Some(place) = place::prefix(at)
            {
                self.place = Some((place.file.to_owned(), place.line, place.column));
                return true;
            }
            if trimmed.starts_with("Caused by:") || self.message.ends_with("Caused by:") {
                self.message = format!("{}\n{trimmed}", self.message);
            }
        }
        if self.lint.is_none() {
            self.lint = lint(trimmed);
        }
        false
    }

    fn into_finding(mut self) -> Finding {
        let kind = if self.lint.is_some() { FindingKind::Lint } else { FindingKind::Compile };
        if let Some(Long { why, place, .. }) = self.long.take() {
            self.message.extend(why.map(|why| format!(": {why}")));
            self.place = place;
        }
        let mut finding = Finding::new(kind, self.message.replace("\nCaused by:\n", ": "));
        finding.name = self.code.or(self.lint);
        if let Some((file, line, column)) = self.place {
            finding = finding.at(file, line, column);
        }
        finding.with_excerpt(self.excerpt.take())
    }
}

/// Level, code and message of `error[E0425]: text` or `warning: text`.
fn header(text: &str) -> Option<(Level, Option<&str>, &str)> {
    let (level, rest) = if let Some(rest) = text.strip_prefix("error") {
        (Level::Error, rest)
    } else {
        (Level::Warning, text.strip_prefix("warning")?)
    };
    let (code, rest) = match rest.strip_prefix('[') {
        Some(inner) => {
            let (code, rest) = inner.split_once(']')?;
            // Other tools print rules of their own in the same way.
            let digits = code.strip_prefix('E')?;
            if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            (Some(code), rest)
        }
        None => (None, rest),
    };
    let message = rest.strip_prefix(": ")?.trim();
    (!message.is_empty()).then_some((level, code, message))
}

/// Lines that only sum up what was said before.
fn is_summary(message: &str) -> bool {
    const ENDS: &[&str] = &[
        "could not compile",
        "aborting due to",
        "test failed, to rerun",
        "recipe `",
        "doctest failed",
        "test run failed",
        "build failed",
        "unused manifest key",
        "process didn't exit successfully",
    ];
    ENDS.iter().any(|start| message.starts_with(start))
        || (message.starts_with('`') && message.contains("generated"))
        || text::number(message).is_some_and(|(_, rest)| {
            rest.starts_with(" target")
                || rest.starts_with(" warning")
                || rest.starts_with(" error")
        })
        || message.starts_with("build failed, waiting")
}

/// The lint named in a note: `-D clippy::len-zero` implied, or `#[deny(x)]` on by default.
fn lint(text: &str) -> Option<String> {
    let note = text.strip_prefix("= note: `").or_else(|| text.strip_prefix("= help: for further"));
    let note = note?;
    if let Some((_, rule)) = note.split_once("index.html#") {
        return Some(format!("clippy::{}", rule.trim()));
    }
    let name = if let Some(flag) = note.strip_prefix("-D ").or_else(|| note.strip_prefix("-W ")) {
        flag.split('`').next()?
    } else {
        let inner = note.strip_prefix("#[")?;
        inner.split_once('(')?.1.split(')').next()?
    };
    Some(name.trim().replace('-', "_"))
}
