//! What agents and people read about a loop. Each text names the task, the evidence and one way out,
//! and none is longer than [`CHARS_MAX`].

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Detection, Pattern};
use crate::id::TaskId;
use crate::text;

/// Characters of a text.
pub(super) const CHARS_MAX: usize = 2_000;
/// Characters of a name or blocker in it.
const ITEM_CHARS: usize = 120;
/// Blockers listed.
const LISTED: usize = 5;

/// To the agent: the approach does not work, take another.
pub(super) fn advice(found: &Detection) -> String {
    let task = name(&found.task);
    bounded(&format!(
        "Task {task} was attempted {} and the last {} brought nothing new{}. Do not try the same \
         again: take the smallest part of it that can be finished and checked alone, do that part, \
         and commit it. If something stands in the way that you cannot move, end with \
         `BLOCKED:` and what it is.",
        times(found),
        found.evidence.len(),
        ways(found),
    ))
}

/// To the agent: what it may do about what is in its way, and what not.
pub(super) fn unblock_authority(found: &Detection) -> String {
    let task = name(&found.task);
    bounded(&format!(
        "Task {task} met the same obstacle in {} attempts:\n{}\n\
         For this task and these blockers, and nothing else, you may now decide yourself to:\n\
         1. take a blocker away or go around it;\n\
         2. change the design as far as that needs;\n\
         3. leave out a dependency that cannot be had now;\n\
         4. put a stub in its place, named as one;\n\
         5. write down what stays owed in the story's notes, so that it can be paid later.\n\
         What stays as it is: gates, tests and flyball's configuration are no blockers and may not be \
         removed, weakened or skipped. Begin with the first blocker, finish the task in its simplest \
         form that passes the gates, and commit.",
        found.evidence.len(),
        list(found),
    ))
}

/// For the record: why a task was left.
pub(super) fn recovery(found: &Detection) -> String {
    let task = name(&found.task);
    let why = match found.pattern {
        Pattern::CompletedTaskRevisit => "it is done and was taken up again",
        Pattern::BlockedTaskSpin => "the same blockers came back",
        Pattern::NoProgressRepeat => "its attempts brought nothing new",
        Pattern::TaskCycle => "it was one of several gone round without progress",
    };
    bounded(&format!(
        "Task {task} was left after {} in the window: {why}{}.",
        attempts(found),
        ways(found)
    ))
}

/// To the agent: leave the task, take the next.
pub(super) fn directive(found: &Detection) -> String {
    let task = name(&found.task);
    let state = match found.pattern {
        Pattern::CompletedTaskRevisit => "is done",
        Pattern::BlockedTaskSpin | Pattern::NoProgressRepeat | Pattern::TaskCycle => {
            "is left for now"
        }
    };
    bounded(&format!(
        "Task {task} {state} after {}. Do not go back to it, not even to check it: take the next \
         task of the list and work on that alone.",
        attempts(found),
    ))
}

/// To a human: what the run cannot get past.
pub(super) fn escalation(found: &Detection) -> String {
    let way_on = "Clear the way, then run `flyball unblock` and `flyball run`.";
    if found.pattern == Pattern::TaskCycle {
        return bounded(&format!(
            "The run went round between {} for {} attempts without progress in any of them{}. A \
             human has to break the circle: decide which comes first, or what each is missing. {way_on}",
            names(&found.tasks_in_cycle),
            found.evidence.len(),
            ways(found),
        ));
    }
    bounded(&format!(
        "Task {} does not get past its blockers; {} in the window, the last {} with the same \
         ones:\n{}\nA human has to remove them. {way_on}",
        name(&found.task),
        attempts(found),
        found.evidence.len(),
        list(found),
    ))
}

/// To the agent: a human has the task now.
pub(super) fn hands_off(found: &Detection) -> String {
    let alone = [found.task.clone()];
    let tasks = if found.tasks_in_cycle.is_empty() { &alone[..] } else { &found.tasks_in_cycle };
    let (noun, verb) = if tasks.len() == 1 { ("Task", "waits") } else { ("Tasks", "wait") };
    bounded(&format!(
        "{noun} {} {verb} for a human. Leave the work on it as it is and take the task you are given.",
        names(tasks),
    ))
}

fn attempts(found: &Detection) -> String {
    text::count(found.attempts.into(), "attempt")
}

fn times(found: &Detection) -> String {
    text::count(found.attempts.into(), "time")
}

/// The blockers as half a sentence; nothing when there are none.
fn ways(found: &Detection) -> String {
    if found.blockers.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = found.blockers.iter().take(LISTED).map(|one| item(one)).collect();
    let more = found.blockers.len().saturating_sub(LISTED);
    let end = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(" (in the way: {}{end})", shown.join("; "))
}

/// The blockers, one to a line.
fn list(found: &Detection) -> String {
    let mut lines: Vec<String> =
        found.blockers.iter().take(LISTED).map(|one| format!("- {}", item(one))).collect();
    let more = found.blockers.len().saturating_sub(LISTED);
    if more > 0 {
        lines.push(format!("- and {more} more"));
    }
    lines.join("\n")
}

fn names(tasks: &[TaskId]) -> String {
    let names: Vec<String> = tasks.iter().map(name).collect();
    names.join(", ")
}

fn name(task: &TaskId) -> String {
    format!("`{}`", item(task.as_str()))
}

fn item(words: &str) -> String {
    text::prefix(text::first_line(words), ITEM_CHARS).to_owned()
}

fn bounded(words: &str) -> String {
    text::prefix(words, CHARS_MAX).to_owned()
}
