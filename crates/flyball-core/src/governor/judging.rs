//! An iteration is over and everything is known: what it came to, and what follows (B9).

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::phase::{Closed, End, Phase};
use super::state::{Held, RunState};
use super::verifying::{self, Verification};
use super::{StepOutput, attempts, finish, malformed, planning, remedies, tamper};
use crate::claim::Claim;
use crate::effect::{Effect, IterationReport, IterationResult, Notice};
use crate::event::{Exit, ExitHow, WorktreeSnapshot};
use crate::gate::GateResult;
use crate::guard::Rung;
use crate::guard::{GuardKind, Trip};
use crate::iteration::{Change, FailureKind, IterationVerdict, Step, Validation};
use crate::outcome::Outcome;
use crate::policy::{OnBlocked, OnSessionHalt, OnStuck};
use crate::resource::Resource;
use crate::task::Standing;

/// What an iteration came to.
pub(super) struct Judgement {
    pub(super) verdict: IterationVerdict,
    result: IterationResult,
    pub(super) progressed: bool,
    /// It is over without counting as stuck: dead, halted, lost, or declared by a claim.
    is_exempt: bool,
    pub(super) claim: Option<Claim>,
}

/// Judges a closed iteration and decides what follows.
pub(super) fn judge(closed: &Closed, state: &mut RunState, out: &mut StepOutput) -> Phase {
    let snapshot = closed.snapshot.clone().unwrap_or_default();
    tamper::keep(state, out);
    state.ring.meters.iterations = state.ring.meters.iterations.saturating_add(1);
    state.last.task.clone_from(&closed.session.task);
    let judgement = weigh(closed, &snapshot, state);
    malformed::count(closed, &judgement, state);
    record(closed, &snapshot, &judgement, state, out);
    let verification = verifying::verify(state, &snapshot, &closed.exit.claims);
    let phase = follow(closed, &judgement, verification, state, out);
    state.code.head = snapshot.head;
    phase
}

/// Closes an iteration that a human or a used-up budget cut short, and ends the run.
pub(super) fn cut(closed: &Closed, state: &mut RunState, out: &mut StepOutput) -> Phase {
    state.ring.meters.iterations = state.ring.meters.iterations.saturating_add(1);
    let snapshot = closed.snapshot.clone().unwrap_or_default();
    let outcome = match &closed.end {
        End::Human(crate::event::StopCause::Interrupt) => Outcome::Interrupted,
        End::Human(_) | End::Own | End::Troubled => Outcome::Terminated,
        End::Spent(trip) | End::Halted(trip) => trip.guard.outcome().unwrap_or(Outcome::Fault),
    };
    close_iteration(closed, &snapshot, IterationResult::Cut(outcome), state, out);
    // A look that took too long has seen nothing.
    if closed.snapshot.is_some() {
        state.code.head = snapshot.head;
    }
    match &closed.end {
        End::Human(cause) => finish::by_human(*cause, state, out),
        End::Spent(trip) | End::Halted(trip) => {
            let also = state.ring.may_start(&state.policy).also;
            finish::halt(trip.clone(), also, state, out)
        }
        End::Own | End::Troubled => finish::end(outcome, String::from("cut short"), state, out),
    }
}

fn weigh(closed: &Closed, snapshot: &WorktreeSnapshot, state: &mut RunState) -> Judgement {
    let green = state.green();
    let is_lost = closed.exit.how == ExitHow::Lost;
    let halted = match &closed.end {
        End::Halted(trip) => trip.guard.outcome(),
        End::Own | End::Spent(_) | End::Troubled | End::Human(_) => None,
    };
    let died = closed.end == End::Own && !is_lost && !closed.exit.how.is_clean();
    let moved = snapshot.head != state.code.head;
    let step = if moved { Step::Committed } else { Step::Uncommitted };
    let progressed =
        state.stuck.is_progress(state.policy.iterations.progress, step, &snapshot.progress_tree);
    let left_good_work = moved && progressed && green != Some(false);
    // B6: whatever ended it, an iteration that moved on is no failure.
    let improved = state.ring.findings.is_progress(Change {
        before: state.gates.before.as_ref(),
        now: state.gates.now.as_ref(),
        story_passed: closed.handed_on || !closed.newly_done.is_empty(),
    });
    let failed = if improved { IterationVerdict::Improved } else { IterationVerdict::Failed };
    let (verdict, result) = if is_lost {
        (IterationVerdict::Unjudged, IterationResult::Lost)
    } else if let Some(outcome) = halted {
        (failed, IterationResult::Halted(outcome))
    } else if died && !left_good_work {
        (failed, IterationResult::Died)
    } else if green == Some(false) && improved {
        (failed, IterationResult::Improved)
    } else if green == Some(false) {
        (failed, IterationResult::Red)
    } else if green.is_none() {
        (IterationVerdict::Passed, IterationResult::Unchecked)
    } else {
        (IterationVerdict::Passed, IterationResult::Passed)
    };
    if let Some(verdict) = &state.gates.now {
        state.ring.findings.saw(verdict);
    }
    let claim = closed.exit.claims.leading(false).filter(|claim| *claim != Claim::Complete);
    let is_exempt = is_lost || halted.is_some() || (died && !moved) || claim.is_some();
    Judgement { verdict, result, progressed, is_exempt, claim }
}

fn record(
    closed: &Closed,
    snapshot: &WorktreeSnapshot,
    judgement: &Judgement,
    state: &mut RunState,
    out: &mut StepOutput,
) {
    let score = state.gates.now.as_ref().and_then(GateResult::score);
    state.ring.record(Validation {
        iteration: closed.session.iteration,
        at: out.at,
        verdict: judgement.verdict,
        failure: failure(judgement.result),
        score: score.filter(|_| judgement.verdict != IterationVerdict::Unjudged),
        files: files(snapshot, state),
        tree: snapshot.code_tree.clone(),
    });
    if judgement.progressed {
        state.stuck.progressed();
    } else if !judgement.is_exempt {
        state.stuck.idled();
    }
    if judgement.verdict != IterationVerdict::Unjudged {
        attempts::record(closed, snapshot, judgement, state, out);
    }
    if closed.session.rescue.is_some() {
        helped(judgement, state);
    }
    state.last.exhausted = exhausted(closed, state);
    close_iteration(closed, snapshot, judgement.result, state, out);
    state.briefing.after(closed, state.stuck.count(), &state.policy, out);
}

/// Another agent has had its iteration. Where that moved the work, what was counted before is over.
fn helped(judgement: &Judgement, state: &mut RunState) {
    if let Some(rescue) = state.crew.rescues.last_mut() {
        rescue.result = Some(judgement.result);
    }
    if judgement.verdict == IterationVerdict::Improved {
        state.ring.forgive();
    }
}

/// Resources that ran out: by the red gates' words, the tools' and those of an agent that ended
/// badly.
fn exhausted(closed: &Closed, state: &RunState) -> BTreeSet<Resource> {
    let mut found = closed.session.exhausted.clone();
    for check in state.gates.now.iter().flat_map(GateResult::red) {
        found.extend(Resource::exhausted_in(&check.tail));
        for finding in &check.findings {
            found.extend(Resource::exhausted_in(&finding.message));
            found.extend(finding.excerpt.iter().flat_map(|text| Resource::exhausted_in(text)));
        }
    }
    if closed.end == End::Own && !closed.exit.how.is_clean() {
        found.extend(Resource::exhausted_in(&closed.exit.last_words));
        // Nobody but the system kills an agent that nobody told to stop.
        if matches!(closed.exit.how, ExitHow::Code(137) | ExitHow::Signal(9)) {
            found.insert(Resource::Memory);
        }
    }
    found
}

/// What the breaker says of a failed iteration.
const fn failure(result: IterationResult) -> FailureKind {
    match result {
        IterationResult::Halted(outcome) => FailureKind::Halted(outcome),
        IterationResult::Died => FailureKind::Died,
        IterationResult::Passed
        | IterationResult::Unchecked
        | IterationResult::Red
        | IterationResult::Improved
        | IterationResult::Lost
        | IterationResult::Cut(_) => FailureKind::RedGates,
    }
}

/// Files named in findings of red gates, and files changed.
fn files(snapshot: &WorktreeSnapshot, state: &RunState) -> Vec<String> {
    let mut files: BTreeSet<String> = snapshot.changed.iter().cloned().collect();
    if let Some(verdict) = &state.gates.now {
        for (_, finding) in verdict.failures() {
            files.extend(finding.file.clone());
            let named = crate::iteration::files_in_message(&finding.message);
            files.extend(named.into_iter().map(String::from));
        }
    }
    files.into_iter().collect()
}

fn close_iteration(
    closed: &Closed,
    snapshot: &WorktreeSnapshot,
    result: IterationResult,
    state: &RunState,
    out: &mut StepOutput,
) {
    let (stories_complete, stories_total) = state.stories();
    let spent = closed.session.spent;
    out.order(Effect::CloseIteration(IterationReport {
        iteration: closed.session.iteration,
        mode: closed.session.mode,
        task: closed.session.task.clone(),
        started: closed.session.started,
        ended: closed.ended,
        commit: if snapshot.head == state.code.head { None } else { snapshot.head.clone() },
        stories_complete,
        stories_total,
        stuck: state.stuck.count(),
        tokens: spent.input_tokens.saturating_add(spent.output_tokens),
        cost_micro_usd: spent.cost_micro_usd,
        green: state.green(),
        score: state.gates.now.as_ref().and_then(GateResult::score),
        result,
    }));
}

/// B9: interrupt (handled before), claims, complete, stuck; then the next iteration's own checks.
fn follow(
    closed: &Closed,
    judgement: &Judgement,
    verification: Verification,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    match verification {
        Verification::Done(outcome) => return finish::complete(outcome, state, out),
        Verification::OnlyTamper if state.asks_about_tamper() => {
            return ask_about_tamper(closed, state, out);
        }
        Verification::OnlyTamper => refuse(closed, &[], state, out),
        Verification::Missing(missing) => refuse(closed, &missing, state, out),
    }
    if let Some(claim) = &judgement.claim
        && let Some(phase) = heed(closed, claim, state, out)
    {
        return phase;
    }
    if let (OnSessionHalt::Stop, End::Halted(trip)) =
        (state.policy.iterations.on_session_halt, &closed.end)
    {
        let also = state.ring.may_start(&state.policy);
        let also = also.trip.into_iter().chain(also.also).collect();
        return finish::halt(trip.clone(), also, state, out);
    }
    match malformed::halt(closed, state, out).or_else(|| stuck(closed, state, out)) {
        Some(phase) => phase,
        None => planning::plan(state, out),
    }
}

/// A completion that does not verify: counted, announced, and explained in the next briefing. Red
/// gates are explained whether or not completion was claimed.
fn refuse(closed: &Closed, missing: &[String], state: &mut RunState, out: &mut StepOutput) {
    let claimed = closed.exit.claims.complete;
    let is_same_task = state.last.refused_task == closed.session.task;
    let turned_green = state.green() == Some(true)
        && state.gates.before.as_ref().is_some_and(|before| !before.is_green())
        && closed.snapshot.as_ref().is_some_and(|snapshot| !snapshot.changed.is_empty());
    if !is_same_task || !closed.newly_done.is_empty() || turned_green {
        state.ring.completion_streak_ended();
        state.last.refused_task.clone_from(&closed.session.task);
    }
    let is_red = state.green() == Some(false);
    let has_tamper = !state.open_tamper().is_empty();
    if !claimed && !is_red && !has_tamper {
        return;
    }
    let shown: &[String] = if claimed { missing } else { &[] };
    let event = verifying::blocking_event(state, shown);
    if claimed {
        state.ring.completion_refused();
        let (refusals, limit) = (state.ring.refusals(), state.policy.iterations.gate_refusals);
        let trip = Trip::new(GuardKind::Completion, refusals, limit, event.summary.clone());
        out.tripped(trip, Rung::Refuse);
        out.announce(Notice::CompletionRefused(Box::new(event.clone())));
    }
    if has_tamper {
        tamper::tell(state, out);
    }
    state.briefing.blocked(&event, &state.policy.gates);
}

fn ask_about_tamper(closed: &Closed, state: &mut RunState, out: &mut StepOutput) -> Phase {
    let (question, trip) = tamper::question(state);
    let (iteration, task) = (closed.session.iteration, closed.session.task.clone());
    let held = Held { iteration, task, claim: Claim::Decide { question } };
    finish::ask_about_tamper(held, trip, state, out)
}

/// B2: BLOCKED and DECIDE end the run, or hold while other tasks can be worked on.
fn heed(
    closed: &Closed,
    claim: &Claim,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Option<Phase> {
    let (iteration, task) = (closed.session.iteration, closed.session.task.clone());
    let held = Held { iteration, task: task.clone(), claim: claim.clone() };
    let (OnBlocked::Next, Some(task)) = (state.policy.iterations.on_blocked, task) else {
        return Some(finish::claimed(held, state, out));
    };
    let (standing, why) = match claim {
        Claim::Blocked { reason } => (Standing::Blocked, reason.clone()),
        Claim::Decide { question } => (Standing::Asked, question.clone()),
        Claim::Complete => return None,
    };
    state.aside.held.retain(|other| other.task.as_ref() != Some(&task));
    state.aside.held.push(held);
    remedies::leave(&task, standing, &why, state, out);
    None
}

/// B3: too many iterations without progress.
fn stuck(closed: &Closed, state: &mut RunState, out: &mut StepOutput) -> Option<Phase> {
    let (count, limit) = (state.stuck.count(), state.policy.limits.stuck);
    if count < limit {
        return None;
    }
    let times = crate::text::count(count.into(), "iteration");
    let evidence = format!("{times} in a row without progress (limit {limit})");
    let trip = Trip::new(GuardKind::Stuck, count, limit, evidence);
    let is_hopeless = state.stuck.streak() >= limit.saturating_mul(2);
    match (state.policy.iterations.on_stuck, &closed.session.task) {
        (OnStuck::Next, Some(task)) if !is_hopeless => {
            out.tripped(trip.clone(), Rung::Redirect);
            remedies::leave(task, Standing::SetAside, &trip.evidence, state, out);
            state.stuck.next_task();
            None
        }
        _ => {
            let safety = state.ring.may_start(&state.policy);
            // A used-up budget leaves nothing for another agent either.
            let has_budget = safety.trip.as_ref().is_none_or(|trip| !trip.guard.is_budget());
            if has_budget && let Some(phase) = planning::rescue(&trip, state, out) {
                return Some(phase);
            }
            let also = safety.trip.into_iter().chain(safety.also).collect();
            Some(finish::halt(trip, also, state, out))
        }
    }
}

/// How an exit reads in a sentence.
pub(super) fn exit_words(exit: &Exit) -> String {
    match exit.how {
        ExitHow::Code(code) => format!("it exited with code {code}"),
        ExitHow::Signal(signal) => format!("it was ended by signal {signal}"),
        ExitHow::Lost => String::from("flyball itself was interrupted while it ran"),
    }
}
