//! `jest --json`, and vitest's JSON reporter, which speaks the same way.

use crate::{Counts, Finding};
use serde::Deserialize;

use super::super::{jest, js_frame};
use crate::report::Report;
use crate::{place, text};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    #[serde(default)]
    num_passed_tests: u64,
    #[serde(default)]
    num_failed_tests: u64,
    #[serde(default)]
    num_pending_tests: u64,
    #[serde(default)]
    num_todo_tests: u64,
    /// Only jest has it.
    #[serde(default)]
    open_handles: Option<Vec<serde::de::IgnoredAny>>,
    #[serde(default)]
    test_results: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    assertion_results: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    #[serde(default)]
    title: String,
    status: String,
    #[serde(default)]
    failure_messages: Option<Vec<String>>,
}

pub(super) fn report(document: &str, number: u64) -> Option<Report> {
    let document: Document = serde_json::from_str(document).ok()?;
    let is_jest = document.open_handles.is_some();
    let mut report = Report {
        tool: if is_jest { "jest" } else { "vitest" },
        counts: Some(Counts {
            passed: document.num_passed_tests,
            failed: document.num_failed_tests,
            skipped: document.num_pending_tests.saturating_add(document.num_todo_tests),
        }),
        ..Report::default()
    };
    let joint = if is_jest { " › " } else { " > " };
    for file in document.test_results {
        let has_failed = file.assertion_results.iter().any(|test| test.status == "failed");
        if file.status == "failed" && !has_failed {
            report.findings.push(number, suite(&file));
        }
        for test in file.assertion_results.iter().filter(|test| test.status == "failed") {
            let mut titles = test.ancestor_titles.clone();
            titles.retain(|title| !title.is_empty());
            titles.push(test.title.clone());
            let stack = test.failure_messages.as_ref().and_then(|all| all.first());
            let stack = clean(stack.map_or("test failed", String::as_str));
            let (message, at) = js_frame::of_stack(&stack);
            let bare = message.strip_prefix("Error: ").filter(|_| is_jest);
            let message = bare.unwrap_or(&message).to_owned();
            let kind = js_frame::test_kind(&message);
            let finding = Finding::new(kind, message).named(titles.join(joint));
            let finding = match at {
                Some(at) => finding.at(at.file, at.line, at.column),
                None => finding.at(file.name.as_str(), None, None),
            };
            report.findings.push(number, finding.with_excerpt(stack.as_str()));
        }
    }
    Some(report)
}

/// A file that did not run at all.
fn suite(file: &File) -> Finding {
    let text = clean(&file.message);
    let syntax = text.lines().find(|line| line.trim().starts_with("SyntaxError: "));
    let message = match syntax {
        Some(line) => line.trim().to_owned(),
        None => headless(&js_frame::of_stack(&text).0),
    };
    // What failed around the tests is not told.
    let message = if message.is_empty() { "test file failed".to_owned() } else { message };
    let syntax = jest::syntax_place(&message);
    let finding = Finding::new(js_frame::kind(&message), message).with_excerpt(text.as_str());
    if let Some((file, line, column)) = syntax {
        return finding.at(file, line, column);
    }
    match text.lines().find_map(js_frame::own) {
        Some(at) => finding.at(at.file, at.line, at.column),
        None => finding.at(place::tidy(&file.name), None, None),
    }
}

/// The message without jest's heading and the quoted source.
fn headless(message: &str) -> String {
    let kept: Vec<&str> = message
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("● "))
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.starts_with("> ") && !line.is_empty())
        .take_while(|line| text::number(line).is_none_or(|(_, rest)| !rest.starts_with(" |")))
        .collect();
    kept.join("\n")
}

/// The text without colours, which jest leaves in.
fn clean(text: &str) -> String {
    let mut room = Vec::new();
    let lines = text.lines().take(200);
    let lines: Vec<String> =
        lines.map(|line| crate::ansi::clean(line.as_bytes(), &mut room).into_owned()).collect();
    lines.join("\n")
}
