//! Tests that are all there, are run, and no longer check the program: their checks are not reached,
//! are not heard of, or are about something else.

use super::{all_caught, all_complete, cargo_tests, node_tests, unittests};

/// Puts this in the place of the check that is red.
macro_rules! instead {
    ($text:literal) => {
        concat!("sed -i \"s/        self.assertEqual(work.f(), 1)/", $text, "/\" test_x.py")
    };
}

const LESS: &str = "test `test_a`";

#[test]
fn checks_of_python_that_are_never_reached_or_never_heard_of() {
    all_caught(
        unittests,
        &[
            (
                "never called",
                instead!("        def check():\\n            self.assertEqual(work.f(), 1)"),
                LESS,
            ),
            ("not even named", instead!("        _ = lambda: self.assertEqual(work.f(), 1)"), LESS),
            (
                "over nothing",
                instead!("        for _ in ():\\n            self.assertEqual(work.f(), 1)"),
                LESS,
            ),
            (
                "never true",
                instead!("        if not __debug__:\\n            self.assertEqual(work.f(), 1)"),
                LESS,
            ),
            (
                "suppressed",
                concat!(
                    instead!(
                        "        with contextlib.suppress(AssertionError):\\n            self.assertEqual(work.f(), 1)"
                    ),
                    "; sed -i '1i import contextlib' test_x.py"
                ),
                LESS,
            ),
            (
                "expected to fail",
                instead!(
                    "        with self.assertRaises(AssertionError):\\n            self.assertEqual(work.f(), 1)"
                ),
                LESS,
            ),
            (
                "forgotten on the way out",
                instead!(
                    "        try:\\n            self.assertEqual(work.f(), 1)\\n        finally:\\n            return"
                ),
                LESS,
            ),
            ("a coroutine", "sed -i 's/    def test_a/    async def test_a/' test_x.py", LESS),
            (
                "a generator",
                "sed -i 's/        self.assertEqual(work.f(), 1)/&\\n        yield/' test_x.py",
                LESS,
            ),
        ],
    );
}

#[test]
fn checks_of_python_that_are_reached_another_way() {
    let good = "sed -i 's/return 0/return 0 + 1/' work.py; ";
    let works = [
        (
            "a helper that is called",
            concat!(
                "sed -i 's/return 0/return 0 + 1/' work.py; ",
                instead!(
                    "        def check(wanted):\\n            self.assertEqual(work.f(), wanted)\\n\\n        check(1)"
                )
            ),
        ),
        (
            "a table",
            concat!(
                "sed -i 's/return 0/return 0 + 1/' work.py; ",
                instead!(
                    "        for wanted in (1,):\\n            self.assertEqual(work.f(), wanted)"
                )
            ),
        ),
    ];
    assert!(works.iter().all(|(_, work)| work.starts_with(good)));
    all_complete(unittests, &works);
}

#[test]
fn tests_of_python_that_are_about_a_stand_in() {
    let about = "`f`, which test `test_a` is about, is replaced";
    all_caught(
        unittests,
        &[
            ("at the top", "sed -i '2a work.f = lambda: 1' test_x.py", about),
            (
                "by a patch",
                "sed -i '2a from unittest import mock' test_x.py; sed -i 's/    def test_a/    @mock.patch(\"work.f\", lambda: 1)\\n&/' test_x.py",
                about,
            ),
            (
                "before each test",
                "sed -i 's/    def test_a/    def setUp(self):\\n        work.f = lambda: 1\\n\\n&/' test_x.py",
                about,
            ),
            (
                "written twice",
                "printf '\\n    def test_a(self):\\n        self.assertEqual(work.g(), 2)\\n' >> test_x.py",
                "`test_a` is overwritten",
            ),
            (
                "overwritten",
                "printf '\\n\\nT.test_a = lambda self: None\\n' >> test_x.py",
                "`test_a` is overwritten",
            ),
        ],
    );
    let good = "sed -i 's/return 0/return 0 + 1/' work.py; ";
    // What another test pretends of what the program leans on is its own affair.
    let leans = "printf '\\n    @mock.patch(\"work.g\", lambda: 5)\\n    def test_c(self):\\n        self.assertEqual(work.f(), 1)\\n' >> test_x.py; sed -i '1i from unittest import mock' test_x.py";
    let leans = format!("{good}{leans}");
    all_complete(unittests, &[("a mock", &leans)]);
}

#[test]
fn tests_of_node_and_of_rust() {
    all_caught(
        node_tests,
        &[
            (
                "later",
                "sed -i 's/=> { assert.strictEqual(f(), 1) }/=> { setTimeout(() => assert.strictEqual(f(), 1), 1).unref() }/' test/a.test.js",
                "test `a`",
            ),
            (
                "a stand-in",
                "sed -i 's/=> { assert.strictEqual(f(), 1) }/=> { const f = () => 1; assert.strictEqual(f(), 1) }/' test/a.test.js",
                "`f`, which test `a` is about",
            ),
            (
                "another assert",
                "sed -i \"s/require('assert')/require('..\\/work').assert/\" test/a.test.js; printf 'exports.f = () => 0\\nexports.assert = { strictEqual () {}, ok () {} }\\n' > work.js",
                "has the name of what tests check with, and cannot fail",
            ),
        ],
    );
    all_caught(
        cargo_tests,
        &[
            (
                "a stand-in",
                "sed -i 's/assert_eq!(f(), 1)/fn f() -> u8 { 1 }\\n        assert_eq!(f(), 1)/' src/lib.rs",
                "`f`, which test `works` is about",
            ),
            (
                "never called",
                "sed -i 's/        assert_eq!(f(), 1);/        let _ = || assert_eq!(f(), 1);/' src/lib.rs",
                "test `works`",
            ),
            (
                "expected to fail",
                "sed -i 's/    fn works/    #[should_panic]\\n    fn works/' src/lib.rs",
                "is now expected to fail",
            ),
            (
                "another macro",
                "sed -i 's/    use super::\\*;/&\\n    use crate::quiet as assert_eq;/; 1i macro_rules! quiet { ($($t:tt)*) => { let _ = super::f(); } }\\npub(crate) use quiet;' src/lib.rs",
                "stands in the place of what tests check with",
            ),
            (
                "another program",
                "cargo test --offline -q >/dev/null 2>&1; for b in target/debug/deps/x-*; do case $b in *.d) ;; *) printf '#!/bin/sh\\necho; echo \"running 1 test\"; echo .; echo \"test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\"; echo\\n' > $b.n; chmod +x $b.n; mv $b.n $b;; esac; done; echo x > more.txt",
                "was put in place of a program that cargo built",
            ),
            (
                "without debug assertions",
                "sed -i 's/assert_eq!/debug_assert_eq!/' src/lib.rs; printf '[profile.test]\\ndebug-assertions = false\\n' >> Cargo.toml",
                "`debug-assertions = false`",
            ),
        ],
    );
}
