//! The tasks of a worktree: what its list says, and what the task ring remembers of them.

use std::collections::BTreeMap;
use std::path::Path;

use flyball_core::event::TasksSnapshot;
use flyball_core::policy::TaskRules;
use flyball_core::task::{
    AppliedRemedy, Attempt, AttemptStatus, KnownBlocker, Pattern, Remedy, Standing, TaskRing,
    TaskStatus, is_alike,
};
use flyball_core::tasklist::{ReviewStatus, Story, TaskList};
use flyball_core::{Millis, Moment, RunId, TaskId};
use serde::Serialize;

use crate::clock;
use crate::error::CliError;
use crate::journal::Journal;
use crate::loopdir::LoopDir;

/// A worktree with its task list and its rules for tasks.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Its root, as runs are filed under.
    pub root: &'a Path,
    /// Its loop folder.
    pub human_files: &'a LoopDir,
    /// Its rules.
    pub rules: &'a TaskRules,
}

/// A task, from the task list or the task ring or both.
#[derive(Clone, Debug, Serialize)]
pub struct Task {
    /// Which.
    pub id: TaskId,
    /// Nothing for a task that is not in the list any more.
    pub title: Option<String>,
    /// Whether its list says that it passes.
    pub passes: Option<bool>,
    /// How its review stands.
    pub review: Option<ReviewStatus>,
    /// Where the ring has put it.
    pub standing: Standing,
    /// How often it was tried.
    pub attempts: u64,
    /// When it was tried last.
    pub last_attempt: Option<Moment>,
    /// What its attempts look like.
    pub pattern: Option<Pattern>,
    /// What is done about it.
    pub remedy: Option<Remedy>,
    /// What was ever done because it went in circles, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<AppliedRemedy>,
    /// What blocks it, where that was met before and went away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownBlocker>,
}

/// The stories in file order, then tasks only the ring knows.
pub fn tasks_of(place: &Site<'_>, journal: &Journal) -> Result<Vec<Task>, CliError> {
    let now = clock::wall();
    let latest = journal.latest_run(place.root)?;
    let rules = place.rules;
    // As far back as the latest run looks: what it decided rests on that.
    let age = latest.as_ref().map_or(Millis::ZERO, |run| now.since(run.started));
    let window = age.plus(rules.attempt_window);
    let memory = journal.task_memory(place.root, now, window)?;
    let run = latest.map_or_else(RunId::default, |run| run.run);
    let mut known = TaskRing::new(memory).status(rules, now, &run);
    count_all(&mut known, journal.attempts(place.root)?);
    let list = read_list(place)?;
    let mut tasks = Vec::new();
    for story in list.as_ref().map_or(&[][..], TaskList::stories) {
        let status = known.iter().position(|one| one.task == story.id);
        let status = status.map(|at| known.remove(at));
        tasks.push(merge(story.id.clone(), Some(story), status));
    }
    tasks.extend(known.into_iter().map(|status| merge(status.task.clone(), None, Some(status))));
    remember(&mut tasks, journal, place.root)?;
    Ok(tasks)
}

/// Adds what is remembered of the tasks across runs and projects.
fn remember(tasks: &mut [Task], journal: &Journal, root: &Path) -> Result<(), CliError> {
    let (remedies, attempts) = (journal.remedies(root)?, journal.attempts(root)?);
    let known = journal.known_blockers()?;
    for task in tasks {
        task.loops = remedies.iter().filter(|one| one.task == task.id).cloned().collect();
        let last = attempts.iter().rev().find(|one| one.task == task.id);
        let Some(last) = last.filter(|one| one.status == AttemptStatus::Blocked) else { continue };
        let blocks = |one: &&KnownBlocker| {
            let is_met = last.blockers.iter().any(|blocker| is_alike(blocker, &one.blocker));
            is_met && !one.resolved.is_empty()
        };
        task.known = known.iter().filter(blocks).cloned().collect();
    }
    Ok(())
}

/// Counts attempts however old they are.
fn count_all(known: &mut Vec<TaskStatus>, attempts: Vec<Attempt>) {
    let mut counts: BTreeMap<TaskId, (u64, Moment)> = BTreeMap::new();
    for attempt in attempts {
        let (count, last) = counts.entry(attempt.task).or_insert((0, attempt.at));
        *count = count.saturating_add(1);
        *last = attempt.at;
    }
    for (task, (count, last)) in counts {
        if let Some(status) = known.iter_mut().find(|one| one.task == task) {
            status.attempts = status.attempts.max(count);
            status.last_attempt = status.last_attempt.or(Some(last));
        } else {
            let (standing, pattern, remedy) = (Standing::Open, None, None);
            let last_attempt = Some(last);
            let attempts = count;
            known.push(TaskStatus { task, attempts, last_attempt, standing, pattern, remedy });
        }
    }
}

fn read_list(place: &Site<'_>) -> Result<Option<TaskList>, CliError> {
    let shown = place.human_files.tasks_relative().display().to_string();
    match place.human_files.tasks() {
        TasksSnapshot::Absent => Ok(None),
        TasksSnapshot::Unreadable { error } => {
            Err(CliError::data(format!("`{shown}` could not be read")).cause(error))
        }
        TasksSnapshot::Found { text } => TaskList::parse(&text)
            .map(Some)
            .map_err(|error| CliError::data(format!("`{shown}` is no task list")).cause(error)),
    }
}

fn merge(id: TaskId, story: Option<&Story>, status: Option<TaskStatus>) -> Task {
    Task {
        id,
        title: story.map(|story| story.title.clone()),
        passes: story.map(|story| story.passes),
        review: story.and_then(|story| story.review_status),
        standing: status.as_ref().map_or(Standing::Open, |status| status.standing),
        attempts: status.as_ref().map_or(0, |status| status.attempts),
        last_attempt: status.as_ref().and_then(|status| status.last_attempt),
        pattern: status.as_ref().and_then(|status| status.pattern),
        remedy: status.and_then(|status| status.remedy),
        loops: Vec::new(),
        known: Vec::new(),
    }
}
