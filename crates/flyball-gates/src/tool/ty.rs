//! ty, deno lint and whoever else prints `error[rule]: text` with the place below.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Level, Report};
use crate::{Finding, FindingKind, text};

/// Reads a head with a rule in small letters, its `-->` and what stands at the mark.
#[derive(Clone, Default)]
pub(super) struct Ty {
    tool: Option<&'static str>,
    open: Option<Open>,
    findings: Findings,
    warnings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    level: Level,
    rule: String,
    message: String,
    place: Option<(String, u32, Option<u32>)>,
    /// What is said at the mark itself, and whether more may come.
    note: Option<String>,
    below: bool,
    excerpt: Block,
}

impl Recogniser for Ty {
    fn name(&self) -> &'static str {
        self.tool.unwrap_or("ty")
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["erro", "warn"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some((level, rule, message)) = head(line.text) {
            self.close();
            let mut excerpt = self.list(level).room();
            excerpt.push(line.text);
            self.open = Some(Open {
                number: line.number,
                level,
                rule: rule.to_owned(),
                message: message.to_owned(),
                place: None,
                note: None,
                below: false,
                excerpt,
            });
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
        // More of a diagnostic of which nothing is kept.
        self.open.as_ref().is_some_and(|open| open.place.is_some() && open.excerpt.is_closed())
            && !matches!(line.first(), None | Some(b'e' | b'w'))
            && !line.trim_ascii().is_empty()
    }

    fn after_routine(&self) -> Attention {
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let tool = self.tool?;
        Some(Report {
            tool,
            findings: std::mem::take(&mut self.findings),
            warnings: std::mem::take(&mut self.warnings),
            ..Report::default()
        })
    }
}

impl Ty {
    const fn list(&mut self, level: Level) -> &mut Findings {
        match level {
            Level::Error => &mut self.findings,
            Level::Warning => &mut self.warnings,
        }
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let Some((file, line, column)) = open.place.take() else { return };
        let is_python = place::has_extension(&file, &["py", "pyi", "ipynb"]);
        self.tool = Some(if is_python { "ty" } else { "deno-lint" });
        let words = [&*file, &*open.message, open.excerpt.as_str()];
        if self.list(open.level).is_known(&words) {
            return;
        }
        let kind = match open.rule.as_str() {
            "invalid-syntax" | "unresolved-import" | "import-not-found" => FindingKind::Compile,
            _ if is_python => FindingKind::Type,
            _ => FindingKind::Lint,
        };
        let message = match open.note {
            Some(note) => format!("{}: {note}", open.message),
            None => open.message,
        };
        let finding = Finding::new(kind, message).named(open.rule);
        let finding = finding.at(file, line, column).with_excerpt(open.excerpt.take());
        self.list(open.level).push(open.number, finding);
    }
}

impl Open {
    /// Takes a line; false when the diagnostic is over.
    fn line(&mut self, text: &str) -> bool {
        let trimmed = text.trim_start();
        let Some((_, _, _)) = &self.place else {
            let place = trimmed.strip_prefix("--> ").and_then(place::prefix);
            self.place = place.map(|at| (at.file.to_owned(), at.line, at.column));
            return self.place.is_some();
        };
        if trimmed.is_empty() {
            return false;
        }
        self.excerpt.push(text);
        self.below |= trimmed.starts_with("info:") || trimmed.starts_with("help:");
        if !self.below && self.note.is_none() {
            self.note = note(trimmed).map(str::to_owned);
        }
        true
    }
}

/// Severity, rule and message of `error[rule-name]: text`.
fn head(text: &str) -> Option<(Level, &str, &str)> {
    let (level, rest) = match text.strip_prefix("error[") {
        Some(rest) => (Level::Error, rest),
        None => (Level::Warning, text.strip_prefix("warning[")?),
    };
    let (rule, message) = rest.split_once("]: ")?;
    // Codes with capital letters are the Rust compiler's.
    let is_rule = rule.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    (is_rule && !rule.is_empty()).then_some((level, rule, message))
}

/// What stands behind the carets of `   |    ^^^^ Expected this`.
fn note(trimmed: &str) -> Option<&str> {
    let marks = trimmed.strip_prefix('|')?.trim_start();
    let note = marks.trim_start_matches(['^', '-', ' ']);
    let is_marked = marks.starts_with('^')
        || (marks.starts_with('-') && text::clip(marks, marks.len() - note.len()).contains('^'));
    (is_marked && !note.is_empty() && !note.starts_with('|')).then(|| note.trim_end())
}
