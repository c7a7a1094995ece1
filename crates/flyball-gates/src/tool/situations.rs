//! What tools print in situations that recorded outputs showed, in as few lines as show it.

use super::shapes::{all, parse, told};
use crate::FindingKind;

#[test]
fn newer_ruff_names_its_rules_in_every_format() {
    let names = |command: &str, output: &str| -> Vec<String> {
        let found = parse(command, output).findings.into_iter();
        found.map(|f| format!("{} {}", f.name.as_deref().unwrap_or_default(), f.message)).collect()
    };
    let want = ["unused-import `os` imported but unused", "assert Use of `assert` detected"];
    let full = "unused-import: [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n  |\n\n\
                assert: Use of `assert` detected\n --> a.py:5:5\n  |\n5 |     assert x\n\nFound 2 errors.\n";
    assert_eq!(names("make lint", full), want);
    let concise = "a.py:1:8: unused-import: [*] `os` imported but unused\n\
                   a.py:5:5: assert: Use of `assert` detected\nFound 2 errors.\n";
    assert_eq!(names("ruff check", concise), want);
    let grouped = "a.py:\n  1:8  unused-import [*] `os` imported but unused\n  \
                   5:5  assert: Use of `assert` detected\n\nFound 2 errors.\n";
    assert_eq!(names("ruff check", grouped), want);
    let pylint = "a.py:1: [unused-import] `os` imported but unused\n";
    assert_eq!(names("ruff check", pylint), want[..1]);
    // Words of others that stand where a rule may.
    let mypy = "a.py:1:8: error: Name \"x\" is not defined  [name-defined]\n";
    assert_eq!(names("ruff check; mypy", mypy), ["name-defined Name \"x\" is not defined"]);
}

#[test]
fn a_doctest_that_a_suite_runs_is_one_failure() {
    let (rule, dashes) = ("=".repeat(70), "-".repeat(70));
    let output = format!(
        "F.\n{rule}\nFAIL: grouper (shop.recipes)\nDoctest: shop.recipes.grouper\n{dashes}\n\
         Traceback (most recent call last):\n  File \"/usr/lib/python3.13/doctest.py\", line 2, in runTest\n    \
         raise x\nAssertionError: Failed doctest test for shop.recipes.grouper\n  \
         File \"shop/recipes.py\", line 3, in grouper\n\n{dashes}\n\
         File \"shop/recipes.py\", line 7, in shop.recipes.grouper\nFailed example:\n    grouper(1)\n\
         Expected:\n    2\nGot:\n    3\n\n\n{dashes}\nRan 2 tests in 0.1s\n\nFAILED (failures=1)\n"
    );
    let parsed = parse("python -m unittest", &output);
    let found = told(&parsed);
    let [(kind, name, place, message)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((*kind, *name), (FindingKind::Test, "shop.recipes.grouper"));
    assert_eq!(place, "shop/recipes.py:7");
    assert!(message.starts_with("AssertionError: Failed doctest test for"), "{message}");
    assert!(message.ends_with("Expected:\n    2\nGot:\n    3"), "{message}");
}

#[test]
fn results_without_a_plan_beside_a_runner_are_what_a_test_printed() {
    let node = "not ok 1 - fake\n\u{25b6} bank\n  \u{2716} pays (2.2ms)\n    Error: no\n        \
                at x (file:///repo/a.test.js:11:12)\n\n\u{2139} tests 1\n\u{2139} pass 0\n\u{2139} fail 1\n";
    let parsed = parse("node --test", node);
    let names: Vec<&str> = told(&parsed).into_iter().map(|(_, name, ..)| name).collect();
    assert_eq!(names, ["pays"]);
    assert_eq!(told(&parse("./t", "ok 1 - a\nnot ok 2 - b\n")).len(), 1);
}

#[test]
fn a_summary_that_names_all_failures_leaves_none_to_what_tests_print() {
    let rule = |title: &str| format!("{0} {title} {0}\n", "=".repeat(20));
    let head = |name: &str| format!("{0} {name} {0}\n", "_".repeat(30));
    let output = [
        &rule("FAILURES"),
        &head("test_outer"),
        "E   assert 0\n\na.py:3: AssertionError\n----- Captured stdout call -----\n",
        &rule("FAILURES"),
        &head("test_inner"),
        "E   assert 3 == 4\n\nb.py:4: AssertionError\n",
        &rule("short test summary info"),
        "FAILED a.py::test_outer - assert 0\n",
        &rule("1 failed in 0.06s"),
    ]
    .map(|part: &str| part.to_owned())
    .concat();
    let parsed = parse("pytest", &output);
    let names: Vec<&str> = told(&parsed).into_iter().map(|(_, name, ..)| name).collect();
    assert_eq!(names, ["a.py::test_outer"]);
}

#[test]
fn tests_that_were_crossed_off_are_told_where_the_rest_is_lost() {
    let output = "\n RUN  v4.0.0 /repo\n\n \u{276f} test/a.test.ts (2 tests | 1 failed) 34ms\n     \
                  \u{2713} adds 3ms\n     \u{d7} subtracts 2ms\n\n Test Files  1 failed (1)\n      \
                  Tests  1 failed | 1 passed (2)\n";
    let parsed = parse("lerna run test", output);
    let place = "test/a.test.ts".to_owned();
    assert_eq!(told(&parsed), [(FindingKind::Test, "subtracts", place, "test failed")]);
}

#[test]
fn a_test_that_panics_below_the_name_of_another_keeps_its_own_words() {
    let output = "running 2 tests\n\nthread 'tests::a' (1) panicked at src/lib.rs:1:1:\nof a\n\
                  test tests::a ... \nthread 'tests::b' (2) panicked at src/lib.rs:2:2:\nof b\nFAILED\n\
                  test tests::b ... FAILED\n\nfailures:\n\nfailures:\n    tests::a\n    tests::b\n\n\
                  test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let parsed = parse("cargo test -- --nocapture", output);
    let said: Vec<(&str, &str)> =
        told(&parsed).into_iter().map(|(_, name, _, said)| (name, said)).collect();
    assert_eq!(said, [("tests::a", "of a"), ("tests::b", "of b")]);
}

#[test]
fn the_linker_and_a_ruby_that_cannot_be_parsed_are_compile_errors() {
    for (output, place, message) in [
        (
            "cc -o b/t a.c\n/usr/bin/ld: cannot open output file b/t: Permission denied\n\
             collect2: error: ld returned 1 exit status\nmake: *** [Makefile:5: b/t] Error 1\n",
            "",
            "cannot open output file b/t: Permission denied",
        ),
        (
            "test/test_a.rb:56: syntax error, unexpected end-of-input\n",
            "test/test_a.rb:56",
            "test/test_a.rb:56: syntax error, unexpected end-of-input",
        ),
    ] {
        let parsed = parse("make test", output);
        assert_eq!(told(&parsed), [(FindingKind::Compile, "", place.to_owned(), message)]);
    }
}

#[test]
fn files_that_cannot_be_loaded_for_one_reason_are_told_each() {
    let one = |file: &str| {
        format!(
            "\nAn error occurred while loading ./spec/{file}. - Did you mean?\n                    rspec ./spec/x.rb\n\n\
             Failure/Error: require 'gone'\n\nLoadError:\n  cannot load such file -- gone\n# ./spec/helper.rb:3:in `x'\n"
        )
    };
    let output = one("a_spec.rb")
        + &one("b_spec.rb")
        + "\n0 examples, 0 failures, 2 errors occurred outside of examples\n";
    let parsed = parse("rspec", &output);
    let names: Vec<&str> = told(&parsed).into_iter().map(|(_, name, ..)| name).collect();
    assert_eq!(names, ["spec/a_spec.rb", "spec/b_spec.rb"]);
}

#[test]
fn a_test_program_without_a_harness_and_a_test_that_aborts_are_named() {
    let running = "     Running tests/smoke.rs (target/debug/deps/smoke-1f)\n";
    let rerun = "error: test failed, to rerun pass `--test smoke`\n\nCaused by:\n  \
                 process didn't exit successfully: `target/debug/deps/smoke-1f`";
    let bare = parse(
        "cargo test",
        &format!("{running}smoke: 3 words expected\nsmoke: got 2\n{rerun} (exit status: 3)\n"),
    );
    let want = "smoke: 3 words expected\nsmoke: got 2";
    assert_eq!(told(&bare), [(FindingKind::Test, "smoke", String::new(), want)]);
    let aborted = parse(
        "cargo test -- --test-threads 1",
        &format!("{running}\nrunning 2 tests\ntest aborts ... {rerun} (signal: 6, SIGABRT)\n"),
    );
    let [(FindingKind::Crash, "aborts", _, message)] = told(&aborted)[..] else {
        panic!("{:?}", aborted.findings)
    };
    assert!(message.contains("SIGABRT"), "{message}");
}

#[test]
fn what_nextest_says_between_results_is_nobodys_failure() {
    let output = "    Starting 9 tests across 2 binaries\n        FAIL [   0.008s] (1/9) kinds::api nothing\n  \
                  Cancelling due to test failure: 1 test still running\n        PASS [   0.012s] (2/9) kinds::api twice\n\
                  ────────────\n     Summary [   0.012s] 2/9 tests run: 1 passed, 1 failed, 0 skipped\n        \
                  FAIL [   0.008s] (1/9) kinds::api nothing\n  stderr ───\n\n    \
                  thread 'nothing' (1) panicked at src/lib.rs:28:5:\n    boom\n\nerror: test run failed\n";
    let parsed = parse("cargo nextest run --failure-output final", output);
    let place = "src/lib.rs:28:5".to_owned();
    assert_eq!(told(&parsed), [(FindingKind::Test, "nothing", place, "boom")]);
}

#[test]
fn a_benchmark_that_fails_has_no_time_and_vet_repeats_the_compiler() {
    let bench = "--- FAIL: BenchmarkTotal\n    bench_test.go:9: total of 2 items: 1\nFAIL\nexit status 1\n\
                 FAIL\texample.com/shop/cart\t0.004s\nFAIL\n";
    let parsed = parse("go test -bench .", bench);
    let place = "bench_test.go:9".to_owned();
    let want = "total of 2 items: 1";
    assert_eq!(told(&parsed), [(FindingKind::Test, "BenchmarkTotal", place, want)]);
    let vet = "# x/cart\ncart/cart.go:31:22: i.A undefined\n# x/cart\nvet: cart/cart.go:31:22: i.A undefined\n";
    let parsed = parse("go vet ./...", vet);
    let place = "cart/cart.go:31:22".to_owned();
    assert_eq!(told(&parsed), [(FindingKind::Compile, "", place, "i.A undefined")]);
}

#[test]
fn reasons_of_pyright_stand_behind_firm_blanks_with_the_rule() {
    let output = "/repo/a.py\n  /repo/a.py:2:12 - error: Type \"int\" is not \"str\"\n  \u{a0} \u{a0} \
                  \"int\" is not assignable (reportReturnType)\n  /repo/a.py:5:1 - error: Expected \":\"\n\
                  2 errors, 0 warnings, 0 informations\n";
    let parsed = parse("pyright", output);
    let want = "Type \"int\" is not \"str\"\n\"int\" is not assignable";
    let (one, other) = ("/repo/a.py:2:12".to_owned(), "/repo/a.py:5:1".to_owned());
    assert_eq!(
        told(&parsed),
        [
            (FindingKind::Type, "reportReturnType", one, want),
            (FindingKind::Compile, "", other, "Expected \":\""),
        ]
    );
}

#[test]
fn eslint_says_what_went_wrong_below_its_version() {
    for (said, kind) in [
        ("No files matching the pattern \"a.js\" were found.", FindingKind::CouldNotRun),
        ("TypeError: context.getScope is not a function", FindingKind::Crash),
    ] {
        let output = format!(
            "\nOops! Something went wrong! :(\n\nESLint: 10.1.0\n\n{said}\nPlease check.\n"
        );
        let parsed = parse("npm run lint", &output);
        assert_eq!(told(&parsed), [(kind, "", String::new(), said)]);
    }
}

#[test]
fn what_pylint_finds_in_two_files_is_told_each_time() {
    let one = |at: u32| {
        format!(
            "shop/a.py:1:0: R0801: Similar lines in 2 files\n==shop.a:[{at}:9]\n==shop.b:[3:9]\n    x = 1 (duplicate-code)\n"
        )
    };
    let parsed = parse("pylint shop", &(one(1) + &one(2)));
    let said: Vec<&str> = told(&parsed).into_iter().map(|(.., said)| said).collect();
    let want = ["==shop.a:[1:9]\n==shop.b:[3:9]", "==shop.a:[2:9]\n==shop.b:[3:9]"];
    assert_eq!(said, want.map(|where_| format!("Similar lines in 2 files\n{where_}")));
}

#[test]
fn vet_alone_needs_no_heading() {
    let output =
        "/p/a_test.go:5:1: wrong signature for TestX\n# p\nvet: ./v.go:23:1: missing return\n";
    let want = ["|/p/a_test.go:5:1|wrong signature for TestX", "|v.go:23:1|missing return"];
    assert_eq!(all("go vet ./...", output), want);
    assert_eq!(all("make vet", output), want[1..]);
}

#[test]
fn a_mark_in_the_name_of_a_test_is_no_directive() {
    let tap = "1..4\nnot ok 1 - with # a hash\n# why\nnot ok 2 - later # TODO x\nok 3 - a # SKIP b\n\
               not ok 4 - slow # time=3ms\n# so\n";
    assert_eq!(all("bats -t a.bats", tap), ["with # a hash||why", "slow||so"]);
    let spec = "\u{2716} two # with hash (0.2ms)\n  Error: no\n      at x (/p/a.test.js:4:1)\n\n\
                \u{2716} printed (1ms)\n\u{2139} tests 1\n\u{2139} fail 1\n\n\u{2716} failing tests:\n\n\
                test at a.test.js:3:1\n\u{2716} two # with hash (0.2ms)\n  Error: no\n";
    assert_eq!(all("node --test", spec), ["two # with hash|/p/a.test.js:4:1|Error: no"]);
}

#[test]
fn yaml_below_a_test_says_its_own_words_first() {
    let node = "TAP version 13\nnot ok 1 - throws\n  ---\n  error: |-\n    Not equal:\n  expected:\n    \
                message: 'nothing'\n  ...\n1..1\n";
    assert_eq!(all("node --test", node), ["throws||Not equal:"]);
    let ava = "TAP version 13\nnot ok 1 - cuts\n  ---\n  details:\n    'Difference:': |-\n      - 4\n      \
               + 3\n  message: shape\n  at: 'Object.cut (/p/src/a.js:4:39)'\n  ...\n1..1\n";
    assert_eq!(all("ava --tap", ava), ["cuts|/p/src/a.js:4:39|shape\nDifference:\n- 4\n+ 3"]);
}

#[test]
fn tests_that_failed_before_the_end_came_are_told_and_why_pytest_broke() {
    let cut = "===== test session starts =====\n\na.py::test_a PASSED [ 33%]\na.py::test_b FAILED [ 66%]\n\
               a.py::test_c ";
    let (crash, test) =
        ("||pytest began and ended without a result", "a.py::test_b|a.py|test failed");
    assert_eq!(all("pytest -v", cut), [test, crash]);
    let whole = "===== test session starts =====\n\na.py::test_b FAILED [ 66%]\n\n===== FAILURES =====\n\
                 ____ test_b ____\n\nE   no\n\na.py:3: Error\n===== short test summary info =====\n\
                 FAILED a.py::test_b - no\n===== 1 failed in 0.1s =====\n";
    assert_eq!(all("pytest -v", whole), ["a.py::test_b|a.py:3|no"]);
    let broken = "INTERNALERROR> Traceback (most recent call last):\n\
                  INTERNALERROR>   File \"/v/lib/python3/site-packages/pluggy/a.py\", line 1, in x\n\
                  INTERNALERROR>   File \"/p/conftest.py\", line 7, in pytest_configure\n\
                  INTERNALERROR>     x()\nINTERNALERROR> KeyError: 'TOKEN'\n";
    assert_eq!(all("pytest", broken), ["|/p/conftest.py:7|KeyError: 'TOKEN'"]);
}

#[test]
fn rows_that_are_aligned_or_come_in_several_tables_are_all_read() {
    let sqlfluff = "== [q.sql] FAIL\nL:   1 | P:   1 | LT09 | Select targets.\n== [bad.sql] FAIL\n\
                    L:   1 | P:   1 |  PRS | Found: Nothing.\n                       | Expected ([L:\n\
                    \u{20}                      | 1, P: |'x')\nAll Finished!\n";
    let want = [
        "LT09|q.sql:1:1|Select targets.",
        "PRS|bad.sql:1:1|Found: Nothing. Expected ([L: 1, P: |'x')",
    ];
    assert_eq!(all("sqlfluff lint", sqlfluff), want);
    let spectral = "\n/p/a.yaml\n  9:15    error  no-a  One.\n 10:23    error  no-b  Two.\n";
    let places: Vec<String> = parse("spectral lint", spectral)
        .findings
        .iter()
        .filter_map(crate::Finding::place)
        .collect();
    assert_eq!(places, ["/p/a.yaml:9:15", "/p/a.yaml:10:23"]);
    let rubocop = "== a.rb ==\nE:  4:  3: Lint/Syntax: unexpected token\n";
    assert_eq!(all("rubocop -f simple", rubocop), ["Lint/Syntax|a.rb:4:3|unexpected token"]);
}

#[test]
fn home_made_checks_say_why() {
    let columns =
        "login ..... OK\ncheckout .. FAIL (expected 200, got 503)\nslow ...... FAIL (0.1 s)\n";
    assert_eq!(all("./smoke.sh", columns), ["checkout||expected 200, got 503", "slow||slow"]);
    let numbered =
        "[ OK ] 001 schema loads\n[FAIL] 002 keys have an index: a.b\n[FAIL] 3 checks failed\n";
    assert_eq!(
        all("./check.sh", numbered),
        ["002 keys have an index: a.b||002 keys have an index: a.b"]
    );
}
