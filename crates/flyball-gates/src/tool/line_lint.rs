//! Linters that say everything in one line behind a place, each in its own notation: rubocop,
//! hadolint, actionlint, yamllint, ty, bandit, isort, pydocstyle, sqlfluff, and the formats `unix` and
//! `compact` of many.

mod ruled;
mod studio;

use self::ruled::{codespell, of_department, ruled, spaced};
use self::studio::{is_level, studio};
use crate::place::{self, Place};
use crate::recogniser::{Attention, Cues, Line, PATHS, Places, Recogniser, Trait};
use crate::report::{Findings, Report};
use crate::{Finding, FindingKind, text};

/// Reads one line at a time; the first tool that speaks gives its name.
#[derive(Clone, Default)]
pub(super) struct LineLint {
    tool: Option<&'static str>,
    is_hadolint: bool,
    /// The file of rubocop's simple form: `== a.rb ==`.
    file: Option<String>,
    /// The file of sqlfluff's table.
    table: Option<String>,
    /// The place of pydocstyle, whose text comes on the next line.
    documented: Option<(String, u32)>,
    findings: Findings,
    warnings: Findings,
}

/// What one line says.
struct Said<'a> {
    tool: &'static str,
    kind: FindingKind,
    rule: Option<&'a str>,
    message: &'a str,
    is_warning: bool,
}

impl LineLint {
    pub(super) fn new(command: &str) -> Self {
        Self { is_hadolint: command.contains("hadolint"), ..Self::default() }
    }
}

impl Recogniser for LineLint {
    fn name(&self) -> &'static str {
        self.tool.unwrap_or("lint")
    }

    fn cues(&self) -> Cues {
        // `=` for rubocop's simple form, `E` for isort, `/` for `path: line 3`; some paths have no
        // extension.
        Cues {
            first: b"/",
            starts: &["== ", "ERRO"],
            places: Places::Before(b"CWEFRI[B'abcdefghijklmnopqrstuvwxyz"),
            also: &[
                (b"DCdh-[/.", Trait::ColonNumber),
                (PATHS, Trait::EndsWith(b']')),
                // `a.js: line 3, col 7, text`.
                (PATHS, Trait::EndsWith(b'.')),
                (PATHS, Trait::EndsWith(b')')),
            ],
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some((file, at)) = self.documented.take()
            && let Some((rule, message)) = text.trim().split_once(": ")
            && text.starts_with("        D")
        {
            self.tool = Some("pydocstyle");
            let finding = Finding::new(FindingKind::Lint, message).named(rule);
            self.findings.push(line.number, finding.at(file, at, None));
            return Attention::Idle;
        }
        if self.row(line) {
            return Attention::Busy;
        }
        if let Some(file) = text.strip_prefix("== [").and_then(|rest| rest.strip_suffix("] FAIL")) {
            self.table = Some(file.to_owned());
            return Attention::Busy;
        }
        if let Some(place) = line.place.filter(|place| is_documented(place)) {
            self.documented = Some((place.file.to_owned(), place.line));
            return Attention::Busy;
        }
        if let Some(file) = &self.file {
            if let Some((at, column, message)) = simple_offence(text) {
                let (message, rule) = of_department(message);
                let mut finding =
                    Finding::new(FindingKind::Lint, message).at(file.as_str(), at, column);
                finding.name = rule.map(str::to_owned);
                self.tool = Some("rubocop");
                self.findings.push(line.number, finding);
                return Attention::Busy;
            }
            self.file = None;
        }
        if let Some(file) = text.strip_prefix("== ").and_then(|rest| rest.strip_suffix(" ==")) {
            self.file = Some(file.to_owned());
            return Attention::Busy;
        }
        if let Some((place, said)) = self.said(line) {
            self.tool.get_or_insert(said.tool);
            let list = if said.is_warning { &mut self.warnings } else { &mut self.findings };
            if list.is_only_counted() {
                return Attention::Idle;
            }
            let mut finding = Finding::new(said.kind, said.message.trim());
            finding = finding.at(place::tidy(place.file), place.line, place.column);
            finding.name = said.rule.map(str::to_owned);
            list.push_line(line.number, text, finding);
        } else if let Some(file) = unsorted(text) {
            self.tool = Some("isort");
            let finding = Finding::new(
                FindingKind::Format,
                "Imports are incorrectly sorted and/or formatted.",
            );
            self.findings.push(line.number, finding.at(file, None, None));
        }
        Attention::Idle
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], number: u64) -> bool {
        let is_calm = self.documented.is_none() && self.table.is_none() && self.file.is_none();
        if !is_calm || self.findings.has_told(line) || self.warnings.has_told(line) {
            return is_calm;
        }
        if !self.findings.is_full() && !self.warnings.is_full() {
            return false;
        }
        let Ok(text) = std::str::from_utf8(line) else { return false };
        let line = Line { text, number, place: place::prefix(text) };
        let is_heading = line.place.is_some_and(|place| is_documented(&place));
        let is_warning = self.said(&line).filter(|_| !is_heading).map(|(_, said)| said.is_warning);
        match is_warning {
            Some(true) => self.warnings.is_only_counted(),
            Some(false) => self.findings.is_only_counted(),
            None => false,
        }
    }

    fn finish(&mut self) -> Option<Report> {
        let tool = self.tool?;
        Some(Report {
            tool,
            findings: std::mem::take(&mut self.findings),
            warnings: std::mem::take(&mut self.warnings),
            ..Report::default()
        })
    }
}

impl LineLint {
    /// A row of sqlfluff: `L:   1 | P:  10 | LT01 | text`, and how it goes on below.
    fn row(&mut self, line: &Line<'_>) -> bool {
        let Some(file) = &self.table else { return false };
        // A text may go on below, with bars of its own.
        let is_more = line.text.trim_start().starts_with('|');
        let mut cells = line.text.splitn(if is_more { 2 } else { 4 }, '|').map(str::trim);
        let number = |cell: &str, mark: &str| cell.strip_prefix(mark)?.trim().parse::<u32>().ok();
        match (cells.next(), cells.next(), cells.next(), cells.next()) {
            (Some(at), Some(column), Some(rule), Some(message)) => {
                if let Some(at) = number(at, "L:") {
                    self.tool = Some("sqlfluff");
                    let finding = Finding::new(FindingKind::Lint, message).named(rule);
                    let finding = finding.at(file.as_str(), at, number(column, "P:"));
                    self.findings.push(line.number, finding);
                }
                true
            }
            (Some(""), Some(more), None, None) => {
                if let Some(last) = self.findings.last()
                    && last.message.len() < 2_000
                {
                    last.message = format!("{} {more}", last.message);
                }
                true
            }
            _ => {
                self.table = None;
                false
            }
        }
    }

    /// `Dockerfile:2 DL3003 warning: text`, also `hadolint:Dockerfile:2: DL3003 warning: text`.
    fn hadolint<'a>(&self, text: &'a str) -> Option<(Place<'a>, Said<'a>)> {
        let own = text.strip_prefix("hadolint:").unwrap_or(text);
        let (file, rest) = own.split_once(':')?;
        if file.contains(' ') || file.is_empty() {
            return None;
        }
        let (line, rest) = text::small(rest)?;
        let at = |column| Place { file, line, column, rest: "" };
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        if let Some((column, message)) = text::small(rest)
            && (self.is_hadolint || file.ends_with("Dockerfile"))
            && let Some(message) = message.strip_prefix(' ').filter(|text| !text.trim().is_empty())
        {
            let kind = FindingKind::Compile;
            let said = Said { tool: "hadolint", kind, rule: None, message, is_warning: false };
            return Some((at(Some(column)), said));
        }
        let (rule, rest) = rest.strip_prefix(' ')?.split_once(' ')?;
        let is_rule = rule.len() == 6
            && (rule.starts_with("DL") || rule.starts_with("SC"))
            && rule.bytes().skip(2).all(|byte| byte.is_ascii_digit());
        let (level, message) = rest.split_once(": ")?;
        let is_level = matches!(level, "error" | "warning" | "info" | "style");
        let kind = FindingKind::Lint;
        let said = Said { tool: "hadolint", kind, rule: Some(rule), message, is_warning: false };
        (is_rule && is_level).then_some((at(None), said))
    }

    fn said<'a>(&self, line: &Line<'a>) -> Option<(Place<'a>, Said<'a>)> {
        let text = line.text;
        if let Some(found) = self.hadolint(text) {
            return Some(found);
        }
        if let Some(found) = compact(text).or_else(|| bracketed(text)).or_else(|| ruled(text)) {
            return Some(found);
        }
        let Some(place) = line.place else { return spaced(text) };
        let rest = place.rest;
        let said = rubocop(rest)
            .or_else(|| yamllint(rest))
            .or_else(|| ty(&place))
            .or_else(|| bandit(rest))
            .or_else(|| unix(rest))
            .or_else(|| studio(&place, text))
            .or_else(|| codespell(rest))
            .or_else(|| actionlint(&place))?;
        Some((place, said))
    }
}

/// `a.py:2 in public function `f`:`.
fn is_documented(place: &Place<'_>) -> bool {
    let rest = place.rest;
    let is_heading = rest.starts_with("at module level") || rest.starts_with("in p");
    place.column.is_none() && is_heading && rest.ends_with(':') && place.has_extension(&["py"])
}

/// `C: [Correctable] Style/NilComparison: text`; every level makes rubocop's exit code red.
fn rubocop(rest: &str) -> Option<Said<'_>> {
    let (level, rest) = rest.split_once(": ")?;
    if !matches!(level, "C" | "W" | "E" | "F" | "R" | "I") {
        return None;
    }
    let rest = ["[Correctable] ", "[Corrected] ", "[Todo] "]
        .iter()
        .find_map(|tag| rest.strip_prefix(tag))
        .unwrap_or(rest);
    let (rule, message) = match rest.split_once(": ") {
        Some((rule, message)) if is_cop(rule) => (Some(rule), message),
        _ => (None, rest),
    };
    let is_syntax = matches!(level, "E" | "F") && rule.is_none_or(|rule| rule == "Lint/Syntax");
    let kind = if is_syntax { FindingKind::Compile } else { FindingKind::Lint };
    let rule = rule.or(is_syntax.then_some("Lint/Syntax"));
    Some(Said { tool: "rubocop", kind, rule, message, is_warning: false })
}

/// `Style/NilComparison`.
fn is_cop(rule: &str) -> bool {
    rule.contains('/')
        && rule.split('/').all(|part| {
            part.starts_with(|first: char| first.is_ascii_uppercase())
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// `C:  1:  7: text` of rubocop's simple form.
fn simple_offence(text: &str) -> Option<(u32, Option<u32>, &str)> {
    let rest = text.get(2..).filter(|_| text.starts_with(['C', 'W', 'E', 'F', 'R', 'I']))?;
    let rest = rest.strip_prefix(' ').filter(|_| text.get(1..2) == Some(":"))?;
    let (line, rest) = text::small(rest.trim_start())?;
    let (column, rest) = text::small(rest.strip_prefix(':')?.trim_start())?;
    let message = rest.strip_prefix(": ")?;
    Some((line, Some(column), message.strip_prefix("[Correctable] ").unwrap_or(message)))
}

/// `[error] trailing spaces (trailing-spaces)`.
fn yamllint(rest: &str) -> Option<Said<'_>> {
    let (is_warning, rest) = match rest.strip_prefix("[error] ") {
        Some(rest) => (false, rest),
        None => (true, rest.strip_prefix("[warning] ")?),
    };
    let (message, rule) = in_brackets(rest, '(', ')').map_or((rest, None), |(m, r)| (m, Some(r)));
    Some(Said { tool: "yamllint", kind: FindingKind::Lint, rule, message, is_warning })
}

/// `error[invalid-assignment] text`, ty's concise form.
fn ty<'a>(place: &Place<'a>) -> Option<Said<'a>> {
    let (is_warning, rest) = match place.rest.strip_prefix("error[") {
        Some(rest) => (false, rest),
        None => (true, place.rest.strip_prefix("warning[")?),
    };
    let (rule, message) = rest.split_once("] ")?;
    let kind = match rule {
        "invalid-syntax" | "unresolved-import" | "import-not-found" => FindingKind::Compile,
        _ => FindingKind::Type,
    };
    let is_python = place.has_extension(&["py", "pyi", "ipynb"]);
    is_python.then_some(Said { tool: "ty", kind, rule: Some(rule), message, is_warning })
}

/// `B404[bandit]: LOW: text`.
fn bandit(rest: &str) -> Option<Said<'_>> {
    let (rule, rest) = text::split(rest, "[bandit]: ")?;
    let (_, message) = rest.split_once(": ")?;
    let kind = FindingKind::Lint;
    Some(Said { tool: "bandit", kind, rule: Some(rule), message, is_warning: false })
}

/// `text [Error/eslint(no-debugger)]`, `text [error/no-debugger]`, `text (rule) [error]`: the format
/// `unix` of many linters.
fn unix(rest: &str) -> Option<Said<'_>> {
    let (message, tag) = in_brackets(rest, '[', ']')?;
    let (level, rule) = tag.split_once('/').map_or((tag, None), |(l, rule)| (l, Some(rule)));
    let is_warning = match level {
        "Error" | "error" => false,
        "Warning" | "warning" => true,
        _ => return None,
    };
    let (message, rule) = match (rule, in_brackets(message, '(', ')')) {
        (None, Some((message, rule))) => (message, Some(rule)),
        _ => (message, rule),
    };
    let kind = if rule.is_some() { FindingKind::Lint } else { FindingKind::Compile };
    Some(Said { tool: "unix", kind, rule, message, is_warning })
}

/// `text [rule]` in a workflow: every other tool that prints this names a level first.
fn actionlint<'a>(place: &Place<'a>) -> Option<Said<'a>> {
    place.column?;
    if !place.has_extension(&["yml", "yaml"]) {
        return None;
    }
    let (message, rule) = in_brackets(place.rest, '[', ']')?;
    let is_rule = rule.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let kind = if rule == "syntax-check" { FindingKind::Compile } else { FindingKind::Lint };
    let said = Said { tool: "actionlint", kind, rule: Some(rule), message, is_warning: false };
    is_rule.then_some(said)
}

/// `/path/a.css: line 1, col 12, error - text (rule)`, the format `compact` of eslint and stylelint.
fn compact(text: &str) -> Option<(Place<'_>, Said<'_>)> {
    let (file, rest) = text::split(text, ": line ")?;
    let (line, rest) = text::small(rest)?;
    let (column, rest) = text::small(rest.strip_prefix(", col ")?)?;
    let rest = rest.strip_prefix(", ")?;
    // jshint says no level.
    let (level, rest) = rest.split_once(" - ").filter(|(l, _)| is_level(l)).unwrap_or(("", rest));
    let is_warning = level.eq_ignore_ascii_case("warning");
    let (message, rule) = in_brackets(rest, '(', ')').map_or((rest, None), |(m, r)| (m, Some(r)));
    let kind = if rule.is_some() { FindingKind::Lint } else { FindingKind::Compile };
    let place = Place { file, line, column: Some(column), rest: "" };
    Some((place, Said { tool: "compact", kind, rule, message, is_warning }))
}

/// `[a.c:4]: (error) text`, as older versions of cppcheck print it.
fn bracketed(text: &str) -> Option<(Place<'_>, Said<'_>)> {
    let (at, rest) = text.strip_prefix('[')?.split_once("]: (")?;
    // `[a.c:4] -> [b.c:9]`: the last one is where it happens.
    let at = at.rsplit("-> [").next()?;
    let (file, line) = at.rsplit_once(':')?;
    let (level, message) = rest.split_once(") ")?;
    let is_warning = match level {
        "error" => false,
        "warning" | "style" | "performance" | "portability" => true,
        _ => return None,
    };
    let place = Place { file, line: line.parse().ok()?, column: None, rest: "" };
    let kind = FindingKind::Lint;
    Some((place, Said { tool: "cppcheck", kind, rule: None, message, is_warning }))
}

/// The file of isort's `ERROR: /path/a.py Imports are incorrectly sorted and/or formatted.`
fn unsorted(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("ERROR: ")?;
    Some(rest.split_once(" Imports are incorrectly sorted")?.0)
}

/// Text and mark of `text [mark]`, where the mark has no blank in it.
fn in_brackets(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let inner = text.trim_end().strip_suffix(close)?;
    // Marks may hold brackets of their own: `[Error/eslint(no-debugger)]`.
    let at = inner.rfind([' ']).map_or(0, |at| at + 1);
    let mark = inner.get(at..)?.strip_prefix(open)?;
    (!mark.is_empty()).then(|| (inner.get(..at).unwrap_or("").trim_end(), mark))
}
