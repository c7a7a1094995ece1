//! JavaScript: what package managers are told, and which files the runners choose.

use serde_json::Value;

use super::super::{Context, Edited, Suspicion};

/// Names of files, or their beginnings, that choose the tests.
const RUNNERS: [&str; 14] = [
    "jest.config.",
    "vitest.config.",
    "vitest.workspace.",
    "vite.config.",
    ".mocharc",
    "karma.conf.",
    "ava.config.",
    "playwright.config.",
    "cypress.config.",
    ".taprc",
    "jasmine.json",
    "bunfig.toml",
    "deno.json",
    "nx.json",
];
/// Settings of package managers.
const MANAGERS: [&str; 4] = [".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmrc"];
/// What in those is about where packages come from, and nothing else.
const HARMLESS: [&str; 22] = [
    "registry",
    "//",
    "@",
    "_auth",
    "save",
    "fund",
    "audit",
    "package-lock",
    "engine-strict",
    "legacy-peer-deps",
    "strict-peer",
    "auto-install",
    "hoist",
    "public-hoist",
    "shamefully",
    "node-linker",
    "nodeLinker",
    "npmRegistry",
    "enableTelemetry",
    "progress",
    "loglevel",
    "cache",
];
/// Settings that choose tests.
const CHOOSING: [&str; 19] = [
    "testMatch",
    "testRegex",
    "testPathIgnorePatterns",
    "testPathPatterns",
    "testIgnore",
    "testNamePattern",
    "modulePathIgnorePatterns",
    "roots",
    "include",
    "exclude",
    "specPattern",
    "excludeSpecPattern",
    "spec",
    "ignore",
    "grep",
    "invert",
    "files",
    "projects",
    "root",
];
/// Settings that hide failures, or run something else.
const HIDING: [&str; 9] = [
    "passWithNoTests",
    "testRunner",
    "runner",
    "bail",
    "dangerouslyIgnoreUnhandledErrors",
    "allowOnly",
    "globalSetup",
    "retries",
    "retry",
];
/// Packages that run or check something.
const PACKAGES: [&str; 10] =
    ["jest", "vitest", "mocha", "ava", "tap", "jasmine", "eslint", "typescript", "karma", "c8"];

pub(super) fn may_matter(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "package.json"
        || MANAGERS.contains(&name)
        || RUNNERS.iter().any(|begin| name.starts_with(begin))
        || (path.contains("node_modules/") && in_runner(path))
}

/// A file of an installed runner, or what is started by its name.
fn in_runner(path: &str) -> bool {
    let mut parts = path.rsplit("node_modules/");
    let inside = parts.next().unwrap_or("");
    let first = inside.split('/').next().unwrap_or("");
    first == ".bin" || PACKAGES.contains(&first)
}

pub(super) fn changed(of: &Context<'_>) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for edit in of.edited {
        let name = edit.path.rsplit('/').next().unwrap_or(&edit.path);
        if edit.path.contains("node_modules/") && in_runner(&edit.path) {
            let message = format!("`{}` is part of an installed runner and was changed", edit.path);
            found.push(Suspicion::of_file(&edit.path, name, message).whole(edit));
        } else if MANAGERS.contains(&name) {
            found.extend(manager(edit));
        } else if name == "package.json" {
            found.extend(package(edit));
        } else if RUNNERS.iter().any(|begin| name.starts_with(begin)) {
            found.extend(runner(edit));
        }
    }
    found
}

fn manager(edit: &Edited) -> Option<Suspicion> {
    let lines = |text: &Option<String>| -> Vec<String> {
        let text = text.as_deref().unwrap_or("");
        let lines = text.lines().map(str::trim);
        let matters = |line: &&str| {
            !line.is_empty()
                && !line.starts_with(['#', ';'])
                && !HARMLESS.iter().any(|harmless| line.starts_with(harmless))
        };
        lines.filter(matters).map(str::to_owned).collect()
    };
    let (before, after) = (lines(&edit.before), lines(&edit.after));
    let differs =
        |one: &[String], other: &[String]| one.iter().find(|line| !other.contains(line)).cloned();
    let line = differs(&after, &before).or_else(|| differs(&before, &after))?;
    let shown = flyball_core::text::head(&line, 80);
    let path = &edit.path;
    let message = format!("`{shown}` in `{path}`, which every script obeys, was changed");
    Some(Suspicion::of_file(path, "npmrc", message).whole(edit))
}

/// A runner's part of `package.json`, and where the runner itself comes from.
fn package(edit: &Edited) -> Option<Suspicion> {
    let read = |text: &Option<String>| -> Value {
        text.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    };
    let (before, after) = (read(&edit.before), read(&edit.after));
    edit.before.as_ref()?;
    let path = &edit.path;
    let name_of = |value: &Value| value.as_str().map(str::to_owned).unwrap_or_default();
    for list in ["dependencies", "devDependencies", "overrides", "resolutions"] {
        for package in PACKAGES {
            let of = |side: &Value| side.get(list).and_then(|list| list.get(package)).map(&name_of);
            let (was, is) = (of(&before), of(&after));
            let own = is.as_deref().is_some_and(|is| {
                ["file:", "link:", "portal:", "git", "http", ".", "npm:"]
                    .iter()
                    .any(|b| is.starts_with(b))
            });
            if own && was != is {
                let message = format!("`{package}` in `{path}` is another program now");
                return Some(Suspicion::of_file(path, package, message).whole(edit));
            }
        }
    }
    for section in ["jest", "mocha", "vitest", "ava", "tap", "c8", "nyc"] {
        let of = |side: &Value| side.get(section).cloned().unwrap_or_default();
        let (was, is) = (of(&before), of(&after));
        if was != is
            && let Some(found) = chosen(&was.to_string(), &is.to_string(), edit)
        {
            return Some(found);
        }
    }
    None
}

fn runner(edit: &Edited) -> Option<Suspicion> {
    let text = |side: &Option<String>| side.clone().unwrap_or_default();
    chosen(&text(&edit.before), &text(&edit.after), edit)
}

/// How the choice of tests changed between two texts of settings.
fn chosen(before: &str, after: &str, edit: &Edited) -> Option<Suspicion> {
    let differs = |key: &&&str| values(before, key) != values(after, key);
    let hiding = HIDING.iter().find(differs);
    let key = hiding.or_else(|| CHOOSING.iter().find(differs))?;
    let path = &edit.path;
    let message = format!("`{key}` in `{path}`, which decides which tests run, was changed");
    let mut found = Suspicion::of_file(path, key, message).whole(edit);
    if hiding.is_none() {
        found.soften();
    }
    Some(found)
}

/// What follows a setting's name, up to the end of its value.
fn values(text: &str, key: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(key) {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let rest = text.get(at.saturating_add(key.len())..).unwrap_or("");
        let rest = rest.trim_start_matches(['"', '\'']).trim_start();
        let whole = !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.');
        let Some(value) = rest.strip_prefix([':', '=']).filter(|_| whole) else { continue };
        let mut depth = 0_i32;
        let end = value.char_indices().find(|(_, c)| match c {
            '[' | '{' | '(' => {
                depth += 1;
                false
            }
            ']' | '}' | ')' => {
                depth -= 1;
                depth < 0
            }
            ',' | '\n' => depth == 0,
            _ => false,
        });
        let value = value.get(..end.map_or(value.len(), |(end, _)| end)).unwrap_or("");
        found.push(value.split_whitespace().collect::<String>());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, before: &str, after: &str) -> Edited {
        let text = |text: &str| (text != "-").then(|| text.to_owned());
        Edited { path: path.to_owned(), before: text(before), after: text(after) }
    }

    fn said(found: Option<Suspicion>) -> &'static str {
        match found {
            None => "none",
            Some(found) if found.is_soft() => "soft",
            Some(_) => "firm",
        }
    }

    #[test]
    fn what_package_managers_are_told_is_compared_but_for_where_packages_come_from() {
        let cases = [
            ("-", "script-shell=/bin/true\n", "firm"),
            ("", "ignore-scripts=true\n", "firm"),
            ("script-shell=/bin/bash\n", "", "firm"),
            ("", "registry=https://example.org\nsave-exact=true\n# x\n", "none"),
        ];
        for (before, after, expected) in cases {
            assert_eq!(said(manager(&edit(".npmrc", before, after))), expected, "{after}");
        }
    }

    #[test]
    fn the_choice_of_tests_is_compared_and_dependencies_are_free() {
        let config = |inside: &str| format!("export default {{ {inside} }}\n");
        let cases = [
            (config("testMatch: ['a']"), config("testMatch: ['b']"), "soft"),
            (config(""), config("passWithNoTests: true"), "firm"),
            (config("x: 1"), config("x: 2, setupFiles: ['a']"), "none"),
            (config("test: { exclude: [] }"), config("test: {\n exclude: [ ] }"), "none"),
        ];
        for (before, after, expected) in cases {
            assert_eq!(said(runner(&edit("jest.config.js", &before, &after))), expected, "{after}");
        }
        let cases = [
            (r#"{"dependencies":{}}"#, r#"{"dependencies":{"left-pad":"1"}}"#, "none"),
            (
                r#"{"devDependencies":{"jest":"29"}}"#,
                r#"{"devDependencies":{"jest":"30"}}"#,
                "none",
            ),
            (
                r#"{"devDependencies":{"jest":"29"}}"#,
                r#"{"devDependencies":{"jest":"file:./fake"}}"#,
                "firm",
            ),
            (r#"{"jest":{}}"#, r#"{"jest":{"testPathIgnorePatterns":["."]}}"#, "soft"),
        ];
        for (before, after, expected) in cases {
            assert_eq!(said(package(&edit("package.json", before, after))), expected, "{after}");
        }
    }

    #[test]
    fn files_of_installed_runners_are_known() {
        assert!(may_matter("node_modules/.bin/jest") && may_matter("web/node_modules/mocha/x.js"));
        assert!(!may_matter("node_modules/left-pad/index.js"));
    }
}
