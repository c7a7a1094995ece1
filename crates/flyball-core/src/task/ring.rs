//! What the task ring remembers, within bounds: attempts, remedies, standings.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::{
    AppliedRemedy, Attempt, AttemptStatus, KnownBlocker, Pattern, Remedy, Standing, TaskMemory,
    catalogue,
};
use crate::id::{RunId, TaskId};
use crate::moment::Moment;
use crate::policy::TaskRules;
use crate::text;

/// Attempts kept for one task; no limit of the rules needs more.
const PER_TASK_MAX: usize = 64;
/// Attempts kept in all.
const ATTEMPTS_MAX: usize = 1_024;
/// Tasks counted, and remedies kept.
const TASKS_MAX: usize = 4_096;
/// Blockers or pieces of work kept of one attempt.
const ITEMS_MAX: usize = 128;
/// Characters kept of one of them.
const ITEM_CHARS: usize = 400;

/// Attempts at tasks, what was done about loops, and where tasks stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRing {
    /// Oldest first.
    pub(super) attempts: Vec<Attempt>,
    /// Attempts ever, per task.
    totals: BTreeMap<TaskId, u64>,
    /// Oldest first; of each kind per task the latest.
    remedies: Vec<AppliedRemedy>,
    /// Tasks that do not simply stand open.
    standings: BTreeMap<TaskId, Standing>,
    /// Blockers met before, and how they went away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    known: Vec<KnownBlocker>,
}

/// Where one task stands in the ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStatus {
    /// Which task.
    pub task: TaskId,
    /// Attempts at it, ever.
    pub attempts: u64,
    /// The last one that is remembered.
    pub last_attempt: Option<Moment>,
    /// Where it stands.
    pub standing: Standing,
    /// The pattern its attempts make now.
    pub pattern: Option<Pattern>,
    /// What is due for that pattern or, when nothing is, what was done last about the task.
    pub remedy: Option<Remedy>,
}

impl TaskRing {
    /// A ring that goes on from what is remembered.
    pub fn new(memory: TaskMemory) -> Self {
        let TaskMemory { attempts, remedies, standings, known } = memory;
        let mut ring = Self { known, ..Self::default() };
        // A memory that was cut holds fewer attempts than there were; remedies know how many.
        let mut pending = remedies.into_iter().peekable();
        for attempt in attempts {
            while let Some(remedy) = pending.next_if(|remedy| remedy.at < attempt.at) {
                ring.remember(remedy);
            }
            ring.record(attempt);
        }
        pending.for_each(|remedy| ring.remember(remedy));
        for (task, standing) in standings {
            ring.set_standing(task, standing);
        }
        ring
    }

    /// What is to be remembered across runs.
    pub fn memory(&self) -> TaskMemory {
        TaskMemory {
            attempts: self.attempts.clone(),
            remedies: self.remedies.clone(),
            standings: self.standings.iter().map(|(task, one)| (task.clone(), *one)).collect(),
            known: self.known.clone(),
        }
    }

    /// What a task whose last attempt was blocked is told of ways out that were found before.
    pub fn known_ways_out(&self, task: &TaskId) -> Option<String> {
        let last = self.attempts.iter().rev().find(|one| one.task == *task)?;
        let is_blocked = last.status == AttemptStatus::Blocked;
        catalogue::directive(&last.blockers, &self.known).filter(|_| is_blocked)
    }

    /// Takes in an attempt. Forgets the oldest beyond the bounds, but goes on counting.
    pub fn record(&mut self, mut attempt: Attempt) {
        attempt.blockers = bounded(attempt.blockers);
        attempt.work = bounded(attempt.work);
        let task = attempt.task.clone();
        let total = self.totals.entry(task.clone()).or_default();
        *total = total.saturating_add(1);
        self.attempts.push(attempt);
        let of_task = |one: &Attempt| one.task == task;
        if self.attempts.iter().filter(|one| of_task(one)).count() > PER_TASK_MAX
            && let Some(oldest) = self.attempts.iter().position(of_task)
        {
            self.attempts.remove(oldest);
        }
        if self.attempts.len() > ATTEMPTS_MAX {
            self.attempts.remove(0);
        }
        if self.totals.len() > TASKS_MAX {
            self.forget_idle();
        }
    }

    /// Tasks blocked by their own claim, the one tried longest ago first.
    pub fn blocked_by_age(&self) -> Vec<TaskId> {
        let last = |task: &TaskId| self.attempts.iter().rposition(|one| one.task == *task);
        let mut blocked: Vec<TaskId> = self
            .standings
            .iter()
            .filter(|(_, standing)| **standing == Standing::Blocked)
            .map(|(task, _)| task.clone())
            .collect();
        blocked.sort_by_key(last);
        blocked
    }

    /// Where a task stands.
    pub fn standing(&self, task: &TaskId) -> Standing {
        self.standings.get(task).copied().unwrap_or_default()
    }

    /// Says where a task stands.
    pub fn set_standing(&mut self, task: TaskId, standing: Standing) {
        if standing == Standing::Open {
            self.standings.remove(&task);
        } else {
            self.standings.insert(task, standing);
        }
    }

    /// A human has cleared the way: tasks blocked, asked about, set aside or escalated stand open
    /// again. Answers which. What was tried and done about them stays remembered. One that was left
    /// as done was left for good: it is brought back by its name alone.
    pub fn bring_back(&mut self) -> Vec<TaskId> {
        let mut back = Vec::new();
        self.standings.retain(|task, standing| match standing {
            Standing::Open | Standing::ForcedDone | Standing::Tripped => true,
            Standing::Blocked | Standing::Asked | Standing::SetAside | Standing::Escalated => {
                back.push(task.clone());
                false
            }
        });
        back
    }

    /// Every task the ring knows, for people.
    pub fn status(&self, rules: &TaskRules, now: Moment, run: &RunId) -> Vec<TaskStatus> {
        let tasks: BTreeSet<&TaskId> = self.totals.keys().chain(self.standings.keys()).collect();
        let describe = |task: &TaskId| {
            let found = self.detect(rules, run, now, task);
            let last = self.attempts.iter().rev().find(|one| one.task == *task);
            let applied = self.last_remedy(task);
            TaskStatus {
                task: task.clone(),
                attempts: self.total(task),
                last_attempt: last.map(|one| one.at),
                standing: self.standing(task),
                pattern: found.as_ref().map(|found| found.pattern),
                remedy: found.and_then(|it| it.remedy).or(applied.map(|one| one.remedy)),
            }
        };
        tasks.into_iter().map(describe).collect()
    }

    /// What was done last about a task.
    pub fn last_remedy(&self, task: &TaskId) -> Option<&AppliedRemedy> {
        self.remedies.iter().rev().find(|one| one.task == *task)
    }

    /// What was done about loops, the latest first.
    pub(super) fn remedies(&self) -> impl Iterator<Item = &AppliedRemedy> {
        self.remedies.iter().rev()
    }

    /// Whether a task was attempted in this run.
    pub fn was_tried_in(&self, run: &RunId, task: &TaskId) -> bool {
        self.attempts.iter().any(|one| one.task == *task && one.run == *run)
    }

    /// Attempts at a task, ever.
    pub(super) fn total(&self, task: &TaskId) -> u64 {
        self.totals.get(task).copied().unwrap_or_default()
    }

    /// What was done about a pattern of a task, latest first.
    pub(super) fn remedies_for(
        &self,
        task: &TaskId,
        pattern: Pattern,
    ) -> impl Iterator<Item = &AppliedRemedy> {
        self.remedies.iter().rev().filter(move |one| one.task == *task && one.pattern == pattern)
    }

    /// Keeps a remedy in mind, in place of an older one of the same kind.
    pub(super) fn remember(&mut self, remedy: AppliedRemedy) {
        let known = self.totals.entry(remedy.task.clone()).or_default();
        *known = (*known).max(remedy.attempts);
        let key = |one: &AppliedRemedy| (one.pattern, one.remedy);
        // Of each kind the latest is kept.
        self.remedies.retain(|one| {
            one.task != remedy.task || key(one) != key(&remedy) || one.blockers != remedy.blockers
        });
        self.remedies.push(remedy);
        if self.remedies.len() > TASKS_MAX {
            self.remedies.remove(0);
        }
    }

    /// Stops counting tasks of which nothing else is remembered.
    fn forget_idle(&mut self) {
        let busy: BTreeSet<&TaskId> = self.attempts.iter().map(|one| &one.task).collect();
        self.totals.retain(|task, _| busy.contains(task));
    }
}

/// The first items, each cut to size, and one that stands for all the others: a set that differs
/// only in what was cut off still differs. Bounding what is bounded changes nothing.
pub(super) fn bounded(items: BTreeSet<String>) -> BTreeSet<String> {
    let room = if items.len() > ITEMS_MAX { ITEMS_MAX - 1 } else { ITEMS_MAX };
    let left_out = items.len().saturating_sub(room);
    let mut rest = Xxh3::new();
    for item in items.iter().skip(room) {
        rest.update(item.as_bytes());
        rest.update(&[0]);
    }
    let mut kept: BTreeSet<String> = items.into_iter().take(room).map(shortened).collect();
    if left_out > 0 {
        kept.insert(format!("… and {left_out} more ({:016x})", rest.digest()));
    }
    kept
}

/// The item itself, or its beginning and a fingerprint of all of it.
fn shortened(item: String) -> String {
    const FINGERPRINT_CHARS: usize = 20;
    if item.len() <= ITEM_CHARS || item.chars().count() <= ITEM_CHARS {
        return item;
    }
    let mut hash = Xxh3::new();
    hash.update(item.as_bytes());
    let head = text::prefix(&item, ITEM_CHARS - FINGERPRINT_CHARS);
    format!("{head}… ({:016x})", hash.digest())
}
