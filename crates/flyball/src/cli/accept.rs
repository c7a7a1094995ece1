//! `flyball accept`: a human's yes to what only a human may allow.

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use flyball_core::gate::Finding;
use flyball_core::{Event, GateName};

use super::place::{self, Place};
use super::{Globals, fault, runs, words};
use crate::clock;
use crate::error::CliError;
use crate::journal::{Journal, RunSummary};
use crate::loopdir::LoopDir;
use crate::terminal;

/// How flyball's own question names the answer; a question of an agent's is never taken away.
const QUESTION: [&str; 2] = ["The work verifies only with weakened", "`flyball accept tamper`"];

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
    Tamper,
}

/// Writes the yes down.
pub fn run(args: &AcceptArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    match args.what {
        Accepted::Tamper => tamper(globals),
    }
}

fn tamper(globals: &Globals) -> Result<ExitCode, CliError> {
    place::for_humans("accept tamper")?;
    let place = Place::find(globals)?;
    let mut journal = place::open_journal()?;
    let run = runs::latest(&journal, &place.root)?;
    let findings = last_findings(&journal, &run)?;
    if findings.is_empty() {
        let message = format!("run `{}` found no weakened tests or gates", run.run);
        return Err(CliError::no_input(message).hint(format!("`flyball log {}`", run.run)));
    }
    let known: BTreeSet<String> =
        journal.accepted(&place.root).map_err(fault::journal)?.into_iter().collect();
    let gate = GateName::new("tamper");
    let mut text = String::new();
    for finding in &findings {
        let identity = finding.identity(&gate);
        let word = if known.contains(&identity) { "Accepted before" } else { "Accepted" };
        journal.accept(&place.root, &identity, clock::wall()).map_err(fault::journal)?;
        let at = finding.place().map(|at| format!("{at}: ")).unwrap_or_default();
        text.push_str(&words::line(&format!("{word}: {at}{}", finding.message), 400));
        text.push('\n');
    }
    text.push_str(&clear_question(&place.human_files)?);
    text.push_str("Next: flyball run\n");
    terminal::write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The weakened tests and gates the run saw last.
fn last_findings(journal: &Journal, run: &RunSummary) -> Result<Vec<Finding>, CliError> {
    let mut last = Vec::new();
    for recorded in journal.events(&run.run).map_err(fault::journal)? {
        if let Event::GatesFinished { tamper, .. } = recorded.map_err(fault::journal)?.event
            && !tamper.is_empty()
        {
            last = tamper;
        }
    }
    Ok(last)
}

/// Takes `decide.txt` away when it asks about nothing but this.
fn clear_question(human_files: &LoopDir) -> Result<String, CliError> {
    let path = human_files.file("decide.txt");
    let question = human_files.human_files().map_err(fault::file(&path, "read"))?.question;
    let Some(question) = question else { return Ok(String::new()) };
    let [beginning, command] = QUESTION;
    if !question.starts_with(beginning) || !question.contains(command) {
        return Ok(format!("Another question waits in {}: flyball answer\n", path.display()));
    }
    human_files.remove_decide().map_err(fault::file(&path, "removed"))?;
    Ok(format!("Removed {}: it is answered\n", path.display()))
}
