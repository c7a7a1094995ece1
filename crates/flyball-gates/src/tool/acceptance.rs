//! Acceptance tests told in sentences: Robot Framework, behave, Cucumber.

use crate::recogniser::{Attention, Cues, Line, PATHS, Recogniser, Trait};
use crate::report::{Block, Findings, Report};
use crate::{Counts, Finding, FindingKind, place, text};

/// Reads the lists of what failed; what was said of it stands before them in some forms.
#[derive(Clone, Default)]
pub(super) struct Acceptance {
    tool: Option<&'static str>,
    counts: Option<Counts>,
    open: Option<Open>,
    /// Whether the last line was a rule of dashes.
    rule: Rule,
    /// Whether behave's list of scenarios is being read.
    in_list: bool,
    /// behave's scenario that runs, and what was said below scenarios and steps so far.
    scenario: Option<(String, u32)>,
    said: Vec<(String, u32, String)>,
    /// Why Robot Framework could not begin.
    refused: Option<(u64, String)>,
    findings: Findings,
}

/// A failure whose words are being read.
#[derive(Clone)]
struct Open {
    number: u64,
    name: String,
    place: Option<(String, u32)>,
    below: Below,
    words: Block,
}

/// What comes next below a failure: Cucumber lists the steps of a scenario first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Steps,
    Words,
}

/// What the line before was.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Rule {
    #[default]
    None,
    Dashes,
}

/// More than this is not remembered until the list comes.
const SAID_MAX: usize = 200;

impl Recogniser for Acceptance {
    fn name(&self) -> &'static str {
        self.tool.unwrap_or("acceptance")
    }

    fn cues(&self) -> Cues {
        Cues {
            starts: &[
                "0) S", "Failing", "Errored", "Scen", "FAIL:", "FAILURE", "ERROR in", "0 sc",
                "0 te", "[ ERR", "----", "cucu", "Feat",
            ],
            also: &[(PATHS, Trait::EndsWith(b'|'))],
            ..Cues::NONE
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        let now = if is_rule(text, b'-') { Rule::Dashes } else { Rule::None };
        let before = std::mem::replace(&mut self.rule, now);
        if now == Rule::Dashes || is_rule(text, b'=') {
            self.close();
        } else if !self.robot(line, before) && !self.cucumber(line) && !self.behave(line) {
            self.more(text);
        }
        let is_busy = self.open.is_some() || self.in_list || self.rule == Rule::Dashes;
        if is_busy || self.scenario.is_some() { Attention::Busy } else { Attention::Idle }
    }

    fn is_patient(&self) -> bool {
        true
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        if let Some((number, reason)) = self.refused.take()
            && self.tool.is_none()
        {
            self.tool = Some("robot");
            self.findings.push(number, Finding::new(FindingKind::CouldNotRun, reason));
        }
        let findings = std::mem::take(&mut self.findings);
        self.tool.map(|tool| Report { tool, counts: self.counts, findings, ..Report::default() })
    }
}

impl Acceptance {
    /// `Adds Two Prices      | FAIL |`, and in the dotted form `FAIL: Suite.Adds Two Prices` below a
    /// rule.
    fn robot(&mut self, line: &Line<'_>, before: Rule) -> bool {
        let text = line.text;
        if let Some(counts) = robot_counts(text) {
            // The suite fails with its tests.
            if self.open.as_ref().is_some_and(|open| open.words.is_blank()) {
                self.open = None;
            }
            self.close();
            self.tool = Some("robot");
            self.counts = Some(counts);
            return true;
        }
        let listed = text.strip_suffix("| FAIL |");
        let dotted = text.strip_prefix("FAIL: ").filter(|_| before == Rule::Dashes);
        if let Some(name) = listed.or(dotted) {
            self.close();
            // The message of a long name is cut at its column.
            let name = name.split(" :: ").next().unwrap_or(name).trim();
            let name = if dotted.is_some() { last_part(name) } else { name };
            self.open(line.number, name, None, Below::Words);
            return true;
        }
        if text.ends_with("| PASS |") || text.ends_with("| SKIP |") {
            self.close();
            return true;
        }
        if let Some(reason) = text.strip_prefix("[ ERROR ] ") {
            self.refused.get_or_insert_with(|| (line.number, reason.to_owned()));
            return true;
        }
        false
    }

    /// `1) Scenario: adds # features/a.feature:2`, and Ruby's `cucumber features/a.feature:2 # …`.
    fn cucumber(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some(counts) = scenarios(text) {
            self.close();
            self.in_list = false;
            self.scenario = None;
            self.counts = Some(counts);
            self.tool.get_or_insert(if text.contains('(') { "cucumber" } else { "behave" });
            return true;
        }
        if let Some(rest) = text.strip_prefix("cucumber ")
            && let Some((at, name)) = text::split(rest, " # Scenario: ")
            && let Some(place) = place::prefix(at)
        {
            self.close();
            let place = Some((place.file.to_owned(), place.line));
            self.open(line.number, name, place, Below::Words);
            self.close();
            return true;
        }
        let Some((_, rest)) = text::number(text) else { return false };
        let Some((name, at)) = rest.strip_prefix(") Scenario: ").and_then(|r| r.rsplit_once(" # "))
        else {
            return false;
        };
        let Some(place) = place::prefix(at) else { return false };
        self.close();
        // `(attempt 2)` is no part of the name.
        let name = name.split(" (attempt ").next().unwrap_or(name);
        self.open(line.number, name, Some((place.file.to_owned(), place.line)), Below::Steps);
        self.tool = Some("cucumber");
        true
    }

    /// `Failing scenarios:` with `  features/a.feature:2  adds`, and what is said before it.
    fn behave(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if matches!(text.trim_end(), "Failing scenarios:" | "Errored scenarios:") {
            self.close();
            self.scenario = None;
            self.in_list = true;
            self.tool = Some("behave");
            return true;
        }
        if self.in_list {
            let own = text::trim_start(text);
            let place = place::prefix(own).filter(|place| place.file.ends_with(".feature"));
            if let Some(place) = place {
                let message = self.words_of(place.file, place.line, place.rest);
                let finding = Finding::new(FindingKind::Test, message).named(place.rest);
                self.findings.push(line.number, finding.at(place.file, place.line, None));
            } else if !own.is_empty() {
                self.in_list = false;
            }
            return true;
        }
        let step =
            text.strip_prefix("FAILURE in step ").or_else(|| text.strip_prefix("ERROR in step "));
        if let Some((_, at)) = step.and_then(|rest| rest.rsplit_once('('))
            && let Some(place) = place::prefix(at.trim_end_matches([':', ')']))
        {
            self.close();
            self.open(line.number, "", Some((place.file.to_owned(), place.line)), Below::Words);
            return true;
        }
        let own = text::trim_start(text);
        if own.starts_with("Scenario") && text::indent(text) == 2 && own.contains(": ") {
            self.close();
            let at = own.rsplit_once("# ").and_then(|(_, at)| place::prefix(at.trim_end()));
            // Without a place its name stands for it.
            let name = own.split_once(": ").map(|(_, name)| (name.trim().to_owned(), 0));
            self.scenario = at.map(|place| (place.file.to_owned(), place.line)).or(name);
            return true;
        }
        if let Some((file, at)) = &self.scenario
            && self.open.is_none()
            && (own.starts_with("ASSERT FAILED: ")
                || own.starts_with("Assertion Failed: ")
                || own.starts_with("Traceback (most recent"))
        {
            let place = Some((file.clone(), *at));
            self.open(line.number, "", place, Below::Words);
        }
        false
    }

    fn open(&mut self, number: u64, name: &str, place: Option<(String, u32)>, below: Below) {
        let words = Block::default();
        self.open = Some(Open { number, name: name.to_owned(), place, below, words });
    }

    /// A line below what failed.
    fn more(&mut self, text: &str) {
        let Some(open) = &mut self.open else { return };
        let own = text::trim_start(text);
        if open.below == Below::Steps {
            if !own.starts_with("✖ ") && !own.starts_with("? ") && !own.starts_with("× ") {
                return;
            }
            open.below = Below::Words;
            if own.starts_with("? ") {
                open.words.push(own);
            }
            return;
        }
        if open.place.is_some() && open.name.is_empty() && own.is_empty() {
            self.close();
            return;
        }
        open.words.push(own);
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let words = open.words.take();
        let message = told(&words);
        if open.name.is_empty() {
            if let Some((file, line)) = open.place
                && self.said.len() < SAID_MAX
            {
                self.said.push((file, line, message));
            }
            return;
        }
        let message = if message.is_empty() { "test failed".to_owned() } else { message };
        let mut finding = Finding::new(FindingKind::Test, message).named(open.name);
        if let Some((file, line)) = open.place {
            finding = finding.at(file, line, None);
        }
        self.findings.push(open.number, finding);
    }

    /// What was said of the scenario at this line: below it, or below one of its steps.
    fn words_of(&self, file: &str, line: u32, name: &str) -> String {
        let mut own = self
            .said
            .iter()
            .filter(|(of, at, _)| of == file && *at >= line || of == name && *at == 0);
        let nearest = own.next();
        let nearest = own.fold(nearest, |best, next| match best {
            Some(known) if known.1 <= next.1 => Some(known),
            _ => Some(next),
        });
        let words = nearest.map(|(_, _, words)| words.clone());
        words.filter(|words| !words.is_empty()).unwrap_or_else(|| "scenario failed".to_owned())
    }
}

/// The words of a failure: the last line of a Python traceback, all before the frames otherwise.
fn told(words: &str) -> String {
    if words.starts_with("Traceback (most recent") {
        let error = |line: &&str| {
            let word = line.split(':').next().unwrap_or_default();
            !word.contains(' ') && (word.ends_with("Error") || word.ends_with("Exception"))
        };
        let last = words.lines().rev().find(error);
        return last.unwrap_or_default().trim().to_owned();
    }
    let lines: Vec<&str> = words.lines().take_while(|line| !line.starts_with("at ")).collect();
    let text = lines.join("\n");
    let text = text.trim();
    text.strip_prefix("ASSERT FAILED: ").unwrap_or(text).to_owned()
}

fn is_rule(text: &str, byte: u8) -> bool {
    text.len() >= 70 && text.bytes().all(|own| own == byte)
}

/// `Suite.Sub.Adds Two Prices` without its suites.
fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// `5 tests, 1 passed, 3 failed, 1 skipped`.
fn robot_counts(text: &str) -> Option<Counts> {
    let (_, rest) = text::number(text)?;
    let rest = rest.strip_prefix(" tests, ").or_else(|| rest.strip_prefix(" test, "))?;
    let mut counts = Counts::default();
    for part in rest.trim_end().split(", ") {
        let (count, word) = text::number(part)?;
        match word.trim() {
            "passed" => counts.passed = count,
            "failed" => counts.failed = count,
            "skipped" => counts.skipped = count,
            _ => return None,
        }
    }
    Some(counts)
}

/// `3 scenarios (1 failed, 1 undefined, 1 passed)`, `1 scenario passed, 1 failed, 2 error, 0 skipped`.
fn scenarios(text: &str) -> Option<Counts> {
    let (count, rest) = text::number(text)?;
    let rest = rest.strip_prefix(" scenario")?;
    let list = rest.strip_prefix("s (").or_else(|| rest.strip_prefix(" (")).map_or_else(
        || {
            let rest = rest.strip_prefix('s').unwrap_or(rest);
            format!("{count}{}", rest.trim_end())
        },
        |inner| inner.trim_end().trim_end_matches(')').to_owned(),
    );
    let mut counts = Counts::default();
    for part in list.split(", ") {
        let (count, word) = text::number(part)?;
        match word.trim() {
            "passed" => counts.passed += count,
            "skipped" | "pending" | "untested" => counts.skipped += count,
            _ => counts.failed += count,
        }
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use crate::Parser;

    fn told(output: &str) -> Vec<String> {
        let mut parser = Parser::new("check");
        parser.feed(output.as_bytes());
        let parsed = parser.finish(Some(1));
        let tell = |f: &crate::Finding| {
            let name = f.name.as_deref().unwrap_or("-");
            format!("{name}|{}|{}", f.place().unwrap_or_default(), f.message)
        };
        parsed.findings.iter().map(tell).collect()
    }

    #[test]
    fn robot_says_which_tests_failed_and_not_which_suites() {
        let rule = "-".repeat(78);
        let output = format!(
            "Adds Two      | FAIL |\n-1 != 5\n{rule}\nFine          | PASS |\n{rule}\n\
             Shop          | FAIL |\n2 tests, 1 passed, 1 failed\n"
        );
        assert_eq!(told(&output), ["Adds Two||-1 != 5"]);
        let dotted =
            format!("F.\n{rule}\nFAIL: Shop.Adds Two\n-1 != 5\n2 tests, 1 passed, 1 failed\n");
        assert_eq!(told(&dotted), ["Adds Two||-1 != 5"]);
    }

    #[test]
    fn scenarios_are_told_with_what_was_said_of_their_steps() {
        let behave = "  Scenario: adds  # f/a.feature:2\n    Then x  # s.py:3\n      ASSERT FAILED: -1 is not 5\n\n\
             Failing scenarios:\n  f/a.feature:2  adds\n\n1 scenario passed, 1 failed, 0 skipped\n";
        assert_eq!(told(behave), ["adds|f/a.feature:2|-1 is not 5"]);
        let cucumber = "1) Scenario: adds # f/a.feature:2\n   ✔ Given a # s.js:1\n   ✖ Then b # s.js:4\n       \
             Error: no\n           at World.<anonymous> (/p/s.js:5:1)\n\n3 scenarios (1 failed, 2 passed)\n";
        assert_eq!(told(cucumber), ["adds|f/a.feature:2|Error: no"]);
    }
}
