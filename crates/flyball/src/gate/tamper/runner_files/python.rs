//! Python: the settings of pytest, tox and others, `conftest.py`, what Python itself runs before any
//! program, and modules that stand in a runner's place.

#[cfg(test)]
mod tests;

mod untyped;

use std::collections::BTreeMap;

use self::untyped::untyped;
use super::super::source::{Language, Source};
use super::super::{Context, Edited, Suspicion};

/// Sections of these files choose the tests.
const SETTINGS: [(&str, &[&str]); 5] = [
    ("pytest.ini", &["pytest"]),
    (".pytest.ini", &["pytest"]),
    ("tox.ini", &["pytest", "testenv", "tox"]),
    ("setup.cfg", &["tool:pytest", "unittest"]),
    ("pyproject.toml", &["tool.pytest.ini_options", "tool.pytest", "tool.tox", "tool.poe"]),
];
/// Settings that choose no test and hide no failure.
const HARMLESS: [&str; 18] = [
    "minversion",
    "required_plugins",
    "markers",
    "filterwarnings",
    "log_",
    "console_output_style",
    "cache_dir",
    "asyncio_",
    "junit_",
    "tmp_path",
    "timeout",
    "env",
    "doctest_encoding",
    "verbosity",
    "empty_parameter_set_mark",
    "deps",
    "description",
    "xfail_strict",
];
/// Options that leave tests out or hide failures, whatever the numbers say.
const DANGEROUS: [&str; 18] = [
    "-k",
    "-m ",
    "--ignore",
    "--deselect",
    "--collect-only",
    "--co ",
    "--lf",
    "--last-failed",
    "--stepwise",
    "--maxfail",
    "-p no:",
    "--suppress",
    "--exitfirst",
    "--no-fail",
    "|| true",
    "ignore_outcome = true",
    "ignore_errors = true",
    "- ",
];
/// Modules that runners are made of.
const RUNNERS: [&str; 16] = [
    "pytest",
    "_pytest",
    "unittest",
    "pluggy",
    "iniconfig",
    "nose",
    "nose2",
    "tox",
    "nox",
    "coverage",
    "mypy",
    "ruff",
    "flake8",
    "pylint",
    "doctest",
    "xdist",
];
/// Modules of Python's own that runners take in: one of that name beside the tests runs before them.
const SYSTEM: [&str; 34] = [
    "abc",
    "argparse",
    "ast",
    "asyncio",
    "collections",
    "concurrent",
    "contextlib",
    "copy",
    "dataclasses",
    "difflib",
    "doctest",
    "enum",
    "fnmatch",
    "functools",
    "glob",
    "importlib",
    "inspect",
    "io",
    "itertools",
    "json",
    "linecache",
    "logging",
    "os",
    "pathlib",
    "pdb",
    "pprint",
    "re",
    "shutil",
    "signal",
    "tempfile",
    "traceback",
    "types",
    "warnings",
    "weakref",
];
/// What in a `conftest.py` reaches beyond the fixtures it adds.
const REACHES: [&str; 14] = [
    "def pytest_",
    "pytest_plugins",
    "collect_ignore",
    "autouse",
    "sys.exit",
    "os._exit",
    "SystemExit",
    "sys.modules",
    "builtins",
    "pytest.skip",
    "importorskip",
    "atexit",
    "exec(",
    "settrace",
];

pub(super) fn may_matter(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    SETTINGS.iter().any(|(file, _)| *file == name)
        || matches!(name, "conftest.py" | "noxfile.py")
        || is_tests_own(path)
        || runs_first(name)
        || shadowed(path).is_some()
}

/// What Python runs before any program.
#[expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "the tools themselves look at the case"
)]
fn runs_first(name: &str) -> bool {
    matches!(name, "sitecustomize.py" | "usercustomize.py") || name.ends_with(".pth")
}

/// `__init__.py` of a folder of tests: it runs before them.
fn is_tests_own(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    parts.next() == Some("__init__.py") && parts.any(|part| ["test", "tests"].contains(&part))
}

/// The runner a file would stand in the place of, and the folder it does so in.
fn shadowed(path: &str) -> Option<(&'static str, &str)> {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let find =
        |module: &str| RUNNERS.iter().chain(&SYSTEM).find(|runner| **runner == module).copied();
    if let Some(runner) = name.strip_suffix(".py").and_then(find) {
        return Some((runner, dir));
    }
    let (above, folder) = dir.rsplit_once('/').unwrap_or(("", dir));
    let is_package = matches!(name, "__init__.py" | "__main__.py");
    find(folder).filter(|_| is_package).map(|runner| (runner, above))
}

pub(super) fn changed(of: &Context<'_>) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for edit in of.edited {
        let name = edit.path.rsplit('/').next().unwrap_or(&edit.path);
        found.extend(settings(edit, name));
        if runs_first(name) {
            let is_new = edit.before.is_none();
            let how = if is_new { "was added" } else { "was changed" };
            let message = format!("`{}` {how}: Python runs it before every test", edit.path);
            found.extend(
                edit.after
                    .is_some()
                    .then(|| Suspicion::of_file(&edit.path, name, message).whole(edit)),
            );
        } else if name == "conftest.py" {
            found.extend(conftest(edit));
        } else if is_tests_own(&edit.path) {
            found.extend(conftest(edit).filter(|found| !found.is_about_fixtures()));
        } else if name == "noxfile.py" && of.reach.mentions(&["nox"]) && differs(edit) {
            let message = format!("`{}`, which decides what nox runs, was changed", edit.path);
            found.push(Suspicion::of_file(&edit.path, name, message).whole(edit));
        } else if let Some((runner, dir)) = shadowed(&edit.path)
            && edit.before.is_none()
            && (dir.is_empty()
                || (dir == "src" && !SYSTEM.contains(&runner))
                || of.reach.dirs.contains(dir))
        {
            let message = format!("`{}` stands in the place of the module `{runner}`", edit.path);
            found.push(Suspicion::of_file(&edit.path, runner, message).whole(edit));
        }
    }
    found
}

fn differs(edit: &Edited) -> bool {
    let code = |text: &Option<String>| {
        let source = Source::new(Language::Python, text.as_deref().unwrap_or(""));
        statements(&untyped(&source.code))
    };
    code(&edit.before) != code(&edit.after)
}

/// What is done, however it is broken into lines: but how far a statement is indented is a part of it.
fn statements(text: &str) -> String {
    let source = Source::new(Language::Python, text);
    let mut made = String::new();
    let mut depth = 0_i32;
    for (line, bare) in source.code.lines().zip(source.bare.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        if depth == 0 {
            made.push('\n');
            made.extend(line.chars().take_while(|c| c.is_whitespace()));
        }
        made.extend(line.split_whitespace());
        depth = (depth + opened(bare)).max(0);
    }
    made
}

/// How many more brackets a line opens than it closes.
fn opened(bare: &str) -> i32 {
    let count = |marks: &[char]| i32::try_from(bare.matches(marks).count()).unwrap_or(0);
    count(&['(', '[', '{']) - count(&[')', ']', '}'])
}

/// The settings of pytest and tox.
fn settings(edit: &Edited, name: &str) -> Option<Suspicion> {
    let (_, sections) = SETTINGS.iter().find(|(file, _)| *file == name)?;
    let read = |text: &Option<String>| {
        let text = text.as_deref().unwrap_or("");
        if name.ends_with("toml") { of_toml(text, sections) } else { of_ini(text, sections) }
    };
    let (before, after) = (read(&edit.before), read(&edit.after));
    let keys = before.keys().chain(after.keys());
    let mut changed: Vec<&String> =
        keys.filter(|key| before.get(*key) != after.get(*key)).collect();
    changed.sort();
    changed.dedup();
    let first = changed.first()?;
    let path = &edit.path;
    let dangerous = changed.iter().any(|key| {
        let (was, is) = (before.get(*key), after.get(*key));
        let count = |text: Option<&String>, mark: &str| {
            text.map_or(0, |text| format!(" {text} ").matches(&format!(" {mark}")).count())
        };
        DANGEROUS.iter().any(|mark| count(is, mark) > count(was, mark))
    });
    let message = format!("`{first}` in `{path}`, which decides which tests run, was changed");
    let mut found = Suspicion::of_file(path, first, message).whole(edit);
    if !dangerous {
        found.soften();
    }
    Some(found)
}

/// Settings that matter, by section and name.
#[expect(clippy::assigning_clones, reason = "clearer so")]
fn of_ini(text: &str, sections: &[&str]) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut section = String::new();
    let mut key = String::new();
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim().to_owned();
            key.clear();
        } else if line.starts_with([' ', '\t']) && !key.is_empty() {
            let value = found.entry(key.clone()).or_default();
            value.push(' ');
            value.push_str(bare);
        } else if let Some((name, value)) = bare.split_once(['=', ':']) {
            key = format!("{section}.{}", name.trim());
            found.insert(key.clone(), value.trim().to_owned());
        }
    }
    let of_section = |key: &String| {
        sections.iter().any(|section| {
            key.starts_with(&format!("{section}.")) || key.starts_with(&format!("{section}:"))
        })
    };
    found.retain(|key, _| of_section(key) && !is_harmless(key));
    found
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds mean the same here")]
fn of_toml(text: &str, sections: &[&str]) -> BTreeMap<String, String> {
    let Ok(table) = text.parse::<toml::Table>() else {
        return BTreeMap::from([("the file".to_owned(), text.to_owned())]);
    };
    let mut found = BTreeMap::new();
    for section in sections {
        let mut place = Some(&table);
        for part in section.split('.') {
            place = place.and_then(|table| table.get(part)).and_then(toml::Value::as_table);
        }
        for (key, value) in place.into_iter().flatten() {
            let name = format!("{section}.{key}");
            if !value.is_table() && !is_harmless(&name) {
                let text = match value {
                    toml::Value::String(text) => text.clone(),
                    toml::Value::Array(list) => {
                        let texts = list.iter().map(|one| one.as_str().unwrap_or_default());
                        texts.collect::<Vec<_>>().join(" ")
                    }
                    other => other.to_string(),
                };
                found.insert(name, text);
            }
        }
    }
    found
}

fn is_harmless(key: &str) -> bool {
    let name = key.rsplit('.').next().unwrap_or(key);
    HARMLESS.iter().any(|harmless| name.starts_with(harmless))
}

/// `conftest.py` runs with every test: what is added may be a fixture, anything else is asked about.
fn conftest(edit: &Edited) -> Option<Suspicion> {
    if !differs(edit) {
        return None;
    }
    let units = |text: &Option<String>| {
        let units = top_level(text.as_deref().unwrap_or(""));
        units.iter().map(|unit| untyped(unit)).collect::<Vec<_>>()
    };
    let (before, after) = (units(&edit.before), units(&edit.after));
    let kept = before.iter().all(|unit| after.contains(unit));
    let added: Vec<&String> = after.iter().filter(|unit| !before.contains(unit)).collect();
    let only_fixtures = kept && edit.after.is_some() && added.iter().all(|unit| is_fixture(unit));
    let path = &edit.path;
    let message = if only_fixtures {
        format!("`{path}` has a new fixture")
    } else if edit.before.is_none() {
        format!("`{path}` was added: it runs with every test")
    } else {
        format!("`{path}`, which runs with every test, was changed")
    };
    let mut found = Suspicion::of_file(path, "conftest", message).whole(edit);
    if only_fixtures {
        found.soften();
    }
    Some(found)
}

/// The statements of a file that stand at its edge, each with what belongs to it.
fn top_level(text: &str) -> Vec<String> {
    let source = Source::new(Language::Python, text);
    let mut units: Vec<String> = Vec::new();
    let mut depth = 0_i32;
    for (line, bare) in source.code.lines().zip(source.bare.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let inside = line.starts_with([' ', '\t', ')', ']', '}']) || depth > 0;
        let decorated = units
            .last()
            .is_some_and(|unit| unit.starts_with('@') && !unit.lines().any(is_declaration));
        if (inside || decorated) && !units.is_empty() {
            if let Some(unit) = units.last_mut() {
                unit.push('\n');
                unit.push_str(line.trim_end());
            }
        } else {
            units.push(line.trim_end().to_owned());
        }
        depth = (depth + opened(bare)).max(0);
    }
    units
}

/// Whether a line at the edge of a file begins a function or a class.
fn is_declaration(line: &str) -> bool {
    ["def ", "async def ", "class "].iter().any(|word| line.starts_with(word))
}

/// An import, a fixture, or a plain function or class it may use.
fn is_fixture(unit: &str) -> bool {
    let first = unit.lines().next().unwrap_or("");
    let begins = if first.starts_with('@') {
        unit.lines().any(is_declaration)
    } else {
        is_declaration(first) || first.starts_with("import ") || first.starts_with("from ")
    };
    // A constant, or where modules are found.
    let left = first.split_once('=').map_or("", |(left, _)| left.trim());
    let constant =
        !left.is_empty() && left.chars().all(|c| c.is_alphanumeric() || "_ :[],".contains(c));
    let for_types = ["if TYPE_CHECKING:", "if typing.TYPE_CHECKING:"].contains(&first)
        && unit.lines().skip(1).all(|line| {
            line.trim_start().starts_with("import ") || line.trim_start().starts_with("from ")
        });
    let begins = begins
        || constant
        || for_types
        || first.starts_with("sys.path.")
        || first.starts_with(['"', '\''])
        || first.starts_with("pytest.register_assert_rewrite");
    let mut marks = unit.lines().filter(|line| line.starts_with('@'));
    let harmless = marks.all(|line| line.contains("fixture") || line.contains("contextmanager"));
    begins && harmless && !REACHES.iter().any(|word| unit.contains(word))
}
