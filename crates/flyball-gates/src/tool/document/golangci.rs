//! golangci-lint with JSON output.

use crate::{Finding, FindingKind};
use serde::Deserialize;

use crate::report::Report;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    #[serde(default)]
    issues: Option<Vec<Issue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Issue {
    from_linter: String,
    text: String,
    #[serde(default)]
    source_lines: Option<Vec<String>>,
    pos: Position,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Position {
    filename: String,
    #[serde(default)]
    line: Option<u32>,
    #[serde(default)]
    column: Option<u32>,
}

pub(super) fn report(document: &str, number: u64) -> Option<Report> {
    let document: Document = serde_json::from_str(document).ok()?;
    let mut report = Report { tool: "golangci-lint", ..Report::default() };
    for issue in document.issues.unwrap_or_default() {
        let is_compile = issue.from_linter == "typecheck";
        let kind = if is_compile { FindingKind::Compile } else { FindingKind::Lint };
        let mut finding = Finding::new(kind, issue.text).named(issue.from_linter);
        finding.excerpt = issue.source_lines.map(|lines| lines.join("\n"));
        let place = issue.pos;
        report.findings.push(number, finding.at(place.filename, place.line, place.column));
    }
    Some(report)
}
