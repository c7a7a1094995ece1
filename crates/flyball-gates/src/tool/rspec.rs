//! rspec: the list of failures and the totals; jasmine, which prints them much the same.

mod jasmine;

use crate::{Counts, Finding, FindingKind};

use crate::place;
use crate::recogniser::{Attention, Cues, Line, Recogniser};
use crate::report::{Block, Findings, Report};
use crate::text;

/// Reads numbered failures below `Failures:` and errors while loading.
#[derive(Clone, Default)]
pub(super) struct Rspec {
    counts: Option<Counts>,
    in_failures: bool,
    /// How many findings there were before this run: its own list comes last.
    before: usize,
    form: Form,
    open: Option<(u64, Option<String>, Block)>,
    /// The file that could not be loaded, where the open one has no name.
    loading: String,
    findings: Findings,
}

/// How failures are told.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Rspec,
    /// Much the same, with other headings.
    Jasmine,
    /// Nothing but a place and a name each.
    List,
}

impl Recogniser for Rspec {
    fn name(&self) -> &'static str {
        "rspec"
    }

    fn cues(&self) -> Cues {
        Cues { starts: &["Fail", "Fini", "An e", "0 ex", "0 sp", "./sp"], ..Cues::NONE }
    }

    fn line(&mut self, line: &Line<'_>) -> Attention {
        let text = line.text;
        if text == "Failures:" {
            self.close();
            // A list before this one was printed by a test.
            self.findings.truncate(self.before);
            self.in_failures = true;
        } else if let Some(counts) = totals(text) {
            self.close();
            self.in_failures = false;
            self.before = self.findings.len();
            self.counts = Some(counts);
        } else if text.starts_with("Finished in ")
            || text == "Failed examples:"
            || text == "Pending:"
        {
            self.close();
            self.in_failures = false;
        } else if let Some(rest) = text.strip_prefix("An error occurred while loading ") {
            self.close();
            let file = rest.split(" - Did you mean").next().unwrap_or(rest);
            let file = place::tidy(file.trim_end_matches('.'));
            text::clip(file, 300).clone_into(&mut self.loading);
            self.open = Some((line.number, None, Block::default()));
        } else if let Some(name) = jasmine::head(text).filter(|_| self.in_failures) {
            self.close();
            self.form = Form::Jasmine;
            self.open = Some((line.number, Some(name.to_owned()), self.findings.room()));
        } else if let Some(name) = self.head(text) {
            self.close();
            self.open = Some((line.number, Some(name.to_owned()), self.findings.room()));
        } else if let Some((_, _, block)) = &mut self.open {
            block.push(text);
        } else if let Some(finding) = listed(text) {
            self.form = Form::List;
            self.findings.push(line.number, finding);
        }
        self.after_routine()
    }

    fn has_routine(&self) -> bool {
        true
    }

    fn routine(&mut self, line: &[u8], _number: u64) -> bool {
        // More of a failure of which nothing is kept: what begins or ends one is not so deep.
        self.open.as_ref().is_some_and(|(_, _, block)| block.is_closed())
            && (line.is_empty() || line.starts_with(b"   "))
    }

    fn after_routine(&self) -> Attention {
        let busy = self.in_failures || self.open.is_some();
        if busy { Attention::Busy } else { Attention::Idle }
    }

    fn finish(&mut self) -> Option<Report> {
        self.close();
        if self.counts.is_none() && self.form != Form::List {
            return None;
        }
        Some(Report {
            tool: if self.form == Form::Jasmine { "jasmine" } else { "rspec" },
            counts: self.counts,
            findings: std::mem::take(&mut self.findings),
            ..Report::default()
        })
    }
}

impl Rspec {
    fn head<'a>(&self, text: &'a str) -> Option<&'a str> {
        if !self.in_failures || text::indent(text) != 2 {
            return None;
        }
        text::number(text.trim_start())?.1.strip_prefix(") ").map(str::trim_end)
    }

    fn close(&mut self) {
        let Some((number, name, mut block)) = self.open.take() else { return };
        let block = block.take();
        if self.findings.is_known(&[name.as_deref().unwrap_or(&self.loading), &block]) {
            return;
        }
        if let Some(name) = name.as_deref().filter(|_| self.form == Form::Jasmine) {
            self.findings.push(number, jasmine::finding(name, &block));
            return;
        }
        let depth = block.lines().filter(|l| !l.trim().is_empty()).map(text::indent).min();
        let lines: Vec<&str> =
            block.lines().map(|line| text::dedent(line, depth.unwrap_or(0))).collect();
        let block = lines.join("\n");
        let loading = name.is_none();
        let kind = if loading { FindingKind::Compile } else { FindingKind::Test };
        let mut finding = Finding::new(kind, message(&block)).with_excerpt(block.as_str());
        finding.name = name.or_else(|| Some(self.loading.clone()));
        let frames = || {
            let frames = block.lines().filter(|line| line.trim_start().starts_with("# "));
            frames.map(|line| (text::indent(line), line.trim_start().trim_start_matches("# ")))
        };
        // Those further in are of an error that the message speaks of.
        let depth = frames().map(|(depth, _)| depth).min();
        let own = frames().filter(|(at, _)| Some(*at) == depth);
        let places = own.chain(frames()).filter_map(|(_, frame)| place::prefix(frame));
        let place = places.into_iter().find(|place| !is_foreign(place.file));
        // What cannot be parsed is named in the message itself.
        let said = finding.message.lines().next().unwrap_or("").to_owned();
        let unread = said.strip_prefix("SyntaxError: ").and_then(place::mention);
        if let Some(place) = unread.filter(|_| loading).or(place) {
            finding = finding.at(place.file, place.line, None);
        }
        self.findings.push(number, finding);
    }
}

/// `./spec/cart_spec.rb:3:adds two prices`, all that the format `failures` says.
fn listed(text: &str) -> Option<Finding> {
    let place = place::prefix(text)?;
    let is_own = place.file.ends_with("_spec.rb") && place.column.is_none();
    let is_close = !place.rest.is_empty() && text.ends_with(&format!(":{}", place.rest));
    let finding = Finding::new(FindingKind::Test, place.rest).named(place.rest);
    (is_own && is_close).then(|| finding.at(place.file, place.line, None))
}

/// What follows the quoted line: `expected: 4`, or the error's class and words.
fn message(block: &str) -> String {
    let is_quote = |line: &&str| line.trim_start().starts_with("Failure/Error:");
    let is_end = |line: &&str| line.trim_start().starts_with("# ") || line.trim() == "Diff:";
    let said: Vec<&str> = block.lines().collect();
    let is_several =
        said.iter().any(|line| line.starts_with("Got ") && line.ends_with("failures:"));
    let kept: Vec<&str> = if is_several {
        said.into_iter().filter(|line| !is_end(line)).take(40).collect()
    } else {
        let own: Vec<&str> = match said.iter().position(is_quote) {
            Some(at) => said.into_iter().skip(at + 1).collect(),
            None => said,
        };
        let own: Vec<&str> = own.into_iter().take_while(|line| !is_end(line)).collect();
        // The quote may go on; a blank line ends it. A short message follows it at once.
        let blank = own.iter().position(|line| line.trim().is_empty());
        let is_told = |at: &usize| own.iter().skip(*at).any(|line| !line.trim().is_empty());
        let start = blank.filter(is_told).unwrap_or(0);
        own.into_iter().skip(start).skip_while(|line| line.trim().is_empty()).take(20).collect()
    };
    let depth = kept.iter().filter(|l| !l.trim().is_empty()).map(|l| text::indent(l)).min();
    let kept: Vec<&str> = kept.iter().map(|l| text::dedent(l, depth.unwrap_or(0))).collect();
    let message = kept.join("\n");
    // `ArgumentError:` and its words below it make one line.
    let message = text::trim_lines(&message);
    match message.split_once(":\n  ") {
        Some((class, words)) if !class.contains([' ', '\n']) => format!("{class}: {words}"),
        _ => message.to_owned(),
    }
}

/// Whether a file belongs to Ruby or a library.
fn is_foreign(file: &str) -> bool {
    file.contains("/gems/") || file.starts_with("/usr/") || file.contains("/lib/ruby/")
}

/// `6 examples, 3 failures, 2 pending`.
fn totals(text: &str) -> Option<Counts> {
    let (examples, rest) = text::number(text)?;
    let is_total = rest.starts_with(" example") || rest.starts_with(" spec");
    if !is_total || !rest.contains("failure") {
        return None;
    }
    let (mut failed, mut skipped) = (0, 0);
    for (count, word) in text::tally(rest) {
        match word {
            "failure" | "failures" => failed = count,
            "pending" | "pending spec" | "pending specs" => skipped = count,
            _ => {}
        }
    }
    let passed = examples.saturating_sub(failed).saturating_sub(skipped);
    Some(Counts { passed, failed, skipped })
}
