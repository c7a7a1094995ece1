//! What the end of an iteration session leaves behind: a checkpoint, where the task stands, an
//! attempt at it, and the task list. Shared by the tools that end one.

use std::collections::BTreeSet;

use flyball_core::event::TasksSnapshot;
use flyball_core::task::{Attempt, AttemptReport, AttemptStatus, Standing};
use flyball_core::tasklist::{
    Mode, ReviewStatus, Transition, check_before_change, check_transition,
};
use flyball_core::{IterationNo, RunId, TaskId};
use serde_json::{Map, Value};

use super::enclosing_run::Recorded;
use super::refused::Refused;
use super::session::McpSession;
use super::site::{self, Site};
use crate::journal::Journal;

impl Site {
    /// Keeps the worktree as it is, where there is one, under the session's name.
    pub(super) fn keep_tree(&self, session: &str, iteration: u32) -> Option<String> {
        let mut worktree = self.worktree()?;
        let (dir, tasks) = (self.loop_dir.relative(), self.loop_dir.tasks_relative());
        let snapshot = worktree.snapshot(&dir, &tasks).ok()?;
        let iteration = IterationNo::new(iteration);
        worktree.checkpoint(&RunId::new(session), iteration, &snapshot.checkpoint_tree).ok()
    }

    /// Records an attempt, or hands it to the run the agent is in.
    pub(super) fn record(
        &self,
        journal: &mut Journal,
        attempt: Attempt,
    ) -> Result<Recorded, Refused> {
        match self.hand_over(journal, said_of(&attempt))? {
            Some(enclosing) => Ok(Recorded::Report(enclosing)),
            None => Ok(Recorded::Attempt(journal.add_attempt(&self.root, attempt)?)),
        }
    }

    /// Writes down that a session's task is blocked, by its own claim or by a guard, and why. Inside
    /// a run the run does, when the iteration ends.
    pub(super) fn block_task(
        &self,
        session: &McpSession,
        (standing, why): (Standing, &str),
    ) -> Result<(), Refused> {
        let mut journal = self.journal()?;
        let blockers = BTreeSet::from([why.to_owned()]);
        let attempt = attempt(session, AttemptStatus::Blocked, blockers);
        let tripped = standing == Standing::Tripped;
        let report = AttemptReport { tripped, ..said_of(&attempt) };
        if let Some(enclosing) = self.hand_over(&journal, report)? {
            return if tripped { self.keep_trip(&enclosing.run, &attempt.task) } else { Ok(()) };
        }
        journal.mark_task(&self.root, &attempt.task, (standing, site::now()))?;
        journal.add_attempt(&self.root, attempt)?;
        Ok(())
    }

    /// Writes down that a session's task was completed. Inside a run its list says so.
    pub(super) fn complete_task(&self, session: &McpSession) -> Result<(), Refused> {
        let mut journal = self.journal()?;
        let attempt = attempt(session, AttemptStatus::Done, BTreeSet::new());
        if self.hand_over(&journal, said_of(&attempt))?.is_some() {
            return Ok(());
        }
        journal.mark_task(&self.root, &attempt.task, (Standing::Open, site::now()))?;
        journal.add_attempt(&self.root, attempt)?;
        Ok(())
    }

    /// Changes one story of the task list, if that is legal; nobody else of this machine's
    /// flyballs writes in between.
    pub(super) fn change_story(
        &self,
        task: &TaskId,
        change: impl FnOnce(&mut Map<String, Value>, Mode) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let mut journal = self.scratch()?;
        let turn = self.key("tasks");
        journal.with_session(&turn, site::now(), |_| (None, self.change_now(task, change)))?
    }

    fn change_now(
        &self,
        task: &TaskId,
        change: impl FnOnce(&mut Map<String, Value>, Mode) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let (before, list) = self.tasks()?;
        let Some(story) = list.story(task) else {
            return Err(Refused::new(format!(
                "there is no task `{task}` in the task list; `task_list` shows those there are"
            )));
        };
        let review = self.config.policy.review.clone();
        let mode = match story.review_status {
            Some(ReviewStatus::NeedsReview) if review.enabled => Mode::Review,
            Some(ReviewStatus::ChangesRequested) if review.enabled => Mode::ReviewFix,
            Some(_) | None => Mode::Implement,
        };
        let at = list.stories().iter().position(|one| one.id == *task).unwrap_or_default();
        let text = before.strip_prefix('\u{feff}').unwrap_or(&before);
        let mut document: Value = serde_json::from_str(text)
            .map_err(|error| Refused::new(format!("the task list is not JSON: {error}")))?;
        let place = format!("/userStories/{at}");
        let Some(fields) = document.pointer_mut(&place).and_then(Value::as_object_mut) else {
            return Err(Refused::new(format!("task `{task}` is no object in the task list")));
        };
        change(fields, mode)?;
        let after = serde_json::to_string_pretty(&document)
            .map_err(|error| Refused::new(format!("the task list cannot be written: {error}")))?;
        let given = Transition { mode, story: Some(task.clone()), review };
        let snapshot = TasksSnapshot::Found { text: after.clone() };
        let illegal = check_before_change(&before, &snapshot, &given);
        if !illegal.is_empty() {
            return Err(Refused::new(format!(
                "that change is not legal while the task is in mode `{}`, and nothing was \
                 written: {}",
                mode.as_str(),
                illegal.join("; ")
            )));
        }
        let check = check_transition(&before, &snapshot, &given);
        let text = check.text.unwrap_or_else(|| format!("{after}\n"));
        self.loop_dir.write_tasks(&text).map_err(|error| Refused::io("write the task list", &error))
    }
}

/// What an attempt says, for a run that records it as part of its own.
fn said_of(attempt: &Attempt) -> AttemptReport {
    let Attempt { task, status, blockers, work, .. } = attempt.clone();
    AttemptReport { task, status, blockers, work, tripped: false }
}

/// The attempt a session ends with.
fn attempt(session: &McpSession, status: AttemptStatus, blockers: BTreeSet<String>) -> Attempt {
    let work = match status {
        AttemptStatus::Done => BTreeSet::from([format!("completed in session {}", session.id)]),
        AttemptStatus::Pending | AttemptStatus::InProgress | AttemptStatus::Blocked => {
            BTreeSet::new()
        }
    };
    Attempt {
        task: TaskId::new(&session.task),
        at: site::now(),
        run: RunId::default(),
        iteration: IterationNo::default(),
        status,
        blockers,
        work,
        session: session.id.clone(),
    }
}
