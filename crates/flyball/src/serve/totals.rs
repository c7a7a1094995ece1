//! What the counters of `/metrics` count, run by run: a run that has not moved is not read again.

use std::collections::BTreeMap;

use flyball_core::RunId;

use super::figures::each;
use crate::journal::{Journal, JournalError, RunSummary};
use crate::stats::RunTotals;
use crate::view::Builder;

/// What all runs add.
#[derive(Debug, Default)]
pub(super) struct Totals {
    runs: BTreeMap<RunId, (u64, RunTotals)>,
}

impl Totals {
    /// What each run adds, brought up to date.
    pub(super) fn of(
        &mut self,
        journal: &Journal,
        runs: &[RunSummary],
    ) -> Result<impl Iterator<Item = &RunTotals>, JournalError> {
        let known: BTreeMap<&RunId, u64> = runs.iter().map(|run| (&run.run, run.events)).collect();
        self.runs.retain(|run, (events, _)| known.get(run) == Some(events));
        for run in runs {
            if !self.runs.contains_key(&run.run) {
                let totals = read(journal, run)?;
                self.runs.insert(run.run.clone(), (run.events, totals));
            }
        }
        Ok(self.runs.values().map(|(_, totals)| totals))
    }
}

fn read(journal: &Journal, run: &RunSummary) -> Result<RunTotals, JournalError> {
    let (mut totals, mut builder) = (RunTotals::new(run), Builder::new(run));
    each(journal, run, |at, event| {
        totals.happened(event);
        for effect in builder.step(at, event) {
            totals.decided(&effect);
        }
    })?;
    totals.seen(&builder.view(run));
    Ok(totals)
}
