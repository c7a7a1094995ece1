//! An agent was told to stop. Nothing new begins until it has gone: two agents never run at once.

use alloc::boxed::Box;
use alloc::format;

use super::phase::{End, Phase, SessionState, Stop};
use super::state::RunState;
use super::{StepOutput, door, finish, human, iterating, stops};
use crate::effect::{Effect, Force};
use crate::event::{AgentFact, StopCause, StopExamined, Timer};
use crate::moment::Millis;
use crate::outcome::Outcome;

/// How often a kill is repeated before flyball gives up.
const KILLS_MAX: u8 = 3;

/// The least time a kill is waited for, however short the patience with an agent is: who kills must
/// first find out that the keeper of the agent does not answer, and do it without one.
const KILL_WAIT: Millis = Millis::from_secs(4);

/// Begins to stop the agent.
pub(super) fn begin(
    session: Box<SessionState>,
    end: End,
    out: &mut StepOutput,
    state: &RunState,
) -> Phase {
    let stop = Stop { session: *session, end, force: Force::Interrupt, kills: 0 };
    order(&stop, out, state);
    Phase::Stopping(Box::new(stop))
}

fn order(stop: &Stop, out: &mut StepOutput, state: &RunState) {
    let (iteration, force) = (stop.session.iteration, stop.force);
    out.order(Effect::StopAgent { iteration, force });
    let grace = state.policy.limits.stop_grace;
    let patience = if force == Force::Kill { grace.max(KILL_WAIT) } else { grace };
    let at = out.at.plus(patience);
    out.order(Effect::SetTimer { timer: Timer::StopGrace, iteration, at });
}

/// A human asks a running agent to stop.
pub(super) fn requested(
    session: Box<SessionState>,
    cause: StopCause,
    out: &mut StepOutput,
    state: &RunState,
) -> Phase {
    begin(session, End::Human(cause), out, state)
}

/// A human asks once more, or while a guard is stopping the agent: no more patience.
pub(super) fn requested_again(
    mut stop: Box<Stop>,
    cause: StopCause,
    out: &mut StepOutput,
    state: &RunState,
) -> Phase {
    if matches!(stop.end, End::Human(_)) {
        stop.force = Force::Kill;
        order(&stop, out, state);
    } else {
        stop.end = End::Human(cause);
    }
    Phase::Stopping(stop)
}

/// A fact about an agent that is being stopped: only its cost, what it reports
/// and its end still matter.
pub(super) fn fact(
    mut stop: Box<Stop>,
    fact: &AgentFact,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    match fact {
        AgentFact::Spent(spend) => {
            stop.session.count(*spend);
            state.spend(*spend);
            Phase::Stopping(stop)
        }
        AgentFact::ReportedAttempt(report) => {
            stop.session.reports.add(report.clone());
            Phase::Stopping(stop)
        }
        AgentFact::StopExamined(StopExamined { asking, .. }) => {
            stops::asked_while_stopping(&stop.session, *asking, out);
            Phase::Stopping(stop)
        }
        AgentFact::Asked(question) => {
            door::asked_while_stopping(&mut stop.session, question, out);
            Phase::Stopping(stop)
        }
        AgentFact::Exited(exit) => {
            let Stop { session, end, .. } = *stop;
            iterating::exited(session, end, exit, state, out)
        }
        AgentFact::Printed { bytes, cost_micro_usd } => {
            stop.session.charge(*bytes, *cost_micro_usd, state, out);
            Phase::Stopping(stop)
        }
        AgentFact::CouldNotStart { why } => {
            human::unheard(&mut stop.session, state, out);
            finish::never_started(why, state, out)
        }
        AgentFact::Started { .. }
        | AgentFact::ShowedLife
        | AgentFact::HeardHuman
        | AgentFact::OnlySpoke { .. }
        | AgentFact::Chanted(_)
        | AgentFact::CalledTool(_)
        | AgentFact::ToolReturned(_)
        | AgentFact::Spoke
        | AgentFact::SpokeNonsense(_)
        | AgentFact::FilledContext { .. }
        | AgentFact::HitLimit { .. }
        | AgentFact::LostModel { .. }
        | AgentFact::RefusedCredentials { .. }
        | AgentFact::StoppedItself { .. } => Phase::Stopping(stop),
    }
}

/// The grace is over: interrupt, then terminate, then kill.
pub(super) fn timer(
    mut stop: Box<Stop>,
    timer: Timer,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    match timer {
        Timer::StopGrace => {}
        Timer::IterationTimeout | Timer::Runtime | Timer::Stall | Timer::Wait => {
            return Phase::Stopping(stop);
        }
    }
    stop.force = match stop.force {
        Force::Interrupt => Force::Terminate,
        Force::Terminate | Force::Kill => Force::Kill,
    };
    if stop.force == Force::Kill {
        stop.kills = stop.kills.saturating_add(1);
    }
    if stop.kills > KILLS_MAX {
        let why = format!(
            "the agent of iteration {} is still there after being killed {KILLS_MAX} times",
            stop.session.iteration
        );
        human::unheard(&mut stop.session, state, out);
        return finish::end(Outcome::Fault, why, state, out);
    }
    order(&stop, out, state);
    Phase::Stopping(stop)
}
