//! Tests that are still written down and that nobody looks for any more.

use super::source::{Language, Source, words};
use super::suspicion::Suspicion;
use super::tests_of::tests_of;
use super::{Context, Edited};

/// Rust: `mod tests;` was taken out, and the file is still there.
pub(super) fn modules(of: &Context<'_>) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for edit in of.edited.iter().filter(|edit| Language::of(&edit.path) == Some(Language::Rust)) {
        let (Some(before), Some(after)) = (&edit.before, &edit.after) else { continue };
        let now = declared(after);
        for name in declared(before).into_iter().filter(|name| !now.contains(name)) {
            let Some((path, text)) = module_file(&edit.path, &name, of) else { continue };
            let tests = tests_of(Language::Rust, &text).len();
            if tests == 0 {
                continue;
            }
            let message = format!(
                "`mod {name};` was taken out of {}, so that the tests of {path} are no longer built",
                edit.path
            );
            let mut suspicion = Suspicion::of_file(&edit.path, &name, message);
            suspicion.found.subjects = vec![format!("mod:{}:{name}", edit.path)];
            suspicion.found.tests = u32::try_from(tests).unwrap_or(u32::MAX);
            found.push(suspicion);
        }
    }
    found
}

/// Modules a file declares and does not hold.
fn declared(text: &str) -> Vec<String> {
    let source = Source::new(Language::Rust, text);
    let bare = source.bare.as_str();
    let declared = words(bare).filter(|(_, word)| *word == "mod").filter_map(|(at, _)| {
        let rest = bare.get(at.saturating_add(3)..)?.trim_start();
        let (name, rest) = rest.split_at(rest.find(|c: char| !c.is_alphanumeric() && c != '_')?);
        rest.trim_start().starts_with(';').then(|| name.to_owned())
    });
    declared.collect()
}

/// The file of a module, as it is now.
fn module_file(path: &str, name: &str, of: &Context<'_>) -> Option<(String, String)> {
    let (dir, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.trim_end_matches(".rs");
    let own = matches!(stem, "mod" | "lib" | "main") || dir == "tests" || dir.ends_with("/tests");
    let folder = match (dir.is_empty(), own) {
        (true, true) => String::new(),
        (true, false) => format!("{stem}/"),
        (false, true) => format!("{dir}/"),
        (false, false) => format!("{dir}/{stem}/"),
    };
    let paths = [format!("{folder}{name}.rs"), format!("{folder}{name}/mod.rs")];
    paths.into_iter().find_map(|path| Some((path.clone(), of.files.after(&path)?)))
}

/// Python: a test file got a name that runners do not look for.
pub(super) fn uncollected(edited: &[Edited]) -> Vec<Suspicion> {
    let is_looked_for = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.starts_with("test") || name.ends_with("_test.py") || name.ends_with("_tests.py")
    };
    let python = |path: &str| Language::of(path) == Some(Language::Python);
    let gone = edited
        .iter()
        .filter(|edit| python(&edit.path) && is_looked_for(&edit.path) && edit.after.is_none());
    let mut found = Vec::new();
    for old in gone {
        let before = tests_of(Language::Python, old.before.as_deref().unwrap_or(""));
        let names: Vec<&str> = before.iter().map(|test| test.name.as_str()).collect();
        let heir = edited.iter().find(|edit| {
            python(&edit.path)
                && !is_looked_for(&edit.path)
                && edit.before.is_none()
                && edit.after.as_deref().is_some_and(|text| {
                    let now = tests_of(Language::Python, text);
                    now.iter().any(|test| names.contains(&test.name.as_str()))
                })
        });
        let Some(heir) = heir else { continue };
        let message =
            format!("test file {} became {}, which runners do not look for", old.path, heir.path);
        let mut suspicion = Suspicion::of_file(&old.path, &old.path, message);
        suspicion.found.tests = u32::try_from(names.len()).unwrap_or(u32::MAX);
        suspicion.soften();
        found.push(suspicion);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_modules_are_told_from_those_inside() {
        let text = "mod a;\npub mod b { mod c; }\n// mod d;\n#[cfg(test)]\nmod tests;\n";
        assert_eq!(declared(text), ["a", "c", "tests"]);
    }

    #[test]
    fn a_test_file_that_is_no_longer_looked_for_is_found() {
        let test = "def test_a():\n    assert x\n".to_owned();
        let edit = |path: &str, before: bool, after: bool| Edited {
            path: path.to_owned(),
            before: before.then(|| test.clone()),
            after: after.then(|| test.clone()),
        };
        let moved = |to: &str| {
            uncollected(&[edit("tests/test_a.py", true, false), edit(to, false, true)]).len()
        };
        assert_eq!(moved("tests/old_a.py"), 1);
        assert_eq!(moved("tests/unit/test_a.py"), 0);
    }
}
