//! Fewer tests (B10): a green result that ran less than an earlier one of the same check, or left
//! out a test that was red. Needs what a check's output tells; says nothing where it tells nothing.
//! A check that rewrites what it checks with while it runs is another one than what is there.

#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::red_first::RedFirst;
use super::tamper::{TAMPER, TamperFinding, Weight};
use super::{Check, CheckStatus, Executed, Finding, FindingKind};
use crate::id::GateName;
use crate::text;

/// Red tests remembered per check.
const RED_MAX: usize = 200;
/// Names of tests remembered per check.
const KNOWN_MAX: usize = 1_000;
/// Tests named in one sentence.
const NAMED_MAX: usize = 5;

/// What each check has run so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TestBounds(BTreeMap<GateName, TestBound>);

/// What one check has run so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct TestBound {
    /// The most tests it ran in one go.
    ran: u64,
    /// The most it skipped in one go.
    skipped: u64,
    /// The tests it has run, where it names them.
    #[serde(default)]
    known: BTreeSet<String>,
    /// Tests that were red and have not been green since.
    #[serde(default)]
    red: Vec<String>,
    /// Whether it runs by its nature only a part each time: what changed, what failed last.
    #[serde(default)]
    partial: bool,
    /// Whether it was red when its own numbers told of failures.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    heeds_failures: bool,
    /// What it wrote to of its own checks before any agent worked; none when nobody looked then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rewrites: Option<BTreeSet<String>>,
    /// What was red before any agent worked; none when nobody looked then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    red_first: Option<RedFirst>,
}

/// What a result says about the tests of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "made once, held for a moment")]
pub enum Ran {
    /// Nothing can be told: it was red, did not run, or never tells.
    Unknown,
    /// As many as before or more, and none newly skipped.
    All,
    /// As many as before or more, and some newly skipped.
    MoreSkipped,
    /// Fewer than before, or without one that was red.
    Fewer(TamperFinding),
}

impl TestBounds {
    /// Whether nothing has been told so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// This check runs only a part each time: the number of its tests says nothing.
    pub fn runs_a_part(&mut self, gate: &GateName) {
        self.0.entry(gate.clone()).or_default().partial = true;
    }

    /// Takes over what an earlier run was told.
    pub fn merge(&mut self, other: &Self) {
        for (gate, bound) in &other.0 {
            let own = self.0.entry(gate.clone()).or_default();
            own.ran = own.ran.max(bound.ran);
            own.skipped = own.skipped.max(bound.skipped);
            own.partial |= bound.partial;
            own.heeds_failures |= bound.heeds_failures;
            if own.rewrites.is_none() {
                own.rewrites.clone_from(&bound.rewrites);
            }
            if own.red_first.is_none() {
                own.red_first.clone_from(&bound.red_first);
            }
            own.know(bound.known.iter());
            for name in &bound.red {
                own.saw_red(name);
            }
        }
    }

    /// An open finding of an earlier run stays until as many tests run again.
    pub fn remember(&mut self, gate: &GateName, ran: u64) {
        let bound = self.0.entry(gate.clone()).or_default();
        bound.ran = bound.ran.max(ran);
    }

    /// What a check writes to and finds before any agent has worked is how it was made: once per watch.
    pub fn accustom(&mut self, check: &Check) {
        let bound = self.0.entry(check.gate.clone()).or_default();
        bound.rewrites.get_or_insert_with(|| check.rewrote.iter().cloned().collect());
        bound.red_first.get_or_insert_with(|| RedFirst::of(check));
    }

    /// Whether what a finding is about was red before any agent worked.
    pub fn was_red(&self, finding: &TamperFinding) -> bool {
        let first = self.0.values().filter_map(|bound| bound.red_first.as_ref());
        first.into_iter().any(|red| red.concerns(finding))
    }

    /// Compares a result with those before it, and learns from it.
    pub fn judge(&mut self, check: &Check) -> Ran {
        let new = TestBound::default();
        let bound = self.0.get(&check.gate).unwrap_or(&new);
        let said = match &check.status {
            CheckStatus::Passed => bound.compare(check),
            CheckStatus::Failed | CheckStatus::TimedOut | CheckStatus::Skipped { .. } => {
                Ran::Unknown
            }
        };
        self.learn(check);
        said
    }

    fn learn(&mut self, check: &Check) {
        if check.status == CheckStatus::Failed && failures(check) > 0 {
            self.0.entry(check.gate.clone()).or_default().heeds_failures = true;
        }
        if check.executed.is_empty() || matches!(check.status, CheckStatus::Skipped { .. }) {
            return;
        }
        let tests = Tests::of(check);
        let bound = self.0.entry(check.gate.clone()).or_default();
        bound.ran = bound.ran.max(tests.ran);
        bound.skipped = bound.skipped.max(tests.skipped);
        bound.red.retain(|name| !tests.ran(name));
        let names = check.executed.iter().flat_map(|one| &one.names);
        bound.know(names);
        let is_test = |finding: &&Finding| finding.kind == FindingKind::Test;
        let names = check.findings.iter().filter(is_test).filter_map(|f| f.name.as_deref());
        // A tool that names its failures otherwise than its tests says nothing about them.
        for name in names.filter(|name| tests.ran(name)) {
            bound.saw_red(name);
        }
    }
}

/// The tests of one result, over all its runners.
struct Tests<'a> {
    ran: u64,
    skipped: u64,
    of: &'a [Executed],
}

impl<'a> Tests<'a> {
    fn of(check: &'a Check) -> Self {
        let sum = |number: fn(&Executed) -> u64| {
            check.executed.iter().map(number).fold(0, u64::saturating_add)
        };
        Self { ran: sum(|one| one.ran), skipped: sum(|one| one.skipped), of: &check.executed }
    }

    fn ran(&self, name: &str) -> bool {
        self.of.iter().any(|one| one.names.contains(name))
    }

    /// Whether every test that ran is named.
    fn all_named(&self) -> bool {
        !self.of.is_empty() && self.of.iter().all(|one| one.ran == 0 || one.has_all_names())
    }

    /// How many names nobody has seen before.
    fn new_names(&self, known: &BTreeSet<String>) -> u64 {
        let names = self.of.iter().flat_map(|one| &one.names);
        names.filter(|name| !known.contains(*name)).count() as u64
    }
}

impl TestBound {
    fn know(&mut self, names: impl Iterator<Item = impl AsRef<str>>) {
        for name in names {
            if self.known.len() < KNOWN_MAX {
                self.known.insert(String::from(name.as_ref()));
            }
        }
    }

    fn saw_red(&mut self, name: &str) {
        if self.red.len() < RED_MAX && !self.red.iter().any(|red| red == name) {
            self.red.push(String::from(name));
        }
    }

    /// What the check wrote to of its own checks and did not before.
    fn rewritten<'c>(&self, check: &'c Check) -> Vec<&'c str> {
        let known = |path: &&String| self.rewrites.as_ref().is_some_and(|set| set.contains(*path));
        check.rewrote.iter().filter(|path| !known(path)).map(String::as_str).collect()
    }

    fn compare(&self, check: &Check) -> Ran {
        if let Some(first) = self.rewritten(check).first() {
            let gate = &check.gate;
            let message = format!(
                "gate `{gate}` wrote to `{first}` while it ran: what it checked with is not what is \
                 there"
            );
            return Ran::Fewer(finding(gate, message, self.ran, first));
        }
        let tests = Tests::of(check);
        let failed = failures(check);
        if failed > 0 && self.heeds_failures {
            let gate = &check.gate;
            let failed = text::count(failed, "test");
            let message =
                format!("gate `{gate}` says that {failed} failed, and ended as if none had");
            return Ran::Fewer(finding(gate, message, self.ran, "failed"));
        }
        if self.partial || self.ran == 0 {
            return Ran::Unknown;
        }
        let gate = &check.gate;
        let more_skipped = tests.skipped.saturating_sub(self.skipped);
        if tests.ran < self.ran {
            let before = text::count(self.ran, "test");
            let now = match (tests.ran, check.executed.is_empty()) {
                (0, _) | (_, true) => String::from("none"),
                (ran, false) => format!("{ran}"),
            };
            let message =
                format!("gate `{gate}` ran {before} before and is green with {now} of them");
            let mut fewer = finding(gate, message, self.ran, &now);
            if more_skipped >= self.ran.saturating_sub(tests.ran) {
                fewer.weight = Weight::UnlessAlone;
            }
            return Ran::Fewer(fewer);
        }
        let left_out = self.left_out(&tests, more_skipped);
        if let Some(first) = left_out.first() {
            let shown: Vec<&str> = left_out.iter().take(NAMED_MAX).copied().collect();
            let more = left_out.len().saturating_sub(shown.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let names = shown.join("`, `");
            let were = if left_out.len() == 1 { "was" } else { "were" };
            let message =
                format!("gate `{gate}` is green without `{names}`{more}, which {were} red before");
            return Ran::Fewer(finding(gate, message, self.ran, first));
        }
        if more_skipped > 0 { Ran::MoreSkipped } else { Ran::All }
    }

    /// Tests that were red and are neither run, nor skipped, nor run under another name.
    fn left_out(&self, tests: &Tests<'_>, more_skipped: u64) -> Vec<&str> {
        if !tests.all_named() || self.known.len() >= KNOWN_MAX {
            return Vec::new();
        }
        let gone = self.red.iter().filter(|name| !tests.ran(name));
        let gone: Vec<&str> = gone.map(String::as_str).collect();
        let explained = tests.new_names(&self.known).saturating_add(more_skipped);
        if gone.len() as u64 > explained { gone } else { Vec::new() }
    }
}

/// How many tests failed, by the check's own numbers.
fn failures(check: &Check) -> u64 {
    check.counts.as_ref().map_or(0, |counts| counts.failed)
}

fn finding(gate: &GateName, message: String, ran: u64, now: &str) -> TamperFinding {
    let mut finding = TamperFinding::about(format!("count:{gate}"), message);
    finding.finding.name = Some(String::from(gate.as_str()));
    finding.now = format!("{TAMPER}:{now}");
    finding.ran_before = Some(ran);
    finding
}
