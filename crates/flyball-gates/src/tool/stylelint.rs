//! stylelint: a path, and below it `  1:12  ✖  text   rule`.

use crate::recogniser::{Attention, Cues, Line, PATHS, Recogniser, Trait};
use crate::report::{Findings, Report};
use crate::{Finding, FindingKind, text};

/// Reads the table of each file; warnings matter when there is no error.
#[derive(Clone, Default)]
pub(super) struct Stylelint {
    file: Option<String>,
    findings: Findings,
    warnings: Findings,
}

impl Recogniser for Stylelint {
    fn name(&self) -> &'static str {
        "stylelint"
    }

    fn cues(&self) -> Cues {
        // Style sheets end alike: css, scss, sass, less.
        Cues { starts: &["Conf"], also: &[(PATHS, Trait::EndsWith(b's'))], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some(file) = &self.file {
            if let Some((is_warning, at, column, finding)) = problem(line.text) {
                let finding = finding.at(file.as_str(), at, column);
                let list = if is_warning { &mut self.warnings } else { &mut self.findings };
                list.push(line.number, finding);
                return Attention::Busy;
            }
            self.file = None;
        }
        if let Some(reason) = line.text.strip_prefix("ConfigurationError: ") {
            self.findings.push(line.number, Finding::new(FindingKind::CouldNotRun, reason));
        } else if is_sheet(line.text) {
            self.file = Some(line.text.to_owned());
        }
        if self.file.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        let findings = std::mem::take(&mut self.findings);
        let warnings = std::mem::take(&mut self.warnings);
        (!findings.is_empty() || !warnings.is_empty()).then(|| Report {
            tool: "stylelint",
            findings,
            warnings,
            ..Report::default()
        })
    }
}

/// A line that is nothing but the path of a style sheet.
fn is_sheet(text: &str) -> bool {
    let has_end = [".css", ".scss", ".sass", ".less"].iter().any(|end| text.ends_with(end));
    has_end && !text.starts_with(' ') && text.len() < 400
}

/// Severity, place and finding of `  1:12  ✖  Invalid hex color "#12"   color-no-invalid-hex`.
fn problem(text: &str) -> Option<(bool, u32, u32, Finding)> {
    let (line, rest) = text::small(text.strip_prefix(' ')?.trim_start())?;
    let (column, rest) = text::small(rest.strip_prefix(':')?)?;
    let (mark, rest) = rest.trim_start().split_once(' ')?;
    let is_warning = match mark {
        "✖" | "×" => false,
        "⚠" | "ℹ" => true,
        _ => return None,
    };
    let rest = rest.trim();
    let (message, rule) = match rest.rsplit_once("  ") {
        Some((message, rule)) if !rule.contains(' ') => (message.trim_end(), Some(rule)),
        _ => (rest, None),
    };
    let is_syntax = rule == Some("CssSyntaxError");
    let kind = if is_syntax { FindingKind::Compile } else { FindingKind::Lint };
    let mut finding = Finding::new(kind, message);
    finding.name = rule.map(str::to_owned);
    Some((is_warning, line, column, finding))
}
