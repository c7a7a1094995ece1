//! What an agent says through a tool, in mid-iteration, of its attempts at tasks. It is no attempt:
//! at the end of the iteration it goes into the one the iteration is recorded as (C1).

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::ring::bounded;
use super::{Attempt, AttemptStatus};
use crate::id::TaskId;
use crate::text;

/// Tasks of which one session may report; those beyond are not taken in.
const TASKS_MAX: usize = 32;
/// Characters of a task's id.
const ID_CHARS: usize = 400;

/// How an attempt stands, in the agent's own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptReport {
    /// Which task.
    pub task: TaskId,
    /// Where the task stands.
    pub status: AttemptStatus,
    /// What is in the way.
    #[serde(default)]
    pub blockers: BTreeSet<String>,
    /// What was done.
    #[serde(default)]
    pub work: BTreeSet<String>,
    /// Whether a safety guard ended the work on it: only a human brings such a task back.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub tripped: bool,
}

impl AttemptReport {
    /// The report within the bounds of an attempt.
    #[must_use]
    pub fn bounded(self) -> Self {
        let task = if self.task.as_str().len() > ID_CHARS {
            TaskId::new(text::prefix(self.task.as_str(), ID_CHARS))
        } else {
            self.task
        };
        Self { task, blockers: bounded(self.blockers), work: bounded(self.work), ..self }
    }

    /// What is said later of the same task. Work adds up. Blockers add up while the task is
    /// blocked; a later word that it is not takes back those that were in the way.
    fn follow(&mut self, later: Self) {
        if later.status == AttemptStatus::Blocked {
            self.blockers.extend(later.blockers);
        } else {
            self.blockers = later.blockers;
        }
        self.work.extend(later.work);
        self.status = later.status;
        self.tripped |= later.tripped;
        self.blockers = bounded(core::mem::take(&mut self.blockers));
        self.work = bounded(core::mem::take(&mut self.work));
    }
}

/// What one session said of its attempts: one report for each task, within bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttemptReports(Vec<AttemptReport>);

impl AttemptReports {
    /// Takes in what is said.
    pub fn add(&mut self, report: AttemptReport) {
        let report = report.bounded();
        if let Some(known) = self.0.iter_mut().find(|one| one.task == report.task) {
            known.follow(report);
        } else if self.0.len() < TASKS_MAX {
            self.0.push(report);
        }
    }

    /// Takes in what was said after all this.
    pub fn extend(&mut self, later: &Self) {
        later.0.iter().for_each(|report| self.add(report.clone()));
    }

    /// Puts what was said by an earlier session of the same iteration before all this.
    pub fn begin_with(&mut self, mut earlier: Self) {
        earlier.extend(self);
        *self = earlier;
    }

    /// What was said of a task.
    pub fn of(&self, task: &TaskId) -> Option<&AttemptReport> {
        self.0.iter().find(|report| report.task == *task)
    }

    /// What was said of each task, in the order they were first named.
    pub fn iter(&self) -> impl Iterator<Item = &AttemptReport> {
        self.0.iter()
    }
}

impl Attempt {
    /// Adds what the agent said of it. What flyball saw outranks the agent's word: a task that is
    /// done is not blocked, and one that is not done does not become so.
    pub fn add(&mut self, report: &AttemptReport) {
        self.work.extend(report.work.iter().cloned());
        if self.status == AttemptStatus::Done {
            return;
        }
        self.blockers.extend(report.blockers.iter().cloned());
        if report.status == AttemptStatus::Blocked {
            self.status = AttemptStatus::Blocked;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;

    fn set(items: &[&str]) -> BTreeSet<String> {
        items.iter().map(|item| String::from(*item)).collect()
    }

    fn report(status: AttemptStatus, blockers: &[&str], work: &[&str]) -> AttemptReport {
        let (blockers, work) = (set(blockers), set(work));
        AttemptReport { task: TaskId::new("t"), status, blockers, work, tripped: false }
    }

    #[test]
    fn reports_on_one_task_add_up_to_one() {
        use AttemptStatus::{Blocked, InProgress};
        let cases = [
            (report(Blocked, &["b"], &["w"]), Blocked, set(&["a", "b"]), set(&["v", "w"])),
            (report(Blocked, &[], &[]), Blocked, set(&["a"]), set(&["v"])),
            (report(InProgress, &[], &["w"]), InProgress, set(&[]), set(&["v", "w"])),
            (report(InProgress, &["b"], &[]), InProgress, set(&["b"]), set(&["v"])),
        ];
        for (later, status, blockers, work) in cases {
            let mut reports = AttemptReports::default();
            reports.add(report(Blocked, &["a"], &["v"]));
            reports.add(later);
            let task = TaskId::new("t");
            let tripped = false;
            let expected = AttemptReport { task: task.clone(), status, blockers, work, tripped };
            assert_eq!(reports.of(&task), Some(&expected));
            assert_eq!(reports.iter().count(), 1);
        }
    }

    #[test]
    fn nothing_said_later_takes_back_that_a_guard_tripped() {
        let mut reports = AttemptReports::default();
        reports.add(AttemptReport { tripped: true, ..report(AttemptStatus::Blocked, &["a"], &[]) });
        reports.add(report(AttemptStatus::InProgress, &[], &["w"]));
        assert!(reports.iter().all(|one| one.tripped));
    }

    #[test]
    fn reports_are_bounded_whatever_is_said() {
        let mut reports = AttemptReports::default();
        for number in 0..200 {
            let long = "x".repeat(5_000);
            let mut one = report(AttemptStatus::Blocked, &[&format!("{number} {long}")], &[]);
            reports.add(one.clone());
            one.task = TaskId::new(format!("{number}{long}"));
            one.work = (0..500).map(|item| format!("{item}")).collect();
            reports.add(one);
        }
        assert_eq!(reports.iter().count(), TASKS_MAX);
        for one in reports.iter() {
            assert!(one.task.as_str().chars().count() <= ID_CHARS);
            assert!(one.blockers.len() <= 128 && one.work.len() <= 128);
            assert!(one.blockers.iter().all(|item| item.chars().count() <= 400));
        }
    }
}
