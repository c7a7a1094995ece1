//! oxlint, and others that draw their reports the same way: a mark and a text, then a box.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser, Trait};
use crate::report::{Block, Findings, Level, Report};
use crate::{Finding, FindingKind};

/// Reads `  × plugin(rule): text` with `╭─[path:1:8]` below, in signs or in plain letters.
#[derive(Clone, Default)]
pub(super) struct Oxlint {
    open: Option<Open>,
    findings: Findings,
    warnings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    level: Level,
    message: String,
    place: Option<(String, u32, Option<u32>)>,
    excerpt: Block,
    lines: usize,
}

impl Recogniser for Oxlint {
    fn name(&self) -> &'static str {
        "oxlint"
    }

    fn cues(&self) -> Cues {
        // `×` is two bytes.
        Cues { first: b"x!\xc3", also: &[(b"\xe2", Trait::Sign(&['⚠']))], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some((level, message)) = head(line.text) {
            self.close();
            let mut excerpt = self.list(level).room();
            excerpt.push(line.text);
            self.open = Some(Open {
                number: line.number,
                level,
                message: message.to_owned(),
                place: None,
                excerpt,
                lines: 0,
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
        // More of a report of which nothing is kept; what begins one is not so deep.
        self.open.as_ref().is_some_and(|open| open.place.is_some() && open.excerpt.is_closed())
            && line.starts_with(b"   ")
            && !line.trim_ascii().is_empty()
    }

    fn after_routine(&self) -> Attention {
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let findings = std::mem::take(&mut self.findings);
        let warnings = std::mem::take(&mut self.warnings);
        (!findings.is_empty() || !warnings.is_empty()).then(|| Report {
            tool: "oxlint",
            findings,
            warnings,
            ..Report::default()
        })
    }
}

impl Oxlint {
    const fn list(&mut self, level: Level) -> &mut Findings {
        match level {
            Level::Error => &mut self.findings,
            Level::Warning => &mut self.warnings,
        }
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let Some((file, line, column)) = open.place else { return };
        let words = [&*open.message, open.excerpt.as_str()];
        if self.list(open.level).is_known(&words) {
            return;
        }
        let finding = match rule(&open.message) {
            Some((rule, message)) => Finding::new(FindingKind::Lint, message).named(rule),
            None => Finding::new(FindingKind::Compile, open.message.as_str()),
        };
        let finding = finding.at(file, line, column).with_excerpt(open.excerpt.take());
        self.list(open.level).push(open.number, finding);
    }
}

impl Open {
    /// Takes a line; false when it does not belong here.
    fn line(&mut self, text: &str) -> bool {
        let trimmed = text.trim();
        if self.place.is_none() {
            self.lines += 1;
            self.place = boxed(trimmed);
            if self.place.is_none() {
                // A long text goes on below, behind a bar.
                let Some(more) = trimmed.strip_prefix("│ ").or_else(|| trimmed.strip_prefix("| "))
                else {
                    return false;
                };
                self.message = format!("{} {}", self.message, more.trim());
                return self.lines < 12;
            }
        }
        self.excerpt.push(text);
        !trimmed.is_empty()
    }
}

/// Level and text of `  × text`.
fn head(text: &str) -> Option<(Level, &str)> {
    let own = text.strip_prefix("  ")?;
    let (mark, message) = own.split_once(' ')?;
    let level = match mark {
        "×" | "x" => Level::Error,
        "⚠" | "!" => Level::Warning,
        _ => return None,
    };
    (!message.trim().is_empty()).then(|| (level, message.trim()))
}

/// The place in `╭─[src/a.js:1:8]` or `,-[src/a.js:1:8]`.
fn boxed(trimmed: &str) -> Option<(String, u32, Option<u32>)> {
    let inner = trimmed.strip_prefix("╭─[").or_else(|| trimmed.strip_prefix(",-["))?;
    let inner = inner.strip_suffix(']')?.trim();
    let (rest, column) = inner.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((place::tidy(file).to_owned(), line.parse().ok()?, column.parse().ok()))
}

/// Rule and text of `eslint(no-debugger): text`.
fn rule(message: &str) -> Option<(&str, &str)> {
    let (rule, text) = message.split_once("): ")?;
    let (plugin, name) = rule.split_once('(')?;
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_/@".contains(&b))
    };
    let end = plugin.len() + name.len() + 2;
    (is_word(plugin) && is_word(name)).then(|| (message.get(..end).unwrap_or(rule), text))
}
