//! What another limit would have done: every journalled run is given to a governor with it. Where
//! that one stops earlier, the rest of the journal tells the truth about what would have been lost.

use std::collections::BTreeMap;

use flyball_core::effect::{Effect, Notice};
use flyball_core::guard::Rung;
use flyball_core::policy::{Policy, Rules};
use flyball_core::{Event, Governor, IterationNo, Moment, RunId};
use serde::Serialize;
use serde_json::Value;

use crate::journal::RunSummary;
use crate::view::Builder;

/// Settings that are tried for a suggestion, and the values.
const TRIED: [(&str, &[u32]); 5] = [
    ("limits.stuck", &[1, 2, 3, 4]),
    ("iterations.circuit_breaker", &[2, 3, 4]),
    ("iterations.thrashing", &[2, 3, 4, 5]),
    ("iterations.gate_refusals", &[1, 2, 3, 4]),
    ("calls.max_refusals", &[1, 2, 3]),
];
/// How many runs must speak for a suggestion, and how much of all cost it must be worth.
const RUNS_MIN: u64 = 30;
const GAIN_MIN_PERCENT: u64 = 5;

/// A limit set otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    key: String,
    value: Value,
}

/// Why a limit cannot be set so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ChangeError(String);

impl Change {
    /// `KEY=VALUE`, such as `limits.stuck=2`; durations in milliseconds.
    pub fn parse(text: &str) -> Result<Self, ChangeError> {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            ChangeError(format!("`{text}` is not KEY=VALUE, such as limits.stuck=2"))
        })?;
        let value = serde_json::from_str(value.trim())
            .unwrap_or_else(|_| Value::String(value.trim().to_owned()));
        let change = Self { key: key.trim().to_owned(), value };
        change.apply(&Policy::default())?;
        Ok(change)
    }

    /// The policy with the change.
    fn apply(&self, policy: &Policy) -> Result<Policy, ChangeError> {
        let wrong = |why: String| ChangeError(format!("`{}`: {why}", self.key));
        let mut rules = serde_json::to_value(policy).map_err(|error| wrong(error.to_string()))?;
        let place = self.key.split('.').try_fold(&mut rules, |at, part| at.get_mut(part));
        let place = place.ok_or_else(|| wrong("no limit the governor knows".to_owned()))?;
        if place.is_object() {
            return Err(wrong("names a group of limits, not one".to_owned()));
        }
        *place = self.value.clone();
        let rules: Rules =
            serde_json::from_value(rules).map_err(|error| wrong(error.to_string()))?;
        Policy::new(rules).map_err(|error| wrong(error.to_string()))
    }

    /// The event under the changed limits.
    fn event(&self, event: &Event) -> Option<Event> {
        let mut changed = event.clone();
        if let Event::RunStarted(start) = &mut changed {
            start.policy = self.apply(&start.policy).ok()?;
        } else if let Event::RunResumed(resume) = &mut changed {
            resume.policy = self.apply(&resume.policy).ok()?;
        }
        Some(changed)
    }

    /// As it is written in `flyball.toml`.
    pub fn toml(&self) -> String {
        format!("{} = {}", self.key, self.value)
    }
}

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

/// What would have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// The session; the run goes on.
    Session,
    /// The run.
    Run,
}

/// Where a run would have been stopped.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// In which iteration.
    iteration: Option<IterationNo>,
    /// What ends there.
    scope: Scope,
    /// What had been spent.
    cost: u64,
    /// What had been spent when the part that would not have been was over.
    until: u64,
    /// Whether there was such a part.
    went_on: bool,
    /// Whether it made progress.
    harmed: bool,
}

/// Watches one run twice: as it was, and as it would have been.
#[derive(Debug)]
struct Twice {
    change: Change,
    builder: Builder,
    other: Governor,
    iteration: Option<IterationNo>,
    point: Option<Point>,
    cost: u64,
    /// Whether it ended, as it was and as it would have been.
    ended: (bool, bool),
}

impl Twice {
    fn new(run: &RunSummary, change: &Change) -> Self {
        Self {
            change: change.clone(),
            builder: Builder::new(run),
            other: Governor::new(),
            iteration: None,
            point: None,
            cost: 0,
            ended: (false, false),
        }
    }

    fn step(&mut self, at: Moment, event: &Event) {
        let was = self.builder.step(at, event);
        // Limits that do not go together leave a run as it was.
        let changed = self.change.event(event);
        let would = match changed {
            Some(event) => self.other.step(at, &event),
            None => self.other.step(at, event),
        };
        if let Event::RunResumed(_) = event {
            self.ended = (false, false);
        }
        self.cost = self.builder.cost().unwrap_or(self.cost);
        let ends = is_end(&would) && !is_end(&was);
        let halts = is_halt(&would) && !is_halt(&was);
        if self.point.is_none() && !self.ended.0 && (ends || halts) {
            let (cost, iteration) = (self.cost, self.iteration);
            let (went_on, harmed) = (false, false);
            let scope = if ends { Scope::Run } else { Scope::Session };
            self.point = Some(Point { iteration, scope, cost, until: cost, went_on, harmed });
        } else {
            self.after(&was);
        }
        self.ended = (self.ended.0 || is_end(&was), self.ended.1 || is_end(&would));
        for effect in &was {
            if let Effect::StartAgent { iteration, .. } = effect {
                self.iteration = Some(*iteration);
            }
        }
    }

    /// What the rest of the journal says about a point that was passed.
    fn after(&mut self, was: &[Effect]) {
        let Some(point) = &mut self.point else { return };
        for effect in was {
            let Effect::CloseIteration(report) = effect else { continue };
            let number = Some(report.iteration);
            let concerns = match point.scope {
                Scope::Session => number == point.iteration,
                Scope::Run => number > point.iteration,
            };
            if concerns {
                point.went_on = true;
                point.harmed |= self.builder.progress(report.iteration) == Some(true);
                point.until = self.cost;
            }
        }
    }

    /// Whether a guard's halt would not have come.
    fn is_let_go(&self) -> bool {
        let was_guard = self.builder.ending().is_some_and(|ending| ending.outcome.is_guard());
        was_guard && self.ended == (true, false) && self.point.is_none()
    }
}

fn is_end(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::FinishRun(_)))
}

fn is_halt(effects: &[Effect]) -> bool {
    effects
        .iter()
        .any(|effect| matches!(effect, Effect::Announce(Notice::Tripped { rung: Rung::Halt, .. })))
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
    let mut out = WhatIf::default();
    for run in runs {
        let mut twice = Twice::new(run, change);
        read(run, &mut |at, event| twice.step(at, event))?;
        out.runs += 1;
        out.cost_micro_usd = out.cost_micro_usd.saturating_add(twice.cost);
        if twice.is_let_go() {
            out.let_go.push(run.run.clone());
        }
        let Some(point) = twice.point.filter(|point| point.went_on) else { continue };
        out.earlier.push(run.run.clone());
        if point.harmed {
            out.harmed.push(run.run.clone());
        } else {
            let spent = point.until.saturating_sub(point.cost);
            out.gain_micro_usd = out.gain_micro_usd.saturating_add(spent);
        }
    }
    Ok(out)
}

/// A limit that one's own runs speak for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// The line for `flyball.toml`.
    pub toml: String,
    /// What it would have done.
    pub evidence: WhatIf,
    /// The share of such runs it might harm all the same, at most, in percent (95 %).
    pub harm_at_most_percent: u64,
}

/// Limits that would have harmed no run and saved much; for each setting the best one.
pub fn suggest<Read, Failure>(
    runs: &[&RunSummary],
    mut read: Read,
) -> Result<Vec<Suggestion>, Failure>
where
    Read: FnMut(&RunSummary, &mut dyn FnMut(Moment, &Event)) -> Result<(), Failure>,
{
    let mut best: BTreeMap<&str, Suggestion> = BTreeMap::new();
    for (key, values) in TRIED {
        for value in values {
            let change = Change { key: key.to_owned(), value: Value::from(*value) };
            let evidence = what_if(&change, runs, &mut read)?;
            let is_better = best
                .get(key)
                .is_none_or(|known| known.evidence.gain_micro_usd < evidence.gain_micro_usd);
            if speaks_for(&evidence) && is_better {
                let harm_at_most_percent = 300_u64.div_ceil(evidence.earlier.len().max(1) as u64);
                best.insert(
                    key,
                    Suggestion { toml: change.toml(), evidence, harm_at_most_percent },
                );
            }
        }
    }
    Ok(best.into_values().collect())
}

/// Whether runs speak for a change: none harmed in thirty, and worth a twentieth of all cost.
pub(super) fn speaks_for(evidence: &WhatIf) -> bool {
    let share = evidence.cost_micro_usd.saturating_mul(GAIN_MIN_PERCENT) / 100;
    evidence.harmed.is_empty()
        && evidence.earlier.len() as u64 >= RUNS_MIN
        && evidence.gain_micro_usd > 0
        && evidence.gain_micro_usd >= share
}
