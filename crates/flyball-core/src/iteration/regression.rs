//! Quality regression (B7): scores that only fall, or stay below what was reached before.

/// What came before the scores looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    /// The best score, the baseline's included.
    pub(super) best: Option<f64>,
    /// The score just before the first.
    pub(super) last: Option<f64>,
}

/// The number of declining steps in the last `window` scores when they are a regression.
pub(super) fn declines(scores: &[f64], before: Before, window: u32) -> Option<u32> {
    let size = usize::try_from(window).unwrap_or(usize::MAX);
    let start = scores.len().checked_sub(size)?;
    let (earlier, last) = scores.split_at_checked(start)?;
    let steps_fall = last.windows(2).all(|pair| matches!(pair, [a, b] if b < a));
    let steps_do_not_rise = last.windows(2).all(|pair| matches!(pair, [a, b] if b <= a));
    let previous = earlier.last().copied().or(before.last);
    let first_does_not_rise = match (previous, last.first()) {
        (Some(previous), Some(first)) => *first <= previous,
        (None, _) | (_, None) => true,
    };
    let best = earlier.iter().copied().chain(before.best).reduce(f64::max);
    let all_below_best = best.is_some_and(|best| last.iter().all(|score| *score < best));
    let is_regression = steps_fall || (steps_do_not_rise && first_does_not_rise && all_below_best);
    is_regression.then(|| window.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_counts_as_a_score_reached() {
        let green = Before { best: Some(1.0), last: Some(1.0) };
        assert_eq!(declines(&[0.5, 0.5, 0.5], green, 3), Some(2));
        assert_eq!(declines(&[0.5, 0.5, 0.5], Before::default(), 3), None);
    }

    #[test]
    fn a_recovery_into_the_window_is_no_regression() {
        assert_eq!(declines(&[1.0, 0.5, 0.9, 0.9, 0.9], Before::default(), 3), None);
    }

    #[test]
    fn a_window_of_two_sees_two_scores() {
        assert_eq!(declines(&[0.9, 0.8], Before::default(), 2), Some(1));
        assert_eq!(declines(&[0.9], Before::default(), 2), None);
    }
}
