//! What changed between two readings of the same checks.

use alloc::collections::BTreeSet;
#[cfg(not(feature = "read"))]
use alloc::string::String;
#[cfg(not(feature = "read"))]
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// What changed since the last time, by the findings' labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Red now, not before.
    pub newly_failing: Vec<String>,
    /// Red now and before.
    pub still_failing: Vec<String>,
    /// Red before, not now.
    pub fixed: Vec<String>,
}

/// One thing that is red: what makes it the same the next time, and what people call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// See [`crate::Finding::identity`].
    pub identity: String,
    /// See [`crate::Finding::label`].
    pub label: String,
}

impl Difference {
    /// The most findings named, per group.
    pub const NAMES_MAX: usize = 20;

    /// What changed between what was red before and what is red now.
    pub fn between(before: &[Label], now: &[Label]) -> Self {
        let (was, is) = (identities(before), identities(now));
        let is_old = |red: &&Label| was.contains(red.identity.as_str());
        let is_gone = |red: &&Label| !is.contains(red.identity.as_str());
        let label = |red: &Label| red.label.clone();
        Self {
            newly_failing: names(now.iter().filter(|red| !is_old(red)).map(label)),
            still_failing: names(now.iter().filter(is_old).map(label)),
            fixed: names(before.iter().filter(is_gone).map(label)),
        }
    }
}

fn identities(red: &[Label]) -> BTreeSet<&str> {
    red.iter().map(|red| red.identity.as_str()).collect()
}

fn names(labels: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = labels.collect();
    names.dedup();
    names.truncate(Difference::NAMES_MAX);
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Finding, FindingKind};

    #[test]
    fn a_line_that_moved_is_the_same_and_what_is_gone_is_fixed() {
        let test = |name: &str, line: u32| {
            let finding = Finding::new(FindingKind::Test, "no").named(name).at("a.py", line, None);
            Label { identity: finding.identity("unit"), label: finding.label("unit") }
        };
        let before = [test("a", 3), test("b", 9)];
        let now = [test("b", 12), test("c", 1)];
        let difference = Difference::between(&before, &now);
        assert_eq!(difference.fixed, ["a"]);
        assert_eq!(difference.still_failing, ["b"]);
        assert_eq!(difference.newly_failing, ["c"]);
    }

    #[test]
    fn a_test_of_two_packages_is_two() {
        let test = |package: &str| {
            let mut finding = Finding::new(FindingKind::Test, "no").named("TestA");
            finding.package = Some(package.into());
            Label { identity: finding.identity("unit"), label: finding.label("unit") }
        };
        let difference = Difference::between(&[test("x/a"), test("x/b")], &[test("x/b")]);
        assert_eq!((difference.fixed.len(), difference.still_failing.len()), (1, 1));
    }
}
