//! Which changes behind a gate weaken it.

use flyball_core::Millis;
use flyball_core::gate::TamperFinding;

use super::*;
use crate::config::CommandLine;
use crate::gate::tamper::tests::of_plans;

fn plan(gates: &[(&str, &str, GateSource)]) -> GatePlan {
    let gate = |(name, command, source): &(&str, &str, GateSource)| {
        let command = CommandLine::Shell((*command).to_owned());
        Gate { source: *source, ..Gate::new(*name, command, Millis::from_secs(1)) }
    };
    GatePlan::of(gates.iter().map(gate).collect()).unwrap()
}

fn messages(found: Vec<TamperFinding>) -> Vec<String> {
    found.into_iter().map(|changed| changed.finding.message).collect()
}

fn file(path: &str, before: &str, after: &str) -> Edited {
    let text = |text: &str| (text != "-").then(|| text.to_owned());
    Edited { path: path.to_owned(), before: text(before), after: text(after) }
}

/// What is found when files change behind a gate. `=` stands for: as before.
fn behind_files(command: &str, files: &[(&str, &str, &str)]) -> Vec<String> {
    let plan = plan(&[("tests", command, GateSource::Detected)]);
    let edited: Vec<Edited> = files
        .iter()
        .map(|(path, before, after)| file(path, before, if *after == "=" { before } else { after }))
        .collect();
    messages(of_plans(&edited, &plan, &plan))
}

#[test]
fn a_detected_command_may_come_to_look_for_tests_in_more_places() {
    let discover = |rest: &str| format!("python3 -m unittest discover {rest}");
    for (before, now) in [
        (discover("-s a -t ."), discover("-s .")),
        (discover("-s src/shop -t src"), discover("-s src")),
        (discover("-s tests"), discover("-s tests -p '*test*.py'")),
        (discover("-s a -t . -p '*_test.py'"), discover("-s . -p '*test*.py'")),
        ("go test ./a/...".to_owned(), "go test ./a/... ./b/...".to_owned()),
    ] {
        assert!(same(&before, &now), "{now}");
        assert!(!same(&now, &before), "{before} is less");
    }
    for now in [
        "-s b -t .",
        "-s a",
        "-s a -t . -p 'no*.py'",
        "-s . -k nothing",
        "-s . || true",
        "-s .;true",
        "-s . -p '*test*.py';",
    ] {
        assert!(!same(&discover("-s a -t ."), &discover(now)), "{now}");
    }
    assert!(!same("go test ./a/...", "go test ./a/... -run nothing"));
    assert!(!same("go test ./a/...", "go test ./a/... ./b;true"));
    assert!(!same(&discover("-s a -t ."), "true -m unittest discover -s ."));
}

#[test]
fn a_changed_or_removed_command_is_found_and_a_stronger_one_is_not() {
    use GateSource::{Configured, Detected};
    let first = plan(&[("tests", "npm run test", Detected), ("lint", "ruff check", Configured)]);
    let go = |gates: &[(&str, &str, GateSource)]| messages(of_plans(&[], &first, &plan(gates)));
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
    let replaced = of_plans(&[], &first, &plan(&[("x", "true", Configured)]));
    assert!(replaced.iter().all(|found| found.finding.file.as_deref() == Some(FILE_NAME)));
    let restore = vec![Restore::File { path: FILE_NAME.to_owned() }];
    assert!(replaced.iter().all(|found| found.restore == restore));
}

fn behind_gate(command: &str, path: &str, before: &str, after: &str) -> Vec<String> {
    behind_files(command, &[(path, before, after)])
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
        ("./check.sh", "check.sh", "set -e\na\n", "set -e\n\na  \n# exit 0\n", 0),
        ("./check.sh", "check.sh", "set -e\na\n", "set -e\nb\n", 1),
        ("./check.sh", "check.sh", "a\n", "", 1),
        ("./check.sh", "check.sh", "a\n", "-", 1),
        ("python tools/check.py", "tools/check.py", "run()\n", "run()\nsys.exit(0)\n", 2),
        ("python tools/check.py", "tools/check.py", "run()\n", "run()\nmore()\n", 0),
        ("python tools/check.py", "tools/check.py", "run()\n", "print('ok')\n", 1),
        // The work itself: what a gate only looks at.
        ("grep -q done a.txt", "a.txt", "x\n", "done\n", 0),
        ("python app.py", "app.py", "a()\n", "b()\n", 0),
        ("./greet.sh | grep -q hi", "greet.sh", "echo\n", "echo hi\n", 0),
        ("test \"$(./greet.sh)\" = hi", "greet.sh", "echo\n", "echo hi\n", 0),
        ("./greet.sh > out && diff out want", "greet.sh", "echo\n", "echo hi\n", 0),
        ("./made.sh", "made.sh", "-", "exit 0\n", 0),
    ];
    for (command, path, before, after, expected) in cases {
        let found = behind_gate(command, path, before, after);
        assert_eq!(found.len(), expected, "{command}: {before} → {after}: {found:?}");
    }
}

#[test]
fn scripts_behind_scripts_are_followed() {
    let chain = |last: &str| {
        behind_files(
            "sh a.sh",
            &[
                ("a.sh", "cd ci\n. ./b.sh\n", "="),
                ("ci/b.sh", "python3 run_tests.py\n", "="),
                ("ci/run_tests.py", "subprocess.run(['sh', 'deep/d.sh'])\n", "="),
                ("ci/deep/d.sh", "pytest\n", last),
            ],
        )
    };
    assert_eq!(chain("="), [""; 0]);
    assert_eq!(chain("true\n"), ["`ci/deep/d.sh`, which gate `tests` runs, was changed"]);
    let through_make = behind_files(
        "make test",
        &[("Makefile", "T = t.sh\ntest:\n\t@sh $(T)\n", "="), ("t.sh", "a\n", "true\n")],
    );
    assert_eq!(through_make.len(), 1, "{through_make:?}");
    let package = r#"{"scripts":{"test":"node scripts/test.js"}}"#;
    let through_npm = behind_files(
        "npm test",
        &[("package.json", package, "="), ("scripts/test.js", "check()\n", "ok()\n")],
    );
    assert_eq!(through_npm.len(), 1, "{through_npm:?}");
}

#[test]
#[expect(clippy::type_complexity, reason = "a table of a test")]
fn what_makes_another_makefile_count_is_found() {
    let plain = "test:\n\tpytest\n";
    let cases: [(&[(&str, &str, &str)], usize); 5] = [
        (&[("Makefile", plain, "="), ("GNUmakefile", "-", "test:\n\ttrue\n")], 2),
        (&[("Makefile", plain, "="), ("GNUmakefile", "-", "include Makefile\n")], 1),
        (&[("Makefile", plain, "test:\n\tpytest\nmore:\n\techo\n")], 0),
        (&[("Makefile", plain, "="), ("test", "-", "x")], 1),
        (
            &[
                ("Makefile", "include v.mk\ntest:\n\t$(R)\n", "="),
                ("v.mk", "R = pytest\n", "R = true\n"),
            ],
            1,
        ),
    ];
    for (files, expected) in cases {
        let found = behind_files("make test", files);
        assert_eq!(found.len(), expected, "{files:?}: {found:?}");
    }
}
