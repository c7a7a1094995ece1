//! Rust's test harness with `--format json`: one event per line.

use crate::{Counts, Finding, FindingKind};
use serde::Deserialize;

use super::panic;
use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Findings, Report};

/// Reads `{ "type": "test", "event": "failed", … }`.
#[derive(Clone, Default)]
pub(super) struct LibtestJson {
    spoke: bool,
    counts: Counts,
    open: Counts,
    findings: Findings,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "event")]
    what: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    passed: u64,
    #[serde(default)]
    failed: u64,
    #[serde(default)]
    ignored: u64,
}

impl Recogniser for LibtestJson {
    fn name(&self) -> &'static str {
        "libtest-json"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["{\"", "{ \""], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text.trim_start();
        if text.starts_with("{ \"type\"") || text.starts_with("{\"type\"") {
            self.event(text, line.number);
        }
        Attention::Idle
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "libtest-json",
            counts: Some(self.counts),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl LibtestJson {
    fn event(&mut self, text: &str, number: u64) {
        let Ok(event) = serde_json::from_str::<Event>(text) else { return };
        match (event.kind.as_str(), event.what.as_str()) {
            ("suite", "started") => {
                self.close();
                self.spoke = true;
            }
            ("suite", "ok" | "failed") => {
                self.open =
                    Counts { passed: event.passed, failed: event.failed, skipped: event.ignored };
                self.spoke = true;
                self.close();
            }
            ("test", "ok") => self.open.passed += 1,
            ("test", "ignored") => self.open.skipped += 1,
            ("test", "failed" | "timeout") => {
                self.spoke = true;
                self.open.failed += 1;
                self.findings.push(number, finding(&event));
            }
            _ => {}
        }
    }

    const fn close(&mut self) {
        self.counts.passed = self.counts.passed.saturating_add(self.open.passed);
        self.counts.failed = self.counts.failed.saturating_add(self.open.failed);
        self.counts.skipped = self.counts.skipped.saturating_add(self.open.skipped);
        self.open = Counts { passed: 0, failed: 0, skipped: 0 };
    }
}

fn finding(event: &Event) -> Finding {
    let name = event.name.strip_suffix(" - should panic").unwrap_or(&event.name);
    let mut finding = panic::finding(name, &event.stdout);
    if !event.message.is_empty() {
        finding.message.clone_from(&event.message);
        if let Some((message, at)) = event.message.rsplit_once(" at ")
            && let Some(place) = place::prefix(at)
        {
            message.clone_into(&mut finding.message);
            finding = finding.at(place.file, place.line, place.column);
        }
    }
    if event.what == "timeout" || event.reason.contains("time limit") {
        finding.kind = FindingKind::Timeout;
    }
    finding
}
