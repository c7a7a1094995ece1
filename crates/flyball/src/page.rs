//! Pages: a run as HTML. Every text is escaped by its type, nothing needs a script, and nothing is
//! fetched. Shows what `view` tells; decides nothing.

mod facts;
mod frame;
mod iterations;
mod lists;
mod matrix;
mod verdict;

pub(crate) use self::facts::facts;
#[cfg(feature = "serve")]
pub(crate) use self::facts::percent;
#[cfg(feature = "serve")]
pub(crate) use self::frame::{STYLE, logo};
pub(crate) use self::frame::{Style, frame};
pub(crate) use self::iterations::{Shown, iterations};
pub(crate) use self::lists::{ended, settings, stories};
pub(crate) use self::matrix::moved;
#[cfg(feature = "serve")]
pub(crate) use self::matrix::{mark, newest, rung, title};
pub(crate) use self::verdict::verdict;
#[cfg(feature = "serve")]
pub(crate) use self::verdict::{outcome_words, tone};
