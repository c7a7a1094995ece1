//! What agents and people read about a loop. Each text names the task, the evidence and one way out,
//! and none is longer than [`CHARS_MAX`].

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{AppliedRemedy, Detection, Pattern};
use crate::id::TaskId;
use crate::policy::TaskRules;
use crate::text;

/// Characters of a text.
pub(super) const CHARS_MAX: usize = 2_000;
/// Characters of a name or blocker in it.
const ITEM_CHARS: usize = 120;
/// Blockers listed.
const LISTED: usize = 5;

/// What a text is about.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pattern: Pattern,
    task: &'a TaskId,
    /// Attempts at it.
    attempts: u64,
    /// How many of them make the pattern.
    last: u64,
    blockers: &'a BTreeSet<String>,
    /// The tasks of a round; empty for the other patterns.
    round: &'a [TaskId],
}

impl<'a> About<'a> {
    /// A loop that was seen.
    pub(super) fn found(found: &'a Detection) -> Self {
        Self {
            pattern: found.pattern,
            task: &found.task,
            attempts: found.attempts.into(),
            last: found.evidence.len() as u64,
            blockers: &found.blockers,
            round: &found.tasks_in_cycle,
        }
    }

    /// A remedy that was applied and still holds.
    pub(super) fn applied(remedy: &'a AppliedRemedy, rules: &TaskRules) -> Self {
        Self {
            pattern: remedy.pattern,
            task: &remedy.task,
            attempts: remedy.attempts,
            last: rules.max_attempts.into(),
            blockers: &remedy.blockers,
            round: &[],
        }
    }
}

/// To the agent: the approach does not work, take another.
pub(super) fn advice(about: &About<'_>) -> String {
    let task = name(about.task);
    bounded(&format!(
        "Task {task} was attempted {} and the last {} brought nothing new{}. Do not try the same \
         again: take the smallest part of it that can be finished and checked alone, do that part, \
         and commit it. If something stands in the way that you cannot move, end with \
         `BLOCKED:` and what it is.",
        times(about),
        about.last,
        ways(about),
    ))
}

/// To the agent: what it may do about what is in its way, and what not.
pub(super) fn unblock_authority(about: &About<'_>) -> String {
    let task = name(about.task);
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
        about.last,
        list(about),
    ))
}

/// For the record: why a task was left.
pub(super) fn recovery(about: &About<'_>) -> String {
    let task = name(about.task);
    let why = match about.pattern {
        Pattern::CompletedTaskRevisit => "it is done and was taken up again",
        Pattern::BlockedTaskSpin => "the same blockers came back",
        Pattern::NoProgressRepeat => "its attempts brought nothing new",
        Pattern::TaskCycle => "it was one of several gone round without progress",
    };
    bounded(&format!(
        "Task {task} was left after {} in the window: {why}{}.",
        attempts(about),
        ways(about)
    ))
}

/// To the agent: leave the task, take the next.
pub(super) fn directive(about: &About<'_>) -> String {
    let task = name(about.task);
    let state = match about.pattern {
        Pattern::CompletedTaskRevisit => "is done",
        Pattern::BlockedTaskSpin | Pattern::NoProgressRepeat | Pattern::TaskCycle => {
            "is left for now"
        }
    };
    bounded(&format!(
        "Task {task} {state} after {}. Do not go back to it, not even to check it: take the next \
         task of the list and work on that alone.",
        attempts(about),
    ))
}

/// To a human: what the run cannot get past.
pub(super) fn escalation(about: &About<'_>) -> String {
    let way_on = "Clear the way, then run `flyball unblock` and `flyball run`.";
    if about.pattern == Pattern::TaskCycle {
        return bounded(&format!(
            "The run went round between {} for {} attempts without progress in any of them{}. A \
             human has to break the circle: decide which comes first, or what each is missing. {way_on}",
            names(about.round),
            about.last,
            ways(about),
        ));
    }
    if about.pattern == Pattern::CompletedTaskRevisit {
        return bounded(&format!(
            "Task {} is done, and the agent went on working at it after two directives to leave it \
             ({} in the window). It stays done and holds nothing up. Look at the last commits that \
             name it: either the story asks for more than its text says, or the prompt sends the \
             agent back to it.",
            name(about.task),
            attempts(about),
        ));
    }
    bounded(&format!(
        "Task {} does not get past its blockers; {} in the window, the last {} with the same \
         ones:\n{}\nA human has to remove them. {way_on}",
        name(about.task),
        attempts(about),
        about.last,
        list(about),
    ))
}

/// To the agent: a human has the task now.
pub(super) fn hands_off(about: &About<'_>) -> String {
    if about.pattern == Pattern::CompletedTaskRevisit {
        return bounded(&format!(
            "Task {} is done and was worked on again although it was said twice to leave it. A \
             human has been told. Leave it as it is and take the task you are given.",
            name(about.task),
        ));
    }
    let alone = [about.task.clone()];
    let tasks = if about.round.is_empty() { &alone[..] } else { about.round };
    let (noun, verb) = if tasks.len() == 1 { ("Task", "waits") } else { ("Tasks", "wait") };
    bounded(&format!(
        "{noun} {} {verb} for a human. Leave the work on it as it is and take the task you are given.",
        names(tasks),
    ))
}

fn attempts(about: &About<'_>) -> String {
    text::count(about.attempts, "attempt")
}

fn times(about: &About<'_>) -> String {
    text::count(about.attempts, "time")
}

/// The blockers as half a sentence; nothing when there are none.
fn ways(about: &About<'_>) -> String {
    if about.blockers.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = about.blockers.iter().take(LISTED).map(|one| item(one)).collect();
    let more = about.blockers.len().saturating_sub(LISTED);
    let end = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(" (in the way: {}{end})", shown.join("; "))
}

/// The blockers, one to a line.
fn list(about: &About<'_>) -> String {
    let mut lines: Vec<String> =
        about.blockers.iter().take(LISTED).map(|one| format!("- {}", item(one))).collect();
    let more = about.blockers.len().saturating_sub(LISTED);
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
