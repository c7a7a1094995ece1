//! How well the guards did on sessions of which is known how they ended: one line per rung.

use alloc::vec::Vec;
use core::fmt;

use super::{Firings, Guards, Judged};
use crate::recording::Recording;

/// A run that ended in a dead tail.
#[derive(Clone, Copy, Debug)]
struct Dead {
    fired: Firings,
    steps: u64,
    tail: u64,
}

/// What guards came to on many runs.
#[derive(Clone, Debug, Default)]
pub struct Table {
    dead: Vec<Dead>,
    /// Good runs: where each rung was reached, and whether it did harm.
    good: Vec<(Firings, [bool; 3])>,
    /// Sessions of people at work.
    wild: Vec<Firings>,
}

/// One rung in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Runs with a dead tail.
    pub dead: usize,
    /// Of them those in which the rung was reached.
    pub caught: usize,
    /// Good runs.
    pub good: usize,
    /// Of them those in which it was reached.
    pub flagged: usize,
    /// Of them those that still did something that counts afterwards.
    pub harmed: usize,
    /// Sessions of people at work in which it was reached.
    pub wild: usize,
}

/// What the recordings of sessions of people at work are published as.
const WILD: &str = "entire-cli";

impl Table {
    /// Plays all runs under these guards.
    pub fn of(runs: &[Recording], guards: Guards) -> Self {
        let mut table = Self::default();
        for run in runs {
            let mut judged = guards.judge(run);
            // Where it went dead does not depend on who judges.
            judged.dead_tail = Guards::All.judge(run).dead_tail;
            table.add(&run.source, &run.outcome, &judged);
        }
        table
    }

    /// Adds a session of which this is known.
    pub fn add(&mut self, source: &str, outcome: &str, judged: &Judged) {
        let (fired, steps, tail) = (judged.firsts, judged.steps, judged.dead_tail);
        if source == WILD {
            self.wild.push(fired);
        } else if outcome == "success" {
            self.good.push((fired, judged.harmed));
        } else if outcome == "failure" && tail > 0 {
            self.dead.push(Dead { fired, steps, tail });
        }
    }

    /// Whether there is nothing in it.
    pub const fn is_empty(&self) -> bool {
        self.dead.is_empty() && self.good.is_empty() && self.wild.is_empty()
    }

    /// The lines: nudge, refuse, halt.
    pub fn rows(&self) -> [Row; 3] {
        [0, 1, 2].map(|rung| {
            let at = |fired: &Firings| fired.as_array().get(rung).copied().flatten();
            let flagged = || self.good.iter().filter(|(fired, _)| at(fired).is_some());
            let is_harmed = |harmed: &[bool; 3]| harmed.get(rung).copied().unwrap_or(false);
            Row {
                dead: self.dead.len(),
                caught: self.dead.iter().filter(|dead| at(&dead.fired).is_some()).count(),
                good: self.good.len(),
                flagged: flagged().count(),
                harmed: flagged().filter(|(_, harmed)| is_harmed(harmed)).count(),
                wild: self.wild.iter().filter(|fired| at(fired).is_some()).count(),
            }
        })
    }

    /// Delays into the tail, sorted, and the steps of tails that would have been saved.
    fn delays(&self, rung: usize) -> (Vec<i64>, u64) {
        let mut saved = 0;
        let mut delays = Vec::new();
        for dead in &self.dead {
            let Some(step) = dead.fired.as_array().get(rung).copied().flatten() else { continue };
            saved += dead.tail.min(dead.steps.saturating_sub(step + 1));
            delays.push(signed(step) - signed(dead.steps - dead.tail) + 1);
        }
        delays.sort_unstable();
        (delays, saved)
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "percentages for people")]
fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

#[expect(clippy::cast_precision_loss, reason = "a median for people")]
fn median(sorted: &[i64]) -> f64 {
    let middle = sorted.len() / 2;
    let at = |index: usize| sorted.get(index).copied().unwrap_or(0) as f64;
    let below = if sorted.len() % 2 == 1 { middle } else { middle.saturating_sub(1) };
    f64::midpoint(at(below), at(middle))
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tails: u64 = self.dead.iter().map(|dead| dead.tail).sum();
        for (rung, (row, name)) in self.rows().iter().zip(["nudge", "refuse", "halt"]).enumerate() {
            let (delays, saved) = self.delays(rung);
            let late = delays.get(delays.len().saturating_sub(1) * 9 / 10).copied().unwrap_or(0);
            writeln!(
                f,
                "{name:7} caught {:5.1} % of {}, delay {} (p90 {late}), tail steps saved {:.1} % | \
                 good flagged {} of {} ({:.1} %), harmed {} | wild {} of {}",
                percent(row.caught as u64, row.dead as u64),
                row.dead,
                median(&delays),
                percent(saved, tails),
                row.flagged,
                row.good,
                percent(row.flagged as u64, row.good as u64),
                row.harmed,
                row.wild,
                self.wild.len(),
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_line_tells_what_was_caught_how_late_and_whom_it_cost() {
        let judged = |steps: u64, dead_tail: u64, nudge: Option<u64>, refuse: Option<u64>| Judged {
            steps,
            dead_tail,
            firsts: Firings { nudge, refuse, halt: None },
            harmed: [nudge.is_some(), false, false],
            ..Judged::default()
        };
        let mut table = Table::default();
        assert!(table.is_empty());
        for (source, outcome, judged) in [
            ("bench", "failure", judged(20, 12, Some(10), Some(15))),
            ("bench", "failure", judged(10, 8, Some(6), None)),
            ("bench", "failure", judged(10, 5, None, None)),
            // It failed, and not by going nowhere.
            ("bench", "failure", judged(10, 0, Some(1), None)),
            ("bench", "success", judged(10, 0, Some(3), None)),
            ("bench", "success", judged(10, 0, None, None)),
            (WILD, "success", judged(10, 0, Some(3), None)),
            (WILD, "", judged(10, 0, None, None)),
        ] {
            table.add(source, outcome, &judged);
            assert!(!table.is_empty());
        }
        assert_eq!(
            table.to_string(),
            "nudge   caught  66.7 % of 3, delay 4 (p90 3), tail steps saved 48.0 % | good flagged 1 \
             of 2 (50.0 %), harmed 1 | wild 1 of 2\n\
             refuse  caught  33.3 % of 3, delay 8 (p90 8), tail steps saved 16.0 % | good flagged 0 \
             of 2 (0.0 %), harmed 0 | wild 0 of 2\n\
             halt    caught   0.0 % of 3, delay 0 (p90 0), tail steps saved 0.0 % | good flagged 0 \
             of 2 (0.0 %), harmed 0 | wild 0 of 2\n"
        );
    }
}
