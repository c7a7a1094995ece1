//! Python's unittest: failure blocks between rules, and `Ran 7 tests`; green, which runs the same tests;
//! and doctest.

mod doctest;

use crate::{Counts, Finding, FindingKind};

use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Names, Report};
use crate::text;

/// Reads `FAIL: test_x (module.Class.test_x)` with its traceback.
#[derive(Clone, Default)]
pub(super) struct Unittest {
    spoke: bool,
    ran: Option<u64>,
    counts: Option<Counts>,
    after_rule: bool,
    open: Option<Open>,
    /// An example in a doc string that failed.
    example: Option<doctest::Example>,
    names: Names,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    name: String,
    is_import: bool,
    /// The traceback has begun: the line of dashes has come.
    begun: bool,
    end: End,
    place: Option<(String, u32)>,
    message: Block,
    excerpt: Block,
}

/// What ends a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Rule,
    Blank,
    /// The next failure: the examples of a doc string that a suite runs as one test stand between dashes.
    Next,
}

impl Recogniser for Unittest {
    fn name(&self) -> &'static str {
        "unittest"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &[
                "====", "FAIL:", "FAILED", "ERRO", "Ran ", "OK", "UNEX", "test", "Fail", "Erro",
                "File",
            ],
            ..Cues::NONE
        }
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        if let Some(open) = &self.open {
            // More of a failure of which nothing is kept.
            let is_mark = matches!(line.trim_ascii_start().first(), Some(b'=' | b'-' | b'R'));
            return open.begun && open.excerpt.is_closed() && !is_mark;
        }
        let is_calm = !self.after_rule && self.ran.is_none();
        let test =
            line.strip_suffix(b" ... ok").filter(|test| is_calm && test.starts_with(b"test"));
        let is_one = |test: &&[u8]| {
            let blank = memchr::memchr(b' ', test).and_then(|at| test.get(at + 1..));
            let path = blank.and_then(|rest| rest.strip_prefix(b"(")?.strip_suffix(b")"));
            path.is_some_and(|path| memchr::memchr(b' ', path).is_none())
        };
        // Names with their class, where Python prints it with the test.
        test.filter(is_one).is_some_and(|test| self.names.ran_bytes(test, path))
    }

    fn after_routine(&self) -> Attention {
        let is_open = self.open.is_some() || self.example.is_some();
        if is_open { Attention::Busy } else { Attention::Idle }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if text::is_rule(text, '=', 60) {
            self.close();
            self.after_rule = true;
            return Attention::Busy;
        }
        let titled = std::mem::take(&mut self.after_rule);
        if let Some(example) = &mut self.example {
            if !example.line(text) {
                self.close();
            }
            return self.after_routine();
        }
        if self.open.is_none()
            && let Some(example) = doctest::Example::begun(text, line.number)
        {
            self.example = Some(example);
            return Attention::Busy;
        }
        if let Some(name) = loose_title(text) {
            self.close();
            let mut open = Open::new((name.to_owned(), false), line.number, self.findings.room());
            (open.begun, open.end) = (true, End::Blank);
            self.open = Some(open);
            return Attention::Busy;
        }
        if titled && let Some(rest) = text.strip_prefix("UNEXPECTED SUCCESS: ") {
            self.spoke = true;
            let name =
                title(&format!("FAIL: {rest}")).map_or_else(|| rest.to_owned(), |(name, _)| name);
            let message = "unexpected success: the test was expected to fail";
            let finding = Finding::new(FindingKind::Test, message).named(name);
            self.findings.push(line.number, finding);
        } else if titled && let Some(name) = title(text) {
            self.open = Some(Open::new(name, line.number, self.findings.room()));
        } else if let Some(rest) = text.strip_prefix("Ran ")
            && let Some((ran, rest)) = text::number(rest)
            && rest.starts_with(" test")
        {
            self.close();
            self.ran = Some(ran);
            self.spoke = true;
        } else if let Some(test) = tested(text).filter(|_| self.open.is_none()) {
            self.names.ran(path(test));
        } else if self.ran.is_some() && (text.starts_with("FAILED (") || is_ok(text)) {
            self.total(text);
        } else if let Some(open) = &mut self.open {
            let is_over = open.end == End::Blank && text.is_empty() && !open.message.is_blank();
            if is_over || open.begun && open.end != End::Next && text::is_rule(text, '-', 60) {
                self.close();
            } else {
                open.line(text);
            }
        }
        self.after_routine()
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        (self.spoke || !self.findings.is_empty()).then(|| Report {
            tool: "unittest",
            counts: self.counts,
            names: std::mem::take(&mut self.names),
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Unittest {
    fn close(&mut self) {
        if let Some((number, finding)) = self.example.take().and_then(doctest::Example::finding) {
            self.findings.push(number, finding);
        }
        if let Some(open) = self.open.take()
            && open.begun
            && !self.findings.is_known(&[&open.name, open.excerpt.as_str()])
        {
            let number = open.number;
            self.findings.push(number, open.into_finding());
        }
    }

    fn total(&mut self, text: &str) {
        let ran = self.ran.take().unwrap_or(0);
        let (mut failed, mut skipped) = (0_u64, 0_u64);
        for (name, count) in text::assignments(text) {
            match name {
                "failures" | "errors" | "unexpected successes" => failed += count,
                "skipped" | "expected failures" => skipped += count,
                _ => {}
            }
        }
        let passed = ran.saturating_sub(failed).saturating_sub(skipped);
        let before = self.counts.unwrap_or_default();
        self.counts = Some(Counts {
            passed: before.passed.saturating_add(passed),
            failed: before.failed.saturating_add(failed),
            skipped: before.skipped.saturating_add(skipped),
        });
    }
}

impl Open {
    fn new(name: (String, bool), number: u64, room: Block) -> Self {
        Self {
            number,
            name: name.0,
            is_import: name.1,
            begun: false,
            end: End::Rule,
            place: None,
            message: Block::default(),
            excerpt: room,
        }
    }

    fn line(&mut self, text: &str) {
        if !self.begun {
            self.begun = text::is_rule(text, '-', 60);
            return;
        }
        if self.excerpt.is_closed() {
            return;
        }
        self.excerpt.push(text);
        if self.end == End::Next {
            self.example(text);
        } else if text.starts_with("AssertionError: Failed doctest test for ") {
            self.end = End::Next;
            self.message.push(text);
        } else if let Some(rest) = text.strip_prefix("  File \"")
            && let Some((file, rest)) = rest.split_once("\", line ")
            && let Some((line, _)) = text::small(rest)
        {
            if !file.contains("/lib/python") && !file.starts_with('<') {
                self.place = Some((file.to_owned(), line));
            }
            // What the last frame leads to is the message.
            self.message.take();
        } else if !text.starts_with("  ") && !text.starts_with("Traceback (") {
            self.message.push(text);
        }
    }

    /// A line of the examples that failed: the first is where the test did.
    fn example(&mut self, text: &str) {
        if let Some((file, line)) = doctest::place(text) {
            let is_first = !self.message.as_str().contains('\n');
            if is_first || self.place.is_none() {
                self.place = Some((file.to_owned(), line));
            }
        } else if !text.trim().is_empty()
            && !text::is_rule(text, '-', 60)
            && !text.starts_with("  File ")
        {
            self.message.push(text);
        }
    }

    fn into_finding(mut self) -> Finding {
        let kind = if self.is_import { FindingKind::Compile } else { FindingKind::Test };
        let message = self.message.take();
        let message = text::trim_lines(&message);
        // Captured output follows the message after a blank line.
        let message = message.split("\n\nStdout:\n").next().unwrap_or(message);
        let mut finding = Finding::new(kind, message).with_excerpt(self.excerpt.take());
        if let Some((file, line)) = self.place {
            finding = finding.at(file, line, None);
        }
        finding.named(self.name)
    }
}

/// `test_x (module.Class.test_x)` of `test_x (module.Class.test_x) ... ok`.
fn tested(text: &str) -> Option<&str> {
    // A cheap question first: this looks at very many lines.
    let (test, result) = text.starts_with("test").then(|| text.rsplit_once(" ... ")).flatten()?;
    let (name, path) = test.split_once(" (")?;
    let is_path = path.ends_with(')') && !path.contains(' ');
    let is_test = is_path && !name.contains(' ');
    (is_test && matches!(result, "ok" | "FAIL" | "ERROR")).then_some(test)
}

/// Where it is: `module.Class.test_x`, which older versions print without the test.
fn path(test: &str) -> &str {
    let path = |(name, path): (&str, &str)| path.strip_suffix(')')?.ends_with(name).then_some(());
    let own = test.split_once(" (").filter(|parts| path(*parts).is_some());
    own.map_or(test, |(_, path)| path.trim_end_matches(')'))
}

/// The test's name in `FAIL: test_x (module.Class.test_x) (i=1)`, and whether it stands for a
/// module that could not be imported.
fn title(text: &str) -> Option<(String, bool)> {
    let rest = text.strip_prefix("FAIL: ").or_else(|| text.strip_prefix("ERROR: "))?;
    let Some((test, rest)) = rest.split_once(" (") else { return Some((rest.to_owned(), false)) };
    let (path, more) = rest.split_once(')')?;
    if path.contains("_FailedTest") {
        return Some((test.to_owned(), true));
    }
    // What is done for a whole class or module is no test of it.
    if matches!(test, "setUpClass" | "tearDownClass" | "setUpModule" | "tearDownModule") {
        return Some((format!("{test} ({path})"), false));
    }
    let name = if path.ends_with(test) { path.to_owned() } else { format!("{path}.{test}") };
    Some((format!("{name}{}", more.trim_end()), false))
}

/// The test of green's `Failure in test_shop.Cart.test_adds`.
fn loose_title(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Failure in ").or_else(|| text.strip_prefix("Error in "))?;
    let path = rest.split(" (").next().unwrap_or(rest);
    let is_test = path.contains('.') && !path.contains([' ', '/', ':']);
    is_test.then_some(rest)
}

fn is_ok(text: &str) -> bool {
    text == "OK" || text.starts_with("OK (")
}
