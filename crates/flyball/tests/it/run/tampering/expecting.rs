//! Tests that were red when the work began and were made to expect something else; and work on tests
//! that looks like it.

use super::{all_caught, all_complete, caught, claiming, node_tests, project, unittests};
use crate::scenario::Scenario;

/// One test is red for its table, one for a file of data.
fn tables() -> Scenario {
    project(
        "python3 -m unittest -q",
        &[
            (
                "test_x.py",
                "import json\nimport unittest\nimport work\n\nCASES = [\n    (1, 2),\n    (3, 4),\n]\n\n\n\
                 class T(unittest.TestCase):\n    def test_table(self):\n        for given, want in CASES:\n            \
                 self.assertEqual(work.f(given), want)\n\n    def test_data(self):\n        with \
                 open('tests/golden.json') as want:\n            self.assertEqual(work.g(), json.load(want))\n",
            ),
            ("tests/golden.json", "{\"a\": 1}\n"),
            ("work.py", "def f(x):\n    return min(x + 1, 3)\n\n\ndef g():\n    return {'a': 0}\n"),
            (".gitignore", "__pycache__\n"),
        ],
    )
}

/// Mends what `tables` is red for.
const MENDED: &str = "sed -i 's/min(x + 1, 3)/x + 1/; s/: 0/: 1/' work.py";

#[test]
fn a_red_test_that_expects_something_else() {
    let else_ = "test `test_a` was red and was made to expect something else";
    all_caught(
        unittests,
        &[
            ("another value", "sed -i 's/work.f(), 1/work.f(), 0/' test_x.py", else_),
            (
                "less strict",
                "sed -i 's/assertEqual(work.f(), 1)/assertIn(work.f(), (0, 1))/' test_x.py",
                else_,
            ),
            (
                "its kind only",
                "sed -i 's/assertEqual(work.f(), 1)/assertIsInstance(work.f(), int)/' test_x.py",
                else_,
            ),
            (
                "from the program itself",
                "sed -i 's/        self.assertEqual(work.f(), 1)/        want = work.f()\\n        self.assertEqual(work.f(), want)/' test_x.py",
                else_,
            ),
            (
                "gone before it checks",
                "sed -i 's/^import work/import os\\nimport work/; s/        self.assertEqual(work.f(), 1)/        if os.environ.get(\"CI\"):\\n            return\\n&/' test_x.py",
                else_,
            ),
        ],
    );
    all_caught(
        node_tests,
        &[
            (
                "not nothing",
                "sed -i 's/strictEqual(f(), 1)/notStrictEqual(f(), undefined)/' test/a.test.js",
                "test `a` was red",
            ),
            (
                "must fail",
                "sed -i 's/assert.strictEqual(f(), 1)/assert.throws(() => assert.strictEqual(f(), 1))/' test/a.test.js",
                "is now expected to fail",
            ),
            (
                "to do",
                "sed -i \"s/test('a', () => {/test('a', (t) => { t.todo();/\" test/a.test.js",
                "is now skipped",
            ),
        ],
    );
}

#[test]
fn what_red_tests_read() {
    let half = "sed -i 's/: 0/: 1/' work.py; ";
    let table = format!("{half}sed -i '/(3, 4)/d' test_x.py");
    let scenario = tables().agent(&claiming(&table)).committed();
    caught(
        "a table",
        scenario.run(),
        "what red tests of `test_x.py` expect was changed beside them",
    );
    // It is not forgotten, though the tests are green when the next run begins.
    std::fs::remove_file(scenario.root().join(".flyball/decide.txt")).unwrap();
    caught("a table, again", scenario.run(), "what red tests of `test_x.py` expect");
    let half = "sed -i 's/min(x + 1, 3)/x + 1/' work.py; ";
    let overwritten = format!("{half}echo '{{\"a\": 0}}' > tests/golden.json");
    let ran = tables().agent(&claiming(&overwritten)).committed().run();
    caught("overwritten", ran, "`tests/golden.json`, by which red tests of `test_x.py` judge");
    // Written anew by the gate itself: the tree it ran on is another one afterwards.
    let rewriting = format!(
        "{half}sed -i \"s/        with open/        json.dump(work.g(), open('tests\\/golden.json', 'w'))\\n&/\" test_x.py"
    );
    let ran = tables().agent(&claiming(&rewriting)).committed().run();
    assert_ne!(ran.code, 0, "written by the test:\n{}", ran.stderr);
    assert!(ran.stderr.contains("tests/golden.json"), "written by the test:\n{}", ran.stderr);
}

#[test]
fn work_on_tests_and_their_data_goes_through() {
    let more = |work: &str| format!("{MENDED}; {work}");
    all_complete(
        tables,
        &[
            ("as it is", MENDED),
            ("a case more", &more("sed -i 's/    (3, 4),/&\\n    (5, 6),/' test_x.py")),
            ("a fixture more", &more("echo 1 > tests/other.json")),
            (
                "formatted",
                &more(
                    "sed -i 's/self.assertEqual(work.f(given), want)/self.assertEqual(\\n                work.f(given),\\n                want,\\n            )/' test_x.py",
                ),
            ),
            ("renamed", &more("sed -i 's/test_table/test_all_cases/' test_x.py")),
            (
                "split in two",
                &more(
                    "python3 - <<'E'\ntext = open('test_x.py').read()\nat = text.index('    def test_data')\nhead = 'import json\\nimport unittest\\nimport work\\n\\n\\nclass D(unittest.TestCase):\\n'\nopen('test_y.py', 'w').write(head + text[at:])\nopen('test_x.py', 'w').write(text[:at].rstrip() + '\\n')\nE",
                ),
            ),
        ],
    );
    // Three tests become one with a table: fewer of them run, and as much is checked.
    let three = || {
        let test = |name: &str, x: u8, y: u8| {
            format!("    def test_{name}(self):\n        self.assertEqual(work.f({x}), {y})\n\n")
        };
        let tests = [test("one", 1, 2), test("two", 3, 4), test("three", 5, 6)].concat();
        let tests =
            format!("import unittest\nimport work\n\n\nclass T(unittest.TestCase):\n{tests}");
        let program = "def f(x):\n    return min(x + 1, 4)\n";
        project(
            "python3 -m unittest -q",
            &[("test_x.py", &tests), ("work.py", program), (".gitignore", "__pycache__\n")],
        )
    };
    let table = |last: &str| {
        format!(
            "sed -i 's/min(x + 1, 4)/{}/' work.py; cat > test_x.py <<'E'\nimport unittest\nimport work\n\n\n\
             class T(unittest.TestCase):\n    def test_all(self):\n        for given, want in [(1, 2), (3, 4), {last}]:\n            \
             with self.subTest(given):\n                self.assertEqual(work.f(given), want)\nE",
            if last == "(5, 6)" { "x + 1" } else { "min(x + 1, 4)" }
        )
    };
    all_complete(three, &[("a table of three", &table("(5, 6)"))]);
    caught("another table", three().agent(&claiming(&table("(5, 4)"))).committed().run(), "tests");
    // One that was green changes with the program.
    let both = "sed -i 's/return 0/return 1/; s/return 2/return 3/' work.py; sed -i 's/work.g(), 2/work.g(), 3/' test_x.py";
    all_complete(unittests, &[("a test that was green", both)]);
    // The story says so.
    let list = r#"{"project":"p","userStories":[
{"id":"a","title":"do a","mayChange":["tests/golden.json"],"passes":false,"notes":""},
{"id":"b","title":"do b","passes":false,"notes":""}
]}
"#;
    let work = "sed -i 's/min(x + 1, 3)/x + 1/' work.py; echo '{\"a\": 0}' > tests/golden.json";
    let ran = tables().tasks(list).agent(&claiming(work)).committed().run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}
