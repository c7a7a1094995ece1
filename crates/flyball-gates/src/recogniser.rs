//! What every reader of one tool's output looks like.

use crate::place::Place;
use crate::report::Report;

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

/// Which lines a recogniser wants to see while it is idle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cues {
    /// First bytes of a line after its blanks.
    pub first: &'static [u8],
    /// Lines that begin with a place.
    pub place: bool,
    /// Further first bytes, of lines that have something else as well.
    pub also: Option<(&'static [u8], Trait)>,
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
    /// It begins with one of these, all of which are three bytes long and begin alike; a few
    /// others may be handed over as well.
    Sign(&'static [char]),
}

/// Reads one tool's output.
pub(crate) trait Recogniser: Send {
    /// The tool's name.
    fn name(&self) -> &'static str;
    /// Which lines it wants while idle.
    fn cues(&self) -> Cues;
    /// Takes a line.
    fn line(&mut self, line: &Line<'_>) -> Attention;
    /// What it has understood; nothing if this tool did not speak.
    fn finish(&mut self) -> Option<Report>;
}
