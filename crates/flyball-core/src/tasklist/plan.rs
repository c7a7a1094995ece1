//! Which story comes next and what is to be done with it (B11, C4). Reads the list and the standings
//! and never changes either.

use alloc::collections::BTreeMap;

use super::{Mode, ReviewStatus, Standing, Story, TaskList};
use crate::id::TaskId;
use crate::policy::ReviewRules;

impl TaskList {
    /// What an iteration is for, by the list alone: mend what was asked for, else review what waits
    /// for it, else implement. Without reviews always implement.
    pub fn mode(&self, review: &ReviewRules) -> Mode {
        let any = |status| self.stories().iter().any(|story| story.review_status == Some(status));
        if !review.enabled {
            Mode::Implement
        } else if any(ReviewStatus::ChangesRequested) {
            Mode::ReviewFix
        } else if any(ReviewStatus::NeedsReview) {
            Mode::Review
        } else {
            Mode::Implement
        }
    }

    /// The story to take in this mode: the smallest priority number, then file order, among those
    /// whose dependencies are done and that stand open; blocked ones come after all others.
    pub fn select(
        &self,
        mode: Mode,
        review: &ReviewRules,
        standing: impl Fn(&TaskId) -> Standing,
    ) -> Option<&Story> {
        let passed: BTreeMap<&TaskId, bool> = self
            .stories()
            .iter()
            .map(|story| (&story.id, story.is_done(review) || is_forced(standing(&story.id))))
            .collect();
        let ready = |story: &Story| {
            story.depends_on.iter().all(|id| passed.get(id).copied().unwrap_or(false))
        };
        self.stories()
            .iter()
            .filter(|story| fits(story, mode, review))
            .filter_map(|story| Some((queue(standing(&story.id))?, story)))
            .filter(|(_, story)| ready(story))
            .min_by_key(|(queue, story)| (*queue, story.priority.is_none(), story.priority))
            .map(|(_, story)| story)
    }

    /// The next mode and story together. Differs from [`Self::mode`] with [`Self::select`] where
    /// every story of that mode is out of planning: then the next mode's turn comes.
    pub fn plan_next(
        &self,
        review: &ReviewRules,
        standing: impl Fn(&TaskId) -> Standing,
    ) -> Option<(Mode, &Story)> {
        let modes: &[Mode] = if review.enabled {
            &[Mode::ReviewFix, Mode::Review, Mode::Implement]
        } else {
            &[Mode::Implement]
        };
        modes.iter().find_map(|&mode| Some((mode, self.select(mode, review, &standing)?)))
    }
}

/// Whether a story is one for this mode.
fn fits(story: &Story, mode: Mode, review: &ReviewRules) -> bool {
    if story.is_done(review) {
        return false;
    }
    match mode {
        Mode::ReviewFix => story.review_status == Some(ReviewStatus::ChangesRequested),
        Mode::Review => story.review_status == Some(ReviewStatus::NeedsReview),
        Mode::Implement => match story.review_status {
            None | Some(ReviewStatus::Approved) => true,
            Some(ReviewStatus::NeedsReview | ReviewStatus::ChangesRequested) => !review.enabled,
        },
    }
}

/// In which queue a story with this standing waits; none when it is out of planning.
const fn queue(standing: Standing) -> Option<u8> {
    match standing {
        Standing::Open => Some(0),
        Standing::Blocked => Some(1),
        Standing::Asked
        | Standing::SetAside
        | Standing::Escalated
        | Standing::Tripped
        | Standing::ForcedDone => None,
    }
}

const fn is_forced(standing: Standing) -> bool {
    match standing {
        Standing::ForcedDone => true,
        Standing::Open
        | Standing::Blocked
        | Standing::Asked
        | Standing::SetAside
        | Standing::Escalated
        | Standing::Tripped => false,
    }
}
