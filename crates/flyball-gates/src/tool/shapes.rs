//! Formats known by their documented shape only: their tools were not at hand to be captured.

use crate::{Counts, FindingKind};

use crate::{Parsed, Parser};

pub(super) fn parse(command: &str, output: &str) -> Parsed {
    let mut parser = Parser::new(command);
    parser.feed(output.as_bytes());
    parser.finish(Some(1))
}

pub(super) fn told(parsed: &Parsed) -> Vec<(FindingKind, &str, String, &str)> {
    let tell = |f: &'_ crate::Finding| f.place().unwrap_or_default();
    parsed
        .findings
        .iter()
        .map(|f| (f.kind, f.name.as_deref().unwrap_or(""), tell(f), f.message.as_str()))
        .collect()
}

/// Name, place and message of every finding.
pub(super) fn all(command: &str, output: &str) -> Vec<String> {
    let parsed = parse(command, output);
    let tell = |(_, name, place, said): (FindingKind, &str, String, &str)| {
        format!("{name}|{place}|{said}")
    };
    told(&parsed).into_iter().map(tell).collect()
}

#[test]
fn golangci_lint_as_text_and_as_json_says_the_same() {
    let text = "cmd/main.go:10:9: Error return value of `f.Close` is not checked (errcheck)\n\
                \tf.Close()\n\t       ^\n\
                cmd/main.go:14:2: undefined: foo (typecheck)\n2 issues:\n* errcheck: 1\n";
    let json = r#"{"Issues":[{"FromLinter":"errcheck","Text":"Error return value of `f.Close` is not checked","Severity":"","SourceLines":["\tf.Close()"],"Pos":{"Filename":"cmd/main.go","Offset":1,"Line":10,"Column":9}},{"FromLinter":"typecheck","Text":"undefined: foo","SourceLines":null,"Pos":{"Filename":"cmd/main.go","Line":14,"Column":2}}],"Report":{"Linters":[]}}"#;
    let want = [
        (
            FindingKind::Lint,
            "errcheck",
            "cmd/main.go:10:9".to_owned(),
            "Error return value of `f.Close` is not checked",
        ),
        (FindingKind::Compile, "typecheck", "cmd/main.go:14:2".to_owned(), "undefined: foo"),
    ];
    for output in [text, json] {
        let parsed = parse("golangci-lint run", output);
        assert_eq!(told(&parsed), want);
        assert_eq!(parsed.tools, ["golangci-lint"]);
    }
}

#[test]
fn surefire_3_names_tests_differently() {
    let parsed = parse(
        "mvn test",
        "[ERROR] shop.CartTest.raises -- Time elapsed: 0.001 s <<< ERROR!\n\
         java.lang.IllegalStateException: no such item\n\
         \tat shop.CartTest.raises(CartTest.java:17)\n\n\
         [ERROR] Tests run: 1,234, Failures: 0, Errors: 1, Skipped: 0\n",
    );
    let want = "java.lang.IllegalStateException: no such item";
    let place = "CartTest.java:17".to_owned();
    assert_eq!(told(&parsed), [(FindingKind::Test, "shop.CartTest.raises", place, want)]);
}

#[test]
fn kotlin_errors_come_through_gradle() {
    let parsed = parse(
        "./gradlew build",
        "> Task :compileKotlin FAILED\ne: file:///repo/src/A.kt:3:5 Unresolved reference: foo\n\
         \n* What went wrong:\nExecution failed for task ':compileKotlin'.\n\nBUILD FAILED in 2s\n",
    );
    let want = "Unresolved reference: foo";
    assert_eq!(told(&parsed), [(FindingKind::Compile, "", "/repo/src/A.kt:3:5".to_owned(), want)]);
}

#[test]
fn gradle_says_itself_why_when_nothing_else_does() {
    let parsed = parse(
        "./gradlew build",
        "* What went wrong:\nTask 'chek' not found in root project.\n\nBUILD FAILED in 1s\n",
    );
    let want = "Task 'chek' not found in root project.";
    assert_eq!(told(&parsed), [(FindingKind::CouldNotRun, "", String::new(), want)]);
}

#[test]
fn pylint_black_and_older_ruff_are_told_apart() {
    let parsed = parse(
        "lint.sh",
        "************* Module shop\nshop/a.py:1:0: C0114: Missing module docstring (missing-docs)\n",
    );
    let place = "shop/a.py:1".to_owned();
    let want = "Missing module docstring";
    assert_eq!(told(&parsed), [(FindingKind::Lint, "missing-docs", place, want)]);
    assert_eq!(parsed.tools, ["pylint"]);
    let unread = "error: cannot format shop/b.py: Cannot parse for target version Python 3.13: 2:4: x(\n\
                  would reformat shop/a.py\n\nOh no!\n";
    let found = parse("make format", unread);
    let line = unread.lines().next().expect("a line");
    assert_eq!(told(&found)[0], (FindingKind::Compile, "", "shop/b.py:2:4".to_owned(), line));
    assert_eq!(told(&found).len(), 2);
    let unread = "error: Failed to parse shop/b.py:3:7: no\nWould reformat: shop/a.py\n";
    let found = parse("make format", unread);
    let line = unread.lines().next().expect("a line");
    assert_eq!(told(&found)[0], (FindingKind::Compile, "", "shop/b.py:3:7".to_owned(), line));
    assert_eq!((told(&found).len(), found.tools), (2, vec!["ruff"]));
    for (output, tool) in [
        ("would reformat shop/a.py\nOh no!\n1 file would be reformatted.\n", "black"),
        ("Would reformat: shop/a.py\n1 file would be reformatted\n", "ruff"),
    ] {
        let parsed = parse("make format", output);
        let want = output.lines().next().expect("a line");
        assert_eq!(told(&parsed), [(FindingKind::Format, "", "shop/a.py".to_owned(), want)]);
        assert_eq!(parsed.tools, [tool]);
    }
}

#[test]
fn newer_go_lists_the_tests_that_were_running_at_a_timeout() {
    let parsed = parse(
        "go test ./...",
        "panic: test timed out after 1s\n\trunning tests:\n\t\tTestSlow (1s)\n\n\
         goroutine 6 [sleep]:\ntime.Sleep(0x1)\n\t/usr/local/go/src/time/sleep.go:1 +0x1\n\
         x.TestSlow(0x0)\n\t/repo/slow_test.go:8 +0x25\ntesting.tRunner(0x1)\n\
         FAIL\texample.com/x\t1.0s\nFAIL\n",
    );
    let place = "/repo/slow_test.go:8".to_owned();
    let want = "panic: test timed out after 1s";
    assert_eq!(told(&parsed), [(FindingKind::Timeout, "TestSlow", place, want)]);
}

#[test]
fn a_cut_junit_report_gives_what_it_has() {
    let parsed = parse(
        "cat report.xml",
        "<?xml version=\"1.0\"?>\n<testsuites><testsuite name=\"a\" time=\"1,234.5\">\n\
         <testcase classname=\"a.B\" name=\"works\" time=\"1,000.2\"/>\n\
         <testcase classname=\"a.B\" name=\"breaks\"><failure message=\"no &amp; no\">x</failure>\
         </testcase>\n<testcase classname=\"a.B\" name=\"cu",
    );
    assert_eq!(told(&parsed), [(FindingKind::Test, "a.B.breaks", String::new(), "no & no")]);
    assert_eq!(parsed.counts, Some(Counts { passed: 1, failed: 1, skipped: 0 }));
}

#[test]
fn a_junit_report_of_tests_already_counted_is_not_counted_again() {
    let parsed = parse(
        "pytest --junitxml=r.xml; cat r.xml",
        "FAILED test_a.py::test_x - boom\n1 failed, 1 passed in 0.03s\n\
         <testsuites><testsuite><testcase name=\"x\"><failure message=\"boom\"/></testcase>\
         <testcase name=\"y\"/></testsuite></testsuites>\n",
    );
    assert_eq!(parsed.counts, Some(Counts { passed: 1, failed: 1, skipped: 0 }));
    assert_eq!(parsed.findings.len(), 1);
}

#[test]
fn a_killed_check_keeps_its_findings_and_a_green_one_drops_them() {
    let output = "a.c:1:2: error: no\n";
    for (exit, want) in [(None, 1), (Some(1), 1), (Some(0), 0)] {
        let mut parser = Parser::new("make");
        parser.feed(output.as_bytes());
        assert_eq!(parser.finish(exit).findings.len(), want, "{exit:?}");
    }
}

#[test]
fn sarif_notes_are_nothing_and_warnings_only_matter_alone() {
    let sarif = |levels: &[&str]| {
        let results: Vec<String> = levels
            .iter()
            .map(|l| format!(r#"{{"ruleId":"{l}","level":"{l}","message":{{"text":"t"}}}}"#))
            .collect();
        let results = results.join(",");
        let document = format!(
            r#"{{"version":"2.1.0","$schema":"x/sarif","runs":[{{"results":[{results}]}}]}}"#
        );
        parse("scan", &document).findings.into_iter().filter_map(|f| f.name).collect::<Vec<_>>()
    };
    assert_eq!(sarif(&["error", "warning", "note"]), ["error"]);
    assert_eq!(sarif(&["warning", "note"]), ["warning"]);
    assert!(sarif(&["note"]).is_empty());
}

#[test]
fn newer_go_reports_compile_errors_as_events() {
    let parsed = parse(
        "go test -json ./...",
        "{\"ImportPath\":\"x\",\"Action\":\"build-output\",\"Output\":\"# x\\n\"}\n\
         {\"ImportPath\":\"x\",\"Action\":\"build-output\",\"Output\":\"./a.go:6:2: no\\n\"}\n\
         {\"ImportPath\":\"x\",\"Action\":\"build-fail\"}\n",
    );
    assert_eq!(told(&parsed), [(FindingKind::Compile, "", "a.go:6:2".to_owned(), "no")]);
}

#[test]
fn older_nextest_does_not_indent_what_a_test_printed() {
    let parsed = parse(
        "cargo nextest run",
        "    Starting 2 tests across 1 binary\n        FAIL [   0.005s] ledger tests::a\n\n\
         --- STDOUT:              ledger tests::a ---\n\nrunning 1 test\ntest tests::a ... FAILED\n\n\
         failures:\n\nfailures:\n    tests::a\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; \
         0 measured; 6 filtered out; finished in 0.00s\n\n\n\
         --- STDERR:              ledger tests::a ---\nthread 'tests::a' panicked at src/a.rs:3:9:\n\
         boom\nnote: run with x\n\n        PASS [   0.005s] ledger tests::b\n------------\n     \
         Summary [   0.1s] 2 tests run: 1 passed, 1 failed, 0 skipped\n        \
         FAIL [   0.005s] ledger tests::a\nerror: test run failed\n",
    );
    let place = "src/a.rs:3:9".to_owned();
    assert_eq!(told(&parsed), [(FindingKind::Test, "tests::a", place, "boom")]);
    assert_eq!(parsed.counts, Some(Counts { passed: 1, failed: 1, skipped: 0 }));
}

#[test]
fn linters_that_speak_like_compilers_are_lints() {
    let parsed = parse(
        "shellcheck -f gcc run.sh",
        "run.sh:3:5: error: Double quote to prevent globbing. [SC2086]\n",
    );
    let want = "Double quote to prevent globbing.";
    assert_eq!(told(&parsed), [(FindingKind::Lint, "SC2086", "run.sh:3:5".to_owned(), want)]);
}

#[test]
fn a_bare_plan_is_not_yet_tap() {
    assert_eq!(parse("x", "1..3\n").counts, None);
}
