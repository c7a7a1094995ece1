//! `flyball gate`: arguments.

use clap::{Args, ValueEnum};

/// Run the gates now
///
/// Exits with 0 when all are green. Usable as a CI step, a git hook or an agent's stop hook.
#[derive(Clone, Debug, Default, Args)]
pub struct GateArgs {
    /// Gates to run; without names, all of them
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Print JSON; the same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// How findings are written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: GateFormat,
    /// Run even when the result for this tree is known
    #[arg(long)]
    pub no_cache: bool,
}

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GateFormat {
    /// For people and agents.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// GitHub workflow annotations.
    Github,
}

impl GateArgs {
    /// The format that was asked for in either way.
    pub const fn chosen_format(&self) -> GateFormat {
        if self.json { GateFormat::Json } else { self.format }
    }
}
