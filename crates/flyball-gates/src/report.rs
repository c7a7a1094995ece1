//! What one recogniser has understood, within limits.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash as _, Hasher};

use crate::{Counts, Executed, Finding, place, text};

/// Mentions of places in output nobody understands.
pub(crate) const MENTIONS: &str = "mentions";
/// Tests ticked off one by one, which belong to one of several runners.
pub(crate) const TICKS: &str = "ticks";
/// Annotations for a workflow, which tools print beside their own report.
pub(crate) const ANNOTATIONS: &str = "annotations";
/// How many findings are kept.
pub(crate) const FINDINGS_MAX: usize = 200;
const MESSAGE_CHARS_MAX: usize = 2_000;
const NAME_CHARS_MAX: usize = 300;
const EXCERPT_CHARS_MAX: usize = 2_000;
const EXCERPT_LINES_MAX: usize = 20;
/// How many findings are remembered to recognise a repeated one.
const SEEN_MAX: usize = 2_048;

/// What one tool said.
#[derive(Debug, Default)]
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
            let (kept, left_out) = more.take();
            for (number, finding) in kept {
                own.push(number, finding);
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
            (list.seen, list.told) = (HashSet::new(), Told::default());
        }
    }

    /// Which tests ran, if it counts or names them.
    pub(crate) fn executed(&self) -> Option<Executed> {
        let names = self.names.0.as_deref().cloned().unwrap_or_default();
        let named = u64::try_from(names.names.len()).unwrap_or(u64::MAX);
        let counts = self.counts?;
        // What a runner counts is not changed by lines that a test prints in its words.
        let named = named.saturating_add(names.names_left_out);
        let ran = if counts.ran() == 0 { named } else { counts.ran() };
        Some(Executed { runner: self.tool.to_owned(), ran, skipped: counts.skipped, ..names })
    }
}

/// The names of the tests that ran; nothing is kept for the many tools that tell none.
#[derive(Debug, Default)]
pub(crate) struct Names(Option<Box<Executed>>);

impl Names {
    /// A test ran.
    pub(crate) fn ran(&mut self, name: &str) {
        self.0.get_or_insert_default().add(text::clip(name, NAME_CHARS_MAX));
    }

    /// Another test ran; false, and nothing was noted, when its name cannot be read.
    pub(crate) fn ran_bytes(&mut self, name: &[u8], bare: fn(&str) -> &str) -> bool {
        if let Some(executed) = self.0.as_deref_mut().filter(|own| own.is_full()) {
            executed.names_left_out = executed.names_left_out.saturating_add(1);
            return true;
        }
        let name = std::str::from_utf8(name);
        name.map(|name| self.ran(bare(name))).is_ok()
    }

    /// A test of a package ran.
    pub(crate) fn ran_in(&mut self, package: &str, name: &str) {
        let executed = self.0.get_or_insert_default();
        if executed.is_full() {
            executed.names_left_out = executed.names_left_out.saturating_add(1);
        } else {
            executed.add(text::clip(&format!("{package} {name}"), NAME_CHARS_MAX));
        }
    }

    /// Further tests ran, of which no name was kept.
    pub(crate) fn leave_out(&mut self, more: u64) {
        if more > 0 {
            let executed = self.0.get_or_insert_default();
            executed.names_left_out = executed.names_left_out.saturating_add(more);
        }
    }

    /// Whether there is none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether further names can only be counted.
    pub(crate) fn is_full(&self) -> bool {
        self.0.as_deref().is_some_and(Executed::is_full)
    }

    /// All that are kept.
    #[cfg(test)]
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.iter().flat_map(|executed| executed.names.iter().cloned()).collect()
    }

    fn absorb(&mut self, other: Self) {
        let Some(other) = other.0 else { return };
        let own = self.0.get_or_insert_default();
        for name in &other.names {
            own.add(name);
        }
        own.names_left_out = own.names_left_out.saturating_add(other.names_left_out);
    }
}

/// Findings with the line they were seen at: the first ones, without repetitions.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    kept: Vec<(u64, Finding)>,
    left_out: u64,
    seen: HashSet<u64>,
    /// Lines each of which said one of these.
    told: Told,
}

impl Findings {
    /// Adds a finding unless it was there before; keeps it only while there is room.
    pub(crate) fn push(&mut self, number: u64, finding: Finding) {
        let is_full = self.kept.len() >= FINDINGS_MAX;
        // Nothing more is remembered then: all that can be done is to count.
        if !is_full || self.seen.len() < SEEN_MAX {
            let key = key(&finding);
            let is_new = if self.seen.len() < SEEN_MAX {
                self.seen.insert(key)
            } else {
                !self.seen.contains(&key)
            };
            if !is_new {
                return;
            }
        }
        if is_full {
            self.left_out = self.left_out.saturating_add(1);
        } else {
            self.kept.push((number, bounded(finding)));
        }
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

    /// Adds a finding that is told by one line alone, and by every line like it.
    pub(crate) fn push_line(&mut self, number: u64, line: &str, finding: Finding) {
        self.told.note(line.as_bytes());
        self.push(number, finding);
    }

    /// Whether a line was told before, as long as that means that it adds nothing.
    pub(crate) fn has_told(&self, line: &[u8]) -> bool {
        !self.is_full() && self.told.has(line)
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
        self.kept.insert(0, (0, bounded(finding)));
    }

    /// Whether there are none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Those kept, to be completed in place.
    pub(crate) fn kept_mut(&mut self) -> impl Iterator<Item = &mut Finding> {
        self.kept.iter_mut().map(|(_, finding)| finding)
    }

    /// Those kept.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Finding> {
        self.kept.iter().map(|(_, finding)| finding)
    }

    /// Drops those that do not hold up.
    pub(crate) fn retain(&mut self, mut holds: impl FnMut(&Finding) -> bool) {
        self.kept.retain(|(_, finding)| holds(finding));
    }

    /// Takes everything out: those kept, and how many were left out.
    pub(crate) fn take(self) -> (Vec<(u64, Finding)>, u64) {
        (self.kept, self.left_out)
    }

    /// Counts findings that were seen elsewhere and not kept.
    pub(crate) const fn leave_out(&mut self, more: u64) {
        self.left_out = self.left_out.saturating_add(more);
    }
}

/// Lines, by what they look like.
#[derive(Debug, Default)]
struct Told(HashSet<u64, BuildHasherDefault<AsItIs>>);

impl Told {
    fn note(&mut self, line: &[u8]) {
        if self.0.len() < SEEN_MAX {
            self.0.insert(look(line));
        }
    }

    fn has(&self, line: &[u8]) -> bool {
        !self.0.is_empty() && self.0.contains(&look(line))
    }
}

/// A number that is spread well enough already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = look(bytes);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// What a line looks like, eight bytes at a time: very many lines are asked.
fn look(line: &[u8]) -> u64 {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = line.as_chunks::<8>();
    let mut look = (line.len() as u64).wrapping_mul(SPREAD);
    for word in words {
        look = (look.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(SPREAD);
    }
    for byte in rest {
        look = (look.rotate_left(23) ^ u64::from(*byte)).wrapping_mul(SPREAD);
    }
    look ^ (look >> 32)
}

/// What makes two findings the same one.
fn key(finding: &Finding) -> u64 {
    let mut hasher = DefaultHasher::new();
    finding.kind.hash(&mut hasher);
    finding.name.as_deref().map(name_of).hash(&mut hasher);
    finding.file.as_deref().map(file_of).hash(&mut hasher);
    finding.line.hash(&mut hasher);
    finding.column.filter(|column| *column > 0).hash(&mut hasher);
    message_of(&finding.message).hash(&mut hasher);
    hasher.finish()
}

/// The finding with all its texts within limits.
fn bounded(mut finding: Finding) -> Finding {
    shorten(&mut finding.message, message_of);
    if let Some(name) = &mut finding.name {
        shorten(name, name_of);
    }
    if let Some(file) = &mut finding.file {
        shorten(file, file_of);
    }
    finding.column = finding.column.filter(|column| *column > 0);
    finding.excerpt = finding.excerpt.and_then(|excerpt| {
        let mut lines = excerpt.lines().skip_while(|line| line.trim().is_empty());
        let kept: Vec<&str> = lines.by_ref().take(EXCERPT_LINES_MAX).map(str::trim_end).collect();
        let kept = kept.join("\n");
        let kept = text::clip(kept.trim_end(), EXCERPT_CHARS_MAX).trim_end();
        (!kept.is_empty()).then(|| kept.to_owned())
    });
    finding
}

fn message_of(message: &str) -> &str {
    text::clip(text::trim_lines(message), MESSAGE_CHARS_MAX).trim_end()
}

fn name_of(name: &str) -> &str {
    text::clip(name.trim(), 500)
}

fn file_of(file: &str) -> &str {
    text::clip(place::tidy(file), 1_000)
}

fn shorten(text: &mut String, kept: fn(&str) -> &str) {
    let short = kept(text);
    if short.len() < text.len() {
        *text = short.to_owned();
    }
}

/// A few lines collected while a block is open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    text: String,
    lines: usize,
}

impl Block {
    const LINES_MAX: usize = 60;
    const CHARS_MAX: usize = 6_000;
    const LINE_CHARS_MAX: usize = 1_000;

    /// Adds a line while there is room.
    pub(crate) fn push(&mut self, line: &str) {
        if self.lines < Self::LINES_MAX && self.text.len() < Self::CHARS_MAX {
            self.text.push_str(text::clip(line, Self::LINE_CHARS_MAX));
            self.text.push('\n');
            self.lines += 1;
        }
    }

    /// Whether nothing but blanks was collected.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// What was collected.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Starts anew.
    pub(crate) fn clear(&mut self) {
        self.lines = 0;
        self.text.clear();
    }

    /// Takes what was collected and starts anew.
    pub(crate) fn take(&mut self) -> String {
        self.lines = 0;
        std::mem::take(&mut self.text)
    }
}
