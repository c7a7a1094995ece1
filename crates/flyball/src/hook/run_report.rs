//! What an agent reports to the run it is in, through a tool.

use flyball_core::IterationNo;
use flyball_core::task::AttemptReport;
use serde::{Deserialize, Serialize};

/// What an agent said of an attempt, on its way to the run it is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunReport {
    /// The iteration it was said in.
    pub(crate) iteration: IterationNo,
    /// What was said.
    pub(crate) reported: AttemptReport,
}
