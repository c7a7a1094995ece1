//! `flyball doctor`: arguments.

use clap::Args;

/// Check that everything a run needs is there
#[derive(Clone, Debug, Default, Args)]
pub struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
