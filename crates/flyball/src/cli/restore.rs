//! `flyball restore`: the way back from what an agent weakened, and from nothing else.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Globals, tamper_here, words};
use crate::desk::{self, RestoreReport};
use crate::error::CliError;
use crate::gate::tamper::Force;
use crate::journal::Door;
use crate::terminal;

/// Bring back what an agent weakened
#[derive(Clone, Debug, Args)]
pub struct RestoreArgs {
    /// What is brought back.
    #[command(subcommand)]
    pub what: Restorable,
}

/// What can be brought back.
#[derive(Clone, Debug, Subcommand)]
pub enum Restorable {
    /// Put weakened tests, gates and settings back as they were; all other work stays
    Tamper(RestoreTamperArgs),
}

/// How weakened checks are brought back.
#[derive(Clone, Debug, Default, Args)]
pub struct RestoreTamperArgs {
    /// Only what this run found, wherever it ran
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Also files that were changed again since
    #[arg(long)]
    pub force: bool,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
}

/// Brings it back.
pub fn run(args: &RestoreArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    match &args.what {
        Restorable::Tamper(args) => tamper(args, globals),
    }
}

fn tamper(args: &RestoreTamperArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let mut here = tamper_here::look(globals, args.run.as_deref())?;
    let force = if args.force { Force::Yes } else { Force::No };
    let restored = here.restore(None, force);
    let mut told = match here.open.first().map(|one| one.row.run.clone()) {
        Some(run) => {
            let body = json!({ "findings": here.marks() });
            let act = (&run, "restore-tamper", Door::Cli);
            desk::recorded(&mut here.journal, act, &body, restored)?
        }
        None => restored?,
    };
    tamper_here::look(globals, args.run.as_deref())?.settle(&mut told)?;
    let RestoreReport { still, question, .. } = &told;
    let next = "look at it (git diff), commit it, then: flyball run";
    let text = if args.json {
        let body = json!({
            "restored": told.done, "left": told.left, "open": still, "to_be_counted": told.counted,
            "note": question, "next": next,
        });
        format!("{body}\n")
    } else {
        let mut text = String::new();
        let mut say = |line: String| {
            text.push_str(&words::line(&line, 400));
            text.push('\n');
        };
        for line in &told.done {
            say(format!("Restored: {line}"));
        }
        for line in &told.left {
            say(format!("Left alone: {line}"));
        }
        for line in still {
            say(format!("Still open: {line}"));
        }
        for line in &told.counted {
            say(format!("Counted again by the next run: {line}"));
        }
        question.iter().cloned().for_each(&mut say);
        say(format!("Next: {next}"));
        text
    };
    terminal::write_out(&text)?;
    Ok(if still.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
