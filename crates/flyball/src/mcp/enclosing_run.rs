//! The run an agent works in while it uses the tools. What it says of its attempts then belongs to
//! the iteration: it goes to the run as a report, and the run records it with the iteration's own
//! attempt. Nothing here decides what it comes to.

use std::collections::BTreeSet;

use flyball_core::door::DoorAnswer;
use flyball_core::governor::RunPhase;
use flyball_core::task::{Attempt, AttemptReport};
use flyball_core::{IterationNo, Millis, Moment, RunId, TaskId};

use super::refused::Refused;
use super::site::{self, Site};
use crate::door::{DoorError, Input, Knock, Visitor};
use crate::journal::{Journal, RunFilter, RunSummary};
use crate::process;

/// A run at work here, and the iteration the agent is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EnclosingRun {
    pub(super) run: RunId,
    pub(super) iteration: IterationNo,
    started: Moment,
}

/// What became of an attempt.
pub(super) enum Recorded {
    /// It is remembered by itself.
    Attempt(Attempt),
    /// It goes into the attempt of the iteration at hand.
    Report(EnclosingRun),
}

impl EnclosingRun {
    /// How far back attempts may count: those of this run, and of the window before it.
    pub(super) const fn reaches_back(&self, now: Moment, window: Millis) -> Millis {
        now.since(self.started).plus(window)
    }
}

impl Site {
    /// The run this server, or the repository it stands in, is in. An agent's client may start the
    /// server without the environment the agent has; then a run at work in this worktree is it.
    pub(super) fn enclosing_run(&self, journal: &Journal) -> Result<Option<EnclosingRun>, Refused> {
        let filter =
            RunFilter { root: Some(self.root.clone()), unfinished: true, ..RunFilter::default() };
        let alive =
            |run: &RunSummary| run.pid.is_some_and(|pid| process::still_runs(pid, run.last_at));
        let Some(run) = journal.runs(&filter)?.into_iter().find(alive) else { return Ok(None) };
        let iteration = if variable("FLYBALL_RUN") == run.run.as_str() {
            variable("FLYBALL_ITERATION").parse().ok().map(IterationNo::new)
        } else {
            None
        };
        let seen = (run.state.phase == RunPhase::Iterating.as_str()).then_some(run.state.iteration);
        let enclosing = |iteration| EnclosingRun { run: run.run, iteration, started: run.started };
        Ok(iteration.or(seen).map(enclosing))
    }

    /// Asks at the door of the run this server is in. None when the run does not know the server: it
    /// was started by somebody else, and is on its own.
    pub(super) fn ask_run(
        &self,
        enclosing: &EnclosingRun,
        input: Input,
        context: Option<u16>,
    ) -> Result<Option<DoorAnswer>, Refused> {
        let mut knock = Knock::new((enclosing.run.clone(), enclosing.iteration), "mcp", input);
        (knock.hears, knock.context) = (true, context);
        let folder = self.state_dir.join("runs").join(enclosing.run.as_str());
        match Visitor::at(&folder).and_then(|mut door| door.ask(&knock)) {
            Ok(answer) => Ok(Some(answer)),
            Err(DoorError::Refused(_)) => Ok(None),
            Err(error) => Err(Refused::new(error.to_string())),
        }
    }

    /// Hands what an agent says of an attempt to the run it is in, where it is in one.
    pub(super) fn hand_over(
        &self,
        journal: &Journal,
        report: AttemptReport,
    ) -> Result<Option<EnclosingRun>, Refused> {
        let Some(enclosing) = self.enclosing_run(journal)? else { return Ok(None) };
        let input = Input::Report(report.bounded());
        Ok(self.ask_run(&enclosing, input, None)?.map(|_| enclosing))
    }

    /// Keeps that a guard ended the work on a task in this run. The run marks the task when the
    /// iteration ends; until then no other tool may begin it again.
    pub(super) fn keep_trip(&self, run: &RunId, task: &TaskId) -> Result<(), Refused> {
        self.scratch()?.with_session(&trips_of(run), site::now(), |state| {
            let mut tasks = tripped(state);
            tasks.insert(task.clone());
            (serde_json::to_vec(&tasks).ok(), ())
        })?;
        Ok(())
    }

    /// The tasks on which a guard has ended the work in this run.
    pub(super) fn trips(&self, run: &RunId) -> Result<BTreeSet<TaskId>, Refused> {
        Ok(tripped(self.scratch()?.session_state(&trips_of(run))?.as_deref()))
    }
}

fn trips_of(run: &RunId) -> String {
    format!("mcp:tripped:{run}")
}

fn tripped(state: Option<&[u8]>) -> BTreeSet<TaskId> {
    state.and_then(|state| serde_json::from_slice(state).ok()).unwrap_or_default()
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
