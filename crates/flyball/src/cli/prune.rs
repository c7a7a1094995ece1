//! `flyball prune`: arguments.

use clap::Args;
use flyball_core::Millis;

use crate::config::duration;

/// Remove old checkpoints and journal rows
#[derive(Clone, Debug, Args)]
pub struct PruneArgs {
    /// Remove runs that ended longer ago than this
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "30d")]
    pub older_than: Millis,
    /// Only say what would be removed
    #[arg(long)]
    pub dry_run: bool,
}

fn time(text: &str) -> Result<Millis, String> {
    duration::parse(text).ok_or_else(|| "expected a time such as 12h or 30d".to_owned())
}
