//! biome: `path:1:16 lint/rule ━━━━`, and below it what is wrong.

use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::{Block, Findings, Report};
use crate::{Finding, FindingKind};

/// Reads the headings with a path; those without are about the run as a whole.
#[derive(Clone, Default)]
pub(super) struct Biome {
    spoke: bool,
    open: Option<Open>,
    findings: Findings,
    warnings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    category: String,
    place: Option<(String, Option<u32>, Option<u32>)>,
    severity: Option<Severity>,
    message: String,
    excerpt: Block,
    /// The message is complete.
    told: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Severity {
    Error,
    Warning,
    Information,
}

impl Recogniser for Biome {
    fn name(&self) -> &'static str {
        "biome"
    }

    fn cues(&self) -> Cues {
        const PATHS: &[u8] =
            b"/.@_-[(0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        // The last byte of the rule every heading ends with.
        Cues { also: &[(PATHS, Trait::EndsWith(0x81))], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some(heading) = heading(line.text) {
            self.close();
            self.open = Open::new(heading, line);
        } else if let Some(open) = &mut self.open
            && !open.line(line.text)
        {
            self.close();
        }
        self.after_routine()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        // More of a report that can only be counted.
        let severity = self.open.as_ref().and_then(|open| open.severity);
        let is_counted = severity.is_some_and(|severity| match severity {
            Severity::Error => self.findings.is_full(),
            Severity::Warning => self.warnings.is_full(),
            Severity::Information => true,
        });
        is_counted && (line.is_empty() || line.starts_with(b"  "))
    }

    fn after_routine(&self) -> Attention {
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "biome",
            findings: std::mem::take(&mut self.findings),
            warnings: std::mem::take(&mut self.warnings),
            ..Report::default()
        })
    }
}

impl Biome {
    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let Some(severity) = open.severity else { return };
        self.spoke = true;
        let kind = kind(&open.category);
        let words = [&*open.category, &*open.message, open.excerpt.as_str()];
        let is_known = open.place.is_some()
            && match severity {
                Severity::Error => self.findings.is_known(&words),
                Severity::Warning => self.warnings.is_known(&words),
                Severity::Information => true,
            };
        if is_known {
            return;
        }
        let Some((file, line, column)) = open.place else {
            // It says so where there are no errors: then they are what is wrong, whatever others find.
            if open.message.starts_with("Some warnings were emitted while running checks") {
                self.findings.absorb(std::mem::take(&mut self.warnings));
            }
            // Some reporters say no more of them than that there are some.
            if open.message.starts_with("Some errors were emitted while running checks") {
                self.warnings.push(open.number, Finding::new(FindingKind::Lint, open.message));
                return;
            }
            // Only the run as a whole: it says something when it could not begin.
            if kind == FindingKind::CouldNotRun && severity == Severity::Error {
                self.warnings.push(open.number, Finding::new(kind, open.message));
            }
            return;
        };
        // What is about a whole file is reported at its first line, as in biome's other formats.
        let line = line.or_else(|| (kind == FindingKind::Format).then_some(1));
        let finding = Finding::new(kind, open.message).named(open.category).at(file, line, column);
        let finding = finding.with_excerpt(open.excerpt.take());
        match severity {
            Severity::Error => self.findings.push(open.number, finding),
            Severity::Warning => self.warnings.push(open.number, finding),
            Severity::Information => {}
        }
    }
}

impl Open {
    fn new(heading: &str, line: &Line<'_>) -> Option<Self> {
        let heading = heading.trim_end();
        let heading = ["FIXABLE", "DEPRECATED", "VERBOSE"]
            .iter()
            .find_map(|tag| heading.strip_suffix(tag))
            .unwrap_or(heading)
            .trim_end();
        let (place, category) = match heading.rsplit_once(' ') {
            Some((place, category)) => (Some(place.trim_end()), category),
            None => (None, heading),
        };
        if !is_category(category) {
            return None;
        }
        let place = place.map(|place| {
            let (file, at) = split(place);
            let (line, column) = at.map_or((None, None), |(l, c)| (Some(l), Some(c)));
            (file.to_owned(), line, column)
        });
        let mut excerpt = Block::default();
        excerpt.push(line.text.trim_end_matches('━').trim_end());
        Some(Self {
            number: line.number,
            category: category.to_owned(),
            place,
            severity: None,
            message: String::new(),
            excerpt,
            told: false,
        })
    }

    /// Takes a line; false when this one is over.
    fn line(&mut self, text: &str) -> bool {
        let trimmed = text.trim();
        if !trimmed.is_empty() && !text.starts_with("  ") {
            return false;
        }
        self.excerpt.push(text);
        if self.severity.is_none() {
            let Some((severity, message)) = marked(trimmed) else { return trimmed.is_empty() };
            self.severity = Some(severity);
            message.clone_into(&mut self.message);
        } else if trimmed.is_empty() {
            self.told = true;
        } else if !self.told && self.message.len() < 2_000 {
            self.message = format!("{} {trimmed}", self.message);
        }
        true
    }
}

/// The text of a heading, before the long rule it ends with.
fn heading(text: &str) -> Option<&str> {
    let heading = text.trim_end_matches('━');
    let is_heading = text.len() - heading.len() >= 9 && heading.ends_with(' ');
    (is_heading && !heading.trim().is_empty() && !heading.starts_with("  ")).then_some(heading)
}

/// Path and place of `path:1:16` or `path`.
fn split(place: &str) -> (&str, Option<(u32, u32)>) {
    let numbers = || {
        let (rest, column) = place.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        Some((file, (line.parse().ok()?, column.parse().ok()?)))
    };
    numbers().map_or((place, None), |(file, at)| (file, Some(at)))
}

fn marked(trimmed: &str) -> Option<(Severity, &str)> {
    let (mark, message) = trimmed.split_once(' ')?;
    let severity = match mark {
        "×" | "✖" | "x" => Severity::Error,
        "!" | "⚠" => Severity::Warning,
        "i" | "ℹ" => Severity::Information,
        _ => return None,
    };
    Some((severity, message.trim()))
}

const WHOLE: &[&str] = &[
    "parse",
    "format",
    "organizeImports",
    "deserialize",
    "configuration",
    "check",
    "ci",
    "lint",
    "search",
    "plugin",
    "project",
    "stdin",
    "assist",
];

fn is_category(word: &str) -> bool {
    let groups =
        ["lint/", "assist/", "syntax/", "suppressions/", "internalError/", "files/", "flags/"];
    WHOLE.contains(&word) || groups.iter().any(|group| word.starts_with(group))
}

fn kind(category: &str) -> FindingKind {
    match category {
        "parse" => FindingKind::Compile,
        "format" | "organizeImports" | "assist/source/organizeImports" => FindingKind::Format,
        "deserialize" | "configuration" => FindingKind::CouldNotRun,
        _ if category.starts_with("internalError/") || category.starts_with("flags/") => {
            FindingKind::CouldNotRun
        }
        _ if category.starts_with("syntax/") => FindingKind::Compile,
        _ => FindingKind::Lint,
    }
}

#[cfg(test)]
mod tests {
    use super::{heading, split};

    #[test]
    fn headings_are_told_from_other_rules() {
        assert_eq!(heading("a b.js:1:2 parse ━━━━━━━━━"), Some("a b.js:1:2 parse "));
        assert_eq!(heading("━━━━━━━━━━━━"), None);
        assert_eq!(split("lib dir/a.js:3:14"), ("lib dir/a.js", Some((3, 14))));
        assert_eq!(split("lib/a.js"), ("lib/a.js", None));
    }
}
