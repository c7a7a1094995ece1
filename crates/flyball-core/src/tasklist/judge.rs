//! What an iteration may do to one story: its `passes`, `reviewStatus` and `reviewCount` before and
//! after, and the rule of the mode. Judges and never repairs.

use alloc::format;
use alloc::string::String;

use super::transition::{AUTO_APPROVED_MARK, Transition};
use super::{Mode, ReviewStatus, Story};

/// The judgement on one story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Nothing that is ruled here was changed, or only in a way that is free.
    Fine,
    /// Legal, if it is the only one of its kind in this iteration.
    OnlyOne,
    /// As [`Self::OnlyOne`], but the cap is reached: to be turned into an approval.
    AtCap,
    /// Not legal; the reason completes "story `a` …".
    Illegal(String),
    /// Without reviews: the review fields may not move, and `passes` is judged apart.
    ReviewIsOff {
        /// Whether `passes` has to be put back too.
        passes: Option<&'static str>,
        /// Whether the review fields moved.
        review: Option<String>,
    },
}

/// Judges what became of a story that was there before.
pub(super) fn judge(before: &Story, after: &Story, given: &Transition) -> Move {
    if !given.review.enabled {
        return without_review(before, after);
    }
    if ruled(before) == ruled(after) {
        return Move::Fine;
    }
    match given.mode {
        Mode::Implement => implement(before, after, given),
        Mode::Review => review(before, after, given),
        Mode::ReviewFix => review_fix(before, after),
    }
}

/// Whether a text holds anything.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

const fn ruled(story: &Story) -> (bool, Option<ReviewStatus>, u32) {
    (story.passes, story.review_status, story.review_count)
}

fn without_review(before: &Story, after: &Story) -> Move {
    let moved =
        (before.review_status, before.review_count) != (after.review_status, after.review_count);
    let review = moved.then(|| format!("{}, but reviews are switched off", change(before, after)));
    let unnoted = after.passes && !before.passes && is_blank(&after.notes);
    let passes = unnoted.then_some("was set to pass without `notes` on what was done");
    if review.is_none() && passes.is_none() {
        return Move::Fine;
    }
    Move::ReviewIsOff { passes, review }
}

fn implement(before: &Story, after: &Story, given: &Transition) -> Move {
    // A story that passes or is approved, but not both, is open: a new review is its way out.
    let open = !before.is_done(&given.review)
        && matches!(before.review_status, None | Some(ReviewStatus::Approved));
    let handed_in = open && after.review_status == Some(ReviewStatus::NeedsReview);
    if !handed_in {
        let rule = "implementing may only move an open story from null to `needs_review`";
        return Move::Illegal(format!("{}, but {rule}", change(before, after)));
    }
    match kept(before, after) {
        None => Move::OnlyOne,
        Some(why) => Move::Illegal(why),
    }
}

fn review_fix(before: &Story, after: &Story) -> Move {
    let mended = before.review_status == Some(ReviewStatus::ChangesRequested)
        && after.review_status == Some(ReviewStatus::NeedsReview);
    if !mended {
        let rule = "a review fix may only move a story from `changes_requested` to `needs_review`";
        return Move::Illegal(format!("{}, but {rule}", change(before, after)));
    }
    kept(before, after).map_or(Move::Fine, Move::Illegal)
}

/// What handing a story to review must leave alone.
fn kept(before: &Story, after: &Story) -> Option<String> {
    if before.passes != after.passes {
        let rule = "only a review decides whether a story passes";
        return Some(format!("{}, but {rule}", change(before, after)));
    }
    (before.review_count != after.review_count)
        .then(|| format!("{}, but only a review counts `reviewCount` up", change(before, after)))
}

fn review(before: &Story, after: &Story, given: &Transition) -> Move {
    if given.story.as_ref().is_some_and(|id| *id != before.id) {
        return Move::Illegal(format!(
            "{}, but it is not the one under review",
            change(before, after)
        ));
    }
    if before.review_status != Some(ReviewStatus::NeedsReview) {
        return Move::Illegal(format!("{}, but it was not up for review", change(before, after)));
    }
    if before.review_count.checked_add(1) != Some(after.review_count) {
        let rule = "a review counts `reviewCount` up by exactly one";
        return Move::Illegal(format!("{}, but {rule}", change(before, after)));
    }
    let at_cap = after.review_count >= given.review.cap;
    match after.review_status {
        Some(ReviewStatus::Approved) if !after.passes => {
            Move::Illegal("was approved and does not pass; an approved story passes".into())
        }
        Some(ReviewStatus::Approved) => {
            let capped = at_cap && after.review_feedback.starts_with(AUTO_APPROVED_MARK);
            if before.passes || capped || !is_blank(&after.notes) {
                Move::OnlyOne
            } else {
                Move::Illegal("was set to pass without `notes` on what was done".into())
            }
        }
        Some(ReviewStatus::ChangesRequested) if after.passes && !before.passes => {
            Move::Illegal("was set to pass while changes are requested".into())
        }
        Some(ReviewStatus::ChangesRequested) if is_blank(&after.review_feedback) => {
            Move::Illegal("had changes requested without `reviewFeedback` on what to change".into())
        }
        Some(ReviewStatus::ChangesRequested) if at_cap => Move::AtCap,
        Some(ReviewStatus::ChangesRequested) => Move::OnlyOne,
        Some(ReviewStatus::NeedsReview) | None => {
            let rule = "a review ends in `approved` or `changes_requested`";
            Move::Illegal(format!("{}, but {rule}", change(before, after)))
        }
    }
}

/// What moved, in words that complete "story `a` …".
fn change(before: &Story, after: &Story) -> String {
    let status = |story: &Story| {
        story.review_status.map_or_else(|| "null".into(), |one| format!("`{}`", one.as_str()))
    };
    if before.review_status != after.review_status {
        return format!("went from {} to {}", status(before), status(after));
    }
    if before.passes != after.passes {
        return format!("had `passes` set to {}", after.passes);
    }
    format!("had `reviewCount` set from {} to {}", before.review_count, after.review_count)
}
