//! A run in figures: tokens and time as the `GenAI` conventions name them, and flyball's own, the same as
//! `/metrics` of the window has. All count from the run's beginning on.

use std::collections::BTreeMap;

use flyball_core::event::Spend;
use flyball_core::{Effect, Event, Millis};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;

use super::attribute::{Attributes, nanos, text};
use super::histogram::{Histogram, Naming, Period};
use super::names;
use crate::journal::RunSummary;
use crate::stats::{Counts, GATE_BOUNDS, ITERATION_BOUNDS, RunTotals, seconds};
use crate::view::RunView;

/// As the conventions advise.
const TOKEN_BOUNDS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// An agent and the model it was asked to use.
type Doer = (String, Option<String>);

/// Counts a run.
#[derive(Debug)]
pub(super) struct Meter {
    totals: RunTotals,
    tokens: BTreeMap<(Doer, &'static str), Histogram>,
    took: BTreeMap<Doer, Histogram>,
    iterations: u64,
}

impl Meter {
    pub(super) fn new(run: &RunSummary) -> Self {
        let (tokens, took) = (BTreeMap::new(), BTreeMap::new());
        Self { totals: RunTotals::new(run), tokens, took, iterations: 0 }
    }

    pub(super) fn happened(&mut self, event: &Event) {
        self.totals.happened(event);
    }

    pub(super) fn decided(&mut self, effect: &Effect) {
        self.totals.decided(effect);
    }

    /// An iteration is over.
    pub(super) fn closed(
        &mut self,
        (agent, model): (&str, Option<&str>),
        spent: Spend,
        took: Millis,
    ) {
        self.iterations += 1;
        let doer = (agent.to_owned(), model.map(str::to_owned));
        for (kind, tokens) in [("input", spent.input_tokens), ("output", spent.output_tokens)] {
            if tokens > 0 {
                let one = self.tokens.entry((doer.clone(), kind));
                #[expect(clippy::cast_precision_loss, reason = "a count of tokens")]
                one.or_insert_with(|| Histogram::new(&TOKEN_BOUNDS)).observe(tokens as f64);
            }
        }
        let one = self.took.entry(doer).or_insert_with(|| Histogram::new(&ITERATION_BOUNDS));
        one.observe(seconds(took));
    }

    pub(super) const fn iterations(&self) -> u64 {
        self.iterations
    }

    /// All figures as they stand.
    pub(super) fn metrics(&self, view: &RunView) -> Vec<Metric> {
        let run = &view.run;
        let period = Period { from: nanos(run.started), to: nanos(run.last_at) };
        let mut totals = self.totals.clone();
        totals.outcome.clone_from(&run.outcome);
        totals.seen(view);
        let mut metrics: Vec<Metric> = self.conventional(period).into_iter().flatten().collect();
        metrics.extend(counters(&totals, period).into_iter().flatten());
        metrics.extend(durations(&totals, period).into_iter().flatten());
        metrics.extend(standing(view, period));
        metrics
    }

    fn conventional(&self, period: Period) -> [Option<Metric>; 2] {
        let tokens = self.tokens.iter().map(|((doer, kind), histogram)| {
            let mut told = told(doer);
            told.push(text(names::TOKEN_TYPE, kind));
            (told, histogram)
        });
        let took = self.took.iter().map(|(doer, histogram)| (told(doer), histogram));
        [
            naming(names::TOKEN_USAGE, "{token}", "Tokens an iteration used")
                .histogram(period, tokens),
            naming(names::OPERATION_DURATION, "s", "How long iterations took")
                .histogram(period, took),
        ]
    }
}

const fn naming(name: &'static str, unit: &'static str, words: &'static str) -> Naming {
    Naming { name, unit, words }
}

/// Who did it, as the conventions name that.
fn told((agent, model): &Doer) -> Attributes {
    let mut told = vec![text(names::OPERATION, names::INVOKE_AGENT), text(names::AGENT, agent)];
    told.extend(names::provider(agent).map(|provider| text(names::PROVIDER, provider)));
    told.extend(model.as_ref().map(|model| text(names::MODEL, model)));
    told
}

fn whole(number: u64) -> Value {
    Value::AsInt(i64::try_from(number).unwrap_or(i64::MAX))
}

#[expect(clippy::cast_precision_loss, reason = "no run costs that much")]
const fn money(micro_usd: u64) -> Value {
    Value::AsDouble(micro_usd as f64 / 1e6)
}

/// Counts under attributes of these names.
fn counted<'a>(
    counts: &'a Counts,
    labels: &'a [&'static str],
) -> impl Iterator<Item = (Attributes, Value)> + 'a {
    counts.iter().map(move |(values, count)| {
        let pairs = labels.iter().zip(values).map(|(label, value)| text(label, value));
        (pairs.collect(), whole(*count))
    })
}

fn counters(totals: &RunTotals, period: Period) -> [Option<Metric>; 9] {
    let alone = |value: Value| [(Vec::new(), value)];
    let outcome = totals.outcome.iter().map(|outcome| (vec![text("outcome", outcome)], whole(1)));
    [
        naming("flyball.runs.ended", "{run}", "Runs that ended, by outcome").sum(period, outcome),
        naming("flyball.iterations", "{iteration}", "Iterations that were closed")
            .sum(period, counted(&totals.iterations, &["result"])),
        naming("flyball.guard.trips", "{trip}", "How often guards spoke")
            .sum(period, counted(&totals.trips, &["guard", "rung"])),
        naming("flyball.claims", "{claim}", "What agents claimed, and what came of it")
            .sum(period, counted(&totals.claims, &["claim", "verdict"])),
        naming("flyball.gate.runs", "{run}", "Words of gates")
            .sum(period, counted(&totals.gates, &["gate", "status"])),
        naming("flyball.tool.calls", "{call}", "Calls of tools")
            .sum(period, counted(&totals.calls, &["outcome"])),
        naming("flyball.cost", "USD", "Money used")
            .sum(period, alone(money(totals.cost_micro_usd))),
        naming("flyball.cost.without_progress", "USD", "Money that moved nothing")
            .sum(period, alone(money(totals.idle_micro_usd))),
        naming("flyball.stories.verified", "{story}", "Stories of verified runs")
            .sum(period, alone(whole(totals.stories))),
    ]
}

fn durations(totals: &RunTotals, period: Period) -> [Option<Metric>; 2] {
    let took = totals.iteration_spans.as_ref();
    let took = took.map(|spans| Histogram::of(&ITERATION_BOUNDS, spans));
    let took = took.as_ref().map(|took| (Vec::new(), took));
    let of = |(gate, spans)| (gate, Histogram::of(&GATE_BOUNDS, spans));
    let gates: Vec<(&String, Histogram)> = totals.gate_spans.iter().map(of).collect();
    let gates = gates.iter().map(|(gate, one)| (vec![text("gate", gate)], one));
    [
        naming("flyball.iteration.duration", "s", "How long iterations took")
            .histogram(period, took),
        naming("flyball.gate.duration", "s", "How long gates took").histogram(period, gates),
    ]
}

/// How the run stands.
fn standing(view: &RunView, period: Period) -> Vec<Metric> {
    let iterations = u64::from(view.iterations_begun());
    let stuck = u64::from(view.run.state.stuck);
    let failing = view.failing().map(|(_, now)| {
        naming("flyball.run.failing_checks", "{check}", "Checks that fail in it")
            .gauge(period, whole(now))
    });
    let mut metrics = vec![
        naming("flyball.run.iteration", "{iteration}", "Its iteration")
            .gauge(period, whole(iterations)),
        naming("flyball.run.stuck", "{iteration}", "Its iterations without progress in a row")
            .gauge(period, whole(stuck)),
    ];
    metrics.extend(failing);
    metrics
}
