//! The governor: all three rings for one run.

/// Decides; never acts.
#[derive(Debug)]
pub struct Governor;
