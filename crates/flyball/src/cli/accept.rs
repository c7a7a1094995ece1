//! `flyball accept`: a human's yes to what only a human may allow.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Globals, tamper_here, words};
use crate::desk;
use crate::error::CliError;
use crate::journal::Door;
use crate::terminal;

/// Say yes to something only a human may allow
#[derive(Clone, Debug, Args)]
pub struct AcceptArgs {
    /// What is accepted.
    #[command(subcommand)]
    pub what: Accepted,
}

/// What a human may accept.
#[derive(Clone, Debug, Subcommand)]
pub enum Accepted {
    /// Accept changed tests, gates or thresholds as they are now
    Tamper(AcceptTamperArgs),
}

/// How weakened checks are accepted.
#[derive(Clone, Debug, Default, Args)]
pub struct AcceptTamperArgs {
    /// Only what this run found, wherever it ran
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
}

/// Writes the yes down.
pub fn run(args: &AcceptArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    match &args.what {
        Accepted::Tamper(args) => tamper(args, globals),
    }
}

fn tamper(args: &AcceptTamperArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let mut here = tamper_here::look(globals, args.run.as_deref())?;
    let accepted = here.accept(None);
    let question = match here.open.first().map(|one| one.row.run.clone()) {
        Some(run) => {
            let body = json!({ "findings": here.marks() });
            let act = (&run, "accept-tamper", Door::Cli);
            desk::recorded(&mut here.journal, act, &body, accepted)?
        }
        None => accepted?,
    };
    let findings: Vec<_> = here.open.iter().map(|one| &one.row.kept.finding).collect();
    let text = if args.json {
        let accepted: Vec<_> = findings.iter().map(|finding| &finding.finding).collect();
        format!("{}\n", json!({ "accepted": accepted, "note": question, "next": "flyball run" }))
    } else {
        let mut text = String::new();
        for finding in findings {
            let at = finding.finding.place().map(|at| format!("{at}: ")).unwrap_or_default();
            let line = format!("Accepted: {at}{}", finding.finding.message);
            text.push_str(&words::line(&line, 400));
            text.push('\n');
        }
        text.extend(question.map(|line| format!("{line}\n")));
        text.push_str("Next: flyball run\n");
        text
    };
    terminal::write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}
