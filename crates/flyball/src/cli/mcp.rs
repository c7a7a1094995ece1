//! `flyball mcp`: flyball's tools for agents that speak MCP.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Globals;
use crate::error::CliError;
use crate::http::Token;
use crate::journal::state_dir;
use crate::mcp::{Site, serve_http, serve_stdio};

/// Serve flyball's tools over the Model Context Protocol
///
/// Without flags on standard input and output, as agents start it: `claude mcp add flyball --
/// flyball mcp`. It serves the repository it is started in (or -C DIR).
#[derive(Clone, Debug, Default, Args)]
pub struct McpArgs {
    /// Serve streamable HTTP on this address of this machine, such as 127.0.0.1:8790
    #[arg(long, value_name = "ADDR")]
    pub http: Option<String>,
    /// Take the token of HTTP clients from this file, which only you may read; without it one is made
    /// in the state folder
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
}

/// Serves until the client goes away.
pub fn run(args: &McpArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let site = Site::open(&globals.start_dir()?, globals.sources()?)?;
    match &args.http {
        Some(address) => {
            let token = match &args.token_file {
                Some(path) => Token::given(path)?,
                None => Token::own(&state_dir()?)?,
            };
            serve_http(site, address, token)?;
        }
        None => serve_stdio(site)?,
    }
    Ok(ExitCode::SUCCESS)
}
