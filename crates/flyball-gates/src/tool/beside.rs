//! What several tools print one after the other in one check.

use super::shapes::{all, parse};
use crate::report::Findings;
use crate::{Finding, FindingKind, Parsed};

#[test]
fn what_a_linter_annotates_stays_beside_tests_and_what_tests_say_twice_does_not() {
    let output = "::error title=ruff (F401),file=/p/shop/a.py,line=1,col=8::shop/a.py:1:8: F401 unused\n\
                  ::error file=/p/tests/test_a.py,line=3::AssertionError: assert 1 == 2\n\
                  ===== test session starts =====\n===== FAILURES =====\n____ test_x ____\n\n>   assert 1 == 2\n\
                  E   AssertionError: assert 1 == 2\n\ntests/test_a.py:3: AssertionError\n\
                  ===== short test summary info =====\nFAILED tests/test_a.py::test_x - AssertionError\n\
                  ===== 1 failed in 0.1s =====\n";
    let found = all("./ci.sh", output);
    let [lint, test] = found.as_slice() else { panic!("{found:?}") };
    assert!(lint.starts_with("ruff (F401)|/p/shop/a.py:1:8|"), "{lint}");
    assert!(test.starts_with("tests/test_a.py::test_x|tests/test_a.py:3|"), "{test}");
}

#[test]
fn warnings_that_made_it_red_are_told_beside_what_others_find() {
    let test = "not ok 1 - adds\n1..1\n";
    for (output, want) in [
        (
            "\n/p/a.js\n  1:7  warning  Odd  no-odd\n\n\u{2716} 1 problem (0 errors, 1 warning)\n\n\
             ESLint found too many warnings (maximum: 0).\n",
            "no-odd|/p/a.js:1:7|Odd",
        ),
        (
            "A.java:4: warning: [rawtypes] found raw type: List\n    List a;\n    ^\n\
             error: warnings found and -Werror specified\n1 error\n1 warning\n",
            "rawtypes|A.java:4:5|found raw type: List",
        ),
        (
            "src/a.ts:4:7 lint/no \u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\n\n  ! Odd.\n\n\n\
             Found 1 warning.\nlint \u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\n\n  \
             \u{d7} Some warnings were emitted while running checks.\n\n\n",
            "lint/no|src/a.ts:4:7|Odd.",
        ),
    ] {
        assert_eq!(all("make check", &format!("{output}{test}")), [want, "adds||test failed"]);
    }
    let only =
        "\n/p/a.js\n  1:7  warning  Odd  no-odd\n\n\u{2716} 1 problem (0 errors, 1 warning)\n\n";
    assert_eq!(all("make check", &format!("{only}{test}")), ["adds||test failed"]);
}

#[test]
fn warnings_that_become_findings_again_and_again_are_bounded() {
    let mut findings = Findings::default();
    for time in 0..3_000_u32 {
        let mut warnings = Findings::default();
        for line in 1..4_u32 {
            let warning = Finding::new(FindingKind::Lint, format!("odd {time}"));
            warnings.push(line.into(), warning.at("a.js", Some(line), None));
        }
        findings.absorb(warnings);
    }
    assert_eq!(findings.kept().count(), Parsed::FINDINGS_MAX);
    let (kept, left_out) = findings.take();
    assert_eq!(kept.len() as u64 + left_out, 9_000);
}

#[test]
fn one_tool_ends_where_the_next_begins() {
    let mypy = "shop/cart.py:20: error: Argument 1 to \"total\" has incompatible type \"str\"; expected\n\
                \"list[int]\"\nFound 1 error in 1 file (checked 3 source files)\n===== test session starts =====\n";
    let want = "Argument 1 to \"total\" has incompatible type \"str\"; expected \"list[int]\"";
    assert_eq!(parse("make check", mypy).findings[0].message, want);
    let eslint = "\n/p/a.js\n  1:7  error  Odd  no-odd\n\n\u{2716} 1 problem (1 error, 0 warnings)\n  1 error and \
                  0 warnings potentially fixable with the `--fix` option.\n\n\u{2716} adds (2ms)\n  Error: no\n\n\
                  \u{2139} tests 1\n\u{2139} fail 1\n";
    assert_eq!(all("npm test", eslint), ["no-odd|/p/a.js:1:7|Odd", "adds||Error: no"]);
}

#[test]
fn a_report_of_other_tests_stays_even_where_there_are_as_many() {
    let junit = |name: &str| {
        format!(
            "<testsuites>\n<testsuite name=\"s\" tests=\"1\" failures=\"1\">\n<testcase classname=\"a\" \
             name=\"{name}\"><failure message=\"no\">no</failure></testcase>\n</testsuite>\n</testsuites>\n"
        )
    };
    let cargo = "running 1 test\ntest area::adds ... FAILED\n\nfailures:\n\n---- area::adds stdout ----\nthread \
                 'area::adds' panicked at src/a.rs:3:9:\nno\n\n\nfailures:\n    area::adds\n\ntest result: \
                 FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n\n";
    let names = |junit: &str| {
        let found = parse("make check", &format!("{cargo}{junit}")).findings.into_iter();
        found.filter_map(|found| found.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&junit("adds")), ["area::adds"]);
    let both = names(&junit("takes"));
    assert!(both.len() == 2 && both[1].ends_with("takes"), "{both:?}");
}
