//! What another limit would have done to many runs, and which ones one's own runs speak for.

use std::collections::{BTreeMap, BTreeSet};

use flyball_core::{Event, GuardKind, Moment, RunId};
use serde::Serialize;

use super::doubt::{Doubt, DoubtKind};
use crate::journal::RunSummary;
use crate::replay::{Change, Limits, Replayed, replay, replay_each};

/// Settings that are tried for a suggestion, the guard each belongs to, and the values.
const TRIED: [(&str, GuardKind, &[u32]); 5] = [
    ("limits.stuck", GuardKind::Stuck, &[1, 2, 3, 4, 5, 6, 8]),
    ("iterations.circuit_breaker", GuardKind::CircuitBreaker, &[2, 3, 4, 5, 6]),
    ("iterations.thrashing", GuardKind::Thrashing, &[2, 3, 4, 5, 6]),
    ("iterations.gate_refusals", GuardKind::GateRefusals, &[1, 2, 3, 4, 5, 6, 8]),
    ("calls.max_refusals", GuardKind::Repetition, &[1, 2, 3, 4, 5]),
];
/// How many runs must speak for a stricter limit, and how much of all cost it must be worth.
const RUNS_MIN: u64 = 30;
const GAIN_MIN_PERCENT: u64 = 5;
/// How many doubts must speak for a looser one.
const DOUBTS_MIN: usize = 2;

/// What a change would have done.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WhatIf {
    /// Runs looked at.
    pub runs: u64,
    /// Runs, or sessions of them, that would have been stopped earlier.
    pub earlier: Vec<RunId>,
    /// Those of them that made progress afterwards: the harm.
    pub harmed: Vec<RunId>,
    /// Money spent after that point by those that never did: the gain.
    pub gain_micro_usd: u64,
    /// Money of all runs.
    pub cost_micro_usd: u64,
    /// Runs whose halt would not have come there; what they would have done is not known.
    pub let_go: Vec<RunId>,
}

impl WhatIf {
    fn add(&mut self, one: Replayed) {
        self.runs += 1;
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(one.spent.micro_usd);
        if one.let_go {
            self.let_go.push(one.run.clone());
        }
        if one.is_stopped() {
            self.gain_micro_usd = self.gain_micro_usd.saturating_add(one.saved().micro_usd);
            if !one.lost.is_nothing() {
                self.harmed.push(one.run.clone());
            }
            self.earlier.push(one.run);
        }
    }
}

/// What a change would have done to runs, each given as its row and a reader of its events.
pub fn what_if<Read, Failure>(
    change: &Change,
    runs: &[&RunSummary],
    mut read: Read,
) -> Result<WhatIf, Failure>
where
    Read: FnMut(&RunSummary, &mut dyn FnMut(Moment, &Event)) -> Result<(), Failure>,
{
    let (mut out, limits) = (WhatIf::default(), Limits::with(change));
    for run in runs {
        out.add(replay(&limits, run, |to| read(run, to))?);
    }
    Ok(out)
}

/// Which way a limit is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// It would stop earlier.
    Stricter,
    /// It would let go on.
    Looser,
}

/// A limit that one's own runs speak for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// The line for `flyball.toml`.
    pub toml: String,
    /// Which way it is moved.
    pub way: Way,
    /// What it would have done.
    pub evidence: WhatIf,
    /// The share of such runs it might harm all the same, at most, in percent (95 %); none for a
    /// looser one, of which nothing like that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harm_at_most_percent: Option<u64>,
    /// Halted runs that moved when they were taken up unchanged, and that it would have let go on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubted: Vec<RunId>,
}

/// Limits that would have harmed no run and saved much, or that doubts speak for; for each setting
/// the best stricter one, else the least looser one.
pub fn suggest<Read, Failure>(
    runs: &[&RunSummary],
    doubts: &[Doubt],
    mut read: Read,
) -> Result<Vec<Suggestion>, Failure>
where
    Read: FnMut(&RunSummary, &mut dyn FnMut(Moment, &Event)) -> Result<(), Failure>,
{
    let each: Vec<(&str, u32)> = TRIED
        .iter()
        .flat_map(|(key, _, values)| values.iter().map(|value| (*key, *value)))
        .collect();
    let limits: Vec<Limits> =
        each.iter().map(|(key, value)| Limits::with(&Change::to(key, *value))).collect();
    let mut told = vec![WhatIf::default(); limits.len()];
    for run in runs {
        for (one, replayed) in told.iter_mut().zip(replay_each(&limits, run, |to| read(run, to))?) {
            one.add(replayed);
        }
    }
    let mut of_key: BTreeMap<&str, BTreeMap<u32, WhatIf>> = BTreeMap::new();
    for ((key, value), one) in each.into_iter().zip(told) {
        of_key.entry(key).or_default().insert(value, one);
    }
    let suggested = TRIED.iter().filter_map(|(key, guard, _)| {
        best(key, of_key.get(key)?, &moved_after_all(doubts, *guard))
    });
    Ok(suggested.collect())
}

/// The runs a guard halted, and that moved at once when they were taken up unchanged.
fn moved_after_all(doubts: &[Doubt], guard: GuardKind) -> BTreeSet<&RunId> {
    let is_of = |doubt: &&Doubt| doubt.guard == guard && doubt.kind == DoubtKind::MovedAfterAll;
    doubts.iter().filter(is_of).map(|doubt| &doubt.run).collect()
}

/// The value of a setting that is spoken for.
pub(super) fn best(
    key: &str,
    tried: &BTreeMap<u32, WhatIf>,
    doubted: &BTreeSet<&RunId>,
) -> Option<Suggestion> {
    let stricter = tried.iter().filter(|(_, evidence)| speaks_for(evidence));
    let stricter = stricter.max_by_key(|(_, evidence)| evidence.gain_micro_usd);
    if let Some((value, evidence)) = stricter {
        let share = 300_u64.div_ceil(evidence.earlier.len().max(1) as u64);
        return Some(Suggestion {
            toml: Change::to(key, *value).toml(),
            way: Way::Stricter,
            evidence: evidence.clone(),
            harm_at_most_percent: Some(share),
            doubted: Vec::new(),
        });
    }
    let freed = |evidence: &WhatIf| -> Vec<RunId> {
        evidence.let_go.iter().filter(|run| doubted.contains(run)).cloned().collect()
    };
    let looser = tried.iter().find(|(_, evidence)| freed(evidence).len() >= DOUBTS_MIN);
    looser.map(|(value, evidence)| Suggestion {
        toml: Change::to(key, *value).toml(),
        way: Way::Looser,
        evidence: evidence.clone(),
        harm_at_most_percent: None,
        doubted: freed(evidence),
    })
}

/// Whether runs speak for a change: none harmed in thirty, and worth a twentieth of all cost.
pub(super) fn speaks_for(evidence: &WhatIf) -> bool {
    let share = evidence.cost_micro_usd.saturating_mul(GAIN_MIN_PERCENT) / 100;
    evidence.harmed.is_empty()
        && evidence.earlier.len() as u64 >= RUNS_MIN
        && evidence.gain_micro_usd > 0
        && evidence.gain_micro_usd >= share
}
