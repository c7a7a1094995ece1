//! `flyball demo`: arguments.

use clap::Args;

/// Show flyball at work in a temporary repository
///
/// A scripted agent, real git, real gates, no network and no key: a nudge, a refused "done", a fix
/// and a verified completion.
#[derive(Clone, Debug, Default, Args)]
pub struct DemoArgs {
    /// Keep the temporary repository and say where it is
    #[arg(long)]
    pub keep: bool,
}
