//! Findings about what no tree holds: they stand while what was found is still in its place.

use flyball_core::gate::TamperFinding;

use crate::gate::plan::GatePlan;
use crate::gate::tamper::{installed, outside};
use crate::worktree::Worktree;

/// Whether a finding is of that sort and still stands.
pub(super) fn still_stands(
    worktree: &Worktree,
    (tree, plan): (&str, &GatePlan),
    one: &TamperFinding,
) -> bool {
    one.subjects.iter().any(|subject| match subject.split_once(':') {
        // What it was compared with is gone for good, and so is the answer.
        Some(("trees", base)) => !worktree.has_tree(base),
        Some(("unwatched", path)) => worktree.unwatched().iter().any(|told| told == path),
        Some(("installed", _)) => installed::still_stands(worktree, one),
        Some(("outside", _)) => outside::still_stands(worktree, (tree, plan), one),
        _ => false,
    })
}
