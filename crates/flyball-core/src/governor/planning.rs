//! What comes next: the safety checks, the task ring, then the next session (B9, C4).

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::advice::Deferred;
use super::phase::{Phase, Session};
use super::state::RunState;
use super::{StepOutput, finish, iterating, remedies};
use crate::call::CallRing;
use crate::effect::{Effect, Notice};
use crate::event::Spend;
use crate::id::{IterationNo, TaskId};
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
    let safety = state.ring.may_start(&state.policy);
    if let Some(trip) = safety.trip {
        return finish::halt(trip, safety.also, state, out);
    }
    match choose(state, out) {
        Choice::Start(mode, task) => start(mode, task, state, out),
        Choice::NothingLeft => finish::nothing_left(state, out),
    }
}

/// Picks a task whose attempts show no loop, or whose loop has just been given a remedy that lets
/// it be tried again.
fn choose(state: &mut RunState, out: &mut StepOutput) -> Choice {
    let attempted: Vec<TaskId> = core::mem::take(&mut state.attempted).into_iter().collect();
    for task in &attempted {
        remedies::treat_attempted(task, state, out);
    }
    // Each round takes a task out of planning, so there are no more rounds than tasks.
    let rounds = state.tasks.as_ref().map_or(0, |board| board.list.stories().len());
    for _ in 0..=rounds {
        let Some((mode, task)) = state.pick() else { return Choice::NothingLeft };
        let Some(candidate) = &task else { return Choice::Start(mode, task) };
        match remedies::treat(candidate, state, out) {
            Some(Remedy::ForceNext) if !state.is_done(candidate) => {}
            Some(Remedy::Escalate) => {}
            Some(Remedy::ForceNext | Remedy::Advise | Remedy::UnblockAuthority) | None => {
                return Choice::Start(mode, task);
            }
        }
    }
    Choice::NothingLeft
}

impl RunState {
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
            return Some((Mode::Implement, self.last_task.clone().or(last)));
        }
        None
    }
}

fn start(mode: Mode, task: Option<TaskId>, state: &mut RunState, out: &mut StepOutput) -> Phase {
    let iteration = IterationNo::new(state.ring.meters.iterations).next();
    if let Some(answer) = &mut state.answer {
        answer.given_to = Some(iteration);
        out.announce(Notice::AnswerDelivered);
    }
    let briefing = state.briefing.compose(state.answer.as_ref(), out);
    let mut calls = CallRing::new();
    calls.life(out.at);
    let session = Session {
        iteration,
        mode,
        task: task.clone(),
        started: out.at,
        calls,
        last_life: out.at,
        stall_told: None,
        spent: Spend::default(),
        trouble: None,
        reports: AttemptReports::default(),
        advice: Deferred::default(),
        door_used: false,
        stops: StopRing::default(),
        client_stop_cap: u32::MAX,
        awaits_answer: false,
    };
    let agent = state.agent;
    out.order(Effect::StartAgent { iteration, mode, task, briefing, agent });
    iterating::set_timers(&session, state, out);
    Phase::Iterating(Box::new(session))
}
