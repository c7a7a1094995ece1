//! Going nowhere (A3): one integer that rises with what was seen before and falls with what is new.
//!
//! The weights are rounded logarithms of how much likelier an event is in runs that end in a loop.
//! They see laps of any period, old calls in any order, and changes made again; a *pair* is a call
//! with its normalised result, an *epoch* ends with each successful change whose pair is new.
//!
//! | event | weight |
//! |---|---|
//! | new call / that changes files / that the tool refused | −3 / −2 / 0 |
//! | known call, new answer / changes files or refused | −4 / +1 |
//! | known pair, earlier epoch / failed / changes files | 0 / +1 / +2 |
//! | known pair, same epoch: second time / later | +2 / +4 |
//! | known pair right after itself: second time / later | +3 / +6 |
//! | known pair after the pair it followed last time | +5, earlier epoch +3 |
//! | added to a known pair: refused by the tool / empty answer | +1 / −1 |
//! | words without a call | −3 |

mod advice;
mod pairs;

use serde::{Deserialize, Serialize};

use self::advice::{Stagnant, Stale};
use self::pairs::{Pair, Pairs};
use super::{Allowed, CallSeen, Detection, Detector, ResultSeen, Seen, Severity};
use crate::call::ToolOutcome;
use crate::guard::GuardKind;
use crate::policy::CallRules;

/// The account never holds more.
const CAP: u8 = 40;
/// From here on the agent is told.
const NUDGE: u8 = 10;
/// From here on a call is refused that was answered the same way twice in this epoch.
const REFUSE: u8 = 14;
/// From here on the session may be ended.
const HALT: u8 = 20;
/// …once the account has been positive for this many steps.
const HALT_STEPS: u32 = 6;

/// The evidence account of one sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Account {
    balance: u8,
    /// For how many steps it has been above 0.
    positive: u32,
    step: u32,
    epoch: u16,
    /// The latest pair, and when it was seen before that.
    previous: Option<(u32, u32)>,
    previous_at: Option<u32>,
    in_row: u32,
    /// Steps to a lap, while the agent goes round; 0 otherwise.
    lap: u32,
    /// Whether the agent was told since the account rose to the first rung.
    told: bool,
    pairs: Pairs,
    stale: Stale,
    stagnant: Stagnant,
}

impl Account {
    /// What is in it.
    pub(super) const fn balance(&self) -> u8 {
        self.balance
    }

    /// The model's turn held words and no call.
    pub(super) fn only_spoke(&mut self) {
        self.add(-3);
        self.unanswered();
    }

    /// A call was never answered: a step that leads nowhere.
    pub(super) const fn unanswered(&mut self) {
        self.step = self.step.saturating_add(1);
        self.previous = None;
        self.previous_at = None;
        self.in_row = 0;
    }

    fn add(&mut self, weight: i8) {
        self.balance = self.balance.saturating_add_signed(weight).min(CAP);
        self.positive = if self.balance > 0 { self.positive.saturating_add(1) } else { 0 };
        if self.balance < NUDGE {
            self.told = false;
        }
    }

    /// The weight of an answer, and how many steps ago this pair was seen if it lies on a lap.
    fn weigh(&self, seen: &ResultSeen, known: Option<&Pair>, other: Option<&Pair>) -> (i8, u32) {
        let refused = seen.answer.outcome == ToolOutcome::Tool;
        let failed = refused || seen.answer.outcome == ToolOutcome::Exit;
        let mutating = seen.of.mutating;
        let Some(pair) = known else {
            let weight = match (other.is_some(), refused, mutating) {
                (false, true, _) => 0,
                (false, false, true) => -2,
                (false, false, false) => -3,
                (true, true, _) | (true, false, true) => 1,
                (true, false, false) => -4,
            };
            return (weight, 0);
        };
        let is_now = pair.epoch == self.epoch;
        let on_path = self.previous_at.is_some_and(|at| pair.at == at.saturating_add(1));
        let weight = match (self.in_row, on_path, is_now) {
            (3.., _, _) => 6,
            (2, _, _) | (_, true, false) => 3,
            (_, true, true) => 5,
            (_, false, true) => 2 + if pair.count >= 2 { 2 } else { 0 },
            (_, false, false) if mutating => 2,
            (_, false, false) => i8::from(failed),
        };
        let lap = if on_path || self.in_row >= 2 { self.step.saturating_sub(pair.at) } else { 0 };
        (weight + i8::from(refused) - i8::from(seen.answer.empty), lap)
    }

    /// What the rung says that the account has reached, and what was seen.
    fn rung(&mut self, seen: &ResultSeen, pair: &Pair, calls: u32) -> Option<Detection> {
        let proven = pair.raw_count >= 3 || (seen.of.mutating && calls >= 4) || pair.total >= 6;
        let found = |severity: Severity, limit: u8, seen: Seen| Detection {
            guard: GuardKind::GoingNowhere,
            severity,
            measured: u64::from(self.balance),
            allowed: u64::from(limit),
            seen,
        };
        if self.balance >= HALT && self.positive >= HALT_STEPS && proven {
            return Some(found(Severity::Halt, HALT, self.evidence(seen, pair)));
        }
        if self.balance < NUDGE || self.told {
            return None;
        }
        let nudge = found(Severity::Nudge, NUDGE, self.evidence(seen, pair));
        self.told = true;
        Some(nudge)
    }

    fn evidence(&self, seen: &ResultSeen, pair: &Pair) -> Seen {
        match self.lap {
            1 => Seen::SameResults(u64::from(self.in_row)),
            2.. => Seen::Lap(u64::from(self.lap)),
            0 if seen.of.mutating && pair.total > 1 => Seen::SameChange(u64::from(pair.total)),
            0 => Seen::Old(u64::from(self.positive)),
        }
    }

    /// Advice that never becomes more: the same answer whatever is changed or asked.
    fn advise(&mut self, seen: &ResultSeen) -> Option<Detection> {
        if seen.of.mutating || seen.answer.empty {
            self.stagnant = Stagnant::default();
            return None;
        }
        let (call, result) = (seen.of.call.short(), seen.answer.result.short());
        let stale = self.stale.answered(call, result, self.epoch);
        let stagnant = self.stagnant.answered(seen.of.tool.short(), result, call);
        let (measured, allowed, seen) = match (stale, stagnant) {
            (Some(changes), _) => (changes, advice::STALE_EPOCHS, Seen::Stale(changes.into())),
            (None, Some(times)) => (times, advice::STAGNANT, Seen::Stagnant(times.into())),
            (None, None) => return None,
        };
        Some(Detection {
            guard: GuardKind::GoingNowhere,
            severity: Severity::Nudge,
            measured: measured.into(),
            allowed: allowed.into(),
            seen,
        })
    }
}

impl Detector for Account {
    fn judge(&self, _: &CallRules, call: &CallSeen) -> Option<Detection> {
        if self.balance < REFUSE {
            return None;
        }
        let latest = self.pairs.latest_of(call.call.short(), Some(self.epoch))?;
        let answered = u64::from(latest.same_answer);
        (answered >= 2).then_some(Detection {
            guard: GuardKind::GoingNowhere,
            severity: Severity::Refuse,
            measured: self.balance.into(),
            allowed: REFUSE.into(),
            seen: Seen::Answered(answered),
        })
    }

    fn book(&mut self, _: &CallSeen, _: Allowed) {}

    fn answered(&mut self, _: &CallRules, seen: &ResultSeen) -> Option<Detection> {
        self.step = self.step.saturating_add(1);
        let (call, result) = (seen.of.call.short(), seen.answer.result.short());
        let identity = (call, result);
        self.in_row =
            if self.previous == Some(identity) { self.in_row.saturating_add(1) } else { 1 };
        let known = self.pairs.take(call, result);
        let latest = self.pairs.latest_of(call, None);
        let (weight, lap) = self.weigh(seen, known.as_ref(), latest.as_ref());
        self.add(weight);
        self.lap = lap;
        let calls = self.pairs.total_of(call) + known.as_ref().map_or(0, |pair| pair.total.into());
        let ran_well = seen.answer.outcome == ToolOutcome::Ok;
        if seen.of.mutating && ran_well && known.is_none() {
            self.epoch = self.epoch.saturating_add(1);
        }
        let at = known.as_ref().map(|pair| pair.at);
        let mut pair = known.unwrap_or_else(|| Pair::new(call, result));
        if latest.is_some_and(|other| other.at > pair.at) {
            pair.interrupted();
        }
        pair.seen_again(seen.answer.raw.short(), self.epoch, self.step);
        self.pairs.put(pair);
        self.previous = Some(identity);
        self.previous_at = at;
        let rung = self.rung(seen, &pair, calls + 1);
        let advice = self.advise(seen);
        rung.or(advice)
    }
}

#[cfg(test)]
mod tests;
