//! Waiting for a usage limit or an unreachable model (B13). Not an iteration.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::phase::{Phase, Wait};
use super::state::RunState;
use super::{StepOutput, finish, planning};
use crate::effect::{Effect, Notice};
use crate::event::Timer;
use crate::guard::Rung;
use crate::guard::{GuardKind, Trip};
use crate::id::IterationNo;
use crate::moment::{Millis, Moment};

/// The first wait when nobody says how long it will take.
const BACKOFF_FIRST: Millis = Millis::from_secs(60);
/// The longest such wait.
const BACKOFF_MAX: Millis = Millis::from_secs(30 * 60);
/// The most that is added to a known reset, so that many loops do not wake at once.
const JITTER_MAX: u64 = 30_000;

/// Waits for the iteration at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WaitMeter {
    /// Waits in a row.
    count: u32,
    /// Time spent in them.
    waited: Millis,
}

impl WaitMeter {
    /// The agent works again.
    pub(super) fn over(&mut self) {
        *self = Self::default();
    }
}

/// Waits before the iteration goes on, or ends the run when that would take too long.
pub(super) fn begin(
    iteration: IterationNo,
    resets_at: Option<Moment>,
    message: String,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    if state.human.stops_after_iteration {
        return finish::after_iteration(state, out);
    }
    let until = match resets_at.filter(|reset| *reset > out.at) {
        Some(reset) => reset.plus(jitter(state, reset.since(out.at))),
        None => out.at.plus(backoff(state.waits.count)),
    };
    let (span, limit) = (until.since(out.at), state.policy.limits.wait);
    let waited = state.waits.waited.plus(span);
    let evidence = format!("{message} (a wait of {waited} in all, {limit} allowed)");
    let trip = Trip::new(GuardKind::UsageLimit, waited.get(), limit.get(), evidence);
    if waited > limit {
        return finish::halt(trip, alloc::vec::Vec::new(), state, out);
    }
    state.waits = WaitMeter { count: state.waits.count.saturating_add(1), waited };
    out.tripped(trip, Rung::Redirect);
    out.announce(Notice::Waiting { until, message: message.clone() });
    out.order(Effect::SetTimer { timer: Timer::Wait, iteration, at: until });
    Phase::Waiting(Wait { iteration, until, message })
}

/// Whether a wait is still allowed after the limits were changed; where it is not, it ends the run.
pub(super) fn allowed(wait: Wait, state: &mut RunState, out: &mut StepOutput) -> Phase {
    let (waited, limit) = (state.waits.waited, state.policy.limits.wait);
    if waited <= limit {
        return Phase::Waiting(wait);
    }
    let evidence = format!("{} (a wait of {waited} in all, {limit} allowed)", wait.message);
    let trip = Trip::new(GuardKind::UsageLimit, waited.get(), limit.get(), evidence);
    finish::halt(trip, alloc::vec::Vec::new(), state, out)
}

/// The wait is over: on with the same iteration.
pub(super) fn over(wait: Wait, state: &mut RunState, out: &mut StepOutput) -> Phase {
    if out.at < wait.until {
        let (timer, iteration, at) = (Timer::Wait, wait.iteration, wait.until);
        out.order(Effect::SetTimer { timer, iteration, at });
        return Phase::Waiting(wait);
    }
    planning::plan(state, out)
}

fn backoff(count: u32) -> Millis {
    let factor = 1_u64.checked_shl(count.min(10)).unwrap_or(u64::MAX);
    Millis::new(BACKOFF_FIRST.get().saturating_mul(factor)).min(BACKOFF_MAX)
}

/// A little more than the reset: up to a twentieth of the wait, from the run's own name, so that
/// it is the same in every replay and different in every run.
fn jitter(state: &RunState, wait: Millis) -> Millis {
    let most = (wait.get() / 20).min(JITTER_MAX);
    let seed = xxhash_rust::xxh3::xxh3_64(state.run.as_str().as_bytes());
    Millis::new(seed.wrapping_add(state.waits.count.into()) % most.saturating_add(1))
}
