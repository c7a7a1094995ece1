//! Which changes behind a gate weaken it.

use flyball_core::{GateName, Millis};

use super::*;
use crate::config::CommandLine;

fn plan(gates: &[(&str, &str, GateSource)]) -> GatePlan {
    let gate = |(name, command, source): &(&str, &str, GateSource)| Gate {
        name: GateName::new(*name),
        command: CommandLine::Shell((*command).to_owned()),
        timeout: Millis::from_secs(1),
        needs: Vec::new(),
        source: *source,
    };
    GatePlan::of(gates.iter().map(gate).collect()).unwrap()
}

fn messages(found: Vec<Changed>) -> Vec<String> {
    found.into_iter().map(|changed| changed.message).collect()
}

#[test]
fn a_changed_or_removed_command_is_found_and_a_stronger_one_is_not() {
    use GateSource::{Configured, Detected};
    let first = plan(&[("tests", "npm run test", Detected), ("lint", "ruff check", Configured)]);
    let go = |gates: &[(&str, &str, GateSource)]| messages(changed(&[], &first, &plan(gates)));
    let lint = ("lint", "ruff check", Configured);
    assert_eq!(go(&[("tests", "npm run test", Detected), lint]), [""; 0]);
    assert_eq!(go(&[lint, ("unit", "npm  run test", Detected)]), [""; 0]);
    assert_eq!(go(&[("tests", "pnpm run test", Detected), lint]), [""; 0]);
    assert_eq!(go(&[("tests", "npm run test && npm run e2e", Configured), lint]), [""; 0]);
    assert_eq!(
        go(&[("tests", "true", Configured), lint]),
        ["gate `tests` no longer runs `npm run test` but `true`"]
    );
    assert_eq!(go(&[("tests", "npm run test && x || true", Configured), lint]).len(), 1);
    assert_eq!(go(&[("tests", "npm run test; true", Configured), lint]).len(), 1);
    assert_eq!(
        go(&[("tests", "npm run test", Detected)]),
        ["gate `lint` (`ruff check`) was removed"]
    );
    let replaced = changed(&[], &first, &plan(&[("x", "true", Configured)]));
    assert!(replaced.iter().all(|found| found.file.as_deref() == Some(FILE_NAME)));
}

fn behind_gate(command: &str, path: &str, before: &str, after: &str) -> Vec<String> {
    let plan = plan(&[("tests", command, GateSource::Detected)]);
    let text = |text: &str| (text != "-").then(|| text.to_owned());
    let file = Edited { path: path.to_owned(), before: text(before), after: text(after) };
    assert!(may_matter(path, &plan), "{path}");
    messages(changed(&[file], &plan, &plan))
}

#[test]
fn the_scripts_of_package_json_are_looked_at() {
    let scripts = |test: &str, more: &str| format!(r#"{{"scripts": {{"test": "{test}"{more}}}}}"#);
    let nested = "npm run unit && npm run e2e";
    let cases = [
        ("npm run test", ("jest", ""), ("jest || true", ""), 1),
        ("npm run test", ("jest", ""), ("exit 0", ""), 1),
        ("npm test", ("jest", ""), ("jest --testPathIgnorePatterns a", ""), 1),
        ("yarn test", ("jest", ""), ("true", ""), 1),
        ("npm run test", ("jest", ""), ("jest && eslint .", ""), 0),
        ("npm run test", ("jest", ""), ("tsc && jest", ""), 0),
        ("npm run test", ("jest", ""), ("jest  ", r#", "dev": "vite""#), 0),
        ("npm run test", ("jest", r#", "dev": "x""#), ("jest", ""), 0),
        ("npm run lint", ("jest", ""), ("true", ""), 0),
        ("npm run test", (nested, r#", "unit": "jest""#), (nested, r#", "unit": "echo ok""#), 1),
        ("npm run test", ("jest", r#", "pretest": "tsc""#), ("jest", ""), 1),
    ];
    for (command, before, after, expected) in cases {
        let (before, after) = (scripts(before.0, before.1), scripts(after.0, after.1));
        let found = behind_gate(command, "package.json", &before, &after);
        assert_eq!(found.len(), expected, "{command}: {before} → {after}: {found:?}");
    }
    let (before, after) = (scripts("jest", ""), scripts("true", ""));
    assert_eq!(behind_gate("npm run test", "web/package.json", &before, &after), [""; 0]);
    let found = behind_gate("cd web && npm run test", "web/package.json", &before, &after);
    assert_eq!(found, ["`test`, which gate `tests` runs, was changed from `jest` to `true`"]);
    let found = behind_gate("npm run test", "package.json", &before, "{}");
    assert_eq!(found, ["`test`, which gate `tests` runs, was removed"]);
}

#[test]
fn the_recipes_of_makefiles_are_looked_at() {
    let cases = [
        ("test:\n\tpytest\n", "test:\n\t-pytest\n", 1),
        ("test:\n\tpytest\n", "test:\n\ttrue\n", 1),
        ("test:\n\tpytest\n", "test:\n\tpytest || true\n", 1),
        ("test:\n\tpytest\n", "test:\n\tpytest\n\truff check\n", 0),
        ("test:\n\tpytest\n", "all: a\n\ntest: ## run\n\t@pytest\n", 0),
        ("test: b\n\tpytest\nb:\n\tcc a.c\n", "test: b\n\tpytest\nb:\n\tcc a.c b.c\n", 0),
        ("test: b\n\tpytest\nb:\n\tcc a.c\n", "test: c\n\tpytest\nc:\n\tcc a.c\n", 0),
        ("test: b\n\tpytest\nb:\n\tcc a.c\n", "test: b\n\tpytest\nb:\n\tcc a.c || true\n", 1),
        ("test: unit\n\nunit:\n\tpytest\n", "test: unit\n\nunit:\n\ttrue\n", 1),
        ("test: unit e2e\nunit:\n\ta\ne2e:\n\tb\n", "test: unit\nunit:\n\ta\ne2e:\n\tb\n", 1),
        ("test: unit\nunit:\n\ta\n", "test: unit e2e\nunit:\n\ta\ne2e:\n\tb\n", 0),
        ("test: test\n", "test: test\n", 0),
    ];
    for (before, after, expected) in cases {
        let found = behind_gate("make test", "Makefile", before, after);
        assert_eq!(found.len(), expected, "{before} → {after}: {found:?}");
    }
    let found = behind_gate("just test", "justfile", "test:\n    a\n", "test:\n    true\n");
    assert_eq!(found, ["`test`, which gate `tests` runs, was changed from `a` to `true`"]);
}

#[test]
fn scripts_named_in_a_command_are_looked_at() {
    let cases = [
        ("./check.sh", "check.sh", "set -e\na\n", "set -e\na || true\n", 1),
        ("bash ci/check.sh --all", "ci/check.sh", "set -e\na\n", "a\n", 1),
        ("./check.sh", "check.sh", "set -e\na\n", "set -e\na\nb\n# exit 0\n", 0),
        ("./check.sh", "check.sh", "set -e\na\n", "set -euo pipefail\nb\n", 0),
        ("./check.sh", "check.sh", "a\n", "-", 1),
        ("python tools/check.py", "tools/check.py", "run()\n", "run()\nsys.exit(0)\n", 1),
    ];
    for (command, path, before, after, expected) in cases {
        let found = behind_gate(command, path, before, after);
        assert_eq!(found.len(), expected, "{command}: {before} → {after}: {found:?}");
    }
}
