//! `flyball completions`: completions for a shell.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, Globals};
use crate::error::CliError;
use crate::terminal;

/// Print completions for a shell
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "bash: flyball completions bash > ~/.local/share/bash-completion/completions/flyball"
)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Prints the completions.
pub fn run(args: &CompletionsArgs, _: &Globals) -> Result<ExitCode, CliError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "flyball", &mut text);
    terminal::write_out(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
