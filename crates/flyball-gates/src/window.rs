//! Whether lines really have a prefix: a few of them are held back until most share one.

use crate::prefix::{self, Prefixed, Shape};

/// How many lines are looked at together.
const LINES: usize = 24;
/// How many bytes are held back at most.
const BYTES: usize = 32 * 1024;
/// After so many windows without a prefix nobody looks for a while, each time longer.
const PATIENCE: u32 = 4;
const REST_MIN: u32 = 100;
const REST_MAX: u32 = 2_000;
/// After so many lines without anything like a prefix only every eighth is looked at.
const CALM: u32 = 1_024;

/// Lines held back.
#[derive(Debug, Default)]
pub(crate) struct Window {
    held: Vec<Held>,
    bytes: usize,
    refused: u32,
    resting: u32,
    /// How many lines in a row had nothing like a prefix.
    plain: u32,
}

/// One line held back.
#[derive(Debug)]
pub(crate) struct Held {
    /// The line.
    pub text: String,
    /// Which line of the output it is.
    pub number: u64,
    /// Whether it may be among the last ones.
    pub near_end: bool,
}

/// What the lines so far say.
#[derive(Debug)]
pub(crate) enum Judgement {
    /// Too early to tell; they are held back.
    Open,
    /// These have no prefix.
    Plain(Vec<Held>),
    /// From the first of the second ones on lines have this prefix.
    Found(Shape, Vec<Held>, Vec<Held>),
}

impl Window {
    /// Whether a line must be held back.
    pub(crate) fn wants(&mut self, text: &str) -> bool {
        if !self.held.is_empty() {
            return true;
        }
        if self.resting > 0 {
            self.resting -= 1;
            return false;
        }
        let is_looked_at = self.plain < CALM || self.plain.is_multiple_of(8);
        self.plain = if self.plain > 2 * CALM { CALM } else { self.plain + 1 };
        let has_prefix = is_looked_at && prefix::of(text).is_some();
        if has_prefix {
            self.plain = 0;
        }
        has_prefix
    }

    /// Holds a line back, and judges when there are enough.
    pub(crate) fn hold(&mut self, line: Held) -> Judgement {
        self.bytes = self.bytes.saturating_add(line.text.len());
        self.held.push(line);
        if self.held.len() < LINES && self.bytes < BYTES {
            return Judgement::Open;
        }
        self.judge()
    }

    /// Judges what there is.
    pub(crate) fn judge(&mut self) -> Judgement {
        if let Some((shape, first)) = shared(&self.held) {
            self.bytes = 0;
            let after = self.held.split_off(first);
            return Judgement::Found(shape, std::mem::take(&mut self.held), after);
        }
        // Lines at the end that may have begun to share one are looked at again.
        let after = self.held.split_off(run_at_end(&self.held));
        let plain = std::mem::replace(&mut self.held, after);
        self.bytes = self.held.iter().map(|line| line.text.len()).sum();
        self.refused = self.refused.saturating_add(1);
        if self.refused.is_multiple_of(PATIENCE) {
            let longer = REST_MIN.saturating_mul(self.refused / PATIENCE).min(REST_MAX);
            self.resting = longer;
        }
        Judgement::Plain(plain)
    }

    /// Everything that is held back, at the end.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

/// Where the lines begin that all may have the same sort of prefix, up to the last; not all of them.
fn run_at_end(held: &[Held]) -> usize {
    let shape = |line: &Held| prefix::of(&line.text).map(|prefixed| prefixed.shape);
    let Some(last) = held.last().and_then(shape) else { return held.len() };
    let run = held.iter().rev().take_while(|line| shape(line) == Some(last)).count();
    if run >= 3 && run < held.len() { held.len().saturating_sub(run) } else { held.len() }
}

/// The prefix most lines share from some line on.
fn shared(held: &[Held]) -> Option<(Shape, usize)> {
    let lines: Vec<Option<Prefixed<'_>>> = held.iter().map(|line| prefix::of(&line.text)).collect();
    let shapes = [
        Shape::Time,
        Shape::Step,
        Shape::Bar,
        Shape::Bracket,
        Shape::Colons,
        Shape::Tab,
        Shape::BareBar,
        Shape::Colon,
    ];
    shapes.into_iter().find_map(|shape| {
        let of_shape = |line: &Option<Prefixed<'_>>| line.is_some_and(|line| line.shape == shape);
        if lines.iter().filter(|line| of_shape(line)).count() < 3 {
            return None;
        }
        let first = lines.iter().position(of_shape)?;
        let since = lines.get(first..)?;
        is_shared(shape, since).then_some((shape, first))
    })
}

fn is_shared(shape: Shape, lines: &[Option<Prefixed<'_>>]) -> bool {
    let with: Vec<&Prefixed<'_>> =
        lines.iter().flatten().filter(|line| line.shape == shape).collect();
    let times = |key: &str| with.iter().filter(|line| line.key == key).count();
    // A name that comes but once is none.
    let again = with.iter().filter(|line| times(line.key) >= 2).count();
    let most = with.iter().map(|line| times(line.key)).max().unwrap_or(0);
    // Who passes lines on keeps their blanks, and empty lines too; who writes lines does not.
    let is_layout =
        |line: &&&Prefixed<'_>| line.rest.is_empty() || line.rest.starts_with([' ', '\t']);
    let has_layout = with.iter().any(|line| is_layout(&line));
    let share = |percent: usize| again.saturating_mul(100) >= lines.len().saturating_mul(percent);
    most >= 3
        && match shape {
            Shape::Time => share(70),
            Shape::Step => share(50),
            Shape::Bar => share(60) && (has_layout || share(95)),
            Shape::Bracket | Shape::Colons => share(70) && (has_layout || share(100)),
            Shape::BareBar => (share(80) && has_layout) || (share(100) && again >= 8),
            Shape::Tab => share(85) && (has_layout || share(100)) && again >= 6,
            Shape::Colon => (share(85) && has_layout && again >= 6) || (share(100) && most >= 8),
        }
}
