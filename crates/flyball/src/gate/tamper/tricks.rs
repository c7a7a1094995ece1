//! Ways of a program, or of a file that runs with the tests, to look right only while it is checked:
//! asking whether a check is under way, being equal to everything, taking the tests' place.

use super::functions::{Function, functions};
use super::source::{Language, Source};
use super::strength::stating;
use super::suspicion::Suspicion;
use super::tests_of::may_hold_tests;
use super::{Context, Edited};

/// Variables that are set while something is checked, and for no other reason.
const CHECKED: [&str; 7] = [
    "FLYBALL_GATE",
    "FLYBALL_RUN",
    "FLYBALL_ITERATION",
    "PYTEST_CURRENT_TEST",
    "JEST_WORKER_ID",
    "VITEST_WORKER_ID",
    "NODE_TEST_CONTEXT",
];
/// Methods that say whether two things are equal.
const EQUAL: [&str; 6] = ["__eq__", "equals", "isEqual", "eq", "Equal", "valueEquals"];

/// Names that libraries of tests have for stating things: somebody's own must be able to say no.
const LIBRARY: [&str; 18] = [
    "assertEqual",
    "assertEquals",
    "assertTrue",
    "assertFalse",
    "assertIs",
    "assertIn",
    "assertIsNone",
    "assertIsNotNone",
    "assertAlmostEqual",
    "assertRaises",
    "assertDictEqual",
    "assertListEqual",
    "strictEqual",
    "deepStrictEqual",
    "notStrictEqual",
    "toBe",
    "toEqual",
    "toStrictEqual",
];
/// Parts of runners that decide how a test went.
const PARTS: [&str; 5] =
    ["_callTestMethod", "addFailure", "addError", "wasSuccessful", "testPartExecutor"];

/// Everything of that sort that is new.
pub(super) fn added(of: &Context<'_>) -> Vec<Suspicion> {
    if of.first.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for edit in of.edited {
        let (Some(language), Some(after)) = (Language::of(&edit.path), &edit.after) else {
            continue;
        };
        found.extend(asks(edit, language));
        found.extend(pretends(edit, language));
        found.extend(renamed(edit, language));
        let before = functions(language, edit.before.as_deref().unwrap_or(""));
        for one in functions(language, after) {
            let was = before.iter().any(|old| old.name == one.name && old.body == one.body);
            let how = stands_in(language, &one).filter(|_| !was);
            if let Some(how) = how {
                let path = &edit.path;
                let message = format!("`{}` in `{path}` {how}", one.name);
                let found_here = Suspicion::of_file(path, &one.name, message).whole(edit);
                found.push(found_here.at(path, one.line));
            }
        }
    }
    found
}

/// A program that asks whether it is being checked.
fn asks(edit: &Edited, language: Language) -> Option<Suspicion> {
    let tests =
        may_hold_tests(language, &edit.path) && !matches!(language, Language::Rust | Language::Jvm);
    let count = |text: &Option<String>, name: &str| {
        let code = Source::new(language, text.as_deref().unwrap_or("")).code;
        code.matches(name).count()
    };
    let own = |name: &&&str| name.starts_with("FLYBALL_") || !tests;
    let name = CHECKED
        .iter()
        .filter(own)
        .find(|name| count(&edit.after, name) > count(&edit.before, name))?;
    let path = &edit.path;
    let message = format!("`{path}` now asks whether it is being checked: `{name}`");
    Some(Suspicion::of_file(path, name, message).whole(edit))
}

/// How a function takes the place of what decides, in words that follow where it is.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds mean the same here")]
fn stands_in(language: Language, one: &Function) -> Option<&'static str> {
    let body: String = one.body.chars().filter(|c| !c.is_whitespace()).collect();
    let body = body.trim_matches(['{', '}', ';', '(', ')']);
    if EQUAL.contains(&one.name.as_str()) && is_equal_to_all(one, body) {
        return Some("is equal to everything");
    }
    match language {
        Language::Go if one.name == "TestMain" && !one.body.contains(".Run(") => {
            Some("takes the place of the tests and runs none")
        }
        Language::Python if one.name == "load_tests" => Some("decides which tests run"),
        Language::Python | Language::JavaScript
            if LIBRARY.contains(&one.name.as_str()) && !may_say_no(&one.body) =>
        {
            Some("has the name of what tests check with, and cannot fail")
        }
        Language::Python if PARTS.contains(&one.name.as_str()) && !one.body.contains("super()") => {
            Some("takes the place of a part of the runner")
        }
        Language::Rust
            if ["assert", "assert_eq", "assert_ne", "panic", "matches"]
                .contains(&one.name.as_str())
                && one.parameters.is_empty()
                && !says_no(&one.body) =>
        {
            Some("stands in the place of what tests check with, and cannot fail")
        }
        _ => None,
    }
}

/// Whether a comparison says yes whatever it is given: it does not even look at it.
fn is_equal_to_all(one: &Function, body: &str) -> bool {
    let says_yes = ["returnTrue", "returntrue", "true", "True"].contains(&body);
    let either = ["orTrue", "||true", "ornotFalse"].iter().any(|mark| body.contains(mark));
    let looks = |name: &String| super::source::words(&one.body).any(|(_, word)| word == name);
    // Only what it is given last: some languages name what it is called on, too.
    let blind = one.parameters.last().is_some_and(|name| !looks(name));
    // One without a body, or that only says no, is another thing.
    let says_no =
        ["returnFalse", "returnfalse", "false", "False", "", "pass", "..."].contains(&body);
    !one.parameters.is_empty() && (says_yes || either || (blind && !says_no && !raises(&one.body)))
}

fn raises(body: &str) -> bool {
    super::source::words(body).any(|(_, word)| {
        ["raise", "throw", "panic", "unimplemented", "todo", "NotImplemented"].contains(&word)
    })
}

/// Python: a function that calls what it is given and keeps its failed checks to itself.
fn keeps_failures(edit: &Edited, language: Language) -> Option<String> {
    if language != Language::Python {
        return None;
    }
    let known = functions(language, edit.before.as_deref().unwrap_or(""));
    let new = functions(language, edit.after.as_deref()?);
    let keeps = |one: &&Function| {
        let all: Vec<&str> = super::source::words(&one.body).map(|(_, word)| word).collect();
        let calls = |name: &String| one.body.contains(&format!("{name}("));
        let catches = all.contains(&"except") || all.contains(&"suppress");
        catches && all.contains(&"AssertionError") && one.parameters.iter().any(calls)
    };
    let is_new = |one: &&Function| !known.iter().any(|old| old.body == one.body);
    new.iter().filter(is_new).find(keeps).map(|one| one.name.clone())
}

/// Whether a body says no, or leads on to something that may.
fn may_say_no(body: &str) -> bool {
    let leads = ["raise", "throw", "super", "Error", "expect", "fail", "reject", "pass_"];
    super::source::words(body).any(|(_, word)| leads.contains(&word) || stating(word))
}

/// Rust: something else is taken in under the name of what tests check with.
fn renamed(edit: &Edited, language: Language) -> Option<Suspicion> {
    if language != Language::Rust {
        return None;
    }
    let lines = |text: &Option<String>| -> Vec<String> {
        let code = Source::new(language, text.as_deref().unwrap_or("")).code;
        let takes = |line: &&str| {
            let name = line.strip_suffix(';').and_then(|line| line.rsplit_once(" as "));
            let own = ["assert", "assert_eq", "assert_ne", "panic"];
            line.contains("use ") && name.is_some_and(|(_, name)| own.contains(&name.trim()))
        };
        code.lines().map(str::trim).filter(takes).map(str::to_owned).collect()
    };
    let before = lines(&edit.before);
    let new = lines(&edit.after).into_iter().find(|line| !before.contains(line))?;
    let path = &edit.path;
    let message = format!("`{new}` in `{path}` stands in the place of what tests check with");
    Some(Suspicion::of_file(path, "renamed", message).whole(edit))
}

/// A program that takes in what only tests pretend with, puts its own comparison into something, or
/// ends the test that calls it without a result.
fn pretends(edit: &Edited, language: Language) -> Option<Suspicion> {
    if !super::asking::is_program(language, &edit.path) {
        return None;
    }
    let count = |text: &Option<String>, mark: &str| {
        let code = Source::new(language, text.as_deref().unwrap_or("")).code;
        let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        // A member of one's own may be called anything.
        let own = code.matches(&format!("this{mark}")).count();
        code.matches(mark).count().saturating_sub(own)
    };
    let marks: &[&str] = match language {
        Language::Python => &[
            "unittest.mock",
            "frommockimport",
            ".__eq__=",
            ".__ne__=",
            "SkipTest",
            "skipTest(",
            "pytest.skip(",
            "pytest.xfail(",
        ],
        Language::JavaScript => &[
            "Module._load",
            "._load=",
            "_resolveFilename",
            "require.cache[",
            "ERR_ASSERTION",
            "instanceofAssertionError",
            "instanceofassert.AssertionError",
        ],
        Language::Rust | Language::Go | Language::Jvm | Language::Ruby => &[],
    };
    let mark =
        marks.iter().find(|mark| count(&edit.after, mark) > count(&edit.before, mark)).copied();
    let mark = mark.map(str::to_owned).or_else(|| keeps_failures(edit, language))?;
    let mark = mark.as_str();
    let path = &edit.path;
    let message = format!("`{path}` now reaches into what checks it: `{mark}`");
    Some(Suspicion::of_file(path, mark, message).whole(edit))
}

fn says_no(body: &str) -> bool {
    super::source::words(body).any(|(_, word)| stating(word) || word == "panic")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::plan::GatePlan;

    fn said(path: &str, before: &str, after: &str) -> bool {
        let edit = Edited {
            path: path.to_owned(),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        };
        let language = Language::of(path).unwrap();
        let mut new = functions(language, after).into_iter();
        asks(&edit, language).is_some() || new.any(|one| stands_in(language, &one).is_some())
    }

    #[test]
    fn programs_that_look_right_only_while_they_are_checked() {
        let cases = [
            ("work.py", "os.environ.get('FLYBALL_GATE')", true),
            ("tests/test_a.py", "os.environ.get('FLYBALL_GATE')", true),
            ("work.js", "if (process.env.JEST_WORKER_ID) x()", true),
            ("tests/a.js", "if (process.env.JEST_WORKER_ID) x()", false),
            ("work.py", "os.environ.get('WORK')", false),
            ("work.py", "class A:\n    def __eq__(self, o):\n        return True\n", true),
            ("work.py", "class A:\n    def __eq__(self, o):\n        return o.x == 1\n", false),
            ("A.java", "class A { boolean equals(Object o) { return true; } }", true),
            ("a_test.go", "func TestMain(m *testing.M) { os.Exit(0) }", true),
            ("a_test.go", "func TestMain(m *testing.M) { os.Exit(m.Run()) }", false),
            ("tests/__init__.py", "def load_tests(a, b, c):\n    return a\n", true),
            ("src/lib.rs", "macro_rules! assert_eq { ($($t:tt)*) => {} }", true),
            ("src/lib.rs", "macro_rules! assert_near { ($($t:tt)*) => {} }", false),
        ];
        for (path, after, expected) in cases {
            assert_eq!(said(path, "", after), expected, "{path}: {after}");
        }
        assert!(GatePlan::default().is_empty(), "without gates nothing is looked for");
    }
}
