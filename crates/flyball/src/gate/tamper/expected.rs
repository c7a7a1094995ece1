//! What tests expect: the values they name, how strictly they compare, the tables and the files of data
//! they read. A test may change with the program it is about; that one which was red when the work
//! began expects something else now is for people to judge, so that all this only counts for such.

mod data;
mod values;

use flyball_core::gate::Weight;

use self::values::{Values, strictness};
use super::excerpt::Side;
use super::foreign::is_foreign_test;
use super::pairing::{Paired, Placed};
use super::source::{Language, Source, words};
use super::strength::says_nothing;
use super::suspicion::{Suspicion, test_subject};
use super::{Context, Edited, pairing, placed};

pub(super) use self::data::is_data;

/// Words that end a test before it has checked anything, or write what it then reads.
const LEAVING: [&str; 24] = [
    "return",
    "continue",
    "break",
    "todo",
    "skip",
    "retry",
    "retries",
    "retryTimes",
    "flaky",
    "reruns",
    "assume",
    "assumeTrue",
    "assumeThat",
    "assumeFalse",
    "prop_assume",
    "Retry",
    "write",
    "write_text",
    "dump",
    "writeFileSync",
    "writeFile",
    "WriteFile",
    "file_put_contents",
    "writeString",
];
/// What lines that only take something in begin with.
const TAKING_IN: [&str; 8] =
    ["import ", "from ", "use ", "require", "#include", "const {", "package ", "export "];

/// Everything that tests expect and is no longer so.
pub(super) fn changed(of: &Context<'_>) -> Vec<Suspicion> {
    let edited = of.edited;
    let before: Vec<Placed> =
        edited.iter().flat_map(|edit| placed(edit, edit.before.as_deref())).collect();
    let after: Vec<Placed> =
        edited.iter().flat_map(|edit| placed(edit, edit.after.as_deref())).collect();
    let Paired { pairs, .. } = pairing::pair(&before, &after);
    let is_new = |one: &&Placed| !pairs.iter().any(|(_, new)| std::ptr::eq(*new, *one));
    let mut units: Vec<String> =
        after.iter().filter(is_new).map(|one| one.test.whole.clone()).collect();
    units.extend(edited.iter().filter(|edit| edit.after.is_some()).map(came));
    let mut found = Vec::new();
    for (old, new) in &pairs {
        let (was, is) = (&old.test.whole, &new.test.whole);
        if was == is || moved(was, is, &units) {
            continue;
        }
        let name = &new.test.name;
        let message = format!("test `{name}` was red and was made to expect something else");
        let mut one =
            Suspicion::of_test(old, name, message, Side::Now, 0).at(&new.file, new.test.line);
        one.found.now = blake3::hash(is.as_bytes()).to_hex().to_string();
        if new.file != old.file {
            one.found.restore.clear();
        }
        found.push(only_if_red(one, vec![old.test.name.clone()], vec![old.file.clone()]));
    }
    for edit in edited {
        let tests: Vec<&Placed> = before.iter().filter(|one| one.file == edit.path).collect();
        found.extend(beside_tests(edit, &tests, &units));
    }
    found.extend(data::changed(of));
    found
}

/// Tests that became part of others, with every value they named.
pub(super) fn taken_in(
    before: &[Placed],
    after: &[Placed],
    paired: &Paired<'_>,
) -> Option<Suspicion> {
    let left = before.iter().filter(|old| {
        !paired.pairs.iter().any(|(one, _)| std::ptr::eq(*one, *old))
            && !paired.gone.iter().any(|one| std::ptr::eq(*one, *old))
    });
    let held = left.filter(|old| {
        after.iter().any(|new| {
            old.test.language == new.test.language
                && Values::of(&old.test.whole).without(&Values::of(&new.test.whole)).is_empty()
        })
    });
    let names: Vec<&str> =
        held.map(|old| old.test.name.as_str()).take(super::FINDINGS_MAX).collect();
    let shown = names.iter().take(5).copied().collect::<Vec<_>>().join("`, `");
    let message = format!("`{shown}` became part of other tests");
    let mut one = Suspicion::new("taken in", message, Side::Before);
    one.found.subjects.push(format!("taken in:{shown}"));
    one.found.tests = u32::try_from(names.len()).unwrap_or(u32::MAX);
    one.found.weight = Weight::TakenIn;
    (!names.is_empty()).then_some(one)
}

pub(super) fn only_if_red(mut one: Suspicion, tests: Vec<String>, files: Vec<String>) -> Suspicion {
    one.found.weight = Weight::IfRedFirst;
    (one.found.of_tests, one.found.of_files) = (tests, files);
    one
}

/// What stands beside the tests of a file: tables of cases, limits, helpers. Of files whose tests are
/// not told apart, all of it.
fn beside_tests(edit: &Edited, tests: &[&Placed], units: &[String]) -> Option<Suspicion> {
    let (before, after) = (edit.before.as_deref()?, edit.after.as_deref()?);
    let foreign = is_foreign_test(&edit.path);
    let language = match Language::of(&edit.path) {
        Some(language) if !tests.is_empty() => language,
        None if foreign => Language::JavaScript,
        Some(_) | None => return None,
    };
    // In Rust most of such a file is the program.
    let mixed = language == Language::Rust && !edit.path.split('/').any(|dir| dir == "tests");
    let within = |text: &str| {
        let from = if mixed { text.find("#[cfg(test)]").unwrap_or(text.len()) } else { 0 };
        text.get(from..).unwrap_or("").to_owned()
    };
    let now = placed(edit, edit.after.as_deref());
    let mut was = Source::new(language, &within(before)).code;
    let mut is = Source::new(language, &within(after)).code;
    for test in tests {
        was = was.replacen(&test.test.whole, "", 1);
    }
    for test in &now {
        is = is.replacen(&test.test.whole, "", 1);
    }
    let (was, is) = (stating(&was), stating(&is));
    let others: Vec<String> = units.iter().filter(|unit| **unit != came(edit)).cloned().collect();
    if was == is || moved(&was, &is, &others) {
        return None;
    }
    let path = &edit.path;
    let message = format!("what red tests of `{path}` expect was changed beside them");
    let mut one = Suspicion::of_file(path, path, message);
    one.found.subjects.extend(tests.iter().map(|test| test_subject(test)));
    let names = tests.iter().map(|test| test.test.name.clone()).collect();
    Some(only_if_red(one, names, vec![path.clone()]))
}

/// The lines that do more than take something in.
fn stating(code: &str) -> String {
    let lines = code.lines().map(str::trim);
    let states = |line: &&str| {
        !line.is_empty()
            && !TAKING_IN.iter().any(|begin| line.starts_with(begin))
            && !line.contains("require(")
    };
    lines.filter(states).collect::<Vec<_>>().join("\n")
}

/// The lines of a file that were not there.
fn came(edit: &Edited) -> String {
    let before = edit.before.as_deref().unwrap_or("");
    let mut known: Vec<&str> = before.lines().map(str::trim).collect();
    known.sort_unstable();
    let after = edit.after.as_deref().unwrap_or("").lines();
    let new = after.filter(|line| known.binary_search(&line.trim()).is_err());
    new.collect::<Vec<_>>().join("\n")
}

/// Whether everything a piece of code expected, it still expects as strictly, or another one does that
/// is about the same.
fn moved(was: &str, is: &str, units: &[String]) -> bool {
    let leaves = |text: &str| words(text).filter(|(_, word)| LEAVING.contains(word)).count();
    if leaves(is) > leaves(was) {
        return false;
    }
    let lost = Values::of(was).without(&Values::of(is));
    let (strict, loose) = strictness(was);
    let (strict_now, loose_now) = strictness(is);
    let as_strict = strict_now >= strict || loose_now <= loose;
    if lost.is_empty() && as_strict {
        return true;
    }
    let own = |text: &str| -> Vec<String> {
        let all = words(text).map(|(_, word)| word.to_owned());
        all.filter(|word| word.len() > 2 && !says_nothing(word)).collect()
    };
    let subject = own(was);
    units.iter().any(|unit| {
        let about = own(unit).iter().filter(|word| subject.contains(word)).count();
        let values = Values::of(unit);
        about > 0
            && lost.without(&values).is_empty()
            && !values.is_empty()
            && (as_strict || strictness(unit).0 > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_plans;
    use super::*;
    use crate::gate::plan::GatePlan;

    fn said(files: &[(&str, &str, &str)]) -> Vec<String> {
        let text = |text: &str| (text != "-").then(|| text.to_owned());
        let edited: Vec<Edited> = files
            .iter()
            .map(|(path, before, after)| Edited {
                path: (*path).to_owned(),
                before: text(before),
                after: text(after),
            })
            .collect();
        let found = of_plans(&edited, &GatePlan::default(), &GatePlan::default());
        let red = found.into_iter().filter(|one| one.weight == Weight::IfRedFirst);
        red.map(|one| one.finding.message).collect()
    }

    const PYTHON: &str = "import work\n\nCASES = [\n    (1, 2),\n    (3, 4),\n]\n\n\ndef test_a():\n    \
                          assert work.f() == 1\n\n\ndef test_b():\n    for x, y in CASES:\n        \
                          assert work.g(x) == y\n";

    #[test]
    fn a_test_that_expects_something_else_is_seen_in_every_language() {
        for (path, before, from, to) in [
            ("test_x.py", PYTHON, "f() == 1", "f() == 0"),
            ("test_x.py", PYTHON, "f() == 1", "f() is not None"),
            ("test_x.py", PYTHON, "f() == 1", "f() in (0, 1)"),
            (
                "test_x.py",
                PYTHON,
                "    assert work.f",
                "    if CI:\n        return\n    assert work.f",
            ),
            ("test_x.py", PYTHON, "    (3, 4),\n", ""),
            ("a.test.js", "test('a', () => { expect(f()).toBeCloseTo(1, 5) })\n", "1, 5", "1, -3"),
            ("a.test.js", "test('a', () => { expect(f()).toBe(1) })\n", "toBe(1)", "toBeDefined()"),
            (
                "a_test.go",
                "func TestF(t *testing.T) {\n\tif F() != 1 {\n\t\tt.Error()\n\t}\n}\n",
                "!=",
                ">",
            ),
            (
                "src/a.rs",
                "#[test]\nfn a() {\n    assert_eq!(f(), 1);\n}\n",
                "assert_eq!(f(), 1)",
                "assert!(f() <= 1)",
            ),
            (
                "src/a.rs",
                "#[test]\nfn a() {\n    assert!((f() - 1.0).abs() < 1e-9);\n}\n",
                "1e-9",
                "1e9",
            ),
            (
                "src/XTest.java",
                "class XTest {\n  @Test\n  void a() {\n    assertEquals(1, f());\n  }\n}\n",
                "assertEquals(1, f())",
                "assertNotNull(f())",
            ),
            (
                "test/test_x.rb",
                "class X < Minitest::Test\n  def test_a\n    assert_equal 1, f\n  end\nend\n",
                "assert_equal 1, f",
                "refute_nil f",
            ),
            ("tests/test_x.c", "int main(void) {\n    assert(f() == 1);\n}\n", "== 1", "== 0"),
            ("tests/XTest.php", "<?php\nassert(f() === 1);\n", "=== 1", ">= 0"),
        ] {
            assert!(before.contains(from), "{path} {from}");
            let after = before.replacen(from, to, 1);
            assert_eq!(said(&[(path, before, &after)]).len(), 1, "{path}: {to}");
        }
    }

    #[test]
    fn work_on_a_test_that_leaves_its_expectations_alone_is_not() {
        let longer = format!("{PYTHON}\n\ndef test_c():\n    assert work.f() != 7\n");
        let renamed = PYTHON.replace("work.f()", "work.compute()");
        let formatted = PYTHON
            .replace("assert work.f() == 1", "assert (\n        work.f()\n        == 1\n    )");
        let more = PYTHON.replace("    (3, 4),\n", "    (3, 4),\n    (5, 6),\n");
        let unittest = PYTHON.replace("assert work.f() == 1", "self.assertEqual(work.f(), 1)");
        let both = "def test_a():\n    assert work.f(1) == 2\n    assert work.f(3) == 4\n";
        let table = "@pytest.mark.parametrize('x, y', [(1, 2), (3, 4)])\ndef test_a(x, y):\n    assert work.f(x) == y\n";
        let split = "def test_a():\n    assert work.f(1) == 2\n\n\ndef test_more():\n    assert work.f(3) == 4\n";
        for (name, before, after) in [
            ("another test", PYTHON, longer.as_str()),
            ("renamed", PYTHON, renamed.as_str()),
            ("formatted", PYTHON, formatted.as_str()),
            ("a case more", PYTHON, more.as_str()),
            ("another library", PYTHON, unittest.as_str()),
            ("a table", both, table),
            ("split", both, split),
        ] {
            assert_eq!(said(&[("test_x.py", before, after)]), [""; 0], "{name}");
        }
    }

    #[test]
    fn files_of_data_are_what_the_tests_that_name_them_expect() {
        let test = "def test_a():\n    assert f() == load('tests/golden.json')\n";
        let kept = ("tests/test_x.py", test, test);
        let golden = |after| ("tests/golden.json", "{\"a\": 1}\n", after);
        assert_eq!(said(&[kept, golden("{\"a\": 0}\n")]).len(), 1);
        assert_eq!(said(&[kept, golden("")]).len(), 1);
        assert_eq!(said(&[kept, golden("-")]).len(), 1);
        assert_eq!(said(&[kept, golden("{\n  \"a\": 1,\n  \"b\": 2\n}\n")]), [""; 0], "more of it");
        let snapshot =
            |after| ("src/__snapshots__/a.test.js.snap", "exports[`a 1`] = `1`;\n", after);
        let js = "test('a', () => { expect(f()).toMatchSnapshot() })\n";
        assert_eq!(
            said(&[("src/a.test.js", js, js), snapshot("exports[`a 1`] = `0`;\n")]).len(),
            1
        );
        let other = ("docs/golden.txt", "1\n", "2\n");
        assert_eq!(said(&[kept, other]), [""; 0], "no test's");
    }
}
