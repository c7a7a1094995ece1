//! Whatever a runner of several programs puts before each line, the findings are the same.

#![expect(clippy::expect_used, reason = "a test may fail loudly")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use flyball_gates::{FindingKind, Parsed};

/// Fewer lines than these may be anything.
const LINES_MIN: usize = 8;

struct Case {
    name: String,
    exit: Option<i32>,
    output: String,
}

/// What is compared: not the excerpt, which holds lines as they came.
type Told = (FindingKind, Option<String>, Option<String>, Option<u32>, String);

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut cases = Vec::new();
    for tool in fs::read_dir(folder).expect("the corpus") {
        for file in fs::read_dir(tool.expect("a folder").path()).expect("a tool's folder") {
            let file = file.expect("a file").path();
            if file.extension().is_none_or(|end| end != "txt") {
                continue;
            }
            let expect = fs::read_to_string(file.with_extension("expect.json")).expect("it");
            let expect: serde_json::Value = serde_json::from_str(&expect).expect("json");
            let bytes = fs::read(&file).expect("an output");
            // Colours and progress lines belong to terminals.
            let output = String::from_utf8_lossy(&bytes).into_owned();
            let is_text =
                !output.trim_start().starts_with(['{', '[', '<']) && !output.contains('\r');
            if is_text && output.lines().count() >= LINES_MIN {
                cases.push(Case {
                    name: file.display().to_string(),
                    exit: expect
                        .get("exit")
                        .and_then(serde_json::Value::as_i64)
                        .and_then(|code| i32::try_from(code).ok()),
                    output,
                });
            }
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(cases.len() > 40, "{} cases", cases.len());
    cases
}

fn read(command: &str, exit: Option<i32>, output: &str) -> Parsed {
    flyball_gates::read(command, exit, output.as_bytes()).expect("bytes in memory")
}

fn told(parsed: &Parsed) -> Vec<Told> {
    let tell = |f: &flyball_gates::Finding| {
        (f.kind, f.name.clone(), f.file.clone(), f.line, f.message.clone())
    };
    parsed.findings.iter().map(tell).collect()
}

#[test]
fn interleaved_streams_are_read_each_on_its_own() {
    let cases = cases();
    let find = |name: &str| {
        let case = cases.iter().find(|case| case.name.ends_with(name)).expect("the case");
        (case, told(&read("./ci.sh", case.exit, &case.output)))
    };
    let (one, told_one) = find("pytest/failing.txt");
    let (other, told_other) = find("cargo-test/failing.txt");
    let (mut a, mut b) = (one.output.lines(), other.output.lines());
    let mut mixed = String::new();
    loop {
        let (left, right) = (a.next(), b.next());
        for (name, line) in [("web", left), ("api", right)] {
            if let Some(line) = line {
                writeln!(mixed, "{name}-1  | {line}").expect("text");
            }
        }
        if left.is_none() && right.is_none() {
            break;
        }
    }
    let got = told(&read("docker compose up", Some(1), &mixed));
    for finding in told_one.iter().chain(&told_other) {
        assert!(got.contains(finding), "{finding:?} is not in {got:#?}");
    }
    assert_eq!(got.len(), told_one.len() + told_other.len());
}

#[test]
fn pnpm_announces_a_package_and_its_folder() {
    let jest = "FAIL test/a.test.js\n  \u{25cf} words \u{203a} splits\n\n    kaputt\n\n      \
                at Object.<anonymous> (test/a.test.js:7:11)\n\nTests:       1 failed, 1 total\n";
    let mut output = "Scope: 2 of 3 workspace projects\n".to_owned();
    for package in ["a", "b"] {
        writeln!(output, "packages/{package} test$ jest").expect("text");
    }
    for line in jest.lines() {
        for package in ["a", "b"] {
            writeln!(output, "packages/{package} test: {line}").expect("text");
        }
    }
    let parsed = read("pnpm -r test", Some(1), &output);
    let files: Vec<&str> = parsed.findings.iter().filter_map(|f| f.file.as_deref()).collect();
    assert_eq!(files, ["packages/a/test/a.test.js", "packages/b/test/a.test.js"]);
    assert!(parsed.findings.iter().all(|f| f.name.as_deref() == Some("words \u{203a} splits")));
    assert_eq!(parsed.counts.map(|counts| counts.failed), Some(2));
}

/// A text with something before each of its lines.
fn behind(before: &str, text: &str) -> String {
    let mut output = String::new();
    for line in text.lines() {
        writeln!(output, "{before}{line}").expect("a string");
    }
    output
}

/// What vitest says of a test, with many others before them; every line begins with a blank or a mark.
fn vitest() -> String {
    let mut output = String::from(" RUN  v3.2.7 /repo\n");
    output.push_str(" \u{276f} src/a.test.ts (32 tests | 1 failed) 27ms\n");
    for number in 0..30 {
        writeln!(output, "   \u{2713} sums > keeps {number} 1ms").expect("a string");
    }
    output.push_str(
        "   \u{d7} sums > doubles 3ms\n     \u{2192} expected 3 to be 4 // Object.is equality\n\
         \u{23af}\u{23af}\u{23af} Failed Tests 1 \u{23af}\u{23af}\u{23af}\n\
         \x20FAIL  src/a.test.ts > sums > doubles\nAssertionError: expected 3 to be 4 // Object.is equality\n\
         \x20\u{276f} src/a.test.ts:7:12\n\u{23af}\u{23af}\u{23af}\u{23af}[1/1]\u{23af}\n\
         \x20Test Files  1 failed (1)\n      Tests  1 failed | 31 passed (32)\n",
    );
    output
}

#[test]
fn a_blank_that_a_tool_puts_before_all_its_lines_is_not_the_prefixs() {
    let want = told(&read("vitest run", Some(1), &vitest()));
    assert_eq!(want.len(), 1, "{want:?}");
    for before in ["web-1  | ", "[api] ", "2026-11-17T21:15:00.0000000Z "] {
        let output = behind(before, &vitest());
        assert_eq!(told(&read("./ci.sh", Some(1), &output)), want, "{before}");
    }
}

#[test]
fn one_package_after_the_other_is_announced_and_heard() {
    let mut output = String::from("Scope: 2 of 3 workspace projects\n");
    for package in ["packages/a", "packages/b"] {
        writeln!(output, "{package} test$ vitest run").expect("a string");
        for line in vitest().lines() {
            writeln!(output, "{package} test: {line}").expect("a string");
        }
    }
    let files: Vec<_> = told(&read("pnpm -r test", Some(1), &output))
        .into_iter()
        .filter_map(|(kind, _, file, ..)| file.filter(|_| kind == FindingKind::Test))
        .collect();
    assert_eq!(files, ["packages/a/src/a.test.ts", "packages/b/src/a.test.ts"]);
}

#[test]
fn a_heading_may_stand_above_indented_output() {
    let pytest = "============ test session starts ============\ncollected 1 item\n\na.py F\n\n\
        ================= FAILURES ==================\n_________________ test_a __________________\n\n\
        \x20   def test_a():\n>       assert 1 == 2\nE       assert 1 == 2\n\na.py:2: AssertionError\n\
        ========= short test summary info ==========\nFAILED a.py::test_a - assert 1 == 2\n\
        ============ 1 failed in 0.01s =============\n";
    let pytest = "tests:\n".to_owned() + &behind("    ", pytest);
    let told_of = told(&read("./ci.sh", Some(1), &pytest));
    assert_eq!(told_of.len(), 1, "{told_of:?}");
    assert_eq!(told_of.first().and_then(|told| told.1.as_deref()), Some("a.py::test_a"));
}

/// One program speaks for a while, then another: a prefix that all of the first lines share is not
/// the only one.
#[test]
fn who_speaks_later_is_heard_as_well() {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let of = |name: &str| fs::read_to_string(captures.join(name)).expect("a capture");
    let both = [("web", of("vitest/plain.txt")), ("api", of("pytest/plain.txt"))];
    let mut alone: Vec<Told> = Vec::new();
    for (_, output) in &both {
        alone.extend(told(&read("./ci.sh", Some(1), output)));
    }
    alone.sort();
    assert!(alone.len() > 4, "{alone:?}");
    // `lint.1 | `, bare names, and names behind a time.
    let shapes: [fn(&str) -> String; 3] = [
        |name| format!("12:30:01 {name}.1 | "),
        |name| format!("{name} "),
        |name| format!("01:24:15 {name} "),
    ];
    for before in shapes {
        let mut output = String::new();
        for (name, own) in &both {
            for line in own.lines() {
                writeln!(output, "{}{line}", before(name)).expect("text");
            }
        }
        let mut found = told(&read("./ci.sh", Some(1), &output));
        found.sort();
        assert_eq!(found, alone, "behind {:?}", before("web"));
    }
}

#[test]
fn what_tools_say_of_gravity_themselves_is_no_prefix() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let output = fs::read_to_string(corpus.join("maven/failing.txt")).expect("an output");
    let plain = told(&read("mvn test", Some(1), &output));
    let mut stamped = String::new();
    for line in output.lines() {
        writeln!(stamped, "[2026-11-18T00:47:57.697888Z] {line}").expect("text");
    }
    assert!(!plain.is_empty());
    assert_eq!(told(&read("mvn test", Some(1), &stamped)), plain);
}

#[test]
fn what_act_says_itself_has_no_bar_before_it() {
    let said = |text: &str| format!("[build/linux] {text}\n");
    let mut output = String::new();
    for step in ["checkout", "configure", "build", "link"] {
        output += &said(&format!("\u{2b50} Run Main {step}"));
        output += &said("  \u{1f433}  docker exec cmd=[bash --noprofile -e] user= workdir=");
        if step == "link" {
            for line in [
                "/usr/bin/ld: a.cpp.o: in function `main':",
                "a.cpp:(.text+0x85): undefined reference to `perimeter(double)'",
                "collect2: error: ld returned 1 exit status",
            ] {
                output += &said(&format!("  | {line}"));
            }
            output += &said("  \u{274c}  Failure - Main link [0.2s]");
        } else {
            output += &said("  | -- done");
            output += &said(&format!("  \u{2705}  Success - Main {step} [0.2s]"));
        }
    }
    output += "Error: Job 'linux' failed\n";
    let parsed = read("act push", Some(1), &output);
    let [found] = parsed.findings.as_slice() else { panic!("{:?}", parsed.findings) };
    assert_eq!(found.kind, FindingKind::Compile);
    assert_eq!(found.file.as_deref(), Some("a.cpp"));
    assert_eq!(found.message, "undefined reference to `perimeter(double)'");
}
