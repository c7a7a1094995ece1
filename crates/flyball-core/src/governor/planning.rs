//! What comes next: the safety checks, the task ring, then the next session (B9, C4).

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::advice::Deferred;
use super::human::Words;
use super::phase::{Phase, SessionState};
use super::state::RunState;
use super::{StepOutput, finish, iterating, remedies};
use crate::call::CallRing;
use crate::effect::{Effect, Notice, Rescue};
use crate::event::Spend;
use crate::guard::{GuardKind, Rung, Trip};
use crate::id::{IterationNo, TaskId};
use crate::policy::CallRecord;
use crate::stop::StopRing;
use crate::task::{AttemptReports, Remedy};
use crate::tasklist::Mode;

/// What the next iteration is for.
enum Choice {
    Start(Mode, Option<TaskId>),
    NothingLeft,
}

/// Plans the next iteration, or ends the run.
pub(super) fn plan(state: &mut RunState, out: &mut StepOutput) -> Phase {
    if state.human.stops_after_iteration {
        return finish::after_iteration(state, out);
    }
    let safety = state.ring.may_start(&state.policy);
    if let Some(trip) = safety.trip {
        return match rescue(&trip, state, out) {
            Some(phase) => phase,
            None => finish::halt(trip, safety.also, state, out),
        };
    }
    match choose(state, out) {
        Choice::Start(mode, task) => start(Plan::usual(mode, task, state), state, out),
        Choice::NothingLeft => finish::nothing_left(state, out),
    }
}

/// The redirect rung: before one of the guards that judge the work ends the run, another agent, where
/// one is named, takes an iteration at the task, once, with the evidence as its briefing.
pub(super) fn rescue(trip: &Trip, state: &mut RunState, out: &mut StepOutput) -> Option<Phase> {
    let guards = [
        GuardKind::CircuitBreaker,
        GuardKind::QualityRegression,
        GuardKind::Thrashing,
        GuardKind::Stuck,
    ];
    if !guards.contains(&trip.guard) || state.human.stops_after_iteration {
        return None;
    }
    let (mode, task) = state.pick()?;
    let agent = state.crew.rescuer(task.as_ref())?;
    let iteration = state.next_iteration();
    let rescue = Rescue { iteration, task: task.clone(), agent, guard: trip.guard, result: None };
    out.tripped(trip.clone(), Rung::Redirect);
    out.announce(Notice::RescueCalled(rescue.clone()));
    state.crew.rescues.push(rescue);
    let label = task.as_ref().map(|task| state.task_label(task));
    state.briefing.rescue(trip, label.as_deref(), &state.ring);
    let plan = Plan { mode, task, agent, rescue: Some(trip.clone()) };
    Some(start(plan, state, out))
}

/// An iteration about to begin.
struct Plan {
    mode: Mode,
    task: Option<TaskId>,
    agent: u32,
    rescue: Option<Trip>,
}

impl Plan {
    fn usual(mode: Mode, task: Option<TaskId>, state: &RunState) -> Self {
        Self { mode, task, agent: state.crew.for_mode(mode), rescue: None }
    }
}

/// Picks a task whose attempts show no loop, or whose loop has just been given a remedy that lets
/// it be tried again.
fn choose(state: &mut RunState, out: &mut StepOutput) -> Choice {
    let attempted: Vec<TaskId> = core::mem::take(&mut state.last.attempted).into_iter().collect();
    for task in &attempted {
        remedies::treat_attempted(task, state, out);
    }
    // Each round takes a task out of planning, so there are no more rounds than tasks. A finished
    // one stays planned for what else is missing; nothing more is due about it in the next round.
    let rounds = state.tasks.as_ref().map_or(0, |board| board.list.stories().len());
    for _ in 0..=rounds {
        let Some((mode, task)) = state.pick() else { return Choice::NothingLeft };
        let Some(candidate) = &task else { return Choice::Start(mode, task) };
        match remedies::treat(candidate, state, out) {
            Some(Remedy::ForceNext | Remedy::Escalate) => {}
            Some(Remedy::Advise | Remedy::UnblockAuthority) | None => {
                return Choice::Start(mode, task);
            }
        }
    }
    Choice::NothingLeft
}

impl RunState {
    /// The number of the iteration that begins next.
    fn next_iteration(&self) -> IterationNo {
        IterationNo::new(self.ring.meters.iterations).next()
    }

    /// The mode and story by B11 and C4. Without a task list the prompt is the one task.
    fn pick(&self) -> Option<(Mode, Option<TaskId>)> {
        let Some(board) = &self.tasks else { return Some((Mode::Implement, None)) };
        if board.list.stories().is_empty() {
            return Some((Mode::Implement, None));
        }
        if let Some((mode, story)) = self.task_ring.plan_next(&board.list, &self.policy.review) {
            return Some((mode, Some(story.id.clone())));
        }
        // All have passed and something else is missing: the last one worked on stays the task.
        if self.all_done() {
            let last = board.list.stories().last().map(|story| story.id.clone());
            return Some((Mode::Implement, self.last.task.clone().or(last)));
        }
        None
    }
}

fn start(plan: Plan, state: &mut RunState, out: &mut StepOutput) -> Phase {
    let Plan { mode, task, agent, rescue } = plan;
    let iteration = state.next_iteration();
    if let Some(answer) = &mut state.human.answer {
        answer.given_to = Some(iteration);
        out.announce(Notice::AnswerDelivered);
    }
    state.take_agent(agent);
    state.crew.begins(mode, rescue.is_some());
    let directives = remedies::directives(task.as_ref(), state);
    let briefing = state.briefing.compose(state.human.answer.as_ref(), directives, out);
    let mut calls = match state.traits().record {
        CallRecord::Stream => CallRing::streamed(),
        CallRecord::Questions => CallRing::new(),
    };
    calls.life(out.at);
    let session = SessionState {
        iteration,
        mode,
        task: task.clone(),
        started: out.at,
        calls,
        last_life: out.at,
        stall_told: None,
        spent: Spend::default(),
        trouble: None,
        rescue,
        exhausted: BTreeSet::new(),
        reports: AttemptReports::default(),
        advice: Deferred::default(),
        words: Words::default(),
        given: Words::default(),
        door_used: false,
        stops: StopRing::default(),
        client_stop_cap: u32::MAX,
        awaits_answer: false,
    };
    state.tamper.unseen = true;
    out.order(Effect::StartAgent { iteration, mode, task, briefing, agent });
    iterating::set_timers(&session, state, out);
    Phase::Iterating(Box::new(session))
}
