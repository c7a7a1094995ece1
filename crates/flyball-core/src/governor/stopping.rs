//! An agent was told to stop. Nothing new begins until it has gone: two agents never run at once.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::book::Book;
use super::phase::{End, Phase, Session, Stop};
use super::{Turn, finish, iterating};
use crate::effect::{Effect, Force};
use crate::event::{AgentFact, StopCause, Timer};
use crate::outcome::Outcome;

/// How often a kill is repeated before flyball gives up.
const KILLS_MAX: u8 = 3;

/// Begins to stop the agent.
pub(super) fn begin(session: Box<Session>, end: End, turn: &mut Turn, book: &Book) -> Phase {
    let stop = Stop { session: *session, end, force: Force::Interrupt, kills: 0 };
    order(&stop, turn, book);
    Phase::Stopping(Box::new(stop))
}

fn order(stop: &Stop, turn: &mut Turn, book: &Book) {
    let (iteration, force) = (stop.session.iteration, stop.force);
    turn.order(Effect::StopAgent { iteration, force });
    let at = turn.at.plus(book.policy.limits.stop_grace);
    turn.order(Effect::SetTimer { timer: Timer::StopGrace, iteration, at });
}

/// A human asks a running agent to stop.
pub(super) fn requested(
    session: Box<Session>,
    cause: StopCause,
    turn: &mut Turn,
    book: &Book,
) -> Phase {
    begin(session, End::Human(cause), turn, book)
}

/// A human asks once more, or while a guard is stopping the agent: no more patience.
pub(super) fn requested_again(
    mut stop: Box<Stop>,
    cause: StopCause,
    turn: &mut Turn,
    book: &Book,
) -> Phase {
    if matches!(stop.end, End::Human(_)) {
        stop.force = Force::Kill;
        order(&stop, turn, book);
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
    book: &mut Book,
    turn: &mut Turn,
) -> Phase {
    match fact {
        AgentFact::Spent(spend) => {
            stop.session.count(*spend);
            book.ring.meters.spend(*spend);
            Phase::Stopping(stop)
        }
        AgentFact::ReportedAttempt(report) => {
            stop.session.reports.add(report.clone());
            Phase::Stopping(stop)
        }
        AgentFact::Exited(exit) => {
            let Stop { session, end, .. } = *stop;
            iterating::exited(session, end, exit, book, turn)
        }
        AgentFact::CouldNotStart { why } => {
            finish::end(Outcome::AgentNotStarted, why.clone(), book, turn)
        }
        AgentFact::AskedTool(call) => {
            let (iteration, call) = (stop.session.iteration, call.id.clone());
            let message = String::from("The session is being stopped. This call was not run.");
            turn.order(Effect::RefuseCall { iteration, call, message });
            Phase::Stopping(stop)
        }
        AgentFact::Started { .. }
        | AgentFact::ShowedLife
        | AgentFact::HeardHuman
        | AgentFact::OnlySpoke { .. }
        | AgentFact::CalledTool(_)
        | AgentFact::CalledJudged(_)
        | AgentFact::HookSteered { .. }
        | AgentFact::ToolReturned(_)
        | AgentFact::Spoke
        | AgentFact::SpokeNonsense(_)
        | AgentFact::FilledContext { .. }
        | AgentFact::HitLimit { .. }
        | AgentFact::LostModel { .. }
        | AgentFact::RefusedCredentials { .. }
        | AgentFact::StoppedItself { .. }
        | AgentFact::StopRefused { .. }
        | AgentFact::HookHalted(_) => Phase::Stopping(stop),
    }
}

/// The grace is over: interrupt, then terminate, then kill.
pub(super) fn timer(mut stop: Box<Stop>, timer: Timer, book: &mut Book, turn: &mut Turn) -> Phase {
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
        return finish::end(Outcome::Fault, why, book, turn);
    }
    order(&stop, turn, book);
    Phase::Stopping(stop)
}
