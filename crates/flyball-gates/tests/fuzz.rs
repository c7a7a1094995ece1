//! Whatever a tool prints, the parser neither panics nor grows nor slows down.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test may fail loudly")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use flyball_gates::{Parsed, Parser};
use proptest::prelude::*;

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut outputs = Vec::new();
    for tool in fs::read_dir(folder).expect("the corpus") {
        for file in fs::read_dir(tool.expect("a folder").path()).expect("a tool's folder") {
            let file = file.expect("a file").path();
            if file.extension().is_some_and(|end| end == "txt") {
                outputs.push((file.clone(), fs::read(file).expect("an output")));
            }
        }
    }
    outputs.sort();
    outputs.into_iter().map(|(_, output)| output).collect()
}

fn parse(output: &[u8], chunk: usize) -> Parsed {
    let mut parser = Parser::new("make check");
    for part in output.chunks(chunk.max(1)) {
        parser.feed(part);
    }
    parser.finish(Some(1))
}

fn within_limits(parsed: &Parsed) {
    assert!(parsed.findings.len() <= Parsed::FINDINGS_MAX);
    assert!(parsed.tail.chars().count() <= 4_000 && parsed.tail.lines().count() <= 40);
    for finding in &parsed.findings {
        assert!(finding.message.chars().count() <= 2_000);
        let excerpt = finding.excerpt.as_deref().unwrap_or_default();
        assert!(excerpt.lines().count() <= 20 && excerpt.chars().count() <= 2_000);
        assert!(finding.line != Some(0) && finding.column != Some(0));
    }
}

#[derive(Clone, Debug)]
enum Edit {
    Delete { at: prop::sample::Index, length: usize },
    Repeat { at: prop::sample::Index, length: usize },
    Splice { from: prop::sample::Index, at: prop::sample::Index, length: usize },
    Byte { at: prop::sample::Index, byte: u8 },
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let at = any::<prop::sample::Index>;
    let edit = prop_oneof![
        (at(), 0..200_usize).prop_map(|(at, length)| Edit::Delete { at, length }),
        (at(), 0..400_usize).prop_map(|(at, length)| Edit::Repeat { at, length }),
        (at(), at(), 0..800_usize).prop_map(|(from, at, length)| Edit::Splice { from, at, length }),
        (at(), any::<u8>()).prop_map(|(at, byte)| Edit::Byte { at, byte }),
    ];
    prop::collection::vec(edit, 1..8)
}

fn apply(mut output: Vec<u8>, edits: &[Edit], corpus: &[Vec<u8>]) -> Vec<u8> {
    for edit in edits {
        let at = |index: &prop::sample::Index, output: &[u8]| index.index(output.len() + 1);
        match edit {
            Edit::Delete { at: index, length } => {
                let start = at(index, &output);
                let end = (start + length).min(output.len());
                output.drain(start..end);
            }
            Edit::Repeat { at: index, length } => {
                let start = at(index, &output);
                let part = output[start..(start + length).min(output.len())].to_vec();
                output.splice(start..start, part);
            }
            Edit::Splice { from, at: index, length } => {
                let other = &corpus[from.index(corpus.len())];
                let start = index.index(other.len() + 1);
                let part = other[start..(start + length).min(other.len())].to_vec();
                let here = at(index, &output);
                output.splice(here..here, part);
            }
            Edit::Byte { at: index, byte } => {
                let here = at(index, &output);
                output.insert(here, *byte);
            }
        }
    }
    output
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(
        bytes in prop::collection::vec(any::<u8>(), 0..4096),
        chunk in 1..300_usize,
    ) {
        let parsed = parse(&bytes, chunk);
        within_limits(&parsed);
        prop_assert_eq!(parsed, parse(&bytes, usize::MAX));
    }

    #[test]
    fn any_text_made_of_marks_is_survived(
        text in "([-=_*#+> {}\\[\\]()<:;.,|0-9]|FAIL|ERROR|error|not ok|test|at |\n|\u{25cf}|\u{2716}|\\$|/a.c:1:2){0,400}",
    ) {
        within_limits(&parse(text.as_bytes(), 7));
    }

    #[test]
    fn damaged_outputs_are_survived(
        which in any::<prop::sample::Index>(),
        edits in edits(),
        chunk in 1..5000_usize,
    ) {
        let corpus = corpus();
        let output = apply(corpus[which.index(corpus.len())].clone(), &edits, &corpus);
        let parsed = parse(&output, chunk);
        within_limits(&parsed);
        prop_assert_eq!(parsed, parse(&output, usize::MAX));
    }
}

/// Beginnings that open something, again and again.
const OPENERS: &[&str] = &[
    "test tests::a ... FAILED",
    "running 3 tests\ntest a ... ",
    "---- a stdout ----",
    "---- a stdout ----\nthread 'a' panicked at src/a.rs:1:1:",
    "        FAIL [   0.1s] (1/2) a b::c",
    "error[E0001]: x\n --> a.rs:1:1",
    "error: x",
    "________ test_a ________\nE   boom",
    "FAILED a.py::test_a - boom",
    "======================================================================\nFAIL: a (b.C.a)\n\
     ----------------------------------------------------------------------",
    "FAIL ./a.test.js\n  ● a › b",
    " FAIL  a.test.js > a > b",
    "  1 failing\n\n  1) a\n       b:",
    "▶ suite\n  ✖ a (1.5ms)",
    "not ok 1 - a\n  ---\n  message: 'x'",
    "    not ok 1 - a {",
    "#   Failed test 'a'",
    "=== RUN   TestA\n    a_test.go:1: x",
    "--- FAIL: TestA (0.00s)",
    "--- FAIL: TestA/b (0.00s)\n    a_test.go:1: x",
    "panic: x\ntesting.go",
    "# pkg\na.go:1:1: x",
    "a.go:1:1: x (errcheck)",
    "/a/b.js\n  1:1  error  x  rule",
    "a.ts(1,1): error TS1: x\n  because",
    "F401 x\n --> a.py:1:1",
    "a.py:1: error: wrapped",
    "a.c:1:1: error: x\n  1 | y",
    "A.java:1: error: x\n  y",
    "[ERROR] a(b.C)  Time elapsed: 0 s  <<< ERROR!\nx",
    "[ERROR] A.java:[1,1] x\n  symbol: y",
    "a > b FAILED\n    x",
    "* What went wrong:\nx",
    "Failures:\n\n  1) a\n     Failure/Error: x",
    "<testsuite><testcase name=\"a\"><failure>x",
    "{\n  \"a\": [",
    "[{\"filePath\": \"a\", \"messages\": [",
    "{\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"T\",\"Output\":\"x\\n\"}",
    "{ \"type\": \"test\", \"name\": \"a\", \"event\": \"failed\", \"stdout\": \"x\" }",
    "[warn] a.js",
    "::error file=a.c,line=1::x",
    "  File \"a.py\", line 3, in f",
    "see a.c:1:2 and b.c:3",
    "a:1:1:1:1:1:1:1:1:1",
    "((((((((((((((((((((((((",
    "\u{1b}[31m\u{1b}[0m\u{1b}]0;",
    "50%\r51%\r52%\r",
];

fn cost(opener: &str, copies: usize) -> Duration {
    let output = format!("{opener}\n").repeat(copies);
    let runs = (0..2).map(|_| {
        #[expect(clippy::disallowed_methods, reason = "a test of cost")]
        let start = std::time::Instant::now();
        within_limits(&parse(output.as_bytes(), 65_536));
        start.elapsed()
    });
    runs.min().unwrap_or_default()
}

#[test]
fn eight_times_the_output_costs_about_eight_times_as_much() {
    for opener in OPENERS {
        let few = 60_000 / opener.len().max(20);
        let (small, large) = (cost(opener, few), cost(opener, few * 8));
        // Quadratic cost would be 64 times; short runs say nothing.
        let fine = large < Duration::from_millis(250) || large < small * 30;
        assert!(fine, "{opener:?}: {small:?} for {few} copies, {large:?} for 8 times as many");
    }
}

#[test]
fn a_line_without_an_end_is_cut() {
    for start in ["", "{\"a\":\"", "<testsuite>", "error: ", "test "] {
        let mut output = start.as_bytes().to_vec();
        output.resize(2_000_000, b'x');
        within_limits(&parse(&output, 4_096));
    }
}
