//! Red, but moving (B6): what tells an iteration that gets somewhere from one that does not.

use alloc::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::call::fingerprint_result;
use crate::gate::{CheckStatus, Finding, FindingKind, GateResult};
use crate::id::GateName;

/// How many sets of findings are remembered; older ones may be seen anew.
const SETS_MAX: usize = 1024;

/// What an iteration changed, as far as progress goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change<'a> {
    /// The gates before it, where they had run.
    pub before: Option<&'a GateResult>,
    /// The gates after it.
    pub now: Option<&'a GateResult>,
    /// Whether a story passed, or was handed on, by the rules of its mode.
    pub story_passed: bool,
}

/// The sets of findings seen in a run, by hash. Bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingSets(VecDeque<u64>);

impl FindingSets {
    /// Remembers what the gates found.
    pub fn saw(&mut self, result: &GateResult) {
        let set = hash_of(&findings(result));
        if !self.0.contains(&set) {
            self.0.push_back(set);
            if self.0.len() > SETS_MAX {
                self.0.pop_front();
            }
        }
    }

    /// Whether the run has had exactly these findings before.
    fn knows(&self, set: &BTreeSet<u64>) -> bool {
        self.0.contains(&hash_of(set))
    }

    /// Whether an iteration is progress although it did not pass: no gate turned from green to
    /// red, and failing tests became fewer, or a story passed, or a finding is gone and what is
    /// found now was never found before (one compile error hides the next). Asked before the new
    /// result is remembered.
    pub fn is_progress(&self, change: Change<'_>) -> bool {
        let Change { before, now, story_passed } = change;
        let (Some(before), Some(now)) = (before, now) else { return story_passed };
        if turned_red(before, now) {
            return false;
        }
        story_passed || failures_shrank(before, now) || self.moved_on(before, now)
    }

    fn moved_on(&self, before: &GateResult, now: &GateResult) -> bool {
        let (was, is) = (findings(before), findings(now));
        was.difference(&is).next().is_some() && !self.knows(&is)
    }
}

/// Whether a gate that was green is red. One that had not run has not turned.
fn turned_red(before: &GateResult, now: &GateResult) -> bool {
    let was = before.statuses();
    now.red().any(|check| {
        was.get(check.gate.as_str()).is_some_and(|status| **status == CheckStatus::Passed)
    })
}

fn failures_shrank(before: &GateResult, now: &GateResult) -> bool {
    now.failure_count() < before.failure_count() && now.failing().is_subset(&before.failing())
}

/// What is red, each finding as a number: a gate that says nothing more stands for itself.
fn findings(result: &GateResult) -> BTreeSet<u64> {
    let mut set = BTreeSet::new();
    for check in result.red() {
        if check.findings.is_empty() {
            set.insert(finding_hash(&check.gate, None));
        }
        set.extend(check.findings.iter().map(|one| finding_hash(&check.gate, Some(one))));
    }
    set
}

/// Never the place, which moves with every edit. Of a named test not the message either. Numbers in
/// a message count, for they tell one error from the next; clocks and paths of the day do not.
fn finding_hash(gate: &GateName, finding: Option<&Finding>) -> u64 {
    let mut hash = Xxh3::new();
    let mut put = |text: &str| {
        hash.update(text.as_bytes());
        hash.update(&[0]);
    };
    put(gate.as_str());
    if let Some(finding) = finding {
        put(finding.name.as_deref().unwrap_or("-"));
        put(finding.file.as_deref().unwrap_or("-"));
        if let Some(package) = &finding.package {
            put(package);
        }
        let is_named_test = finding.name.is_some()
            && matches!(
                finding.kind,
                FindingKind::Test
                    | FindingKind::Timeout
                    | FindingKind::Crash
                    | FindingKind::CouldNotRun
            );
        if !is_named_test {
            put(&alloc::format!("{}", fingerprint_result(&finding.message)));
        }
    }
    hash.digest()
}

fn hash_of(set: &BTreeSet<u64>) -> u64 {
    let mut hash = Xxh3::new();
    for one in set {
        hash.update(&one.to_le_bytes());
    }
    hash.digest()
}

#[cfg(test)]
mod tests {
    use std::prelude::rust_2024::*;
    use std::vec;

    use super::*;
    use crate::gate::{Check, Counts};

    fn compile(message: &str) -> Check {
        let finding = Finding::new(FindingKind::Compile, message).at("src/lib.rs", 3, None);
        Check { findings: vec![finding], ..Check::failed("build") }
    }

    fn tests(names: &[&str]) -> Check {
        let findings = names.iter().map(|name| Finding::new(FindingKind::Test, "no").named(*name));
        Check { findings: findings.collect(), ..Check::failed("tests") }
    }

    /// One failure is told, the others are only counted.
    fn counted(failed: u64) -> Check {
        Check { counts: Some(Counts { failed, ..Counts::default() }), ..tests(&["a"]) }
    }

    fn on(tree: &str, checks: Vec<Check>) -> GateResult {
        GateResult { tree: tree.into(), checks }
    }

    fn judged(sets: &mut FindingSets, before: &GateResult, now: &GateResult) -> bool {
        let change = Change { before: Some(before), now: Some(now), story_passed: false };
        let progress = sets.is_progress(change);
        sets.saw(now);
        progress
    }

    #[test]
    fn what_is_progress_and_what_is_not() {
        let cases: &[(&str, Vec<Check>, Vec<Check>, bool)] = &[
            ("fewer tests fail", vec![tests(&["a", "b"])], vec![tests(&["a"])], true),
            ("the same tests fail", vec![tests(&["a"])], vec![tests(&["a"])], false),
            ("one more fails", vec![tests(&["a"])], vec![tests(&["a", "b"])], false),
            ("another error", vec![compile("no `a`")], vec![compile("no `b`")], true),
            ("a numbered one", vec![compile("no `v1`")], vec![compile("no `v2`")], true),
            (
                "only the clock moved",
                vec![compile("at 10:00:01")],
                vec![compile("at 10:00:02")],
                false,
            ),
            (
                "it compiles, and now the tests can fail",
                vec![compile("no `a`"), Check::skipped("tests", "build is red")],
                vec![Check::passed("build"), tests(&["a"])],
                true,
            ),
            (
                "a green gate turned red",
                vec![tests(&["a", "b"]), Check::passed("lint")],
                vec![tests(&["a"]), Check::failed("lint")],
                false,
            ),
            ("fewer of those that are only counted", vec![counted(40)], vec![counted(30)], true),
            ("as many of them", vec![counted(40)], vec![counted(40)], false),
            ("a silent gate stays red", vec![Check::failed("x")], vec![Check::failed("x")], false),
        ];
        for (what, before, now, expected) in cases {
            let (before, now) = (on("one", before.clone()), on("two", now.clone()));
            let mut sets = FindingSets::default();
            sets.saw(&before);
            assert_eq!(judged(&mut sets, &before, &now), *expected, "{what}");
        }
    }

    #[test]
    fn going_back_to_findings_of_before_is_none() {
        let [a, b] = ["no `a`", "no `b`"].map(|message| on(message, vec![compile(message)]));
        let mut sets = FindingSets::default();
        sets.saw(&a);
        assert!(judged(&mut sets, &a, &b));
        assert!(!judged(&mut sets, &b, &a), "the run has been there");
        assert!(!judged(&mut sets, &a, &b));
    }

    #[test]
    fn a_story_that_passed_is_progress_unless_a_gate_turned_red() {
        let (green, red) = (on("g", vec![Check::passed("x")]), on("r", vec![Check::failed("x")]));
        let cases =
            [(Some(&red), Some(&red), true), (Some(&green), Some(&red), false), (None, None, true)];
        for (before, now, expected) in cases {
            let change = Change { before, now, story_passed: true };
            assert_eq!(FindingSets::default().is_progress(change), expected);
        }
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut sets = FindingSets::default();
        for number in 0..2 * SETS_MAX {
            sets.saw(&on("t", vec![compile(&std::format!("no `{number}`"))]));
        }
        assert_eq!(sets.0.len(), SETS_MAX);
    }
}
