//! `pyright --outputjson`.

use serde::Deserialize;

use crate::report::Report;
use crate::{Finding, FindingKind};

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "generalDiagnostics")]
    diagnostics: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    file: String,
    severity: String,
    message: String,
    #[serde(default)]
    rule: Option<String>,
    range: Range,
}

#[derive(Deserialize)]
struct Range {
    start: Position,
}

#[derive(Deserialize)]
struct Position {
    line: u32,
    character: u32,
}

pub(super) fn report(document: &str, number: u64) -> Option<Report> {
    let document: Document = serde_json::from_str(document).ok()?;
    let mut report = Report { tool: "pyright", ..Report::default() };
    for item in document.diagnostics {
        let start = item.range.start;
        let mut finding = Finding::new(FindingKind::Type, item.message);
        finding.name = item.rule;
        // Both count from 0.
        let (line, column) = (start.line.saturating_add(1), start.character.saturating_add(1));
        let finding = finding.at(item.file, line, column);
        match item.severity.as_str() {
            "error" => report.findings.push(number, finding),
            "warning" => report.warnings.push(number, finding),
            _ => {}
        }
    }
    Some(report)
}
