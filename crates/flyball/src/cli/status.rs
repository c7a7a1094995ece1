//! `flyball status`: arguments.

use clap::Args;

/// Show what is running and how the last runs ended
#[derive(Clone, Debug, Default, Args)]
pub struct StatusArgs {
    /// Keep showing until interrupted
    #[arg(long)]
    pub watch: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
