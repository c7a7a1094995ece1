//! One test of a `JUnit` report.

use crate::{Finding, FindingKind};

use super::super::tap_diagnostics::bats_place;
use super::super::{js_frame, jvm};
use crate::{place, text};

/// How a test ended, the worst last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CaseVerdict {
    #[default]
    Passed,
    Skipped,
    Failed,
}

/// A test while its elements are read.
#[derive(Clone, Default)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
    pub(super) message: Option<String>,
    /// `type` of the failure: the class of what was thrown, mostly.
    pub(super) class_of_error: String,
    pub(super) verdict: CaseVerdict,
    /// Whether the text of a failure is being read.
    pub(super) reading: bool,
    pub(super) body: String,
}

const BODY_MAX: usize = 8_000;

impl Case {
    /// Adds text of the failure.
    pub(super) fn append(&mut self, more: &str) {
        if self.body.len() < BODY_MAX {
            self.body.push_str(text::clip(more, BODY_MAX));
        }
    }

    /// The same, in the file its suite is named after, where it is one: linters give the class that
    /// path without its extension, and the line in the text.
    pub(super) fn in_file(mut self, suite: &str) -> Self {
        let is_class = !self.class.is_empty()
            && suite.strip_prefix(self.class.as_str()).is_some_and(|end| end.starts_with('.'));
        // Others have no class, and the place in the text alone.
        let is_lined = self.body.trim_start().starts_with("line ")
            && self.class.is_empty()
            && !suite.contains(' ')
            && suite.rsplit('/').next().is_some_and(|name| name.contains('.'));
        let is_file = is_class || is_lined;
        if is_file && self.file.is_none() {
            self.file = Some(suite.to_owned());
            let line = self.body.trim_start().strip_prefix("line ").and_then(text::small);
            self.line = self.line.or(line.map(|(line, _)| line));
            self.class.clear();
        }
        self
    }

    /// The failure that was read before another one of the same test begins, where it is a place
    /// and no more; what was read of it is taken.
    pub(super) fn lint_before(&mut self) -> Option<Self> {
        let is_place = place::prefix(self.body.trim()).is_some_and(|place| place.rest.is_empty());
        if self.verdict != CaseVerdict::Failed || !is_place {
            return None;
        }
        let before = self.clone();
        self.message = None;
        self.body.clear();
        Some(before)
    }

    /// All that is wrong in the file this test is named after, where its text lists it: cpplint's
    /// `3: text [rule] [5]`, and htmlhint's quotes with `^ text (rule)` below.
    pub(super) fn problems(&self) -> Vec<Finding> {
        let file = self.name.as_str();
        if file.contains(' ') || !file.rsplit('/').next().is_some_and(|name| name.contains('.')) {
            return Vec::new();
        }
        let mut quoted = None;
        let mut problems = Vec::new();
        for line in self.body.lines().map(str::trim) {
            if let Some((at, rest)) = line.strip_prefix('L').and_then(text::small)
                && rest.starts_with(" |")
            {
                quoted = Some(at);
            } else if let (Some(at), Some(message)) = (quoted, line.strip_prefix("^ ")) {
                problems.push(Finding::new(FindingKind::Lint, message).at(file, at, None));
            } else if let Some((at, rest)) = text::small(line)
                && let Some(message) = rest.strip_prefix(": ")
            {
                let at = (at > 0).then_some(at);
                problems.push(Finding::new(FindingKind::Lint, message).at(file, at, None));
            }
        }
        problems
    }

    /// What the failure says.
    pub(super) fn into_finding(self) -> Finding {
        let words = match self.message.as_deref().map(str::trim) {
            Some(message) if !message.is_empty() => {
                // The text often says the class as well, as the runner would.
                let full = format!("{}: {message}", self.class_of_error);
                if self.body.trim_start().starts_with(&full) { full } else { message.to_owned() }
            }
            _ => of_body(&self.body),
        };
        let class_is_file = self.class.contains('/') || is_script(&self.class);
        let mut finding = Finding::new(js_frame::test_kind(&words), words);
        if let Some((file, line, column)) = self.place() {
            finding = finding.at(file, line, column);
        } else if let Some(file) = &self.file {
            finding = finding.at(file.as_str(), self.line, None);
        } else if class_is_file {
            finding = finding.at(self.class.as_str(), None, None);
        }
        let plain = class_is_file || self.class.is_empty() || self.class == self.name;
        let name = if plain || self.class == "test" {
            self.name.clone()
        } else if self.name.contains(' ') || self.class.contains(' ') {
            format!("{} {}", self.class, self.name)
        } else {
            format!("{}.{}", self.class, self.name)
        };
        let finding = finding.named(name);
        if self.body.trim().is_empty() { finding } else { finding.with_excerpt(self.body) }
    }

    /// The place of the failure in its text.
    fn place(&self) -> Option<(String, u32, Option<u32>)> {
        if let Some(frame) = jvm::own_frame(&self.body, &self.class) {
            let extension = frame.file.rsplit('.').next().unwrap_or_default();
            if matches!(extension, "java" | "kt" | "scala" | "groovy") {
                return Some((frame.file.to_owned(), frame.line, None));
            }
        }
        if let Some(place) = self.body.lines().find_map(|line| bats_place(line.trim())) {
            return Some(place);
        }
        let of = |place: place::Place<'_>| (place.file.to_owned(), place.line, place.column);
        // node wraps the error of the test in one of its own.
        let cause = self.body.split_once("  cause: ").or_else(|| self.body.split_once("[cause]: "));
        let cause = cause.map_or("", |(_, cause)| cause);
        let mut lines = cause.lines().chain(self.body.lines());
        if let Some(place) = lines.find_map(js_frame::own) {
            return Some(of(place));
        }
        // pytest puts the place of the error last, vitest behind an arrow.
        let python = |line: &str| place::prefix(line).filter(|p| p.has_extension(&["py"])).map(of);
        self.body
            .lines()
            .rev()
            .find_map(python)
            .or_else(|| {
                self.body.lines().find_map(|line| {
                    place::prefix(line.trim_start().strip_prefix("❯ ")?.rsplit(' ').next()?).map(of)
                })
            })
            // Linters say `Location a.py:3`, or nothing but the place.
            .or_else(|| {
                self.body.lines().find_map(|line| {
                    let line = line.trim();
                    let line = line.strip_prefix("Location ").unwrap_or(line);
                    place::prefix(line).filter(|place| place.rest.is_empty()).map(of)
                })
            })
    }
}

fn is_script(class: &str) -> bool {
    let extensions = ["js", "ts", "jsx", "tsx", "mjs", "cjs", "mts", "cts", "py", "rb"];
    class.rsplit_once('.').is_some_and(|(_, end)| extensions.contains(&end))
}

fn of_body(body: &str) -> String {
    let lines: Vec<&str> = body
        .trim()
        .lines()
        .take_while(|line| !js_frame::is_frame(line) && jvm::frame(line).is_none())
        .take_while(|line| line.trim() != "+ expected - actual")
        .take(15)
        .collect();
    js_frame::once(&lines).join("\n").trim().to_owned()
}
