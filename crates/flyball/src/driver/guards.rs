//! How a run stands, what each guard did in it, and its latest session's calls, for `flyball status`.

use flyball_core::Effect;
use flyball_core::Moment;
use flyball_core::call::CallStatus;
use flyball_core::effect::Notice;

use super::Driver;
use crate::call_session::{GuardTally, RunCalls};
use crate::error::CliError;
use crate::journal::RunProgress;

/// What is known of guards and calls.
#[derive(Debug, Default)]
pub(super) struct GuardWatch {
    tally: GuardTally,
    /// The calls of the latest session.
    calls: CallStatus,
}

impl GuardWatch {
    /// Takes note of an order that tells what a guard did.
    pub(super) fn take(&mut self, effect: &Effect) {
        if let Effect::Announce(Notice::Tripped { trip, rung }) = effect {
            self.tally.note(trip.guard, *rung);
        }
    }
}

impl Driver {
    /// Writes how the run stands into the row that `flyball status` reads.
    pub(super) fn show_state(&mut self, now: Moment) -> Result<(), CliError> {
        let Some(standing) = self.governor.standing() else { return Ok(()) };
        self.pace.watchdog.knows(standing.tally);
        let state = RunProgress {
            iteration: standing.iteration,
            mode: Some(standing.mode.as_str().to_owned()),
            task: standing.task.cloned(),
            phase: standing.phase.as_str().to_owned(),
            stuck: standing.stuck,
            tokens: standing.tally.tokens,
            cost_micro_usd: standing.tally.cost_micro_usd,
            stories_complete: standing.tally.stories_complete,
            stories_total: standing.tally.stories_total,
        };
        if !self.telemetry.is_news(now, &state) {
            return Ok(());
        }
        self.journal.gather();
        let updated = self.journal.update_run(&self.run, &state).map_err(CliError::from);
        let kept = updated.and_then(|()| self.keep_calls(now));
        let written = self.journal.write_out();
        kept?;
        Ok(written?)
    }

    /// Keeps the calls and what guards did where `flyball status` finds them.
    pub(super) fn keep_calls(&mut self, now: Moment) -> Result<(), CliError> {
        let standing = self.governor.standing();
        let roles = standing.as_ref().map_or(Vec::new(), |standing| standing.roles.clone());
        if let Some(calls) = standing.and_then(|standing| standing.calls) {
            self.agent_side.guards.calls = calls;
        }
        let (calls, guards) =
            (self.agent_side.guards.calls.clone(), self.agent_side.guards.tally.clone());
        let kept = RunCalls { calls, guards, roles };
        let state = serde_json::to_vec(&kept).ok();
        self.journal.with_session(&RunCalls::key(&self.run), now, |_| (state, ()))?;
        Ok(())
    }
}
