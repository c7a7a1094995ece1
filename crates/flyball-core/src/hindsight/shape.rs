//! What kind of loop it is: told by the guard that spoke and by the latest answers.

use alloc::collections::VecDeque;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::call::Fingerprint;

/// Answers that are remembered to tell the kind by; the longest lap that is seen is half as long.
const RECENT: usize = 64;
/// Equal answers to different questions of one tool that make a kind of their own.
const SAME_ANSWERS: usize = 4;

/// Kinds of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopKind {
    /// One call again and again, with the same answer.
    SameCall,
    /// One call again and again, with answers that differ.
    SameCallNewAnswer,
    /// The same change made again.
    SameChange,
    /// The same calls round and round.
    Lap,
    /// The same question with the same answer, whatever is changed in between.
    SameAnswerAfterChanges,
    /// One tool that gives the same answer to different questions.
    SameAnswer,
    /// Old calls with old answers, in no order.
    OldCalls,
    /// Tools that fail one after the other.
    FailingTools,
    /// Output that cannot be understood.
    Malformed,
    /// The same words.
    SameWords,
}

impl LoopKind {
    /// The name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SameCall => "same_call",
            Self::SameCallNewAnswer => "same_call_new_answer",
            Self::SameChange => "same_change",
            Self::Lap => "lap",
            Self::SameAnswerAfterChanges => "same_answer_after_changes",
            Self::SameAnswer => "same_answer",
            Self::OldCalls => "old_calls",
            Self::FailingTools => "failing_tools",
            Self::Malformed => "malformed",
            Self::SameWords => "same_words",
        }
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::SameCall => "same call, same answer",
            Self::SameCallNewAnswer => "same call, new answers",
            Self::SameChange => "same change again",
            Self::Lap => "calls in a circle",
            Self::SameAnswerAfterChanges => "changes without effect",
            Self::SameAnswer => "other questions, same answer",
            Self::OldCalls => "old calls, old answers",
            Self::FailingTools => "failing tools",
            Self::Malformed => "malformed output",
            Self::SameWords => "same words",
        }
    }
}

impl fmt::Display for LoopKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A call with its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) call: Fingerprint,
    pub(super) tool: Fingerprint,
    pub(super) result: Fingerprint,
    pub(super) mutating: bool,
}

impl Answered {
    fn is_pair(&self, other: &Self) -> bool {
        (self.call, self.result) == (other.call, other.result)
    }
}

/// The latest answers to one sub-agent, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent(VecDeque<Answered>);

impl Recent {
    pub(super) fn add(&mut self, answer: Answered) {
        if self.0.len() >= RECENT {
            self.0.pop_front();
        }
        self.0.push_back(answer);
    }

    /// The kind of loop these answers are.
    pub(super) fn kind(&self) -> LoopKind {
        let Some(last) = self.0.back() else { return LoopKind::OldCalls };
        let before = self.0.iter().rev().nth(1);
        if let Some(before) = before.filter(|before| before.call == last.call) {
            return match (last.mutating, before.is_pair(last)) {
                (true, _) => LoopKind::SameChange,
                (false, true) => LoopKind::SameCall,
                (false, false) => LoopKind::SameCallNewAnswer,
            };
        }
        if (2..=self.0.len() / 2).any(|period| self.goes_round(period)) {
            return LoopKind::Lap;
        }
        let earlier = || self.0.iter().rev().skip(1);
        if last.mutating && earlier().any(|other| other.call == last.call) {
            return LoopKind::SameChange;
        }
        let since = earlier().position(|other| other.is_pair(last));
        if since.is_some_and(|since| earlier().take(since).any(|other| other.mutating)) {
            return LoopKind::SameAnswerAfterChanges;
        }
        let same = |other: &&Answered| other.tool == last.tool && other.result == last.result;
        if since.is_none() && earlier().filter(same).count() + 1 >= SAME_ANSWERS {
            return LoopKind::SameAnswer;
        }
        LoopKind::OldCalls
    }

    /// Whether the last two laps of this many answers are the same; so many are remembered.
    fn goes_round(&self, period: usize) -> bool {
        let latest = || self.0.iter().rev();
        let mut laps = latest().zip(latest().skip(period)).take(period);
        laps.all(|(one, other)| one.is_pair(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call, its result, and whether it changes files.
    type Case = (u128, u128, bool);

    fn kind(answers: &[Case]) -> LoopKind {
        let bits = Fingerprint::from_bits;
        let mut recent = Recent::default();
        for (call, result, mutating) in answers {
            let (call, result) = (bits(*call), bits(*result));
            recent.add(Answered { call, tool: bits(9), result, mutating: *mutating });
        }
        recent.kind()
    }

    #[test]
    fn the_latest_answers_tell_the_kind_of_loop() {
        let (read, edit) = (false, true);
        let cases: [(&[Case], LoopKind); 8] = [
            (&[(1, 1, read), (1, 1, read)], LoopKind::SameCall),
            (&[(1, 1, read), (1, 2, read)], LoopKind::SameCallNewAnswer),
            (&[(1, 1, edit), (1, 2, edit)], LoopKind::SameChange),
            (&[(1, 1, read), (2, 2, edit), (1, 1, read), (2, 2, edit)], LoopKind::Lap),
            (
                &[(1, 1, read), (2, 2, edit), (3, 3, edit), (1, 1, read)],
                LoopKind::SameAnswerAfterChanges,
            ),
            (&[(2, 2, edit), (1, 1, read), (3, 1, read), (2, 4, edit)], LoopKind::SameChange),
            (&[(1, 7, read), (2, 7, read), (3, 7, read), (4, 7, read)], LoopKind::SameAnswer),
            (&[(1, 1, read), (2, 2, read), (3, 3, read), (1, 1, read)], LoopKind::OldCalls),
        ];
        for (answers, expected) in cases {
            assert_eq!(kind(answers), expected, "{answers:?}");
        }
        assert_eq!(Recent::default().kind(), LoopKind::OldCalls);
    }

    #[test]
    fn a_lap_is_seen_while_two_of_it_are_remembered() {
        let rounds = |period: u128| -> std::vec::Vec<Case> {
            (0..3 * period).map(|n| (n % period, n % period, false)).collect()
        };
        assert_eq!(kind(&rounds(32)), LoopKind::Lap);
        assert_eq!(kind(&rounds(33)), LoopKind::OldCalls);
    }
}
