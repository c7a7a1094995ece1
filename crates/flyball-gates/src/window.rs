//! Whether lines really have a prefix: a few of them are held back until most share one.

use crate::common::Common;
use crate::prefix::{self, Prefixed, Shape};

/// How many lines are looked at together.
const LINES: usize = 24;
/// How many bytes are held back at most.
const BYTES: usize = 32 * 1024;
/// After so many windows without a prefix nobody looks for a while, each time longer.
const PATIENCE: u32 = 4;
const REST_MIN: u32 = 100;
const REST_MAX: u32 = 20_000;
/// After so many lines without anything like a prefix only every eighth is looked at.
const CALM: u32 = 1_024;

/// Lines held back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    held: Vec<Held>,
    bytes: usize,
    refused: u32,
    resting: u32,
    /// How many lines in a row had nothing like a prefix.
    plain: u32,
    /// How the line before began, and how many in a row did so.
    head: ([u8; HEAD], u32),
    /// Whether the first lines of all have been judged.
    begun: bool,
}

/// How much of a line is compared with the line before it.
const HEAD: usize = 6;
/// So many lines in a row that begin alike may have a prefix nobody knows.
const ALIKE: u32 = 6;

/// What stands before the lines of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// A prefix of a known sort, and further blanks.
    Known(Shape, usize),
    /// What all lines begin with.
    Common(Common),
}

impl Before {
    /// Whose line it is, and the line without its prefix.
    pub(crate) fn strip<'a>(&'a self, line: &'a str) -> Option<(&'a str, &'a str)> {
        let (key, rest) = match self {
            Self::Known(shape, blanks) => {
                let Prefixed { shape: own, key, rest } = prefix::as_shape(line, *shape)?;
                let extra = rest.bytes().take(*blanks).take_while(|byte| *byte == b' ').count();
                (own == *shape).then(|| (key, rest.get(extra..).unwrap_or(rest)))?
            }
            Self::Common(common) => (common.name(), common.strip(line)?),
        };
        Some((key, prefix::printed_below(line, rest).unwrap_or(rest)))
    }
}

/// One line held back.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// The line.
    pub text: String,
    /// Which line of the output it is.
    pub number: u64,
    /// Whether it may be among the last ones.
    pub near_end: bool,
}

/// What the lines so far say.
#[derive(Clone, Debug)]
pub(crate) enum Judgement {
    /// Too early to tell; they are held back.
    Open,
    /// These have no prefix.
    Plain(Vec<Held>),
    /// From the first of the second ones on lines have this prefix.
    Found(Before, Vec<Held>, Vec<Held>),
}

impl Window {
    /// Whether a line must be held back.
    pub(crate) fn wants(&mut self, text: &str) -> bool {
        if !self.held.is_empty() || !self.begun {
            return true;
        }
        let is_alike = self.is_alike(text);
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
        has_prefix || is_alike
    }

    /// Whether nothing is held back, and the first lines of all have been judged.
    pub(crate) const fn is_settled(&self) -> bool {
        self.begun && self.held.is_empty()
    }

    /// Lines came that were understood as they are, so that nothing can stand before them.
    pub(crate) fn pass(&mut self, lines: u64) {
        let (_, alike) = &mut self.head;
        *alike = 0;
        self.resting = self.resting.saturating_sub(u32::try_from(lines).unwrap_or(u32::MAX));
    }

    /// Whether this line begins as those before it, numbers aside.
    fn is_alike(&mut self, text: &str) -> bool {
        let mut own = [b' '; HEAD];
        for (slot, byte) in own.iter_mut().zip(text.bytes()) {
            *slot = if byte.is_ascii_digit() { b'0' } else { byte };
        }
        let (head, times) = &mut self.head;
        *times = if *head == own { times.saturating_add(1) } else { 0 };
        *head = own;
        *times == ALIKE
    }

    /// Holds a line back, and judges when there are enough.
    pub(crate) fn hold(&mut self, line: Held, depth: usize) -> Judgement {
        self.bytes = self.bytes.saturating_add(line.text.len());
        self.held.push(line);
        if self.held.len() < LINES && self.bytes < BYTES {
            return Judgement::Open;
        }
        self.judge(depth)
    }

    /// Judges what there is; `depth` prefixes were taken off already.
    pub(crate) fn judge(&mut self, depth: usize) -> Judgement {
        let is_first = !std::mem::replace(&mut self.begun, true);
        if !is_announced(&self.held)
            && let Some((before, first)) = common(&self.held, depth)
                .or_else(|| shared(&self.held))
                .or_else(|| indented(&self.held).filter(|_| is_first))
        {
            self.bytes = 0;
            let after = self.held.split_off(first);
            return Judgement::Found(before, std::mem::take(&mut self.held), after);
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

/// What all lines begin with from the first or second line on, unless a known sort of prefix says
/// more: whose lines they are.
fn common(held: &[Held], depth: usize) -> Option<(Before, usize)> {
    let texts: Vec<&str> = held.iter().map(|line| line.text.as_str()).collect();
    let common = Common::of(&texts, depth)?;
    let first = texts.iter().position(|text| common.strip(text).is_some())?;
    let known: Vec<Option<Prefixed<'_>>> = texts.iter().map(|text| prefix::of(text)).collect();
    let shape = known.get(first)?.map(|known| known.shape);
    let sorted = known.iter().flatten().count();
    let pairs = || texts.iter().zip(&known).filter_map(|(text, known)| (*known).map(|k| (k, text)));
    // Prefixes that leave no more than this one; names, of which a line has another; and what says
    // only how grave a line is, which tools write themselves.
    let more = |known: Prefixed<'_>, text: &str| {
        let rest = common.strip(text)?;
        let more = known.rest.len().checked_sub(rest.len()).filter(|more| *more > 0)?;
        known.rest.get(..more).map(str::to_owned)
    };
    let is_all = pairs().all(|(known, text)| more(known, text).is_none());
    let has_other =
        pairs().any(|(known, text)| Some(known.shape) == shape && common.strip(text).is_none());
    let is_level = pairs()
        .find_map(|(known, text)| more(known, text))
        .is_some_and(|more| prefix::is_word(more.trim().trim_matches(['[', ']', '>', ':'])));
    let is_known = sorted * 20 >= texts.len() * 19 && (is_all || has_other || is_level);
    (!is_known).then_some((Before::Common(common), first))
}

/// Blanks before all of the first lines, but for a heading above them.
fn indented(held: &[Held]) -> Option<(Before, usize)> {
    let texts: Vec<&str> = held.iter().map(|line| line.text.as_str()).collect();
    let is_heading = |line: &&str| line.ends_with(':') && !line.starts_with(' ');
    let first = usize::from(texts.first().is_some_and(is_heading));
    Some((Before::Common(Common::indented(texts.get(first..)?)?), first))
}

/// Whether somebody is announced here and then speaks: who announces is known by that.
fn is_announced(held: &[Held]) -> bool {
    let spoken = |key: &str| {
        let is_own =
            |line: &&Held| line.text.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
        held.iter().filter(is_own).count() >= 2
    };
    held.iter().filter_map(|line| prefix::announced(&line.text)).any(spoken)
}

/// The prefix most lines share from some line on.
fn shared(held: &[Held]) -> Option<(Before, usize)> {
    let shapes = [
        Shape::Time,
        Shape::Step,
        Shape::Bar,
        Shape::Bracket,
        Shape::Colons,
        Shape::Tab,
        Shape::Tag,
        Shape::BareBar,
        Shape::Colon,
        Shape::Number,
    ];
    shapes.into_iter().find_map(|shape| {
        let lines = held.iter().map(|line| prefix::as_shape(&line.text, shape));
        let lines: Vec<Option<Prefixed<'_>>> = lines.collect();
        let of_shape = |line: &Option<Prefixed<'_>>| line.is_some_and(|line| line.shape == shape);
        if lines.iter().filter(|line| of_shape(line)).count() < 3 {
            return None;
        }
        let first = lines.iter().position(of_shape)?;
        let since = lines.get(first..)?;
        is_shared(shape, since).then(|| (Before::Known(shape, blanks(shape, since)), first))
    })
}

/// How many blanks more than one belong to the prefix: none, or one that even empty lines have, or
/// that stands before words. Tools do not indent by one, but for the numbers of quoted lines, and jest
/// and vitest what they mark.
fn blanks(shape: Shape, lines: &[Option<Prefixed<'_>>]) -> usize {
    let rests = || lines.iter().flatten().filter(|line| line.shape == shape).map(|line| line.rest);
    let is_worded = |rest: &&str| {
        let own = rest.get(1..).unwrap_or_default();
        own.starts_with(|c: char| c.is_ascii() && !c.is_ascii_digit() && c != ' ')
            && !["RUN ", "FAIL ", "PASS ", "DEV "].iter().any(|mark| own.starts_with(mark))
    };
    let has_empty = rests().any(|rest| rest.trim().is_empty());
    let all_have = rests().all(|rest| rest.starts_with(' '));
    usize::from(all_have && (has_empty || rests().filter(is_worded).count() >= 2))
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
            Shape::Tag => share(60),
            Shape::Step => share(50),
            Shape::Bar => share(60) && (has_layout || share(95)),
            Shape::Bracket | Shape::Colons => share(70) && (has_layout || share(100)),
            Shape::BareBar => (share(80) && has_layout) || (share(100) && again >= 8),
            Shape::Number => share(95) && has_layout && again >= 8 && most >= 4,
            Shape::Tab => share(85) && (has_layout || share(100)) && again >= 6,
            Shape::Colon => (share(85) && has_layout && again >= 6) || (share(100) && most >= 8),
        }
}
