//! Pages: a run as HTML. Every text is escaped by its type, nothing needs a script, and nothing is
//! fetched. Shows what `view` tells; decides nothing.

mod facts;
mod frame;
mod iterations;
mod lists;
mod matrix;
mod verdict;

pub(crate) use self::facts::facts;
pub(crate) use self::frame::{Style, frame};
pub(crate) use self::iterations::{Shown, iterations};
pub(crate) use self::lists::{ended, settings, stories};
pub(crate) use self::matrix::moved;
pub(crate) use self::verdict::verdict;
