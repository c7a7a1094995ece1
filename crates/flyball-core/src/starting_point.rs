//! How the work was found before anyone touched it: what was red, and what was not committed.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::gate::GateResult;
use crate::policy::Baseline;
use crate::text;
use crate::worktree::WorktreeSnapshot;

/// Paths named in one sentence.
const NAMED: usize = 5;

/// What was red and uncommitted before the work began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartingPoint {
    /// What was red, by identity.
    pub failing: BTreeSet<String>,
    /// How many failures there were.
    pub failures: u64,
    /// Paths that were not committed.
    pub uncommitted: BTreeSet<String>,
}

impl StartingPoint {
    /// The worktree as it was found; the gates' word comes later.
    pub fn of(snapshot: &WorktreeSnapshot) -> Self {
        let uncommitted = snapshot.uncommitted.iter().cloned().collect();
        Self { uncommitted, ..Self::default() }
    }

    /// The gates' word on it.
    pub fn take_gates(&mut self, result: &GateResult) {
        self.failing = result.failing();
        self.failures = result.failure_count();
    }

    /// Whether these gates let a completion through.
    pub fn accepts(&self, rule: Baseline, gates: &GateResult) -> bool {
        gates.is_green()
            || match rule {
                Baseline::Block => false,
                Baseline::Ignore => gates.nothing_new(&self.failing, self.failures),
            }
    }

    /// What the work has not committed, as a sentence; none when there is nothing.
    pub fn uncommitted_work(&self, snapshot: &WorktreeSnapshot) -> Option<String> {
        let is_new = |path: &&str| !self.uncommitted.contains(*path);
        let paths: Vec<&str> =
            snapshot.uncommitted.iter().map(String::as_str).filter(is_new).collect();
        if paths.is_empty() {
            return None;
        }
        let shown = paths.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = paths.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let count = text::count(paths.len() as u64, "path");
        let remedy = "commit what belongs to the work, and have git ignore the rest";
        Some(format!("{count} not committed: {shown}{more}; {remedy}"))
    }
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;
    use alloc::string::ToString;
    use std::vec;

    use super::*;
    use crate::gate::{Check, Finding, FindingKind};

    fn snapshot(paths: &[&str]) -> WorktreeSnapshot {
        let uncommitted = paths.iter().map(ToString::to_string).collect();
        WorktreeSnapshot { uncommitted, ..WorktreeSnapshot::default() }
    }

    #[test]
    fn only_what_was_not_there_before_counts_as_uncommitted_work() {
        let start = StartingPoint::of(&snapshot(&["old"]));
        let cases: &[(&[&str], Option<&str>)] = &[
            (&[], None),
            (&["old"], None),
            (&["new", "old"], Some("1 path not committed: new; {remedy}")),
            (
                &["a", "b", "c", "d", "e", "f", "g"],
                Some("7 paths not committed: a, b, c, d, e and 2 more; {remedy}"),
            ),
        ];
        for (paths, said) in cases {
            let remedy = "commit what belongs to the work, and have git ignore the rest";
            let said = said.map(|said| said.replace("{remedy}", remedy));
            assert_eq!(start.uncommitted_work(&snapshot(paths)), said, "{paths:?}");
        }
    }

    #[test]
    fn what_was_red_before_is_let_through_only_where_that_is_asked_for() {
        let red = |names: &[&str]| {
            let mut check = Check::failed("tests");
            check.findings = names
                .iter()
                .map(|name| Finding::new(FindingKind::Test, "no").named(*name))
                .collect();
            GateResult { tree: "t".to_owned(), checks: vec![check] }
        };
        let mut start = StartingPoint::default();
        start.take_gates(&red(&["a", "b"]));
        let green = GateResult { tree: "t".to_owned(), checks: vec![Check::passed("tests")] };
        let cases = [
            (Baseline::Block, green.clone(), true),
            (Baseline::Block, red(&["a"]), false),
            (Baseline::Ignore, green, true),
            (Baseline::Ignore, red(&["a"]), true),
            (Baseline::Ignore, red(&["a", "c"]), false),
            (Baseline::Ignore, GateResult::default(), false),
        ];
        for (rule, gates, accepted) in cases {
            assert_eq!(start.accepts(rule, &gates), accepted, "{rule:?} {gates:?}");
        }
    }
}
