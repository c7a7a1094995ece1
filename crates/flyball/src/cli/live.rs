//! Runs at work, and what a human wants of one: left in the journal, and waited for until the run has
//! answered.

use std::thread;
use std::time::Duration;

use flyball_core::human::{HumanReply, HumanWish};

use super::runs::{self, Life};
use super::{Globals, fault, place};
use crate::clock::{self, Deadline};
use crate::error::CliError;
use crate::journal::{Journal, Request, RunSummary};

/// How long a run's answer is waited for; it looks twice a second.
const WAIT_MAX: Duration = Duration::from_secs(15);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// The run at work that is meant: the one named, or the one here.
pub(super) fn find(
    journal: &Journal,
    asked: Option<&str>,
    globals: &Globals,
) -> Result<RunSummary, CliError> {
    let found = match asked {
        Some(asked) => runs::find(journal, asked)?,
        None => here(journal, globals)?,
    };
    refuse_ended(&found)?;
    Ok(found)
}

fn here(journal: &Journal, globals: &Globals) -> Result<RunSummary, CliError> {
    let root = place::repository(globals)?;
    if let Some(run) = runs::at_work(journal, &root)? {
        return Ok(run);
    }
    let mut apart = Vec::new();
    for one in journal.apart_from(&root).map_err(fault::journal)? {
        let run = journal.run(&one.run).map_err(fault::journal)?;
        if runs::life(&run) == Life::Running {
            apart.push(run);
        }
    }
    match apart.as_slice() {
        [only] => Ok(only.clone()),
        [] => {
            let error = CliError::no_input(format!("no run is at work in `{}`", root.display()));
            let last = journal.latest_run(&root).map_err(fault::journal)?;
            let last = last.and_then(|run| Some((run.outcome?, run.run)));
            let error = match last {
                Some((outcome, run)) => {
                    error.hint(format!("the last one here ended: {outcome}; `flyball log {run}`"))
                }
                None => error,
            };
            Err(error.hint("`flyball status` lists those elsewhere"))
        }
        several => {
            let names: Vec<String> = several.iter().map(|run| format!("`{}`", run.run)).collect();
            Err(CliError::usage(format!("{} runs of this repository are at work", names.len()))
                .hint(format!("name one: {}", names.join(", "))))
        }
    }
}

/// Refuses a run that is not at work.
fn refuse_ended(run: &RunSummary) -> Result<(), CliError> {
    match runs::life(run) {
        Life::Running => Ok(()),
        Life::Ended => {
            let outcome = run.outcome.as_deref().unwrap_or("unknown");
            let message = format!("run `{}` has ended already: {outcome}", run.run);
            Err(CliError::no_input(message).hint(format!("`flyball log {}`", run.run)))
        }
        Life::Lost => {
            let message = format!("run `{}` is not at work: its process is gone", run.run);
            let command = runs::resume_command(&run.run, &run.root, None);
            Err(CliError::no_input(message).hint(format!("to go on with it: `{command}`")))
        }
    }
}

/// Asks a run at work for something, and waits for its answer.
pub(super) fn ask(
    journal: &mut Journal,
    run: &RunSummary,
    wish: &HumanWish,
) -> Result<HumanReply, CliError> {
    let request = Request::wish(wish, clock::wall()).map_err(fault::journal)?;
    let number = journal.request(&run.run, &request).map_err(fault::journal)?;
    let limit = Deadline::after(WAIT_MAX);
    loop {
        if let Some(reply) = journal.take_reply(number).map_err(fault::journal)? {
            return Ok(reply);
        }
        let now = journal.run(&run.run).map_err(fault::journal)?;
        if runs::life(&now) != Life::Running {
            // It may have answered with its last breath.
            if let Some(reply) = journal.take_reply(number).map_err(fault::journal)? {
                return Ok(reply);
            }
            journal.drop_request(number).ok();
            refuse_ended(&now)?;
        }
        if limit.passed() {
            return Err(CliError::already_running(format!(
                "run `{}` has not answered within {} s; it was left for it",
                run.run,
                WAIT_MAX.as_secs()
            ))
            .hint(format!("`flyball log {}` shows whether it came to that", run.run)));
        }
        thread::sleep(PAUSE);
    }
}
