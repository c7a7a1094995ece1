//! `PHPStan` and Psalm-like tables: a file, and below it line numbers with a text.

use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Findings, Report};
use crate::{Finding, FindingKind, text};

/// Reads ` Line   src/Cart.php` between two rules and the rows up to the third.
#[derive(Clone, Default)]
pub(super) struct Phpstan {
    table: Table,
    open: Option<(u64, Finding)>,
    findings: Findings,
}

#[derive(Clone, Default)]
enum Table {
    #[default]
    Outside,
    /// A rule has come, a heading may follow.
    Rule,
    /// The heading has come.
    Heading(String),
    /// Rows of this file.
    Rows(String),
}

impl Recogniser for Phpstan {
    fn name(&self) -> &'static str {
        "phpstan"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["----"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        let is_rule = is_rule(text);
        self.table = match std::mem::take(&mut self.table) {
            Table::Outside => {
                if is_rule {
                    Table::Rule
                } else {
                    Table::Outside
                }
            }
            Table::Rule => match heading(text) {
                Some(file) => Table::Heading(file.to_owned()),
                None if is_rule => Table::Rule,
                None => Table::Outside,
            },
            Table::Heading(file) if is_rule => Table::Rows(file),
            Table::Heading(_) => Table::Outside,
            Table::Rows(_) if is_rule => {
                self.close();
                Table::Outside
            }
            Table::Rows(file) => {
                self.row(&file, line);
                Table::Rows(file)
            }
        };
        if matches!(self.table, Table::Outside) { Attention::Idle } else { Attention::Busy }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let findings = std::mem::take(&mut self.findings);
        (!findings.is_empty()).then(|| Report { tool: "phpstan", findings, ..Report::default() })
    }
}

impl Phpstan {
    fn row(&mut self, file: &str, line: &Line<'_>) {
        let own = line.text.trim();
        let own = own.strip_prefix(':').unwrap_or(own);
        if text::indent(line.text) < 5
            && let Some((number, message)) = text::small(own)
            && message.starts_with("  ")
        {
            self.close();
            let finding = Finding::new(FindingKind::Type, message.trim());
            self.open = Some((line.number, finding.at(file, number, None)));
        } else if let Some((_, finding)) = &mut self.open {
            if let Some(rule) = own.strip_prefix("🪪") {
                finding.name = Some(rule.trim().to_owned());
            } else if !own.is_empty()
                && !own.starts_with(['💡', '✏'])
                && finding.name.is_none()
                && finding.message.len() < 2_000
            {
                finding.message = format!("{} {own}", finding.message);
            }
        }
    }

    fn close(&mut self) {
        if let Some((number, finding)) = self.open.take() {
            self.findings.push(number, finding);
        }
    }
}

/// ` ------ --------------------`.
fn is_rule(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let dashes = |word: Option<&str>| {
        word.is_some_and(|word| word.len() >= 4 && word.bytes().all(|byte| byte == b'-'))
    };
    text.starts_with(' ') && dashes(words.next()) && dashes(words.next()) && words.next().is_none()
}

/// The file of `  Line   src/Cart.php (in context of class Cart)`.
fn heading(text: &str) -> Option<&str> {
    let file = text.trim().strip_prefix("Line ")?.trim();
    let file = file.split(" (in context of ").next()?;
    file.contains('.').then_some(file)
}
