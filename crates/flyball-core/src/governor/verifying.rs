//! Is it done? A claim is not a fact until everything here says so (B1).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::state::RunState;
use crate::claim::ClaimReading;
use crate::event::WorktreeSnapshot;
use crate::gate::GateResult;
use crate::gate::blocking::{BlockingEvent, Refusal};
use crate::id::TaskId;
use crate::outcome::Outcome;

/// Weakened checks named in one briefing.
const TAMPER_SHOWN: usize = 20;

/// What verifying the end state came to.
pub(super) enum Verification {
    /// It is done.
    Done(Outcome),
    /// It would be, but for weakened tests.
    OnlyTamper,
    /// This is missing, besides red gates.
    Missing(Vec<String>),
}

/// Whether everything was done before the first iteration.
pub(super) fn done_before_it_began(state: &RunState) -> bool {
    let edited = state.gates.now.as_ref().and_then(GateResult::edited_words);
    let is_green = state.green() != Some(false) && edited.is_none();
    state.all_done() && is_green && state.open_tamper().is_empty()
}

/// Checks the end state.
pub(super) fn verify(
    state: &RunState,
    snapshot: &WorktreeSnapshot,
    claims: &ClaimReading,
) -> Verification {
    let mut missing = Vec::new();
    match &state.tasks {
        Some(board) if board.list.stories().is_empty() => {
            missing.push(String::from("the task list has no story, so nothing can be complete"));
        }
        Some(_) => missing.extend(open_stories(state)),
        None if !claims.complete => missing.push(String::from("the agent has not said COMPLETE")),
        None => {}
    }
    missing.extend(state.code.start.uncommitted_work(snapshot));
    missing.extend(state.gates.now.as_ref().and_then(GateResult::edited_words));
    let gates = match (state.green(), &state.tasks) {
        (Some(green), _) => green,
        (None, Some(_)) => true,
        (None, None) => state.policy.iterations.trust_claims,
    };
    if !gates || !missing.is_empty() {
        return Verification::Missing(missing);
    }
    if !state.open_tamper().is_empty() {
        return Verification::OnlyTamper;
    }
    let is_unverified = state.tasks.is_none() && state.gates.names.is_empty();
    Verification::Done(if is_unverified { Outcome::CompleteUnverified } else { Outcome::Complete })
}

fn open_stories(state: &RunState) -> Option<String> {
    let open: Vec<&str> = state.open_stories().into_iter().map(TaskId::as_str).collect();
    if open.is_empty() {
        return None;
    }
    let shown = open.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let more = open.len().saturating_sub(5);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let noun = if open.len() == 1 { "1 story is" } else { "stories are" };
    let count = if open.len() == 1 { String::new() } else { format!("{} ", open.len()) };
    Some(format!("{count}{noun} not finished: {shown}{more}"))
}

/// Why it is not done, in the form the agent gets.
pub(super) fn blocking_event(state: &RunState, missing: &[String]) -> BlockingEvent {
    let mut missing = missing.to_vec();
    let open = state.open_tamper();
    missing.extend(
        open.iter().take(TAMPER_SHOWN).map(|one| format!("weakened checks: {}", one.words())),
    );
    let more = open.len().saturating_sub(TAMPER_SHOWN);
    if more > 0 {
        missing.push(format!("weakened checks: {more} more"));
    }
    let nothing = GateResult::default();
    let now = state.gates.now.as_ref().unwrap_or(&nothing);
    let request = request(state.last.task.as_ref(), state);
    BlockingEvent::new(Refusal {
        request: &request,
        now,
        before: state.gates.before.as_ref(),
        baseline: &state.code.start.failing,
        missing: &missing,
    })
}

/// What was asked for, in the words of the task.
pub(super) fn request(task: Option<&TaskId>, state: &RunState) -> String {
    match (task, &state.request) {
        (Some(task), _) => state.task_label(task),
        (None, Some(request)) => request.clone(),
        (None, None) => String::from("the work described in the prompt"),
    }
}
