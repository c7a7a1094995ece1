//! `flyball tell`: a human's word for a run at work: for its agent at once where that listens, else for
//! the next briefing.

use std::io::{Read, stdin};
use std::process::ExitCode;

use clap::Args;
use flyball_core::human::{HumanReply, HumanWish};
use serde_json::json;

use super::{Globals, live, place};
use crate::desk;
use crate::error::CliError;
use crate::journal::Door;
use crate::terminal;

/// The longest text that is read from standard input.
const INPUT_MAX: u64 = 64 * 1024;

/// Say something to the agent of a run at work
///
/// It is told at once where it listens (agent.steer, or hooks), else the next iteration's briefing
/// says it, once.
#[derive(Clone, Debug, Default, Args)]
pub struct TellArgs {
    /// The run, unless it is the one here; then what is said, or `-` to read it from standard input
    #[arg(value_name = "[RUN] TEXT", required = true, num_args = 1..=2)]
    pub words: Vec<String>,
    /// The run that is told; without it, the one at work here
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
}

/// Leaves the word with the run, and says how it reaches the agent.
pub fn run(args: &TellArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let (asked, text) = meant(args)?;
    let text = if text == "-" { read()? } else { text.to_owned() };
    let text = desk::word(&text)?;
    let mut journal = place::open_journal()?;
    let found = live::find(&journal, asked, globals)?;
    let body = json!({ "text": text });
    let reply = live::ask(&mut journal, &found, &HumanWish::Tell { text });
    let reply = desk::recorded(&mut journal, (&found.run, "tell", Door::Cli), &body, reply)?;
    if args.json {
        terminal::write_out(&format!("{}\n", json!({ "run": found.run, "told": reply })))?;
        return Ok(ExitCode::SUCCESS);
    }
    let how = match &reply {
        HumanReply::Steered => "its agent has been told".to_owned(),
        HumanReply::AtItsDoor => {
            "its agent is told with the next answer of its hooks, or the next briefing says it"
                .to_owned()
        }
        HumanReply::NextBriefing => {
            format!("the next briefing says it (iteration {} goes on)", found.state.iteration)
        }
        HumanReply::Refused { why } => return Err(CliError::usage(why.clone())),
        HumanReply::Changed | HumanReply::StopsAfter { .. } | HumanReply::EndsNow => {
            "it has answered".to_owned()
        }
    };
    terminal::write_out(&format!("Told run {}: {how}.\n", found.run))?;
    Ok(ExitCode::SUCCESS)
}

/// The run and the text that were meant.
fn meant(args: &TellArgs) -> Result<(Option<&str>, &str), CliError> {
    match (args.words.as_slice(), args.run.as_deref()) {
        ([text], run) => Ok((run, text)),
        ([run, text], None) => Ok((Some(run), text)),
        _ => Err(CliError::usage("the run is named twice")
            .hint("`flyball tell RUN TEXT`, or `flyball tell --run RUN TEXT`; put TEXT in quotes")),
    }
}

fn read() -> Result<String, CliError> {
    let mut text = String::new();
    stdin()
        .take(INPUT_MAX)
        .read_to_string(&mut text)
        .map_err(|error| CliError::io("standard input could not be read").cause(error))?;
    Ok(text)
}
