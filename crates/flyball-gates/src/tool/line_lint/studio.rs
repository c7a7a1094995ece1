//! The form Visual Studio reads, which linters can print.

use super::Said;
use crate::FindingKind;
use crate::place::Place;

/// Whether a word says how grave it is.
pub(super) fn is_level(word: &str) -> bool {
    word.eq_ignore_ascii_case("warning") || word.eq_ignore_ascii_case("error")
}

/// `a.js(3,7): error no-undef : text`, as Visual Studio wants it, with or without a rule.
pub(super) fn studio<'a>(place: &Place<'a>, text: &str) -> Option<Said<'a>> {
    if text.as_bytes().get(place.file.len()) != Some(&b'(') {
        return None;
    }
    let (head, message) = place.rest.split_once(" : ").or_else(|| place.rest.split_once(": "))?;
    let (level, rule) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
    // The compilers that print this way number their errors, and have readers of their own.
    let is_number = rule.len() > 3 && rule.ends_with(|last: char| last.is_ascii_digit());
    // Without a rule and a blank before the colon it is a compiler's as well.
    let is_plain = rule.is_empty() && !place.rest.contains(" : ");
    let is_own = is_level(level) && !rule.contains(' ') && !is_number && !is_plain;
    let is_warning = level.eq_ignore_ascii_case("warning");
    let is_syntax = rule.is_empty() && message.starts_with("Parsing error");
    let kind = if is_syntax { FindingKind::Compile } else { FindingKind::Lint };
    let rule = (!rule.is_empty()).then_some(rule);
    is_own.then_some(Said { tool: "msvs", kind, rule, message, is_warning })
}
