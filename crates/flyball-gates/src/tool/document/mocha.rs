//! `mocha -R json`, and the failures of `json-stream`.

use crate::{Counts, Finding};
use serde::Deserialize;

use super::super::js_frame;
use crate::report::Report;

#[derive(Deserialize)]
struct Document {
    stats: Stats,
    #[serde(default)]
    failures: Vec<Test>,
}

#[derive(Deserialize)]
struct Stats {
    #[serde(default)]
    passes: u64,
    #[serde(default)]
    failures: u64,
    #[serde(default)]
    pending: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    #[serde(default)]
    full_title: String,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    err: Thrown,
}

#[derive(Default, Deserialize)]
struct Thrown {
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    stack: Option<String>,
}

pub(super) fn report(document: &str, number: u64) -> Option<Report> {
    let document: Document = serde_json::from_str(document).ok()?;
    let stats = document.stats;
    let counts = Counts { passed: stats.passes, failed: stats.failures, skipped: stats.pending };
    let mut report = Report { tool: "mocha", counts: Some(counts), ..Report::default() };
    for test in document.failures {
        report.findings.push(number, finding(test));
    }
    Some(report)
}

/// The failed test of `["fail",{…}]`, one event of `mocha -R json-stream`.
pub(super) fn event(text: &str, number: u64) -> Option<Report> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Failed {
        full_title: String,
        #[serde(default)]
        file: Option<String>,
        #[serde(default)]
        err: Option<String>,
        #[serde(default)]
        stack: Option<String>,
    }
    let (_, failed): (String, Failed) = serde_json::from_str(text).ok()?;
    let Failed { full_title, file, err, stack } = failed;
    let test = Test { full_title, file, err: Thrown { message: err, stack } };
    let mut report = Report { tool: "mocha", ..Report::default() };
    report.findings.push(number, finding(test));
    Some(report)
}

fn finding(test: Test) -> Finding {
    let stack = test.err.stack.unwrap_or_default();
    let (of_stack, at) = js_frame::of_stack(&stack);
    let message = if of_stack.is_empty() { test.err.message.unwrap_or_default() } else { of_stack };
    let kind = js_frame::test_kind(&message);
    let mut finding = Finding::new(kind, message).named(test.full_title);
    if let Some(at) = at {
        finding = finding.at(at.file, at.line, at.column);
    } else {
        finding.file = test.file;
    }
    finding.with_excerpt(stack.as_str())
}
