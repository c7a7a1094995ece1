//! What one recogniser has understood, within limits.

mod block;
mod bounds;
mod names;
mod told;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub(crate) use self::block::Block;
use self::bounds::{bounded, file_of, is_bounded, key, name_of, shortened};
pub(crate) use self::names::Names;
use self::told::Told;
pub(crate) use self::told::look;
use crate::{Counts, Executed, Finding};

/// Mentions of places in output nobody understands.
pub(crate) const MENTIONS: &str = "mentions";
/// Tests ticked off one by one, which belong to one of several runners.
pub(crate) const TICKS: &str = "ticks";
/// Annotations for a workflow, which tools print beside their own report.
pub(crate) const ANNOTATIONS: &str = "annotations";
/// The name of TAP results with neither a version nor a plan: any test may print such lines.
pub(crate) const LOOSE_TAP: &str = "tap without a plan";
/// How many findings are kept.
pub(crate) const FINDINGS_MAX: usize = 200;
const NAME_CHARS_MAX: usize = 300;
/// How many of them have a long excerpt, and how many have one at all: nobody reads on for so long.
const WHOLE_MAX: usize = 25;
const QUOTED_MAX: usize = 75;
/// How many findings are remembered to recognise a repeated one: as many as a table of 2,048 places
/// takes before it doubles.
const SEEN_MAX: usize = 1_792;

/// What one tool said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// The tool's name.
    pub tool: &'static str,
    /// Tests counted, if it counts.
    pub counts: Option<Counts>,
    /// The names of tests that ran, if it prints them.
    pub names: Names,
    /// What is red.
    pub findings: Findings,
    /// What it only warned about; it matters when nothing else explains a red exit.
    pub warnings: Findings,
}

impl Report {
    /// Adds another report of the same tool.
    pub(crate) fn absorb(&mut self, other: Self) {
        let both = [(&mut self.findings, other.findings), (&mut self.warnings, other.warnings)];
        for (own, more) in both {
            let (kept, left_out) = more.again().take();
            for (number, finding) in kept {
                own.push_shared(0, number, finding);
            }
            own.leave_out(left_out);
        }
        if let Some(more) = other.counts {
            self.counts = Some(self.counts.unwrap_or_default().and(more));
        }
        self.names.absorb(other.names);
    }

    /// Forgets what only serves to recognise repetitions, and has no order.
    #[cfg(test)]
    pub(crate) fn forget_looks(&mut self) {
        for list in [&mut self.findings, &mut self.warnings] {
            (list.seen, list.told) = (Arc::default(), Arc::default());
            list.repeated = 0;
        }
    }

    /// What is remembered of each list.
    pub(crate) fn memories(&self) -> [Memory; 2] {
        [&self.findings, &self.warnings].map(|list| Memory {
            kept: list.kept.len(),
            seen: list.seen.len(),
            repeated: list.repeated,
        })
    }

    /// Which tests ran, if it counts or names them.
    pub(crate) fn executed(&self) -> Option<Executed> {
        let names = self.names.told();
        let named = u64::try_from(names.names.len()).unwrap_or(u64::MAX);
        let counts = self.counts?;
        // What a runner counts is not changed by lines that a test prints in its words.
        let named = named.saturating_add(names.names_left_out);
        let ran = if counts.ran() == 0 { named } else { counts.ran() };
        Some(Executed { runner: self.tool.to_owned(), ran, skipped: counts.skipped, ..names })
    }
}

/// How grave a finding is, where a tool says so itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Error,
    Warning,
}

/// Findings with the line they were seen at: the first ones, without repetitions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// A copy shares these: they are nearly all there is to copy.
    kept: Vec<(u64, Arc<Finding>)>,
    /// Whether some of them were changed since.
    is_changed: bool,
    left_out: u64,
    seen: Arc<HashSet<u64>>,
    /// Lines each of which said one of these.
    told: Arc<Told>,
    /// How often one was there before.
    repeated: u64,
}

/// How much of a list is remembered, and how often that was of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    kept: usize,
    seen: usize,
    repeated: u64,
}

impl Memory {
    /// Whether things go on as between these two: no more is kept, and what comes again will be known
    /// as it was, or counted as it was. It is known only as long as there is room to remember more.
    pub(crate) const fn is_steady(self, after: Self) -> bool {
        let goes_on = self.seen == after.seen || self.repeated == after.repeated;
        goes_on && self.kept == after.kept
    }
}

impl Findings {
    /// Adds a finding unless it was there before; keeps it only while there is room.
    pub(crate) fn push(&mut self, number: u64, finding: Finding) {
        self.push_as(0, number, finding);
    }

    /// Adds a finding that only those of the same `mark` can be a repetition of: there the same words
    /// are said of several things.
    pub(crate) fn push_as(&mut self, mark: u64, number: u64, finding: Finding) {
        if self.is_kept(mark, &finding) {
            let finding = bounded(finding);
            let finding = match self.kept.len() {
                ..WHOLE_MAX => finding,
                WHOLE_MAX..QUOTED_MAX => shortened(finding),
                QUOTED_MAX.. => Finding { excerpt: None, ..finding },
            };
            self.kept.push((number, Arc::new(finding)));
        }
    }

    /// Adds a finding that was in another list.
    pub(crate) fn push_shared(&mut self, mark: u64, number: u64, finding: Arc<Finding>) {
        if self.is_kept(mark, &finding) {
            let name = finding.name.as_deref().unwrap_or_default();
            let file = finding.file.as_deref().unwrap_or_default();
            let is_bounded = name_of(name).len() == name.len() && file_of(file).len() == file.len();
            let finding =
                if is_bounded { finding } else { Arc::new(bounded(Arc::unwrap_or_clone(finding))) };
            self.kept.push((number, finding));
        }
    }

    /// Whether this one is new and there is room for it; otherwise it is done with.
    fn is_kept(&mut self, mark: u64, finding: &Finding) -> bool {
        let is_full = self.kept.len() >= FINDINGS_MAX;
        // Nothing more is remembered then: all that can be done is to count.
        if !is_full || self.seen.len() < SEEN_MAX {
            let key = key(finding) ^ mark;
            let is_new = if self.seen.len() < SEEN_MAX {
                Arc::make_mut(&mut self.seen).insert(key)
            } else {
                !self.seen.contains(&key)
            };
            if !is_new {
                self.has_repeated();
                return false;
            }
        }
        self.left_out = self.left_out.saturating_add(u64::from(is_full));
        !is_full
    }

    /// Whether one more finding would only be counted, and need not be put together. Then it has
    /// been.
    pub(crate) fn is_only_counted(&mut self) -> bool {
        let is_only_counted = self.is_full();
        self.left_out = self.left_out.saturating_add(u64::from(is_only_counted));
        is_only_counted
    }

    /// Whether nothing can be done with one more finding but to count it.
    pub(crate) fn is_full(&self) -> bool {
        self.kept.len() >= FINDINGS_MAX && self.seen.len() >= SEEN_MAX
    }

    /// Room for what is said of one more finding: none when that can only be counted.
    pub(crate) fn room(&self) -> Block {
        if self.is_full() { Block::closed() } else { Block::default() }
    }

    /// Whether a finding of these words need not be put together: it can only be counted, and then it
    /// has been, or the very same words told one before.
    pub(crate) fn is_known(&mut self, words: &[&str]) -> bool {
        if self.is_only_counted() {
            return true;
        }
        let is_new = Arc::make_mut(&mut self.told).is_new(words);
        if !is_new {
            self.has_repeated();
        }
        !is_new
    }

    /// Adds a finding that is told by one line alone, and by every line like it.
    pub(crate) fn push_line(&mut self, number: u64, line: &str, finding: Finding) {
        Arc::make_mut(&mut self.told).note(line.as_bytes());
        self.push(number, finding);
    }

    /// Whether a line was told before, as long as that means that it adds nothing.
    pub(crate) fn has_told(&mut self, line: &[u8]) -> bool {
        let has_told = !self.is_full() && self.told.has(line);
        if has_told {
            self.has_repeated();
        }
        has_told
    }

    const fn has_repeated(&mut self) {
        self.repeated = self.repeated.saturating_add(1);
    }

    /// Takes a line that would add nothing: it was told before, or can only be counted. Only then
    /// is asked whether it says something at all.
    pub(crate) fn take_line(&mut self, line: &[u8], tells: impl FnOnce(&[u8]) -> bool) -> bool {
        if self.is_full() { tells(line) && self.is_only_counted() } else { self.has_told(line) }
    }

    /// Adds the findings of another stream: what looks the same there is not the same.
    pub(crate) fn append(&mut self, other: Self) {
        let (kept, left_out) = other.take();
        self.kept.extend(kept);
        self.left_out = self.left_out.saturating_add(left_out);
    }

    /// Brings them in the order of the output, and within their limit.
    pub(crate) fn sort(&mut self) {
        self.kept.sort_by_key(|(number, _)| *number);
        let over = self.kept.len().saturating_sub(FINDINGS_MAX);
        self.kept.truncate(FINDINGS_MAX);
        self.left_out = self.left_out.saturating_add(u64::try_from(over).unwrap_or(u64::MAX));
    }

    /// Puts a finding before all others.
    pub(crate) fn lead(&mut self, finding: Finding) {
        if self.kept.len() >= FINDINGS_MAX {
            self.kept.pop();
            self.left_out = self.left_out.saturating_add(1);
        }
        self.kept.insert(0, (0, Arc::new(bounded(finding))));
    }

    /// Whether there are none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Those of the kept that are meant, to be completed in place; a copy goes on sharing the others.
    pub(crate) fn those(
        &mut self,
        mut is_meant: impl FnMut(&Finding) -> bool,
    ) -> impl Iterator<Item = &mut Finding> {
        self.is_changed = true;
        let meant = self.kept.iter_mut().filter(move |(_, finding)| is_meant(finding));
        meant.map(|(_, finding)| Arc::make_mut(finding))
    }

    /// The one with this name.
    pub(crate) fn named(&mut self, name: &str) -> Option<&mut Finding> {
        self.first(|finding| finding.name.as_deref() == Some(name))
    }

    /// The first that is meant.
    pub(crate) fn first(&mut self, is_meant: impl FnMut(&Finding) -> bool) -> Option<&mut Finding> {
        let at = self.position(is_meant)?;
        self.is_changed = true;
        self.kept.get_mut(at).map(|(_, finding)| Arc::make_mut(finding))
    }

    /// Where the first is that is meant.
    pub(crate) fn position(&self, mut is_meant: impl FnMut(&Finding) -> bool) -> Option<usize> {
        self.kept.iter().position(|(_, finding)| is_meant(finding))
    }

    /// Puts another in the place of one.
    pub(crate) fn replace(&mut self, at: usize, finding: Finding) {
        if let Some((_, own)) = self.kept.get_mut(at) {
            *own = Arc::new(bounded(finding));
        }
    }

    /// The last one.
    pub(crate) fn last(&mut self) -> Option<&mut Finding> {
        self.is_changed = true;
        self.kept.last_mut().map(|(_, finding)| Arc::make_mut(finding))
    }

    /// Those kept.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Finding> {
        self.kept.iter().map(|(_, finding)| &**finding)
    }

    /// Drops those that do not hold up.
    pub(crate) fn retain(&mut self, mut holds: impl FnMut(&Finding) -> bool) {
        self.kept.retain(|(_, finding)| holds(finding));
    }

    /// Drops those told in lines that do not hold up.
    pub(crate) fn retain_lines(&mut self, mut holds: impl FnMut(u64) -> bool) {
        self.kept.retain(|(number, _)| holds(*number));
    }

    /// How many are kept.
    pub(crate) const fn len(&self) -> usize {
        self.kept.len()
    }

    /// Forgets all but the first so many.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.kept.truncate(length);
        // What comes again is new.
        self.told = Arc::default();
        self.seen = Arc::new(self.kept.iter().map(|(_, finding)| key(finding)).collect());
    }

    /// The same within limits again, where some were changed.
    fn again(mut self) -> Self {
        if self.is_changed {
            for (_, finding) in self.kept.iter_mut().filter(|(_, finding)| !is_bounded(finding)) {
                *finding = Arc::new(bounded(Finding::clone(finding)));
            }
        }
        self
    }

    /// Takes everything out: those kept, and how many were left out.
    pub(crate) fn take(self) -> (Vec<(u64, Arc<Finding>)>, u64) {
        (self.kept, self.left_out)
    }

    /// The same, each with a mark: how many like it came before.
    pub(crate) fn take_marked(self) -> (Vec<(u64, u64, Arc<Finding>)>, u64) {
        let mut times: HashMap<u64, u64> = HashMap::new();
        let (kept, left_out) = self.again().take();
        let mark = |(number, finding): (u64, Arc<Finding>)| {
            let before = times.entry(key(&finding)).or_default();
            *before += 1;
            (number, *before - 1, finding)
        };
        (kept.into_iter().map(mark).collect(), left_out)
    }

    /// Takes those of another list as well, within the limits of this one.
    pub(crate) fn absorb(&mut self, other: Self) {
        let (kept, left_out) = other.take_marked();
        for (number, mark, finding) in kept {
            self.push_shared(mark, number, finding);
        }
        self.leave_out(left_out);
    }

    /// Counts findings that were seen elsewhere and not kept.
    pub(crate) const fn leave_out(&mut self, more: u64) {
        self.left_out = self.left_out.saturating_add(more);
    }
}
