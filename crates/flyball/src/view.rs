//! A run as people are told of it: the one narrator of terminal, `log`, report and page.
//!
//! Journalled events, and what the governor decides on them (again, by giving it the same events),
//! become [`Line`]s: each says who speaks, when, in which iteration and how grave it is. The same
//! events become a [`RunView`]: iterations, failing checks by iteration, claims, guards, cost. From
//! that the [`story`] is told in a few sentences. Pure functions over what was journalled; nothing
//! in here prints, and nothing of the agent's text leaves it with a control character.

mod call_words;
mod echo;
mod iteration;
mod line;
mod live;
mod matrix;
mod narrator;
mod opening;
pub(crate) mod remembered;
mod render;
mod replay;
mod run_sums;
mod run_view;
pub(crate) mod secrets;
#[cfg(test)]
mod speaking_tests;
mod speech;
mod story;
mod story_view;
#[cfg(test)]
mod tests;
pub(crate) mod words;

pub(crate) use self::call_words::call_words;
pub use self::iteration::{ClaimVerdict, ClaimView, GuardAct, IterationView};
pub use self::line::{Line, Severity, Speaker, Verb, Weight};
pub use self::matrix::{Cell, CheckRow, Column, Matrix};
pub use self::narrator::Narrator;
pub use self::opening::Opening;
pub use self::render::{FRONT, hanging, log_lines, terminal_lines};
pub use self::replay::{Replay, Step};
pub use self::run_view::{Builder, RunView};
pub use self::story::{Sentence, Span, story};
pub use self::story_view::StoryView;
