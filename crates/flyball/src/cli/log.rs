//! `flyball log`: arguments.

use clap::Args;

/// Show what happened in a run
#[derive(Clone, Debug, Default, Args)]
pub struct LogArgs {
    /// The run; without it, the latest one here
    pub run: Option<String>,
    /// Show one iteration only
    #[arg(long, value_name = "N")]
    pub iteration: Option<u32>,
    /// Print the journal's events as JSON lines
    #[arg(long)]
    pub json: bool,
}
