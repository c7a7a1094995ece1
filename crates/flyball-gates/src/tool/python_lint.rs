//! Python linters: ruff (full, concise, format), flake8, pylint and black.

mod patch;

use self::patch::Patches;
use crate::{Finding, FindingKind};

use crate::place::{self, Place};
use crate::recogniser::{Attention, CAPITALS, Cues, Line, Places, Recogniser, Trait};
use crate::report::{Block, Findings, Report};
use crate::{bytes, text};

const PATHS: &[u8] = b"/._abcdefghijklmnopqrstuvwxyz0123456789";
const SMALL: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

/// How much of the places where lines are similar is told.
const SIMILAR_MAX: usize = 1_000;

/// Reads `path:1:8: F401 text` and ruff's long form with its `-->` line.
#[derive(Clone)]
pub(super) struct PythonLint {
    tool: Option<&'static str>,
    diff_counts: bool,
    clean: bool,
    /// The file of ruff's grouped form.
    file: Option<String>,
    /// The head of a long diagnostic, until its place comes.
    head: Option<Head>,
    patches: Patches,
    /// What pylint found twice, until it has said where.
    similar: Option<(u64, Finding)>,
    findings: Findings,
}

#[derive(Clone)]
struct Head {
    number: u64,
    code: String,
    message: String,
    place: Option<(String, u32, Option<u32>)>,
    excerpt: Block,
}

impl PythonLint {
    pub(super) fn new(command: &str) -> Self {
        let tool = ["ruff", "flake8", "pylint", "black"].into_iter().find(|t| command.contains(t));
        Self {
            tool,
            diff_counts: command.contains("--diff"),
            clean: false,
            file: None,
            head: None,
            patches: Patches::default(),
            similar: None,
            findings: Findings::default(),
        }
    }
}

impl Recogniser for PythonLint {
    fn name(&self) -> &'static str {
        self.tool.unwrap_or("flake8")
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["inva", "unfo", "io-e", "Foun", "All ", "erro", "woul", "Woul", "+++ "],
            places: Places::Of(&["py", "pyi", "ipynb"]),
            also: &[
                (PATHS, Trait::EndsWith(b':')),
                (CAPITALS, Trait::Code),
                (SMALL, Trait::RuleName),
            ],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some((_, similar)) = &mut self.similar {
            if text.starts_with("==") && similar.message.len() < SIMILAR_MAX {
                similar.message = format!("{}\n{text}", similar.message);
                return Attention::Busy;
            }
            self.close();
        }
        if let Some(head) = &mut self.head {
            if head.line(text) {
                return Attention::Busy;
            }
            self.close();
        }
        if let Some(file) = self.file.take()
            && let Some((at, column, code, message)) = grouped(text)
            && (is_code(code) || self.is_rule(code))
        {
            self.tool.get_or_insert("ruff");
            let finding = Finding::new(kind(code), message).named(code);
            self.findings.push(line.number, finding.at(file.as_str(), at, column));
            self.file = Some(file);
            return Attention::Busy;
        }
        if let Some(file) =
            text.strip_suffix(':').filter(|file| place::has_extension(file, &["py"]))
        {
            self.file = Some(file.to_owned());
            return Attention::Busy;
        }
        if let Some(place) = line.place
            && place.has_extension(&["py", "pyi", "ipynb"])
        {
            self.concise(place, line);
        } else if let Some((code, message)) = long_head(text) {
            let mut excerpt = Block::default();
            excerpt.push(text);
            let (code, message) = (code.to_owned(), message.to_owned());
            self.head = Some(Head { number: line.number, code, message, place: None, excerpt });
            return Attention::Busy;
        } else {
            self.other(text, line.number);
        }
        if self.diff_counts && self.patches.line(text) {
            return Attention::Busy;
        }
        if self.similar.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        let is_calm = self.head.is_none() && self.file.is_none() && self.similar.is_none();
        is_calm && self.findings.take_line(line, is_concise)
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let mut findings = std::mem::take(&mut self.findings);
        if self.diff_counts {
            let formats = |own: &Finding| own.kind == FindingKind::Format && own.line.is_none();
            for finding in findings.those(formats) {
                finding.line = finding.file.as_deref().and_then(|file| self.patches.of(file));
            }
        }
        let tool = self.name();
        (self.clean || !findings.is_empty()).then(|| Report { tool, findings, ..Report::default() })
    }
}

impl PythonLint {
    /// Whether this is the name of a rule, as newer ruff tells it; one of a single word only where ruff was called.
    fn is_rule(&self, code: &str) -> bool {
        is_rule_name(code) && (code.contains('-') || self.tool == Some("ruff"))
    }

    fn concise(&mut self, place: Place<'_>, line: &Line<'_>) {
        let number = line.number;
        if let Some((code, name, message)) = bracketed(place.rest) {
            let finding = Finding::new(kind(code), message).named(name);
            self.findings.push(number, finding.at(place.file, place.line, place.column));
            return;
        }
        let Some((code, message)) = place.rest.split_once(' ') else { return };
        let (code, is_ended) = (code.trim_end_matches(':'), code.ends_with(':'));
        let is_rule = is_ended && (self.is_rule(code) || code == "SyntaxError");
        let is_pylint = is_ended && !is_rule;
        let message = fix_mark(message);
        if place.column.is_none() || !(is_code(code) || is_rule) {
            return;
        }
        if self.findings.is_only_counted() {
            return;
        }
        let (name, message) = match message.rsplit_once(" (") {
            Some((message, name)) if is_pylint => (name.trim_end_matches(')'), message),
            _ => (code, message),
        };
        if self.tool.is_none() && is_pylint {
            self.tool = Some("pylint");
        }
        let finding = Finding::new(kind(code), message).named(name);
        let finding = finding.at(place.file, place.line, place.column);
        if code == "R0801" {
            // All of them stand at one place: the lines below tell them apart.
            self.similar = Some((number, finding));
        } else {
            self.findings.push_line(number, line.text, finding);
        }
    }

    fn other(&mut self, text: &str, number: u64) {
        if self.tool.is_none() && text.starts_with("Found ") && !self.findings.is_empty() {
            self.tool = Some("ruff");
        }
        if text == "All checks passed!" {
            self.tool.get_or_insert("ruff");
            self.clean = true;
        }
        if let Some((file, line, column)) = unread(text) {
            self.tool.get_or_insert(if text.contains(": Failed ") { "ruff" } else { "black" });
            let finding = Finding::new(FindingKind::Compile, text.trim_end());
            self.findings.push(number, finding.at(place::tidy(file), line, column));
        }
        let black = text.strip_prefix("would reformat ");
        let reformat = text.strip_prefix("Would reformat: ").or(black).or_else(|| {
            text.strip_prefix("+++ ").filter(|_| self.diff_counts && self.tool == Some("ruff"))
        });
        if let Some(file) = reformat {
            self.tool.get_or_insert(if black.is_some() { "black" } else { "ruff" });
            let file = file.split('\t').next().unwrap_or(file).trim();
            let words = if text.starts_with("+++ ") { "file would be reformatted" } else { text };
            let finding = Finding::new(FindingKind::Format, words.trim());
            self.findings.push(number, finding.at(file, None, None));
        }
    }

    fn close(&mut self) {
        if let Some((number, finding)) = self.similar.take() {
            self.findings.push(number, finding);
        }
        let Some(mut head) = self.head.take() else { return };
        let Some((file, line, column)) = head.place else { return };
        self.tool.get_or_insert("ruff");
        let finding = if head.code == "unformatted" {
            Finding::new(FindingKind::Format, head.message)
        } else {
            Finding::new(kind(&head.code), head.message).named(head.code)
        };
        let finding = finding.at(file, line, column).with_excerpt(head.excerpt.take());
        self.findings.push(head.number, finding);
    }
}

impl Head {
    /// Takes a line; false when it is not part of this diagnostic.
    fn line(&mut self, text: &str) -> bool {
        let trimmed = text.trim_start();
        if self.place.is_none() {
            let Some(place) = trimmed.strip_prefix("--> ").and_then(place::prefix) else {
                return false;
            };
            let is_python = place.has_extension(&["py", "pyi", "ipynb", "toml"]);
            self.place = is_python.then(|| (place.file.to_owned(), place.line, place.column));
            return is_python;
        }
        self.excerpt.push(text);
        !trimmed.is_empty()
    }
}

/// Where black cannot read a file: `error: cannot parse: a.py:2:4`, before 2026
/// `error: cannot format a.py: Cannot parse for target version Python 3.13: 2:4: text`; ruff's formatter:
/// `error: Failed to parse a.py:2:4: text`.
fn unread(text: &str) -> Option<(&str, Option<u32>, Option<u32>)> {
    let heads = ["error: cannot parse: ", "error: Failed to parse "];
    let place = heads.iter().find_map(|head| place::prefix(text.strip_prefix(head)?));
    if let Some(place) = place {
        return Some((place.file, Some(place.line), place.column));
    }
    let (file, why) = text.strip_prefix("error: cannot format ")?.split_once(": ")?;
    let at = why.strip_prefix("Cannot parse").and_then(|rest| rest.split_once(": "));
    let line = at.and_then(|(_, at)| text::small(at));
    let column = line.and_then(|(_, rest)| text::small(rest.strip_prefix(':')?));
    Some((file, line.map(|(line, _)| line), column.map(|(column, _)| column)))
}

/// Whether a line is `a.py:3:80: E501 text` or its like of pylint and of newer ruff.
fn is_concise(line: &[u8]) -> bool {
    let Some(place) = bytes::place(line).filter(|place| place.has_column) else { return false };
    let end = memchr::memchr(b' ', place.rest).unwrap_or(place.rest.len());
    let (code, message) = place.rest.split_at_checked(end).unwrap_or_default();
    let code = code.strip_suffix(b":").unwrap_or(code);
    let letters = code.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let rest = code.get(letters..).and_then(bytes::after_digits);
    let is_code = rest == Some(b"") && (1..=6).contains(&letters);
    let digits = code.len() - letters.min(code.len());
    let is_code = is_code && (2..=5).contains(&digits);
    let is_rule = || {
        let is_named = |code: &str| code.contains('-') && is_rule_name(code);
        place.rest.get(code.len()) == Some(&b':') && str::from_utf8(code).is_ok_and(is_named)
    };
    place.file.ends_with(b".py") && message.len() > 1 && (is_code || is_rule())
}

/// Code, name and message of `[F401] text` and `[C0114(missing-module-docstring), f] text`.
fn bracketed(rest: &str) -> Option<(&str, &str, &str)> {
    let (inner, message) = rest.strip_prefix('[')?.split_once("] ")?;
    let code = inner.split(['(', ',']).next()?;
    let name = inner.split_once('(').and_then(|(_, rest)| rest.split(')').next());
    let is_own = is_code(code) || (code.contains('-') && is_rule_name(code));
    is_own.then_some((code, name.unwrap_or(code), message))
}

/// Place, code and message of `  1:8  F401 [*] text` below a path.
fn grouped(text: &str) -> Option<(u32, u32, &str, &str)> {
    let (line, rest) = text::small(text.strip_prefix("  ")?.trim_start())?;
    let (column, rest) = text::small(rest.strip_prefix(':')?)?;
    let (code, message) = rest.trim_start().split_once(' ')?;
    let code = code.strip_suffix(':').unwrap_or(code);
    Some((line, column, code, fix_mark(message)))
}

/// Code and message of `F401 [*] text`, `unused-import: [*] text` or `invalid-syntax: text`.
fn long_head(text: &str) -> Option<(&str, &str)> {
    let (code, message) = text.split_once(' ')?;
    if let Some(rule) = code.strip_suffix(':') {
        return is_rule_name(rule).then(|| (rule, fix_mark(message)));
    }
    is_code(code).then(|| (code, fix_mark(message)))
}

/// Whether this is a rule code: capital letters, then at least two digits.
fn is_code(code: &str) -> bool {
    let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = code.bytes().skip(letters).take_while(u8::is_ascii_digit).count();
    (1..=6).contains(&letters) && (2..=5).contains(&digits) && letters + digits == code.len()
}

/// Whether this may be the name of a rule: small letters, digits and dashes, and no word of others.
fn is_rule_name(code: &str) -> bool {
    code.starts_with(|c: char| c.is_ascii_lowercase())
        && code.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !matches!(code, "error" | "warning" | "note" | "help" | "info" | "fatal" | "hint")
}

/// The message without ruff's mark for what it can fix.
fn fix_mark(message: &str) -> &str {
    let marked = message.strip_prefix("[*] ").or_else(|| message.strip_prefix("[-] "));
    marked.unwrap_or(message)
}

fn kind(code: &str) -> FindingKind {
    match code {
        "invalid-syntax" | "E999" | "E902" | "io-error" | "E0001" | "SyntaxError" => {
            FindingKind::Compile
        }
        // pylint could not even begin with it.
        "F0001" | "F0002" | "F0010" | "F0011" => FindingKind::CouldNotRun,
        _ => FindingKind::Lint,
    }
}
