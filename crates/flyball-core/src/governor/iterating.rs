//! An agent runs: every fact about it goes through the call ring and the meters.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::phase::{Closed, End, Phase, SessionState, Trouble};
use super::state::RunState;
use super::{StepOutput, advice, door, finish, human, inspecting, stopping, stops};
use crate::call::texts::validation_evidence as evidence_of;
use crate::call::{CallRing, ToolCall, ToolOutcome, ToolResult, Verdict};
use crate::effect::{Effect, Notice};
use crate::event::{AgentFact, Exit, Spend, Timer};
use crate::guard::Rung;
use crate::guard::{GuardKind, Trip};
use crate::iteration::budget_trip;

/// How many bytes of text stand for a token where nobody counts them.
const BYTES_PER_TOKEN: u64 = 4;

/// A fact about the running agent.
pub(super) fn fact(
    mut session: Box<SessionState>,
    fact: &AgentFact,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    session.calls.life(out.at);
    session.last_life = out.at;
    session.stall_told = None;
    // Signs that come while the gates run say nothing about who is waited for.
    session.awaits_answer &= matches!(
        fact,
        AgentFact::ShowedLife | AgentFact::Spent(_) | AgentFact::FilledContext { .. }
    );
    match fact {
        AgentFact::Started { .. } | AgentFact::ShowedLife => Phase::Iterating(session),
        AgentFact::Asked(question) => door::asked(session, question, state, out),
        AgentFact::CouldNotStart { why } => {
            human::unheard(&mut session, state, out);
            finish::not_started(&session, why, state, out)
        }
        AgentFact::CalledTool(call) => called(session, call, state, out),
        AgentFact::ToolReturned(result) => returned(session, result, state, out),
        AgentFact::Spoke => {
            session.calls.spoke(out.at);
            Phase::Iterating(session)
        }
        AgentFact::OnlySpoke { agent, words } => {
            let verdict = session.calls.only_spoke(&state.policy.calls, out.at, agent, *words);
            obey(session, verdict, state, out)
        }
        AgentFact::Chanted(chant) => {
            let verdict = session.calls.chanted(&state.policy.calls, out.at, chant);
            obey(session, verdict, state, out)
        }
        AgentFact::HeardHuman => {
            session.calls.human(out.at);
            Phase::Iterating(session)
        }
        AgentFact::SpokeNonsense(failure) => {
            let verdict = session.calls.invalid(&state.policy.calls, out.at, failure);
            obey(session, verdict, state, out)
        }
        AgentFact::Spent(spend) => spent(session, *spend, state, out),
        AgentFact::FilledContext { permille } => {
            note_context(&mut session, *permille, state, out);
            Phase::Iterating(session)
        }
        AgentFact::Printed { bytes, cost_micro_usd } => {
            session.charge(*bytes, *cost_micro_usd, state, out);
            Phase::Iterating(session)
        }
        AgentFact::HitLimit { resets_at, message } => {
            let (resets_at, message) = (*resets_at, message.clone());
            troubled(session, Trouble::Limit { resets_at, message }, state, out)
        }
        AgentFact::LostModel { message } => {
            troubled(session, Trouble::Unreachable { message: message.clone() }, state, out)
        }
        AgentFact::RefusedCredentials { message } => {
            troubled(session, Trouble::Refused { message: message.clone() }, state, out)
        }
        AgentFact::StoppedItself { message } => {
            session.trouble = Some(Trouble::OwnGuard { message: message.clone() });
            Phase::Iterating(session)
        }
        AgentFact::StopExamined(found) => stops::examined(session, found, state, out),
        AgentFact::ReportedAttempt(report) => {
            session.reports.add(report.clone());
            Phase::Iterating(session)
        }
        AgentFact::Exited(exit) => exited(*session, End::Own, exit, state, out),
    }
}

fn spent(
    mut session: Box<SessionState>,
    spend: Spend,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    session.count(spend);
    state.spend(spend);
    match budget_trip(&state.ring.meters, &state.policy.limits) {
        Some(trip) => {
            out.tripped(trip.clone(), Rung::Halt);
            stopping::begin(session, End::Spent(trip), out, state)
        }
        None => Phase::Iterating(session),
    }
}

fn called(
    mut session: Box<SessionState>,
    call: &ToolCall,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    // An agent that works again has got over its trouble.
    session.trouble = None;
    let was_asked = session.calls.has_judged(call);
    let verdict = session.calls.before(&state.policy.calls, out.at, call);
    // What was said when it was asked about is not said again.
    if was_asked && !verdict.may_run() {
        return Phase::Iterating(session);
    }
    obey(session, verdict, state, out)
}

fn returned(
    mut session: Box<SessionState>,
    result: &ToolResult,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    note_large(result, state, out);
    session.watch_resources(result);
    let verdict = session.calls.after(&state.policy.calls, out.at, result);
    obey(session, verdict, state, out)
}

/// A result too large for the context is worth a word (A7).
pub(super) fn note_large(result: &ToolResult, state: &RunState, out: &mut StepOutput) {
    if result.outcome == ToolOutcome::Refused {
        return;
    }
    if let Some(trip) = CallRing::large(&state.policy.calls, result.chars) {
        out.tripped(trip, Rung::Nudge);
    }
}

/// Does what the call ring says of what the stream has shown. A refused call has run: the agent did
/// not ask. It counts, and the agent is told where it listens.
fn obey(
    mut session: Box<SessionState>,
    verdict: Verdict,
    state: &RunState,
    out: &mut StepOutput,
) -> Phase {
    let rung = verdict.rung();
    match verdict {
        Verdict::Pass => Phase::Iterating(session),
        Verdict::Nudge { message, trip } => {
            advice::advise(&mut session, message, trip, state, out);
            Phase::Iterating(session)
        }
        Verdict::Refuse { message, trip } => {
            out.tripped(trip, rung);
            if state.can_push() {
                out.order(Effect::SteerAgent { iteration: session.iteration, message });
            }
            Phase::Iterating(session)
        }
        Verdict::Halt { trip, .. } => {
            out.tripped(trip.clone(), rung);
            stopping::begin(session, End::Halted(trip), out, state)
        }
    }
}

/// The context window is this full: people and the agent are told when a step is crossed (A8).
pub(super) fn note_context(
    session: &mut SessionState,
    permille: u16,
    state: &RunState,
    out: &mut StepOutput,
) {
    let Some(notice) = session.calls.context(permille) else { return };
    let percent = notice.percent;
    out.announce(Notice::ContextFilling { percent, message: notice.message.clone() });
    let evidence = format!("{percent} % of the context window is used");
    let trip = Trip::new(GuardKind::ContextFill, percent, 100_u64, evidence);
    advice::advise(session, notice.message, trip, state, out);
}

/// The agent cannot work. Most exit by themselves; one that only waits is stopped after a while.
fn troubled(
    mut session: Box<SessionState>,
    trouble: Trouble,
    state: &RunState,
    out: &mut StepOutput,
) -> Phase {
    session.trouble = Some(trouble);
    let at = out.at.plus(state.policy.limits.stop_grace);
    let (timer, iteration) = (Timer::StopGrace, session.iteration);
    out.order(Effect::SetTimer { timer, iteration, at });
    Phase::Iterating(session)
}

/// A timer of the running iteration.
pub(super) fn timer(
    session: Box<SessionState>,
    timer: Timer,
    state: &RunState,
    out: &mut StepOutput,
) -> Phase {
    match timer {
        Timer::IterationTimeout => timed_out(session, state, out),
        Timer::Runtime => runtime_up(session, state, out),
        Timer::Stall => silent(session, state, out),
        Timer::StopGrace if session.trouble.is_some() => {
            stopping::begin(session, End::Troubled, out, state)
        }
        Timer::StopGrace | Timer::Wait => Phase::Iterating(session),
    }
}

fn runtime_up(session: Box<SessionState>, state: &RunState, out: &mut StepOutput) -> Phase {
    if let Some(trip) = budget_trip(&state.ring.meters, &state.policy.limits) {
        out.tripped(trip.clone(), Rung::Halt);
        return stopping::begin(session, End::Spent(trip), out, state);
    }
    set_runtime_timer(&session, state, out);
    Phase::Iterating(session)
}

/// A6: an agent that can be told is told first and given the same time again; then it is stopped.
fn silent(mut session: Box<SessionState>, state: &RunState, out: &mut StepOutput) -> Phase {
    let limit = state.policy.limits.stall_after;
    if session.awaits_answer {
        session.calls.life(out.at);
        session.last_life = out.at;
    }
    let Some(stall) = session.calls.stalled(out.at, limit) else {
        set_stall_timer(&session, state, out);
        return Phase::Iterating(session);
    };
    match session.stall_told {
        None if state.can_push() => {
            advice::advise(&mut session, stall.message, stall.trip, state, out);
            session.stall_told = Some(out.at);
            set_stall_timer(&session, state, out);
            Phase::Iterating(session)
        }
        Some(told) if out.at.since(told) < limit => {
            set_stall_timer(&session, state, out);
            Phase::Iterating(session)
        }
        Some(_) | None => {
            out.tripped(stall.trip.clone(), Rung::Halt);
            stopping::begin(session, End::Halted(stall.trip), out, state)
        }
    }
}

fn timed_out(session: Box<SessionState>, state: &RunState, out: &mut StepOutput) -> Phase {
    let (took, limit) = (out.at.since(session.started), state.policy.limits.iteration_timeout);
    if took < limit {
        set_timeout_timer(&session, state, out);
        return Phase::Iterating(session);
    }
    let evidence = format!("the iteration took {took} of {limit} allowed");
    let trip = Trip::new(GuardKind::IterationTimeout, took.get(), limit.get(), evidence);
    out.tripped(trip.clone(), Rung::Halt);
    stopping::begin(session, End::Halted(trip), out, state)
}

/// Sets every timer a new session needs.
pub(super) fn set_timers(session: &SessionState, state: &RunState, out: &mut StepOutput) {
    set_timeout_timer(session, state, out);
    set_runtime_timer(session, state, out);
    set_stall_timer(session, state, out);
}

fn set_timeout_timer(session: &SessionState, state: &RunState, out: &mut StepOutput) {
    let at = session.started.plus(state.policy.limits.iteration_timeout);
    let (timer, iteration) = (Timer::IterationTimeout, session.iteration);
    out.order(Effect::SetTimer { timer, iteration, at });
}

pub(super) fn set_runtime_timer(session: &SessionState, state: &RunState, out: &mut StepOutput) {
    let limit = state.policy.limits.runtime;
    if !limit.is_zero() {
        let at = out.at.plus(limit.minus(state.ring.meters.runtime));
        let (timer, iteration) = (Timer::Runtime, session.iteration);
        out.order(Effect::SetTimer { timer, iteration, at });
    }
}

fn set_stall_timer(session: &SessionState, state: &RunState, out: &mut StepOutput) {
    let limit = state.policy.limits.stall_after;
    if !limit.is_zero() {
        let at = session.stall_told.unwrap_or(session.last_life).plus(limit);
        let (timer, iteration) = (Timer::Stall, session.iteration);
        out.order(Effect::SetTimer { timer, iteration, at });
    }
}

/// The agent is gone. A trip on the exit itself halts a session that has already ended, so nothing
/// is waited for.
pub(super) fn exited(
    mut session: SessionState,
    mut end: End,
    exit: &Exit,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    // Whether that ends the run is judged with the iteration.
    for failure in &exit.claims.failures {
        let streak = state.last.malformed_claims.saturating_add(1);
        let limit = state.policy.calls.max_validation_failures;
        let trip = Trip::new(GuardKind::Validation, streak, limit, evidence_of(failure));
        out.tripped(trip, Rung::Nudge);
    }
    if let (End::Own, Some(Trouble::OwnGuard { message })) = (&end, &session.trouble) {
        let evidence = format!("the agent's own loop guard stopped it: {message}");
        let refuse_after = state.policy.calls.refuse_after;
        let trip = Trip::new(GuardKind::Repetition, refuse_after, refuse_after, evidence);
        out.tripped(trip.clone(), Rung::Halt);
        end = End::Halted(trip);
    }
    human::unheard(&mut session, state, out);
    let iteration = session.iteration;
    out.order(Effect::SnapshotWorktree { iteration });
    let closed = Box::new(Closed {
        session,
        end,
        exit: exit.clone(),
        ended: out.at,
        snapshot: None,
        violations: Vec::new(),
        newly_done: Vec::new(),
        handed_on: false,
    });
    inspecting::await_look(&closed, state, out);
    Phase::Inspecting(closed)
}

impl SessionState {
    /// Adds to what this session used.
    pub(super) fn count(&mut self, spend: Spend) {
        let spent = &mut self.spent;
        spent.input_tokens = spent.input_tokens.saturating_add(spend.input_tokens);
        spent.output_tokens = spent.output_tokens.saturating_add(spend.output_tokens);
        spent.cost_micro_usd = spent.cost_micro_usd.saturating_add(spend.cost_micro_usd);
    }

    /// B4: where tokens or money are limited, an agent that told nothing of what it used is charged
    /// by the size of its text, four bytes a token. The limit is checked before the next iteration,
    /// for this one is over. One that could not reach its model has used nothing.
    pub(super) fn charge(
        &mut self,
        bytes: u64,
        cost_micro_usd: u64,
        state: &mut RunState,
        out: &mut StepOutput,
    ) {
        let limits = &state.policy.limits;
        let is_limited = limits.tokens > 0 || limits.cost_usd > 0.0;
        let has_told = self.spent != Spend::default();
        let tokens = bytes / BYTES_PER_TOKEN;
        if !is_limited || has_told || self.trouble.is_some() || tokens == 0 {
            return;
        }
        let spend = Spend { output_tokens: tokens, cost_micro_usd, ..Default::default() };
        self.count(spend);
        state.spend(spend);
        out.announce(Notice::UsageEstimated { bytes, tokens });
    }

    /// What a failing tool says of the machine.
    fn watch_resources(&mut self, result: &ToolResult) {
        if matches!(result.outcome, ToolOutcome::Tool | ToolOutcome::Exit) {
            self.exhausted.extend(crate::resource::Resource::exhausted_in(&result.preview));
        }
    }
}
