//! `flyball accept`: arguments.

use clap::{Args, Subcommand};

/// Say yes to something only a human may allow
#[derive(Clone, Debug, Args)]
pub struct AcceptArgs {
    /// What is accepted.
    #[command(subcommand)]
    pub what: Accepted,
}

/// What a human may accept.
#[derive(Clone, Debug, Subcommand)]
pub enum Accepted {
    /// Accept changed tests, gates or thresholds as they are now
    Tamper,
}
