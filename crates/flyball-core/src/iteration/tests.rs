//! What the ring remembers of the best that was reached.

use super::*;

fn red(number: u32, score: f64) -> Validation {
    Validation::red(IterationNo::new(number), Moment::default(), score)
}

fn regresses(ring: &IterationRing) -> bool {
    let Safety { trip, also } = ring.may_start(&Policy::default());
    trip.iter().chain(&also).any(|trip| trip.guard == GuardKind::QualityRegression)
}

#[test]
fn the_baseline_is_the_best_until_it_is_beaten() {
    let mut ring = IterationRing::with_baseline(Some(0.5));
    ring.record(red(1, 0.4));
    assert_eq!((ring.best(), ring.best_at()), (Some(0.5), Some(IterationNo::BASELINE)));
    ring.record(red(2, 0.6));
    assert_eq!((ring.best(), ring.best_at()), (Some(0.6), Some(IterationNo::new(2))));
    let unknown = IterationRing::with_baseline(None);
    assert_eq!((unknown.best(), unknown.best_at()), (None, None));
}

#[test]
fn what_stays_below_the_baseline_regresses_and_what_does_not_fall_below_it_does_not() {
    for (score, expected) in [(0.4, true), (0.5, false), (0.6, false)] {
        let mut ring = IterationRing::with_baseline(Some(0.5));
        for number in 1..=3 {
            ring.record(red(number, score));
        }
        assert_eq!(regresses(&ring), expected, "{score}");
    }
}

#[test]
fn the_best_is_remembered_when_its_iteration_is_not_kept_any_more() {
    for (first, expected) in [(0.9, true), (0.5, false)] {
        let mut ring = IterationRing::default();
        ring.record(red(1, first));
        for number in 2..100 {
            ring.record(red(number, 0.5));
        }
        assert_eq!(ring.history().count(), HISTORY_MAX);
        assert_eq!(regresses(&ring), expected, "{first}");
    }
}
