//! Tests in languages whose tests are not told apart here: only their absence is noticed, and that they
//! state less.

use super::Edited;
use super::excerpt::Side;
use super::source::Language;
use super::strength;
use super::suspicion::Suspicion;
use super::tests_of::{may_hold_tests, tests_of};

/// A test file in a language whose tests are not told apart here: only its absence is noticed, and
/// that it states less.
pub(super) fn is_foreign_test(path: &str) -> bool {
    const ENDINGS: [&str; 17] = [
        "bats", "c", "cc", "cpp", "cs", "cxx", "dart", "ex", "exs", "lua", "php", "pl", "scala",
        "sh", "swift", "t", "zig",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let lower = stem.to_ascii_lowercase();
    let says_so = lower.starts_with("test_")
        || ["_test", "-test", "_tests", ".test", ".spec"].iter().any(|end| lower.ends_with(end))
        || matches!(lower.as_str(), "test" | "tests")
        || (ending != "sh"
            && path.split('/').rev().skip(1).any(|dir| matches!(dir, "test" | "tests")))
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
        || matches!(ending, "bats" | "t");
    ENDINGS.contains(&ending) && says_so
}

/// A deleted test file of another language, unless a file of its name or content came elsewhere.
pub(super) fn foreign_deletion(file: &Edited, edited: &[Edited]) -> Option<Suspicion> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    if !is_foreign_test(&file.path) || file.before.is_none() || file.after.is_some() {
        return None;
    }
    let came = |other: &Edited| {
        other.before.is_none()
            && (other.after == file.before || name(&other.path) == name(&file.path))
    };
    let message = format!("test file {} was deleted", file.path);
    let mut suspicion = Suspicion::of_file(&file.path, &file.path, message);
    suspicion.side = Side::Before;
    suspicion.found.tests = 1;
    (!edited.iter().any(came)).then_some(suspicion)
}

/// A file of checks without tests that are known by name: what it states is counted.
pub(super) fn stated_less(file: &Edited) -> Option<Suspicion> {
    let (before, after) = (file.before.as_deref()?, file.after.as_deref()?);
    let language =
        Language::of(&file.path).filter(|language| may_hold_tests(*language, &file.path));
    let is_known = language.is_some_and(|language| {
        matches!(language, Language::Rust | Language::Jvm)
            || !tests_of(language, before).is_empty()
            || !tests_of(language, after).is_empty()
    });
    if is_known || (language.is_none() && !is_foreign_test(&file.path)) {
        return None;
    }
    let (was, is) = (strength::statements(before), strength::statements(after));
    (is < was).then(|| {
        let message = format!("`{}` states less than before: {was} checks became {is}", file.path);
        Suspicion::of_file(&file.path, &file.path, message)
    })
}

/// What in those languages keeps a test from being run.
const SKIPS: [&str; 16] = [
    "markTestSkipped",
    "markTestIncomplete",
    "GTEST_SKIP",
    "DISABLED_",
    "disabled_test",
    "BOOST_TEST_IGNORE",
    "@tag :skip",
    "Skip = \"",
    "Skip=\"",
    "[Ignore",
    "[Explicit",
    "XCTSkip",
    "SKIP(",
    "plan skip_all",
    "@skip",
    "pending(",
];
/// What a test begins with in them.
const BEGINS: [&str; 13] = [
    "@test ",
    "[Fact",
    "[Theory",
    "[Test]",
    "[TestMethod]",
    "TEST(",
    "TEST_F(",
    "TEST_P(",
    "TEST_CASE(",
    "func test",
    "function test",
    "test \"",
    "#[Test]",
];

/// A file of such tests in which more of them are skipped, or fewer are tests.
pub(super) fn switched_off(edited: &[Edited]) -> Vec<Suspicion> {
    let files = edited.iter().filter(|edit| is_foreign_test(&edit.path));
    files.filter_map(|edit| in_file(edit, edited)).collect()
}

fn in_file(edit: &Edited, edited: &[Edited]) -> Option<Suspicion> {
    let (before, after) = (edit.before.as_deref()?, edit.after.as_deref()?);
    let path = &edit.path;
    let count = |text: &str, marks: &[&str]| -> usize {
        let code = text.lines().map(str::trim);
        let code =
            code.filter(|line| !["//", "#!", "# ", "* "].iter().any(|c| line.starts_with(c)));
        code.map(|line| {
            let bats = path.rsplit('.').next() == Some("bats")
                && (line == "skip" || line.starts_with("skip "));
            let skips = usize::from(bats && marks.len() == SKIPS.len());
            marks.iter().map(|mark| line.matches(mark).count()).sum::<usize>().saturating_add(skips)
        })
        .sum()
    };
    let (was, is) = (count(before, &SKIPS), count(after, &SKIPS));
    if is > was {
        let message = format!("tests of `{path}` are now skipped");
        let mut found = Suspicion::of_file(path, path, message);
        found.found.tests = u32::try_from(is.saturating_sub(was)).unwrap_or(u32::MAX);
        return Some(found);
    }
    // What left one file may have come into another.
    let all = |side: fn(&Edited) -> Option<&str>| -> usize {
        let foreign = edited.iter().filter(|edit| is_foreign_test(&edit.path));
        foreign.map(|edit| count(side(edit).unwrap_or(""), &BEGINS)).sum()
    };
    let (was, is) = (count(before, &BEGINS), count(after, &BEGINS));
    let moved = all(|edit| edit.after.as_deref()) >= all(|edit| edit.before.as_deref());
    (is < was && !moved && stated_less(edit).is_none()).then(|| {
        let message = format!("`{path}` has fewer tests than before: {was} became {is}");
        let mut found = Suspicion::of_file(path, path, message);
        found.found.tests = u32::try_from(was.saturating_sub(is)).unwrap_or(u32::MAX);
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str, before: &str, after: &str) -> bool {
        let (before, after) = (Some(before.to_owned()), Some(after.to_owned()));
        let edited = [Edited { path: path.to_owned(), before, after }];
        !switched_off(&edited).is_empty() || stated_less(&edited[0]).is_some()
    }

    #[test]
    fn tests_that_are_not_told_apart_are_counted_and_their_marks_known() {
        let bats = "@test \"a\" {\n  run ./x\n  [ \"$status\" -eq 0 ]\n}\n";
        let gtest = "TEST(X, A) {\n  EXPECT_EQ(f(), 1);\n}\n";
        let php = "<?php\npublic function testF() {\n    $this->assertSame(1, f());\n}\n";
        let swift = "func testA() {\n    XCTAssertEqual(f(), 1)\n}\n";
        for (path, before, from, to) in [
            ("test/x.bats", bats, "  run", "  skip\n  run"),
            ("test/x.bats", bats, "  [ \"$status\" -eq 0 ]\n", ""),
            ("tests/x_test.cc", gtest, "X, A", "X, DISABLED_A"),
            ("tests/x_test.cc", gtest, "  EXPECT_EQ(f(), 1);\n", ""),
            ("tests/XTest.php", php, "    $this", "    $this->markTestSkipped();\n    $this"),
            ("Tests/XTests.swift", swift, "func testA", "func later_testA"),
        ] {
            assert!(said(path, before, &before.replacen(from, to, 1)), "{path}: {to}");
            assert!(!said(path, before, &format!("{before}\n{before}")), "{path} grew");
        }
    }
}
