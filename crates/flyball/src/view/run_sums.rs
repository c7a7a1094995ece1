//! What a run comes to, counted from its view.

use flyball_core::{IterationNo, Outcome};

use super::iteration::{ClaimVerdict, IterationView};
use super::run_view::RunView;

impl RunView {
    /// The row of an iteration.
    pub fn iteration(&self, number: IterationNo) -> Option<&IterationView> {
        self.iterations.iter().find(|one| one.iteration == number)
    }

    /// Iterations begun, the one under way among them.
    pub fn iterations_begun(&self) -> u32 {
        let begun = self.iterations.last().map_or(0, |one| one.iteration.get());
        begun.max(self.tally.iterations)
    }

    /// Failures counted first and last, where gates ran.
    pub fn failing(&self) -> Option<(u64, u64)> {
        let mut counted = self.matrix.columns.iter().filter_map(|column| column.failing);
        let first = counted.next()?;
        Some((first, counted.next_back().unwrap_or(first)))
    }

    /// Money that went into iterations which passed nothing; none where nothing could tell.
    pub fn cost_without_progress(&self) -> Option<u64> {
        let idle = self.iterations.iter().filter(|one| one.progress == Some(false));
        let known = self.iterations.iter().any(|one| one.progress.is_some());
        known.then(|| idle.map(|one| one.cost_micro_usd).sum())
    }

    /// How often COMPLETE was said, and how often it was refused.
    pub fn completions(&self) -> (usize, usize) {
        let said = self.iterations.iter().filter_map(|one| one.claim.as_ref()?.complete);
        let refused = said.clone().filter(|verdict| *verdict == ClaimVerdict::Refused).count();
        (said.count(), refused)
    }

    /// Calls of all iterations.
    pub fn calls(&self) -> u64 {
        self.iterations.iter().map(|one| one.calls).sum()
    }

    /// How often guards spoke.
    pub fn guards_spoke(&self) -> u64 {
        self.iterations.iter().map(IterationView::guards_spoke).sum()
    }

    /// Stories passed in this run.
    pub const fn stories_passed(&self) -> u32 {
        self.tally.stories_complete.saturating_sub(self.stories_before)
    }

    /// How it ended.
    pub fn outcome(&self) -> Option<Outcome> {
        self.run.ending.as_ref().map(|ending| ending.outcome)
    }
}
