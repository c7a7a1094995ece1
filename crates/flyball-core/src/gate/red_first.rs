//! What was red before any agent worked (B10). To make such a test green is the work; to have it expect
//! something else is a question for people. A test that was green may change with what it is about.

use alloc::collections::BTreeSet;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::tamper::TamperFinding;
use super::{Check, CheckStatus, FindingKind};

/// Names remembered of each sort.
const MAX: usize = 500;
/// What parts of a test's full name stand between.
const BETWEEN: [char; 9] = [':', '.', '/', '#', '>', '›', '(', ')', '['];

/// What one check found before any agent worked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RedFirst {
    /// Tests, by the names the runner gives them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    tests: BTreeSet<String>,
    /// Files in which something was wrong that is no test: they did not even build, or load.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    files: BTreeSet<String>,
    /// Files of tests that are named.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    of_tests: BTreeSet<String>,
}

impl RedFirst {
    pub(super) fn of(check: &Check) -> Self {
        let mut this = Self::default();
        if check.status != CheckStatus::Failed {
            return this;
        }
        let keep = |set: &mut BTreeSet<String>, what: &str| {
            if set.len() < MAX {
                set.insert(String::from(what));
            }
        };
        for finding in &check.findings {
            let test = finding.name.as_deref().filter(|_| finding.kind == FindingKind::Test);
            // What a linter says of a file says nothing of its tests.
            let lint =
                matches!(finding.kind, FindingKind::Lint | FindingKind::Format | FindingKind::Type);
            let files = if test.is_some() { &mut this.of_tests } else { &mut this.files };
            if let Some(file) = finding.file.as_deref().filter(|_| !lint) {
                keep(files, file);
            }
            if let Some(test) = test {
                keep(&mut this.tests, test);
            }
        }
        this
    }

    /// Whether what a finding is about was red.
    pub(super) fn concerns(&self, finding: &TamperFinding) -> bool {
        let red = |test: &String| self.tests.iter().any(|full| names(full, test));
        let holds = |set: &BTreeSet<String>| {
            let same = |path: &String| set.iter().any(|file| is_same_file(file, path));
            finding.of_files.iter().any(same)
        };
        finding.of_tests.iter().any(red)
            || holds(&self.files)
            // Where tests are not told apart, the file stands for all of them.
            || (finding.of_tests.is_empty() && holds(&self.of_tests))
    }
}

/// Whether a runner's name for a test is that of the test of this name.
fn names(full: &str, test: &str) -> bool {
    if test.contains(char::is_whitespace) {
        return full.contains(test);
    }
    let first = full.split_whitespace().next();
    first == Some(test) || full.split(BETWEEN).any(|part| part.trim_matches([' ', ']']) == test)
}

fn is_same_file(told: &str, path: &str) -> bool {
    let told = told.trim_start_matches("./");
    told == path
        || told.strip_suffix(path).is_some_and(|rest| rest.ends_with('/'))
        || path.strip_suffix(told).is_some_and(|rest| rest.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::gate::Finding;

    fn about(tests: &[&str], files: &[&str]) -> TamperFinding {
        let all = |of: &[&str]| of.iter().map(|one| String::from(*one)).collect::<Vec<_>>();
        let mut finding = TamperFinding::about("x", "changed");
        (finding.of_tests, finding.of_files) = (all(tests), all(files));
        finding
    }

    #[test]
    fn a_test_is_known_by_any_runners_name_for_it() {
        for (full, test, expected) in [
            ("test_a (test_x.T.test_a)", "test_a", true),
            ("tests/test_x.py::test_a[1-2]", "test_a", true),
            ("tests::works", "works", true),
            ("TestH/3", "TestH", true),
            ("TestX#test_f", "test_f", true),
            ("group > adds one", "adds one", true),
            ("a", "a", true),
            ("adds a number", "a", false),
            ("tests::works_too", "works", false),
            ("test_ab", "test_a", false),
        ] {
            assert_eq!(names(full, test), expected, "{full} {test}");
        }
    }

    #[test]
    fn only_what_was_red_is_concerned() {
        let test = Finding::new(FindingKind::Test, "no").named("t::a").at("tests/t.rs", 3, None);
        let broken = Finding::new(FindingKind::Compile, "no").at("./src/b.rs", 1, None);
        let check = Check { findings: vec![test, broken], ..Check::failed("tests") };
        let red = RedFirst::of(&check);
        assert!(red.concerns(&about(&["a"], &["tests/t.rs"])));
        assert!(!red.concerns(&about(&["b"], &["tests/t.rs"])), "another one of that file");
        assert!(red.concerns(&about(&[], &["tests/t.rs"])), "nobody can tell which");
        assert!(red.concerns(&about(&["c"], &["src/b.rs"])), "it did not even build");
        assert!(!red.concerns(&about(&["c"], &["b.rs.txt"])));
        let green = Check { findings: check.findings, ..Check::passed("tests") };
        assert!(!RedFirst::of(&green).concerns(&about(&["a"], &["tests/t.rs"])));
    }
}
