//! The run an agent works in while it uses the tools. What it says of its attempts then belongs to
//! the iteration: it goes to the run as a report, and the run records it with the iteration's own
//! attempt. Nothing here decides what it comes to.

use flyball_core::door::DoorAnswer;
use flyball_core::governor::RunPhase;
use flyball_core::task::{Attempt, AttemptReport};
use flyball_core::{IterationNo, Millis, Moment, RunId};

use super::refused::Refused;
use super::site::Site;
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

    /// Hands what an agent says of an attempt to the run it is in; false when it is in none.
    pub(super) fn report(
        &self,
        enclosing: &EnclosingRun,
        attempt: &Attempt,
    ) -> Result<bool, Refused> {
        let Attempt { task, status, blockers, work, .. } = attempt.clone();
        let reported = AttemptReport { task, status, blockers, work }.bounded();
        Ok(self.ask_run(enclosing, Input::Report(reported), None)?.is_some())
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
