//! Gates: flyball's own checks on the work, what their output says, and whether they were weakened.

mod board;
pub mod cancel;
mod capture;
mod check;
mod compiled;
mod edits;
mod environment;
pub mod plan;
pub mod run;
pub mod tamper;

pub use self::cancel::{Cancel, Cancelled};
pub use self::compiled::Compiled;
pub use self::edits::TreeLook;
pub(crate) use self::edits::tell_edits;
pub use self::plan::{Gate, GatePlan, GateSource};
pub(crate) use self::run::why_known;
pub use self::run::{GateProgress, GateRunner, Observe};
pub use self::tamper::{Watch, tamper};
