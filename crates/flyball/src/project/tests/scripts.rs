//! Scripts of packages and targets of makefiles: which become gates, and in which form.

use super::*;

#[test]
fn a_script_that_is_called_in_another_form_still_runs_all_that_belongs_to_it() {
    let managers = &["npm", "pnpm", "yarn", "bun"];
    let rows = [
        ("", r#""test":"cross-env A=1 jest --watch""#, "npm exec -c 'cross-env A=1 jest'"),
        ("", r#""test":"cd web && jest --watch""#, "npm exec -c 'cd web && jest'"),
        (
            "pnpm-lock.yaml",
            r#""test":"cd web && jest --watch""#,
            "PATH=\"$PWD/node_modules/.bin:$PATH\" pnpm exec sh -c 'cd web && jest'",
        ),
        ("yarn.lock", r#""test":"npx vitest""#, "yarn exec -- sh -c 'npx vitest run'"),
        (
            "",
            r#""pretest":"mkdir -p dist","test":"a; jest --watch","posttest":"b""#,
            "npm exec -c 'unset npm_config_call && npm run pretest && (a; jest) && npm run posttest'",
        ),
        ("", r#""pretest":"mkdir -p dist","test":"jest""#, "npm run test"),
        ("", r#""test":"npm run unit","unit":"jest --watch""#, "npm exec -c jest"),
        ("", r#""pretest":"eslint --fix .","test":"jest""#, "npm exec -c 'eslint . && jest'"),
        ("", r#""test":"true","test:unit":"jest""#, "npm run test:unit"),
        ("", r#""test:ci":"jest""#, "npm run test:ci"),
    ];
    for (lock, scripts, expected) in rows {
        let package = format!("{{\"scripts\":{{{scripts}}}}}");
        let mut files = vec![("package.json", package.as_str())];
        files.extend(Some((lock, "")).filter(|(name, _)| !name.is_empty()));
        let gates = Machine::new(managers, &files).gates();
        assert_eq!(gates, [format!("tests: {expected}")], "{scripts}");
    }
    // Yarn's newer line runs nothing around a script.
    let around = r#"{"scripts":{"pretest":"x","test":"jest --watch"}}"#;
    check(&[(
        managers,
        &[("package.json", around), ("yarn.lock", ""), (".yarnrc.yml", "")],
        &["tests: yarn exec -- sh -c jest"],
    )]);
}

#[test]
fn scripts_of_many_names_are_found_once() {
    let npm = &["npm"];
    check(&[
        (
            npm,
            &[(
                "package.json",
                r#"{"scripts":{"test:unit":"jest","lint:check":"eslint .","fmt:check":"prettier -c .",
                    "tsc":"tsc -w","build":"tsc -w","ci":"npm run test:unit","check":"./check"}}"#,
            )],
            &[
                "tests: npm run test:unit",
                "lint: npm run lint:check",
                "build: npm exec -c tsc",
                "typecheck: npm exec -c 'tsc --noEmit'",
                "format: npm run fmt:check",
                "check: npm run check",
            ],
        ),
        (
            npm,
            &[("package.json", r#"{"scripts":{"test":"jest","ci":"jest --ci --coverage"}}"#)],
            &["tests: npm run test"],
        ),
        (npm, &[("package.json", r#"{"scripts":{"verify":"x"}}"#)], &["check: npm run verify"]),
        (
            npm,
            &[("package.json", "\u{feff}{\"scripts\":{\"test\":\"x\"}}")],
            &["tests: npm run test"],
        ),
    ]);
}

#[test]
fn what_cannot_be_a_gate_is_named_with_its_reason() {
    let programs = &["npm", "make"];
    let rows: [(&str, &str, &str); 6] = [
        ("package.json", r#"{"scripts":{"test":"echo none"}}"#, "it is green whatever happens"),
        (
            "package.json",
            "{\"scripts\":{\n\"test\":\"x\",\n}}",
            "package.json cannot be read: trailing comma at line 3 column 1",
        ),
        ("Makefile", "lint:\n\tgolangci-lint run --fix\n", "`golangci-lint` is not on PATH"),
        ("Makefile", "lint:\n\tnpm -v\n\tA=1 black .\n", "`black` is not on PATH"),
        ("justfile", "lint:\n  eslint --fix .\n", "`eslint` is not on PATH"),
        ("Makefile", "test:\n\ttrue\n", "it is green whatever happens"),
    ];
    for (file, text, expected) in rows {
        let machine = Machine::new(programs, &[(file, text)]);
        assert_eq!(machine.gates(), [""; 0], "{text}");
        let [one] = &machine.detect().not_runnable[..] else { panic!("one for {text}") };
        assert_eq!(one.hindrance.to_string(), expected, "{text}");
    }
}

#[test]
fn what_a_target_needs_counts_as_if_it_were_its_own() {
    let make = &["make", "just", "cargo", "npm", "rm"];
    check(&[
        (
            make,
            &[("Makefile", "check: test lint\ntest:\n\t./t\nlint:\n\tcargo fmt\n")],
            &["tests: make test", "lint: cargo fmt --check"],
        ),
        (
            make,
            &[("justfile", "test: fmt\n  cargo test\nfmt:\n  cargo fmt\n")],
            &["tests: cargo fmt --check && cargo test"],
        ),
        (
            make,
            &[("Makefile", "test:\n\tcd web && npm -v\n\t-rm x\n\tcargo fmt; cargo test\n")],
            &["tests: (cd web && npm -v) && (rm x || true) && (cargo fmt --check; cargo test)"],
        ),
    ]);
}
