//! Files of data that tests read: golden files, snapshots, tables of cases.

use super::only_if_red;
use crate::gate::tamper::source::Language;
use crate::gate::tamper::suspicion::Suspicion;
use crate::gate::tamper::tests_of::{may_hold_tests, tests_of};
use crate::gate::tamper::{Context, Edited, is_foreign_test};

/// Folders whose files are read by tests.
const FOLDERS: [&str; 15] = [
    "test",
    "tests",
    "testdata",
    "test_data",
    "test-data",
    "fixtures",
    "fixture",
    "golden",
    "goldens",
    "expected",
    "snapshots",
    "__snapshots__",
    "spec",
    "cases",
    "resources",
];
/// Endings of files that say what is expected, wherever they are.
const ENDINGS: [&str; 7] = ["snap", "golden", "approved", "expected", "ambr", "stdout", "stderr"];
/// Test files looked at for one file of data.
const READERS_MAX: usize = 20;

/// Whether a file is of the kind tests read.
pub(in crate::gate::tamper) fn is_data(path: &str) -> bool {
    let ending = path.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    let by_ending = ending.is_some_and(|(_, ending)| ENDINGS.contains(&ending));
    let in_folder = path.split('/').rev().skip(1).any(|part| FOLDERS.contains(&part));
    Language::of(path).is_none() && !is_foreign_test(path) && (by_ending || in_folder)
}

/// Data of tests of which something is gone.
pub(super) fn changed(of: &Context<'_>) -> Vec<Suspicion> {
    let data = of.edited.iter().filter(|edit| is_data(&edit.path));
    data.filter_map(|edit| in_file(of, edit)).collect()
}

fn in_file(of: &Context<'_>, edit: &Edited) -> Option<Suspicion> {
    let before = edit.before.as_deref()?;
    if !lost(before, edit.after.as_deref().unwrap_or("")) {
        return None;
    }
    let readers = readers(of, &edit.path, before);
    let mut names = Vec::new();
    for path in &readers {
        let Some((language, text)) = Language::of(path).zip(of.files.before(path)) else {
            continue;
        };
        let tests = tests_of(language, &text);
        let name = edit.path.rsplit('/').next().unwrap_or(&edit.path);
        let stem = name.split('.').next().unwrap_or(name);
        let says = |word: &str| {
            let naming = tests.iter().filter(|test| word.len() > 2 && test.whole.contains(word));
            naming.map(|test| test.name.clone()).collect::<Vec<_>>()
        };
        let mut own = says(name);
        if own.is_empty() {
            own = says(stem);
        }
        if own.is_empty() {
            own = tests.iter().map(|test| test.name.clone()).collect();
        }
        names.extend(own);
    }
    let first = readers.first()?;
    let path = &edit.path;
    let message = format!("`{path}`, by which red tests of `{first}` judge, was changed");
    let mut files = readers.clone();
    files.push(path.clone());
    Some(only_if_red(Suspicion::of_file(path, path, message), names, files))
}

/// Whether something of a text is gone, and not only its form.
fn lost(before: &str, after: &str) -> bool {
    let parts = |text: &str| {
        let apart = |c: char| c.is_whitespace() || ",;{}[]()".contains(c);
        let mut parts: Vec<String> =
            text.split(apart).filter(|part| !part.is_empty()).map(str::to_owned).collect();
        parts.sort_unstable();
        parts
    };
    let (was, is) = (parts(before), parts(after));
    let mut rest = is.iter().peekable();
    !was.iter().all(|part| {
        while rest.next_if(|other| *other < part).is_some() {}
        rest.next_if(|other| *other == part).is_some()
    })
}

/// The test files that read a file: those that name it, its snapshot's own, or those that name its folder.
fn readers(of: &Context<'_>, path: &str, text: &str) -> Vec<String> {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let holds = |path: &String| {
        Language::of(path)
            .map_or_else(|| is_foreign_test(path), |language| may_hold_tests(language, path))
    };
    let of_word = |word: &str| -> Vec<String> {
        let all = of.files.mentioning(word).into_iter();
        all.filter(|path| holds(path)).take(READERS_MAX).collect()
    };
    let named = of_word(name);
    if !named.is_empty() {
        return named;
    }
    // `__snapshots__/a.test.js.snap` is of `a.test.js`; insta writes down whose it is.
    let above = dir.rsplit_once('/').map_or("", |(above, _)| above);
    let owner = name.rsplit_once('.').map_or(name, |(owner, _)| owner);
    let beside =
        |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
    let source = text.lines().take(10).find_map(|line| line.strip_prefix("source: "));
    let owners = [
        Some(beside(owner)),
        Some(beside(&format!("{owner}.py"))),
        source.map(|path| path.trim_matches('"').to_owned()),
    ];
    let owners: Vec<String> =
        owners.into_iter().flatten().filter(|path| of.files.before(path).is_some()).collect();
    if !owners.is_empty() {
        return owners;
    }
    let stem = name.split('.').next().unwrap_or(name);
    let by_stem = if stem.len() > 3 { of_word(stem) } else { Vec::new() };
    if !by_stem.is_empty() {
        return by_stem;
    }
    let folder = dir.rsplit('/').next().unwrap_or(dir);
    if folder.len() > 3 { of_word(folder) } else { Vec::new() }
}
