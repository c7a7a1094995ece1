//! Which tests ran is told by name wherever a runner prints the names.

#![expect(clippy::expect_used, reason = "a test may fail loudly")]

use std::fs;
use std::path::Path;

use flyball_gates::{Executed, Parser};

fn executed(capture: &str, exit: i32) -> Executed {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/captures/{capture}.txt"));
    let mut parser = Parser::new("make check");
    parser.feed(&fs::read(path).expect("a capture"));
    let mut all = parser.finish(exit).executed;
    assert_eq!(all.len(), 1, "{capture}: {all:?}");
    all.remove(0)
}

#[test]
fn the_names_of_all_tests_that_ran_are_known_where_they_are_printed() {
    let table = [
        ("jest/odd-names-verbose", "jest", "test/b.test.js > loud > rejects"),
        ("jest/verbose", "jest", "test/cart.test.js > cart > adds two prices"),
        ("vitest/odd-names-verbose", "vitest", "test/b.test.js > loud > rejects"),
        ("mocha/odd-names", "mocha", "Übersicht › 価格 > is fine"),
        ("mocha/odd-names-colour", "mocha", "loud > rejects"),
        ("pytest/odd-verbose", "pytest", "tests/test_odd.py::test_text[a b]"),
        ("pytest/odd-workers", "pytest", "tests/test_odd.py::test_no_message"),
        ("go-test/verbose", "go-test", "example.com/shop TestTable/a/b"),
    ];
    for (capture, runner, name) in table {
        let executed = executed(capture, 1);
        assert_eq!(executed.runner, runner, "{capture}");
        assert!(executed.names.contains(name), "{capture}: {executed:#?}");
        assert!(executed.has_all_names(), "{capture}: {executed:#?}");
    }
}

#[test]
fn names_are_the_same_in_every_run_of_the_same_tests() {
    let plain = executed("mocha/odd-names", 1);
    assert_eq!(plain.names, executed("mocha/odd-names-colour", 1).names);
    let nodes = executed("pytest/odd-verbose", 1);
    assert_eq!(nodes.names, executed("pytest/odd-workers", 1).names);
}

#[test]
fn a_test_that_prints_the_words_of_its_runner_is_still_one_test() {
    let output = "running 2 tests\ntest a ... ok\ntest printed ... ok\ntest b ... ok\n\n\
                  test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let mut parser = Parser::new("cargo test");
    parser.feed(output.as_bytes());
    let ran: Vec<u64> = parser.finish(0).executed.iter().map(|executed| executed.ran).collect();
    assert_eq!(ran, [2]);
}

#[test]
fn dots_have_no_names() {
    for capture in ["pytest/odd", "mocha/odd-names-dot"] {
        let executed = executed(capture, 1);
        assert!(executed.ran > 0 && executed.names.is_empty(), "{capture}: {executed:?}");
    }
}
