//! gcc and clang, and their linker.

use crate::{Finding, FindingKind, bytes, text};

use crate::place::Place;
use crate::recogniser::{Attention, Cues, Line, Places, Recogniser};
use crate::report::{Block, Findings, Report};

/// Reads `path:9:12: error: text` with the source lines below, and undefined references.
#[derive(Clone)]
pub(super) struct Gcc {
    is_clang: bool,
    spoke: bool,
    linker: Linker,
    open: Option<(u64, Severity, Finding, Block)>,
    findings: Findings,
    warnings: Findings,
}

/// While the linker speaks, the next lines may be about names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Linker {
    Silent,
    Speaks,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Severity {
    Error,
    Warning,
}

/// Levels that do not stop a compilation, some of them only of analysers.
const LOWER: &[&str] =
    &["warning: ", "note: ", "style: ", "performance: ", "portability: ", "information: "];

/// Files whose `error:` lines belong to other tools.
const OTHERS: &[&str] =
    &["py", "pyi", "java", "rs", "go", "ts", "tsx", "js", "jsx", "kt", "rb", "swift"];

impl Gcc {
    pub(super) fn new(command: &str) -> Self {
        Self {
            is_clang: command.contains("clang"),
            spoke: false,
            linker: Linker::Silent,
            open: None,
            findings: Findings::default(),
            warnings: Findings::default(),
        }
    }
}

impl Recogniser for Gcc {
    fn name(&self) -> &'static str {
        if self.is_clang { "clang" } else { "gcc" }
    }

    fn cues(&self) -> Cues {
        Cues {
            first: b"/",
            starts: &["unkn", "0 wa", "0 er", "coll", "clan", "ld", "lld"],
            places: Places::Before(b"efwnspium"),
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        if let Some(place) = line.place.filter(|place| place.rest.starts_with("last checkpoint"))
            && let Some((_, _, finding, _)) = self.open.as_mut()
        {
            // Boost.Test does not know where an exception came from, only where the test was.
            finding.file = Some(place.file.to_owned());
            finding.line = Some(place.line);
        } else if let Some(rest) = line.text.strip_prefix("unknown location(0): ") {
            self.close();
            self.exception(rest, line);
        } else if let Some(place) = line.place.filter(|place| !is_link_error(place.rest)) {
            self.close();
            self.diagnostic(place, line);
        } else if let Some((file, at, message)) = link_error(line.text) {
            self.close();
            self.spoke = true;
            let finding = Finding::new(FindingKind::Compile, message).at(file, at, None);
            self.findings.push(line.number, finding.with_excerpt(line.text));
        } else if line.text.ends_with(" generated.") {
            self.close();
            self.is_clang |= self.spoke;
        } else if let Some(message) = missing_library(line.text) {
            self.spoke = true;
            self.findings.push(line.number, Finding::new(FindingKind::Compile, message));
        } else if let Some((_, _, _, excerpt)) = &mut self.open {
            if line.text.starts_with(' ') {
                excerpt.push(line.text);
            } else {
                self.close();
            }
        }
        if text::has(line.text, "ld: ") {
            if line.text.ends_with("':") {
                self.linker = Linker::Speaks;
            }
        } else if line.text.starts_with("collect2: ") || line.text.starts_with("clang: ") {
            self.linker = Linker::Silent;
        }
        let is_open = self.open.is_some() || self.linker == Linker::Speaks;
        if is_open { Attention::Busy } else { Attention::Idle }
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        if self.open.is_some() || self.linker == Linker::Speaks {
            return false;
        }
        if line.starts_with(b" ") {
            return self.is_counting() && is_source(line);
        }
        // What the linker says of a name ends so.
        if !self.is_counting() || line.ends_with(b"':") {
            return false;
        }
        let place = bytes::place(line).filter(|place| !is_others(place.file));
        let severity = place.and_then(|place| severity(place.rest));
        severity.is_some_and(|severity| self.list(severity).is_only_counted())
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        let tool = self.name();
        self.spoke.then(|| Report {
            tool,
            findings: std::mem::take(&mut self.findings),
            warnings: std::mem::take(&mut self.warnings),
            ..Report::default()
        })
    }
}

impl Gcc {
    /// Whether there are so many that the next one is likely to be only counted.
    fn is_counting(&self) -> bool {
        self.findings.is_full() || self.warnings.is_full()
    }

    const fn list(&mut self, severity: Severity) -> &mut Findings {
        match severity {
            Severity::Error => &mut self.findings,
            Severity::Warning => &mut self.warnings,
        }
    }

    fn diagnostic(&mut self, place: Place<'_>, line: &Line<'_>) {
        if is_others(place.file.as_bytes()) {
            return;
        }
        let Some((severity, message, flag)) = diagnosis(place.rest) else { return };
        self.spoke = true;
        if self.list(severity).is_only_counted() {
            return;
        }
        // Rules without a dash are those of linters that speak like compilers.
        let is_lint = flag.is_some_and(|flag| !flag.starts_with('-'));
        let kind = if is_lint { FindingKind::Lint } else { FindingKind::Compile };
        let mut finding = Finding::new(kind, message).at(place.file, place.line, place.column);
        finding.name = flag.map(str::to_owned);
        if let Some((name, message)) = boost(message) {
            let name = name.to_owned();
            if self.findings.kept().any(|found| found.name.as_deref() == Some(&name)) {
                return;
            }
            finding = Finding::new(FindingKind::Test, message).named(name);
            finding = finding.at(place.file, place.line, place.column);
        }
        let mut excerpt = Block::default();
        excerpt.push(line.text);
        self.open = Some((line.number, severity, finding, excerpt));
    }

    /// What a test of Boost.Test threw.
    fn exception(&mut self, rest: &str, line: &Line<'_>) {
        let Some((severity, message, _)) = diagnosis(rest) else { return };
        let Some((name, message)) = boost(message) else { return };
        self.spoke = true;
        let finding = Finding::new(FindingKind::Test, message).named(name);
        let mut excerpt = Block::default();
        excerpt.push(line.text);
        self.open = Some((line.number, severity, finding, excerpt));
    }

    fn close(&mut self) {
        let Some((number, severity, finding, mut excerpt)) = self.open.take() else { return };
        self.list(severity).push(number, finding.with_excerpt(excerpt.take()));
    }
}

/// A test of Boost.Test: `in "suite/case": text`.
fn boost(message: &str) -> Option<(&str, &str)> {
    message.strip_prefix("in \"")?.split_once("\": ")
}

/// Whether a file's `error:` lines belong to other tools.
fn is_others(file: &[u8]) -> bool {
    let extension = memchr::memrchr(b'.', file).and_then(|dot| file.get(dot + 1..));
    extension.is_some_and(|own| OTHERS.iter().any(|other| other.as_bytes() == own))
}

/// How grave the same is, where a glance tells.
fn severity(rest: &[u8]) -> Option<Severity> {
    if rest.starts_with(b"error: ") {
        return Some(Severity::Error);
    }
    let is_compilers = rest.starts_with(b"warning: ") && !rest.ends_with(b"]");
    if is_compilers || (rest.starts_with(b"warning: ") && has_dash(rest)) {
        return Some(Severity::Warning);
    }
    diagnosis(std::str::from_utf8(rest).ok()?).map(|(severity, _, _)| severity)
}

/// Whether a line ends with the flag of a compiler: `[-Wunused]`.
fn has_dash(rest: &[u8]) -> bool {
    memchr::memrchr(b'[', rest).is_some_and(|open| rest.get(open + 1) == Some(&b'-'))
}

/// How grave `warning: text [-Wflag]` is, its text and its flag.
fn diagnosis(rest: &str) -> Option<(Severity, &str, Option<&str>)> {
    let error = ["error: ", "fatal error: "].iter().find_map(|level| rest.strip_prefix(level));
    if let Some(message) = error {
        let (message, flag) = split_flag(message);
        return Some((Severity::Error, message, flag));
    }
    let (message, flag) = split_flag(LOWER.iter().find_map(|level| rest.strip_prefix(level))?);
    // Only analysers know levels below a warning, and they name their rule.
    if flag.is_none() && !rest.starts_with("warning: ") {
        return None;
    }
    // Every level of shellcheck and of cppcheck makes their exit codes red.
    let is_red = flag.is_some_and(|flag| is_shellcheck(flag) || is_cppcheck(flag));
    Some((if is_red { Severity::Error } else { Severity::Warning }, message, flag))
}

/// Whether a line quotes source, or marks a place in it: `  3 |     int a;`, `    |  ^~~`.
fn is_source(line: &[u8]) -> bool {
    let (_, rest) = bytes::after_blanks(line);
    let rest = bytes::after_digits(rest).map_or(Some(rest), |rest| rest.strip_prefix(b" "));
    rest.is_some_and(|rest| rest.starts_with(b"|"))
}

/// Message and flag of `text [-Wflag]`, also of `text [SC2086]` and `text [misc-rule]`.
fn split_flag(message: &str) -> (&str, Option<&str>) {
    match message.strip_suffix(']').and_then(|text| text.rsplit_once(" [")) {
        Some((text, flag)) if !flag.contains(' ') => (text, Some(flag)),
        _ => (message, None),
    }
}

/// `SC2086`.
fn is_shellcheck(flag: &str) -> bool {
    flag.strip_prefix("SC").is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `unreadVariable`: compilers' flags and the rules of others have a dash or a dot in them.
fn is_cppcheck(flag: &str) -> bool {
    flag.starts_with(|first: char| first.is_ascii_lowercase())
        && flag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

const LINK_ERRORS: &[&str] = &["undefined reference to ", "multiple definition of "];

fn is_link_error(text: &str) -> bool {
    LINK_ERRORS.iter().any(|start| text.starts_with(start))
}

/// File, line if known, and message of what the linker says of a name: without a definition, or
/// with two: `a.c:(.text+0x5): undefined reference …`, `/usr/bin/ld: a.c:3: undefined …`.
fn link_error(text: &str) -> Option<(&str, Option<u32>, &str)> {
    let at = LINK_ERRORS.iter().find_map(|start| text::find(text, start))?;
    let (before, message) = text.split_at_checked(at)?;
    let message = message.split(';').next()?;
    let place = before.strip_suffix(": ")?;
    // The linker's own name and the object's may stand before the source.
    let place = place.rsplit(": ").next()?;
    let (file, where_) = place.rsplit_once(':')?;
    let line = where_.parse().ok();
    (line.is_some() || where_.starts_with('(')).then_some((file, line, message))
}

/// The message of `/usr/bin/ld: cannot find -lfoo`, `/usr/bin/ld: cannot open output file a: Permission denied`.
fn missing_library(text: &str) -> Option<&str> {
    if !text.starts_with(['/', 'l']) {
        return None;
    }
    let (linker, message) = text.split_once(": ")?;
    (linker.ends_with("ld") && message.starts_with("cannot ")).then_some(message)
}
