//! Gates: flyball's own checks on the work, what their output says, and whether they were weakened.

pub mod cancel;
mod capture;
mod check;
mod compiled;
mod environment;
pub mod plan;
pub mod run;
pub mod tamper;

pub use self::cancel::{Cancel, Cancelled};
pub use self::compiled::Compiled;
pub use self::plan::{Gate, GatePlan, GateSource};
pub use self::run::{GateProgress, GateRunner, Observe};
pub use self::tamper::{Watch, tamper};
