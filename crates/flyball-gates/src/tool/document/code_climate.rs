//! Code Climate's list of issues, which GitLab reads: ruff, ty, eslint and others can print it.

use serde::Deserialize;

use crate::report::Report;
use crate::{Finding, FindingKind};

#[derive(Deserialize)]
struct Item {
    check_name: String,
    description: String,
    location: Location,
}

#[derive(Deserialize)]
struct Location {
    path: String,
    #[serde(default)]
    lines: Option<Lines>,
    #[serde(default)]
    positions: Option<Positions>,
}

#[derive(Deserialize)]
struct Lines {
    begin: u32,
}

#[derive(Deserialize)]
struct Positions {
    begin: Position,
}

#[derive(Deserialize)]
struct Position {
    line: u32,
    #[serde(default)]
    column: Option<u32>,
}

pub(super) fn report(document: &str, number: u64) -> Option<Report> {
    let items: Vec<Item> = serde_json::from_str(document).ok()?;
    let mut report = Report { tool: "code-climate", ..Report::default() };
    for Item { check_name, description, location } in items {
        let own = description.strip_prefix(&format!("{check_name}: ")).unwrap_or(&description);
        let at = location.positions.map(|at| (at.begin.line, at.begin.column));
        let at = at.or_else(|| location.lines.map(|lines| (lines.begin, None)));
        let (line, column) = at.map_or((None, None), |(line, column)| (Some(line), column));
        let finding = Finding::new(FindingKind::Lint, own).named(check_name.as_str());
        report.findings.push(number, finding.at(location.path, line, column));
    }
    Some(report)
}
