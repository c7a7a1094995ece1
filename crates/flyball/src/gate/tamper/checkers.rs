//! Functions that tests check with, in whatever file they stand: one that can no longer say no makes
//! every test that calls it pass. What the program's own functions do is the work and is not judged.

use super::functions::{Function, functions};
use super::source::{Language, words};
use super::strength::{checks_in, stating};
use super::suspicion::Suspicion;
use super::tests_of::{may_hold_tests, tests_of};
use super::{Context, Edited, Files};

/// How a name begins that says what the function is for.
const NAMED: [&str; 7] = ["assert", "expect", "should", "must", "verify", "refute", "check_eq"];
/// Such names as a whole.
const NAMES: [&str; 9] =
    ["eq", "equal", "equals", "same", "ok", "is", "deep_equal", "deepequal", "not_equal"];
/// How a name begins that may say so.
const MAYBE: [&str; 4] = ["check", "ensure", "require", "compare"];
/// What ends a test with a no.
const FAILING: [&str; 18] = [
    "raise",
    "throw",
    "panic",
    "unreachable",
    "abort",
    "reject",
    "bail",
    "exit",
    "_exit",
    "Err",
    "Fatal",
    "Fatalf",
    "Error",
    "Errorf",
    "FailNow",
    "AssertionError",
    "flunk",
    "die",
];
/// How many test files that mention a function are read.
const FILES_MAX: usize = 50;

/// Functions tests check with that became weaker.
pub(super) fn weakened(of: &Context<'_>) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for edit in of.edited {
        let Some(language) = Language::of(&edit.path) else { continue };
        let Some(before) = edit.before.as_deref() else { continue };
        let before = functions(language, before);
        let now = functions(language, edit.after.as_deref().unwrap_or(""));
        for (at, old) in before.iter().enumerate() {
            // What is quickly said comes first: functions may be many, long and inside each other.
            if is_test(&old.name) || !may_check(old) || fails(&old.body) == 0 {
                continue;
            }
            let heir = match heir(&before, at, &now) {
                Heir::Itself => continue,
                Heir::Other(new) => Some(new.clone()),
                Heir::Nobody => elsewhere(of.edited, language, &old.name),
            };
            let Some(new) = heir else { continue };
            let Some(how) = weakness(old, &new).filter(|_| old.body != new.body) else { continue };
            if tests_check_with(of.files, language, old, &edit.path) {
                let (path, name) = (&edit.path, &old.name);
                let message = format!("`{name}` in `{path}`, which tests check with, {how}");
                let mut suspicion = Suspicion::of_file(path, name, message);
                suspicion.found.subjects.push(format!("function:{path}:{name}"));
                suspicion.found.finding.line = Some(new.line);
                found.push(suspicion);
            }
        }
    }
    found.extend(stand_ins(of));
    found
}

/// What became of a function.
enum Heir<'a> {
    Itself,
    Other(&'a Function),
    Nobody,
}

/// Several functions of a file may have one name: each is compared with the one in its place among
/// those that changed.
fn heir<'a>(before: &[Function], at: usize, now: &'a [Function]) -> Heir<'a> {
    let Some(old) = before.get(at) else { return Heir::Nobody };
    let is_in = |one: &Function, all: &[Function]| {
        all.iter().any(|other| other.name == one.name && other.body == one.body)
    };
    if is_in(old, now) {
        return Heir::Itself;
    }
    let named = |one: &&Function| one.name == old.name;
    let place = before.iter().take(at).filter(named).filter(|one| !is_in(one, now)).count();
    let mut changed = now.iter().filter(named).filter(|one| !is_in(one, before));
    let fallback = now.iter().find(named);
    match changed.nth(place).or(fallback) {
        Some(new) => Heir::Other(new),
        None => Heir::Nobody,
    }
}

/// New functions that have the name of one that tests check with and cannot fail: settings may lead
/// the tests to them.
fn stand_ins(of: &Context<'_>) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for edit in of.edited.iter().filter(|edit| edit.before.is_none()) {
        let (Some(language), Some(text)) = (Language::of(&edit.path), &edit.after) else {
            continue;
        };
        for new in functions(language, text) {
            if !is_named(&new.name) || is_test(&new.name) || fails(&new.body) > 0 {
                continue;
            }
            let real = of.files.mentioning(&new.name).into_iter().take(FILES_MAX).any(|path| {
                let text = of.files.before(&path).filter(|_| Language::of(&path) == Some(language));
                let all = functions(language, text.as_deref().unwrap_or(""));
                all.iter().any(|old| {
                    old.name == new.name
                        && fails(&old.body) > 0
                        && tests_check_with(of.files, language, old, &path)
                })
            });
            if real {
                let (path, name) = (&edit.path, &new.name);
                let message = format!(
                    "`{name}` in `{path}` has the name of what tests check with, and cannot fail"
                );
                let suspicion = Suspicion::of_file(path, name, message).whole(edit);
                found.push(suspicion.at(path, new.line));
            }
        }
    }
    found
}

/// Whether a file holds something that tests check with.
pub(super) fn holds_one(files: &dyn Files, path: &str) -> bool {
    let Some(language) = Language::of(path) else { return false };
    let text = files.before(path).unwrap_or_default();
    let all = functions(language, &text).into_iter().filter(|one| !is_test(&one.name));
    all.filter(|one| may_check(one) && fails(&one.body) > 0)
        .any(|one| tests_check_with(files, language, &one, path))
}

/// The function of this name in a file that is new or changed.
fn elsewhere(edited: &[Edited], language: Language, name: &str) -> Option<Function> {
    let of = |edit: &Edited| {
        let text = edit.after.as_deref().filter(|_| Language::of(&edit.path) == Some(language))?;
        functions(language, text).into_iter().find(|one| one.name == name)
    };
    edited.iter().find_map(of)
}

fn is_test(name: &str) -> bool {
    name.starts_with("test") || name.starts_with("Test")
}

fn is_named(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    NAMES.contains(&lower.as_str()) || NAMED.iter().any(|begin| lower.starts_with(begin))
}

/// How often a body can say no.
fn fails(body: &str) -> usize {
    let no = |(at, word): &(usize, &str)| {
        let after = body.get(at.saturating_add(word.len())..).unwrap_or("");
        // `throws IOException` says what a method may throw, and throws nothing.
        let declares = *word == "throws" && !after.starts_with('(');
        FAILING.contains(word) || (stating(word) && !declares)
    };
    words(body).filter(no).count()
}

/// Whether a function may be there to check: its name says so, or it compares what it is given.
fn may_check(function: &Function) -> bool {
    let lower = function.name.to_ascii_lowercase();
    let compares = |line: &str| {
        let given = |name: &&String| words(line).any(|(_, word)| word == name.as_str());
        let signs = ["==", "!=", "===", "!==", "equal", "Equal", " in ", " is ", ".eq(", "<", ">"];
        function.parameters.iter().filter(given).count() > 1
            && signs.iter().any(|sign| line.contains(sign))
    };
    is_named(&function.name)
        || MAYBE.iter().any(|begin| lower.starts_with(begin))
        || (function.parameters.len() > 1 && function.body.lines().any(compares))
}

/// How a function became weaker, in words that follow its name; none when it did not.
fn weakness(before: &Function, after: &Function) -> Option<&'static str> {
    let (was, is) = (fails(&before.body), fails(&after.body));
    if is == 0 {
        return Some("can no longer fail");
    }
    let leans = words(&after.body)
        .any(|(_, word)| stating(word) && !words(&before.body).any(|(_, w)| w == word));
    if is < was && is_named(&before.name) && !leans {
        return Some("fails in fewer cases than before");
    }
    if returns_at_once(&after.body) && !returns_at_once(&before.body) {
        return Some("returns before it checks anything");
    }
    let count =
        |body: &str, wanted: &[&str]| words(body).filter(|(_, word)| wanted.contains(word)).count();
    let never = ["false", "False"];
    if count(&after.body, &never) > count(&before.body, &never) {
        return Some("has a condition that never holds");
    }
    let caught = ["except", "catch", "rescue", "catch_unwind", "recover"];
    if count(&after.body, &caught) > count(&before.body, &caught) {
        return Some("now catches its own failures");
    }
    let used = |name: &str, body: &str| words(body).any(|(_, word)| word == name);
    let ignored = |(at, name): (usize, &String)| {
        let now = after.parameters.get(at).unwrap_or(name);
        used(name, &before.body) && !used(now, &after.body)
    };
    let assigns = |body: &str, name: &String| {
        let places = words(body).filter(|(_, word)| word == name);
        let rest = |at: usize, word: &str| body.get(at.saturating_add(word.len())..).unwrap_or("");
        places
            .filter(|(at, word)| {
                let rest = rest(*at, word).trim_start();
                rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>")
            })
            .count()
    };
    let counted =
        |of: &Function| -> usize { of.parameters.iter().map(|name| assigns(&of.body, name)).sum() };
    if counted(after) > counted(before) && is_named(&before.name) {
        return Some("changes what it compares");
    }
    let same_shape = before.parameters.len() == after.parameters.len();
    let lost = same_shape && before.parameters.iter().enumerate().any(ignored);
    lost.then_some("no longer looks at everything it is given")
}

fn returns_at_once(body: &str) -> bool {
    let inner = body.trim_start().trim_start_matches('{').trim_start();
    inner.strip_prefix("return").is_some_and(|rest| {
        let line = rest.lines().next().unwrap_or("").trim().trim_end_matches([';', '}']).trim();
        line.is_empty() || ["true", "True", "None", "null", "0", "undefined"].contains(&line)
    })
}

/// Whether a test calls it for nothing but its no: the call stands alone, and where the name does not
/// say what it is for, the test checks nothing else.
fn tests_check_with(files: &dyn Files, language: Language, function: &Function, own: &str) -> bool {
    let name = function.name.as_str();
    let is_test_file =
        |path: &String| Language::of(path) == Some(language) && may_hold_tests(language, path);
    let paths = files.mentioning(name).into_iter().filter(is_test_file);
    for path in paths.take(FILES_MAX) {
        let text = files.before(&path).unwrap_or_default();
        let tests = tests_of(language, &text);
        let mut bodies: Vec<String> = tests.into_iter().map(|test| test.body).collect();
        if bodies.is_empty() && path != own && language != Language::Rust {
            bodies.push(super::source::Source::new(language, &text).bare);
        }
        let checks = |body: &String| {
            let rest = without(body, name);
            stands_alone(body, name) && (is_named(name) || checks_in(language, &rest) == 0)
        };
        if bodies.iter().any(checks) {
            return true;
        }
    }
    false
}

/// A body without this name.
fn without(body: &str, name: &str) -> String {
    let mut rest = String::with_capacity(body.len());
    let mut from = 0;
    for (at, word) in words(body) {
        if word == name {
            rest.push_str(body.get(from..at).unwrap_or(""));
            from = at.saturating_add(word.len());
        }
    }
    rest.push_str(body.get(from..).unwrap_or(""));
    rest
}

/// Whether a call of it is a statement of its own: nobody looks at what it gives back.
fn stands_alone(body: &str, name: &str) -> bool {
    words(body).filter(|(_, word)| *word == name).any(|(at, word)| {
        let after = body.get(at.saturating_add(word.len())..).unwrap_or("");
        let before = body.get(..at).unwrap_or("");
        let line = before.rsplit('\n').next().unwrap_or(before);
        // What it is taken from: `helpers.`, `util::`, `this.`.
        let path = |c: char| c.is_alphanumeric() || "_.:$".contains(c);
        let line = line.trim_end_matches(path).trim_end();
        let line = line.strip_suffix("await").unwrap_or(line).trim_end();
        let begins = line.is_empty() || line.ends_with(['{', ';', '}']) || line.ends_with("=>");
        begins && after.trim_start_matches('!').starts_with(['(', ' '])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the function is called, its file before and now, the test.
    struct Repository {
        test: (&'static str, &'static str),
    }

    impl Files for Repository {
        fn before(&self, path: &str) -> Option<String> {
            (path == self.test.0).then(|| self.test.1.to_owned())
        }

        fn after(&self, path: &str) -> Option<String> {
            self.before(path)
        }

        fn mentioning(&self, _: &str) -> Vec<String> {
            vec![self.test.0.to_owned()]
        }

        fn ending(&self, _: &str) -> Vec<String> {
            Vec::new()
        }
    }

    fn said(
        path: &str,
        before: &str,
        after: &str,
        test: (&'static str, &'static str),
    ) -> Option<String> {
        let edited = [Edited {
            path: path.to_owned(),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        }];
        let files = Repository { test };
        let plan = crate::gate::plan::GatePlan::default();
        let reach = super::super::Reach::default();
        let of = Context {
            edited: &edited,
            files: &files,
            added: &[],
            reach: &reach,
            first: &plan,
            now: &plan,
        };
        weakened(&of).into_iter().next().map(|one| one.found.finding.message)
    }

    const PYTHON: &str = "def same(a, b):\n    if a != b:\n        raise AssertionError(a)\n";
    const PYTHON_TEST: (&str, &str) =
        ("tests/test_a.py", "def test_a():\n    helpers.same(f(), 1)\n");

    #[test]
    fn what_tests_check_with_may_not_stop_checking() {
        let js = "exports.eq = (a, b) => {\n  if (a !== b) throw new Error(a)\n}\n";
        let js_test = ("a.test.js", "test('a', () => { eq(f(), 1) })");
        let rust = "pub fn matches(a: u32, b: u32) {\n    if a != b { panic!() }\n}\n";
        let rust_test = ("tests/a.rs", "#[test]\nfn a() { util::matches(f(), 1); }\n");
        let go = "func Same(t *testing.T, a, b int) { if a != b { t.Fatal(a) } }";
        let java = "class A { void same(int a) { f(); }
            void same(int a, int b) { if (a != b) { throw new E(); } } }";
        let weaker = "class A { void same(int a) { f(); } void same(int a, int b) { f(a, b); } }";
        let java_test = ("ATest.java", "class ATest { @Test void a() { same(f(), 1); } }");
        let go_test = ("a_test.go", "func TestA(t *testing.T) { check.Same(t, F(), 1) }");
        let cases = [
            ("h.py", PYTHON, "def same(a, b):\n    pass\n", PYTHON_TEST),
            ("h.py", PYTHON, "def same(a, b):\n    return True\n", PYTHON_TEST),
            ("h.py", PYTHON, "def same(*x):\n    print(x)\n", PYTHON_TEST),
            (
                "h.py",
                PYTHON,
                "def same(a, b):\n    return\n    if a != b:\n        raise X\n",
                PYTHON_TEST,
            ),
            (
                "h.py",
                PYTHON,
                "def same(a, b):\n    if False and a != b:\n        raise X\n",
                PYTHON_TEST,
            ),
            ("h.py", PYTHON, "def same(a, b):\n    if a is None:\n        raise X\n", PYTHON_TEST),
            ("u.js", js, "exports.eq = () => {}\n", js_test),
            ("u.js", js, "exports.eq = function (a, b) { return true }\n", js_test),
            ("src/u.rs", rust, "pub fn matches(_a: u32, _b: u32) {}\n", rust_test),
            ("c.go", go, "func Same(t *testing.T, a, b int) {}", go_test),
            ("A.java", java, weaker, java_test),
        ];
        for (path, before, after, test) in cases {
            let found = said(path, before, after, test);
            assert!(found.is_some_and(|words| words.contains("which tests check with")), "{after}");
        }
    }

    #[test]
    fn work_on_what_tests_call_is_not_judged() {
        let better = "def same(a, b, why=''):\n    if a != b:\n        raise AssertionError(why)\n";
        let library =
            "import unittest\ndef same(a, b):\n    unittest.TestCase().assertEqual(a, b)\n";
        let load = "def load(path):\n    if not path:\n        raise ValueError\n    return path\n";
        let lenient = "def load(path):\n    return path or None\n";
        let asked = ("tests/test_a.py", "def test_a():\n    assert load('x') == 'x'\n");
        let smoke = ("tests/test_a.py", "def test_a():\n    load('x')\n");
        let ensure =
            "def ensure_dir(a, b):\n    if a == b:\n        raise ValueError\n    return a\n";
        let eased = "def ensure_dir(a, b):\n    return a\n";
        let both =
            ("tests/test_a.py", "def test_a():\n    ensure_dir(x, y)\n    assert x.is_dir()\n");
        // Two of one name: neither became weaker.
        let two = "class A { void same(int a) { f(); }
            void same(int a, int b) { if (a != b) { throw new E(); } } }";
        let moved = "class A { void same(int a) { g(); }
            void same(int a, int b) { if (a != b) { throw new E(); } } }";
        let java_test = ("ATest.java", "class ATest { @Test void a() { same(f(), 1); } }");
        let used = ("tests/test_a.py", "def test_a():\n    x = same(1, 2)\n    assert x\n");
        let cases = [
            ("h.py", PYTHON, better, PYTHON_TEST),
            ("h.py", PYTHON, library, PYTHON_TEST),
            ("h.py", load, lenient, asked),
            ("h.py", load, lenient, smoke),
            ("h.py", ensure, eased, both),
            ("h.py", PYTHON, "def same(a, b):\n    return a == b\n", used),
            ("A.java", two, moved, java_test),
        ];
        for (path, before, after, test) in cases {
            assert_eq!(said(path, before, after, test), None, "{after}");
        }
    }
}
