//! The agent is gone and the worktree was seen: undo what was illegal, then run the gates.

use alloc::boxed::Box;
use alloc::string::String;

use super::crew::Absence;
use super::phase::{Closed, End, Phase, Trouble};
use super::state::RunState;
use super::{StepOutput, finish, iterating, judging, planning, tamper, waiting};
use crate::effect::{Effect, Notice};
use crate::event::{ExitHow, StopCause, Timer, WorktreeSnapshot};
use crate::guard::Rung;
use crate::guard::{GuardKind, Trip};
use crate::iteration::budget_trip;
use crate::tasklist::{Mode, ReviewStatus, TaskList, Transition, check_transition};

/// A look is under way. Where nobody has much time left it may not take long.
pub(super) fn await_look(closed: &Closed, state: &RunState, out: &mut StepOutput) {
    match closed.end {
        End::Human(_) | End::Spent(_) => {
            let at = out.at.plus(state.policy.limits.stop_grace);
            let (timer, iteration) = (Timer::StopGrace, closed.session.iteration);
            out.order(Effect::SetTimer { timer, iteration, at });
        }
        // The timer may have run out while the agent was being stopped.
        End::Halted(_) | End::Troubled => {
            iterating::set_runtime_timer(&closed.session, state, out);
        }
        End::Own => {}
    }
}

/// A human asks for the end while the worktree is being looked at; the second time there is no more
/// patience.
pub(super) fn stop_requested(
    mut closed: Box<Closed>,
    cause: StopCause,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    if matches!(closed.end, End::Human(_)) {
        return judging::cut(&closed, state, out);
    }
    closed.end = End::Human(cause);
    await_look(&closed, state, out);
    Phase::Inspecting(closed)
}

/// A timer runs out while the worktree is being looked at: a look that takes too long is not waited
/// for.
pub(super) fn timer(
    mut closed: Box<Closed>,
    timer: Timer,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    match (timer, &closed.end) {
        (Timer::StopGrace, End::Human(_) | End::Spent(_)) => {
            return judging::cut(&closed, state, out);
        }
        (Timer::Runtime, End::Own | End::Halted(_) | End::Troubled) => {
            match budget_trip(&state.ring.meters, &state.policy.limits) {
                Some(trip) => {
                    out.tripped(trip.clone(), Rung::Halt);
                    closed.end = End::Spent(trip);
                    await_look(&closed, state, out);
                }
                None => iterating::set_runtime_timer(&closed.session, state, out),
            }
        }
        (
            Timer::StopGrace
            | Timer::Runtime
            | Timer::IterationTimeout
            | Timer::Stall
            | Timer::Wait,
            _,
        ) => {}
    }
    Phase::Inspecting(closed)
}

/// The worktree as the agent left it.
pub(super) fn seen(
    mut closed: Box<Closed>,
    snapshot: &WorktreeSnapshot,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    let mut snapshot = snapshot.clone();
    tamper::looked(&snapshot.tamper, state, out);
    if let Some(phase) = exempt(&closed, &snapshot, state, out) {
        return phase;
    }
    state.waits.over();
    let carried = core::mem::take(&mut state.last.carried);
    snapshot.commits.splice(0..0, carried.commits);
    snapshot.changed.extend(carried.changed);
    closed.session.reports.begin_with(carried.reports);
    snapshot.changed.sort();
    snapshot.changed.dedup();
    check_tasks(&mut closed, &snapshot, state, out);
    answer_was_given(&closed, state, out);
    let tree = snapshot.code_tree.clone();
    state.code.tree.clone_from(&tree);
    let iteration = closed.session.iteration;
    let whole = may_be_complete(&closed, state);
    // A red word is asked for again before it refuses a completion: what is installed, which is no part
    // of the tree, may be other by now. Where nothing is, the shell knows it still.
    let is_known = state.gates.now.as_ref().is_some_and(|verdict| verdict.tree == tree)
        && (!whole || (!state.gates.is_partial && state.green() != Some(false)));
    closed.snapshot = Some(snapshot);
    match &closed.end {
        End::Human(_) => return judging::cut(&closed, state, out),
        // The budget is used up: the gates are worth their time only for a finished work.
        End::Spent(_) if !may_be_complete(&closed, state) => {
            return judging::cut(&closed, state, out);
        }
        End::Spent(_) | End::Own | End::Halted(_) | End::Troubled => {}
    }
    if state.gates.names.is_empty() || is_known {
        // Nothing changed since the gates' last word, so nothing got better or worse either.
        state.gates.before.clone_from(&state.gates.now);
        return judging::judge(&closed, state, out);
    }
    state.gates.is_partial = !whole;
    out.order(Effect::RunGates { iteration, tree, whole });
    Phase::Gating(closed)
}

/// B3, B13: what is not an iteration at all. The agent could not work, or may not.
fn exempt(
    closed: &Closed,
    snapshot: &WorktreeSnapshot,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Option<Phase> {
    if let End::Human(_) | End::Spent(_) | End::Halted(_) = closed.end {
        return None;
    }
    let iteration = closed.session.iteration;
    let (resets_at, message) = match closed.session.trouble.clone()? {
        Trouble::Limit { resets_at, message } => (resets_at, message),
        Trouble::Unreachable { message } => (None, message),
        Trouble::Refused { message } => {
            return Some(finish::refused(&closed.session, message, state, out));
        }
        Trouble::OwnGuard { .. } => return None,
    };
    state.last.carried.commits.extend(snapshot.commits.iter().cloned());
    state.last.carried.changed.extend(snapshot.changed.iter().cloned());
    state.last.carried.reports.extend(&closed.session.reports);
    again(state, out);
    if closed.session.rescue.is_some() {
        // It has not helped yet: its turn comes again after the wait.
        state.crew.rescues.pop();
        return Some(waiting::begin(iteration, resets_at, message, state, out));
    }
    Some(
        other_agent(&message, state, out)
            .unwrap_or_else(|| waiting::begin(iteration, resets_at, message, state, out)),
    )
}

pub(super) fn may_be_complete(closed: &Closed, state: &RunState) -> bool {
    closed.exit.claims.complete || state.all_done()
}

/// B13: the next agent goes on at once; after the last one the first has its turn again, later.
fn other_agent(message: &str, state: &mut RunState, out: &mut StepOutput) -> Option<Phase> {
    let next = state.crew.replace(Absence::ForNow);
    if next.is_none() {
        let first = state.crew.for_mode(Mode::Implement);
        state.take_agent(first);
    }
    next.map(|agent| goes_on(agent, message, state, out))
}

/// An agent that cannot work at all: another one goes on with the same iteration, where there is
/// one that can.
pub(super) fn without_agent(
    message: &str,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Option<Phase> {
    let agent = state.crew.replace(Absence::ForGood)?;
    again(state, out);
    Some(goes_on(agent, message, state, out))
}

fn goes_on(agent: u32, message: &str, state: &mut RunState, out: &mut StepOutput) -> Phase {
    out.announce(Notice::AgentChanged { agent, message: String::from(message) });
    planning::plan(state, out)
}

/// What was to be said is said again.
fn again(state: &mut RunState, out: &mut StepOutput) {
    state.briefing.again(out);
    if let Some(answer) = &mut state.human.answer {
        answer.given_to = None;
    }
}

/// B11: an illegal change is undone story by story; the agent's other work stays.
fn check_tasks(
    closed: &mut Closed,
    snapshot: &WorktreeSnapshot,
    state: &mut RunState,
    out: &mut StepOutput,
) {
    let done_before = state.done();
    let review = state.policy.review.clone();
    let Some(board) = &mut state.tasks else { return };
    let given =
        Transition { mode: closed.session.mode, story: closed.session.task.clone(), review };
    let check = check_transition(&board.text, &snapshot.tasks, &given);
    if let Some(text) = check.text {
        out.order(Effect::WriteTasks { text: text.clone() });
        board.text = text;
    } else if let crate::event::TasksSnapshot::Found { text } = &snapshot.tasks {
        board.text.clone_from(text);
    }
    let waits = |list: &TaskList| {
        let story = closed.session.task.as_ref().and_then(|task| list.story(task));
        story.is_some_and(|story| story.review_status == Some(ReviewStatus::NeedsReview))
    };
    closed.handed_on = !waits(&board.list) && waits(&check.list);
    board.list = check.list;
    closed.newly_done = state.done();
    closed.newly_done.retain(|task| !done_before.contains(task));
    if !check.violations.is_empty() {
        let evidence = check.violations.first().cloned().unwrap_or_default();
        let count = check.violations.len() as u64;
        out.tripped(Trip::new(GuardKind::TaskList, count, 0_u64, evidence), Rung::Refuse);
        out.announce(Notice::TasksRepaired { violations: check.violations.clone() });
    }
    closed.violations = check.violations;
}

/// B2: the file goes once the iteration that was given the answer has ended. One that flyball did
/// not see to its end is given the answer again.
fn answer_was_given(closed: &Closed, state: &mut RunState, out: &mut StepOutput) {
    let Some(answer) = &mut state.human.answer else { return };
    if answer.given_to != Some(closed.session.iteration) {
        return;
    }
    if closed.exit.how == ExitHow::Lost {
        answer.given_to = None;
        return;
    }
    state.human.answer = None;
    out.order(Effect::RemoveDecide);
}

/// The path of the session's own words into the next briefing.
pub(super) fn last_words(closed: &Closed) -> Option<String> {
    let words = crate::text::tail(closed.exit.last_words.trim(), 600);
    (!words.is_empty()).then(|| String::from(words))
}
