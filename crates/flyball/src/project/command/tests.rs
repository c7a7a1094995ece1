//! Lines that are a gate, those that are none, and what is run in their place.

use std::fs;

use super::*;

fn of(line: &str) -> String {
    match as_gate(line, &Place::default()) {
        AsGate::Fits => "fits".to_owned(),
        AsGate::Instead(line, Fault::Watches) => format!("once: {line}"),
        AsGate::Instead(line, _) => format!("check: {line}"),
        AsGate::Never(fault) => format!("never: {fault:?}"),
    }
}

#[test]
fn watchers_are_given_in_the_form_that_ends() {
    let rows = [
        ("vitest", "once: vitest run"),
        ("vitest --coverage", "once: vitest run --coverage"),
        ("vitest watch src", "once: vitest run src"),
        ("vitest run", "fits"),
        ("vitest --run", "fits"),
        ("jest --watch", "once: jest"),
        ("jest --watchAll --ci", "once: jest --ci"),
        ("jest -w 2", "fits"),
        ("tsc -w --noEmit", "once: tsc --noEmit"),
        ("tsc --noEmit && vitest", "once: tsc --noEmit && vitest run"),
        ("NODE_ENV=test mocha --watch", "once: NODE_ENV=test mocha"),
        ("cross-env CI=1 ng test", "once: cross-env CI=1 ng test --watch=false"),
        ("karma start karma.conf.js", "once: karma start karma.conf.js --single-run"),
        ("cypress open", "once: cypress run"),
        ("pytest -f tests", "once: pytest tests"),
        ("nodemon -x 'npm test'", "never: Watches"),
        ("vite", "never: Watches"),
        ("vite build", "fits"),
        ("react-scripts test", "fits"),
        ("jest --watch | tee log", "never: AlwaysGreen"),
        ("env-cmd -f .env jest --watch", "once: env-cmd -f .env jest"),
        ("cd web && jest --watch", "once: cd web && jest"),
        (
            "export FOO=1 && pushd web && vitest && popd",
            "once: export FOO=1 && pushd web && vitest run && popd",
        ),
        ("set -e; jest --watch", "once: set -e; jest"),
        ("(cd web && jest --watch)", "once: (cd web && jest)"),
        ("npx vitest", "once: npx vitest run"),
        ("bunx jest --watch", "once: bunx jest"),
        ("npx tsc --watch", "once: npx tsc --noEmit"),
        ("tsc -b -w", "once: tsc -b"),
        ("npm run unit -- --watch", "once: npm run unit"),
        ("yarn run jest --watch", "once: yarn run jest"),
        ("pnpm exec jest --watch", "once: pnpm exec jest"),
        ("npm exec jest -- --watch", "once: npm exec jest"),
        ("npm exec -- jest --watchAll", "once: npm exec -- jest"),
        ("jest '--watch'", "once: jest"),
        ("sh -c 'jest --watch src'", "once: sh -c 'jest src'"),
        ("npm exec -c 'jest --watch src'", "once: npm exec -c 'jest src'"),
        ("wtr --watch", "once: wtr"),
        ("react-scripts test --watchAll", "once: react-scripts test"),
        ("react-scripts test --watchAll=false", "fits"),
        ("nx run-many -t test --watch", "once: nx run-many -t test"),
        ("turbo watch test", "once: turbo run test"),
        ("svelte-check --watch", "once: svelte-check"),
        ("vite build --watch", "once: vite build"),
        ("ng build --watch", "once: ng build"),
        ("onchange src -- jest", "never: Watches"),
        ("parcel watch", "never: Watches"),
        ("gulp watch", "never: Watches"),
        ("ts-node-dev --respawn a.ts", "never: Watches"),
        ("node --watch-path=src a.js", "never: Watches"),
        ("dotnet watch test", "once: dotnet test"),
        ("mix test.watch", "once: mix test"),
        ("./gradlew test --continuous", "once: ./gradlew test"),
        ("sbt ~test", "once: sbt test"),
        ("watch -n1 make test", "never: Watches"),
        ("find . | entr make", "never: Watches"),
        ("tail -f log", "never: Watches"),
        ("concurrently 'jest --watch' 'x'", "never: Watches"),
        ("python3 -m pytest_watch", "never: Watches"),
        ("jest --watch 2>&1 > log", "once: jest 2>&1 > log"),
        ("echo --watch && x", "fits"),
        ("x \"unclosed", "fits"),
    ];
    for (line, expected) in rows {
        assert_eq!(of(line), expected, "{line}");
    }
}

#[test]
fn fixers_are_given_in_the_form_that_checks() {
    let rows = [
        ("eslint . --fix", "check: eslint ."),
        ("eslint .", "fits"),
        ("prettier --write .", "check: prettier --check ."),
        ("prettier -c .", "fits"),
        ("prettier . --write --list-different", "check: prettier --check ."),
        ("eslint --fix . && prettier -w .", "check: eslint . && prettier --check ."),
        ("biome check --write ./src", "check: biome check ./src"),
        ("ruff check --fix .", "check: ruff check ."),
        ("ruff format", "check: ruff format --check"),
        ("black src", "check: black --check src"),
        ("black --check src", "fits"),
        ("cargo fmt --all", "check: cargo fmt --check --all"),
        ("cargo fmt -- --check", "fits"),
        ("cargo clippy --fix --allow-dirty -- -D warnings", "check: cargo clippy -- -D warnings"),
        ("cargo fix", "never: Edits"),
        ("gofmt -w .", "check: test -z \"$(gofmt -l .)\""),
        ("rustfmt src/a.rs", "check: rustfmt --check src/a.rs"),
        ("yapf -i -r src", "check: yapf -r src --diff"),
        ("sqlfluff fix models", "check: sqlfluff lint models"),
        ("next lint --fix", "check: next lint"),
        ("npx prettier --write . ", "check: npx prettier --check ."),
        ("npx --yes prettier -w .", "check: npx --yes prettier --check ."),
        ("npx eslint . --fix", "check: npx eslint ."),
        ("yarn eslint . --fix", "check: yarn eslint ."),
        ("npm run lint:eslint -- --fix", "check: npm run lint:eslint"),
        ("eslint --fix=true .", "check: eslint ."),
        ("eslint --fix=false .", "fits"),
        ("eslint src --fix; prettier --write src", "check: eslint src; prettier --check src"),
        ("vue-cli-service lint", "check: vue-cli-service lint --no-fix"),
        ("vue-cli-service lint --no-fix", "fits"),
        ("ng lint --fix", "check: ng lint"),
        ("gts fix", "check: gts lint"),
        ("python3 -m black .", "check: python3 -m black --check ."),
        ("poetry run black .", "check: poetry run black --check ."),
        ("uv run --group dev ruff check --fix .", "check: uv run --group dev ruff check ."),
        ("bundle exec rubocop --autocorrect", "check: bundle exec rubocop"),
        ("go fmt ./...", "check: test -z \"$(gofmt -l .)\""),
        ("deno fmt", "check: deno fmt --check"),
        ("c8 eslint --fix", "check: c8 eslint"),
        ("clang-format -i a.c", "check: clang-format --dry-run -Werror a.c"),
        ("git ls-files | xargs -0 prettier -w", "check: git ls-files | xargs -0 prettier --check"),
        ("jest -u", "check: jest"),
        ("jest --ci --updateSnapshot", "check: jest --ci"),
        ("tools/vendor/bin/phpcbf src", "check: tools/vendor/bin/phpcs src"),
        ("cargo fmt > log", "check: cargo fmt --check > log"),
        ("pre-commit run --all-files", "fits"),
    ];
    for (line, expected) in rows {
        assert_eq!(of(line), expected, "{line}");
    }
}

#[test]
fn what_is_green_whatever_happens_is_no_gate() {
    let never =
        ["true", ":", "exit 0", "echo no tests", "jest; echo done", "jest || true", "x | tail -5"];
    for line in never {
        assert_eq!(of(line), "never: AlwaysGreen", "{line}");
    }
    let fits = [
        "set -o pipefail; x | tail -5",
        "x | grep y",
        "set -e; jest; echo done",
        "jest && echo",
        "test -f x || exit 1; echo",
        "exit 1",
    ];
    for line in fits.into_iter().chain(["(jest); echo", "if jest; then echo; fi", ""]) {
        assert_eq!(of(line), "fits", "{line}");
    }
}

#[test]
fn what_a_name_stands_for_is_looked_at_where_the_line_runs() {
    let folder = tempfile::tempdir().unwrap();
    let scripts = r#"{"scripts":{"test":"npm run unit","unit":"jest --watch","pretest":"mkdir x",
        "lint":"npm run fix","fix":"eslint --fix .","ok":"jest","all":"run-s lint ok",
        "none":"true","two":"npm run none && npm run ok","me":"npm run me"}}"#;
    fs::create_dir(folder.path().join("web")).unwrap();
    fs::write(folder.path().join("web/package.json"), scripts).unwrap();
    fs::write(folder.path().join("package.json"), r#"{"workspaces":["web"]}"#).unwrap();
    let make = "PY := python3\nlint: fmt\n\t@$(PY) -m black $(SRC) .\nfmt:\n\tcargo fmt\n\
        test:\n\t$(MAKE) fmt\n\tcargo test\nwatch:\n\tpytest-watch\nvar:\n\tblack $(shell ls)\n\
        check: test lint\nfine:\n\tcd web && ls\n\tcd web; pwd\n";
    fs::write(folder.path().join("Makefile"), make).unwrap();
    let rows = [
        (
            "cd web && npm test",
            "once: cd web && npm exec -c 'unset npm_config_call && npm run pretest && jest'",
        ),
        ("cd web && npm run ok -- --watch", "once: cd web && npm exec -c jest"),
        ("cd web && CI=1 npm run lint", "check: cd web && CI=1 npm exec -c 'eslint .'"),
        ("cd web && npm run all", "check: cd web && npm exec -c 'eslint . && jest'"),
        ("cd web && npm run none", "never: AlwaysGreen"),
        ("cd web && npm run two", "fits"),
        ("cd web && npm run me", "fits"),
        ("npm --prefix web run lint", "check: cd web && npm exec -c 'eslint .'"),
        ("npm run lint --prefix=web", "check: cd web && npm exec -c 'eslint .'"),
        ("make -C . lint", "check: cd . && (cargo fmt --check && python3 -m black --check $SRC .)"),
        ("npm run lint -w web", "never: Edits"),
        ("npm run lint --workspaces", "never: Edits"),
        ("npm run ok --workspaces --if-present", "fits"),
        ("pnpm -r run lint", "never: Edits"),
        ("pnpm --filter web lint", "never: Edits"),
        ("yarn workspaces run lint", "never: Edits"),
        ("yarn workspace web lint", "never: Edits"),
        ("npm test", "fits"),
        ("make lint", "check: cargo fmt --check && python3 -m black --check $SRC ."),
        ("make test", "check: cargo fmt --check && cargo test"),
        ("make watch", "never: Watches"),
        ("make var", "never: Edits"),
        ("make fine", "fits"),
        (
            "make check",
            "check: (cargo fmt --check && cargo test) && \
             (cargo fmt --check && python3 -m black --check $SRC .)",
        ),
    ];
    for (line, expected) in rows {
        let found = match as_gate(line, &Place::of(folder.path())) {
            AsGate::Fits => "fits".to_owned(),
            AsGate::Instead(line, Fault::Watches) => format!("once: {line}"),
            AsGate::Instead(line, _) => format!("check: {line}"),
            AsGate::Never(fault) => format!("never: {fault:?}"),
        };
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn targets_that_need_each_other_in_every_order_come_to_an_end() {
    let names: Vec<String> = (0..30).map(|number| format!("t{number}")).collect();
    let all = names.join(" ");
    let rules: Vec<String> = names.iter().map(|name| format!("{name}: {all}\n\tx\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Makefile"), rules.concat()).unwrap();
    assert_eq!(as_gate("make t0", &Place::of(folder.path())), AsGate::Fits);
}

#[test]
fn the_programs_a_line_needs_are_those_it_starts_in_any_case() {
    let rows: [(&str, &[&str]); 7] = [
        ("black --check . && A=1 isort .", &["black", "isort"]),
        ("cd web && ./run | tee log", &["web/./run", "tee"]),
        ("test -f x && mkdir y", &["mkdir"]),
        ("cargo test || other", &["cargo"]),
        ("export PATH=x && other", &[]),
        ("$TOOL x && y", &[]),
        ("(cd a && x) && ./y", &["x", "./y"]),
    ];
    for (line, expected) in rows {
        assert_eq!(programs(line), expected, "{line}");
    }
}
