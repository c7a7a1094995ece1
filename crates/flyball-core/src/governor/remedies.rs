//! The task ring's remedies performed: what stands where, what is written, what is told (C3).

use alloc::string::String;

use super::Turn;
use super::book::Book;
use crate::effect::{Effect, LeftTask, Notice, Rung};
use crate::guard::{GuardKind, Trip};
use crate::id::TaskId;
use crate::task::{Detection, Pattern, Remedy, Standing};

/// Looks at the attempts at the task that is to be tried next, and performs the remedy that is due.
/// Says which one it was.
pub(super) fn treat(task: &TaskId, book: &mut Book, turn: &mut Turn) -> Option<Remedy> {
    let detection = book.task_ring.detect(&book.policy.tasks, &book.run, turn.at, task)?;
    perform(&detection, book, turn)
}

/// Looks at the attempts at a task that was just tried: going back to finished tasks and going
/// round between tasks show there, whatever is tried next.
pub(super) fn treat_attempted(task: &TaskId, book: &mut Book, turn: &mut Turn) {
    let Some(detection) = book.task_ring.detect(&book.policy.tasks, &book.run, turn.at, task)
    else {
        return;
    };
    match detection.pattern {
        Pattern::CompletedTaskRevisit | Pattern::TaskCycle => {
            perform(&detection, book, turn);
        }
        Pattern::BlockedTaskSpin | Pattern::NoProgressRepeat => {}
    }
}

fn perform(detection: &Detection, book: &mut Book, turn: &mut Turn) -> Option<Remedy> {
    let remedy = detection.remedy?;
    let id = book.entry_id();
    announce(detection, remedy, turn);
    let applied = book.task_ring.apply(&book.policy.tasks, turn.at, detection, id);
    for entry in applied.entries {
        turn.order(Effect::RecordContext(entry));
    }
    for (task, standing) in applied.standing_changes {
        let why = evidence(detection);
        note(&task, standing, &why, book, turn);
    }
    if let Some(text) = applied.briefing {
        book.briefing.remedy(text);
    }
    Some(remedy)
}

/// Sets where a task stands, keeps it, and tells.
pub(super) fn leave(
    task: &TaskId,
    standing: Standing,
    why: &str,
    book: &mut Book,
    turn: &mut Turn,
) {
    book.task_ring.set_standing(task.clone(), standing);
    note(task, standing, why, book, turn);
}

fn note(task: &TaskId, standing: Standing, why: &str, book: &mut Book, turn: &mut Turn) {
    let why = crate::text::head(why, 400);
    book.left.retain(|left| left.task != *task);
    if standing != Standing::Open {
        book.left.push(LeftTask { task: task.clone(), standing, why: why.clone() });
    }
    turn.order(Effect::MarkTask { task: task.clone(), standing });
    turn.announce(Notice::TaskLeft { task: task.clone(), standing, why });
}

fn announce(detection: &Detection, remedy: Remedy, turn: &mut Turn) {
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
    turn.tripped(Trip::new(guard, detection.attempts, allowed, evidence(detection)), rung);
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
