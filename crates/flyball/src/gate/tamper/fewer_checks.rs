//! A test of which some checks were taken out and nothing came in their place. A rewritten test is
//! never judged; nor is one whose checks moved, or were about something the work took away.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::Edited;
use super::source::{Source, words};
use super::strength::{checks, checks_in, says_nothing};
use super::tests_of::{Test, tests_of};
use super::{Language, may_hold_tests};

/// Everything else that changed, looked at when it is needed.
pub(super) struct Elsewhere<'a> {
    edited: &'a [Edited],
    /// Lines of tests that are there more often than before.
    came: OnceCell<BTreeSet<String>>,
    /// Words of the program that are gone from a file of it.
    gone: OnceCell<BTreeSet<String>>,
}

impl<'a> Elsewhere<'a> {
    pub(super) fn new(edited: &'a [Edited]) -> Self {
        Self { edited, came: OnceCell::new(), gone: OnceCell::new() }
    }

    /// How a test lost checks, in words that follow its name; none when it did not.
    pub(super) fn fewer(&self, before: &Test, after: &Test) -> Option<String> {
        let (was, is) = (checks(before), checks(after));
        if is >= was {
            return None;
        }
        let lost = taken_out(before, after)?;
        let came = self.came.get_or_init(|| came(self.edited));
        let moved = lost.iter().all(|line| came.contains(line));
        let gone = self.gone.get_or_init(|| gone(self.edited));
        let about_gone = lost
            .iter()
            .all(|line| words(line).any(|(_, word)| !says_nothing(word) && gone.contains(word)));
        (!moved && !about_gone)
            .then(|| format!("checks less than before ({was} checks became {is})"))
    }
}

fn code_lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect()
}

/// The lines that stated something and are gone, when nothing else was done to the test.
fn taken_out(before: &Test, after: &Test) -> Option<Vec<String>> {
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    for line in code_lines(&before.whole) {
        let count = left.entry(line).or_default();
        *count = count.saturating_add(1);
    }
    for line in code_lines(&after.whole) {
        let count = left.get_mut(&line)?;
        *count = count.checked_sub(1)?;
    }
    let states = |line: &String| {
        let source = Source::new(before.language, line);
        checks_in(before.language, &source.bare) > 0
    };
    let lost: Vec<String> =
        left.into_iter().filter(|(_, count)| *count > 0).map(|(line, _)| line).collect();
    let lost: Vec<String> = lost.into_iter().filter(states).collect();
    (!lost.is_empty()).then_some(lost)
}

fn came(edited: &[Edited]) -> BTreeSet<String> {
    let mut count: BTreeMap<String, i64> = BTreeMap::new();
    for (text, step) in edited.iter().flat_map(|edit| [(&edit.before, -1), (&edit.after, 1)]) {
        for line in code_lines(text.as_deref().unwrap_or("")) {
            let sum = count.entry(line).or_default();
            *sum = sum.saturating_add(step);
        }
    }
    // What was taken out of one test and put into another is as often there as before.
    count.into_iter().filter(|(_, sum)| *sum >= 0).map(|(line, _)| line).collect()
}

fn gone(edited: &[Edited]) -> BTreeSet<String> {
    let mut gone = BTreeSet::new();
    for edit in edited {
        let Some(language) = Language::of(&edit.path) else { continue };
        let before = program_words(language, &edit.path, edit.before.as_deref().unwrap_or(""));
        let after = program_words(language, &edit.path, edit.after.as_deref().unwrap_or(""));
        gone.extend(before.difference(&after).cloned());
    }
    gone
}

/// The words of a file but for those of its tests.
fn program_words(language: Language, path: &str, text: &str) -> BTreeSet<String> {
    let mut code = Source::new(language, text).code;
    if may_hold_tests(language, path) {
        // In most languages a file of tests holds nothing else.
        if !matches!(language, Language::Rust | Language::Jvm) {
            return BTreeSet::new();
        }
        for test in tests_of(language, text) {
            code = code.replacen(&test.whole, "", 1);
        }
    }
    words(&code).map(|(_, word)| word.to_owned()).filter(|word| word.len() > 2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, before: &str, after: &str) -> Edited {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Edited { path: path.to_owned(), before: text(before), after: text(after) }
    }

    /// Whether the first test of the first file lost checks.
    fn lost(edits: &[Edited]) -> bool {
        let first = &edits[0];
        let language = Language::of(&first.path).unwrap();
        let one = |text: &Option<String>| tests_of(language, text.as_deref().unwrap()).remove(0);
        Elsewhere::new(edits).fewer(&one(&first.before), &one(&first.after)).is_some()
    }

    #[test]
    fn checks_taken_out_are_seen_and_work_on_a_test_is_not() {
        let rust = "#[test]\nfn a() {\n    let x = f();\n    assert_eq!(x.one, 1);\n    assert_eq!(x.two, 2);\n}\n";
        let without = rust.replace("    assert_eq!(x.two, 2);\n", "");
        assert!(lost(&[edit("tests/a.rs", rust, &without)]));
        let python = "def test_a():\n    x = f()\n    assert x.one == 1\n    assert x.two == 2\n";
        let py_without = python.replace("    assert x.two == 2\n", "");
        assert!(lost(&[edit("tests/test_a.py", python, &py_without)]));
        let commented = python.replace("    assert x.two", "    # assert x.two");
        assert!(lost(&[edit("tests/test_a.py", python, &commented)]));
        let js = "it('a', () => {\n  const x = f()\n  expect(x.one).toBe(1)\n  expect(x.two).toBe(2)\n})\n";
        assert!(lost(&[edit("a.test.js", js, &js.replace("  expect(x.two).toBe(2)\n", ""))]));
        // Rewritten, not taken out.
        let rewritten = rust.replace(
            "    assert_eq!(x.one, 1);\n    assert_eq!(x.two, 2);\n",
            "    assert_eq!((x.one, x.two), (1, 2));\n",
        );
        assert!(!lost(&[edit("tests/a.rs", rust, &rewritten)]));
        // Moved into a test of its own.
        let moved = format!("{py_without}\n\ndef test_b():\n    x = f()\n    assert x.two == 2\n");
        assert!(!lost(&[edit("tests/test_a.py", python, &moved)]));
        // What it was about is no longer there.
        let program =
            edit("src/f.py", "class X:\n    one = 1\n    two = 2\n", "class X:\n    one = 1\n");
        assert!(!lost(&[edit("tests/test_a.py", python, &py_without), program]));
        let other = edit("src/f.py", "three = 1\n", "four = 1\n");
        assert!(lost(&[edit("tests/test_a.py", python, &py_without), other]));
    }
}
