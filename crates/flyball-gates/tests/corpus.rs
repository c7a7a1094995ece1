//! Real output of real tools: what a person reads in it is what the parser must say.
//!
//! Each case is `corpus/<tool>/<case>.txt`, byte for byte as the tool printed it (machine
//! paths replaced), with `<case>.expect.json` beside it.

#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail loudly")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use flyball_gates::{Counts, Finding, FindingKind, Parsed, Parser};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Expect {
    command: String,
    exit: Option<i32>,
    tools: Vec<String>,
    counts: Option<Counts>,
    findings: Vec<Expected>,
    #[serde(default, skip_serializing_if = "is_zero")]
    findings_left_out: u64,
}

#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Expected {
    kind: FindingKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    message: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

struct Case {
    tool: String,
    name: String,
    output: Vec<u8>,
    expect: Expect,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for tool in fs::read_dir(folder()).expect("the corpus") {
        let tool = tool.expect("a folder").path();
        for file in fs::read_dir(&tool).expect("a tool's folder") {
            let file = file.expect("a file").path();
            if file.extension().is_some_and(|end| end == "txt") {
                let text = fs::read_to_string(file.with_extension("expect.json")).unwrap_or_else(
                    |error| panic!("{} has no expectation: {error}", file.display()),
                );
                cases.push(Case {
                    tool: name_of(&tool),
                    name: name_of(&file.with_extension("")),
                    output: fs::read(&file).expect("the output"),
                    expect: serde_json::from_str(&text)
                        .unwrap_or_else(|error| panic!("{}: {error}", file.display())),
                });
            }
        }
    }
    cases.sort_by(|a, b| (&a.tool, &a.name).cmp(&(&b.tool, &b.name)));
    cases
}

fn name_of(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

fn parse(case: &Case, chunks: impl Iterator<Item = Vec<u8>>) -> Parsed {
    let mut parser = Parser::new(&case.expect.command);
    for chunk in chunks {
        parser.feed(&chunk);
    }
    parser.finish(case.expect.exit)
}

fn whole(case: &Case) -> Parsed {
    parse(case, std::iter::once(case.output.clone()))
}

fn said(case: &Case, parsed: &Parsed) -> Expect {
    Expect {
        command: case.expect.command.clone(),
        exit: case.expect.exit,
        tools: parsed.tools.iter().map(|&tool| tool.to_owned()).collect(),
        counts: parsed.counts,
        findings: parsed.findings.iter().cloned().map(expected).collect(),
        findings_left_out: parsed.findings_left_out,
    }
}

fn expected(finding: Finding) -> Expected {
    let Finding { kind, name, file, line, column, package: _, message, excerpt: _, old: _ } =
        finding;
    Expected { kind, name, file, line, column, message }
}

fn lines_that_differ(want: &Expect, got: &Expect) -> String {
    let want = serde_json::to_string_pretty(want).expect("json");
    let got = serde_json::to_string_pretty(got).expect("json");
    let (want, got): (Vec<_>, Vec<_>) = (want.lines().collect(), got.lines().collect());
    let mut shown = String::new();
    for at in 0..want.len().max(got.len()) {
        let (want, got) = (want.get(at), got.get(at));
        if want != got {
            let (want, got) = (want.unwrap_or(&""), got.unwrap_or(&""));
            writeln!(shown, "  - {want}\n  + {got}").expect("a string takes it");
        }
    }
    shown
}

#[test]
fn every_case_says_exactly_what_a_person_reads_in_it() {
    update_expectations();
    let mut wrong = String::new();
    for case in cases() {
        let got = said(&case, &whole(&case));
        if got != case.expect {
            let differs = lines_that_differ(&case.expect, &got);
            writeln!(wrong, "{}/{}\n{differs}", case.tool, case.name).expect("a string takes it");
        }
    }
    assert!(wrong.is_empty(), "expected (-) and got (+):\n{wrong}");
}

#[test]
fn the_corpus_is_wide_enough_to_mean_something() {
    let cases = cases();
    let tools: BTreeSet<&str> = cases.iter().map(|case| case.tool.as_str()).collect();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    assert!(tools.len() >= 18, "{} tools: {tools:?}", tools.len());
}

#[test]
fn chunk_borders_never_matter() {
    for case in cases() {
        let want = whole(&case);
        let bytes = case.output.iter().map(|byte| vec![*byte]);
        assert_eq!(parse(&case, bytes), want, "{}/{} byte by byte", case.tool, case.name);
        // Sizes from a small fixed generator: the same on every run.
        let mut state = 0x9e37_79b9_u32;
        let mut rest = case.output.as_slice();
        let mut chunks = Vec::new();
        while !rest.is_empty() {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let size = (state >> 16) as usize % 97 + 1;
            let (chunk, after) = rest.split_at(size.min(rest.len()));
            chunks.push(chunk.to_vec());
            rest = after;
        }
        assert_eq!(parse(&case, chunks.into_iter()), want, "{}/{}", case.tool, case.name);
    }
}

#[test]
fn colours_and_windows_line_ends_change_nothing() {
    for case in cases() {
        let text = String::from_utf8_lossy(&case.output).into_owned();
        if text.contains('\r') || text.trim_start().starts_with(['{', '[', '<']) {
            continue;
        }
        let want = whole(&case);
        let crlf = text.replace('\n', "\r\n").into_bytes();
        assert_eq!(parse(&case, std::iter::once(crlf)), want, "{}/{} crlf", case.tool, case.name);
        let coloured: Vec<String> =
            text.lines().map(|line| format!("\u{1b}[1;31m{line}\u{1b}[0m")).collect();
        let coloured = coloured.join("\n");
        let got = parse(&case, std::iter::once(coloured.into_bytes()));
        assert_eq!(said(&case, &got), said(&case, &want), "{}/{} coloured", case.tool, case.name);
    }
}

#[test]
fn a_cut_output_never_panics_and_stays_within_its_limits() {
    for case in cases() {
        for step in 0..=20 {
            let cut = case.output.len() * step / 20;
            let parsed = parse(&case, std::iter::once(case.output[..cut].to_vec()));
            assert!(parsed.findings.len() <= Parsed::FINDINGS_MAX);
            assert!(parsed.tail.chars().count() <= 4_000);
            if case.expect.exit == Some(0) {
                assert!(parsed.findings.is_empty(), "{}/{} at {cut}", case.tool, case.name);
            }
        }
    }
}

/// Tools that say everything about a finding in one line: strangers in between do no harm.
const LINE_TOOLS: &[&str] = &[
    "flake8/failing",
    "mypy/more",
    "mypy/columns",
    "tsc/types",
    "tsc/plain",
    "ruff/concise",
    "gcc/errors",
    "clang/errors",
    "rustc/compile-failure-short",
    "rustc/compile-failure-json",
    "clippy/denied-json",
    "libtest-json/failing",
    "go-test/failing-json",
    "go-test/build-failure",
    "go-vet/findings",
    "eslint/stylish",
    "prettier/check",
    "pytest/failing-tb-no",
];

#[test]
fn a_stranger_between_any_two_lines_loses_nothing_where_a_finding_is_a_line() {
    let cases = cases();
    for name in LINE_TOOLS {
        let case = cases.iter().find(|case| format!("{}/{}", case.tool, case.name) == *name);
        let case = case.unwrap_or_else(|| panic!("no case {name}"));
        let text = String::from_utf8_lossy(&case.output);
        let lines: Vec<&str> = text.lines().collect();
        let mixed = lines.join("\nworker 3: still alive\n");
        let got = parse(case, std::iter::once(mixed.into_bytes()));
        assert_eq!(said(case, &got), case.expect, "{name}");
    }
}

#[test]
fn noise_before_and_after_loses_nothing() {
    let noise = "Preparing the workspace\n[12:30:01] step 3 of 9: see http://localhost:8080/log\n\
                 Downloading 42% of things\n\n";
    for case in cases() {
        let mut output = noise.as_bytes().to_vec();
        output.extend_from_slice(&case.output);
        output.extend_from_slice(b"\n");
        output.extend_from_slice(noise.as_bytes());
        let got = parse(&case, std::iter::once(output));
        assert_eq!(said(&case, &got), case.expect, "{}/{}", case.tool, case.name);
    }
}

#[test]
fn excerpts_messages_and_tails_stay_within_their_limits() {
    for case in cases() {
        let parsed = whole(&case);
        for finding in &parsed.findings {
            assert!(finding.message.chars().count() <= 2_000);
            let excerpt = finding.excerpt.as_deref().unwrap_or_default();
            assert!(excerpt.lines().count() <= 20 && excerpt.chars().count() <= 2_000);
        }
        assert!(!parsed.tail.contains('\u{1b}'), "{}/{}", case.tool, case.name);
    }
}

/// Writes down what the parser says now, to be read and corrected by a person; only when
/// `UPDATE_GATE_CORPUS` is set, before the corpus is compared.
fn update_expectations() {
    if std::env::var_os("UPDATE_GATE_CORPUS").is_none() {
        return;
    }
    for case in cases() {
        let got = said(&case, &whole(&case));
        let text = serde_json::to_string_pretty(&got).expect("json") + "\n";
        let path = folder().join(&case.tool).join(format!("{}.expect.json", case.name));
        fs::write(path, text).expect("the expectation");
    }
}
