//! The state folder, the journal, and runs that were lost.

use std::path::Path;

use super::super::runs::{self, Life};
use super::super::{fault, words};
use super::finding::Report;
use crate::error::CliError;
use crate::journal::{self, Journal, RunFilter};
use crate::process;

/// The journal opens and is whole; no run was lost.
pub(super) fn journal(report: &mut Report, here: Option<&Path>) {
    match open() {
        Err(error) => report.error("journal", &error, "set FLYBALL_STATE to another folder"),
        Ok(journal) => {
            report.ok("journal", journal.path().display().to_string());
            if let Err(error) = lost(report, &journal, here) {
                report.error("journal", &error, "flyball status");
            }
        }
    }
}

fn open() -> Result<Journal, CliError> {
    let state = journal::state_dir().map_err(fault::journal)?;
    let journal = Journal::open(&state).map_err(fault::journal)?;
    let probe = state.join(format!("doctor-{}.tmp", std::process::id()));
    crate::files::write_whole(&probe, "").map_err(fault::file(&probe, "written"))?;
    std::fs::remove_file(&probe).map_err(fault::file(&probe, "removed"))?;
    journal.check().map_err(fault::journal)?;
    Ok(journal)
}

/// Runs whose process is gone, and what they left running.
fn lost(report: &mut Report, journal: &Journal, here: Option<&Path>) -> Result<(), CliError> {
    let filter = RunFilter { unfinished: true, ..RunFilter::default() };
    for run in journal.runs(&filter).map_err(fault::journal)? {
        if runs::life(&run) != Life::Lost {
            continue;
        }
        let remedy = runs::resume_command(&run.run, &run.root, here);
        let left: Vec<String> = process::leftovers(&run.run).iter().map(u32::to_string).collect();
        let what = if left.is_empty() {
            format!("{} was lost at {}", run.run, words::time(run.last_at))
        } else {
            format!("{} was lost and left processes: {}", run.run, left.join(", "))
        };
        report.warn("run", what, remedy);
    }
    Ok(())
}
