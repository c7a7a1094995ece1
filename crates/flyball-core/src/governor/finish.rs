//! How a run ends: once, with a reason, its evidence and the numbers.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::phase::{Finished, Phase, SessionState};
use super::state::{Held, RunState};
use super::{StepOutput, inspecting, next_steps, tamper};
use crate::claim::Claim;
use crate::effect::{Effect, Ending, Force, LeftTask};
use crate::event::StopCause;
use crate::guard::Rung;
use crate::guard::Trip;
use crate::outcome::Outcome;
use crate::task::Standing;
use crate::text;

/// Ends the run.
pub(super) fn end(
    outcome: Outcome,
    why: String,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    close(Reason::new(outcome, why), state, out)
}

/// The agent program could not be started. One that was only called to help ends nothing: what would
/// have ended the run does.
pub(super) fn not_started(
    session: &SessionState,
    why: &str,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    state.tamper.unseen = false;
    match &session.rescue {
        Some(trip) => unhelped(trip, why, state, out),
        None => match inspecting::without_agent(why, state, out) {
            Some(phase) => phase,
            None => end(Outcome::AgentNotStarted, String::from(why), state, out),
        },
    }
}

/// The same of an agent that was to be stopped: nobody takes its place.
pub(super) fn never_started(why: &str, state: &mut RunState, out: &mut StepOutput) -> Phase {
    state.tamper.unseen = false;
    end(Outcome::AgentNotStarted, String::from(why), state, out)
}

/// The agent's service refused its credentials.
pub(super) fn refused(
    session: &SessionState,
    why: String,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    match &session.rescue {
        Some(trip) => unhelped(trip, &why, state, out),
        None => match inspecting::without_agent(&why, state, out) {
            Some(phase) => phase,
            None => end(Outcome::AgentRefused, why, state, out),
        },
    }
}

/// The agent called to help could not: the guard has its way, and says so.
fn unhelped(trip: &Trip, why: &str, state: &mut RunState, out: &mut StepOutput) -> Phase {
    let mut trip = trip.clone();
    trip.evidence =
        format!("{} (the rescue agent could not help: {})", trip.evidence, text::head(why, 200));
    halt(trip, Vec::new(), state, out)
}

/// Ends the run because a guard says so.
pub(super) fn halt(
    trip: Trip,
    also: Vec<Trip>,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    out.tripped(trip.clone(), Rung::Halt);
    let outcome = trip.guard.outcome().unwrap_or(Outcome::Fault);
    let why = trip.evidence.clone();
    close(Reason { trip: Some(trip), also, ..Reason::new(outcome, why) }, state, out)
}

/// Ends the run because someone asked.
pub(super) fn by_human(cause: StopCause, state: &mut RunState, out: &mut StepOutput) -> Phase {
    let (outcome, why) = match cause {
        StopCause::Interrupt => (Outcome::Interrupted, "interrupted (SIGINT)"),
        StopCause::Terminate => (Outcome::Terminated, "terminated by a signal"),
        StopCause::Command => (Outcome::Terminated, "ended by `flyball stop`"),
    };
    end(outcome, String::from(why), state, out)
}

/// Ends the run because a human wanted no further iteration.
pub(super) fn after_iteration(state: &mut RunState, out: &mut StepOutput) -> Phase {
    let iterations = state.ring.meters.iterations;
    let why = if iterations == 0 {
        String::from("ended by `flyball stop --after-iteration` before an iteration was over")
    } else {
        format!("ended by `flyball stop --after-iteration` after iteration {iterations}")
    };
    end(Outcome::Terminated, why, state, out)
}

/// flyball itself cannot go on. An agent that may still run is killed.
pub(super) fn fault(phase: &Phase, why: &str, state: &mut RunState, out: &mut StepOutput) -> Phase {
    kill(phase, out);
    end(Outcome::Fault, String::from(why), state, out)
}

/// flyball's own state was changed from under it: the same, and nothing is believed.
pub(super) fn tampered(
    phase: &Phase,
    why: &str,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    kill(phase, out);
    end(Outcome::Tampered, String::from(why), state, out)
}

/// Kills an agent that may still run.
fn kill(phase: &Phase, out: &mut StepOutput) {
    if let Phase::Iterating(_) | Phase::Stopping(_) = phase
        && let Some(session) = phase.session()
    {
        let iteration = session.iteration;
        out.order(Effect::StopAgent { iteration, force: Force::Kill });
    }
}

/// Everything was done and green before the first iteration.
pub(super) fn complete_before_it_began(state: &mut RunState, out: &mut StepOutput) -> Phase {
    let why = String::from("every task has passed and the gates are green: there is nothing to do");
    end(Outcome::Complete, why, state, out)
}

/// The work is done and verified (or believed, where that was asked for).
pub(super) fn complete(outcome: Outcome, state: &mut RunState, out: &mut StepOutput) -> Phase {
    let (passed, total) = state.stories();
    let gates = match state.green() {
        None => String::from("no gate checks it"),
        Some(_) => format!("gates green on tree {}", short(&state.code.tree)),
    };
    let why = match (&state.tasks, outcome) {
        (_, Outcome::CompleteUnverified) => {
            String::from("the agent says so and --trust-claims was given; nothing checked it")
        }
        (Some(_), _) => format!("{passed} of {total} stories passed, {gates}"),
        (None, _) => format!("the agent says so, {gates}"),
    };
    end(outcome, why, state, out)
}

/// A claim ends the run: the file for the human is written with it.
pub(super) fn claimed(held: Held, state: &mut RunState, out: &mut StepOutput) -> Phase {
    let iteration = held.iteration;
    let (outcome, why, order) = match held.claim {
        Claim::Blocked { reason } => {
            let order = Effect::WriteBlocked { reason: reason.clone() };
            (Outcome::Blocked, reason, order)
        }
        Claim::Decide { question } => {
            let order = Effect::WriteDecide { iteration, question: question.clone() };
            (Outcome::Decide, question, order)
        }
        Claim::Complete => return end(Outcome::Fault, String::from("claim"), state, out),
    };
    close(Reason { orders: [order].into(), ..Reason::new(outcome, why) }, state, out)
}

/// A human must say whether weakened tests are meant.
pub(super) fn ask_about_tamper(
    held: Held,
    trip: Trip,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    out.tripped(trip.clone(), Rung::Ask);
    let Claim::Decide { question } = held.claim else {
        return end(Outcome::Fault, String::from("tamper"), state, out);
    };
    let order = Effect::WriteDecide { iteration: held.iteration, question: question.clone() };
    let reason = Reason::new(Outcome::Decide, question);
    close(Reason { trip: Some(trip), orders: [order].into(), ..reason }, state, out)
}

/// No task can be worked on any more, and not all have passed.
pub(super) fn nothing_left(state: &mut RunState, out: &mut StepOutput) -> Phase {
    let held = core::mem::take(&mut state.aside.held);
    let is_question = |held: &Held| matches!(held.claim, Claim::Decide { .. });
    let only_questions = !held.is_empty()
        && held.iter().all(is_question)
        && state.aside.left.iter().all(|left| left.standing == Standing::Asked);
    if only_questions {
        let questions: Vec<String> = held.iter().map(said).collect();
        let iteration = held.last().map(|held| held.iteration).unwrap_or_default();
        let claim = Claim::Decide { question: questions.join("\n") };
        return claimed(Held { iteration, task: None, claim }, state, out);
    }
    let before = left_before(state);
    state.aside.left.extend(before);
    let mut reasons: Vec<String> = state.aside.left.iter().map(left_line).collect();
    if reasons.is_empty() {
        reasons = held.iter().map(said).collect();
    }
    reasons.extend(waiting_on_others(state));
    let why = format!("no task is left that can be worked on:\n{}", reasons.join("\n"));
    let order = Effect::WriteBlocked { reason: why.clone() };
    let reason = Reason::new(Outcome::Blocked, why);
    close(Reason { orders: [order].into(), nothing_left: true, ..reason }, state, out)
}

/// Tasks of the list that were left in an earlier run, and why as far as that is remembered.
fn left_before(state: &RunState) -> Vec<LeftTask> {
    let Some(board) = &state.tasks else { return Vec::new() };
    let mut before = Vec::new();
    for story in board.list.stories() {
        let standing = state.task_ring.standing(&story.id);
        let is_known = state.aside.left.iter().any(|left| left.task == story.id);
        if standing == Standing::Open || is_known || state.is_done(&story.id) {
            continue;
        }
        let why = state.task_ring.last_remedy(&story.id).map_or_else(
            || String::from("left in an earlier run"),
            |remedy| {
                let attempts = text::count(remedy.attempts, "attempt");
                let why = remedy.pattern.guard().as_str();
                format!("left in an earlier run after {attempts} ({why})")
            },
        );
        before.push(LeftTask { task: story.id.clone(), standing, why });
    }
    before
}

/// Tasks that stand open and cannot be begun, and what each waits for.
fn waiting_on_others(state: &RunState) -> Vec<String> {
    let Some(board) = &state.tasks else { return Vec::new() };
    let open = board.list.stories().iter().filter(|story| {
        state.task_ring.standing(&story.id) == Standing::Open && !state.is_done(&story.id)
    });
    open.map(|story| {
        let missing: Vec<&str> = story
            .depends_on
            .iter()
            .filter(|other| !state.is_done(other))
            .map(crate::id::TaskId::as_str)
            .collect();
        format!("- {} (open): waits on {}", story.id, missing.join(", "))
    })
    .collect()
}

fn said(held: &Held) -> String {
    let text = match &held.claim {
        Claim::Blocked { reason } => reason.as_str(),
        Claim::Decide { question } => question.as_str(),
        Claim::Complete => "",
    };
    match &held.task {
        Some(task) => format!("{task}: {text}"),
        None => String::from(text),
    }
}

fn left_line(left: &LeftTask) -> String {
    let word = left.standing.words();
    format!("- {} ({word}): {}", left.task, left.why)
}

struct Reason {
    outcome: Outcome,
    why: String,
    trip: Option<Trip>,
    also: Vec<Trip>,
    orders: Vec<Effect>,
    nothing_left: bool,
}

impl Reason {
    fn new(outcome: Outcome, why: String) -> Self {
        let (also, orders) = (Vec::new(), Vec::new());
        Self { outcome, why, trip: None, also, orders, nothing_left: false }
    }
}

fn close(reason: Reason, state: &mut RunState, out: &mut StepOutput) -> Phase {
    let Reason { outcome, why, trip, also, mut orders, nothing_left } = reason;
    let (left, tally) = (state.aside.left.clone(), state.tally());
    let next_steps = next_steps::after(outcome, trip.as_ref(), state);
    let (rescues, roles) = (state.crew.rescues.clone(), state.crew.by_role());
    let flaky = state.gates.flaky.clone();
    tamper::keep(state, out);
    state.briefing.announce_unheard(out);
    let ending = Ending {
        outcome,
        why,
        trip,
        also,
        left,
        nothing_left,
        rescues,
        roles,
        flaky,
        next_steps,
        tally,
    };
    orders.push(Effect::FinishRun(ending.clone()));
    out.effects.extend(orders.iter().cloned());
    Phase::Finished(Box::new(Finished { ending, orders }))
}

fn short(id: &str) -> &str {
    text::prefix(id, 10)
}
