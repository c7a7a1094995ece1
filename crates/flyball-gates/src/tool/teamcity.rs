//! `TeamCity` service messages, which many runners can print: `##teamcity[testFailed name='…']`.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Findings, Names, Report};
use crate::{Counts, Finding, FindingKind};

/// Reads `testFailed`, and counts what was started and ignored.
#[derive(Clone, Default)]
pub(super) struct Teamcity {
    suite: Option<String>,
    counts: Counts,
    names: Names,
    spoke: bool,
    findings: Findings,
}

impl Recogniser for Teamcity {
    fn name(&self) -> &'static str {
        "teamcity"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["##te"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let message =
            line.text.trim().strip_prefix("##teamcity[").and_then(|m| m.strip_suffix(']'));
        let Some((kind, rest)) = message.and_then(|message| message.split_once(' ')) else {
            return Attention::Idle;
        };
        let name = value(rest, "name");
        match (kind, name) {
            ("testSuiteStarted", Some(name)) => self.suite = Some(name),
            ("testFailed", Some(name)) => {
                self.spoke = true;
                self.counts.failed = self.counts.failed.saturating_add(1);
                self.findings.push(line.number, failed(rest, &name, self.suite.as_deref()));
            }
            ("testFinished", Some(name)) => {
                self.spoke = true;
                self.counts.passed = self.counts.passed.saturating_add(1);
                self.names.ran(&name);
            }
            ("testIgnored", Some(_)) => {
                self.counts.skipped = self.counts.skipped.saturating_add(1);
            }
            _ => {}
        }
        Attention::Idle
    }

    fn finish(&mut self) -> Option<Report> {
        // Every test finishes, also one that failed or was ignored.
        let others = self.counts.failed.saturating_add(self.counts.skipped);
        self.counts.passed = self.counts.passed.saturating_sub(others);
        self.spoke.then(|| Report {
            tool: "teamcity",
            counts: Some(self.counts),
            names: std::mem::take(&mut self.names),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

fn failed(rest: &str, name: &str, suite: Option<&str>) -> Finding {
    let message = value(rest, "message").unwrap_or_default();
    let details = value(rest, "details").unwrap_or_default();
    let own = name.contains("::") || name.contains('.');
    let name = match suite.filter(|_| !own) {
        Some(suite) if !name.starts_with(suite) => format!("{suite}::{name}"),
        _ => name.to_owned(),
    };
    let finding = Finding::new(FindingKind::Test, message).named(name);
    let finding = finding.with_excerpt(details.as_str());
    match details.lines().find_map(|line| place::mention(line.trim())) {
        Some(at) => {
            let file = place::tidy(at.file).to_owned();
            finding.at(file, at.line, at.column)
        }
        None => finding,
    }
}

/// The value of `key='…'`, with its escapes undone.
fn value(rest: &str, key: &str) -> Option<String> {
    let start = rest.match_indices(key).find_map(|(at, _)| {
        let before = rest.get(..at)?;
        let own = before.is_empty() || before.ends_with(' ');
        let after = rest.get(at + key.len()..)?.strip_prefix("='")?;
        own.then_some(after)
    })?;
    let mut text = String::new();
    let mut letters = start.chars();
    loop {
        match letters.next()? {
            '\'' => return Some(text),
            '|' => match letters.next()? {
                'n' => text.push('\n'),
                'r' => {}
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
}
