//! `flyball notify test`: whether messages arrive, tried before the night.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Globals, place};
use crate::error::{CliError, ErrorKind};
use crate::notify::{self, Message};
use crate::terminal;

/// Messages to people: `[notify]` in the settings
#[derive(Clone, Debug, Args)]
pub struct NotifyArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: NotifyCommand,
}

/// What can be done with notifications.
#[derive(Clone, Debug, Subcommand)]
pub enum NotifyCommand {
    /// Send a test message along every way that is configured, and say how each went
    Test(TestArgs),
}

/// How the answer is written.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct TestArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Sends the test message.
pub fn run(args: &NotifyArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let NotifyCommand::Test(TestArgs { json }) = args.command;
    let config = globals.sources()?.load()?;
    globals.warn(&config);
    let root = match place::repository(globals) {
        Ok(root) => root,
        Err(_) => globals.start_dir()?,
    };
    let sent = notify::deliver(&config.notify, &Message::test(&root));
    if sent.is_empty() {
        return Err(CliError::config("nobody would be told: `notify.to` is empty").hint(
            "notify.to = [\"desktop\"], or \"bell\", \"ntfy:TOPIC\", \"slack:URL\", \"command:…\"",
        ));
    }
    let text = if json {
        let rows = sent.iter().map(|(route, result)| {
            let error = result.as_ref().err();
            json!({ "to": route.to_string(), "sent": error.is_none(), "error": error })
        });
        format!("{:#}\n", json!({ "notifications": rows.collect::<Vec<_>>() }))
    } else {
        let paint = globals.color.for_stdout();
        let rows = sent.iter().map(|(route, result)| match result {
            Ok(()) => format!("{}    {route}\n", paint.green("sent")),
            Err(error) => format!("{}  {route}: {error}\n", paint.red("failed")),
        });
        rows.collect()
    };
    terminal::write_out(&text)?;
    let failed = sent.iter().any(|(_, result)| result.is_err());
    Ok(if failed { ExitCode::from(ErrorKind::Io.code()) } else { ExitCode::SUCCESS })
}
