//! What is marked as failed in the output of unknown programs, or as well.

use super::shape::is_path;
use super::table;
use crate::{place, text};

/// Something that is marked as failed, and why where the line says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marked<'a> {
    pub(super) name: &'a str,
    pub(super) why: &'a str,
}

/// Signs before what failed.
pub(super) const CROSSES: &[char] =
    &['\u{2717}', '\u{2718}', '\u{2716}', '\u{d7}', '\u{2715}', '\u{274c}', '\u{2a2f}'];
/// Signs before what is well.
const TICKS: &[char] = &['\u{2713}', '\u{2714}', '\u{2705}', '\u{221a}'];
/// Words before what failed.
const MARKS: &[&str] = &[
    "FAIL ", "FAILED ", "[FAIL]", "[FAILED]", "[ERROR]", "[ERR]", "[NG]", "FAIL:", "FAILED:",
    "NOT OK:", "- [ ] ",
];
/// Words behind what failed.
const ENDS: &[&str] = &["FAILED", "FAIL", "BROKEN", "ERROR", "TIMEOUT", "UNEXPECTEDPASS"];

/// What a line marks as failed.
pub(super) fn verdict(line: &str) -> Option<Marked<'_>> {
    let own = line.trim();
    if let Some(row) = table::row(own) {
        return Some(row).filter(|found| is_name(found.name));
    }
    if let Some(placed) = placed(own) {
        return Some(placed);
    }
    let marked = own
        .strip_prefix(CROSSES)
        .or_else(|| own.strip_prefix('[')?.strip_prefix(CROSSES)?.strip_prefix(']'))
        .or_else(|| MARKS.iter().find_map(|mark| own.strip_prefix(mark)))
        // automake: a test that could not say how it went.
        .or_else(|| own.strip_prefix("ERROR: ").filter(|name| is_path(name)))
        .map(|name| Marked {
            name: name.trim_start_matches(['\u{fe0f}', ' ', '-', ':']).trim(),
            why: "",
        });
    // A share of all that is done is shown by who goes on to tell more.
    let marked = marked.filter(|found| !found.name.ends_with('%'));
    marked.or_else(|| ended(own)).filter(|found| is_name(found.name))
}

/// A test behind its place, as small frameworks of C tell it: `t.c:21:test_close:FAIL: why`,
/// `t.c:15: FAIL test_open: why`, `t.c:6:F:suite:test_sum:0: why`.
fn placed(line: &str) -> Option<Marked<'_>> {
    let rest = place::prefix(line)?.rest;
    if let Some(rest) = rest.strip_prefix("F:").or_else(|| rest.strip_prefix("E:")) {
        let (_, rest) = rest.split_once(':')?;
        let (name, rest) = rest.split_once(':')?;
        let (_, why) = text::number(rest)?;
        return Some(Marked { name, why: why.strip_prefix(':')?.trim() });
    }
    let is_test = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
            && name.bytes().any(|byte| byte == b'_' || byte.is_ascii_uppercase())
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let (name, why) = if let Some((name, why)) = rest.split_once(":FAIL") {
        (name, why.strip_prefix(':').or(why.is_empty().then_some(why))?)
    } else {
        let test =
            ["FAIL ", "FAIL: ", "FAILED "].iter().find_map(|mark| rest.strip_prefix(mark))?;
        test.split_once(": ").unwrap_or((test, ""))
    };
    is_test(name).then_some(Marked { name, why: why.trim() })
}

/// `name ... FAIL: why`, `name   FAILED`, `name: FAIL (0.1 s)`.
fn ended(line: &str) -> Option<Marked<'_>> {
    let found = ENDS.iter().find_map(|end| {
        let at = text::find(line, end)?;
        let (before, after) = (line.get(..at)?, line.get(at + end.len()..)?);
        let is_word = before.ends_with([' ', '.', ':', '\t'])
            && !after.starts_with(|c: char| c.is_alphanumeric());
        is_word.then_some((before, after))
    });
    let (before, after) = found?;
    let before = after_number(before);
    let name = before
        .trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, ')' | ']' | '"' | '\''));
    // `- ERROR - text` and `12:30 ERROR text` are what loggers write.
    let why = match after.strip_prefix(':') {
        Some(why) => why,
        None if after.trim().is_empty() => "",
        None if after.trim_start().starts_with('(') => in_brackets(after),
        None => after_time(after)?,
    };
    let is_log =
        name.ends_with(|c: char| c.is_ascii_digit()) && name.contains(':') && before.ends_with(' ');
    (!is_log).then_some(Marked { name: name.trim_start(), why: why.trim() })
}

/// Why something failed, in `(expected 200, got 503)`; `(0.1 s)` says only how long it took.
fn in_brackets(text: &str) -> &str {
    let own = text.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    own.filter(|own| own.contains(' ') && !own.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or_default()
}

/// What follows `  0.01s  `, `[0.1 s]`.
fn after_time(text: &str) -> Option<&str> {
    let (_, rest) = text::number(text.trim_start_matches([' ', '\t', '[']))?;
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
    let rest = ["sec", "ms", "s"].iter().find_map(|unit| rest.strip_prefix(unit))?;
    (!rest.starts_with(|c: char| c.is_alphanumeric())).then(|| rest.trim_start_matches([']', ' ']))
}

/// What follows `3/7 ` or `(3/7) `, `3 - ` or `3) `.
fn after_number(text: &str) -> &str {
    let bare = text.trim_start().trim_start_matches('(');
    let Some((_, rest)) = text::number(bare) else { return text };
    if let Some((_, rest)) = rest.strip_prefix('/').and_then(text::number) {
        return rest.trim_start_matches([')', ' ', ':']);
    }
    let listed = [" - ", ") ", ". "].iter().find_map(|mark| rest.strip_prefix(mark));
    listed.unwrap_or(text)
}

/// Whether something is named and not counted.
fn is_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let counts = [
        "problem",
        " failed",
        "failures",
        " errors",
        "tests ",
        "results",
        "summary",
        "errors were ",
        "total",
    ];
    name.starts_with(|c: char| {
        c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '"' | '\'' | '`' | '$' | '<' | '[')
    }) && name.chars().any(char::is_alphabetic)
        && !is_figure(name)
        && !name.starts_with('(')
        && !counts.iter().any(|count| {
            lower.contains(count)
                && lower.split_whitespace().count() < 12
                && (lower.starts_with(count.trim())
                    || lower.bytes().any(|byte| byte.is_ascii_digit()))
        })
}

/// Whether it begins with a number that counts something, and is none of those that tell things apart: `002`.
fn is_figure(name: &str) -> bool {
    let rest = name.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = name.starts_with('0') && name.len() - rest.len() > 1 && rest.starts_with(' ');
    rest.len() < name.len() && !is_number
}

/// Whether a line marks something as well.
pub(super) fn is_passed(line: &str) -> bool {
    let own = line.trim();
    own.starts_with(TICKS)
        || own.starts_with("[OK]")
        || own.starts_with("[ OK ]")
        || own.starts_with("[PASS]")
}
