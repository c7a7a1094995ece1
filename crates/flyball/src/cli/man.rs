//! `flyball man`: manual pages.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_mangen::Man;

use super::{Cli, Globals};
use crate::config::suggest;
use crate::error::CliError;
use crate::terminal;

/// Print a manual page
#[derive(Clone, Debug, Args)]
#[command(after_help = "To read it: flyball man | man -l -")]
pub struct ManArgs {
    /// The command the page is about; without it, flyball itself
    pub command: Option<String>,
}

/// Prints the page.
pub fn run(args: &ManArgs, _: &Globals) -> Result<ExitCode, CliError> {
    let mut whole = Cli::command();
    whole.build();
    let page = match &args.command {
        Some(name) => find(&whole, name)?,
        None => whole,
    };
    let mut text = Vec::new();
    Man::new(page)
        .render(&mut text)
        .map_err(|error| CliError::internal("the manual page could not be made").cause(error))?;
    terminal::write_out(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

fn find(whole: &clap::Command, name: &str) -> Result<clap::Command, CliError> {
    if let Some(found) = whole.find_subcommand(name) {
        return Ok(found.clone());
    }
    let names: Vec<&str> = whole.get_subcommands().map(clap::Command::get_name).collect();
    let error = CliError::usage(format!("there is no command `{name}`"));
    Err(match suggest::nearest(name, names.iter().copied()) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error.hint(format!("known commands: {}", names.join(", "))),
    })
}
