//! The agent asks through its hooks whether it may stop: the run's own gates answer (B10, B11).

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::phase::{Phase, SessionState};
use super::state::RunState;
use super::{StepOutput, tamper, verifying};
use crate::effect::Effect;
use crate::event::{StopExamined, WorktreeSnapshot};
use crate::gate::{GateResult, TamperFinding};
use crate::guard::{GuardKind, Rung, Trip};
use crate::stop::{Assignment, LetGo, StopAsked, StopEvidence, StopRules, StopStep, StopVerdict};
use crate::tasklist::Transition;

/// The most weakened checks that are named when a stop is refused.
const WEAKENED_SHOWN: usize = 10;

/// May it stop? It may, or the worktree and the gates are looked at first.
pub(super) fn asked(
    mut session: Box<SessionState>,
    (asking, said, client_cap): (u64, &str, u32),
    state: &RunState,
    out: &mut StepOutput,
) -> Phase {
    let iteration = session.iteration;
    session.client_stop_cap = client_cap;
    let rules = StopRules::of(&state.policy).at_most(client_cap);
    match session.stops.ask(rules, &StopAsked::in_run(said)) {
        StopStep::LetGo(why) => answer(&session, asking, StopVerdict::Allow { why }, out),
        StopStep::Examine(ticket) => {
            session.awaits_answer = true;
            out.order(Effect::ExamineStop { iteration, asking, ticket });
        }
    }
    Phase::Iterating(session)
}

/// This was found: it may, or is sent back with what is missing.
pub(super) fn examined(
    mut session: Box<SessionState>,
    found: &StopExamined,
    state: &mut RunState,
    out: &mut StepOutput,
) -> Phase {
    let weakened = state.untold_tamper(found);
    let verdict = judge(&mut session, found, &weakened, state);
    if verdict.reason().is_some() {
        tamper::told_at_stop(&weakened, state, out);
    }
    if let StopVerdict::Refuse { summary, again: false, .. } = &verdict {
        count_refusal(&session, state);
        let (refusals, limit) = (state.ring.refusals(), state.policy.iterations.gate_refusals);
        let evidence = format!("the agent may not stop yet: {summary}");
        let trip = Trip::new(GuardKind::Completion, refusals, limit, evidence);
        out.tripped(trip, Rung::Refuse);
    }
    answer(&session, found.asking, verdict, out);
    Phase::Iterating(session)
}

fn judge(
    session: &mut SessionState,
    found: &StopExamined,
    weakened: &[TamperFinding],
    state: &RunState,
) -> StopVerdict {
    let weakened: Vec<String> = weakened
        .iter()
        .take(WEAKENED_SHOWN)
        .map(|one| format!("a check was weakened: {}", one.words()))
        .collect();
    let given = Transition {
        mode: session.mode,
        story: session.task.clone(),
        review: state.policy.review.clone(),
    };
    let request = verifying::request(session.task.as_ref(), state);
    let tasks = state.tasks.as_ref().map(|board| board.text.as_str());
    let assignment = Assignment { request: &request, tasks, given };
    let StopExamined { ticket, snapshot, gates, .. } = found;
    let (snapshot, gates): (&WorktreeSnapshot, Option<&GateResult>) = (snapshot, gates.as_deref());
    let (start, assignment, weakened) = (&state.code.start, Some(&assignment), weakened.as_slice());
    let evidence = StopEvidence { start, assignment, snapshot, gates, weakened };
    let rules = StopRules::of(&state.policy).at_most(session.client_stop_cap);
    session.stops.judge(rules, ticket, &evidence)
}

/// An agent that is being stopped anyway asks: it may.
pub(super) fn asked_while_stopping(session: &SessionState, asking: u64, out: &mut StepOutput) {
    answer(session, asking, StopVerdict::Allow { why: LetGo::BeingStopped }, out);
}

/// A refused stop is a refused completion (B10).
fn count_refusal(session: &SessionState, state: &mut RunState) {
    if state.last.refused_task != session.task {
        state.ring.completion_streak_ended();
        state.last.refused_task.clone_from(&session.task);
    }
    state.ring.completion_refused();
}

fn answer(session: &SessionState, asking: u64, verdict: StopVerdict, out: &mut StepOutput) {
    out.order(Effect::AnswerStop { iteration: session.iteration, asking, verdict });
}
