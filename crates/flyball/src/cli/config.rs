//! `flyball config`: the effective configuration.

use std::process::ExitCode;

use clap::Args;

use super::Globals;
use crate::config::Detail;
use crate::error::CliError;
use crate::terminal;

/// Show the effective configuration
///
/// Layers, later ones win: built-in defaults, ~/.config/flyball/config.toml, flyball.toml, the
/// chosen profile, FLYBALL_* environment variables (`FLYBALL_LIMITS__STUCK=5`), flags of `run`.
#[derive(Clone, Debug, Args)]
pub struct ConfigArgs {
    /// Say beside each setting who set it
    #[arg(long)]
    pub origin: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Show what holds with this profile
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
}

/// Prints the configuration.
pub fn run(args: ConfigArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let mut sources = globals.sources()?;
    sources.profile = args.profile;
    let config = sources.load()?;
    globals.warn(&config);
    let detail = if args.origin { Detail::Origins } else { Detail::Values };
    let text =
        if args.json { format!("{:#}\n", config.to_json(detail)) } else { config.to_toml(detail) };
    terminal::write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}
