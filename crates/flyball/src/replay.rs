//! A journalled run decided again under other limits: where that would have differed, when it would
//! have ended, what that would have saved and what it would have destroyed.
//!
//! Every event is given to two governors, one with the run's own limits and one with others. As long
//! as both decide the same, or differ only in words, the journal is the truth for both. Where the
//! other one stops something, the rest of the journal tells what would have been lost; where it lets
//! something go on, nothing is known, and that is said. Nothing in here changes a setting.

mod amount;
mod change;
mod difference;
#[cfg(test)]
mod tests;
mod twice;

pub use self::amount::Amount;
pub use self::change::{Change, ChangeError, Limits};
pub use self::difference::{Decision, Difference};
pub(crate) use self::twice::replay_each;
pub use self::twice::{Lost, Replayed, Scope, Stop, replay};
