//! Runs at work: the one that is meant.

use super::runs::{self, Life};
use super::{Globals, fault, place};
use crate::desk::refuse_ended;
pub(super) use crate::desk::wish as ask;
use crate::error::CliError;
use crate::journal::{Journal, RunSummary};

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
