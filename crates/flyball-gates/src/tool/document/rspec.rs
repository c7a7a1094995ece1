//! `rspec -f json`.

use crate::{Counts, Finding, FindingKind};
use serde::Deserialize;

use crate::report::Report;
use crate::{place, text};

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    examples: Vec<Example>,
    summary: Summary,
    #[serde(default)]
    messages: Vec<String>,
}

#[derive(Deserialize)]
struct Summary {
    #[serde(default, rename = "example_count")]
    examples: u64,
    #[serde(default, rename = "failure_count")]
    failures: u64,
    #[serde(default, rename = "pending_count")]
    pending: u64,
}

#[derive(Deserialize)]
struct Example {
    full_description: String,
    status: String,
    file_path: String,
    #[serde(default)]
    line_number: Option<u32>,
    #[serde(default)]
    exception: Option<Thrown>,
}

#[derive(Deserialize)]
struct Thrown {
    #[serde(default)]
    class: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    backtrace: Option<Vec<String>>,
}

pub(super) fn report(document: &str, number: u64) -> Option<Report> {
    let document: Document = serde_json::from_str(document).ok()?;
    let sum = document.summary;
    let passed = sum.examples.saturating_sub(sum.failures);
    let counts = Counts {
        passed: passed.saturating_sub(sum.pending),
        failed: sum.failures,
        skipped: sum.pending,
    };
    let mut report = Report { tool: "rspec", counts: Some(counts), ..Report::default() };
    for example in document.examples.into_iter().filter(|example| example.status == "failed") {
        report.findings.push(number, finding(example));
    }
    for message in document.messages.iter().filter(|text| text.contains("error occurred")) {
        report.findings.push(number, Finding::new(FindingKind::Compile, message.trim()));
    }
    Some(report)
}

fn finding(example: Example) -> Finding {
    let thrown = example.exception.unwrap_or(Thrown {
        class: String::new(),
        message: "example failed".to_owned(),
        backtrace: None,
    });
    let words = thrown.message.split("\nDiff:").next().unwrap_or_default();
    let words = text::trim_lines(words);
    let is_expectation = thrown.class.is_empty() || thrown.class.starts_with("RSpec::");
    let message =
        if is_expectation { words.to_owned() } else { format!("{}: {words}", thrown.class) };
    let finding = Finding::new(FindingKind::Test, message).named(example.full_description);
    // The frame in the spec itself says which line failed.
    let own = place::tidy(&example.file_path);
    let frames = thrown.backtrace.unwrap_or_default();
    let line = frames.iter().find_map(|frame| {
        let (file, rest) = frame.split_once(':')?;
        file.ends_with(own).then(|| text::small(rest).map(|(line, _)| line)).flatten()
    });
    finding.at(own, line.or(example.line_number), None)
}
