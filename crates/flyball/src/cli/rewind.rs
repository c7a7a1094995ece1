//! `flyball rewind`: arguments.

use clap::Args;

/// Bring back the tree of an iteration, on a new branch
#[derive(Clone, Debug, Args)]
pub struct RewindArgs {
    /// The run
    pub run: String,
    /// The iteration; 0 is before the first
    #[arg(value_name = "N")]
    pub iteration: u32,
    /// Name of the branch; without it, one is made from run and iteration
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// Check it out in a new worktree at this path
    #[arg(long, value_name = "PATH")]
    pub worktree: Option<std::path::PathBuf>,
}
