//! What hindsight says of a run: where it went dead, and when it last did something that counts.

use std::collections::HashSet;

use flyball_core::Policy;
use flyball_core::call::fingerprint_call;

use super::recording::{Recording, Step};

/// The shortest dead tail, in steps.
const SHORTEST: usize = 6;

impl Recording {
    /// Its steps; messages of humans are none.
    pub(super) fn own_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| !step.is_human())
    }

    /// The length of its dead tail: the longest suffix of at least 6 steps of which at least 80 %
    /// are calls with answers that had come before. 0 without one.
    pub(super) fn dead_tail(&self) -> usize {
        let mut seen = HashSet::new();
        let is_old = |step: &Step| {
            let what = if step.is_words() {
                (None, step.text_hash.clone())
            } else {
                (Some(step.tool.clone()), Some(step.args.to_string()))
            };
            !seen.insert((what, step.result_nhash.clone()))
        };
        let old: Vec<bool> = self.own_steps().map(is_old).collect();
        let (mut best, mut count) = (0, 0);
        for (length, is_old) in (1..).zip(old.iter().rev()) {
            count += usize::from(*is_old);
            if *is_old && length >= SHORTEST && count * 10 >= length * 8 {
                best = length;
            }
        }
        best
    }

    /// The last step that changed files in a way it had not before.
    pub(super) fn last_effective_edit(&self) -> Option<usize> {
        let free_text = &Policy::default().calls.free_text;
        let mut seen = HashSet::new();
        let mut last = None;
        for (number, step) in self.own_steps().enumerate() {
            let call = fingerprint_call(&step.tool, &step.args, free_text);
            let is_new = seen.insert((call, step.result_nhash.clone()));
            if is_new && step.edit && !step.error && step.result_nhash.is_some() {
                last = Some(number);
            }
        }
        last
    }
}
