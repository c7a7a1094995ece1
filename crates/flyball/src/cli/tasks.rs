//! `flyball tasks`: arguments.

use clap::{Args, Subcommand};

/// Show the tasks with their attempts
#[derive(Clone, Debug, Default, Args)]
pub struct TasksArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: Option<TasksAction>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What can be done with a task.
#[derive(Clone, Debug, Subcommand)]
pub enum TasksAction {
    /// Bring a task back that was set aside or escalated
    Retry {
        /// The task's id
        id: String,
    },
}
