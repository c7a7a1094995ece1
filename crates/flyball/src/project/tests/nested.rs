//! Workspaces, and projects below the root that nothing else covers.

use super::{Machine, check};

const TEST: &str = r#"{"scripts":{"test":"x"}}"#;

#[test]
fn what_a_workspaces_root_has_no_script_for_is_run_in_its_members() {
    let root = r#"{"workspaces":["packages/*"],"scripts":{"lint":"x"}}"#;
    let berry = r#"{"workspaces":{"packages":["packages/*"]},"packageManager":"yarn@4.1.0"}"#;
    let member = ("packages/a/package.json", r#"{"scripts":{"test":"x","lint":"y"}}"#);
    let other = ("packages/b/package.json", r#"{"scripts":{"build":"x"}}"#);
    let all = &["npm", "pnpm", "yarn", "bun"];
    check(&[
        (
            all,
            &[("package.json", root), member, other],
            &[
                "lint: npm run lint",
                "tests: npm run test --workspaces --if-present",
                "build: npm run build --workspaces --if-present",
            ],
        ),
        (
            all,
            &[
                ("package.json", "{}"),
                (
                    "pnpm-workspace.yaml",
                    "packages:\n  # all\n  - 'packages/*'\n  - '!packages/b'\n",
                ),
                ("pnpm-lock.yaml", ""),
                member,
                other,
            ],
            &[
                "tests: pnpm -r --no-bail --if-present run test",
                "lint: pnpm -r --no-bail --if-present run lint",
            ],
        ),
        (
            all,
            &[("package.json", root), ("bun.lock", ""), member],
            &["lint: bun run lint", "tests: bun run --filter '*' test"],
        ),
        (
            all,
            &[("package.json", berry), ("yarn.lock", ""), ("packages/a/package.json", TEST), other],
            &[
                "tests: yarn workspaces foreach --all run test",
                "build: yarn workspaces foreach --all run build",
            ],
        ),
        // The first yarn stops at a member without the script.
        (
            all,
            &[("package.json", root), ("yarn.lock", ""), ("packages/a/package.json", TEST), other],
            &[
                "lint: yarn run lint",
                "tests: yarn --cwd packages/a run test",
                "build: yarn --cwd packages/b run build",
            ],
        ),
        (
            all,
            &[("package.json", root), ("yarn.lock", ""), ("packages/a/package.json", TEST)],
            &["lint: yarn run lint", "tests: yarn workspaces run test"],
        ),
        // The root's own script is the workspace's.
        (
            all,
            &[
                ("package.json", r#"{"workspaces":["packages/*"],"scripts":{"test":"x"}}"#),
                ("packages/a/package.json", TEST),
            ],
            &["tests: npm run test"],
        ),
    ]);
}

#[test]
fn members_whose_scripts_watch_are_called_one_by_one() {
    let watching = r#"{"scripts":{"test":"jest --watch"}}"#;
    let root = ("package.json", r#"{"workspaces":["packages/*"]}"#);
    let names: Vec<String> =
        (0..6).map(|number| format!("packages/p{number}/package.json")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), watching)).collect();
    let few = Machine::new(&["npm"], &[root, files[0], ("packages/x/package.json", TEST)]).gates();
    assert_eq!(few.len(), 2);
    assert!(few[0].starts_with("tests-packages-p0: cd packages/p0 && npm exec"), "{few:?}");
    assert_eq!(few[1], "tests-packages-x: cd packages/x && npm run test");
    let many = Machine::new(&["npm"], &[&[root], &files[..]].concat()).gates();
    assert_eq!(many.len(), 1);
    assert!(many[0].starts_with("tests: (cd packages/p0 && npm exec"), "{many:?}");
}

#[test]
fn a_project_that_the_roots_gates_of_its_kind_do_not_reach_has_its_tests_run() {
    let go_test = ("tools/a_test.go", "package tools");
    let go = ["tests: go test ./...", "lint: go vet ./...", "build: go build ./..."];
    let nested = "tests-tools: cd tools && go test ./...";
    let rust = ("macros/src/lib.rs", "#[test]\nfn a() {}");
    let [package, excluding] = ["[package]", "[package]\n[workspace]\nexclude = ['macros']"];
    let cargo = ["tests: cargo test", "build: cargo build"];
    let cargo_all = ["tests: cargo test --workspace", "build: cargo build --workspace"];
    let macros = "tests-macros: cd macros && cargo test";
    let mvn = ["tests: mvn -B test", "build: mvn -B -DskipTests package"];
    let api = "tests-api: cd api && mvn -B test";
    check(&[
        (&["go"], &[("go.mod", ""), ("tools/go.mod", ""), go_test], &[go[0], go[1], go[2], nested]),
        (&["go"], &[("go.mod", ""), ("tools/go.mod", ""), ("tools/a.go", "")], &go),
        (
            &["cargo"],
            &[("Cargo.toml", package), ("macros/Cargo.toml", ""), rust],
            &[cargo[0], cargo[1], macros],
        ),
        (
            &["cargo"],
            &[("Cargo.toml", "[package]\n[workspace]"), ("macros/Cargo.toml", ""), rust],
            &cargo_all,
        ),
        (
            &["cargo"],
            &[("Cargo.toml", excluding), ("macros/Cargo.toml", ""), rust],
            &[cargo_all[0], cargo_all[1], macros],
        ),
        (
            &["mvn"],
            &[
                ("pom.xml", "<module>api</module>"),
                ("api/pom.xml", ""),
                ("api/src/test/A.java", ""),
            ],
            &mvn,
        ),
        (
            &["mvn"],
            &[("pom.xml", ""), ("api/pom.xml", ""), ("api/src/test/A.java", "")],
            &[mvn[0], mvn[1], api],
        ),
        (
            &["npm"],
            &[
                ("package.json", r#"{"scripts":{"test":"x && npm --prefix web test"}}"#),
                ("web/package.json", TEST),
            ],
            &["tests: npm run test"],
        ),
    ]);
}

#[test]
fn pythons_projects_below_the_root_are_run_by_their_own_settings() {
    let ruff = ("pyproject.toml", "[tool.ruff]");
    let own = ("backend/pyproject.toml", "[tool.pytest.ini_options]\npythonpath = ['src']");
    let test = ("backend/tests/test_a.py", "def test_a(): pass");
    let all = &["pytest", "ruff"];
    check(&[
        (all, &[ruff, own, test], &["lint: ruff check .", "tests-backend: cd backend && pytest"]),
        (all, &[("pytest.ini", "[pytest]"), own, test], &["tests: pytest"]),
        (
            all,
            &[("pytest.ini", "[pytest]\ntestpaths = tests"), own, test],
            &["tests: pytest", "tests-backend: cd backend && pytest"],
        ),
    ]);
}

#[test]
fn a_script_that_does_not_go_into_a_folder_covers_nothing_there() {
    let root = r#"{"scripts":{"test":"node --test","dev":"cd web && npm run dev"}}"#;
    let here = ("package.json", root);
    let typed = r#"{"scripts":{"typecheck":"tsc --noEmit","test":"x"}}"#;
    check(&[
        (
            &["npm"],
            &[here, ("web/package.json", TEST)],
            &["tests: npm run test", "tests-web: cd web && npm run test"],
        ),
        // Its name is also that of a script.
        (
            &["npm"],
            &[here, ("test/package.json", TEST)],
            &["tests: npm run test", "tests-test: cd test && npm run test"],
        ),
        (
            &["npm"],
            &[
                ("package.json", r#"{"workspaces":["a","b"]}"#),
                ("a/package.json", typed),
                ("b/package.json", typed),
            ],
            &[
                "tests: npm run test --workspaces --if-present",
                "typecheck: npm run typecheck --workspaces --if-present",
            ],
        ),
    ]);
}

#[test]
fn projects_far_down_are_found_where_nothing_is_nearer() {
    check(&[
        (&["npm"], &[("a/b/c/package.json", TEST)], &["tests: cd a/b/c && npm run test"]),
        (
            &["npm", "go"],
            &[("a/b/package.json", TEST), ("a/b/x/package.json", TEST), ("a/c/d/go.mod", "")],
            &[
                "tests-a-b: cd a/b && npm run test",
                "tests-a-c-d: cd a/c/d && go test ./...",
                "lint-a-c-d: cd a/c/d && go vet ./...",
                "build-a-c-d: cd a/c/d && go build ./...",
            ],
        ),
    ]);
}

#[test]
fn packages_of_a_workspace_are_installed_at_its_root_by_its_manager() {
    let member = r#"{"scripts":{"test":"x"},"devDependencies":{"x":"1"}}"#;
    let root = ("package.json", r#"{"workspaces":["packages/*"]}"#);
    let files = [root, ("packages/a/package.json", member), ("Cargo.toml", "[package]")];
    assert_eq!(Machine::new(&["npm"], &files).remedies(), ["npm install"]);
    let installed = [&files[..], &[("node_modules/x/a.js", "")]].concat();
    assert_eq!(Machine::new(&["npm"], &installed).remedies(), [""; 0]);
    // A folder without a lock file of its own has its manager from above.
    let files = [("Cargo.toml", ""), ("pnpm-lock.yaml", ""), ("web/package.json", member)];
    let machine = Machine::new(&["pnpm"], &files);
    assert_eq!(machine.gates(), ["tests-web: cd web && pnpm run test"]);
    assert_eq!(machine.remedies(), ["(cd web && pnpm install --frozen-lockfile)"]);
}

#[test]
fn nx_runs_the_targets_its_projects_have() {
    let files = [
        ("nx.json", "{}"),
        ("package.json", "{}"),
        ("apps/a/project.json", r#"{"targets":{"test":{}}}"#),
    ];
    let machine = Machine::new(&["npm"], &files);
    let line = "node_modules/.bin/nx run-many -t test";
    let what = "`node_modules/.bin/nx` is not there -> npm install";
    assert_eq!(machine.hindrances(), [format!("{line}: {what}")]);
    machine.write("project/node_modules/.bin/nx", "", 0o755);
    assert_eq!(machine.gates(), [format!("tests: {line}")]);
}
