//! What codespell, standard and ktlint say behind a place.

use super::{Said, unix};
use crate::place::{self, Place};
use crate::{FindingKind, text};

/// `teh ==> the`, `wich ==> which, witch`.
pub(super) fn codespell(rest: &str) -> Option<Said<'_>> {
    let (word, _) = rest.split_once(" ==> ").filter(|(word, _)| !word.contains(' '))?;
    let kind = FindingKind::Lint;
    Some(Said { tool: "codespell", kind, rule: Some(word), message: rest, is_warning: false })
}

/// standard and ktlint: `  a.js:2:28: Strings must use singlequote. (quotes)`.
pub(super) fn ruled(text: &str) -> Option<(Place<'_>, Said<'_>)> {
    let place = place::prefix(text::trim_start(text)).filter(|place| place.column.is_some())?;
    let (message, rule) = place.rest.strip_suffix(')')?.rsplit_once(" (")?;
    let is_rule = rule.starts_with(|first: char| first.is_ascii_lowercase())
        && rule.bytes().all(|byte| byte.is_ascii_lowercase() || b"-/:@".contains(&byte));
    let is_linted =
        place.has_extension(&["js", "jsx", "mjs", "cjs", "ts", "tsx", "vue", "kt", "kts"]);
    // Others say how grave it is first.
    let level = message.split([':', ' ']).next().unwrap_or_default();
    let is_plain = !matches!(level, "error" | "warning" | "info" | "-");
    let kind = FindingKind::Lint;
    let said = Said { tool: "standard", kind, rule: Some(rule), message, is_warning: false };
    (is_rule && is_linted && is_plain).then_some((place, said))
}

/// Text and rule of `Style/Nil: text`.
pub(super) fn of_department(message: &str) -> (&str, Option<&str>) {
    let (rule, text) = message.split_once(": ").unwrap_or_default();
    let is_rule = rule.contains('/')
        && rule.starts_with(|c: char| c.is_ascii_uppercase())
        && rule.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'/');
    if is_rule { (text, Some(rule)) } else { (message, None) }
}

/// `a page.jsx:3:7: text [Error/rule]`: a path with blanks, where what comes behind it says whose it is.
pub(super) fn spaced(text: &str) -> Option<(Place<'_>, Said<'_>)> {
    let tag = text.strip_suffix(']')?.rsplit_once(" [")?.1;
    if !tag.starts_with("Error/") && !tag.starts_with("Warning/") {
        return None;
    }
    let (name, _) = text.split_once(": ")?;
    let (head, column) = name.rsplit_once(':')?;
    let (file, line) = head.rsplit_once(':')?;
    let (line, column) = (line.parse().ok()?, column.parse().ok()?);
    let said = unix(text.get(name.len() + 2..)?)?;
    Some((Place { file, line, column: Some(column), rest: "" }, said))
}
