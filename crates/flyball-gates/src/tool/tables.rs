//! Linters that print a path and below it a table of what is wrong there, each with marks of its own:
//! xo, alex and remark, htmlhint, djlint, `PHP_CodeSniffer`, jshint below grunt.

use crate::recogniser::{Attention, Cues, Line, PATHS, Recogniser, Trait};
use crate::report::{Findings, Report};
use crate::{Finding, FindingKind, text};

/// How many lines may stand between a path and its table.
const GAP_MAX: u8 = 3;

/// Reads the rows below a path.
#[derive(Clone, Default)]
pub(super) struct Tables {
    file: Option<String>,
    gap: u8,
    /// The line of htmlhint's row, whose text comes on the next one.
    quoted: Option<u32>,
    findings: Findings,
    warnings: Findings,
}

impl Recogniser for Tables {
    fn name(&self) -> &'static str {
        "table"
    }

    fn cues(&self) -> Cues {
        // The last letters of what is linted: js, html, md, txt, jsx, vue, py, rb, pug; xo names
        // the place of the first problem.
        Cues {
            starts: &["FILE"],
            also: &[
                (PATHS, Trait::EndsWith(b's')),
                (PATHS, Trait::EndsWith(b'l')),
                (PATHS, Trait::EndsWith(b'd')),
                (PATHS, Trait::EndsWith(b't')),
                (PATHS, Trait::EndsWith(b'x')),
                (PATHS, Trait::EndsWith(b'e')),
                (PATHS, Trait::ColonNumber),
            ],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some(file) = path(line.text) {
            self.file = Some(file.to_owned());
            self.gap = 0;
            return Attention::Busy;
        }
        let Some(file) = &self.file else { return Attention::Idle };
        if let Some(at) = quoted(line.text) {
            self.quoted = Some(at);
            return Attention::Busy;
        }
        let row = match self.quoted.take() {
            Some(at) => pointed(line.text).map(|(message, rule)| Row::new(at, None, message, rule)),
            None => row(line.text, file).or_else(|| celled(line.text)),
        };
        // A text that goes on below.
        if let Some(more) = continued(line.text).filter(|_| self.gap == 0)
            && let Some(last) = self.findings.last()
            && last.message.len() < 2_000
        {
            last.message = format!("{} {more}", last.message);
            return Attention::Busy;
        }
        if let Some(row) = row {
            let mut finding = Finding::new(FindingKind::Lint, row.message);
            finding.name = row.rule.map(str::to_owned);
            let list = if row.is_warning { &mut self.warnings } else { &mut self.findings };
            list.push(line.number, finding.at(file.as_str(), row.line, row.column));
            self.gap = 0;
            return Attention::Busy;
        }
        self.gap = self.gap.saturating_add(1);
        if self.gap > GAP_MAX {
            self.file = None;
            return Attention::Idle;
        }
        Attention::Busy
    }

    fn is_patient(&self) -> bool {
        true
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        let warnings = std::mem::take(&mut self.warnings);
        (!findings.is_empty() || !warnings.is_empty()).then(|| Report {
            tool: "table",
            findings,
            warnings,
            ..Report::default()
        })
    }
}

/// One problem.
struct Row<'a> {
    line: u32,
    column: Option<u32>,
    is_warning: bool,
    message: &'a str,
    rule: Option<&'a str>,
}

impl<'a> Row<'a> {
    const fn new(line: u32, column: Option<u32>, message: &'a str, rule: Option<&'a str>) -> Self {
        Self { line, column, is_warning: false, message, rule }
    }
}

/// The path that is all a line says; xo puts the place of the first problem behind it.
fn path(line: &str) -> Option<&str> {
    // Cheap questions first: this looks at very many lines.
    let own = line.strip_prefix("FILE: ").unwrap_or(line);
    let depth = text::indent(own);
    let bytes = own.as_bytes().get(depth..).unwrap_or_default();
    if line.len() > 300
        || depth > 3
        || memchr::memchr(b' ', bytes).is_some()
        || memchr::memchr(b'.', bytes).is_none()
    {
        return None;
    }
    let own = text::trim_start(own);
    let file = own.split_once(':').map_or(own, |(file, _)| file);
    let rest = own.get(file.len()..).unwrap_or_default();
    let is_placed = rest.bytes().all(|byte| byte == b':' || byte.is_ascii_digit());
    let (stem, end) = file.rsplit('/').next()?.rsplit_once('.')?;
    let is_extension = (1..=6).contains(&end.len())
        && end.starts_with(|first: char| first.is_ascii_alphabetic())
        && end.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_plain = !file.contains(['(', '"', '\'', '=', ',', '<']);
    (is_placed && is_extension && is_plain && !stem.is_empty()).then_some(file)
}

/// `  ✖  1:5  text  rule`, `  2:1-2:3  warning  text  rule  source`, `H013 1:0 text`.
fn row<'a>(line: &'a str, file: &str) -> Option<Row<'a>> {
    let own = text::trim_start(line);
    let is_indented = own.len() < line.len();
    if let Some((is_warning, rest)) = marked(own).filter(|_| is_indented) {
        let (at, column, rest) = position(rest.trim_start())?;
        let (message, rule) = columns(rest);
        return Some(Row { line: at, column, is_warning, message, rule });
    }
    if is_indented {
        let (at, column, rest) = position(own)?;
        let is_span = rest.starts_with('-');
        let rest = rest.strip_prefix('-').and_then(position).map_or(rest, |(_, _, rest)| rest);
        let rest = rest.strip_prefix(' ')?.trim_start();
        let (is_warning, rest) = match rest.strip_prefix("error ") {
            Some(rest) => (false, rest),
            None => (true, rest.strip_prefix("warning ")?),
        };
        // eslint's own tables have their own reader.
        if !is_span && file.contains('/') {
            return None;
        }
        let (message, rule) = columns(rest);
        let (message, rule) = match (is_span, columns(message)) {
            // What the rule is from comes last.
            (true, (first, Some(inner))) => (first, Some(inner)),
            _ => (message, rule),
        };
        return Some(Row { line: at, column, is_warning, message, rule });
    }
    let (code, rest) = own.split_once(' ')?;
    let is_code = code.len() <= 8
        && code.starts_with(|first: char| first.is_ascii_uppercase())
        && code.ends_with(|last: char| last.is_ascii_digit());
    let (at, column, message) = position(rest).filter(|_| is_code)?;
    let message = message.strip_prefix(' ')?;
    Some(Row::new(at, column, message.trim(), Some(code)))
}

fn marked(own: &str) -> Option<(bool, &str)> {
    let error = own.strip_prefix("✖ ").or_else(|| own.strip_prefix("× "));
    error.map(|rest| (false, rest)).or_else(|| Some((true, own.strip_prefix("⚠ ")?)))
}

/// `3:7`, and what follows.
fn position(text: &str) -> Option<(u32, Option<u32>, &str)> {
    let (line, rest) = text::small(text)?;
    let (column, rest) = text::small(rest.strip_prefix(':')?)?;
    Some((line, Some(column), rest))
}

/// Text and rule, which stands in the last column.
fn columns(rest: &str) -> (&str, Option<&str>) {
    let rest = rest.trim();
    match rest.rsplit_once("  ") {
        Some((message, rule)) if !rule.contains(' ') => (message.trim_end(), Some(rule)),
        _ => (rest, None),
    }
}

/// `  7 | ERROR   | [x] text`.
fn celled(line: &str) -> Option<Row<'_>> {
    let (at, rest) = text::small(text::trim_start(line))?;
    let (level, message) = rest.trim_start().strip_prefix("| ")?.split_once('|')?;
    let message = message.trim();
    let message =
        ["[x] ", "[ ] "].iter().find_map(|mark| message.strip_prefix(mark)).unwrap_or(message);
    let is_warning = match level.trim() {
        "ERROR" => false,
        "WARNING" => true,
        _ => return None,
    };
    Some(Row { is_warning, ..Row::new(at, None, message.trim_start(), None) })
}

/// `    |         |     text`.
fn continued(line: &str) -> Option<&str> {
    let (level, message) = text::trim_start(line).strip_prefix("| ")?.split_once('|')?;
    let message = message.trim();
    (level.trim().is_empty() && !message.is_empty()).then_some(message)
}

/// The line of `      L4 |<div>`, `      4 |    code`.
fn quoted(line: &str) -> Option<u32> {
    let own = text::trim_start(line);
    let (number, rest) = text::small(own.strip_prefix('L').unwrap_or(own))?;
    let is_quoted = rest.starts_with(" |") && celled(line).is_none();
    (is_quoted && own.len() < line.len()).then_some(number)
}

/// Text and rule of `          ^ The attribute must be … (rule)`.
fn pointed(line: &str) -> Option<(&str, Option<&str>)> {
    let rest = text::trim_start(line).strip_prefix("^ ")?.trim();
    match rest.strip_suffix(')').and_then(|inner| inner.rsplit_once(" (")) {
        Some((message, rule)) if !rule.contains(' ') => Some((message, Some(rule))),
        _ => Some((rest, None)),
    }
}

#[cfg(test)]
mod tests {
    use crate::Parser;

    fn told(output: &str) -> Vec<String> {
        let mut parser = Parser::new("check");
        parser.feed(output.as_bytes());
        let parsed = parser.finish(Some(1));
        let tell = |f: &crate::Finding| {
            let name = f.name.as_deref().unwrap_or("-");
            format!("{name} {} {}", f.place().unwrap_or_default(), f.message)
        };
        parsed.findings.iter().map(tell).collect()
    }

    #[test]
    fn rows_below_a_path_are_read_with_their_marks() {
        let table = [
            (
                "  lib/a.js:3:7\n  ✖  3:7   Not so.  no-so\n  ⚠  4:1   Hm.  hm\n",
                "no-so lib/a.js:3:7 Not so.",
            ),
            (
                "a.md\n  3:7-3:9  warning  Not so.     no-so   retext\n\n⚠ 1 warning\n",
                "no-so a.md:3:7 Not so.",
            ),
            (
                "\n   /p/a.html\n      L3 |<DIV>\n          ^ Not so. (no-so)\n",
                "no-so /p/a.html:3 Not so.",
            ),
            (
                "\n   src/a.js\n      3 |    var a\n               ^ Not so.\n\n>> 1 error\n",
                "- src/a.js:3 Not so.",
            ),
            (
                "FILE: /p/a.php\n-----\nFOUND 1 ERROR AFFECTING 1 LINE\n-----\n 3 | ERROR | [x] Not\n   |       |     so.\n-----\n",
                "- /p/a.php:3 Not so.",
            ),
            ("a.html\n─────────\nH013 3:7 Not so. <img>\n", "H013 a.html:3:7 Not so. <img>"),
        ];
        for (output, want) in table {
            assert_eq!(told(output), [want], "{output}");
        }
    }
}
