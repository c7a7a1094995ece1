//! What one run adds to counters: the figures of `/metrics`, and of telemetry.

use std::collections::BTreeMap;

use flyball_core::call::ToolOutcome;
use flyball_core::effect::{Effect, IterationResult, Notice};
use flyball_core::event::AgentFact;
use flyball_core::gate::Check;
use flyball_core::{Event, Millis};

use super::sums::rung_word;
use crate::journal::RunSummary;
use crate::run_record::model_of;
use crate::view::{ClaimVerdict, RunView, words};

/// The bounds of the histograms, in seconds.
pub(crate) const ITERATION_BOUNDS: [f64; 9] =
    [30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0];
pub(crate) const GATE_BOUNDS: [f64; 8] = [0.5, 1.0, 2.0, 5.0, 15.0, 60.0, 120.0, 300.0];

/// Counts under names; a bounded number of names.
pub(crate) type Counts = BTreeMap<Vec<String>, u64>;

/// How many spans were how long: as much memory for a million as for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spans {
    /// How many lie between each two bounds, from below the first to above the last.
    pub(crate) counts: Box<[u64]>,
    pub(crate) sum: Millis,
    pub(crate) least: Millis,
    pub(crate) most: Millis,
}

impl Spans {
    fn new(bounds: &[f64]) -> Self {
        let (least, most) = (Millis::new(u64::MAX), Millis::ZERO);
        Self { counts: vec![0; bounds.len() + 1].into(), sum: Millis::ZERO, least, most }
    }

    /// One more; a bound belongs to what lies below it.
    fn observe(&mut self, bounds: &[f64], span: Millis) {
        let at = bounds.iter().take_while(|bound| seconds(span) > **bound).count();
        if let Some(count) = self.counts.get_mut(at) {
            *count += 1;
        }
        self.sum = self.sum.plus(span);
        (self.least, self.most) = (self.least.min(span), self.most.max(span));
    }
}

/// What one run adds to the counters.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunTotals {
    #[cfg_attr(
        not(feature = "serve"),
        expect(dead_code, reason = "a label of the page's figures")
    )]
    pub(crate) agent: String,
    /// The model that was asked for; empty where the agent chose.
    #[cfg_attr(
        not(feature = "serve"),
        expect(dead_code, reason = "a label of the page's figures")
    )]
    pub(crate) model: String,
    pub(crate) outcome: Option<String>,
    /// By result.
    pub(crate) iterations: Counts,
    /// How long they took; none without any.
    pub(crate) iteration_spans: Option<Spans>,
    /// By guard and rung.
    pub(crate) trips: Counts,
    /// By claim and verdict.
    pub(crate) claims: Counts,
    /// By gate and status.
    pub(crate) gates: Counts,
    /// By gate, how long each took.
    pub(crate) gate_spans: BTreeMap<String, Spans>,
    /// By outcome of the call.
    pub(crate) calls: Counts,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cost_micro_usd: u64,
    pub(crate) idle_micro_usd: u64,
    pub(crate) stories: u64,
}

/// The agent as a label: one word, and short.
pub(crate) fn agent(run: &RunSummary) -> String {
    agent_label(&run.agent)
}

/// The same of a name or a command.
pub(crate) fn agent_label(name: &str) -> String {
    let name = words::line(name, 60);
    let first = name.split(' ').next().unwrap_or("");
    first.rsplit('/').next().unwrap_or("").to_owned()
}

impl RunTotals {
    /// Nothing has happened yet.
    pub(crate) fn new(run: &RunSummary) -> Self {
        let model = model_of(&run.run).map(|model| words::line(&model, 60)).unwrap_or_default();
        Self { agent: agent(run), model, outcome: run.outcome.clone(), ..Self::default() }
    }

    /// The next event.
    pub(crate) fn happened(&mut self, event: &Event) {
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
        let spans = self.gate_spans.entry(gate).or_insert_with(|| Spans::new(&GATE_BOUNDS));
        spans.observe(&GATE_BOUNDS, check.duration);
    }

    /// What was decided on it.
    pub(crate) fn decided(&mut self, effect: &Effect) {
        if let Effect::Announce(Notice::Tripped { trip, rung }) = effect {
            let rung = rung_word(*rung);
            if rung != "pass" {
                add(&mut self.trips, &[trip.guard.as_str(), rung]);
            }
        }
    }

    /// What is known only of the run as a whole: to be asked once, at the end.
    pub(crate) fn seen(&mut self, view: &RunView) {
        for one in &view.iterations {
            let Some(result) = one.result else { continue };
            add(&mut self.iterations, &[result_word(result)]);
            let spans = self.iteration_spans.get_or_insert_with(|| Spans::new(&ITERATION_BOUNDS));
            spans.observe(&ITERATION_BOUNDS, one.duration());
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

/// How an iteration ended, in one word.
pub(crate) const fn result_word(result: IterationResult) -> &'static str {
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
pub(crate) fn seconds(span: Millis) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "no span is that long")]
    let millis = span.get() as f64;
    millis / 1e3
}

fn add(counts: &mut Counts, names: &[&str]) {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    *counts.entry(names).or_default() += 1;
}
