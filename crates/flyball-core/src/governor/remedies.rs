//! The task ring's remedies performed: what stands where, what is written, what is told (C3).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::StepOutput;
use super::state::RunState;
use crate::effect::{Effect, LeftTask, Notice};
use crate::guard::Rung;
use crate::guard::Trip;
use crate::id::TaskId;
use crate::task::{Detection, Pattern, Remedy, Standing, TaskStage};
use crate::{resource, text};

/// The most set-aside tasks one briefing names.
const SET_ASIDE_SHOWN: usize = 8;

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
    let shortage = resource::advice(&state.last.exhausted);
    for mut entry in applied.entries {
        if let Some(shortage) = &shortage {
            entry.content = format!("{}\n{shortage}", entry.content);
        }
        out.order(Effect::RecordContext(entry));
    }
    for (task, standing) in &applied.standing_changes {
        note(task, *standing, &evidence_for(task, detection), state, out);
    }
    // What is done stays done and is left by nobody, but a human is told all the same.
    if applied.notify && applied.standing_changes.is_empty() {
        let (task, why) = (detection.task.clone(), evidence(detection));
        out.announce(Notice::TaskRevisited { task, why });
    }
    Some(remedy)
}

/// What the remedies that hold say to an iteration at this task, and which tasks were set aside for
/// being stuck (C3).
pub(super) fn directives(task: Option<&TaskId>, state: &RunState) -> Vec<String> {
    let stage = |task: &TaskId| {
        if !state.is_listed(task) && !state.task_ring.was_tried_in(&state.run, task) {
            return None;
        }
        Some(if state.is_done(task) { TaskStage::Done } else { TaskStage::Open })
    };
    let mut texts = state.task_ring.directives(&state.policy.tasks, task, stage);
    let by_remedy = |task: &TaskId| {
        state.task_ring.last_remedy(task).is_some_and(|one| one.remedy == Remedy::ForceNext)
    };
    let aside = state.aside.left.iter().filter(|left| {
        left.standing == Standing::SetAside
            && state.task_ring.standing(&left.task) == Standing::SetAside
            && !by_remedy(&left.task)
            && !state.is_done(&left.task)
    });
    texts.extend(aside.take(SET_ASIDE_SHOWN).map(|left| {
        format!(
            "Task {} was set aside: {}. Do not go back to it; work on the task named in this \
             prompt.",
            left.task, left.why
        )
    }));
    texts.extend(task.and_then(|task| state.task_ring.known_ways_out(task)));
    texts.extend(resource::advice(&state.last.exhausted));
    texts
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
    let why = text::head(why, 400);
    state.aside.left.retain(|left| left.task != *task);
    if standing != Standing::Open {
        state.aside.left.push(LeftTask { task: task.clone(), standing, why: why.clone() });
    }
    out.order(Effect::MarkTask { task: task.clone(), standing });
    out.announce(Notice::TaskLeft { task: task.clone(), standing, why });
}

fn announce(detection: &Detection, remedy: Remedy, out: &mut StepOutput) {
    let guard = detection.pattern.guard();
    let rung = match remedy {
        Remedy::Advise => Rung::Nudge,
        Remedy::ForceNext | Remedy::UnblockAuthority => Rung::Redirect,
        Remedy::Escalate => Rung::Ask,
    };
    let allowed = detection.evidence.len() as u64;
    out.tripped(Trip::new(guard, detection.attempts, allowed, evidence(detection)), rung);
}

/// What was seen, of the task it was seen at or of all tasks of a round.
fn evidence(detection: &Detection) -> String {
    evidence_for(&detection.task, detection)
}

/// What was seen, as it concerns this task: in a round each is named as itself.
fn evidence_for(task: &TaskId, detection: &Detection) -> String {
    let attempts = text::count(detection.attempts.into(), "attempt");
    let mut words = match detection.pattern {
        Pattern::CompletedTaskRevisit => {
            format!("task {task} is done and was attempted again ({attempts})")
        }
        Pattern::BlockedTaskSpin => format!("task {task} met the same blockers again ({attempts})"),
        Pattern::NoProgressRepeat => {
            format!("task {task} was attempted again without anything new ({attempts})")
        }
        Pattern::TaskCycle => {
            let round: Vec<&str> = detection.tasks_in_cycle.iter().map(TaskId::as_str).collect();
            let at_it = detection.evidence.iter().filter(|one| one.task == *task).count();
            format!(
                "task {task} is part of the round {}, none of which moves ({})",
                round.join(" → "),
                text::count(at_it as u64, "attempt")
            )
        }
    };
    if !detection.blockers.is_empty() {
        words.push_str(": ");
        let blockers: Vec<&str> = detection.blockers.iter().map(String::as_str).collect();
        words.push_str(&text::head(&blockers.join("; "), 200));
    }
    words
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::vec;

    use super::*;
    use crate::task::{Attempt, AttemptStatus};
    use crate::{IterationNo, Moment, RunId};

    fn at(task: &str) -> Attempt {
        Attempt {
            run: RunId::new("r"),
            task: TaskId::new(task),
            at: Moment::from_millis(1),
            iteration: IterationNo::new(1),
            session: String::new(),
            status: AttemptStatus::Done,
            blockers: BTreeSet::new(),
            work: BTreeSet::new(),
        }
    }

    #[test]
    fn what_was_seen_is_told_of_the_task_it_concerns() {
        let mut seen = Detection {
            pattern: Pattern::NoProgressRepeat,
            task: TaskId::new("a"),
            remedy: None,
            attempts: 3,
            evidence: vec![at("a"), at("b"), at("a")],
            blockers: BTreeSet::new(),
            tasks_in_cycle: vec![TaskId::new("a"), TaskId::new("b")],
        };
        let again = "task a was attempted again without anything new (3 attempts)";
        assert_eq!(evidence(&seen), again);
        seen.blockers.insert("no network".into());
        assert_eq!(evidence(&seen), format!("{again}: no network"));
        seen.blockers.clear();
        seen.pattern = Pattern::TaskCycle;
        for (task, count) in [("a", "2 attempts"), ("b", "1 attempt")] {
            assert_eq!(
                evidence_for(&TaskId::new(task), &seen),
                format!("task {task} is part of the round a → b, none of which moves ({count})")
            );
        }
    }
}
