//! `flyball serve`: a window on all runs of this machine.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Globals;
use crate::error::CliError;
use crate::journal::state_dir;
use crate::serve::{self, Options};

/// Show all runs of this machine as a page, live
///
/// What needs you stands first; a run's page shows its failing checks by iteration, what guards did,
/// claims, cost and every event. Prints a link that works once. The page is for this machine only;
/// from another one use `ssh -L`. Scripts and Prometheus read /api and /metrics with a token
/// (--token-file).
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct ServeArgs {
    /// Open a browser
    #[arg(long)]
    pub open: bool,
    /// The port; without it 8791, or any that is free
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    pub port: Option<u16>,
    /// Listen on this address instead; one that other machines reach needs --token-file
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// Answer under this name too, such as that of a tunnel
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// Where NAME.localhost does not work: the page is at this name, such as 127.0.0.1
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Scripts may look with the token in this file, which only you may read
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Scripts may act too
    #[arg(long, requires = "token_file", conflicts_with = "read_only")]
    pub token_writes: bool,
    /// Nothing can be changed
    #[arg(long)]
    pub read_only: bool,
}

/// Serves until ended.
pub fn run(args: &ServeArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let start = globals.start_dir()?;
    let options = Options {
        listen: args.listen.clone(),
        port: args.port,
        host: args.host.clone(),
        allowed: args.allow_host.clone(),
        token_file: args.token_file.as_ref().map(|file| start.join(file)),
        token_writes: args.token_writes,
        read_only: args.read_only,
        open: args.open,
    };
    serve::run(&options, &state_dir()?)?;
    Ok(ExitCode::SUCCESS)
}
