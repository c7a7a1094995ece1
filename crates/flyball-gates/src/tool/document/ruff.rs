//! `ruff check --output-format json`, and `json-lines`.

use crate::{Finding, FindingKind};
use serde::Deserialize;

use crate::report::Report;

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    name: Option<String>,
    filename: String,
    location: Location,
    message: String,
}

#[derive(Deserialize)]
struct Location {
    row: u32,
    column: u32,
}

pub(super) fn report(document: &str, number: u64) -> Option<Report> {
    let items: Vec<Item> = if document.starts_with('{') {
        vec![serde_json::from_str(document).ok()?]
    } else {
        serde_json::from_str(document).ok()?
    };
    let mut report = Report { tool: "ruff", ..Report::default() };
    for item in items {
        let code = item.code.or(item.name);
        // Older versions give syntax errors no code.
        let is_syntax = matches!(code.as_deref(), None | Some("invalid-syntax" | "E999"));
        let kind = if is_syntax { FindingKind::Compile } else { FindingKind::Lint };
        let mut finding = Finding::new(kind, item.message);
        finding.name = code;
        let finding = finding.at(item.filename, item.location.row, item.location.column);
        report.findings.push(number, finding);
    }
    Some(report)
}
