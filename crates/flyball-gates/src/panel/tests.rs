//! What is taken in passing says what would have been read.

use super::Panel;
use crate::hints::Hints;
use crate::report::MENTIONS;

/// What the `number`th of very many lines looks like.
const SHAPES: &[fn(u64) -> String] = &[
    |n| format!("running 3 tests\ntest area::number_{n} ... ok\ntest a::b_{} ... ok", n % 7),
    |n| format!("test a ... FAILED\ntest error::{n} ... ok\ntest result: ok. {n} passed; 1 failed"),
    |n| format!("=== RUN   Test{n}\n--- PASS: Test{n} (0.00s)"),
    |n| format!("=== RUN   Test{n}\n    a_test.go:3: {n}\n--- FAIL: Test{n} (0.00s)"),
    |n| format!("=== RUN   Test{n}\n--- PASS: Test{} (0.00s)\nPASS\nok  \tp{n}\t0.01s", n + 1),
    |n| format!("{{\"Time\":\"x\",\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"T{n}\"}}"),
    |n| format!("{{\"Time\":\"x\",\"Action\":\"output\",\"Test\":\"T{n}\",\"Output\":\"a\\n\"}}"),
    |n| format!("ok {n} - number {n}\nok {n} - {n} # SKIP\nnot ok {n} - x"),
    |n| format!("ok {n} - a {{\n    ok 1 - b\n}}\nok {n} - number {n}"),
    |n| format!("test_{n} (tests.A.test_{n}) ... ok\ntest_{n} (tests.A) ... FAIL"),
    |n| format!("        PASS [   0.004s] (1/9) area tests::number_{n}"),
    |n| format!("        FAIL [   0.004s] area tests::number_{n}\n  stdout ───\n    x"),
    |n| {
        format!(
            "[INFO] Tests run: {n}, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 1 s -- in A"
        )
    },
    |n| {
        format!(
            "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s - in A({n})"
        )
    },
    |n| format!("[ RUN      ] Area.Number{n}\n[       OK ] Area.Number{n} (0 ms)"),
    |n| format!("[ RUN      ] Area.N{n}\na.cc:3: Failure\nno\n[  FAILED  ] Area.N{n} (0 ms)"),
    |n| format!("  Passed Area.Number{n} [3 ms]\n  Passed Area.Number{n} [< 1 ms]"),
    |n| format!("src/a.py:{n}:80: E501 too long\nsrc/a.py:{}:8: C0114: no doc (doc)", n % 9),
    |n| format!("src/a.py:{n}: error: no  [assignment]\nsrc/a.py:{n}:7: error: no\n  wrapped"),
    |n| format!("src/a.c:{n}:9: warning: unused 'x' [-Wunused]\n  {n} |   int x;\n    |   ^~"),
    |n| {
        format!("src/a.c:{n}: error: no\na.sh:{n}:1: note: quote [SC2086]\na.c:{n}:1: style: s [x]")
    },
    |n| format!("src/a.ts({n},7): error TS2322: no\nsrc/a.ts({n},7): error TS2322: no\n  because"),
    |n| format!("\n/repo/src/a.js\n  {n}:7  error  no  rule\n  {n}:9  warning  no  rule"),
    |n| format!("warning: unused `x`\n --> src/a.rs:{n}:9\n  |\n{n} |  let x = 0;\n  |  ^^^\n"),
    |n| format!("error[E0425]: no {n}\n --> src/a.rs:{n}:9\nerror: aborting due to {n} errors\n"),
    |n| format!("PASS src/a{n}.test.js\n  suite\n    ✓ number {n} (3 ms)\n    ✕ not {n}"),
    |n| format!(" ✓ a.test.ts > items > number {n} 3ms\n ✓ number {n}\n  ✔ number {n}"),
    |n| {
        format!(
            "a.rb:{n}:7: C: Style/Nil: no\na.yml:{n}:1: [error] no (rule)\na.js:{n}:1: no [Error/x]"
        )
    },
    |n| format!("Dockerfile:{n} DL3003 warning: no\na.css: line {n}, col 1, warning - no (rule)"),
    |n| format!("tests/a.py::test_{n} PASSED [ 42%]\ntests/a.py::test_{n} FAILED [ 42%]"),
];

/// What the `number`th of very many failures looks like.
const FAILURES: &[fn(u64) -> String] = &[
    |n| format!("FAIL a.test.js\n  ● suite › test {n}\n\n    no {n}\n\n      at a.js:{n}:3\n"),
    |n| format!(" FAIL  a.test.ts > test {n}\nError: no\n ❯ a.test.ts:{n}:3\n\n⎯⎯⎯[1/2]⎯"),
    |n| {
        format!(
            "  1 passing\n  1 failing\n\n  1) suite\n       test {n}:\n     Error: no\n      at a.js:{n}:3"
        )
    },
    |n| {
        format!(
            "==== FAILURES ====\n____ test_{n} ____\n\n>   assert {n}\nE   no\n\na.py:{n}: Error"
        )
    },
    |n| {
        format!(
            "running 1 test\n---- a_{n} stdout ----\nthread 'a_{n}' panicked at a.rs:{n}:3:\nno\n\n\
             failures:\n    a_{n}\n\ntest result: FAILED. 0 passed; 1 failed"
        )
    },
    |n| {
        let (rule, line) = ("=".repeat(70), "-".repeat(70));
        format!(
            "{rule}\nFAIL: test_{n} (a.B.test_{n})\n{line}\nTraceback (most recent call last):\n  \
             File \"a.py\", line {n}, in test\nAssertionError: {n}\n\n{line}\nRan 1 test in 1s\n\n\
             FAILED (failures=1)"
        )
    },
    |n| {
        format!(
            "Failures:\n\n  1) test {n}\n     Failure/Error: no\n\n       no\n     # ./a.rb:{n}:in `x'\n\n1 example, 1 failure"
        )
    },
    |n| {
        format!(
            "a.js:{n}:3 lint/no ━━━━━━━━━━\n\n  × no {n}.\n\n  > {n} │ x\n  \n\nb.js:{n}:3 lint/no ━━━━━━━━━━\n\n  ! no\n"
        )
    },
    |n| {
        format!(
            "  × eslint(no): no {n}\n   ╭─[a.js:{n}:3]\n {n} │ x\n   · ─\n   ╰────\n\n  ⚠ a(b): c\n   ╭─[a.js:{n}:4]\n"
        )
    },
    |n| {
        format!(
            "error[no-rule]: no {n}\n --> a.py:{n}:3\n  |\n{n} | x\n  | ^ no\ninfo: rule\n\nwarning[no]: w\n --> a.py:{n}:4\n"
        )
    },
    |n| {
        format!(
            "/a.py\n  /a.py:{n}:3 - error: no {n} (reportX)\n    more of it\n  /a.py:{n}:4 - warning: no (reportY)"
        )
    },
    |n| {
        format!(
            "--- FAIL: Test{n} (0.00s)\n    a_test.go:{n}: no\n    --- FAIL: Test{n}/a (0.00s)\n        a_test.go:{n}: no\nFAIL\nFAIL\tp{n}\t0.1s"
        )
    },
    |n| format!("not ok {n} - test {n}\n  ---\n  error: no\n  at: a.js:{n}:3\n  ...\nok {n} - x"),
    |n| format!("✖ test {n} (1.5ms)\n  Error: no {n}\n      at a.js:{n}:3\n\n✔ x (1ms)\nℹ pass 1"),
    |n| {
        format!(
            "        FAIL [   0.004s] (1/9) area tests::number_{n}\n  stderr ───\n    thread 't' panicked at a.rs:{n}:3:\n    no\n\n        PASS [   0.004s] (2/9) a b"
        )
    },
];

/// Many failures of one run, of which a part is told before the others are.
const RUNS: &[fn(u64) -> String] = &[
    |n| match n {
        1 => "===== test session starts =====\n===== FAILURES =====".to_owned(),
        n if n < 1_200 => format!(
            "{0} test_{n} {0}\n\n>   assert {n}\nE   no\n\na.py:{n}: Error\n_ _ _ _ _\n----- \
             Captured stdout call -----\nFAILED x\nFile 1\n3 boxes\nnone",
            "_".repeat(40)
        ),
        1_200 => "===== short test summary info =====".to_owned(),
        n => format!("FAILED a.py::test_{} - no - {n}\nERROR b - c\nFAILED no", n - 1_198),
    },
    |n| {
        format!(
            "  ● suite › test {n}\n\n    no {n}\n\n  ● suite › long\ntitle {n}\n\n    no\n  ● Console\n\n    x"
        )
    },
    |n| {
        format!(
            "\n/repo/src/a{n}.js\n  {n}:7  error  no  rule\n\n/repo/b.css\n {n}:2  \u{d7}  no  x"
        )
    },
];

/// What all recognisers say but those who only collect mentions, which nobody asks for when
/// another one has said something.
fn said(lines: &[String], mut panel: Panel) -> String {
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let number = at as u64 + 1;
        let next: Vec<&str> = lines.iter().skip(at).take(9).map(String::as_str).collect();
        let next = next.join("\n") + "\n";
        let skimmed = panel.skim(next.as_bytes(), number).lines;
        at += usize::try_from(skimmed).expect("a few lines");
        if skimmed == 0 {
            at += 1;
            if !panel.is_routine(line.as_bytes(), number) {
                panel.line(line, number, Hints::UNKNOWN);
            }
        }
    }
    let mut reports = panel.finish();
    reports.retain(|report| report.tool != MENTIONS);
    for report in &mut reports {
        report.forget_looks();
    }
    format!("{reports:#?}")
}

#[test]
fn what_is_taken_in_passing_is_what_would_have_been_read() {
    for (at, shape) in SHAPES.iter().enumerate() {
        for begin in
            ["", "running 9 tests", "===== test session starts =====", "[==========] Running 3"]
        {
            assert!(is_same(begin, *shape), "shape {at} after {begin:?}");
        }
    }
    for (at, shape) in FAILURES.iter().chain(RUNS).enumerate() {
        assert!(is_same("", *shape), "failure {at}");
    }
}

/// Whether very many lines of this shape say the same when they are taken in passing.
fn is_same(begin: &str, shape: fn(u64) -> String) -> bool {
    let lines = (1..2_500).flat_map(|n| shape(n).lines().map(str::to_owned).collect::<Vec<_>>());
    let lines: Vec<String> = [begin.to_owned()].into_iter().chain(lines).collect();
    let (quick, mut thorough) = (Panel::new("make"), Panel::new("make"));
    thorough.is_thorough = true;
    said(&lines, quick) == said(&lines, thorough)
}

#[test]
fn who_takes_lines_for_routine_says_so() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tool");
    let mut takers = 0;
    for file in std::fs::read_dir(folder).expect("tools") {
        let path = file.expect("a file").path();
        let Ok(source) = std::fs::read_to_string(&path) else { continue };
        let takes = source.contains("fn routine(&mut self");
        assert_eq!(takes, source.contains("fn has_routine(&self)"), "{}", path.display());
        takers += u32::from(takes);
    }
    let said = Panel::new("make").taking.count_ones();
    assert!(takers > 20 && said >= takers, "{said} of {takers}");
}
