//! Detection in temporary folders, with programs that are only there by name.

mod kinds;
mod nested;
mod python;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

mod scripts;

use super::*;

/// A project made of files, on a machine with these programs.
struct Machine {
    folder: TempDir,
    programs: Programs,
}

impl Machine {
    fn new(programs: &[&str], files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let machine = Self { programs: Programs::in_folders([folder.path().join("bin")]), folder };
        for program in programs {
            machine.write(&format!("bin/{program}"), "", 0o755);
        }
        for (name, text) in files {
            machine.write(&format!("project/{name}"), text, 0o644);
        }
        machine
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn detect(&self) -> Detected {
        detect_with(&self.folder.path().join("project"), &self.programs)
    }

    /// `command: what -> remedy` for each gate that cannot run.
    fn hindrances(&self) -> Vec<String> {
        let told = |gate: &NotRunnable| {
            format!("{}: {} -> {}", gate.command, gate.hindrance, gate.hindrance.remedy())
        };
        self.detect().not_runnable.iter().map(told).collect()
    }

    /// What is to be typed for what is not installed.
    fn remedies(&self) -> Vec<String> {
        self.detect().not_installed.into_iter().map(|missing| missing.remedy).collect()
    }

    /// `name: command` for each gate.
    fn gates(&self) -> Vec<String> {
        let gates = self.detect().gates;
        gates.iter().map(|gate| format!("{}: {}", gate.name, gate.command)).collect()
    }
}

/// What a table row holds: programs, files, expected gates.
type Row<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], &'a [&'a str]);

#[track_caller]
fn check(rows: &[Row<'_>]) {
    for (programs, files, expected) in rows {
        assert_eq!(Machine::new(programs, files).gates(), *expected, "{files:?}");
    }
}

#[test]
fn rust_projects_are_tested_linted_and_built() {
    let cargo = &["cargo", "cargo-clippy", "cargo-nextest"];
    check(&[
        (
            cargo,
            &[("Cargo.toml", "[package]")],
            &[
                "tests: cargo test",
                "lint: cargo clippy --all-targets -- -D warnings",
                "build: cargo build",
            ],
        ),
        (
            cargo,
            &[("Cargo.toml", "[package]\n[workspace]"), (".config/nextest.toml", "")],
            &[
                "tests: cargo nextest run --workspace",
                "lint: cargo clippy --workspace --all-targets -- -D warnings",
                "build: cargo build --workspace",
            ],
        ),
        (
            &["cargo"],
            &[("Cargo.toml", "[package]"), (".config/nextest.toml", "")],
            &["tests: cargo test", "build: cargo build"],
        ),
    ]);
}

#[test]
fn node_projects_run_only_scripts_that_exist_by_their_package_manager() {
    let scripts =
        r#"{"scripts":{"test":"vitest","lint":"eslint .","build":"tsc","check-types":"tsc"}}"#;
    let managers = &["npm", "pnpm", "yarn", "bun"];
    let placeholder = r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
    check(&[
        (
            managers,
            &[("package.json", scripts), ("pnpm-lock.yaml", "")],
            &[
                "tests: pnpm exec sh -c 'vitest run'",
                "lint: pnpm run lint",
                "build: pnpm run build",
                "typecheck: pnpm run check-types",
            ],
        ),
        (managers, &[("package.json", r#"{"scripts":{"test":"x"}}"#)], &["tests: npm run test"]),
        (
            managers,
            &[("package.json", r#"{"scripts":{"test":"x"}}"#), ("yarn.lock", "")],
            &["tests: yarn run test"],
        ),
        (
            managers,
            &[("package.json", r#"{"scripts":{"test":"x"}}"#), ("bun.lockb", "")],
            &["tests: bun run test"],
        ),
        (
            managers,
            &[("package.json", r#"{"packageManager":"pnpm@9.1","scripts":{"lint":"x"}}"#)],
            &["lint: pnpm run lint"],
        ),
        (
            managers,
            &[("package.json", r#"{"scripts":{"types":"tsc --noEmit"}}"#)],
            &["typecheck: npm run types"],
        ),
        (
            managers,
            &[("package.json", r#"{"scripts":{"types":"tsc -p . --emitDeclarationOnly"}}"#)],
            &[],
        ),
        (managers, &[("package.json", r#"{"scripts":{"types":"graphql-codegen"}}"#)], &[]),
        (managers, &[("package.json", placeholder)], &[]),
        (managers, &[("package.json", "not json")], &[]),
    ]);
}

#[test]
fn scripts_that_watch_or_mend_are_called_in_the_form_that_checks_once() {
    let managers = &["npm", "pnpm", "yarn", "bun", "make", "just", "ruff", "pytest", "vitest"];
    let both = r#"{"scripts":{"test":"jest --watch","lint":"eslint --fix .","build":"nodemon x"}}"#;
    check(&[
        (
            managers,
            &[("package.json", both)],
            &["tests: npm exec -c jest", "lint: npm exec -c 'eslint .'"],
        ),
        (
            managers,
            &[("package.json", both), ("bun.lock", "")],
            &["tests: bun run sh -c jest", "lint: bun run sh -c 'eslint .'"],
        ),
        (
            managers,
            &[("Makefile", "lint:\n\t@ruff check --fix .\ntest: lint\n\tpytest $(ARGS)\n")],
            &["tests: ruff check . && pytest $ARGS", "lint: ruff check ."],
        ),
        (managers, &[("justfile", "test:\n  vitest\n")], &["tests: vitest run"]),
        (
            managers,
            &[("package.json", r#"{"scripts":{"format":"prettier --write ."}}"#)],
            &["format: npm exec -c 'prettier --check .'"],
        ),
        (managers, &[("package.json", r#"{"scripts":{"format":"own-formatter"}}"#)], &[]),
    ]);
    let detected = Machine::new(managers, &[("package.json", both)]).detect();
    let [unfit] = &detected.not_runnable[..] else { panic!("one cannot be a gate") };
    assert_eq!(unfit.hindrance.to_string(), "it waits for changes and never ends");
    assert_eq!(unfit.command, "npm run build");
}

#[test]
#[expect(clippy::type_complexity, reason = "a table of a test")]
fn what_is_not_installed_is_named_with_the_line_that_brings_it() {
    let package = r#"{"scripts":{"test":"x"},"devDependencies":{"x":"1"}}"#;
    let rows: [(&[&str], &[(&str, &str)], &[&str]); 9] = [
        (&["npm"], &[("package.json", package), ("package-lock.json", "")], &["npm ci"]),
        (&["npm"], &[("package.json", package)], &["npm install"]),
        (&["npm"], &[("package.json", package), ("node_modules/x/a.js", "")], &[]),
        (&["npm"], &[("package.json", r#"{"scripts":{"test":"x"}}"#)], &[]),
        (
            &["pnpm"],
            &[("web/package.json", package), ("web/pnpm-lock.yaml", "")],
            &["(cd web && pnpm install --frozen-lockfile)"],
        ),
        (&["uv"], &[("pyproject.toml", ""), ("uv.lock", ""), ("test_a.py", "")], &["uv sync"]),
        (
            &["python3"],
            &[("requirements.txt", "pytest\n"), ("test_a.py", "")],
            &["python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"],
        ),
        (&["python3", "pytest"], &[("requirements.txt", "x\n"), ("test_a.py", "")], &[]),
        (&["python3"], &[("requirements.txt", "# none\n"), ("test_a.py", "")], &[]),
    ];
    for (programs, files, expected) in rows {
        let found = Machine::new(programs, files).detect().not_installed;
        let lines: Vec<&str> = found.iter().map(|missing| missing.remedy.as_str()).collect();
        assert_eq!(lines, expected, "{files:?}");
    }
}

#[test]
fn tests_further_down_are_found_and_run_in_the_projects_own_environment() {
    let all = &["pytest", "uv", "poetry", "pdm", "hatch", "pipenv"];
    check(&[
        (all, &[("pyproject.toml", ""), ("tests/unit/test_a.py", "")], &["tests: pytest"]),
        (
            all,
            &[("pyproject.toml", "[tool.poetry]\n"), ("src/shop/tests/test_a.py", "")],
            &["tests: poetry run pytest"],
        ),
        (
            all,
            &[("pyproject.toml", "[tool.hatch.envs.default]\n"), ("test_a.py", "")],
            &["tests: hatch run pytest"],
        ),
        (
            all,
            &[("Pipfile.lock", ""), ("Pipfile", ""), ("test_a.py", "")],
            &["tests: pipenv run pytest"],
        ),
        (all, &[("pyproject.toml", ""), ("node_modules/x/test_a.py", "")], &[]),
    ]);
    let machine =
        Machine::new(&["pytest"], &[("uv.lock", ""), ("pyproject.toml", ""), ("test_a.py", "")]);
    let missing = machine.detect().not_runnable;
    assert_eq!(missing[0].hindrance.to_string(), "`uv` is not on PATH");
    assert_eq!(missing[0].hindrance.remedy(), "pipx install uv && uv sync");
}

#[test]
fn every_module_of_a_go_workspace_is_checked() {
    let work = "go 1.22\n\nuse ./tools // own\nuse (\n\t./api\n\t\"./lib/\"\n)\n";
    check(&[(
        &["go"],
        &[("go.work", work), ("api/go.mod", ""), ("tools/go.mod", "")],
        &[
            "tests: go test ./tools/... ./api/... ./lib/...",
            "lint: go vet ./tools/... ./api/... ./lib/...",
            "build: go build ./tools/... ./api/... ./lib/...",
        ],
    )]);
    // One the workspace leaves out is found by the go tool only where that is told to look at it alone.
    let machine = Machine::new(
        &["go"],
        &[("go.work", "use ./a\n"), ("a/go.mod", ""), ("c/go.mod", ""), ("c/c_test.go", "")],
    );
    let found = machine.gates();
    assert!(found.contains(&"tests-c: cd c && GOWORK=off go test ./...".to_owned()), "{found:?}");
}

#[test]
fn projects_of_another_kind_below_the_root_bring_their_gates() {
    let script = r#"{"scripts":{"test":"x"}}"#;
    check(&[
        (
            &["cargo", "npm"],
            &[("Cargo.toml", "[package]"), ("web/package.json", script), ("sub/Cargo.toml", "")],
            &["tests: cargo test", "build: cargo build", "tests-web: cd web && npm run test"],
        ),
        (
            &["npm", "pytest"],
            &[("apps/site/package.json", script), ("services/api/pytest.ini", "[pytest]")],
            &[
                "tests-apps-site: cd apps/site && npm run test",
                "tests-services-api: cd services/api && pytest",
            ],
        ),
        // What the root already calls, examples and documentation are not.
        (
            &["npm", "make"],
            &[
                ("Makefile", "test:\n\tcd web && npm test\n"),
                ("docs/package.json", script),
                ("examples/a/package.json", script),
            ],
            &["tests: make test"],
        ),
    ]);
}

#[test]
fn python_tools_are_run_where_they_are_configured() {
    let tools = &["pytest", "tox", "ruff", "flake8", "mypy", "uv"];
    check(&[
        (
            tools,
            &[(
                "pyproject.toml",
                "[tool.pytest.ini_options]\n[tool.ruff.lint]\n[tool.mypy]\nfiles = \"src\"",
            )],
            &["tests: pytest", "lint: ruff check .", "typecheck: mypy"],
        ),
        (
            tools,
            &[("setup.cfg", "[flake8]\n[mypy]\n"), ("tests/test_a.py", "")],
            &["tests: pytest", "lint: flake8", "typecheck: mypy ."],
        ),
        (tools, &[("tox.ini", "[tox]"), ("tests/test_a.py", "")], &["tests: tox"]),
        (tools, &[("tox.ini", "[tox]\n[pytest]\n")], &["tests: pytest"]),
        (tools, &[("requirements.txt", "")], &[]),
        (
            tools,
            &[("pyproject.toml", ""), ("a_test.py", ""), ("uv.lock", "")],
            &["tests: uv run pytest"],
        ),
    ]);
    let unittest = "import unittest\nclass A(unittest.TestCase): pass";
    let files = &[("pyproject.toml", ""), ("tests/test_a.py", unittest)];
    check(&[
        (&["python3"], files, &["tests: python3 -m unittest discover -s tests"]),
        (&["python3", "pytest"], files, &["tests: pytest"]),
    ]);
    check(&[
        (
            &["python3"],
            &[("a.py", ""), ("test_a.py", unittest)],
            &["tests: python3 -m unittest discover -s ."],
        ),
        (&["python3", "pytest"], &[("tests/test_a.py", "")], &["tests: pytest"]),
        (
            &["python3", "pytest", "make"],
            &[("Makefile", "test:\n\t./run\n"), ("test_a.py", "")],
            &["tests: make test"],
        ),
        (&["python3", "pytest"], &[("a.py", "")], &[]),
    ]);
    let machine = Machine::new(&[], &[("pyproject.toml", "[tool.ruff]"), ("test_a.py", "")]);
    machine.write("project/.venv/bin/pytest", "", 0o755);
    assert_eq!(machine.gates(), ["tests: .venv/bin/pytest"]);
}

#[test]
fn go_maven_and_gradle_are_known() {
    check(&[
        (
            &["go"],
            &[("go.mod", "")],
            &["tests: go test ./...", "lint: go vet ./...", "build: go build ./..."],
        ),
        (
            &["go", "golangci-lint"],
            &[("go.mod", ""), (".golangci.yml", "")],
            &["tests: go test ./...", "lint: golangci-lint run", "build: go build ./..."],
        ),
        (
            &["mvn"],
            &[("pom.xml", "")],
            &["tests: mvn -B test", "build: mvn -B -DskipTests package"],
        ),
        (
            &["gradle"],
            &[("build.gradle.kts", "")],
            &["tests: gradle test", "build: gradle assemble"],
        ),
    ]);
    let machine = Machine::new(&["gradle"], &[("build.gradle", "")]);
    machine.write("project/gradlew", "", 0o755);
    assert_eq!(machine.gates(), ["tests: ./gradlew test", "build: ./gradlew assemble"]);
}

#[test]
fn makefiles_and_justfiles_give_the_targets_that_are_checks() {
    let make = "CC := gcc\n.PHONY: test lint\ntest lint: dep\n\tbuild: no\n# build: no\nclean:\n";
    let just = "set shell := ['sh']\n\n@test *args:\n  x\nlint target:\n  x\nbuild: test\n";
    check(&[
        (&["make"], &[("Makefile", make)], &["tests: make test", "lint: make lint"]),
        (&["make"], &[("Makefile", "check:\n")], &["tests: make check"]),
        (&["make"], &[("Makefile", "test:\ncheck: test\n")], &["tests: make test"]),
        (
            &["make"],
            &[("Makefile", "test:\ncheck: test\n\t./more.sh\n")],
            &["tests: make test", "check: make check"],
        ),
        (&["just"], &[("justfile", just)], &["tests: just test", "build: just build"]),
    ]);
}

#[test]
fn several_kinds_at_once_keep_their_gates_under_unique_names() {
    let machine = Machine::new(
        &["cargo", "npm", "make"],
        &[
            ("Cargo.toml", "[package]"),
            ("package.json", r#"{"scripts":{"test":"x","build":"y"}}"#),
            ("Makefile", "test:\n\tcargo test\nlint:\nbuild:\n"),
        ],
    );
    assert_eq!(
        machine.gates(),
        [
            "tests: cargo test",
            "build: cargo build",
            "tests-node: npm run test",
            "build-node: npm run build",
            "lint: make lint",
        ]
    );
    let kinds = [ProjectKind::Rust, ProjectKind::Node, ProjectKind::Make];
    assert_eq!(machine.detect().kinds, kinds);
}

#[test]
fn without_a_project_at_the_root_the_folders_below_are_looked_at() {
    let script = r#"{"scripts":{"test":"x"}}"#;
    check(&[
        (
            &["cargo", "npm"],
            &[
                ("back end/Cargo.toml", ""),
                ("web/package.json", script),
                ("node_modules/package.json", script),
                (".x/package.json", script),
            ],
            &[
                "tests-back-end: cd 'back end' && cargo test",
                "build-back-end: cd 'back end' && cargo build",
                "tests-web: cd web && npm run test",
            ],
        ),
        (
            &["npm"],
            &[("web/package.json", script), ("docs/x.md", "")],
            &["tests: cd web && npm run test"],
        ),
        (
            &["npm"],
            &[("package.json", "{}"), ("web/package.json", script)],
            &["tests: cd web && npm run test"],
        ),
        (
            &["npm"],
            &[("package.json", script), ("web/package.json", script)],
            &["tests: npm run test", "tests-web: cd web && npm run test"],
        ),
    ]);
}

#[test]
fn a_gate_whose_program_is_missing_is_named_but_not_proposed() {
    let machine = Machine::new(&["cargo"], &[("Cargo.toml", "[package]")]);
    let detected = machine.detect();
    assert_eq!(detected.gates.len(), 2);
    let [missing] = &detected.not_runnable[..] else { panic!("one is missing") };
    assert_eq!(missing.hindrance, Hindrance::NoProgram("cargo-clippy".to_owned()));
    let pytest = Machine::new(&[], &[("pytest.ini", "[pytest]")]).detect();
    assert_eq!(pytest.not_runnable[0].command, "pytest");
    assert_eq!(pytest.kinds, [ProjectKind::Python]);
}

#[test]
fn a_makefile_that_calls_the_tools_adds_only_what_they_leave_open() {
    let calling = &[("Cargo.toml", "[package]"), ("Makefile", "test:\n\tcargo test\nlint:\n")];
    let own = &[("Cargo.toml", "[package]"), ("Makefile", "test:\n\t./run-e2e\n")];
    let cargo = ["tests: cargo test", "build: cargo build"];
    check(&[
        (&["cargo", "make"], calling, &[cargo[0], cargo[1], "lint: make lint"]),
        (&["cargo", "make"], own, &[cargo[0], cargo[1], "tests-make: make test"]),
    ]);
}

#[test]
fn time_limits_follow_the_role() {
    let machine = Machine::new(&["cargo", "cargo-clippy"], &[("Cargo.toml", "[package]")]);
    let limits: Vec<u64> =
        machine.detect().gates.iter().map(|gate| gate.timeout.get() / 1000).collect();
    assert_eq!(limits, [300, 120, 300]);
}

#[test]
fn an_empty_folder_is_no_project() {
    assert_eq!(Machine::new(&["cargo"], &[("README.md", "")]).detect(), Detected::default());
}

#[test]
fn the_repository_is_the_nearest_folder_with_git_in_it() {
    let machine =
        Machine::new(&[], &[(".git", "gitdir: x"), ("a/b/c.txt", ""), ("a/flyball.toml", "")]);
    let root = machine.folder.path().join("project");
    assert_eq!(find_repository(&root.join("a/b")), Some(root.clone()));
    assert_eq!(find_root(&root.join("a/b")), root);
    fs::remove_file(root.join(".git")).unwrap();
    assert_eq!(find_root(&root.join("a/b")), root.join("a"));
}
