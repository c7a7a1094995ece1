//! The blocking event (B10): why a completion was refused, in a form the agent can use.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use flyball_gates::Label;
use serde::{Deserialize, Serialize};

use super::{Check, CheckStatus, Difference, Finding, GateResult, suggestions};
use crate::id::GateName;
use crate::text;

/// The longest text handed to an agent.
pub const TEXT_MAX: usize = 12_000;
/// The most findings carried as details.
const DETAILS_MAX: usize = 50;

/// Why a completion was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockingEvent {
    /// What was asked for.
    pub original_request: String,
    /// All red gates, the first one leading.
    pub blocked_by: Vec<GateName>,
    /// What else is missing: open stories, uncommitted work, weakened tests.
    #[serde(default)]
    pub missing: Vec<String>,
    /// One line.
    pub summary: String,
    /// Individual failures from every red gate, most useful first.
    pub details: Vec<Finding>,
    /// How many more there are.
    #[serde(default)]
    pub details_left_out: u64,
    /// What to do, most useful first.
    pub suggestions: Vec<String>,
    /// The gates themselves.
    pub gate_result: GateResult,
    /// What changed since the last time.
    pub difference: Difference,
}

/// What a blocking event is made from.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a> {
    /// What was asked for.
    pub request: &'a str,
    /// The gates now.
    pub now: &'a GateResult,
    /// The gates the last time, when there was one.
    pub before: Option<&'a GateResult>,
    /// What was red before the run began, by identity.
    pub baseline: &'a BTreeSet<String>,
    /// What else is missing.
    pub missing: &'a [String],
}

/// Nothing was red before.
static NO_BASELINE: BTreeSet<String> = BTreeSet::new();

impl<'a> Refusal<'a> {
    /// A refusal for these gates alone: nothing known of before, nothing else missing.
    pub const fn new(request: &'a str, now: &'a GateResult) -> Self {
        Self { request, now, before: None, baseline: &NO_BASELINE, missing: &[] }
    }

    /// With the gates of the last time, for what is new, still red and fixed.
    #[must_use]
    pub const fn after(mut self, before: Option<&'a GateResult>) -> Self {
        self.before = before;
        self
    }
}

impl BlockingEvent {
    /// Puts together everything the agent needs to know.
    pub fn new(refusal: Refusal<'_>) -> Self {
        let Refusal { request, now, before, baseline, missing } = refusal;
        let mut gate_result = now.clone();
        mark_old(&mut gate_result, baseline);
        let mut details: Vec<Finding> =
            gate_result.failures().map(|(_, finding)| finding.clone()).collect();
        details.sort_by_key(|finding| (finding.old, finding.kind));
        let left_out: u64 = gate_result.red().map(|check| check.findings_left_out).sum();
        let cut = details.len().saturating_sub(DETAILS_MAX);
        details.truncate(DETAILS_MAX);
        Self {
            original_request: text::head(request.trim(), 500),
            blocked_by: gate_result.red().map(|check| check.gate.clone()).collect(),
            missing: missing.to_vec(),
            summary: summary(&gate_result, missing),
            details,
            details_left_out: left_out.saturating_add(cut as u64),
            suggestions: suggestions(&gate_result, before),
            difference: before.map_or_else(Difference::default, |b| difference(b, now)),
            gate_result,
        }
    }

    /// The text for the agent, at most [`TEXT_MAX`] characters, most useful first.
    pub fn to_text(&self) -> String {
        self.to_text_under("Completion Blocked")
    }

    /// The same under another heading, where nobody has claimed to be done.
    pub fn to_text_under(&self, heading: &str) -> String {
        let mut out = format!("# {heading}: {}\n", self.summary);
        if !self.original_request.is_empty() {
            put(&mut out, format_args!("\nThis answers the request: {}\n", self.original_request));
        }
        for missing in &self.missing {
            put(&mut out, format_args!("\n- {}", text::head(missing, 600)));
        }
        if !self.missing.is_empty() {
            out.push('\n');
        }
        let mut rest = String::new();
        self.put_suggestions(&mut rest);
        self.put_status(&mut rest);
        self.put_difference(&mut rest);
        let room = TEXT_MAX.saturating_sub(out.chars().count() + rest.chars().count());
        self.put_issues(&mut out, room);
        out.push_str(&rest);
        String::from(text::prefix(&out, TEXT_MAX))
    }

    fn put_issues(&self, out: &mut String, room: usize) {
        let mut issues = String::new();
        let mut left = self.details_left_out;
        let mut used = 0_usize;
        for (index, finding) in self.details.iter().enumerate() {
            let item = issue(index + 1, finding);
            let length = item.chars().count();
            // Leaves room for the heading and the line that says how many were cut.
            if used + length + 120 > room {
                left = left.saturating_add((self.details.len() - index) as u64);
                break;
            }
            used += length;
            issues.push_str(&item);
        }
        for check in self.gate_result.red().filter(|check| check.is_unread()) {
            let tail = last_lines(check.tail.trim_end());
            let item =
                format!("`{}` {}; its last lines:\n{tail}\n", check.gate, check.status.as_str());
            if used + item.chars().count() + 120 > room {
                left = left.saturating_add(1);
                continue;
            }
            used += item.chars().count();
            issues.push_str(&item);
        }
        if issues.is_empty() && left == 0 {
            return;
        }
        out.push_str("\n## Issues Found\n");
        out.push_str(&issues);
        if left > 0 {
            put(out, format_args!("… and {} not shown here.\n", text::count(left, "more finding")));
        }
    }

    fn put_suggestions(&self, out: &mut String) {
        if self.suggestions.is_empty() {
            return;
        }
        out.push_str("\n## Suggested Actions\n");
        for (index, suggestion) in self.suggestions.iter().enumerate() {
            put(out, format_args!("{}. {}\n", index + 1, text::head(suggestion, 300)));
        }
    }

    fn put_status(&self, out: &mut String) {
        if self.gate_result.checks.is_empty() {
            return;
        }
        out.push_str("\n## Gate Status\n");
        for line in self.gate_result.status_lines() {
            put(out, format_args!("{line}\n"));
        }
    }

    fn put_difference(&self, out: &mut String) {
        let Difference { newly_failing, still_failing, fixed } = &self.difference;
        if newly_failing.is_empty() && still_failing.is_empty() && fixed.is_empty() {
            return;
        }
        out.push_str("\n## Since Last Time\n");
        let groups =
            [("Newly failing", newly_failing), ("Still failing", still_failing), ("Fixed", fixed)];
        for (title, names) in groups {
            if names.is_empty() {
                continue;
            }
            let shown: Vec<String> =
                names.iter().take(8).map(|name| text::head(name, 120)).collect();
            let more = names.len().saturating_sub(shown.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            put(out, format_args!("{title} ({}): {}{more}\n", names.len(), shown.join("; ")));
        }
    }
}

impl GateResult {
    /// One line per gate: `[x] lint: passed`.
    pub fn status_lines(&self) -> Vec<String> {
        self.checks.iter().map(status_line).collect()
    }

    /// Whether nothing is red that was not red before the run began.
    pub fn nothing_new(&self, baseline: &BTreeSet<String>, baseline_failures: u64) -> bool {
        let ran = self.checks.iter().any(|c| !matches!(c.status, CheckStatus::Skipped { .. }));
        ran && self.failing().is_subset(baseline) && self.failure_count() <= baseline_failures
    }
}

fn status_line(check: &Check) -> String {
    let mut line = format!("{} {}: {}", check.status.mark(), check.gate, check.status.as_str());
    if let CheckStatus::Skipped { reason } = &check.status
        && !reason.is_empty()
    {
        put(&mut line, format_args!(" ({})", text::head(reason, 120)));
    }
    if let (true, Some(tries)) = (check.status.is_red(), check.tries) {
        put(&mut line, format_args!(" on each of {tries} tries"));
    }
    if let Some(flaky) = &check.flaky {
        put(&mut line, format_args!(", flaky ({})", text::head(flaky, 200)));
    }
    if let Some(counts) = check.counts {
        put(&mut line, format_args!(" ({} passed, {} failed", counts.passed, counts.failed));
        if counts.skipped > 0 {
            put(&mut line, format_args!(", {} skipped", counts.skipped));
        }
        line.push(')');
    }
    line
}

fn issue(number: usize, finding: &Finding) -> String {
    let mut item = format!("{number}. ");
    if let Some(name) = finding.name.as_ref().filter(|name| **name != finding.message) {
        put(&mut item, format_args!("{} ", text::head(name, 200)));
    }
    if let Some(place) = finding.place() {
        put(&mut item, format_args!("({place}) "));
    }
    if finding.old {
        item.push_str("[red before this run] ");
    }
    put(&mut item, format_args!("{}\n", text::head(finding.message.trim(), 600)));
    if let Some(excerpt) = &finding.excerpt {
        for line in text::prefix(excerpt.trim_end(), 800).lines() {
            put(&mut item, format_args!("   | {line}\n"));
        }
    }
    item
}

/// The end of what a check printed, and the errors that came long before it.
fn last_lines(tail: &str) -> String {
    match tail.split_once("\n[…]\n") {
        Some((errors, last)) => {
            format!("{}\n[…]\n{}", text::prefix(errors, 800), text::tail(last, 1_200))
        }
        None => String::from(text::tail(tail, 1_500)),
    }
}

fn mark_old(result: &mut GateResult, baseline: &BTreeSet<String>) {
    for check in &mut result.checks {
        for finding in &mut check.findings {
            finding.old = baseline.contains(&finding.identity(&check.gate));
        }
    }
}

fn summary(result: &GateResult, missing: &[String]) -> String {
    let mut parts: Vec<String> = result
        .red()
        .map(|check| match (&check.status, check.counts) {
            (CheckStatus::TimedOut, _) => format!("{} timed out", check.gate),
            (_, Some(counts)) if counts.failed > 0 => {
                let ran = counts.passed.saturating_add(counts.failed);
                format!("{} failed ({} of {ran})", check.gate, counts.failed)
            }
            _ => format!("{} failed", check.gate),
        })
        .collect();
    if parts.is_empty() && !result.checks.is_empty() && !result.is_green() {
        parts.push(String::from("no gate ran"));
    }
    parts.extend(missing.iter().map(|missing| text::head(text::first_line(missing), 160)));
    text::head(&parts.join("; "), 400)
}

fn difference(before: &GateResult, now: &GateResult) -> Difference {
    Difference::between(&labels(before), &labels(now))
}

/// Everything red: gates without a finding, then the findings.
fn labels(result: &GateResult) -> Vec<Label> {
    let silent = result.red().filter(|check| check.findings.is_empty()).map(|check| Label {
        identity: format!("{}:*", check.gate),
        label: format!("{}", check.gate),
    });
    let found = result
        .failures()
        .map(|(gate, found)| Label { identity: found.identity(gate), label: found.label(gate) });
    silent.chain(found).collect()
}

/// Writing to a string cannot fail.
fn put(out: &mut String, arguments: core::fmt::Arguments<'_>) {
    if out.write_fmt(arguments).is_err() {
        out.push('…');
    }
}
