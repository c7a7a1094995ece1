//! What flyball's own checks found: findings, checks, and the result of all gates on one tree.

pub mod blocking;
mod fewer;
mod may_change;
mod red_first;
mod suggestion;
pub mod tamper;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use flyball_gates::{Counts, Difference, Executed, Finding, FindingKind};

pub use self::blocking::BlockingEvent;
pub use self::fewer::{Ran, TestBounds};
pub use self::may_change::{MayChange, fits};
pub use self::suggestion::suggestions;
pub use self::tamper::{Restore, TAMPER, TamperFinding, TamperSight, Weight};
use crate::id::GateName;
use crate::moment::Millis;
use crate::text;

/// How one check ended. There is no way to write "passed and skipped".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum CheckStatus {
    /// It ran and is green.
    Passed,
    /// It ran and is red.
    Failed,
    /// It did not run.
    Skipped {
        /// Why not.
        reason: String,
    },
    /// It ran into its time limit; counts as red.
    TimedOut,
}

impl CheckStatus {
    /// The word used in texts and JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped { .. } => "skipped",
            Self::TimedOut => "timed out",
        }
    }

    /// Whether it ran and was not green.
    pub const fn is_red(&self) -> bool {
        matches!(self, Self::Failed | Self::TimedOut)
    }

    /// The box in the gate status list.
    pub const fn mark(&self) -> &'static str {
        match self {
            Self::Passed => "[x]",
            Self::Failed | Self::TimedOut => "[ ]",
            Self::Skipped { .. } => "[~]",
        }
    }
}

/// The result of one gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Which gate.
    pub gate: GateName,
    /// How it ended.
    #[serde(flatten)]
    pub status: CheckStatus,
    /// What it counted, where its output says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// Which tests ran, one entry per runner that tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executed: Vec<Executed>,
    /// What it found, most useful first, bounded.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// How many further findings were left out to stay bounded.
    #[serde(default)]
    pub findings_left_out: u64,
    /// How long it took.
    pub duration: Millis,
    /// The last lines of its output, for when nothing could be parsed.
    #[serde(default)]
    pub tail: String,
    /// What was of another colour when the same check ran on the same tree: it is flaky.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaky: Option<String>,
    /// Tests, and what tests check with, that were written to while it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrote: Vec<String>,
    /// Files of the tree that were others when it had run: what it said is of those before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<String>,
    /// How often it ran until it had this colour, when that was more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tries: Option<u32>,
    /// It did not run on this tree: none of the files it is about was touched since it was green.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub carried: bool,
}

impl Check {
    /// A check that ran without findings.
    pub fn passed(gate: impl Into<String>) -> Self {
        Self::bare(gate, CheckStatus::Passed)
    }

    /// A red check whose output was not understood.
    pub fn failed(gate: impl Into<String>) -> Self {
        Self::bare(gate, CheckStatus::Failed)
    }

    /// A check that did not run.
    pub fn skipped(gate: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::bare(gate, CheckStatus::Skipped { reason: reason.into() })
    }

    /// A check with nothing but its status.
    pub fn bare(gate: impl Into<String>, status: CheckStatus) -> Self {
        Self {
            gate: GateName::new(gate),
            status,
            counts: None,
            executed: Vec::new(),
            findings: Vec::new(),
            findings_left_out: 0,
            duration: Millis::ZERO,
            tail: String::new(),
            flaky: None,
            rewrote: Vec::new(),
            edited: Vec::new(),
            tries: None,
            carried: false,
        }
    }

    /// This green check after a red one on the same tree: it counts as green and says that it is
    /// flaky.
    #[must_use]
    pub fn flaky_after(mut self, red: &Self) -> Self {
        let times = red.tries.unwrap_or(1);
        let times = if times == 1 { String::from("once") } else { format!("{times} times") };
        self.flaky = Some(format!("red {times}, then green: {}", red.why_red()));
        self
    }

    /// This check, of which `before` tells on the same tree, command and environment: another
    /// colour makes it flaky, and once flaky there it stays so. A red one stays red.
    #[must_use]
    pub fn beside(self, before: &Self) -> Self {
        if self.flaky.is_some() {
            return self;
        }
        if self.status.is_red() == before.status.is_red() {
            return Self { flaky: before.flaky.clone(), ..self };
        }
        if before.status.is_red() {
            return self.flaky_after(before);
        }
        Self { flaky: Some(String::from("red now, green before on the same tree")), ..self }
    }

    /// What made it red, in a few words.
    fn why_red(&self) -> String {
        let is_own = |finding: &Finding| {
            let of_check = matches!(
                finding.kind,
                FindingKind::Crash | FindingKind::Timeout | FindingKind::CouldNotRun
            );
            of_check && finding.name.as_deref() == Some(self.gate.as_str())
        };
        let line = |text: &str| text::head(text::first_line(text), 100);
        // Its own name would say nothing.
        let of = |finding: &Finding| {
            if is_own(finding) { line(&finding.message) } else { finding.label(&self.gate) }
        };
        let names: Vec<String> = self.findings.iter().take(3).map(of).collect();
        if !names.is_empty() {
            return names.join(", ");
        }
        match self.tail.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
            Some(last) => line(last),
            None => String::from("no reason known"),
        }
    }

    /// Whether no finding says for certain why it is red: then its last lines are shown as well.
    pub fn is_unread(&self) -> bool {
        self.findings.iter().all(|finding| finding.kind == FindingKind::Other)
    }

    /// B5: green 1; red with counts their share, below 1; red without counts 0; skipped nothing.
    pub fn score(&self) -> Option<f64> {
        match &self.status {
            CheckStatus::Passed => Some(1.0),
            CheckStatus::Skipped { .. } => None,
            CheckStatus::Failed | CheckStatus::TimedOut => Some(match self.counts {
                Some(Counts { passed, failed, .. }) if passed.saturating_add(failed) > 0 => {
                    #[expect(clippy::cast_precision_loss, reason = "a share of two counts")]
                    let share = passed as f64 / passed.saturating_add(failed) as f64;
                    share.min(0.99)
                }
                _ => 0.0,
            }),
        }
    }
}

/// The results of all gates on one tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateResult {
    /// The code tree they ran on.
    pub tree: String,
    /// One entry per gate, in the configured order.
    pub checks: Vec<Check>,
}

impl GateResult {
    /// Whether at least one gate ran and none is red. Nothing ran is never green.
    pub fn is_green(&self) -> bool {
        self.checks.iter().any(|check| check.status == CheckStatus::Passed)
            && !self.checks.iter().any(|check| check.status.is_red())
    }

    /// The red gates, in order.
    pub fn red(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.status.is_red())
    }

    /// B5: the mean over the gates that ran; none when none ran.
    pub fn score(&self) -> Option<f64> {
        let scores: Vec<f64> = self.checks.iter().filter_map(Check::score).collect();
        #[expect(clippy::cast_precision_loss, reason = "a handful of gates")]
        (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
    }

    /// All findings of red gates with the gate they came from.
    pub fn failures(&self) -> impl Iterator<Item = (&GateName, &Finding)> {
        self.red().flat_map(|check| check.findings.iter().map(move |f| (&check.gate, f)))
    }

    /// The identities of what is red: each failing finding, or the gate itself where none is known.
    pub fn failing(&self) -> BTreeSet<String> {
        let mut failing = BTreeSet::new();
        for check in self.red() {
            if check.findings.is_empty() {
                failing.insert(format!("{}:*", check.gate));
            }
            failing.extend(check.findings.iter().map(|f| f.identity(&check.gate)));
        }
        failing
    }

    /// What is missing because gates changed files instead of only checking them, as a sentence.
    pub fn edited_words(&self) -> Option<String> {
        const NAMED: usize = 5;
        let edited = self.checks.iter().flat_map(|check| &check.edited);
        let paths: BTreeSet<&str> = edited.map(String::as_str).collect();
        let shown = paths.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = paths.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let count = text::count(paths.len() as u64, "file");
        (!paths.is_empty()).then(|| {
            format!(
                "the gates changed {count} while they ran, which they did not check any more: \
                 {shown}{more}; commit what they made of it, or have git ignore it"
            )
        })
    }

    /// How many failures were counted, by the gates' own counts or else by their findings.
    pub fn failure_count(&self) -> u64 {
        self.red()
            .map(|check| match check.counts {
                Some(counts) if counts.failed > 0 => counts.failed,
                _ => (check.findings.len() as u64).saturating_add(check.findings_left_out).max(1),
            })
            .sum()
    }

    /// The same without what was printed: enough to tell what changed since.
    #[must_use]
    pub fn without_tails(&self) -> Self {
        let mut result = self.clone();
        for check in &mut result.checks {
            check.tail.clear();
        }
        result
    }

    /// Status per gate, by name.
    pub fn statuses(&self) -> BTreeMap<&str, &CheckStatus> {
        self.checks.iter().map(|check| (check.gate.as_str(), &check.status)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::{format, vec};

    use super::blocking::Refusal;
    use super::*;

    #[test]
    fn another_colour_on_the_same_tree_makes_a_check_flaky_and_a_red_one_stays_red() {
        let (green, red) = (Check::passed("tests"), Check::failed("tests"));
        let now_red = red.clone().beside(&green);
        assert!(now_red.status.is_red());
        assert_eq!(now_red.flaky.as_deref(), Some("red now, green before on the same tree"));
        let now_green = green.clone().beside(&red);
        assert!(!now_green.status.is_red());
        assert_eq!(now_green.flaky.as_deref(), Some("red once, then green: no reason known"));
        for same in [&green, &red] {
            assert_eq!(same.clone().beside(same).flaky, None);
            // Once it had both colours there, it is flaky whatever it says next.
            assert!(same.clone().beside(&now_green).flaky.is_some());
        }
    }

    #[test]
    fn a_flaky_check_says_how_often_it_was_red_and_why() {
        let red = Check::failed("tests");
        let limit = Finding::new(FindingKind::Timeout, "it ran into its limit of 1s");
        for (red, words) in [
            (Check { tries: Some(2), ..red.clone() }, "red 2 times, then green: no reason known"),
            (
                Check { tail: "a\nbad luck\n\n".into(), ..red.clone() },
                "red once, then green: bad luck",
            ),
            (
                Check { findings: vec![limit.named("tests")], ..red.clone() },
                "red once, then green: it ran into its limit of 1s",
            ),
        ] {
            assert_eq!(Check::passed("tests").flaky_after(&red).flaky.as_deref(), Some(words));
        }
    }

    #[test]
    fn files_that_gates_changed_are_told_once() {
        let edited = |paths: &[&str]| Check {
            edited: paths.iter().map(|path| String::from(*path)).collect(),
            ..Check::passed("fmt")
        };
        let of = |checks: Vec<Check>| GateResult { tree: "t".into(), checks }.edited_words();
        assert_eq!(of(vec![Check::passed("fmt")]), None);
        let both = of(vec![edited(&["b", "a"]), edited(&["a"])]).unwrap_or_default();
        assert!(
            both.starts_with("the gates changed 2 files ") && both.contains(": a, b; "),
            "{both}"
        );
        let many = of(vec![edited(&["a", "b", "c", "d", "e", "f", "g"])]).unwrap_or_default();
        assert!(many.contains(": a, b, c, d, e and 2 more; "), "{many}");
    }

    #[test]
    fn failures_are_counted_by_the_gate_or_else_by_its_findings_and_a_silent_red_one_is_one() {
        let finding = |name: &str| Finding::new(FindingKind::Test, "no").named(name);
        let told = |names: &[&str]| names.iter().map(|name| finding(name)).collect::<Vec<_>>();
        let of = |checks: &[Check]| GateResult { tree: "t".into(), checks: checks.to_vec() };
        let counts = Some(Counts { failed: 40, ..Counts::default() });
        let counted = Check { counts, findings: told(&["a"]), ..Check::failed("tests") };
        let cut = Check { findings_left_out: 5, findings: told(&["a", "b"]), ..Check::failed("x") };
        for (checks, expected) in [
            (&[][..], 0),
            (&[Check::passed("tests")], 0),
            (&[Check::failed("silent")], 1),
            (core::slice::from_ref(&counted), 40),
            (core::slice::from_ref(&cut), 7),
            (&[counted.clone(), cut.clone(), Check::failed("silent")], 48),
        ] {
            assert_eq!(of(checks).failure_count(), expected, "{checks:?}");
        }
        let result = of(&[counted]);
        let known = result.failing();
        assert!(result.nothing_new(&known, 40));
        assert!(!result.nothing_new(&known, 39), "one more than were red when the run began");
    }

    #[test]
    fn a_refusal_tells_its_findings_and_how_many_it_does_not_tell() {
        let finding = |n: usize| Finding::new(FindingKind::Test, "no").named(format!("t{n}"));
        let of = |count: usize, left_out| Check {
            findings: (0..count).map(finding).collect(),
            findings_left_out: left_out,
            ..Check::failed("tests")
        };
        let text = |check: Check| {
            let result = GateResult { tree: "t".into(), checks: vec![check] };
            BlockingEvent::new(Refusal::new("a", &result)).to_text()
        };
        let counts = |failed| Some(Counts { passed: 3, failed, skipped: 0 });
        let headed = |counts| text(Check { counts, ..of(1, 0) });
        assert!(headed(counts(2)).starts_with("# Completion Blocked: tests failed (2 of 5)\n"));
        assert!(headed(counts(0)).starts_with("# Completion Blocked: tests failed\n"));
        let told = text(of(2, 0));
        assert!(told.contains("t0") && told.contains("t1"), "{told}");
        assert!(!told.contains("not shown here"), "{told}");
        let told = text(of(2, 3));
        assert!(told.contains("… and 3 more findings not shown here.\n"), "{told}");
        let silent = Check { tail: "nobody home".into(), ..Check::failed("tests") };
        let told = text(silent);
        assert!(told.contains("`tests` failed; its last lines:\nnobody home\n"), "{told}");
        assert!(!told.contains("not shown here"), "{told}");
    }
}
