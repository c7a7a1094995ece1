//! What tests are about, replaced in the tests themselves: a check that calls a stand-in says nothing
//! of the program. Stand-ins for what the program leans on are what tests are made of, and free.

use std::collections::BTreeSet;

use super::asking::is_program;
use super::functions::{Function, functions};
use super::pairing::Placed;
use super::source::{Language, Source, words};
use super::strength::{says_nothing, stating};
use super::suspicion::Suspicion;
use super::tests_of::{may_hold_tests, tests_of};
use super::{Context, Edited};

/// The largest file whose text around its tests is looked at.
const AROUND_MAX: usize = 256 * 1024;
/// How many files of the program are looked at for one name.
const FILES_MAX: usize = 20;
/// Calls that put something in the place of what is named by a string.
const PATCHES: [&str; 8] =
    ["patch(", "patch.object(", "setattr(", "spyOn(", "stub(", "replace(", "when(", "mock.method("];

/// Tests that were there and now check a stand-in.
pub(super) fn replaced(of: &Context<'_>) -> Vec<Suspicion> {
    let tests = of.edited.iter().filter_map(|edit| {
        let language = Language::of(&edit.path)?;
        let known = matches!(language, Language::Python | Language::JavaScript | Language::Rust);
        (known && may_hold_tests(language, &edit.path)).then_some((language, edit))
    });
    tests.filter_map(|(language, edit)| in_file(language, edit, of)).collect()
}

fn in_file(language: Language, edit: &Edited, of: &Context<'_>) -> Option<Suspicion> {
    let (before, after) = (edit.before.as_deref()?, edit.after.as_deref()?);
    let (old, new) = (tests_of(language, before), tests_of(language, after));
    // In Rust what stands around tests is the program itself.
    let is_read = language != Language::Rust && before.len().max(after.len()) < AROUND_MAX;
    let around = if is_read {
        added(&rest(language, before, &old), &rest(language, after, &new))
    } else {
        Vec::new()
    };
    for test in &new {
        let known = old.iter().find(|known| known.name == test.name);
        let Some(known) = known.filter(|known| known.whole != test.whole || is_read) else {
            continue;
        };
        let subjects = subjects(&known.body);
        let own = added(&known.whole, &test.whole);
        for line in own.iter().chain(&around) {
            let hit = subjects.iter().find(|subject| is_replaced(language, subject, line));
            let Some(Subject { name, .. }) = hit else { continue };
            let stands_in = |one: &Function| one.name == *name && leads_on(&one.body);
            let text = if is_read { after } else { test.whole.as_str() };
            if functions(language, text).iter().any(stands_in) || !is_of_program(language, name, of)
            {
                continue;
            }
            let (path, test) = (&edit.path, &test.name);
            let shown = flyball_core::text::head(line.trim(), 60);
            let message =
                format!("`{name}`, which test `{test}` is about, is replaced in {path}: `{shown}`");
            let mut found = Suspicion::of_file(path, name, message).whole(edit);
            found.found.subjects.push(format!("test:{path}:{test}"));
            return Some(found);
        }
    }
    None
}

/// Something a check calls: `name`, or `owner.name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Subject {
    owner: Option<String>,
    name: String,
}

/// What the checks of a test call.
fn subjects(body: &str) -> BTreeSet<Subject> {
    let states = |line: &&str| words(line).any(|(_, word)| stating(word));
    let mut found = BTreeSet::new();
    for line in body.lines().filter(states) {
        for (at, word) in words(line) {
            let rest = line.get(at.saturating_add(word.len())..).unwrap_or("");
            if rest.starts_with('(') && !says_nothing(word) && !stating(word) {
                let before = line.get(..at).unwrap_or("").strip_suffix('.');
                let owner =
                    before.and_then(|before| words(before).last().map(|(_, word)| word.to_owned()));
                found.insert(Subject { owner, name: word.to_owned() });
            }
        }
    }
    found
}

/// The text of a file without its tests.
fn rest(language: Language, text: &str, tests: &[super::tests_of::Test]) -> String {
    let mut code = Source::new(language, text).code;
    for test in tests {
        code = code.replacen(&test.whole, "\n", 1);
    }
    code
}

/// Lines that were not there.
fn added(before: &str, after: &str) -> Vec<String> {
    let old: BTreeSet<&str> = before.lines().map(str::trim).collect();
    let new = after.lines().map(str::trim).filter(|line| !line.is_empty() && !old.contains(line));
    new.map(str::to_owned).collect()
}

/// Whether a line puts something that asks nobody in the place of this name.
fn is_replaced(language: Language, subject: &Subject, line: &str) -> bool {
    let Subject { owner, name } = subject;
    let of_owner = owner.as_ref().is_some_and(|owner| words(line).any(|(_, word)| word == owner));
    let quoted = |quote: char| {
        [format!("{quote}{name}{quote}"), format!(".{name}{quote}")]
            .iter()
            .any(|one| line.contains(one.as_str()))
    };
    if PATCHES.iter().any(|call| line.contains(call)) {
        return of_owner && (quoted('"') || quoted('\''));
    }
    if owner.is_some() && !of_owner {
        return false;
    }
    let bound = |begin: &str| {
        line.split(';').map(str::trim).find_map(|part| {
            let at = part.find(begin)?;
            let rest = part.get(at.saturating_add(begin.len())..)?;
            let whole = !part.get(..at)?.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            whole.then(|| rest.to_owned())
        })
    };
    let right = match (language, owner) {
        (_, Some(owner)) => bound(&format!("{owner}.{name} = ")),
        (Language::Python, None) => {
            bound(&format!("def {name}(")).or_else(|| bound(&format!("{name} = lambda")))
        }
        (Language::JavaScript, None) => bound(&format!("const {name} = "))
            .or_else(|| bound(&format!("let {name} = ")))
            .or_else(|| bound(&format!("function {name}("))),
        (_, None) => bound(&format!("fn {name}(")).or_else(|| bound(&format!("let {name} = |"))),
    };
    // One that leads on to the real one is a way of calling it.
    right.is_some_and(|right| {
        let right = right.split_inclusive('}').next().unwrap_or("");
        let says_it_again = words(right).any(|(_, word)| word == name);
        let is_function = ["lambda", "=>", "function", "Mock", "fn(", "{", "|", ":", ")"]
            .iter()
            .any(|mark| right.contains(mark));
        !leads_on(right) && !says_it_again && is_function && !right.contains("require")
    })
}

/// Whether something is called that may do the work.
fn leads_on(body: &str) -> bool {
    words(body).any(|(at, word)| {
        let rest = body.get(at.saturating_add(word.len())..).unwrap_or("");
        rest.starts_with('(') && !["Mock", "MagicMock", "fn", "lambda"].contains(&word)
    })
}

/// Whether the program has a function of this name.
fn is_of_program(language: Language, name: &str, of: &Context<'_>) -> bool {
    let own = |path: &String| Language::of(path) == Some(language) && is_program(language, path);
    of.files.mentioning(name).into_iter().filter(own).take(FILES_MAX).any(|path| {
        let text = of.files.before(&path).unwrap_or_default();
        functions(language, &text).iter().any(|one| one.name == name)
    })
}

/// A test that is written twice under one name: only the last one is run. And one that another is put
/// in the place of.
pub(super) fn overwritten(placed: &[Placed], edit: &Edited) -> Option<String> {
    let after = edit.after.as_deref()?;
    let before = edit.before.as_deref()?;
    if Language::of(&edit.path) != Some(Language::Python) {
        return None;
    }
    for line in after.lines().map(str::trim) {
        let Some((left, _)) = line.split_once(" = ") else { continue };
        let Some((_, name)) = left.rsplit_once('.') else { continue };
        let is_test = placed.iter().any(|one| one.test.name == name && one.file == edit.path);
        if is_test && !before.contains(line) {
            return Some(name.to_owned());
        }
    }
    let times = |text: &str, name: &str| {
        let mut class = "";
        let mut seen: Vec<(&str, usize)> = Vec::new();
        for line in text.lines() {
            let indent = line.len().saturating_sub(line.trim_start().len());
            if let Some(rest) = line.strip_prefix("class ") {
                class = rest;
            }
            if line.trim_start().starts_with(&format!("def {name}(")) {
                seen.push((if indent == 0 { "" } else { class }, indent));
            }
        }
        let first = seen.first().copied();
        seen.iter().filter(|one| Some(**one) == first).count()
    };
    let own = placed.iter().filter(|one| one.file == edit.path);
    let twice =
        own.map(|one| &one.test.name).find(|name| times(after, name) > times(before, name).max(1));
    twice.cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::plan::GatePlan;
    use crate::gate::tamper::files::Files;

    struct Program(&'static str, &'static str);

    impl Files for Program {
        fn before(&self, path: &str) -> Option<String> {
            (path == self.0).then(|| self.1.to_owned())
        }

        fn after(&self, path: &str) -> Option<String> {
            self.before(path)
        }

        fn mentioning(&self, _: &str) -> Vec<String> {
            vec![self.0.to_owned()]
        }

        fn ending(&self, _: &str) -> Vec<String> {
            Vec::new()
        }
    }

    fn said(path: &str, before: &str, after: &str, program: &Program) -> bool {
        let text = |text: &str| Some(text.to_owned());
        let edited = [Edited { path: path.to_owned(), before: text(before), after: text(after) }];
        let (plan, reach) = (GatePlan::default(), super::super::Reach::default());
        let of = Context {
            edited: &edited,
            files: program,
            added: &[],
            reach: &reach,
            first: &plan,
            now: &plan,
        };
        !replaced(&of).is_empty()
    }

    #[test]
    fn a_stand_in_for_what_is_tested_is_seen_and_one_for_what_it_leans_on_is_not() {
        let program = Program("work.py", "def f():\n    return g()\n\ndef get(x):\n    return x\n");
        let test = "import work\n\ndef test_a():\n    assert work.f() == 1\n";
        let cases = [
            ("work.f = lambda: 1\n", true),
            ("work.g = lambda: 1\n", false),
            ("requests.get = Mock()\n", false),
            ("import requests\n", false),
        ];
        for (more, expected) in cases {
            let after = format!("import work\n{more}\ndef test_a():\n    assert work.f() == 1\n");
            assert_eq!(said("test_x.py", test, &after, &program), expected, "{more}");
        }
        let bare = "from work import f\n\ndef test_a():\n    assert f() == 1\n";
        let wrapped =
            "import work\n\ndef f():\n    return work.f(1)\n\ndef test_a():\n    assert f() == 1\n";
        assert!(!said("test_x.py", bare, wrapped, &program), "a way of calling it");
        let constant = "def f():\n    return 1\n\ndef test_a():\n    assert f() == 1\n";
        assert!(said("test_x.py", bare, constant, &program));
        // Where tests stand in the program's own file, its functions may change as they like.
        let rust = |f: &str, inner: &str| {
            format!("{f}\n\n#[test]\nfn a() {{\n    {inner}assert_eq!(f(1), 1);\n}}\n")
        };
        let program = Program("src/lib.rs", "fn f(a: u8) -> u8 {\n    a\n}\n");
        let (old, new) = ("fn f(a: u8) -> u8 {\n    0\n}", "fn f(a: u8) -> u8 { a }");
        assert!(!said("src/lib.rs", &rust(old, ""), &rust(new, ""), &program));
        let inner = "fn f(_: u8) -> u8 { 1 } ";
        assert!(said("src/lib.rs", &rust(old, ""), &rust(old, inner), &program));
    }
}
