//! Runs as the command line names them: by id, by any part of an id that no other has, or the latest
//! here.

use std::path::{Path, PathBuf};

use flyball_core::RunId;

use super::fault;
use crate::config::suggest;
use crate::desk;
pub(super) use crate::desk::{Life, elapsed, life, resume_command};
use crate::error::CliError;
use crate::journal::{Journal, RunFilter, RunSummary};

/// The shortest name a run is given.
const SHORT_MIN: usize = 4;
/// How many ids an error names.
const NAMED_MAX: usize = 5;

/// The run with this id, or the only one whose id begins so or holds this anywhere.
pub(super) fn find(journal: &Journal, asked: &str) -> Result<RunSummary, CliError> {
    let known = journal.runs(&RunFilter::default()).map_err(fault::journal)?;
    if let Some(exact) = known.iter().find(|run| run.run.as_str() == asked) {
        return Ok(exact.clone());
    }
    let with = |fits: fn(&str, &str) -> bool| -> Vec<&RunSummary> {
        known.iter().filter(|run| !asked.is_empty() && fits(run.run.as_str(), asked)).collect()
    };
    let begins: fn(&str, &str) -> bool = |name, asked| name.starts_with(asked);
    let holds: fn(&str, &str) -> bool = |name, asked| name.contains(asked);
    for (how, fits) in [("begins", begins), ("is in", holds)] {
        match with(fits).as_slice() {
            [] => {}
            [only] => return Ok((*only).clone()),
            many => {
                let message = format!("`{asked}` {how} the names of {} runs", many.len());
                return Err(CliError::no_input(message).hint(format!("one of {}", ids(many))));
            }
        }
    }
    let error = CliError::no_input(format!("there is no run `{asked}`"));
    if known.is_empty() {
        return Err(error.hint("there are no runs yet; `flyball run` starts one"));
    }
    let meant = suggest::nearest(asked, known.iter().map(|run| run.run.as_str()));
    let hint = meant.map_or_else(
        || format!("the latest are {}", ids(&known.iter().collect::<Vec<_>>())),
        |meant| format!("did you mean `{meant}`?"),
    );
    Err(error.hint(hint).hint("`flyball status` lists runs"))
}

/// The shortest end of a run's name that no other of these has, and a person can type.
pub(super) fn short_name<'r>(run: &'r RunId, known: &[&RunId]) -> &'r str {
    let name = run.as_str();
    let ends = name.rmatch_indices('-').map(|(at, _)| name.get(at + 1..).unwrap_or(name));
    let is_only = |end: &&str| {
        end.len() >= SHORT_MIN
            && known.iter().filter(|one| one.as_str().contains(*end)).count() <= 1
    };
    ends.into_iter().find(is_only).unwrap_or(name)
}

/// The run asked for, or the latest in a worktree.
pub(super) fn find_or_latest(
    journal: &Journal,
    asked: Option<&str>,
    root: impl FnOnce() -> Result<PathBuf, CliError>,
) -> Result<RunSummary, CliError> {
    match asked {
        Some(asked) => find(journal, asked),
        None => latest(journal, &root()?),
    }
}

/// The latest run in a worktree.
pub(super) fn latest(journal: &Journal, root: &Path) -> Result<RunSummary, CliError> {
    journal.latest_run(root).map_err(fault::journal)?.ok_or_else(|| {
        CliError::no_input(format!("there has been no run in `{}`", root.display()))
            .hint("`flyball run` starts one; `flyball status` lists those elsewhere")
    })
}

/// The run at work in a worktree.
pub(super) fn at_work(journal: &Journal, root: &Path) -> Result<Option<RunSummary>, CliError> {
    desk::at_work(journal, root).map_err(fault::journal)
}

fn ids(runs: &[&RunSummary]) -> String {
    let mut names: Vec<String> =
        runs.iter().take(NAMED_MAX).map(|run| format!("`{}`", run.run)).collect();
    if runs.len() > NAMED_MAX {
        names.push("…".to_owned());
    }
    names.join(", ")
}
