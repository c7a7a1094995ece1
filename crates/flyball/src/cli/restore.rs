//! `flyball restore`: the way back from what an agent weakened, and from nothing else.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::tamper_here::TamperHere;
use super::{Globals, fault, runs, words};
use crate::clock;
use crate::error::CliError;
use crate::gate::tamper::{Force, Restored, restore_open};
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
    let here = TamperHere::look(globals, args.run.as_deref())?;
    if here.open.is_empty() {
        return Err(here.nothing());
    }
    if let Some(run) = runs::at_work(&here.journal, here.worktree.root())? {
        let message = format!("run `{}` is at work here", run.run);
        return Err(CliError::already_running(message)
            .hint(format!("end it first: `flyball stop {}`", run.run)));
    }
    let force = if args.force { Force::Yes } else { Force::No };
    let (mut done, mut left, mut counted) = (Vec::new(), Vec::new(), Vec::new());
    for one in &here.open {
        let finding = &one.row.kept.finding;
        if finding.ran_before.is_some() {
            counted.push(finding.finding.message.clone());
        }
        for what in restore_open(&here.worktree, one, force)? {
            let (list, words) = match what {
                Restored::Done(words) | Restored::Already(words) => (&mut done, words),
                Restored::Left(words) => (&mut left, words),
            };
            if !list.contains(&words) {
                list.push(words);
            }
        }
    }
    settle(args, globals, RestoreReport { done, left, counted })
}

/// What was done, what was not, and what only the next run can count.
struct RestoreReport {
    done: Vec<String>,
    left: Vec<String>,
    counted: Vec<String>,
}

/// Looks again: what is as it was is no longer open.
#[expect(clippy::needless_pass_by_value, reason = "it is taken over")]
fn settle(
    args: &RestoreTamperArgs,
    globals: &Globals,
    told: RestoreReport,
) -> Result<ExitCode, CliError> {
    let mut here = TamperHere::look(globals, args.run.as_deref())?;
    let is_undone = |one: &&crate::gate::tamper::OpenHere| one.now.is_none();
    let rows: Vec<i64> = here.open.iter().filter(is_undone).map(|one| one.row.key).collect();
    here.journal.undo_tamper(&rows, clock::wall()).map_err(fault::journal)?;
    let still: Vec<&str> = here
        .open
        .iter()
        .filter(|one| one.now.is_some() && one.row.kept.finding.ran_before.is_none())
        .map(|one| one.row.kept.finding.finding.message.as_str())
        .collect();
    let question = if still.is_empty() { here.clear_question()? } else { None };
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
        for line in &still {
            say(format!("Still open: {line}"));
        }
        for line in &told.counted {
            say(format!("Counted again by the next run: {line}"));
        }
        question.into_iter().for_each(&mut say);
        say(format!("Next: {next}"));
        text
    };
    terminal::write_out(&text)?;
    Ok(if still.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
