//! `eslint -f json`, and `json-with-metadata`.

use crate::{Finding, FindingKind};
use serde::Deserialize;

use crate::report::Report;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    file_path: String,
    #[serde(default)]
    messages: Vec<Problem>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Problem {
    #[serde(default)]
    rule_id: Option<String>,
    severity: u8,
    message: String,
    #[serde(default)]
    line: Option<u32>,
    #[serde(default)]
    column: Option<u32>,
    #[serde(default)]
    fatal: bool,
}

#[derive(Deserialize)]
struct Metadata {
    results: Vec<File>,
}

pub(super) fn report(document: &str, number: u64) -> Option<Report> {
    let files: Vec<File> = if document.starts_with('{') {
        serde_json::from_str::<Metadata>(document).ok()?.results
    } else {
        serde_json::from_str(document).ok()?
    };
    let mut report = Report { tool: "eslint", ..Report::default() };
    for file in files {
        for problem in file.messages {
            let kind = if problem.fatal { FindingKind::Compile } else { FindingKind::Lint };
            let mut finding = Finding::new(kind, problem.message);
            finding.name = problem.rule_id;
            finding = finding.at(file.file_path.as_str(), problem.line, problem.column);
            if problem.severity >= 2 {
                report.findings.push(number, finding);
            } else {
                report.warnings.push(number, finding);
            }
        }
    }
    Some(report)
}
