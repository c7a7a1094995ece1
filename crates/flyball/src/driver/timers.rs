//! Timers the governor has set. A later order for the same timer replaces it.

use std::collections::BTreeMap;

use flyball_core::event::Timer;
use flyball_core::{IterationNo, Moment};

/// Timers that have not yet run out.
#[derive(Debug, Default)]
pub(super) struct Timers(BTreeMap<Timer, (Moment, IterationNo)>);

impl Timers {
    pub(super) fn set(&mut self, timer: Timer, iteration: IterationNo, at: Moment) {
        self.0.insert(timer, (at, iteration));
    }

    /// When the next one runs out.
    pub(super) fn next(&self) -> Option<Moment> {
        self.0.values().map(|(at, _)| *at).min()
    }

    /// Takes out those that have run out.
    pub(super) fn due(&mut self, now: Moment) -> Vec<(Timer, IterationNo)> {
        let due: Vec<(Timer, IterationNo)> = self
            .0
            .iter()
            .filter(|(_, (at, _))| *at <= now)
            .map(|(timer, (_, iteration))| (*timer, *iteration))
            .collect();
        for (timer, _) in &due {
            self.0.remove(timer);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_order_replaces_and_a_timer_fires_once() {
        let mut timers = Timers::default();
        let (one, two) = (IterationNo::new(1), IterationNo::new(2));
        timers.set(Timer::Stall, one, Moment::from_millis(10));
        timers.set(Timer::Stall, two, Moment::from_millis(20));
        assert_eq!(timers.due(Moment::from_millis(15)), []);
        assert_eq!(timers.next(), Some(Moment::from_millis(20)));
        assert_eq!(timers.due(Moment::from_millis(20)), [(Timer::Stall, two)]);
        assert_eq!(timers.next(), None);
    }
}
