//! Which task is next (C4): those that stand open by mode and priority, then those blocked by their
//! own claim, the one tried longest ago first.

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
                | Standing::ForcedDone) => other,
            };
            list.plan_next(review, standing)
        })
    }
}
