//! The sums of many runs, counted once for as long as nothing ended or began.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flyball_core::{Event, Millis, Moment, RunId};

use super::window::Problem;
use crate::journal::{Journal, JournalError, RunMark, RunSummary};
use crate::run_record::model_of;
use crate::stats::{Figures, RunFigures, Stats, sum};

/// Which runs are summed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Those begun within this time; zero is all.
    pub(super) since: Millis,
    pub(super) project: Option<String>,
    pub(super) agent: Option<String>,
}

impl Wanted {
    /// Since when.
    fn from(&self, now: Moment) -> Moment {
        if self.since.is_zero() { Moment::from_millis(0) } else { now.minus(self.since) }
    }

    fn fits(&self, run: &RunMark) -> bool {
        self.project.as_ref().is_none_or(|project| is_at(&run.root, project))
            && self.agent.as_ref().is_none_or(|agent| run.agent == *agent)
    }
}

/// Whether a run is one of this project: its folder, or the folder's name.
pub(super) fn is_of(run: &RunSummary, project: &str) -> bool {
    is_at(&run.root, project)
}

fn is_at(root: &Path, project: &str) -> bool {
    root.as_os_str() == project || root.file_name().is_some_and(|name| name == project)
}

/// How many runs are kept in figures; others are counted anew when they are wanted.
const KNOWN_MAX: usize = 2_000;

/// The last sums, and the runs in them.
#[derive(Debug, Default)]
pub(super) struct FigureCache {
    last: Option<Sums>,
    known: BTreeMap<RunId, (u64, Box<RunFigures>)>,
}

/// What was wanted, the digest of which runs that were and how far they had come, and their sums.
type Sums = (Wanted, blake3::Hash, Stats);

impl FigureCache {
    /// The sums of ended runs and those at work, as they stand. A run at work is counted anew only
    /// with its next iteration: its calls change no sum. The others are not read again.
    pub(super) fn stats(
        &mut self,
        journal: &Journal,
        now: Moment,
        wanted: &Wanted,
    ) -> Result<&Stats, Problem> {
        let mut marks = journal.marks(wanted.from(now))?;
        marks.retain(|run| wanted.fits(run));
        let digest = digest(&marks);
        let is_fresh =
            self.last.as_ref().is_some_and(|(of, seen, _)| of == wanted && *seen == digest);
        if !is_fresh {
            let stats = self.sum(journal, marks)?;
            self.last = Some((wanted.clone(), digest, stats));
        }
        let last = self.last.as_ref().map(|(_, _, stats)| stats);
        last.ok_or_else(|| Problem::internal("nothing was counted"))
    }

    fn sum(&mut self, journal: &Journal, marks: Vec<RunMark>) -> Result<Stats, JournalError> {
        for mark in &marks {
            if self.known.get(&mark.run).is_none_or(|(at, _)| *at != mark.mark) {
                let one = Box::new(counted(journal, &mark.run)?);
                self.known.insert(mark.run.clone(), (mark.mark, one));
            }
        }
        let wanted = marks.iter().filter_map(|mark| self.known.get(&mark.run));
        let figures: Vec<&RunFigures> = wanted.map(|(_, one)| one.as_ref()).collect();
        let stats = sum(&figures);
        // Those of another choice go first: they are not looked at now.
        if self.known.len() > KNOWN_MAX {
            let kept = marks.into_iter().rev().take(KNOWN_MAX).map(|mark| mark.run);
            let kept: BTreeSet<RunId> = kept.collect();
            self.known.retain(|run, _| kept.contains(run));
        }
        Ok(stats)
    }
}

/// Which runs these are, and how far they have come.
fn digest(marks: &[RunMark]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for RunMark { run, mark, .. } in marks {
        hasher.update(&(run.as_str().len() as u64).to_le_bytes());
        hasher.update(run.as_str().as_bytes());
        hasher.update(&mark.to_le_bytes());
    }
    hasher.finalize()
}

fn counted(journal: &Journal, run: &RunId) -> Result<RunFigures, JournalError> {
    let row = journal.run(run)?;
    let mut one = Figures::new(&row);
    each(journal, &row, |at, event| one.step(at, event))?;
    Ok(one.finish(&row, model_of(run)))
}

/// Gives a run's events; one that cannot be read to its end counts as far as it can.
pub(super) fn each(
    journal: &Journal,
    run: &RunSummary,
    mut to: impl FnMut(Moment, &Event),
) -> Result<(), JournalError> {
    for recorded in journal.events(&run.run)? {
        match recorded {
            Ok(recorded) => to(recorded.at, &recorded.event),
            Err(JournalError::BadEvent { .. } | JournalError::Corrupt { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
