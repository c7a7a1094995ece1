//! `flyball accept`: a human's yes to what only a human may allow.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::tamper_here::TamperHere;
use super::{Globals, fault, words};
use crate::clock;
use crate::error::CliError;
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
    let mut here = TamperHere::look(globals, args.run.as_deref())?;
    if here.open.is_empty() {
        return Err(here.nothing());
    }
    let rows: Vec<i64> = here.open.iter().map(|one| one.row.key).collect();
    here.journal.accept_tamper(&rows, clock::wall()).map_err(fault::journal)?;
    let question = here.clear_question()?;
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
