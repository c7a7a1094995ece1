//! Worktrees of runs that ended long ago: removed with their branch when everything in them is elsewhere,
//! kept and named when it is not.

use flyball_core::landing::OldWorktree;
use flyball_core::{Moment, RunId};

use super::super::runs::{self, Life};
use super::super::{fault, land};
use crate::error::CliError;
use crate::journal::{ApartRun, Fate, Journal, JournalError};
use crate::worktree::Worktree;

/// A worktree nobody has worked in for long.
struct Old {
    /// The runs that worked there, the latest first.
    runs: Vec<RunId>,
    apart: ApartRun,
    /// Why it stays; none when it may go.
    stays: Option<String>,
}

/// The worktrees of old runs.
pub(super) struct Worktrees(Vec<Old>);

impl Worktrees {
    /// Looks at all that were left before a moment.
    pub(super) fn look(journal: &Journal, before: Moment) -> Result<Self, CliError> {
        let mut all: Vec<Old> = Vec::new();
        // The latest run of a worktree comes first: it says whether the worktree is old.
        let mut young = Vec::new();
        for apart in journal.all_apart().map_err(fault::journal)? {
            if young.contains(&apart.path) {
                continue;
            }
            if let Some(known) = all.iter_mut().find(|old| old.apart.path == apart.path) {
                known.runs.push(apart.run);
                continue;
            }
            if is_old(journal, &apart.run, before)? {
                let stays = must_stay(&apart);
                all.push(Old { runs: vec![apart.run.clone()], apart, stays });
            } else {
                young.push(apart.path);
            }
        }
        Ok(Self(all))
    }

    fn removable(&self) -> impl Iterator<Item = &Old> {
        self.0.iter().filter(|old| old.stays.is_none())
    }

    /// Removes those of which nothing would be lost.
    pub(super) fn remove(&self, journal: &mut Journal) -> Result<(), CliError> {
        for Old { apart, .. } in self.removable() {
            let mut fate = Fate::Dropped;
            // A repository that is gone has no branches to look after.
            if let Ok(repository) = land::repository(apart) {
                let tip = repository.tip(&apart.branch)?;
                repository.remove_worktree(&apart.path)?;
                if let Some(tip) = tip {
                    repository.remove_branch(&apart.branch, &tip)?;
                    fate = if tip == apart.base { Fate::Dropped } else { Fate::Landed };
                }
            }
            journal.apart_ended(&apart.path, fate).map_err(fault::journal)?;
        }
        Ok(())
    }

    /// The runs whose journal is needed to land or drop what is still there.
    pub(super) fn runs_that_stay(&self) -> Vec<RunId> {
        let stay = self.0.iter().filter(|old| old.stays.is_some());
        stay.flat_map(|old| old.runs.iter().cloned()).collect()
    }

    /// How many go.
    pub(super) fn count(&self) -> usize {
        self.removable().count()
    }

    /// Those that go, a line each.
    pub(super) fn listed(&self) -> Vec<String> {
        let line = |old: &Old| {
            format!("  worktree {} with branch {}", old.apart.path.display(), old.apart.branch)
        };
        self.removable().map(line).collect()
    }

    /// Those that stay, and why.
    pub(super) fn kept(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for Old { apart, stays, .. } in &self.0 {
            let Some(why) = stays else { continue };
            let run = &apart.run;
            lines.push(format!("Kept {}: {why}", apart.path.display()));
            lines.push(format!("  flyball land {run}, or flyball drop {run}"));
        }
        lines
    }
}

fn is_old(journal: &Journal, run: &RunId, before: Moment) -> Result<bool, CliError> {
    match journal.run(run) {
        Ok(run) => Ok(run.last_at < before && runs::life(&run) != Life::Running),
        // One whose rows are gone was old then.
        Err(JournalError::UnknownRun { .. }) => Ok(true),
        Err(error) => Err(fault::journal(error)),
    }
}

/// Why a worktree must stay. What cannot be looked at is not removed.
fn must_stay(apart: &ApartRun) -> Option<String> {
    let is_there = apart.path.is_dir();
    let Ok(repository) = land::repository(apart) else {
        return is_there.then(|| "its repository cannot be opened".to_owned());
    };
    let look = || -> Result<OldWorktree, CliError> {
        let left = if is_there { Worktree::open(&apart.path)?.uncommitted()?.len() } else { 0 };
        let has_branch = repository.tip(&apart.branch)?.is_some();
        let only_there = if has_branch { repository.only_on(&apart.branch)? } else { 0 };
        Ok(OldWorktree { uncommitted: left, only_there })
    };
    match look() {
        Ok(found) => found.must_stay(),
        Err(error) => Some(error.message),
    }
}
