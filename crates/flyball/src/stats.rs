//! What guards did over many runs, what that was worth, and where they may have been wrong.
//!
//! Facts first, estimates apart: every number is counted from journalled runs, what was not spent is
//! a range bounded by the run's own limits, and every doubt names the run to look at. Nothing in
//! here changes a setting.

mod doubt;
mod figures;
mod halt;
mod sums;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "otel", feature = "serve"))]
mod totals;
mod watch;
mod what_if;

pub use self::doubt::{Doubt, DoubtKind, wilson};
pub use self::figures::{Figures, RunFigures};
pub use self::halt::Halt;
#[cfg(feature = "otel")]
pub(crate) use self::sums::rung_word;
pub use self::sums::{GuardSum, Heeded, Share, Stats, sum};
#[cfg(feature = "serve")]
pub(crate) use self::totals::agent;
#[cfg(any(feature = "otel", feature = "serve"))]
pub(crate) use self::totals::{Counts, GATE_BOUNDS, ITERATION_BOUNDS, RunTotals, Spans, seconds};
#[cfg(feature = "otel")]
pub(crate) use self::totals::{agent_label, result_word};
pub use self::what_if::{Suggestion, Way, WhatIf, suggest, what_if};
