//! Linters switched off: rules taken out of their settings, and marks in the code that tell them not
//! to look. A few such marks are part of any work; a whole file, or many at once, are not.

mod known;
mod loosened;

use self::known::{LINTERS, Linter, OFF, ON};
use self::loosened::loosened;
use super::source::Language;
use super::{Context, Edited, Suspicion};

/// How many more marks on single lines are a few.
const FEW: usize = 9;

/// Whether a file of this name holds a linter's settings.
pub(super) fn may_matter(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    LINTERS.iter().any(|linter| linter.holds(name))
}

impl Linter {
    fn holds(&self, name: &str) -> bool {
        self.files
            .iter()
            .any(|file| name == *file || (file.ends_with(['.', 'c']) && name.starts_with(file)))
    }
}

/// Everything that tells linters to look at less.
pub(super) fn silenced(of: &Context<'_>) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for linter in LINTERS.iter().filter(|linter| of.reach.mentions(linter.called)) {
        found.extend(of.edited.iter().filter_map(|edit| settings(linter, edit)));
        found.extend(of.edited.iter().filter_map(|edit| wholesale(linter, edit)));
        found.extend(many(linter, of.edited));
    }
    found
}

fn count(text: Option<&str>, words: &[&str]) -> usize {
    let text = text.unwrap_or("");
    words.iter().map(|word| text.matches(word).count()).sum()
}

/// Settings that were there and switch off more, or switch on less.
fn settings(linter: &Linter, edit: &Edited) -> Option<Suspicion> {
    let name = edit.path.rsplit('/').next().unwrap_or(&edit.path);
    // A list of what is not looked at says so by being there.
    let ignores = name.ends_with("ignore") && linter.holds(name);
    let before = match &edit.before {
        None if ignores => "",
        before => before.as_deref().filter(|_| linter.holds(name))?,
    };
    // Manifests hold more than a linter's settings: only what is the linter's counts there.
    let own = |text: &str| sections(linter, name, text);
    let before = own(before);
    let after = edit.after.as_deref().map(own);
    let path = &edit.path;
    let how = match &after {
        None if before.trim().is_empty() => return None,
        None if ignores => return None,
        None => format!("the settings of {} in `{path}` were removed", linter.name),
        Some(after) if ignores => {
            let said = |text: &str| text.lines().filter(|line| is_entry(line)).count();
            if said(after) <= said(&before) {
                return None;
            }
            format!("{} looks at less: `{path}` names more than before", linter.name)
        }
        Some(after) => {
            let more = OFF
                .iter()
                .find(|word| after.matches(**word).count() > before.matches(**word).count());
            let less = ON
                .iter()
                .find(|word| after.matches(**word).count() < before.matches(**word).count());
            match (more, less) {
                (Some(word), _) => format!(
                    "rules of {} were switched off in `{path}`: `{}` was added",
                    linter.name,
                    word.trim_matches(['"', '\'', ' ', '='])
                ),
                (None, Some(word)) => format!(
                    "rules of {} were taken out of `{path}`: fewer `{}`",
                    linter.name,
                    word.trim_matches(['"', '\'', ' ', '='])
                ),
                (None, None) => match loosened(linter, name, &before, after) {
                    Some(how) => {
                        format!("rules of {} were loosened in `{path}`: {how}", linter.name)
                    }
                    None => return None,
                },
            }
        }
    };
    Some(Suspicion::of_file(path, linter.name, how).whole(edit))
}

fn is_entry(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with(['#', '!'])
}

/// The part of a shared settings file that is the linter's; all of a file of its own.
fn sections(linter: &Linter, name: &str, text: &str) -> String {
    let shared = ["pyproject.toml", "setup.cfg", "tox.ini", "Cargo.toml"].contains(&name);
    if !shared {
        return text.to_owned();
    }
    let mine = |head: &str| {
        linter.called.iter().any(|called| head.contains(called))
            || (linter.name == "ruff" && head.contains("flake8"))
            || (linter.name == "clippy" && head.contains("lints"))
            || (linter.name == "coverage" && head.contains("coverage"))
    };
    let mut is_mine = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            is_mine = mine(line);
        }
        if is_mine {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// A file, or everything, is no longer looked at.
fn wholesale(linter: &Linter, edit: &Edited) -> Option<Suspicion> {
    Language::of(&edit.path)?;
    let (before, after) = (edit.before.as_deref(), edit.after.as_deref());
    let more = |word: &&&str| count(after, &[**word]) > count(before, &[**word]);
    let head = |text: Option<&str>| above_package(linter, text.unwrap_or(""));
    let above = head(after).filter(|_| head(before).is_none());
    let word = linter.wholesale.iter().find(more).copied().or(above)?;
    let path = &edit.path;
    let message = format!("{} is told not to look at `{path}`: `{word}` was added", linter.name);
    let mut found = Suspicion::of_file(path, linter.name, message).whole(edit);
    if edit.before.is_none() {
        // A new file is work; what was added to it goes, the work stays.
        found.found.restore.clear();
    }
    Some(found)
}

/// A mark above the `package` of a file of Go is about all of it.
fn above_package(linter: &Linter, text: &str) -> Option<&'static str> {
    let mut head = text.lines().take_while(|line| !line.starts_with("package "));
    let mark = linter.single.iter().find(|mark| mark.starts_with("//"))?;
    head.any(|line| line.starts_with(mark)).then_some(*mark)
}

/// Many single marks at once.
fn many(linter: &Linter, edited: &[Edited]) -> Option<Suspicion> {
    let code = || edited.iter().filter(|edit| Language::of(&edit.path).is_some());
    let more = |edit: &Edited| {
        let (before, after) = (edit.before.as_deref(), edit.after.as_deref());
        count(after, linter.single).saturating_sub(count(before, linter.single))
    };
    let gone = |edit: &Edited| {
        let (before, after) = (edit.before.as_deref(), edit.after.as_deref());
        count(before, linter.single).saturating_sub(count(after, linter.single))
    };
    let added: usize = code().map(more).sum::<usize>().saturating_sub(code().map(gone).sum());
    if added <= FEW {
        return None;
    }
    let worst = code().max_by_key(|edit| more(edit))?;
    let mark = linter.single.first()?;
    let message = format!(
        "{} is told not to look in {added} more places (`{mark}`), most of them in `{}`",
        linter.name, worst.path
    );
    let mut found = Suspicion::of_file(&worst.path, linter.name, message);
    found.found.subjects = vec![format!("lint:{}", linter.name)];
    found.found.restore.clear();
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, before: &str, after: &str) -> Edited {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Edited { path: path.to_owned(), before: text(before), after: text(after) }
    }

    fn linter(name: &str) -> &'static Linter {
        LINTERS.iter().find(|linter| linter.name == name).unwrap()
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn rules_switched_off_or_taken_out_are_found() {
        for (name, path, before, after) in [
            (
                "eslint",
                ".eslintrc.json",
                r#"{"rules":{"no-undef":"error"}}"#,
                r#"{"rules":{"no-undef":"off"}}"#,
            ),
            ("eslint", "eslint.config.js", "rules: { 'no-undef': 'error' }", "rules: {}"),
            (
                "eslint",
                "eslint.config.mjs",
                "export default [a]",
                "export default [{ ignores: ['src'] }, a]",
            ),
            ("ruff", "ruff.toml", "line-length = 80\n", "line-length = 80\nignore = ['F']\n"),
            ("ruff", "pyproject.toml", "[tool.ruff]\nselect = ['E']\n", "[tool.ruff]\n"),
            (
                "ruff",
                "setup.cfg",
                "[flake8]\nmax-line-length = 80\n",
                "[flake8]\nextend-ignore = E\n",
            ),
            (
                "clippy",
                "Cargo.toml",
                "[lints.clippy]\nunwrap_used = \"deny\"\n",
                "[lints.clippy]\nunwrap_used = \"allow\"\n",
            ),
            ("tsc", "tsconfig.json", r#"{"strict": true}"#, r#"{"strict": false}"#),
            ("mypy", "mypy.ini", "[mypy]\n", "[mypy]\nignore_errors = True\n"),
            ("eslint", ".eslintrc.json", r#"{"rules":{"no-undef":"error"}}"#, ""),
            ("ruff", "ruff.toml", "select = ['E', 'F']\n", "select = ['E']\n"),
            ("tsc", "tsconfig.json", "\"include\": [\"src\", \"test\"]", "\"include\": [\"test\"]"),
            ("tsc", "tsconfig.json", "\"noEmit\": true", "\"noEmit\": true, \"noCheck\": true"),
            (
                "golangci-lint",
                ".golangci.yml",
                "linters:\n  enable:\n    - errcheck\n    - govet\n",
                "linters:\n  enable:\n    - govet\n",
            ),
            (
                "phpstan",
                "phpstan.neon",
                "parameters:\n    level: 8\n",
                "parameters:\n    level: 0\n",
            ),
            (
                "clippy",
                "clippy.toml",
                "too-many-arguments-threshold = 3\n",
                "too-many-arguments-threshold = 300\n",
            ),
            ("prettier", ".prettierignore", "", "src\n"),
            (
                "ruff",
                "pyproject.toml",
                "[tool.ruff]\nline-length = 88\n",
                "[tool.ruff]\nline-length = 320\n",
            ),
            (
                "ruff",
                ".flake8",
                "[flake8]\nmax-complexity = 8\n",
                "[flake8]\nmax-complexity = 80\n",
            ),
            (
                "eslint",
                "eslint.config.js",
                "export default [{ files: ['**/*.js'], rules: a }]",
                "export default [{ files: ['lib/**.js'], rules: a }]",
            ),
            ("coverage", ".coveragerc", "[report]\n", "[report]\nexclude_lines =\n    .*\n"),
        ] {
            assert!(
                settings(linter(name), &edit(path, before, after)).is_some(),
                "{path}: {after}"
            );
        }
        for (name, path, before, after) in [
            (
                "ruff",
                "pyproject.toml",
                "[tool.ruff]\nselect = ['E']\n",
                "[project]\nexclude = []\n[tool.ruff]\nselect = ['E']\n",
            ),
            (
                "clippy",
                "Cargo.toml",
                "[package]\n",
                "[package]\nexclude = ['x']\n[dependencies]\na = \"1\"\n",
            ),
            (
                "eslint",
                "eslint.config.js",
                "rules: { a: 'error' }",
                "rules: { a: 'error', b: 'error' }",
            ),
            ("eslint", "eslint.config.js", "", "rules: { a: 'off' }"),
            (
                "eslint",
                "eslint.config.js",
                "export default [{ files: ['**/*.js'], rules: a }]",
                "export default [{ files: ['**/*.{js,ts}'], rules: a }]",
            ),
            ("ruff", "ruff.toml", "line-length = 100\n", "line-length = 88\n"),
        ] {
            assert!(
                settings(linter(name), &edit(path, before, after)).is_none(),
                "{path}: {after}"
            );
        }
    }

    #[test]
    fn a_few_marks_are_work_and_many_or_whole_files_are_not() {
        let marks = |count: usize| "x = 1  # noqa: E501\n".repeat(count);
        assert!(many(linter("ruff"), &[edit("a.py", "x\n", &marks(3))]).is_none());
        assert!(many(linter("ruff"), &[edit("a.py", "x\n", &marks(30))]).is_some());
        assert!(many(linter("ruff"), &[edit("a.py", &marks(30), &marks(31))]).is_none());
        // Moved is not added.
        let moved = [edit("a.py", &marks(30), "x\n"), edit("b.py", "", &marks(30))];
        assert!(many(linter("ruff"), &moved).is_none());
        let whole = |name: &str, path: &str, after: &str| {
            wholesale(linter(name), &edit(path, "x\n", after)).is_some()
        };
        assert!(whole("ruff", "a.py", "# ruff: noqa\nx\n"));
        assert!(whole("clippy", "src/lib.rs", "#![allow(warnings)]\nx\n"));
        assert!(whole("tsc", "a.ts", "// @ts-nocheck\nx\n"));
        assert!(whole("golangci-lint", "a.go", "//nolint\npackage x\n"));
        assert!(!whole("golangci-lint", "a.go", "package x\n\nvar a = b //nolint\n"));
        assert!(!whole("eslint", "a.js", "/* eslint-disable-next-line no-undef */\nx\n"));
    }
}
