//! The task ring's remedies performed: what stands where, what is written, what is told (C3).

use alloc::string::String;

use super::StepOutput;
use super::state::RunState;
use crate::effect::{Effect, LeftTask, Notice};
use crate::guard::Rung;
use crate::guard::{GuardKind, Trip};
use crate::id::TaskId;
use crate::task::{Detection, Pattern, Remedy, Standing};

/// Looks at the attempts at the task that is to be tried next, and performs the remedy that is due.
/// Says which one it was.
pub(super) fn treat(task: &TaskId, state: &mut RunState, out: &mut StepOutput) -> Option<Remedy> {
    let detection = state.task_ring.detect(&state.policy.tasks, &state.run, out.at, task)?;
    perform(&detection, state, out)
}

/// Looks at the attempts at a task that was just tried: going back to finished tasks and going
/// round between tasks show there, whatever is tried next.
pub(super) fn treat_attempted(task: &TaskId, state: &mut RunState, out: &mut StepOutput) {
    let Some(detection) = state.task_ring.detect(&state.policy.tasks, &state.run, out.at, task)
    else {
        return;
    };
    match detection.pattern {
        Pattern::CompletedTaskRevisit | Pattern::TaskCycle => {
            perform(&detection, state, out);
        }
        Pattern::BlockedTaskSpin | Pattern::NoProgressRepeat => {}
    }
}

fn perform(detection: &Detection, state: &mut RunState, out: &mut StepOutput) -> Option<Remedy> {
    let remedy = detection.remedy?;
    let id = state.entry_id();
    announce(detection, remedy, out);
    let applied = state.task_ring.apply(&state.policy.tasks, out.at, detection, id);
    for entry in applied.entries {
        out.order(Effect::RecordContext(entry));
    }
    for (task, standing) in applied.standing_changes {
        let why = evidence(detection);
        note(&task, standing, &why, state, out);
    }
    if let Some(text) = applied.briefing {
        state.briefing.remedy(text);
    }
    Some(remedy)
}

/// Sets where a task stands, keeps it, and tells.
pub(super) fn leave(
    task: &TaskId,
    standing: Standing,
    why: &str,
    state: &mut RunState,
    out: &mut StepOutput,
) {
    state.task_ring.set_standing(task.clone(), standing);
    note(task, standing, why, state, out);
}

fn note(task: &TaskId, standing: Standing, why: &str, state: &mut RunState, out: &mut StepOutput) {
    let why = crate::text::head(why, 400);
    state.left.retain(|left| left.task != *task);
    if standing != Standing::Open {
        state.left.push(LeftTask { task: task.clone(), standing, why: why.clone() });
    }
    out.order(Effect::MarkTask { task: task.clone(), standing });
    out.announce(Notice::TaskLeft { task: task.clone(), standing, why });
}

fn announce(detection: &Detection, remedy: Remedy, out: &mut StepOutput) {
    let guard = match detection.pattern {
        Pattern::CompletedTaskRevisit => GuardKind::CompletedTaskRevisit,
        Pattern::BlockedTaskSpin => GuardKind::BlockedTaskSpin,
        Pattern::NoProgressRepeat => GuardKind::NoProgressRepeat,
        Pattern::TaskCycle => GuardKind::TaskCycle,
    };
    let rung = match remedy {
        Remedy::Advise => Rung::Nudge,
        Remedy::ForceNext | Remedy::UnblockAuthority => Rung::Redirect,
        Remedy::Escalate => Rung::Ask,
    };
    let allowed = detection.evidence.len() as u64;
    out.tripped(Trip::new(guard, detection.attempts, allowed, evidence(detection)), rung);
}

fn evidence(detection: &Detection) -> String {
    let pattern = match detection.pattern {
        Pattern::CompletedTaskRevisit => "is done and was attempted again",
        Pattern::BlockedTaskSpin => "met the same blockers again",
        Pattern::NoProgressRepeat => "was attempted again without anything new",
        Pattern::TaskCycle => "is part of a round of tasks none of which moves",
    };
    let mut text =
        alloc::format!("task {} {pattern} ({} attempts)", detection.task, detection.attempts);
    if !detection.blockers.is_empty() {
        text.push_str(": ");
        let blockers: alloc::vec::Vec<&str> =
            detection.blockers.iter().map(String::as_str).collect();
        text.push_str(&crate::text::head(&blockers.join("; "), 200));
    }
    text
}
