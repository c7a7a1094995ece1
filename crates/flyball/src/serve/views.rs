//! Runs kept in memory as they are looked at: each is told once, and then only what is new.

use std::collections::BTreeMap;

use flyball_core::RunId;

use crate::journal::{Journal, JournalError, RunSummary};
use crate::view::{Builder, RunView};

/// How many runs are kept; the one not looked at for longest goes first.
const KEPT_MAX: usize = 8;

/// Runs as they were told so far.
#[derive(Debug, Default)]
pub(super) struct Views {
    kept: BTreeMap<RunId, Kept>,
    looks: u64,
}

#[derive(Debug)]
struct Kept {
    builder: Builder,
    seq: u64,
    broken: Option<String>,
    looked: u64,
}

impl Views {
    /// The run as it stands.
    pub(super) fn view(
        &mut self,
        journal: &Journal,
        run: &RunSummary,
    ) -> Result<RunView, JournalError> {
        let kept = self.fed(journal, run)?;
        let view = kept.builder.view(run);
        Ok(RunView { broken: kept.broken.clone().or(view.broken), ..view })
    }

    /// The run as it is being told.
    pub(super) fn builder(
        &mut self,
        journal: &Journal,
        run: &RunSummary,
    ) -> Result<&mut Builder, JournalError> {
        Ok(&mut self.fed(journal, run)?.builder)
    }

    fn fed(&mut self, journal: &Journal, run: &RunSummary) -> Result<&mut Kept, JournalError> {
        self.looks += 1;
        let looks = self.looks;
        // A run with fewer events than were told is another one under the same name.
        self.kept.retain(|id, kept| *id != run.run || kept.seq <= run.events);
        self.make_room(&run.run);
        let kept = self.kept.entry(run.run.clone()).or_insert_with(|| Kept {
            builder: Builder::new(run),
            seq: 0,
            broken: None,
            looked: 0,
        });
        kept.looked = looks;
        if kept.broken.is_some() {
            return Ok(kept);
        }
        for recorded in journal.events_after(&run.run, kept.seq)? {
            match recorded {
                Ok(recorded) => {
                    kept.builder.step(recorded.at, &recorded.event);
                    kept.seq = recorded.seq;
                }
                Err(error @ (JournalError::BadEvent { .. } | JournalError::Corrupt { .. })) => {
                    kept.broken = Some(error.to_string());
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(kept)
    }

    fn make_room(&mut self, wanted: &RunId) {
        while self.kept.len() >= KEPT_MAX && !self.kept.contains_key(wanted) {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.looked);
            let Some(oldest) = oldest.map(|(id, _)| id.clone()) else { return };
            self.kept.remove(&oldest);
        }
    }
}
