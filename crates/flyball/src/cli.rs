//! The command line: one file per subcommand, one place that dispatches, one that prints errors.
//! A subcommand is listed in [`Command`] once it works, and not before.

pub mod accept;
pub mod answer;
pub mod archive;
pub mod completions;
pub mod config;
pub mod context;
pub mod demo;
pub mod doctor;
pub mod gate;
pub mod globals;
pub mod init;
pub mod log;
pub mod man;
pub mod mcp;
pub mod mcp_guard;
pub mod prune;
pub mod rewind;
pub mod run;
pub mod status;
pub mod stop;
pub mod tasks;
pub mod unblock;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind as ClapErrorKind;
use clap::{Parser, Subcommand, ValueEnum};

pub use self::globals::Globals;
use crate::error::{CliError, ErrorKind};
use crate::terminal;

/// Govern coding agents: run any agent until the work is verifiably done
///
/// flyball runs an agent again and again, checks its work with gates of its own, and steps in when
/// the agent repeats itself, stalls, fails, or claims to be done when it is not.
#[derive(Debug, Parser)]
#[command(name = "flyball", version, max_term_width = 100, subcommand_required = true)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Start with `flyball init` in a git repository.")]
pub struct Cli {
    /// Flags every command has.
    #[command(flatten)]
    pub globals: Globals,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands that work.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Init(init::InitArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Run(Box<run::RunArgs>),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Config(config::ConfigArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Completions(completions::CompletionsArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Man(man::ManArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Mcp(mcp::McpArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    McpGuard(mcp_guard::McpGuardArgs),
}

/// How a command answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The whole program: parses, runs, prints errors, and says with which code to exit.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let color = cli.globals.color;
    dispatch(cli).unwrap_or_else(|error| {
        terminal::write_err(&error.render(color.for_stderr()));
        error.exit_code()
    })
}

fn dispatch(cli: Cli) -> Result<ExitCode, CliError> {
    let globals = &cli.globals;
    match cli.command {
        Command::Init(args) => init::run(&args, globals),
        Command::Run(args) => run::run(&args, globals),
        Command::Config(args) => config::run(args, globals),
        Command::Completions(args) => completions::run(&args, globals),
        Command::Man(args) => man::run(&args, globals),
        Command::Mcp(args) => mcp::run(&args, globals),
        Command::McpGuard(args) => mcp_guard::run(&args, globals),
    }
}

/// Prints what clap has to say: help and version on stdout with 0, everything else on stderr with
/// 64, because clap's own 2 would read as "blocked".
fn refuse(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if matches!(error.kind(), ClapErrorKind::DisplayHelp | ClapErrorKind::DisplayVersion) {
        return match terminal::write_out(&text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => error.exit_code(),
        };
    }
    terminal::write_err(&text);
    ExitCode::from(ErrorKind::Usage.code())
}
