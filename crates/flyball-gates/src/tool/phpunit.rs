//! `PHPUnit`: numbered failures, the documentation form, and PHP's own fatal errors.

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::{Counts, Finding, FindingKind, text};

/// Reads what stands below `There were 2 failures:`, and ` ✘ Title` with its bar.
#[derive(Clone, Default)]
pub(super) struct Phpunit {
    run: RunStage,
    counts: Option<Counts>,
    section: Option<Section>,
    class: String,
    open: Option<Open>,
    findings: Findings,
    warnings: Findings,
    fatal: bool,
}

/// How far a run has come.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum RunStage {
    #[default]
    None,
    Begun,
    /// Its totals have come.
    Ended,
}

/// How a failure is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Numbered,
    /// Behind a bar, in the documentation form.
    Boxed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    /// Failures and errors.
    Red,
    /// Risky tests, warnings, deprecations: red only by a flag.
    Other,
}

#[derive(Clone)]
struct Open {
    number: u64,
    name: String,
    section: Section,
    form: Form,
    place: Option<(String, u32)>,
    message: Block,
    done: bool,
}

impl Recogniser for Phpunit {
    fn name(&self) -> &'static str {
        "phpunit"
    }

    fn cues(&self) -> Cues {
        // Before it has said its name nothing is its own but a program that cannot be read.
        Cues { starts: &["PHPU", "PHP ", "Pars", "Fata"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if text.starts_with("PHPUnit ") && text.contains(" by Sebastian Bergmann") {
            self.run = RunStage::Begun;
        } else if let Some(finding) = fatal(text)
            && !std::mem::replace(&mut self.fatal, true)
        {
            self.findings.push(line.number, finding);
        }
        if self.run == RunStage::None {
            return Attention::Idle;
        }
        if let Some(section) = section(text) {
            self.close();
            self.section = Some(section);
        } else if self.total(text) {
            self.close();
            self.section = None;
        } else if let Some(name) = self.numbered(text) {
            self.close();
            let section = self.section.unwrap_or(Section::Other);
            self.open = Some(Open::new(name, section, line.number, Form::Numbered));
        } else if let Some(title) = text.strip_prefix(" ✘ ") {
            self.close();
            let name = test_name(&self.class, title);
            self.open = Some(Open::new(name, Section::Red, line.number, Form::Boxed));
        } else if let Some(open) = &mut self.open {
            if !open.line(text) {
                self.close();
            }
        } else {
            self.outside(text, line.number);
        }
        Attention::Busy
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        if self.run == RunStage::Begun && self.findings.is_empty() {
            let message = "PHPUnit began and ended without a result";
            self.findings.push(u64::MAX, Finding::new(FindingKind::CouldNotRun, message));
        }
        let spoke = self.run != RunStage::None || self.fatal;
        spoke.then(|| Report {
            tool: "phpunit",
            counts: self.counts,
            findings: std::mem::take(&mut self.findings),
            warnings: std::mem::take(&mut self.warnings),
            ..Report::default()
        })
    }
}

impl Phpunit {
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let (number, section) = (open.number, open.section);
        let Some(finding) = open.into_finding() else { return };
        match section {
            Section::Red => self.findings.push(number, finding),
            Section::Other => self.warnings.push(number, finding),
        }
    }

    /// The name in `2) CartTest::testThrows`, in a section.
    fn numbered(&self, text: &str) -> Option<String> {
        self.section?;
        let (_, rest) = text::number(text)?;
        let name = rest.strip_prefix(") ")?;
        (name.contains("::") || !name.contains(' ')).then(|| name.to_owned())
    }

    fn outside(&mut self, text: &str, number: u64) {
        let trouble = ["No tests executed!", "Cannot open file ", "Could not read ", "Test file "];
        if trouble.iter().any(|start| text.starts_with(start)) {
            self.run = RunStage::Ended;
            self.findings.push(number, Finding::new(FindingKind::CouldNotRun, text.trim()));
        } else if !text.is_empty() && !text.starts_with(' ') && self.section.is_none() {
            // The heading of a class in the documentation form.
            let class = text.split_once(" (").map_or(text, |(_, full)| full.trim_end_matches(')'));
            text::clip(class, 200).clone_into(&mut self.class);
        }
    }

    /// `Tests: 12, Assertions: 7, Errors: 2.` or `OK (3 tests, 4 assertions)`.
    fn total(&mut self, text: &str) -> bool {
        if let Some(rest) = text.strip_prefix("OK (")
            && let Some((passed, rest)) = text::number(rest)
            && rest.starts_with(" test")
        {
            self.run = RunStage::Ended;
            self.counts = Some(Counts { passed, ..Counts::default() });
            return true;
        }
        if !text.starts_with("Tests: ") || !text.contains("Assertions: ") {
            return false;
        }
        let (mut all, mut failed, mut skipped) = (0_u64, 0_u64, 0_u64);
        for (name, count) in text::assignments(text.trim_end_matches('.')) {
            match name {
                "Tests" => all = count,
                "Errors" | "Failures" => failed = failed.saturating_add(count),
                "Skipped" | "Incomplete" => skipped = skipped.saturating_add(count),
                _ => {}
            }
        }
        let passed = all.saturating_sub(failed).saturating_sub(skipped);
        self.counts = Some(Counts { passed, failed, skipped });
        self.run = RunStage::Ended;
        true
    }
}

impl Open {
    fn new(name: String, section: Section, number: u64, form: Form) -> Self {
        let message = Block::default();
        Self { number, name, section, form, place: None, message, done: false }
    }

    /// Takes a line; false when it is no longer about this test.
    fn line(&mut self, text: &str) -> bool {
        let own = if self.form == Form::Boxed {
            // With colours it is drawn as a box, whose bars have ends.
            let Some(own) = text.trim_start().strip_prefix(['│', '├', '┊', '╵', '┐', '┴'])
            else {
                return false;
            };
            own.strip_prefix(' ').unwrap_or(own).trim_end()
        } else {
            text
        };
        if own == "--" {
            return false;
        }
        if let Some((file, line)) = frame(own) {
            self.done = true;
            let is_foreign = file.contains("/vendor/") || file.starts_with("/usr/");
            if !is_foreign && self.place.is_none() {
                self.place = Some((place::tidy(file).to_owned(), line));
            }
        } else if !self.done {
            self.message.push(own);
        }
        true
    }

    fn into_finding(mut self) -> Option<Finding> {
        if self.message.is_blank() && self.place.is_none() {
            return None;
        }
        let text = self.message.take();
        let message = text::trim_lines(&text);
        let finding = Finding::new(FindingKind::Test, message).named(self.name);
        let finding = finding.with_excerpt(message);
        Some(match self.place {
            Some((file, line)) => finding.at(file, line, None),
            None => finding,
        })
    }
}

/// `There was 1 failure:`, `There were 2 PHPUnit errors:`, `1 test triggered 2 warnings:`.
fn section(text: &str) -> Option<Section> {
    let what = text.strip_suffix(':')?;
    let what = match what.strip_prefix("There was ").or_else(|| what.strip_prefix("There were ")) {
        Some(what) => what,
        None if what.contains(" triggered ") => what,
        None => return None,
    };
    text::number(what)?;
    let is_red = ["failure", "failures", "error", "errors"].iter().any(|end| what.ends_with(end))
        && !what.contains(" triggered ");
    Some(if is_red { Section::Red } else { Section::Other })
}

/// A line that is nothing but `path.php:12`.
fn frame(text: &str) -> Option<(&str, u32)> {
    let (file, line) = text.rsplit_once(':')?;
    let is_file = file.starts_with(['/', '.']) || file.get(1..3) == Some(":\\");
    (is_file && place::has_extension(file, &["php"]))
        .then(|| line.parse().ok())?
        .map(|line| (file, line))
}

/// PHP could not even read the files: its own words, with their place.
fn fatal(text: &str) -> Option<Finding> {
    let text = text.strip_prefix("PHP ").unwrap_or(text);
    let rest =
        ["Parse error:", "Fatal error:"].iter().find_map(|start| text.strip_prefix(start))?;
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("Uncaught ").unwrap_or(rest);
    let (message, at) = rest.rsplit_once(" in ")?;
    let (file, line) = at.rsplit_once(" on line ").or_else(|| at.rsplit_once(':'))?;
    let finding = Finding::new(FindingKind::Compile, message);
    Some(finding.at(file, line.trim().parse::<u32>().ok()?, None).with_excerpt(text))
}

/// The method behind a title of the documentation form: `Adds two prices` is `testAddsTwoPrices`.
fn test_name(class: &str, title: &str) -> String {
    let (title, set) = match title.find(" with data set ") {
        Some(at) => title.split_at_checked(at).unwrap_or((title, "")),
        None => (title, ""),
    };
    // Behind the title may stand how long it took.
    let title = title.split(" [").next().unwrap_or(title);
    let mut name = String::from("test");
    for word in title.split(' ') {
        let mut letters = word.chars();
        name.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        name.push_str(letters.as_str());
    }
    // With colours the number of a set has no mark.
    let number = set.strip_prefix(" with data set ").filter(|set| text::number(set).is_some());
    let name = match number {
        Some(number) => format!("{class}::{name} with data set #{number}"),
        None => format!("{class}::{name}{set}"),
    };
    // A title may be the author's own, and then no method has such a name.
    if name.contains(title) { name } else { format!("{name} ({title})") }
}

#[cfg(test)]
mod tests {
    use super::test_name;

    #[test]
    fn titles_become_methods_again() {
        assert_eq!(test_name("Cart", "Errors"), "Cart::testErrors");
        assert_eq!(test_name("Cart", "Type error"), "Cart::testTypeError (Type error)");
        let name = test_name("A\\B", "Seems utf 8 with data set \"x y\"");
        assert_eq!(name, "A\\B::testSeemsUtf8 with data set \"x y\" (Seems utf 8)");
    }
}
