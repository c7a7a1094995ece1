//! A list of problems, each with its place beside it: shellcheck, hadolint, pylint.

use serde::Deserialize;

use crate::report::Report;
use crate::{Finding, FindingKind};

#[derive(Deserialize)]
struct Item {
    #[serde(alias = "path")]
    file: String,
    line: u32,
    #[serde(default)]
    column: Option<u32>,
    message: String,
    /// `SC2086` as a number, `DL3006` as a text.
    #[serde(default)]
    code: Option<serde_json::Value>,
    /// pylint's name of the rule.
    #[serde(default)]
    symbol: Option<String>,
}

pub(super) fn report(document: &str, number: u64) -> Option<Report> {
    let items: Vec<Item> = serde_json::from_str(document).ok()?;
    let is_pylint = items.iter().any(|item| item.symbol.is_some());
    let is_shellcheck =
        items.iter().any(|item| matches!(item.code, Some(serde_json::Value::Number(_))));
    let tool = match (is_pylint, is_shellcheck) {
        (true, _) => "pylint",
        (_, true) => "shellcheck",
        _ => "hadolint",
    };
    let mut report = Report { tool, ..Report::default() };
    for item in items {
        let code = match item.code {
            Some(serde_json::Value::Number(code)) => Some(format!("SC{code}")),
            Some(serde_json::Value::String(code)) => Some(code),
            _ => None,
        };
        let mut finding = Finding::new(FindingKind::Lint, item.message);
        finding.name = item.symbol.or(code);
        report.findings.push(number, finding.at(item.file, item.line, item.column));
    }
    Some(report)
}
