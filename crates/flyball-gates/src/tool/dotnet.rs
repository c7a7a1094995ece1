//! .NET: `dotnet test` through `VSTest`, and errors of its compilers.

use crate::place::{self, Place};
use crate::recogniser::{Attention, Cues, Line, Places, Recogniser};
use crate::report::{Block, Findings, Names, Report};
use crate::{Counts, Finding, FindingKind, bytes, text};

/// Reads `  Failed Name [12 ms]` with its message and stack, and `a.cs(5,9): error CS0103: text`.
#[derive(Clone, Default)]
pub(super) struct Dotnet {
    spoke: bool,
    counts: Option<Counts>,
    names: Names,
    open: Option<Open>,
    findings: Findings,
    warnings: Findings,
}

#[derive(Clone)]
struct Open {
    number: u64,
    name: String,
    part: Part,
    message: Block,
    place: Option<(String, u32)>,
    excerpt: Block,
}

#[derive(Clone, PartialEq, Eq)]
enum Part {
    Begin,
    Message,
    Stack,
    Output,
}

impl Recogniser for Dotnet {
    fn name(&self) -> &'static str {
        "dotnet"
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &["Fail", "Pass", "erro", "MSBU"],
            places: Places::Before(b"ew"),
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if let Some(place) = line.place {
            if let Some((is_warning, finding)) = diagnostic(place) {
                self.spoke = true;
                let list = if is_warning { &mut self.warnings } else { &mut self.findings };
                list.push(line.number, finding);
                return self.attention();
            }
        } else if let Some(reason) =
            text.strip_prefix("error ").or_else(|| text.strip_prefix("MSBUILD : error "))
        {
            self.project_error(reason, line.number);
        }
        if let Some((word, name)) = outcome(text) {
            self.close();
            self.names.ran(name);
            if word == "Failed" {
                self.open = Some(Open::new(name, line.number));
            }
        } else if let Some(counts) = total(text) {
            self.close();
            self.spoke = true;
            self.counts = Some(self.counts.unwrap_or_default().and(counts));
        } else if let Some(open) = &mut self.open {
            open.line(text);
        }
        self.attention()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        let name = if self.open.is_none() { passed(line) } else { None };
        name.is_some_and(|name| self.names.ran_bytes(name, |name| name))
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        self.spoke.then(|| Report {
            tool: "dotnet",
            counts: self.counts,
            names: std::mem::take(&mut self.names),
            findings: std::mem::take(&mut self.findings),
            warnings: std::mem::take(&mut self.warnings),
        })
    }
}

impl Dotnet {
    const fn attention(&self) -> Attention {
        if self.open.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        if open.part == Part::Begin {
            return;
        }
        self.spoke = true;
        let message = open.message.take();
        let message: Vec<&str> = text::trim_lines(&message).lines().map(str::trim).collect();
        let finding = Finding::new(FindingKind::Test, message.join("\n")).named(open.name);
        let finding = finding.with_excerpt(open.excerpt.take());
        let finding = match open.place {
            Some((file, line)) => finding.at(file, line, None),
            None => finding,
        };
        self.findings.push(open.number, finding);
    }

    /// `error MSB1003: text` and `error NU1101: text` stop everything.
    fn project_error(&mut self, reason: &str, number: u64) {
        let Some((code, message)) = reason.split_once(": ") else { return };
        let is_code = ["MSB", "NU", "NETSDK"].iter().any(|start| code.starts_with(start));
        if is_code && code.ends_with(|last: char| last.is_ascii_digit()) {
            self.spoke = true;
            let finding = Finding::new(FindingKind::CouldNotRun, message).named(code);
            self.findings.push(number, finding);
        }
    }
}

impl Open {
    fn new(name: &str, number: u64) -> Self {
        Self {
            number,
            name: name.to_owned(),
            part: Part::Begin,
            message: Block::default(),
            place: None,
            excerpt: Block::default(),
        }
    }

    fn line(&mut self, text: &str) {
        match text.trim() {
            "Error Message:" => self.part = Part::Message,
            "Stack Trace:" => self.part = Part::Stack,
            own if own.ends_with("Output Messages:") || own.ends_with("Output:") => {
                self.part = Part::Output;
            }
            own => match self.part {
                Part::Message => {
                    self.message.push(text);
                    self.excerpt.push(text);
                }
                Part::Stack => {
                    self.excerpt.push(text);
                    if self.place.is_none() {
                        self.place = frame(own);
                    }
                }
                Part::Begin | Part::Output => {}
            },
        }
    }
}

/// Word and name of `  Failed Shop.Tests.CartTests.Adds [12 ms]`.
fn outcome(text: &str) -> Option<(&str, &str)> {
    let own = text.strip_prefix("  ").filter(|own| !own.starts_with(' '))?;
    let (word, rest) = own.split_once(' ')?;
    let (name, time) = rest.rsplit_once(" [")?;
    let is_time =
        time.ends_with("s]") && time.starts_with(|c: char| c.is_ascii_digit() || c == '<');
    (matches!(word, "Failed" | "Passed") && is_time).then_some((word, name))
}

/// The name of `  Passed Shop.Tests.CartTests.Adds [12 ms]`.
fn passed(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"  Passed ")?;
    let open = memchr::memrchr(b'[', rest)?;
    let time = rest.get(open + 1..)?.strip_prefix(b"< ").or(rest.get(open + 1..))?;
    let is_time = matches!(bytes::after_digits(time)?, b" ms]" | b" s]");
    rest.get(..open)?.strip_suffix(b" ").filter(|_| is_time)
}

/// The place of `at Shop.CartTests.Adds() in /src/CartTests.cs:line 12`.
fn frame(own: &str) -> Option<(String, u32)> {
    let (_, at) = own.strip_prefix("at ")?.rsplit_once(" in ")?;
    let (file, line) = at.rsplit_once(":line ")?;
    Some((place::tidy(file).to_owned(), line.trim().parse().ok()?))
}

/// `error CS0103: text [/src/Shop.csproj]`, and a test that the newer logger reports so.
fn diagnostic(place: Place<'_>) -> Option<(bool, Finding)> {
    let (is_warning, rest) = match place.rest.strip_prefix("error ") {
        Some(rest) => (false, rest),
        None => (true, place.rest.strip_prefix("warning ")?),
    };
    let (code, message) = rest.split_once(": ")?;
    let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
    let is_code = letters >= 2 && code.bytes().skip(letters).all(|byte| byte.is_ascii_digit());
    let message = match message.rsplit_once(" [") {
        Some((message, project)) if project.contains("proj") => message,
        _ => message,
    };
    if code == "TESTERROR" {
        let (name, message) = message.split_once("): ")?;
        let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
        let message = message.strip_prefix("Error Message: ").unwrap_or(message);
        let finding = Finding::new(FindingKind::Test, message).named(name);
        return Some((false, finding.at(place.file, place.line, place.column)));
    }
    // The TypeScript compiler has a reader of its own.
    let is_other = code.starts_with("TS") || !is_code || code.len() == letters;
    let finding = Finding::new(FindingKind::Compile, message).named(code);
    let finding = finding.at(place.file, place.line, place.column);
    (!is_other).then_some((is_warning, finding))
}

/// `Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 5 ms - …`, and
/// the longer form `Total tests: 3`.
fn total(text: &str) -> Option<Counts> {
    let list = text.strip_prefix("Failed!  - ").or_else(|| text.strip_prefix("Passed!  - "))?;
    let mut counts = Counts::default();
    for (name, count) in text::assignments(list) {
        match name {
            "Failed" => counts.failed = count,
            "Passed" => counts.passed = count,
            "Skipped" => counts.skipped = count,
            _ => {}
        }
    }
    Some(counts)
}
