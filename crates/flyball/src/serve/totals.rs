//! What the counters of `/metrics` count, run by run: a run that has not moved is not read again.

use std::collections::BTreeMap;

use flyball_core::call::ToolOutcome;
use flyball_core::effect::{Effect, IterationResult, Notice};
use flyball_core::event::AgentFact;
use flyball_core::gate::Check;
use flyball_core::{Event, Millis, RunId};

use super::figures::each;
use crate::journal::{Journal, JournalError, RunSummary};
use crate::view::{Builder, ClaimVerdict, RunView, words};

/// The bounds of the histograms, in seconds.
pub(super) const ITERATION_BOUNDS: [f64; 9] =
    [30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0];
pub(super) const GATE_BOUNDS: [f64; 8] = [0.5, 1.0, 2.0, 5.0, 15.0, 60.0, 120.0, 300.0];

/// Counts under names; a bounded number of names.
pub(super) type Counts = BTreeMap<Vec<String>, u64>;

/// What one run adds to the counters.
#[derive(Clone, Debug, Default)]
pub(super) struct RunTotals {
    pub(super) agent: String,
    pub(super) outcome: Option<String>,
    /// By result.
    pub(super) iterations: Counts,
    /// Seconds each took.
    pub(super) iteration_seconds: Vec<f64>,
    /// By guard and rung.
    pub(super) trips: Counts,
    /// By claim and verdict.
    pub(super) claims: Counts,
    /// By gate and status.
    pub(super) gates: Counts,
    /// By gate, seconds of each.
    pub(super) gate_seconds: Vec<(String, f64)>,
    /// By outcome of the call.
    pub(super) calls: Counts,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cost_micro_usd: u64,
    pub(super) idle_micro_usd: u64,
    pub(super) stories: u64,
}

/// What all runs add.
#[derive(Debug, Default)]
pub(super) struct Totals {
    runs: BTreeMap<RunId, (u64, RunTotals)>,
}

impl Totals {
    /// What each run adds, brought up to date.
    pub(super) fn of(
        &mut self,
        journal: &Journal,
        runs: &[RunSummary],
    ) -> Result<impl Iterator<Item = &RunTotals>, JournalError> {
        let known: BTreeMap<&RunId, u64> = runs.iter().map(|run| (&run.run, run.events)).collect();
        self.runs.retain(|run, (events, _)| known.get(run) == Some(events));
        for run in runs {
            if !self.runs.contains_key(&run.run) {
                let totals = read(journal, run)?;
                self.runs.insert(run.run.clone(), (run.events, totals));
            }
        }
        Ok(self.runs.values().map(|(_, totals)| totals))
    }
}

fn read(journal: &Journal, run: &RunSummary) -> Result<RunTotals, JournalError> {
    let mut totals =
        RunTotals { agent: agent(run), outcome: run.outcome.clone(), ..RunTotals::default() };
    let mut builder = Builder::new(run);
    each(journal, run, |at, event| {
        totals.happened(event);
        for effect in builder.step(at, event) {
            totals.decided(&effect);
        }
    })?;
    totals.seen(&builder.view(run));
    Ok(totals)
}

/// The agent as a label: one word, and short.
pub(super) fn agent(run: &RunSummary) -> String {
    let name = words::line(&run.agent, 60);
    let first = name.split(' ').next().unwrap_or("");
    first.rsplit('/').next().unwrap_or("").to_owned()
}

impl RunTotals {
    fn happened(&mut self, event: &Event) {
        if let Event::GatesFinished { result, .. } = event {
            for check in &result.checks {
                self.checked(check);
            }
        }
        let Event::Agent { fact, .. } = event else { return };
        if let AgentFact::ToolReturned(result) = fact {
            let word = match result.outcome {
                ToolOutcome::Ok | ToolOutcome::Exit => "ok",
                ToolOutcome::Tool => "failed",
                ToolOutcome::Refused => "refused",
            };
            add(&mut self.calls, &[word]);
        } else if let AgentFact::Spent(spend) = fact {
            self.input_tokens = self.input_tokens.saturating_add(spend.input_tokens);
            self.output_tokens = self.output_tokens.saturating_add(spend.output_tokens);
        }
    }

    fn checked(&mut self, check: &Check) {
        let gate = words::line(check.gate.as_str(), 60);
        add(&mut self.gates, &[&gate, check.status.as_str()]);
        self.gate_seconds.push((gate, seconds(check.duration)));
    }

    fn decided(&mut self, effect: &Effect) {
        if let Effect::Announce(Notice::Tripped { trip, rung }) = effect {
            let rung = crate::page::rung(*rung);
            if rung != "pass" {
                add(&mut self.trips, &[trip.guard.as_str(), rung]);
            }
        }
    }

    fn seen(&mut self, view: &RunView) {
        for one in &view.iterations {
            let Some(result) = one.result else { continue };
            add(&mut self.iterations, &[result_word(result)]);
            self.iteration_seconds.push(seconds(one.duration()));
            let Some(claim) = &one.claim else { continue };
            match claim.complete {
                Some(ClaimVerdict::Accepted) => add(&mut self.claims, &["complete", "accepted"]),
                Some(ClaimVerdict::Refused) => add(&mut self.claims, &["complete", "refused"]),
                Some(ClaimVerdict::Open) | None => {}
            }
            if claim.blocked.is_some() {
                add(&mut self.claims, &["blocked", "accepted"]);
            }
            if claim.decide.is_some() {
                add(&mut self.claims, &["decide", "accepted"]);
            }
        }
        self.cost_micro_usd = view.tally.cost_micro_usd;
        self.idle_micro_usd = view.cost_without_progress().unwrap_or(0);
        let verified = view.outcome() == Some(flyball_core::Outcome::Complete);
        self.stories = if verified { u64::from(view.stories_passed()) } else { 0 };
    }
}

const fn result_word(result: IterationResult) -> &'static str {
    match result {
        IterationResult::Passed => "passed",
        IterationResult::Unchecked => "unchecked",
        IterationResult::Red => "red",
        IterationResult::Improved => "improved",
        IterationResult::Halted(_) => "halted",
        IterationResult::Died => "died",
        IterationResult::Lost => "lost",
        IterationResult::Cut(_) => "cut",
    }
}

/// A span in seconds.
pub(super) fn seconds(span: Millis) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "no span is that long")]
    let millis = span.get() as f64;
    millis / 1e3
}

fn add(counts: &mut Counts, names: &[&str]) {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    *counts.entry(names).or_default() += 1;
}
