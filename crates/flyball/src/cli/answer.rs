//! `flyball answer`: arguments.

use clap::Args;

/// Answer the question a run is waiting for
#[derive(Clone, Debug, Default, Args)]
pub struct AnswerArgs {
    /// The answer; without it, it is read from standard input
    pub text: Option<String>,
}
