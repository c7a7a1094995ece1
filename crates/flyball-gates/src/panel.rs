//! Hands each line to the recognisers that may care for it.

use crate::hints::{Hints, Number};
use crate::owner::{Owner, Part};
use crate::place;
use crate::recogniser::{Attention, Line, Recogniser, Skimmed};
use crate::report::Report;
use crate::tool::{self, Documents, MEMBERS};
use crate::wants::{Set, Wants};

/// All recognisers, and which of them want which line.
#[derive(Clone)]
pub(crate) struct Panel {
    members: [Box<dyn Recogniser>; MEMBERS],
    wants: Wants,
    /// The members in the middle of something.
    busy: Set,
    /// The members whom the routine of others does not concern.
    patient: Set,
    /// Who took the last line that was routine, and in whose part of the output.
    routine: Option<(usize, Option<Part>)>,
    /// JSON documents, of which one output may hold several.
    documents: Documents,
    in_document: Attention,
    owner: Owner,
    owning: Option<(Part, Option<usize>)>,
    folder: Option<String>,
    /// Whether every line is handed to everybody who wants it.
    #[cfg(test)]
    is_thorough: bool,
}

impl Panel {
    /// All recognisers, with the command as a hint.
    pub(crate) fn new(command: &str) -> Self {
        let members = tool::members(command);
        let mut wants = Wants::default();
        let (mut patient, mut busy) = (0, 0);
        for (index, member) in members.iter().enumerate() {
            wants.add(bit(index), &member.cues());
            patient |= if member.is_patient() { bit(index) } else { 0 };
            busy |= if member.after_routine() == Attention::Busy { bit(index) } else { 0 };
        }
        Self {
            members,
            wants,
            busy,
            patient,
            routine: None,
            documents: Documents::default(),
            in_document: Attention::Idle,
            owner: Owner::default(),
            owning: None,
            folder: None,
            #[cfg(test)]
            is_thorough: false,
        }
    }

    /// Takes the lines at the start of these that are routine for who took the last one that was;
    /// the first is the `number`th.
    pub(crate) fn skim(&mut self, lines: &[u8], number: u64) -> Skimmed {
        let Some((index, part)) = self.routine else { return Skimmed::default() };
        if !self.is_alone(index, part) {
            return Skimmed::default();
        }
        let Some(member) = self.members.get_mut(index) else { return Skimmed::default() };
        let skimmed = member.skim(lines, number);
        if skimmed.lines > 0 {
            self.took_routine(index);
        }
        skimmed
    }

    /// Whether the line is routine for who took the last one that was, and done with.
    pub(crate) fn is_routine(&mut self, line: &[u8], number: u64) -> bool {
        let Some((index, part)) = self.routine else { return false };
        if !self.is_alone(index, part) {
            return false;
        }
        let is_taken = self.members.get_mut(index).is_some_and(|own| own.routine(line, number));
        if is_taken {
            self.took_routine(index);
        }
        is_taken
    }

    fn took_routine(&mut self, index: usize) {
        self.owner.pass();
        match self.members.get(index).map(|member| member.after_routine()) {
            Some(Attention::Busy) => self.busy |= bit(index),
            _ => self.busy &= !bit(index),
        }
    }

    /// Whether lines in this part are for nobody but this member: it is the member's own, or nobody
    /// else is in the middle of something.
    fn is_alone(&self, index: usize, part: Option<Part>) -> bool {
        let others = self.busy & !self.patient & !bit(index);
        let is_quiet = others == 0 && matches!(self.in_document, Attention::Idle);
        self.owner.part() == part && (part.is_some() || is_quiet)
    }

    /// Whether the line is routine for this member, who from now on is asked first.
    fn becomes_routine(&mut self, index: usize, part: Option<Part>, line: &Line<'_>) -> bool {
        #[cfg(test)]
        if self.is_thorough {
            return false;
        }
        let is_asked = self.routine.is_some_and(|(asked, of)| asked == index && of == part);
        if is_asked || !self.is_alone(index, part) {
            return false;
        }
        let member = self.members.get_mut(index);
        let is_taken = member.is_some_and(|own| own.routine(line.text.as_bytes(), line.number));
        if is_taken {
            self.routine = Some((index, part));
            self.took_routine(index);
        }
        is_taken
    }

    /// Hands over one line that is not routine for who took the last one that was.
    pub(crate) fn line(&mut self, text: &str, number: u64, hints: Hints) {
        let place = if hints.number == Number::Nothing { None } else { place::prefix(text) };
        let line = Line { text, number, place };
        if let Some(part) = self.owner.of(text) {
            if !part.is_printed()
                && let Some(index) = self.index_of(part)
                && !self.becomes_routine(index, Some(part), &line)
            {
                self.hand(index, &line);
            }
            return;
        }
        let mut wanted = self.busy | self.wants.of(text, hints);
        if let Some(place) = place {
            wanted |= self.wants.at(&place);
        }
        if self.in_document == Attention::Busy || text.starts_with(['{', '[']) {
            self.in_document = self.documents.line(&line);
        }
        if let Some(folder) = folder(text) {
            self.folder = Some(folder.to_owned());
        }
        let mut asked = wanted;
        while asked != 0 {
            let index = asked.trailing_zeros() as usize;
            asked &= !bit(index);
            if self.becomes_routine(index, None, &line) {
                return;
            }
        }
        while wanted != 0 {
            let index = wanted.trailing_zeros() as usize;
            wanted &= !bit(index);
            self.hand(index, &line);
        }
    }

    /// The member a part of the output belongs to; the same as for the line before, nearly always.
    fn index_of(&mut self, part: Part) -> Option<usize> {
        if let Some((known, index)) = self.owning
            && known == part
        {
            return index;
        }
        let index = self.members.iter().position(|member| member.name() == part.runner());
        self.owning = Some((part, index));
        index
    }

    fn hand(&mut self, index: usize, line: &Line<'_>) {
        let bit = bit(index);
        let Some(member) = self.members.get_mut(index) else { return };
        match member.line(line) {
            Attention::Busy => self.busy |= bit,
            Attention::Idle => self.busy &= !bit,
        }
    }

    /// The folder the program said it runs in, if it did.
    pub(crate) fn folder(&mut self) -> Option<String> {
        self.folder.take()
    }

    /// What each of them has understood.
    pub(crate) fn finish(&mut self) -> Vec<Report> {
        let mut reports: Vec<Report> =
            self.members.iter_mut().filter_map(|member| member.finish()).collect();
        reports.extend(std::mem::take(&mut self.documents).finish());
        reports
    }
}

/// The set of one member.
const fn bit(index: usize) -> Set {
    const { assert!(MEMBERS <= Set::BITS as usize, "a set has no room for all recognisers") };
    1 << index
}

/// The folder in `> a@1.0.0 test /repo/packages/a` and `npm error path /repo/packages/a`.
fn folder(text: &str) -> Option<&str> {
    let path = if let Some(script) = text.strip_prefix("> ") {
        let (head, path) = script.rsplit_once(' ')?;
        (head.contains('@') && head.contains(' ')).then_some(path)?
    } else {
        text.strip_prefix("npm error path ").or_else(|| text.strip_prefix("npm ERR! path "))?
    };
    (path.starts_with('/') && !path.contains(' ')).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::Panel;
    use crate::hints::Hints;
    use crate::report::MENTIONS;

    /// What the `number`th of very many lines looks like.
    const SHAPES: &[fn(u64) -> String] = &[
        |n| format!("running 3 tests\ntest area::number_{n} ... ok\ntest a::b_{} ... ok", n % 7),
        |n| {
            format!(
                "test a ... FAILED\ntest error::{n} ... ok\ntest result: ok. {n} passed; 1 failed"
            )
        },
        |n| format!("=== RUN   Test{n}\n--- PASS: Test{n} (0.00s)"),
        |n| format!("=== RUN   Test{n}\n    a_test.go:3: {n}\n--- FAIL: Test{n} (0.00s)"),
        |n| format!("=== RUN   Test{n}\n--- PASS: Test{} (0.00s)\nPASS\nok  \tp{n}\t0.01s", n + 1),
        |n| format!("{{\"Time\":\"x\",\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"T{n}\"}}"),
        |n| {
            format!(
                "{{\"Time\":\"x\",\"Action\":\"output\",\"Test\":\"T{n}\",\"Output\":\"a\\n\"}}"
            )
        },
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
            format!(
                "src/a.c:{n}: error: no\na.sh:{n}:1: note: quote [SC2086]\na.c:{n}:1: style: s [x]"
            )
        },
        |n| {
            format!(
                "src/a.ts({n},7): error TS2322: no\nsrc/a.ts({n},7): error TS2322: no\n  because"
            )
        },
        |n| format!("\n/repo/src/a.js\n  {n}:7  error  no  rule\n  {n}:9  warning  no  rule"),
        |n| format!("warning: unused `x`\n --> src/a.rs:{n}:9\n  |\n{n} |  let x = 0;\n  |  ^^^\n"),
        |n| {
            format!(
                "error[E0425]: no {n}\n --> src/a.rs:{n}:9\nerror: aborting due to {n} errors\n"
            )
        },
        |n| format!("PASS src/a{n}.test.js\n  suite\n    ✓ number {n} (3 ms)\n    ✕ not {n}"),
        |n| format!(" ✓ a.test.ts > items > number {n} 3ms\n ✓ number {n}\n  ✔ number {n}"),
        |n| {
            format!(
                "a.rb:{n}:7: C: Style/Nil: no\na.yml:{n}:1: [error] no (rule)\na.js:{n}:1: no [Error/x]"
            )
        },
        |n| {
            format!(
                "Dockerfile:{n} DL3003 warning: no\na.css: line {n}, col 1, warning - no (rule)"
            )
        },
        |n| format!("tests/a.py::test_{n} PASSED [ 42%]\ntests/a.py::test_{n} FAILED [ 42%]"),
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
        |n| {
            format!(
                "not ok {n} - test {n}\n  ---\n  error: no\n  at: a.js:{n}:3\n  ...\nok {n} - x"
            )
        },
        |n| {
            format!(
                "✖ test {n} (1.5ms)\n  Error: no {n}\n      at a.js:{n}:3\n\n✔ x (1ms)\nℹ pass 1"
            )
        },
        |n| {
            format!(
                "        FAIL [   0.004s] (1/9) area tests::number_{n}\n  stderr ───\n    thread 't' panicked at a.rs:{n}:3:\n    no\n\n        PASS [   0.004s] (2/9) a b"
            )
        },
    ];

    /// What all recognisers say but those who only collect mentions, which nobody asks for when
    /// another one has said something.
    fn said(lines: &[String], mut panel: Panel) -> String {
        for (at, line) in lines.iter().enumerate() {
            let number = at as u64 + 1;
            if !panel.is_routine(line.as_bytes(), number) {
                panel.line(line, number, Hints::UNKNOWN);
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
                let lines = (1..2_500)
                    .flat_map(|n| shape(n).lines().map(str::to_owned).collect::<Vec<_>>());
                let lines: Vec<String> = [begin.to_owned()].into_iter().chain(lines).collect();
                let (quick, mut thorough) = (Panel::new("make"), Panel::new("make"));
                thorough.is_thorough = true;
                let is_same = said(&lines, quick) == said(&lines, thorough);
                assert!(is_same, "shape {at} after {begin:?}");
            }
        }
    }
}
