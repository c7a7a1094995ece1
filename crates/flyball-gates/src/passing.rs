//! A line between what was printed and who reads it.

use crate::hints::Hints;

/// One line on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing<'a> {
    /// The line, as far as its prefixes are off.
    pub text: &'a str,
    /// Which line of the output it is, from 1.
    pub number: u64,
    /// What may be in it.
    pub hints: Hints,
    /// Whether it may be among the last lines of the output.
    pub near_end: bool,
    /// Whether it is known not to be routine.
    pub is_refused: bool,
}

impl<'a> Passing<'a> {
    /// The same for somebody who knows nothing of it yet: what follows its prefix.
    pub(crate) const fn inside(self, text: &'a str) -> Self {
        Self { text, hints: Hints::UNKNOWN, is_refused: false, ..self }
    }
}
