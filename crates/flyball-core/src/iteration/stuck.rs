//! Stuck (B3): iterations that leave nothing new behind.

use alloc::collections::VecDeque;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::policy::Progress;

/// How many trees are remembered; older ones may be seen anew.
const TREES_MAX: usize = 1024;

/// What one iteration did to the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It moved HEAD.
    Committed,
    /// It did not.
    Uncommitted,
}

/// Counts iterations without progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckMeter {
    count: u32,
    total: u32,
    /// Iterations in a row without progress, over all tasks.
    streak: u32,
    seen: VecDeque<String>,
}

impl StuckMeter {
    /// A meter that has seen the tree the run begins with.
    pub fn new(first_tree: impl Into<String>) -> Self {
        let mut meter = Self::default();
        meter.seen.push_back(first_tree.into());
        meter
    }

    /// Whether this step is progress: a tree not reached before, committed where that is asked for.
    /// Remembers the tree when it is.
    pub fn is_progress(&mut self, rule: Progress, step: Step, tree: &str) -> bool {
        // Where commits are the measure, uncommitted work reaches nothing: committing it later is
        // still progress.
        if (rule, step) == (Progress::Commit, Step::Uncommitted) {
            return false;
        }
        let is_new = !self.seen.iter().any(|seen| seen == tree);
        if is_new {
            self.seen.push_back(tree.into());
            if self.seen.len() > TREES_MAX {
                self.seen.pop_front();
            }
        }
        is_new
    }

    /// An iteration brought progress.
    pub fn progressed(&mut self) {
        self.count = 0;
        self.streak = 0;
    }

    /// An iteration brought none.
    pub fn idled(&mut self) {
        self.count = self.count.saturating_add(1);
        self.total = self.total.saturating_add(1);
        self.streak = self.streak.saturating_add(1);
    }

    /// Another task is taken: its count begins anew, the streak over tasks goes on.
    pub fn next_task(&mut self) {
        self.count = 0;
    }

    /// Iterations in a row without progress, for this task.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Iterations in a row without progress, over all tasks.
    pub fn streak(&self) -> u32 {
        self.streak
    }

    /// Iterations without progress in all.
    pub fn total(&self) -> u32 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committing_what_an_earlier_iteration_left_uncommitted_is_progress_once() {
        let mut meter = StuckMeter::new("start");
        assert!(!meter.is_progress(Progress::Commit, Step::Uncommitted, "work"));
        assert!(meter.is_progress(Progress::Commit, Step::Committed, "work"));
        assert!(!meter.is_progress(Progress::Commit, Step::Committed, "work"));
    }

    #[test]
    fn uncommitted_work_counts_where_trees_are_the_measure() {
        let mut meter = StuckMeter::new("start");
        assert!(meter.is_progress(Progress::Tree, Step::Uncommitted, "one"));
        assert!(meter.is_progress(Progress::Tree, Step::Uncommitted, "two"));
        assert!(!meter.is_progress(Progress::Tree, Step::Uncommitted, "one"));
    }
}
