//! The sums of many runs, counted once for as long as nothing ended or began.

use flyball_core::{Event, Millis, Moment, RunId};

use super::window::Problem;
use crate::journal::{Journal, JournalError, RunSummary};
use crate::run_record::model_of;
use crate::stats::{Figures, Stats, sum};

/// Which runs are summed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Those begun within this time; zero is all.
    pub(super) since: Millis,
    pub(super) project: Option<String>,
    pub(super) agent: Option<String>,
}

impl Wanted {
    fn fits(&self, run: &RunSummary, now: Moment) -> bool {
        let project = self.project.as_ref().is_none_or(|project| is_of(run, project));
        let agent = self.agent.as_ref().is_none_or(|agent| run.agent == *agent);
        let in_time = self.since.is_zero() || run.started >= now.minus(self.since);
        in_time && project && agent
    }
}

/// Whether a run is one of this project: its folder, or the folder's name.
pub(super) fn is_of(run: &RunSummary, project: &str) -> bool {
    run.root.as_os_str() == project || run.root.file_name().is_some_and(|name| name == project)
}

/// The last sums.
#[derive(Debug, Default)]
pub(super) struct FigureCache {
    last: Option<Sums>,
}

/// What was wanted, which runs that were and how far they had come, and their sums.
type Sums = (Wanted, Vec<(RunId, u64)>, Stats);

impl FigureCache {
    /// The sums of ended runs and those at work, as they stand. A run at work is counted anew only
    /// when another one begins or ends: its calls change no sum.
    pub(super) fn stats(
        &mut self,
        journal: &Journal,
        (runs, now): (&[RunSummary], Moment),
        wanted: &Wanted,
    ) -> Result<&Stats, Problem> {
        let mut chosen: Vec<&RunSummary> =
            runs.iter().filter(|run| wanted.fits(run, now)).collect();
        chosen.reverse();
        let mark = |run: &&RunSummary| {
            (
                run.run.clone(),
                run.ended.map_or(u64::from(run.state.iteration.get()), Moment::as_millis),
            )
        };
        let marks: Vec<(RunId, u64)> = chosen.iter().map(mark).collect();
        let is_fresh =
            self.last.as_ref().is_some_and(|(of, seen, _)| of == wanted && *seen == marks);
        if !is_fresh {
            let mut figures = Vec::with_capacity(chosen.len());
            for run in chosen {
                let mut one = Figures::new(run);
                each(journal, run, |at, event| one.step(at, event))?;
                figures.push(one.finish(run, model_of(&run.run)));
            }
            self.last = Some((wanted.clone(), marks, sum(&figures)));
        }
        let last = self.last.as_ref().map(|(_, _, stats)| stats);
        last.ok_or_else(|| Problem::internal("nothing was counted"))
    }
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
