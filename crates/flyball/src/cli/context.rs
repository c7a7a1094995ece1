//! `flyball context`: arguments.

use clap::Args;

/// Show the entries remedies have left for the tasks
#[derive(Clone, Debug, Default, Args)]
pub struct ContextArgs {
    /// Only this topic, such as `loop_escalation`
    #[arg(long, value_name = "TOPIC")]
    pub topic: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
