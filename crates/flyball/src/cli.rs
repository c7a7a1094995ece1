//! The command line: one file per subcommand, one place that dispatches, one that prints errors.
//! A subcommand is listed in [`Command`] once it works, and not before.

pub mod accept;
pub mod answer;
pub mod archive;
mod aside;
pub mod attach;
mod columns;
pub mod completions;
pub mod config;
pub mod context;
pub mod demo;
mod detach;
pub mod doctor;
pub mod drop;
#[cfg(feature = "otel")]
pub mod export;
mod fault;
mod found_agent;
pub mod gate;
pub mod globals;
pub mod hook;
pub mod hooks;
pub mod init;
mod inside;
pub mod inspect;
pub mod land;
pub mod limits;
mod live;
pub mod log;
pub mod man;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "mcp")]
pub mod mcp_guard;
pub mod notify;
mod place;
pub mod plan;
pub mod prune;
pub mod replay;
pub mod report;
pub mod restore;
pub mod rewind;
pub mod run;
mod runs;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(feature = "session")]
pub mod session;
pub mod stats;
pub mod status;
pub mod stop;
mod tamper_here;
pub mod tasks;
pub mod tell;
pub mod unblock;
#[cfg(feature = "watch")]
pub mod watch;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind as ClapErrorKind;
use clap::{Parser, Subcommand};

pub use self::globals::Globals;
use crate::clock;
use crate::error::{CliError, ErrorKind};
pub use crate::report::Format;
use crate::terminal::{self, ColorChoice};
use crate::view::words;

/// Govern coding agents: run any agent until the work is verifiably done
///
/// flyball runs an agent again and again, checks its work with gates of its own, and steps in when
/// the agent repeats itself, stalls, fails, or claims to be done when it is not.
#[derive(Debug, Parser)]
#[command(name = "flyball", version, max_term_width = 100, subcommand_required = true)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Start in a git repository: flyball run \"Fix the failing tests\"")]
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
    #[cfg(feature = "session")]
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Session(Box<session::SessionArgs>),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Plan(plan::PlanArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Demo(demo::DemoArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Status(status::StatusArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Log(log::LogArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Attach(attach::AttachArgs),
    #[cfg(feature = "watch")]
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Watch(watch::WatchArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Report(report::ReportArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Stats(stats::StatsArgs),
    #[cfg(feature = "otel")]
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Export(export::ExportArgs),
    #[cfg(feature = "serve")]
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Serve(serve::ServeArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Inspect(Box<inspect::InspectArgs>),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Replay(replay::ReplayArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Answer(answer::AnswerArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Unblock(unblock::UnblockArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Stop(stop::StopArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Tell(tell::TellArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Land(land::LandArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Drop(drop::DropArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Limits(limits::LimitsArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Tasks(tasks::TasksArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Context(context::ContextArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Accept(accept::AcceptArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Restore(restore::RestoreArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Rewind(rewind::RewindArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Archive(archive::ArchiveArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Prune(prune::PruneArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Doctor(doctor::DoctorArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    #[command(hide = true)]
    Hook(hook::HookArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Hooks(hooks::HooksArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Config(config::ConfigArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Gate(gate::GateArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Notify(notify::NotifyArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Completions(completions::CompletionsArgs),
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Man(man::ManArgs),
    #[cfg(feature = "mcp")]
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    Mcp(mcp::McpArgs),
    #[cfg(feature = "mcp")]
    #[expect(missing_docs, reason = "the help text stands at the arguments")]
    McpGuard(mcp_guard::McpGuardArgs),
}

/// The whole program: parses, runs, prints errors, and says with which code to exit.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let (color, result) = match hook::HookArgs::plain(&arguments) {
        // An agent waits for each of its hooks, and clap takes longer than the hook itself.
        Some(args) => (ColorChoice::default(), hook::run(&args, &Globals::default())),
        None => match Cli::try_parse_from(arguments) {
            Ok(cli) => (cli.globals.color, dispatch(cli)),
            Err(error) => return refuse(&error),
        },
    };
    let code = result.unwrap_or_else(|error| {
        terminal::write_error(&error, color.for_stderr());
        error.exit_code()
    });
    terminal::flush();
    code
}

fn dispatch(cli: Cli) -> Result<ExitCode, CliError> {
    inside::refuse_inside(&cli.command)?;
    // Should a keeper be killed by what it keeps, that comes to flyball itself.
    crate::process::adopt_orphans();
    let globals = &cli.globals;
    if globals.utc {
        clock::tell_in_utc();
    }
    match cli.command {
        Command::Init(args) => init::run(&args, globals),
        Command::Run(args) => run::run(&args, globals),
        #[cfg(feature = "session")]
        Command::Session(args) => session::run(&args, globals),
        Command::Plan(args) => plan::run(&args, globals),
        Command::Demo(args) => demo::run(&args, globals),
        Command::Status(args) => status::run(&args, globals),
        Command::Log(args) => log::run(&args, globals),
        Command::Attach(args) => attach::run(&args, globals),
        #[cfg(feature = "watch")]
        Command::Watch(args) => watch::run(&args, globals),
        Command::Report(args) => report::run(&args, globals),
        Command::Stats(args) => stats::run(&args, globals),
        #[cfg(feature = "otel")]
        Command::Export(args) => export::run(&args, globals),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args, globals),
        Command::Inspect(args) => inspect::run(&args, globals),
        Command::Replay(args) => replay::run(&args, globals),
        Command::Answer(args) => answer::run(&args, globals),
        Command::Unblock(args) => unblock::run(&args, globals),
        Command::Stop(args) => stop::run(&args, globals),
        Command::Tell(args) => tell::run(&args, globals),
        Command::Land(args) => land::run(&args, globals),
        Command::Drop(args) => drop::run(&args, globals),
        Command::Limits(args) => limits::run(&args, globals),
        Command::Tasks(args) => tasks::run(&args, globals),
        Command::Context(args) => context::run(&args, globals),
        Command::Accept(args) => accept::run(&args, globals),
        Command::Restore(args) => restore::run(&args, globals),
        Command::Rewind(args) => rewind::run(&args, globals),
        Command::Archive(args) => archive::run(&args, globals),
        Command::Prune(args) => prune::run(&args, globals),
        Command::Doctor(args) => doctor::run(&args, globals),
        Command::Hook(args) => hook::run(&args, globals),
        Command::Hooks(args) => hooks::run(&args, globals),
        Command::Config(args) => config::run(args, globals),
        Command::Gate(args) => gate::run(&args, globals),
        Command::Notify(args) => notify::run(&args, globals),
        Command::Completions(args) => completions::run(&args, globals),
        Command::Man(args) => man::run(&args, globals),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => mcp::run(&args, globals),
        #[cfg(feature = "mcp")]
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
