//! What single lines of unknown programs look like.

use crate::place::{self, Place};
use crate::text;

/// Places that are unusual, but begin a line that then says something: `.env:1 text`,
/// `mandoc: a.1:4:2: text`, `a.nim(2, 5) Error: text`.
pub(super) fn odd_place(line: &str) -> Option<Place<'_>> {
    if let Some((file, rest)) = line.split_once('(')
        && is_path(file)
    {
        let (number, rest) = text::small(rest)?;
        let (column, rest) = match rest.strip_prefix(',') {
            Some(rest) => {
                text::small(rest.trim_start()).map(|(column, rest)| (Some(column), rest))?
            }
            None => (None, rest),
        };
        let rest = rest.strip_prefix(')')?.trim_start_matches([':', ' ']);
        return (rest.contains(' ') && number > 0).then_some(Place {
            file,
            line: number,
            column,
            rest,
        });
    }
    let own = line
        .split_once(": ")
        .filter(|(tool, _)| !tool.contains([' ', '.', '/']))
        .map_or(line, |(_, own)| own);
    place::prefix(own).filter(|place| place.rest.contains(' ') && place::mention(line).is_none())
}

/// The line of `1:6`, and what follows.
fn pair(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = text::small(text)?;
    let (_, rest) = text::small(rest.strip_prefix(':')?)?;
    Some((number, rest))
}

/// File and line where they are told as `b.js 1:6` at the end, `main.mjs (1:9): text`, or
/// `a.js: text (2:6)`.
fn paired(line: &str) -> Option<(&str, u32)> {
    if let Some((before, at)) = line.rsplit_once(' ')
        && let Some((number, rest)) = pair(at)
        && (rest.is_empty() || rest.starts_with('-'))
        && let Some(file) = before.rsplit(' ').next().filter(|word| is_path(word))
    {
        return Some((file, number));
    }
    let (before, at) = line.rsplit_once(" (").filter(|(_, at)| pair(at).is_some())?;
    let (number, rest) = pair(at)?;
    let near = before.rsplit(' ').next().filter(|word| is_path(word));
    near.or_else(|| file_of(before)).filter(|_| rest.starts_with(')')).map(|file| (file, number))
}

/// Whether a line begins as errors do, whatever a logger put before.
pub(super) fn is_error_start(line: &str) -> bool {
    let line = line.trim_start();
    let words = line.split_whitespace().take(5);
    let is_level = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphabetic());
        matches!(
            word,
            "error"
                | "Error"
                | "ERROR"
                | "fatal"
                | "FATAL"
                | "Fatal"
                | "CRITICAL"
                | "critical"
                | "panic"
        )
    };
    let mut words = words;
    words.any(is_level)
}

/// Whether a line only warns.
pub(super) fn is_warning(line: &str) -> bool {
    let mut words = line.split_whitespace().take(5);
    words.any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphabetic());
        matches!(
            word,
            "warning" | "Warning" | "WARNING" | "WARN" | "warn" | "note" | "info" | "INFO" | "hint"
        )
    })
}

/// Whether a line is the head of an error that a stack may follow.
pub(super) fn error_head(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("Exception in thread \"main\" ").unwrap_or(line);
    let line = line.strip_prefix("Uncaught ").unwrap_or(line);
    let end = line
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '$' | '\\')))
        .unwrap_or(line.len());
    let (word, rest) = line.split_at_checked(end).unwrap_or((line, ""));
    let is_error = word.ends_with("Error")
        || word.ends_with("Exception")
        || matches!(word, "panic" | "fatal" | "error");
    is_error
        && (rest.is_empty()
            || rest.starts_with(':')
            || rest.starts_with(" [")
            || rest.starts_with(" {"))
}

/// Whether a line is a frame of a stack.
pub(super) fn is_frame(line: &str) -> bool {
    let own = line.trim_start();
    if own.len() == line.len() {
        return false;
    }
    let has_number = || own.bytes().any(|byte| byte.is_ascii_digit());
    (own.starts_with("at ") && has_number() && (own.contains(':') || own.contains(" line ")))
        || (line.starts_with('\t')
            && own.starts_with('/')
            && place::prefix(own).is_some_and(|p| p.rest.is_empty() || p.rest.starts_with("+0x")))
        || (own.starts_with("from ") && place::mention(own).is_some())
        || (line.starts_with('\t')
            && place::prefix(own).is_some_and(|place| place.rest.starts_with("in ")))
}

/// The place that is all a line says, behind marks that point at it.
pub(super) fn bare_place(line: &str) -> Option<Place<'_>> {
    let marks = |c: char| {
        c.is_whitespace()
            || ('\u{2500}'..='\u{259f}').contains(&c)
            || matches!(c, '-' | '>' | '=' | '[' | '\u{25b8}' | '\u{25b6}' | '\u{2014}')
    };
    let own = line.trim_start_matches(marks).trim_end_matches([' ', ']', ':']);
    let labels = ["Location:", "File:", "Where:", "location:", "file:"];
    let own = labels.iter().find_map(|label| own.strip_prefix(label)).unwrap_or(own).trim_start();
    let is_pointed = own.len() < line.trim_start().len();
    let (word, rest) = own.split_once(' ').unwrap_or((own, ""));
    if rest.is_empty() {
        let place = place::mention(word).or_else(|| place::in_equipment(word));
        return place.filter(|place| place.rest.is_empty());
    }
    // `src/app.scss 1:13  root stylesheet`
    let (position, after) = rest.split_once(' ').unwrap_or((rest, ""));
    let (line, column) = position.split_once(':')?;
    let is_indented = text::indent(own) == 0 && !after.is_empty();
    let place =
        Place { file: word, line: line.parse().ok()?, column: column.parse().ok(), rest: "" };
    (is_path(word) && (is_indented || is_pointed) && place.column.is_some()).then_some(place)
}

/// File and line where both are told in words.
pub(super) fn worded(line: &str) -> Option<(&str, u32)> {
    if let Some(paired) = paired(line) {
        return Some(paired);
    }
    // Where Python was says nothing without what went wrong there.
    if line.contains(".py\", line ") && place::of_python(line).is_some() {
        return None;
    }
    let mut from = 0;
    while let Some(at) = line.get(from..).and_then(|rest| rest.find("line ")).map(|at| from + at) {
        from = at + 5;
        let before = line.get(..at)?;
        let is_word = before.is_empty() || before.ends_with(|c: char| !c.is_alphanumeric());
        let Some((number, after)) = line.get(from..).and_then(text::small) else { continue };
        if !is_word || after.starts_with(|c: char| c.is_alphanumeric()) || number == 0 {
            continue;
        }
        // `a.md: text (line 3)`
        if let Some(file) = complains(line).filter(|_| before.ends_with('(')) {
            return Some((file, number));
        }
        // `a.tex line 3`, `"a.tex", line 3`, `a.tex: line 3`, `a.tex on line 3`
        let near = before.trim_end_matches([' ', ',', ':', '(']);
        let near = near
            .strip_suffix(" on")
            .or_else(|| near.strip_suffix(" at"))
            .unwrap_or(near)
            .trim_end_matches([' ', ',']);
        let word = near
            .rsplit([' ', '\t', '('])
            .next()
            .unwrap_or(near)
            .trim_matches(['"', '\'', '`', ':']);
        let word = place::tidy(word);
        if is_path(word) {
            return Some((word, number));
        }
        // `a.md: text on line 3`
        if let Some(file) = complains(line) {
            return Some((file, number));
        }
    }
    None
}

/// The file a line is about: `a.desktop: text`, `ERROR x: b/c.sql: text`.
pub(super) fn file_of(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().take(8);
    words.find_map(|word| {
        word.strip_suffix(':')
            .map(|word| word.trim_matches(['"', '\'', '`', '[', ']']))
            .filter(|word| is_path(word))
    })
}

/// The file a line begins with that then says something in words: `a.py: no licence`.
pub(super) fn complains(line: &str) -> Option<&str> {
    const VERBS: &[&str] = &[
        "would be ",
        "failed ",
        "needs ",
        "is not ",
        "should ",
        "must ",
        "has no ",
        "is missing",
        "does not ",
        "cannot ",
    ];
    let own = line.trim();
    let own =
        ["* ", "- ", "\u{2022} "].iter().find_map(|mark| own.strip_prefix(mark)).unwrap_or(own);
    if let Some((file, rest)) = own.split_once(' ')
        && VERBS.iter().any(|verb| rest.starts_with(verb))
        && is_path(file)
    {
        return Some(file);
    }
    let (file, rest) = own.split_once(':')?;
    let rest = rest.trim();
    let is_well = [
        "ok",
        "OK",
        "passed",
        "PASS",
        "fine",
        "done",
        "valid",
        "unchanged",
        "No issues",
        "no issues",
        "0 ",
    ]
    .iter()
    .any(|word| rest.starts_with(word));
    (is_path(file) && rest.contains(' ') && !is_well).then_some(file)
}

/// Whether a word is the path of a file with an extension.
pub(super) fn is_path(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let Some((stem, end)) = name.rsplit_once('.') else { return false };
    word.len() < 300
        && !word.contains([' ', '(', '=', ',', '*', '"', '\'', '<', '>', '|', '{', '$'])
        && !word.contains("://")
        && (1..=8).contains(&end.len())
        && end.starts_with(|c: char| c.is_ascii_alphabetic())
        && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && (!stem.is_empty() || word.len() > 2)
}

/// Whether an error says where it is and no more: `ERROR in ./b.js 1:6`.
pub(super) fn is_bare(line: &str) -> bool {
    line.split_whitespace().count() <= 4 && is_error_start(line)
}

/// Whether a line only sets things apart, or counts what follows.
pub(super) fn is_rule(line: &str) -> bool {
    line.trim().bytes().all(|byte| matches!(byte, b'-' | b'=')) || line.starts_with("FOUND ")
}
