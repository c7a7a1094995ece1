//! What older and newer versions of tools print, other reporters of theirs, and odd names.

use super::shapes::{all, parse};
use crate::FindingKind;

#[test]
fn when_a_test_is_tried_again_is_not_what_it_said() {
    let nextest = " Nextest run ID 1 with nextest profile: ci\n    Starting 1 test across 1 binary\n  \
                   TRY 1 FAIL [   0.009s] (───) tide::api divides\n   DELAY 2/2 by   0.100s (───) tide::api divides\n  \
                   TRY 2 FAIL [   0.010s] (1/1) tide::api divides\n────────────\n     Summary [   0.1s] 1 test run: 0 \
                   passed, 1 failed, 0 skipped\n  TRY 2 FAIL [   0.010s] (1/1) tide::api divides\n  stderr ───\n    \
                   thread 'divides' panicked at tests/api.rs:11:5:\n    attempt to divide by zero\n\nerror: test run failed\n";
    assert_eq!(
        all("cargo nextest run", nextest),
        ["divides|tests/api.rs:11:5|attempt to divide by zero"]
    );
}

#[test]
fn names_that_tap_escapes_are_told_as_they_are() {
    let tap = "TAP version 13\nnot ok 1 - a \\\\ slash \\# mark\n  ---\n  error: no\n  ...\nnot ok 2 - equal\n  ---\n  \
               message: '1.1' is not '1.2'\n  at:\n    file: package.json\n    line: 2\n  ...\n1..2\n";
    assert_eq!(
        all("sh check.sh", tap),
        ["a \\ slash # mark||no", "equal|package.json:2|'1.1' is not '1.2'"]
    );
}

#[test]
fn a_path_with_blanks_is_read_where_what_follows_says_whose_it_is() {
    let unix = "/p/src/Room Plan.jsx:3:7: 'fs' is never used. [Error/no-unused-vars]\n\
                /p/src/a.js:1:1: No. [Error/no]\n\n2 problems\n";
    assert_eq!(
        all("eslint --format unix src", unix),
        ["no-unused-vars|/p/src/Room Plan.jsx:3:7|'fs' is never used.", "no|/p/src/a.js:1:1|No."]
    );
}

#[test]
fn older_ruff_names_what_it_cannot_parse_otherwise() {
    let output =
        "a.py:2:5: SyntaxError: Expected an expression\na.py:3:1: D100 Missing docstring\n";
    let found = parse("ruff check --output-format=concise .", output).findings;
    let kinds: Vec<(FindingKind, Option<&str>)> =
        found.iter().map(|found| (found.kind, found.name.as_deref())).collect();
    let want = [(FindingKind::Compile, Some("SyntaxError")), (FindingKind::Lint, Some("D100"))];
    assert_eq!(kinds, want);
}

#[test]
fn pytest_without_its_summary_tells_at_least_who_failed() {
    let output = "===== test session starts =====\n\na.py::A::test_b PASSED [ 33%]\na.py::A::test_c FAILED [ 66%]\n\
                  a.py::A::test_d ERROR [100%]\n\n===== 1 failed, 1 passed, 1 error in 0.12s =====\n";
    let want = ["a.py::A::test_c|a.py|test failed", "a.py::A::test_d|a.py|test failed"];
    assert_eq!(all("pytest -v --no-summary", output), want);
    let titled = "===== short test summary info =====\n[length] (word='a b') SUBFAIL a.py::test_x - assert 1 == 0\n\
                  ===== 1 failed in 0.1s =====\n";
    assert_eq!(all("pytest", titled), ["a.py::test_x [length] (word='a b')|a.py|assert 1 == 0"]);
}

#[test]
fn the_compiler_of_go_is_no_linter_and_a_line_a_test_printed_no_place_of_its_own() {
    let build = "# p/cmd\n./main.go:31:19: cannot use 300 as int8 value (overflows)\n";
    assert_eq!(
        all("go build ./cmd", build),
        ["|main.go:31:19|cannot use 300 as int8 value (overflows)"]
    );
    let vet =
        "main.go:7:2: no required module provides package example.org/x; to add it:\n\tgo get x\n";
    assert_eq!(parse("go vet ./...", vet).findings[0].kind, FindingKind::Compile);
    let test = "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n        bin_test.go:35: short\n            \
                \tindented\nother_test.go:7: not a failure\nFAIL\nFAIL\tp\t0.003s\n";
    assert_eq!(all("go test ./...", test)[0].split('|').nth(1), Some("bin_test.go:35"));
}

#[test]
fn tests_that_passed_though_they_should_not_are_failures_of_ava() {
    let ava = "\n  \u{2718} [unexpected pass]: known Test was expected to fail, but succeeded, you should stop\n  ─\n\n  \
               known\n\n  Test was expected to fail, but succeeded, you should stop\n\n  ─\n\n  1 test failed\n";
    assert_eq!(
        all("ava", ava),
        ["known||Test was expected to fail, but succeeded, you should stop"]
    );
}

#[test]
fn small_frameworks_and_automake_name_what_failed() {
    let check = "33%: Checks: 3, Failures: 1, Errors: 0\nch.c:6:F:core:test_sum:0: Assertion '2 == 5' failed\n";
    assert_eq!(all("./ch", check), ["test_sum|ch.c:6|Assertion '2 == 5' failed"]);
    let automake = "PASS: tests/print.test\nERROR: tests/round.test\n# ERROR: 1\nmake: *** [Makefile:3: check] Error 1\n";
    let found = all("make check", automake);
    assert!(found.iter().any(|found| found.starts_with("tests/round.test|")), "{found:?}");
}

#[test]
fn biome_may_only_say_that_there_are_errors() {
    let rule = "\u{2501}".repeat(20);
    let output =
        format!("lint {rule}\n\n  \u{d7} Some errors were emitted while running checks.\n  \n\n");
    let found = parse("biome lint --reporter=summary src", &output).findings;
    assert!(found.iter().all(|found| found.kind == FindingKind::Lint) && found.len() == 1);
}
