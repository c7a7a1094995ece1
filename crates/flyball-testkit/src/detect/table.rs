//! How well the guards did: one line per rung.

use std::fmt;

use super::play::{Firings, Guards, firings};
use super::recording::Recording;

/// A run that ended in a dead tail.
struct Dead {
    fired: Firings,
    steps: usize,
    tail: usize,
}

/// What guards came to on many runs.
#[derive(Default)]
pub struct Table {
    dead: Vec<Dead>,
    /// Good runs with their last effective change.
    good: Vec<(Firings, Option<usize>)>,
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

impl Table {
    /// Plays all runs under these guards.
    pub fn of(runs: &[Recording], guards: Guards) -> Self {
        let mut table = Self::default();
        for run in runs {
            let fired = firings(run, guards);
            let tail = run.dead_tail();
            if run.source == "entire-cli" {
                table.wild.push(fired);
            } else if run.outcome == "success" {
                table.good.push((fired, run.last_effective_edit()));
            } else if run.outcome == "failure" && tail > 0 {
                let steps = run.own_steps().count();
                table.dead.push(Dead { fired, steps, tail });
            }
        }
        table
    }

    /// The lines: nudge, refuse, halt.
    pub fn rows(&self) -> [Row; 3] {
        [0, 1, 2].map(|rung| {
            let at = |fired: &Firings| fired.as_array().get(rung).copied().flatten();
            let flagged = || self.good.iter().filter_map(|(fired, edit)| Some((at(fired)?, *edit)));
            let harms = |(step, edit): &(usize, Option<usize>)| edit.is_some_and(|it| it > *step);
            Row {
                dead: self.dead.len(),
                caught: self.dead.iter().filter(|dead| at(&dead.fired).is_some()).count(),
                good: self.good.len(),
                flagged: flagged().count(),
                harmed: flagged().filter(harms).count(),
                wild: self.wild.iter().filter(|fired| at(fired).is_some()).count(),
            }
        })
    }

    /// Delays into the tail, sorted, and the steps of tails that would have been saved.
    fn delays(&self, rung: usize) -> (Vec<i64>, usize) {
        let mut saved = 0;
        let mut delays = Vec::new();
        for dead in &self.dead {
            let Some(step) = dead.fired.as_array().get(rung).copied().flatten() else { continue };
            saved += dead.tail.min(dead.steps - 1 - step);
            delays.push(signed(step) - signed(dead.steps - dead.tail) + 1);
        }
        delays.sort_unstable();
        (delays, saved)
    }
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "percentages for people")]
fn percent(part: usize, whole: usize) -> f64 {
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
        let tails: usize = self.dead.iter().map(|dead| dead.tail).sum();
        for (rung, (row, name)) in self.rows().iter().zip(["nudge", "refuse", "halt"]).enumerate() {
            let (delays, saved) = self.delays(rung);
            let late = delays.get(delays.len().saturating_sub(1) * 9 / 10).copied().unwrap_or(0);
            writeln!(
                f,
                "{name:7} caught {:5.1} % of {}, delay {} (p90 {late}), tail steps saved {:.1} % | \
                 good flagged {} of {} ({:.1} %), harmed {} | wild {} of {}",
                percent(row.caught, row.dead),
                row.dead,
                median(&delays),
                percent(saved, tails),
                row.flagged,
                row.good,
                percent(row.flagged, row.good),
                row.harmed,
                row.wild,
                self.wild.len(),
            )?;
        }
        Ok(())
    }
}
