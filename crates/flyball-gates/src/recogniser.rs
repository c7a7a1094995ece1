//! What every reader of one tool's output looks like.

use crate::bytes;
use crate::place::Place;
use crate::report::Report;
use crate::skim::Skimmed;

/// One clean line of output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Its text, without colours and without its end.
    pub text: &'a str,
    /// Which line of the output it is, from 1.
    pub number: u64,
    /// The place it begins with, if it does.
    pub place: Option<Place<'a>>,
}

/// Whether a recogniser wants the next lines whatever they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attention {
    /// Only lines that match its cues.
    Idle,
    /// Every line: it is in the middle of something.
    Busy,
}

/// Which lines a recogniser wants to see while it is idle. A few others may be handed over as well.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cues {
    /// First bytes of a line after its blanks.
    pub first: &'static [u8],
    /// How a line begins after its blanks: more than one byte, of which five count. A `0` at the
    /// start stands for any number.
    pub starts: &'static [&'static str],
    /// Lines that begin with a place.
    pub places: Places,
    /// Further first bytes, of lines that have something else as well.
    pub also: &'static [(&'static [u8], Trait)],
}

impl Cues {
    /// No lines at all.
    pub(crate) const NONE: Self = Self { first: b"", starts: &[], places: Places::None, also: &[] };
}

/// First bytes of paths.
pub(crate) const PATHS: &[u8] =
    b"/._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// First bytes of names and codes.
pub(crate) const CAPITALS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Which lines that begin with a place are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// None because of that.
    None,
    /// Those with one of these bytes behind the place.
    Before(&'static [u8]),
    /// Those in files with one of these extensions.
    Of(&'static [&'static str]),
}

/// What is quickly seen of a line and says that most others are of no interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trait {
    /// This is its last byte.
    EndsWith(u8),
    /// There is a slash in it.
    Slash,
    /// There is a colon with a digit after it.
    ColonNumber,
    /// It begins with capital letters and a digit behind them: `E501`.
    Code,
    /// It begins with a word of small letters, digits and dashes that a colon ends: `unused-import:`.
    RuleName,
    /// Its first word ends with `Error`.
    ErrorName,
    /// It begins with one of these, all of which are three bytes long and begin alike.
    Sign(&'static [char]),
}

/// A copy of a recogniser in the middle of its work.
pub(crate) trait Copied {
    /// One that goes on from here on its own.
    fn copied(&self) -> Box<dyn Recogniser>;
}

impl<T: Recogniser + Clone + 'static> Copied for T {
    fn copied(&self) -> Box<dyn Recogniser> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Recogniser> {
    fn clone(&self) -> Self {
        // Of what is in the box, not of the box.
        (**self).copied()
    }
}

/// Reads one tool's output.
pub(crate) trait Recogniser: Copied + Send + Sync {
    /// The tool's name.
    fn name(&self) -> &'static str;
    /// Which lines it wants while idle.
    fn cues(&self) -> Cues;
    /// Takes a line.
    fn line(&mut self, line: &Line<'_>) -> Attention;
    /// Whether there are lines that it takes by [`Recogniser::routine`]; the others are never asked.
    fn has_routine(&self) -> bool {
        false
    }
    /// Takes a line that is one more of what there were many already: a test that passed, a complaint
    /// that can only be counted. False when it is anything else, and then nothing has changed.
    ///
    /// Such a line means nothing to anybody else, and to take it by [`Recogniser::line`] would come
    /// to the same.
    fn routine(&mut self, _line: &[u8], _number: u64) -> bool {
        false
    }
    /// Takes lines from the start of these as long as they are routine; the first is the
    /// `number`th. All have their end and no colours.
    fn skim(&mut self, lines: &[u8], number: u64) -> Skimmed {
        let mut skimmed = self.many(lines);
        // Only what stands between very many lines is looked at alone.
        while skimmed.lines > 0 {
            let rest = lines.get(skimmed.bytes..).unwrap_or_default();
            let Some(length) = memchr::memchr(b'\n', rest) else { return skimmed };
            let next = self.next(rest, length, number.saturating_add(skimmed.lines));
            if next.lines == 0 {
                return skimmed;
            }
            let more = self.many(rest.get(next.bytes..).unwrap_or_default());
            skimmed = skimmed.and(next).and(more);
        }
        for end in bytes::Ends::of(lines) {
            // Some came together with the one before.
            let Some(length) = end.checked_sub(skimmed.bytes) else { continue };
            let rest = lines.get(skimmed.bytes..).unwrap_or_default();
            let next = self.next(rest, length, number.saturating_add(skimmed.lines));
            if next.lines == 0 {
                break;
            }
            skimmed = skimmed.and(next);
        }
        skimmed
    }
    /// Takes the first of these lines, which has this length and number, if it is routine, or some
    /// that are so together.
    fn next(&mut self, lines: &[u8], length: usize, number: u64) -> Skimmed {
        if self.routine(lines.get(..length).unwrap_or_default(), number) {
            return Skimmed { bytes: length + 1, lines: 1 };
        }
        self.together(lines)
    }
    /// Takes lines from the start of these that are routine for their first bytes alone, and change
    /// nothing: more of a failure of which nothing is kept.
    fn many(&self, _lines: &[u8]) -> Skimmed {
        Skimmed::default()
    }
    /// Takes lines from the start of these that are routine together, where the first alone is not:
    /// the title of a failure and the blank line below it.
    fn together(&mut self, _lines: &[u8]) -> Skimmed {
        Skimmed::default()
    }
    /// Whether it wants the next line whatever it is, after one that was routine and at the start.
    fn after_routine(&self) -> Attention {
        Attention::Idle
    }
    /// Whether the routine of others means nothing to it even in the middle of something.
    fn is_patient(&self) -> bool {
        false
    }
    /// What it has understood; nothing if this tool did not speak.
    fn finish(&mut self) -> Option<Report>;
}
