//! Problems as XML below their files: Checkstyle (`<error line="3" message="…" source="…"/>`), which
//! many linters can print, the forms of jslint and csslint (`<issue line="3" reason="…"/>`), PMD, and
//! cppcheck's, whose places stand inside of the problem.

use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Findings, Report};
use crate::{Finding, FindingKind};

/// What such a document begins with.
const ROOTS: &[&str] = &["checkstyle", "jslint", "csslint", "lint", "results", "pmd"];

/// Reads errors below their file; every severity but `ignore` counts.
#[derive(Clone, Default)]
pub(super) struct Checkstyle {
    /// What the open document began with.
    root: Option<&'static str>,
    file: String,
    /// A problem whose place has not come yet.
    placeless: Option<Finding>,
    findings: Findings,
}

impl Recogniser for Checkstyle {
    fn name(&self) -> &'static str {
        "checkstyle"
    }

    fn cues(&self) -> Cues {
        Cues { first: b"<", ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        // Some print the whole document in one line.
        for tag in line.text.split('<').skip(1) {
            let Some(root) = self.root else {
                let name = tag.split([' ', '>', '\t']).next().unwrap_or_default();
                self.root = ROOTS.iter().find(|root| **root == name).copied();
                continue;
            };
            if tag.strip_prefix('/').is_some_and(|end| end.starts_with(root)) {
                self.root = None;
            } else if tag.starts_with("file ") {
                self.file = attribute(tag, "name").unwrap_or_default();
            } else if ["error ", "issue ", "violation "].iter().any(|own| tag.starts_with(own)) {
                self.error(tag, line.number);
            } else if tag.starts_with("location ")
                && let Some(finding) = self.placeless.take()
            {
                let (at, column) = (numbered(tag, "line"), numbered(tag, "column"));
                let file = attribute(tag, "file").unwrap_or_default();
                self.findings.push(line.number, finding.at(file, at, column));
            }
        }
        Attention::Idle
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        (!findings.is_empty()).then(|| Report { tool: "checkstyle", findings, ..Report::default() })
    }
}

impl Checkstyle {
    fn error(&mut self, tag: &str, number: u64) {
        // cppcheck's are counted by their places.
        if self.root != Some("results") && self.findings.is_only_counted() {
            return;
        }
        let says = ["message", "reason", "msg"];
        let inside = || tag.split_once('>').map(|(_, inside)| decoded(inside.trim()));
        let message = says.iter().find_map(|key| attribute(tag, key)).or_else(inside);
        let Some(message) = message.filter(|message| !message.is_empty()) else { return };
        let mut finding = Finding::new(FindingKind::Lint, message);
        // `ShellCheck.SC2086`, `com.puppycrawl.tools…FooCheck`: the last word is the rule.
        let rule = ["source", "rule", "id"].iter().find_map(|key| attribute(tag, key));
        let rule = rule.filter(|source| !source.is_empty());
        finding.name = rule.map(|rule| rule.rsplit('.').next().unwrap_or(&rule).to_owned());
        let at = numbered(tag, "line").or_else(|| numbered(tag, "beginline"));
        if at.is_none() && self.root == Some("results") {
            self.placeless = Some(finding);
            return;
        }
        let column = numbered(tag, "column").or_else(|| numbered(tag, "char"));
        self.findings.push(number, finding.at(self.file.as_str(), at, column));
    }
}

fn numbered(tag: &str, key: &str) -> Option<u32> {
    attribute(tag, key).and_then(|value| value.parse().ok())
}

/// The value of `key="…"` or `key='…'`, with its entities undone.
pub(super) fn attribute(tag: &str, key: &str) -> Option<String> {
    let value = tag.match_indices(key).find_map(|(at, _)| {
        let is_key = tag.get(..at)?.ends_with(' ');
        let rest = tag.get(at + key.len()..)?.strip_prefix('=')?;
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let rest = rest.get(1..)?;
        is_key.then(|| rest.split(quote).next())?
    })?;
    Some(decoded(value))
}

/// The text with `&lt;`, `&#39;` and their like as letters.
pub(super) fn decoded(value: &str) -> String {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('&') {
        text.push_str(before);
        let entity = after.split_once(';');
        if let Some((letter, more)) = entity.and_then(|(name, more)| Some((letter(name)?, more))) {
            text.push(letter);
            rest = more;
        } else {
            text.push('&');
            rest = after;
        }
    }
    text.push_str(rest);
    text
}

fn letter(entity: &str) -> Option<char> {
    if let Some(number) = entity.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match entity {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    })
}
