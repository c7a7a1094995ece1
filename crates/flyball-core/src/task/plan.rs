//! Which task is next (C4): those that stand open by mode and priority, then those blocked by their
//! own claim, the one tried longest ago first.

use alloc::vec::Vec;

use super::{Standing, TaskRing};
use crate::id::TaskId;
use crate::policy::ReviewRules;
use crate::tasklist::{Mode, Story, TaskList};

impl TaskRing {
    /// The next mode and story of a list, as the ring has them stand; none when nothing is left to
    /// be planned.
    pub fn plan_next<'l>(
        &self,
        list: &'l TaskList,
        review: &ReviewRules,
    ) -> Option<(Mode, &'l Story)> {
        let blocked = self.blocked_by_age();
        core::iter::once(None).chain(blocked.iter().map(Some)).find_map(|turn| {
            let standing = |task: &TaskId| match self.standing(task) {
                Standing::Blocked if turn != Some(task) => Standing::Asked,
                other @ (Standing::Open
                | Standing::Blocked
                | Standing::Asked
                | Standing::SetAside
                | Standing::Escalated
                | Standing::Tripped
                | Standing::ForcedDone) => other,
            };
            list.plan_next(review, standing)
        })
    }

    /// Why this task cannot be begun now; none when it can, which is when planning may return it.
    /// One that is not in the list has no dependencies and is never done.
    pub fn held_back(
        &self,
        list: Option<&TaskList>,
        review: &ReviewRules,
        task: &TaskId,
    ) -> Option<HeldBack> {
        let story = list.and_then(|list| list.story(task));
        if story.is_some_and(|story| story.is_done(review)) {
            return Some(HeldBack::Done);
        }
        match self.standing(task) {
            Standing::Open | Standing::Blocked => {}
            standing @ (Standing::Asked
            | Standing::SetAside
            | Standing::Escalated
            | Standing::Tripped
            | Standing::ForcedDone) => return Some(HeldBack::Stands(standing)),
        }
        let is_done = |id: &TaskId| {
            self.standing(id) == Standing::ForcedDone
                || list.and_then(|list| list.story(id)).is_some_and(|one| one.is_done(review))
        };
        let dependencies = story.into_iter().flat_map(|story| &story.depends_on);
        let waits_for: Vec<TaskId> = dependencies.filter(|id| !is_done(id)).cloned().collect();
        (!waits_for.is_empty()).then_some(HeldBack::WaitsFor(waits_for))
    }
}

/// Why a task cannot be begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldBack {
    /// It is done.
    Done,
    /// It is out of planning.
    Stands(Standing),
    /// These have to be done first.
    WaitsFor(Vec<TaskId>),
}
