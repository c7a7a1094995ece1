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
}
