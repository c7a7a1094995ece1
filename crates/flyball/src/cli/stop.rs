//! `flyball stop`: arguments.

use clap::Args;

/// Stop a run: its agent is ended, its state is kept
#[derive(Clone, Debug, Default, Args)]
pub struct StopArgs {
    /// The run; without it, the one at work here
    pub run: Option<String>,
}
