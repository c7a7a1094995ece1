//! An agent runs: every fact about it goes through the call ring and the meters.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::book::Book;
use super::phase::{Closed, End, Phase, Session, Trouble};
use super::{Turn, finish, stopping};
use crate::call::texts::validation_evidence as evidence_of;
use crate::call::{ToolCall, ToolOutcome, ToolResult, Verdict};
use crate::effect::{Effect, Notice, Rung};
use crate::event::{AgentFact, Exit, Spend, Timer};
use crate::guard::{GuardKind, Trip};
use crate::iteration::budget_trip;
use crate::outcome::Outcome;

/// A fact about the running agent.
pub(super) fn fact(
    mut session: Box<Session>,
    fact: &AgentFact,
    book: &mut Book,
    turn: &mut Turn,
) -> Phase {
    session.calls.life(turn.at);
    session.last_life = turn.at;
    session.stall_told = None;
    match fact {
        AgentFact::Started { .. } | AgentFact::ShowedLife => Phase::Iterating(session),
        // What hooks do they have done; the agent works.
        AgentFact::CalledJudged(_) | AgentFact::HookSteered { .. } => {
            session.trouble = None;
            Phase::Iterating(session)
        }
        AgentFact::CouldNotStart { why } => {
            finish::end(Outcome::AgentNotStarted, why.clone(), book, turn)
        }
        AgentFact::CalledTool(call) => called(session, call, book, turn),
        AgentFact::AskedTool(call) => asked(session, call, book, turn),
        AgentFact::ToolReturned(result) => returned(session, result, book, turn),
        AgentFact::Spoke => {
            session.calls.spoke(turn.at);
            Phase::Iterating(session)
        }
        AgentFact::OnlySpoke { agent } => {
            session.calls.only_spoke(turn.at, agent);
            Phase::Iterating(session)
        }
        AgentFact::HeardHuman => {
            session.calls.human(turn.at);
            Phase::Iterating(session)
        }
        AgentFact::SpokeNonsense(failure) => {
            let verdict = session.calls.invalid(&book.policy.calls, turn.at, failure);
            obey(session, verdict, book, turn)
        }
        AgentFact::Spent(spend) => spent(session, *spend, book, turn),
        AgentFact::FilledContext { permille } => filled(session, *permille, book, turn),
        AgentFact::HitLimit { resets_at, message } => {
            let (resets_at, message) = (*resets_at, message.clone());
            troubled(session, Trouble::Limit { resets_at, message }, book, turn)
        }
        AgentFact::LostModel { message } => {
            troubled(session, Trouble::Unreachable { message: message.clone() }, book, turn)
        }
        AgentFact::RefusedCredentials { message } => {
            troubled(session, Trouble::Refused { message: message.clone() }, book, turn)
        }
        AgentFact::StoppedItself { message } => {
            session.trouble = Some(Trouble::OwnGuard { message: message.clone() });
            Phase::Iterating(session)
        }
        AgentFact::StopRefused { .. } => {
            if book.refused_task != session.task {
                book.ring.completion_streak_ended();
                book.refused_task.clone_from(&session.task);
            }
            book.ring.completion_refused();
            Phase::Iterating(session)
        }
        AgentFact::HookHalted(trip) => {
            turn.tripped(trip.clone(), Rung::Halt);
            stopping::begin(session, End::Halted(trip.clone()), turn, book)
        }
        AgentFact::ReportedAttempt(report) => {
            session.reports.add(report.clone());
            Phase::Iterating(session)
        }
        AgentFact::Exited(exit) => exited(*session, End::Own, exit, book, turn),
    }
}

fn spent(mut session: Box<Session>, spend: Spend, book: &mut Book, turn: &mut Turn) -> Phase {
    session.count(spend);
    book.ring.meters.spend(spend);
    match budget_trip(&book.ring.meters, &book.policy) {
        Some(trip) => {
            turn.tripped(trip.clone(), Rung::Halt);
            stopping::begin(session, End::Spent(trip), turn, book)
        }
        None => Phase::Iterating(session),
    }
}

fn called(mut session: Box<Session>, call: &ToolCall, book: &mut Book, turn: &mut Turn) -> Phase {
    // An agent that works again has got over its trouble.
    session.trouble = None;
    let was_asked = session.calls.has_judged(call);
    let verdict = session.calls.before(&book.policy.calls, turn.at, call);
    // What was said when it was asked about is not said again.
    if was_asked && !verdict.may_run() {
        return Phase::Iterating(session);
    }
    if let Verdict::Refuse { message, .. } | Verdict::Halt { message, .. } = &verdict {
        let (iteration, message) = (session.iteration, message.clone());
        turn.order(Effect::RefuseCall { iteration, call: call.id.clone(), message });
    }
    obey(session, verdict, book, turn)
}

/// A hook's question. Asked again, it is answered again and told once.
fn asked(mut session: Box<Session>, call: &ToolCall, book: &mut Book, turn: &mut Turn) -> Phase {
    session.trouble = None;
    let was_judged = session.calls.has_judged(call);
    let verdict = session.calls.ask(&book.policy.calls, turn.at, call);
    if let Verdict::Refuse { message, .. } | Verdict::Halt { message, .. } = &verdict {
        let (iteration, message) = (session.iteration, message.clone());
        turn.order(Effect::RefuseCall { iteration, call: call.id.clone(), message });
    }
    if was_judged {
        return Phase::Iterating(session);
    }
    obey(session, verdict, book, turn)
}

fn returned(
    mut session: Box<Session>,
    result: &ToolResult,
    book: &mut Book,
    turn: &mut Turn,
) -> Phase {
    let limit = book.policy.calls.large_response;
    if result.chars > limit && result.outcome != ToolOutcome::Refused {
        let evidence = format!("a tool result has {} characters", result.chars);
        let trip = Trip::new(GuardKind::LargeResponse, result.chars, limit, evidence);
        turn.tripped(trip, Rung::Nudge);
    }
    let verdict = session.calls.after(&book.policy.calls, turn.at, result);
    obey(session, verdict, book, turn)
}

/// Does what the call ring says.
fn obey(session: Box<Session>, verdict: Verdict, book: &Book, turn: &mut Turn) -> Phase {
    let rung = verdict.rung();
    match verdict {
        Verdict::Pass => Phase::Iterating(session),
        Verdict::Nudge { message, trip } => {
            turn.tripped(trip, rung);
            steer(&session, message, book, turn);
            Phase::Iterating(session)
        }
        Verdict::Refuse { trip, .. } => {
            turn.tripped(trip, rung);
            Phase::Iterating(session)
        }
        Verdict::Halt { trip, .. } => {
            turn.tripped(trip.clone(), rung);
            stopping::begin(session, End::Halted(trip), turn, book)
        }
    }
}

fn steer(session: &Session, message: String, book: &Book, turn: &mut Turn) {
    if book.traits.steerable {
        turn.order(Effect::SteerAgent { iteration: session.iteration, message });
    }
}

fn filled(mut session: Box<Session>, permille: u16, book: &Book, turn: &mut Turn) -> Phase {
    if let Some(notice) = session.calls.context(permille) {
        let percent = notice.percent;
        turn.announce(Notice::ContextFilling { percent, message: notice.message.clone() });
        let evidence = format!("{percent} % of the context window is used");
        turn.tripped(Trip::new(GuardKind::ContextFill, percent, 100_u64, evidence), Rung::Nudge);
        steer(&session, notice.message, book, turn);
    }
    Phase::Iterating(session)
}

/// The agent cannot work. Most exit by themselves; one that only waits is stopped after a while.
fn troubled(mut session: Box<Session>, trouble: Trouble, book: &Book, turn: &mut Turn) -> Phase {
    session.trouble = Some(trouble);
    let at = turn.at.plus(book.policy.limits.stop_grace);
    let (timer, iteration) = (Timer::StopGrace, session.iteration);
    turn.order(Effect::SetTimer { timer, iteration, at });
    Phase::Iterating(session)
}

/// A timer of the running iteration.
pub(super) fn timer(session: Box<Session>, timer: Timer, book: &Book, turn: &mut Turn) -> Phase {
    match timer {
        Timer::IterationTimeout => timed_out(session, book, turn),
        Timer::Runtime => runtime_up(session, book, turn),
        Timer::Stall => silent(session, book, turn),
        Timer::StopGrace if session.trouble.is_some() => {
            stopping::begin(session, End::Troubled, turn, book)
        }
        Timer::StopGrace | Timer::Wait => Phase::Iterating(session),
    }
}

fn runtime_up(session: Box<Session>, book: &Book, turn: &mut Turn) -> Phase {
    if let Some(trip) = budget_trip(&book.ring.meters, &book.policy) {
        turn.tripped(trip.clone(), Rung::Halt);
        return stopping::begin(session, End::Spent(trip), turn, book);
    }
    set_runtime_timer(&session, book, turn);
    Phase::Iterating(session)
}

/// A6: an agent that can be told is told first and given the same time again; then it is stopped.
fn silent(mut session: Box<Session>, book: &Book, turn: &mut Turn) -> Phase {
    let limit = book.policy.limits.stall_after;
    let Some(stall) = session.calls.stalled(turn.at, limit) else {
        set_stall_timer(&session, book, turn);
        return Phase::Iterating(session);
    };
    match session.stall_told {
        None if book.traits.steerable => {
            turn.tripped(stall.trip, Rung::Nudge);
            steer(&session, stall.message, book, turn);
            session.stall_told = Some(turn.at);
            set_stall_timer(&session, book, turn);
            Phase::Iterating(session)
        }
        Some(told) if turn.at.since(told) < limit => {
            set_stall_timer(&session, book, turn);
            Phase::Iterating(session)
        }
        Some(_) | None => {
            turn.tripped(stall.trip.clone(), Rung::Halt);
            stopping::begin(session, End::Halted(stall.trip), turn, book)
        }
    }
}

fn timed_out(session: Box<Session>, book: &Book, turn: &mut Turn) -> Phase {
    let (took, limit) = (turn.at.since(session.started), book.policy.limits.iteration_timeout);
    if took < limit {
        set_timeout_timer(&session, book, turn);
        return Phase::Iterating(session);
    }
    let evidence = format!("the iteration took {took} of {limit} allowed");
    let trip = Trip::new(GuardKind::IterationTimeout, took.get(), limit.get(), evidence);
    turn.tripped(trip.clone(), Rung::Halt);
    stopping::begin(session, End::Halted(trip), turn, book)
}

/// Sets every timer a new session needs.
pub(super) fn set_timers(session: &Session, book: &Book, turn: &mut Turn) {
    set_timeout_timer(session, book, turn);
    set_runtime_timer(session, book, turn);
    set_stall_timer(session, book, turn);
}

fn set_timeout_timer(session: &Session, book: &Book, turn: &mut Turn) {
    let at = session.started.plus(book.policy.limits.iteration_timeout);
    let (timer, iteration) = (Timer::IterationTimeout, session.iteration);
    turn.order(Effect::SetTimer { timer, iteration, at });
}

fn set_runtime_timer(session: &Session, book: &Book, turn: &mut Turn) {
    let limit = book.policy.limits.runtime;
    if !limit.is_zero() {
        let at = turn.at.plus(limit.minus(book.ring.meters.runtime));
        let (timer, iteration) = (Timer::Runtime, session.iteration);
        turn.order(Effect::SetTimer { timer, iteration, at });
    }
}

fn set_stall_timer(session: &Session, book: &Book, turn: &mut Turn) {
    let limit = book.policy.limits.stall_after;
    if !limit.is_zero() {
        let at = session.stall_told.unwrap_or(session.last_life).plus(limit);
        let (timer, iteration) = (Timer::Stall, session.iteration);
        turn.order(Effect::SetTimer { timer, iteration, at });
    }
}

/// The agent is gone. A trip on the exit itself halts a session that has already ended, so nothing
/// is waited for.
pub(super) fn exited(
    session: Session,
    mut end: End,
    exit: &Exit,
    book: &Book,
    turn: &mut Turn,
) -> Phase {
    // Whether that ends the run is judged with the iteration.
    for failure in &exit.claims.failures {
        let streak = book.malformed_claims.saturating_add(1);
        let limit = book.policy.calls.max_validation_failures;
        let trip = Trip::new(GuardKind::Validation, streak, limit, evidence_of(failure));
        turn.tripped(trip, Rung::Nudge);
    }
    if let (End::Own, Some(Trouble::OwnGuard { message })) = (&end, &session.trouble) {
        let evidence = format!("the agent's own loop guard stopped it: {message}");
        let refuse_after = book.policy.calls.refuse_after;
        let trip = Trip::new(GuardKind::Repetition, refuse_after, refuse_after, evidence);
        turn.tripped(trip.clone(), Rung::Halt);
        end = End::Halted(trip);
    }
    let iteration = session.iteration;
    turn.order(Effect::LookAtWorktree { iteration });
    Phase::Inspecting(Box::new(Closed {
        session,
        end,
        exit: exit.clone(),
        ended: turn.at,
        sight: None,
        violations: Vec::new(),
        newly_done: Vec::new(),
    }))
}

impl Session {
    /// Adds to what this session used.
    pub(super) fn count(&mut self, spend: Spend) {
        let spent = &mut self.spent;
        spent.input_tokens = spent.input_tokens.saturating_add(spend.input_tokens);
        spent.output_tokens = spent.output_tokens.saturating_add(spend.output_tokens);
        spent.cost_micro_usd = spent.cost_micro_usd.saturating_add(spend.cost_micro_usd);
    }
}
