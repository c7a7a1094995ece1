//! `flyball unblock`: arguments.

use clap::Args;

/// Clear a block, and bring set-aside tasks back
#[derive(Clone, Debug, Default, Args)]
pub struct UnblockArgs {}
