//! `flyball archive`: arguments.

use clap::Args;

/// Put finished work away and start with fresh templates
#[derive(Clone, Debug, Default, Args)]
pub struct ArchiveArgs {
    /// Name of the archive, after the date
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    /// Move the logs too
    #[arg(long)]
    pub include_logs: bool,
}
