//! Steps that repeat, folded: "6 × Read src/a.rs, same answer".

use super::detail::{Shown, StepShown};

/// The longest lap that is folded.
const LAP_MAX: usize = 12;
/// Fewer steps than this are shown one by one.
const STEPS_MIN: usize = 3;

/// A line, or a lap that was made several times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Folded<'a> {
    /// All lines of it, one lap after the other.
    pub lines: &'a [Shown],
    /// How many lines make a lap.
    pub lap: usize,
}

impl<'a> Folded<'a> {
    /// How often the lap was made.
    pub const fn times(&self) -> usize {
        match self.lines.len().checked_div(self.lap) {
            Some(times) => times,
            None => 1,
        }
    }

    /// The first lap.
    pub fn first(&self) -> &'a [Shown] {
        self.lines.get(..self.lap).unwrap_or(self.lines)
    }
}

/// Folds what repeats right after itself, the longest stretch at each place.
pub fn fold(lines: &[Shown]) -> Vec<Folded<'_>> {
    let mut folded = Vec::new();
    let mut rest = lines;
    while !rest.is_empty() {
        let laps = (1..=LAP_MAX).map(|lap| (lap, stretch(rest, lap)));
        let best = laps.max_by_key(|(lap, steps)| (*steps, std::cmp::Reverse(*lap)));
        let (lap, length) = best.filter(|(_, steps)| *steps >= STEPS_MIN).unwrap_or((1, 1));
        let (lines, later) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        folded.push(Folded { lines, lap });
        rest = later;
    }
    folded
}

/// How many lines from the first on are whole laps of this length, at least two of them; else 0.
fn stretch(lines: &[Shown], lap: usize) -> usize {
    let same =
        lines.iter().zip(lines.iter().skip(lap)).take_while(|(one, other)| is_same(one, other));
    let laps = same.count() / lap + 1;
    if laps >= 2 { laps * lap } else { 0 }
}

fn is_same(one: &Shown, other: &Shown) -> bool {
    let answered = |step: &&StepShown| step.pair.1.is_some();
    match (one.as_step().filter(answered), other.as_step().filter(answered)) {
        (Some(one), Some(other)) => one.pair == other.pair && one.agent == other.agent,
        (None, _) | (_, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use flyball_core::SubAgent;
    use flyball_core::call::Fingerprint;
    use flyball_core::hindsight::Cost;

    use super::*;

    fn step(call: u128) -> Shown {
        if call == 0 {
            return Shown::Compacted { at: None };
        }
        Shown::Step(StepShown::sample(call))
    }

    fn folds(calls: &[u128]) -> Vec<(usize, usize)> {
        let lines: Vec<Shown> = calls.iter().map(|call| step(*call)).collect();
        fold(&lines).iter().map(|folded| (folded.lap, folded.times())).collect()
    }

    #[test]
    fn what_repeats_right_after_itself_is_folded() {
        assert_eq!(folds(&[1, 1, 1, 2]), [(1, 3), (1, 1)]);
        assert_eq!(folds(&[1, 1, 2]), [(1, 1), (1, 1), (1, 1)], "two are shown");
        assert_eq!(folds(&[5, 1, 2, 1, 2, 1, 2, 1]), [(1, 1), (2, 3), (1, 1)]);
        assert_eq!(folds(&[1, 2, 3, 1, 2, 3]), [(3, 2)]);
        assert_eq!(folds(&[1, 1, 0, 1, 1]), [(1, 1); 5], "a condensed context stands between");
        assert_eq!(folds(&[]), []);
    }

    impl StepShown {
        fn sample(call: u128) -> Self {
            let print = Fingerprint::from_bits(call);
            Self {
                step: 1,
                record: 1,
                at: None,
                agent: SubAgent::default(),
                words: String::new(),
                outcome: None,
                evidence: 0,
                cost: Cost::default(),
                said: Vec::new(),
                pair: (print, Some(print)),
                id: String::new(),
            }
        }
    }
}
