//! Checkstyle XML, which many linters can print: `<error line="3" message="…" source="…"/>`.

use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Findings, Report};
use crate::{Finding, FindingKind};

/// Reads errors below their file; every severity but `ignore` counts.
#[derive(Clone, Default)]
pub(super) struct Checkstyle {
    begun: bool,
    file: String,
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
            if tag.starts_with("checkstyle") {
                self.begun = true;
            } else if self.begun && tag.starts_with("/checkstyle") {
                self.begun = false;
            } else if self.begun && tag.starts_with("file ") {
                self.file = attribute(tag, "name").unwrap_or_default();
            } else if self.begun && tag.starts_with("error ") {
                self.error(tag, line.number);
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
        let Some(message) = attribute(tag, "message") else { return };
        let mut finding = Finding::new(FindingKind::Lint, message);
        // `ShellCheck.SC2086`, `com.puppycrawl.tools…FooCheck`: the last word is the rule.
        let rule = attribute(tag, "source").filter(|source| !source.is_empty());
        finding.name = rule.map(|rule| rule.rsplit('.').next().unwrap_or(&rule).to_owned());
        let number_of = |key| attribute(tag, key).and_then(|value| value.parse::<u32>().ok());
        let finding = finding.at(self.file.as_str(), number_of("line"), number_of("column"));
        self.findings.push(number, finding);
    }
}

/// The value of `key="…"` or `key='…'`, with its entities undone.
fn attribute(tag: &str, key: &str) -> Option<String> {
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
fn decoded(value: &str) -> String {
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
