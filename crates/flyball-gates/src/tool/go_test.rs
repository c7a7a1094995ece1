//! `go test`, as text and with `-json`.

mod begun;
mod event;
mod output;
mod printed;
mod results;

use crate::{Counts, Finding, FindingKind};

use self::begun::Begun;
use self::event::Event;
use self::printed::Printed;
use self::results::{drop_parents, is_plain, is_time, result, starter};
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, FINDINGS_MAX, Findings, Names, Report};
use crate::{Executed, place, text};

/// Reads `--- FAIL: TestX (0.00s)` with its lines, panics, and the events of `-json`.
#[derive(Clone, Default)]
pub(super) struct GoTest {
    spoke: bool,
    counts: Counts,
    /// Whether passed tests are shown too, so that the counts mean something.
    counted: bool,
    /// The failed test whose lines are coming.
    open: Option<Open>,
    /// With `-v`, the running test and what it printed before its result.
    running: Option<(String, Block)>,
    /// With `-v`, what tests printed while others ran.
    printed: Printed,
    /// The last test that had a result and is no subtest.
    parent: String,
    /// With `-v`, which tests of this package have begun: only these can have a result.
    begun: Begun,
    /// The name of a test with its package, put together for each event.
    key: String,
    /// The tests that ran since the last package, which is named after them.
    unpackaged: Executed,
    names: Names,
    /// A name and a block that are done with, to be used again.
    spare: (String, Block),
    /// How a test program ended that failed.
    ended: Option<(u64, String)>,
    /// The test that was running then.
    left: Option<String>,
    /// What was found since the last package, which is named after it.
    pending: Vec<(u64, Finding)>,
    findings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    name: String,
    block: Block,
}

impl Recogniser for GoTest {
    fn name(&self) -> &'static str {
        "go-test"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["--- ", "=== ", "pani", "FAIL", "{\"", "ok  ", "exit"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if line.text.starts_with("{\"") {
            if let Some(event) = Event::read(line.text) {
                self.event(&event, line.number);
            }
        } else {
            self.text(line.text, line.number);
        }
        self.after_routine()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], number: u64) -> bool {
        if line.starts_with(b"{\"Time\":") {
            let event = std::str::from_utf8(line).ok().and_then(Event::as_usual);
            let event = event.filter(|event| !matches!(&*event.action, "build-output" | "fail"));
            return event.map(|event| self.event(&event, number)).is_some();
        }
        if let Some(open) = &self.open {
            // More of a failure of which nothing is kept.
            let own = line.trim_ascii_start();
            let is_more = own.is_empty() || own.len() < line.len();
            return open.block.is_closed() && is_more && !own.starts_with(b"--- ");
        }
        if !self.printed.is_empty() {
            return false;
        }
        if let Some(name) = line.strip_prefix(b"=== RUN   ") {
            let name = std::str::from_utf8(name).ok().filter(|name| is_plain(name));
            return name.is_some_and(|name| self.run(name));
        }
        let Some(rest) = line.strip_prefix(b"--- PASS: ") else { return false };
        let Some((name, block)) = &mut self.running else { return false };
        let time = rest.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b" ("));
        if !time.is_some_and(is_time) {
            return false;
        }
        self.counted = true;
        self.counts.passed += 1;
        self.unpackaged.add(name);
        block.clear();
        self.spare = self.running.take().unwrap_or_default();
        true
    }

    fn after_routine(&self) -> Attention {
        if self.open.is_some() || self.running.is_some() {
            Attention::Busy
        } else {
            Attention::Idle
        }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.package("");
        if !self.spoke {
            return None;
        }
        let mut findings = std::mem::take(&mut self.findings);
        drop_parents(&mut findings);
        // Without a failed test the program itself gave up: `os.Exit`, or a `TestMain` of its own.
        if let Some((number, ended)) = self.ended.take().filter(|_| findings.is_empty()) {
            let message = format!("the test program ended with {ended} and no test failed");
            let mut finding = Finding::new(FindingKind::Crash, message);
            finding.name = self.left.take();
            findings.push(number, finding);
        }
        let counts = self.counted.then_some(self.counts);
        let names = std::mem::take(&mut self.names);
        Some(Report { tool: "go-test", counts, names, findings, ..Report::default() })
    }
}

impl GoTest {
    fn text(&mut self, text: &str, number: u64) {
        let trimmed = text::trim_start(text);
        let depth = text.len().saturating_sub(trimmed.len());
        if let Some((word, name)) = trimmed.strip_prefix("--- ").and_then(result)
            && self.is_at(depth, name)
            && self.has_begun(word, name)
        {
            if depth == 0 {
                name.clone_into(&mut self.parent);
            }
            self.result(word, name, number);
        } else if let Some(rest) = text.strip_prefix("=== ") {
            self.close();
            self.switch(rest);
        } else if text.starts_with("panic: ") && self.open.is_none() {
            self.spoke |= text.starts_with("panic: test timed out");
            let mut block = Block::default();
            block.push(text);
            let name = String::new();
            self.open = Some(Open { number, name, block });
        } else if text.starts_with("exit status ") {
            self.close();
            self.ended = Some((number, text.to_owned()));
        } else if is_package_line(text) {
            self.close();
            if let Some((running, _)) = self.running.take() {
                self.begun.leave(&running);
                if text.starts_with("FAIL\t") {
                    self.left = Some(running);
                }
            }
            self.spoke = true;
            // A bare `PASS` may be what a test printed.
            let is_timed = text.starts_with("FAIL\t") && text.ends_with('s');
            if is_timed
                && self.ended.is_none()
                && self.findings.is_empty()
                && self.pending.is_empty()
            {
                self.ended = Some((number, "exit status 1".to_owned()));
            }
            if let Some(package) = text.split('\t').nth(1) {
                self.begun = Begun::default();
                self.package(package);
            }
        } else if let Some(open) = &mut self.open {
            open.block.push(text);
        } else if let Some((_, block)) = &mut self.running {
            block.push(text);
        }
    }

    /// With `-v`, a test begins that printed nothing before.
    fn run(&mut self, name: &str) -> bool {
        if !self.running.as_ref().is_none_or(|(_, block)| block.is_blank()) {
            return false;
        }
        if let Some((before, _)) = &self.running {
            self.begun.leave(before);
        }
        self.begun.any = true;
        let (running, block) = self.running.get_or_insert_with(|| std::mem::take(&mut self.spare));
        name.clone_into(running);
        block.clear();
        true
    }

    /// The package of the tests that ran since the last one.
    fn package(&mut self, package: &str) {
        let of = std::mem::take(&mut self.unpackaged);
        for name in &of.names {
            self.names.ran(format!("{package} {name}").trim_start());
        }
        self.names.leave_out(of.names_left_out);
        // What went wrong may stand behind it: `[build failed]`.
        let package = package.split(' ').next().filter(|package| !package.is_empty());
        for (number, mut finding) in std::mem::take(&mut self.pending) {
            finding.package = package.map(|package| text::clip(package, 300).to_owned());
            self.findings.push(number, finding);
        }
    }

    /// Keeps a finding until its package is named; where there is no more room for that, it goes without.
    fn found(&mut self, number: u64, finding: Finding) {
        self.pending.push((number, finding));
        if self.pending.len() + self.findings.len() > FINDINGS_MAX {
            for (number, finding) in std::mem::take(&mut self.pending) {
                self.findings.push(number, finding);
            }
        }
    }

    /// Whether the result of this test may stand so deep: subtests are indented below their parent's.
    fn is_at(&self, depth: usize, name: &str) -> bool {
        let parents = memchr::memchr_iter(b'/', name.as_bytes()).count();
        let is_child = || name.strip_prefix(&*self.parent).is_some_and(|own| own.starts_with('/'));
        depth == 0 || (depth.is_multiple_of(4) && depth / 4 <= parents && is_child())
    }

    /// Whether a result can be that of a test of this package. What a test prints in these words is
    /// of one that never began; and without `-v` nobody says what passed.
    fn has_begun(&self, word: &str, name: &str) -> bool {
        let is_running = self.running.as_ref().is_some_and(|(running, _)| running == name);
        is_running || self.begun.has(name) || (!self.begun.any && word != "PASS")
    }

    /// The result of a test.
    fn result(&mut self, word: &str, name: &str, number: u64) {
        self.close();
        let printed = self.printed_by(name);
        if word != "SKIP" {
            self.unpackaged.add(text::clip(name, 300));
        }
        match word {
            "PASS" => {
                self.counted = true;
                self.counts.passed += 1;
            }
            "SKIP" => self.counts.skipped += 1,
            _ => {
                self.counts.failed += 1;
                self.spoke = true;
                let name = name.to_owned();
                let block = if self.findings.is_full() { Block::closed() } else { printed };
                self.open = Some(Open { number, name, block });
            }
        }
    }

    /// `RUN   TestX`, `CONT  TestX`, `NAME  TestX`, `PAUSE TestX`.
    fn switch(&mut self, rest: &str) {
        let Some((word, name)) = rest.split_once(' ') else { return };
        let name = text::clip(name.trim(), 500);
        if let Some((name, block)) = self.running.take() {
            self.begun.leave(&name);
            if !block.is_blank() {
                self.printed.insert(name, block);
            }
        }
        if matches!(word, "RUN" | "CONT" | "NAME") {
            self.begun.any = true;
            let name = name.to_owned();
            let block = self.printed.take(&name);
            self.running = Some((name, block));
        }
    }

    fn printed_by(&mut self, name: &str) -> Block {
        if let Some((running, block)) = self.running.take() {
            if running == name {
                return block;
            }
            self.begun.leave(&running);
            if !block.is_blank() {
                self.printed.insert(running, block);
            }
        }
        self.printed.take(name)
    }

    fn event(&mut self, event: &Event<'_>, number: u64) {
        self.spoke = true;
        if event.action == "build-output" {
            self.build_output(event.output.trim_end(), number);
        }
        if event.test.is_empty() || matches!(&*event.action, "run" | "start" | "pause" | "cont") {
            return;
        }
        self.key.clear();
        self.key.push_str(text::clip(&event.package, 500));
        self.key.push('\n');
        self.key.push_str(text::clip(&event.test, 500));
        match &*event.action {
            "output" => {
                let line = event.output.trim_end_matches('\n');
                let own = text::trim_start(line);
                let is_frame = own.starts_with("=== ") || own.starts_with("--- ");
                if !is_frame {
                    self.printed.push(&self.key, line);
                }
            }
            "pass" => {
                self.counted = true;
                self.counts.passed += 1;
                self.names.ran_in(&event.package, &event.test);
                self.printed.forget(&self.key);
            }
            "skip" => {
                self.counted = true;
                self.counts.skipped += 1;
                self.printed.forget(&self.key);
            }
            "fail" => {
                self.counted = true;
                self.counts.failed += 1;
                self.names.ran_in(&event.package, &event.test);
                let mut block = self.printed.take(&self.key);
                let mut finding = output::finding(&event.test, &block.take());
                finding.package = Some(text::clip(&event.package, 300).to_owned());
                self.findings.push(number, finding);
            }
            _ => {}
        }
    }

    /// Since Go 1.24 compile errors are events too.
    fn build_output(&mut self, output: &str, number: u64) {
        if let Some(place) = place::prefix(output).filter(|place| place.has_extension(&["go"])) {
            let finding = Finding::new(FindingKind::Compile, place.rest);
            self.findings.push(number, finding.at(place.file, place.line, place.column));
        }
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        if open.block.is_closed() {
            self.findings.leave_out(1);
            return;
        }
        let block = open.block.take();
        // A panic outside any test matters only when it is the test binary's own.
        let started = open.name.is_empty().then(|| starter(&block)).flatten();
        if open.name.is_empty() && started.is_none() && !block.contains("testing.") {
            return;
        }
        self.spoke = true;
        let name = started.unwrap_or(&open.name);
        let finding = output::finding(name, &block);
        self.found(open.number, finding);
    }
}

/// The line of a package: `ok`, its name and its time, or `FAIL`; or a bare `FAIL` or `PASS`.
fn is_package_line(text: &str) -> bool {
    text.starts_with("FAIL\t")
        || (text.starts_with("ok  ") && text::indent(text) == 0 && text.contains('\t'))
        || text == "FAIL"
        || text == "PASS"
}
