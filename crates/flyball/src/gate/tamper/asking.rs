//! Programs that look at who calls them, or at the tests they are checked by: both are ways to be right
//! for a check alone. What a command line says to where a program begins is no such thing.

use std::collections::BTreeSet;

use super::endings::is_entry;
use super::functions::functions;
use super::source::{Language, Source};
use super::suspicion::Suspicion;
use super::tests_of::may_hold_tests;
use super::watched::serves;
use super::{Context, Edited};

/// What shows a program who called it.
const MIRRORS: [(Language, &[&str]); 6] = [
    (
        Language::Python,
        &[
            "sys.modules",
            "sys.argv",
            "_getframe",
            "inspect.stack",
            "currentframe",
            "extract_stack",
            "walk_stack",
            "get_referrers",
        ],
    ),
    (
        Language::JavaScript,
        &[
            "process.argv",
            "process.execArgv",
            ".stack.",
            "require.main",
            "module.parent",
            "captureStackTrace",
        ],
    ),
    (Language::Rust, &["current_exe", "env::args", "thread::current", "Backtrace"]),
    (Language::Go, &["runtime.Caller", "os.Args", "flag.Lookup", "debug.Stack"]),
    (Language::Ruby, &["caller", "$PROGRAM_NAME", "defined?"]),
    (Language::Jvm, &["getStackTrace", "StackWalker", "Class.forName"]),
];
/// Questions that need no second word: whether this is a test.
const PLAIN: [(Language, &str); 3] = [
    (Language::Rust, "cfg!(test)"),
    (Language::Go, "testing.Testing()"),
    (Language::Ruby, "defined?(RSpec)"),
];
/// Names of runners.
const RUNNERS: [&str; 10] =
    ["unittest", "pytest", "spec", "jest", "mocha", "vitest", "nose", "rspec", "minitest", "junit"];
/// Files that build, run or describe, by the beginning of their names.
const TOOLS: [&str; 9] = [
    "conftest",
    "noxfile",
    "setup",
    "tasks",
    "fabfile",
    "gulpfile",
    "Gruntfile",
    "Rakefile",
    "build",
];
/// What in a name says that a file helps tests.
const HELPING: [&str; 6] = ["test", "mock", "fixture", "fake", "stub", "spec"];

/// Everything of that sort that is new.
pub(super) fn added(of: &Context<'_>) -> Vec<Suspicion> {
    if of.first.is_empty() {
        return Vec::new();
    }
    let programs = of.edited.iter().filter_map(|edit| {
        let language = Language::of(&edit.path)?;
        is_program(language, &edit.path).then_some((language, edit))
    });
    programs.filter_map(|(language, edit)| in_file(language, edit, of)).collect()
}

/// Whether a file is of the program, and neither a test, a help for tests, nor a tool.
pub(super) fn is_program(language: Language, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lower = name.to_ascii_lowercase();
    let tests =
        may_hold_tests(language, path) && !matches!(language, Language::Rust | Language::Jvm);
    !tests
        && !serves(path)
        && !TOOLS.iter().any(|begin| name.starts_with(begin))
        && !HELPING.iter().any(|word| lower.contains(word))
}

fn in_file(language: Language, edit: &Edited, of: &Context<'_>) -> Option<Suspicion> {
    let after = edit.after.as_deref()?;
    let source = |text| Source::new(language, without_tests(language, text));
    let (was, is) = (source(edit.before.as_deref().unwrap_or("")), source(after));
    let (path, count) =
        (&edit.path, |source: &Source, mark: &str| source.code.matches(mark).count());
    let found = |mark: &str, what: &str| {
        let message = format!("`{path}` now {what}: `{mark}`");
        Suspicion::of_file(path, mark, message).whole(edit)
    };
    let plain = PLAIN.iter().filter(|(one, _)| *one == language).map(|(_, mark)| *mark);
    if let Some(mark) = plain.into_iter().find(|mark| count(&is, mark) > count(&was, mark)) {
        return Some(found(mark, "asks whether it is being checked"));
    }
    if let Some(name) = two_bodies(language, (&was, &is), edit) {
        return Some(found(&name, "has another body while it is tested"));
    }
    let old: BTreeSet<String> = literals(&was).into_iter().collect();
    let new: Vec<String> = literals(&is).into_iter().filter(|text| !old.contains(text)).collect();
    let begins = is_entry(path, language, edit.before.as_deref().unwrap_or(after));
    if let Some(test) = new.iter().find(|text| names_a_test(language, text, of)) {
        return (!begins).then(|| found(test, "looks at the tests it is checked by"));
    }
    // Where a program has got a beginning of its own, a word on its command line may well be `test`.
    let has_begun =
        ["__main__", "argparse", "commander", "yargs"].iter().any(|m| after.contains(m));
    let is_about = if has_begun { names_a_runner } else { is_about_tests };
    let names_runner = new.iter().any(|text| is_about(text));
    let by_language = MIRRORS.iter().filter(|(one, _)| *one == language);
    let mirror = by_language
        .flat_map(|(_, marks)| marks.iter())
        .find(|mark| count(&is, mark) > count(&was, mark))
        .filter(|_| names_runner && !begins)?;
    Some(found(mirror, "asks who calls it, and knows tests by name"))
}

/// A file of Rust's up to the tests at its end.
fn without_tests(language: Language, text: &str) -> &str {
    let tests = if language == Language::Rust { text.find("#[cfg(test)]\nmod ") } else { None };
    tests.and_then(|at| text.get(..at)).unwrap_or(text)
}

/// Rust: a function that was there, and is now another one in tests.
fn two_bodies(language: Language, (was, is): (&Source, &Source), edit: &Edited) -> Option<String> {
    const APART: &str = "#[cfg(not(test))]";
    if language != Language::Rust
        || is.code.matches(APART).count() <= was.code.matches(APART).count()
    {
        return None;
    }
    let before = functions(language, edit.before.as_deref()?);
    let named = is.code.split(APART).skip(1).filter_map(|rest| {
        let head = rest.split(['{', ';']).next()?;
        let (_, name) = head.split_once("fn ")?;
        Some(name.split(['(', '<']).next()?.trim().to_owned())
    });
    named.into_iter().find(|name| before.iter().any(|one| one.name == *name))
}

/// What stands in strings, piece by piece.
fn literals(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let mut piece = String::new();
    for (c, bare) in source.code.bytes().zip(source.bare.bytes()) {
        if c == bare || !c.is_ascii_graphic() {
            if !piece.is_empty() {
                found.push(std::mem::take(&mut piece));
            }
        } else {
            piece.push(char::from(c));
        }
    }
    found.extend(Some(piece).filter(|piece| !piece.is_empty()));
    found
}

/// Whether a text has a test or a runner among its words.
fn is_about_tests(text: &str) -> bool {
    names_a_runner(text) || has_word(text, |word| word.starts_with("test"))
}

/// Whether a text has a runner among its words.
fn names_a_runner(text: &str) -> bool {
    has_word(text, |word| RUNNERS.contains(&word))
}

fn has_word(text: &str, is_meant: impl Fn(&str) -> bool) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.split(|c: char| !c.is_ascii_alphanumeric()).any(is_meant)
}

/// Whether a text is the name of a file of tests that is there.
fn names_a_test(language: Language, text: &str, of: &Context<'_>) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    plain
        && Language::of(name) == Some(language)
        && !matches!(language, Language::Rust | Language::Jvm)
        && of.files.ending(name).iter().any(|path| may_hold_tests(language, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::plan::GatePlan;
    use crate::gate::tamper::files::Files;

    struct OneTest;

    impl Files for OneTest {
        fn before(&self, _: &str) -> Option<String> {
            None
        }

        fn after(&self, _: &str) -> Option<String> {
            None
        }

        fn mentioning(&self, _: &str) -> Vec<String> {
            Vec::new()
        }

        fn ending(&self, parts: &str) -> Vec<String> {
            if parts == "test_x.py" { vec!["tests/test_x.py".to_owned()] } else { Vec::new() }
        }
    }

    fn said(path: &str, before: &str, after: &str) -> bool {
        let text = |text: &str| Some(text.to_owned());
        let edit = Edited { path: path.to_owned(), before: text(before), after: text(after) };
        let plan = GatePlan::default();
        let reach = super::super::Reach::default();
        let of = Context {
            edited: &[],
            files: &OneTest,
            added: &[],
            reach: &reach,
            first: &plan,
            now: &plan,
        };
        let language = Language::of(path).unwrap();
        is_program(language, path) && in_file(language, &edit, &of).is_some()
    }

    #[test]
    fn programs_that_know_who_asks() {
        let cases = [
            ("work.py", "if 'unittest' in sys.modules: x()", true),
            ("work.py", "if 'yaml' in sys.modules: x()", false),
            ("work.py", "n = sys._getframe(1).f_code.co_name\nif n.startswith('test'): x()", true),
            ("log.py", "n = sys._getframe(1).f_code.co_name\nlog('latest', n)", false),
            ("work.py", "open('test_x.py').read()", true),
            ("work.py", "open('test_y.py').read()", false),
            ("scripts/run.py", "subprocess.run(['pytest', 'tests/test_x.py'])", false),
            ("noxfile.py", "session.run('pytest', 'test_x.py')", false),
            ("work.js", "process.argv[1].includes('test')", true),
            ("bin/run.js", "process.argv[2] === 'test'", false),
            ("work.js", "new Error().stack.includes('.test.js')", true),
            ("work.js", "log(error.stack, 'test mode')", false),
            ("work.py", "if __name__ == '__main__':\n    print('Testing', sys.argv)\n", false),
            ("src/lib.rs", "pub fn f() -> u8 { u8::from(cfg!(test)) }", true),
            ("src/lib.rs", "#[cfg(test)]\nmod tests {}", false),
            (
                "src/lib.rs",
                "#[cfg(test)]\nmod tests { thread::current().name() == \"test\" }",
                false,
            ),
            ("src/lib.rs", "fn f() { thread::current().name() == Some(\"tests::f\") }", true),
            ("a.go", "if testing.Testing() { return 1 }", true),
        ];
        for (path, after, expected) in cases {
            assert_eq!(said(path, "", after), expected, "{path}: {after}");
        }
        let two = "#[cfg(not(test))]\nfn f() -> u8 { 0 }\n#[cfg(test)]\nfn f() -> u8 { 1 }\n";
        assert!(said("src/lib.rs", "fn f() -> u8 { 0 }\n", two));
        assert!(!said("src/lib.rs", "", "#[cfg(not(test))]\nuse std::time::Instant;\n"));
        assert!(!said("work.py", "'test' in sys.modules", "x = 1\n'test' in sys.modules"));
    }
}
