//! `flyball inspect`: sessions that agents have written down, judged in hindsight: what the guards would
//! have said and where, and what was spent after that.
//!
//! How a transcript is read stands in [`transcript`](crate::transcript), how a session is judged in the
//! core ([`hindsight`](flyball_core::hindsight)); here both are brought together, kept, summed and shown.
//! Nothing leaves the machine.

mod cache;
mod copies;
mod csv;
mod detail;
mod fold;
mod html;
mod listener;
mod look;
mod overview;
mod session;
mod share;
#[cfg(test)]
mod tests;
mod told;

pub use self::cache::Cache;
pub use self::csv::csv;
pub use self::detail::{Detail, Shown, SpokenLine, StepShown, detail};
pub use self::fold::{Folded, fold};
pub use self::html::{overview_page, session_page};
pub use self::look::{Lens, Looked, Progress, Unheard, look};
pub use self::overview::{Choice, KindSum, Listed, Overview, Sum, overview};
pub use self::session::{ModelCall, SessionReport, SourceReport};
pub use self::share::share;
pub use self::told::{FOOTER, curve, money, range, tokens};
