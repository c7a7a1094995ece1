//! What the counters of `/metrics` count, run by run: a run that has not moved is not read again. Runs
//! are many and what they are counted under is the same in most: of each run only numbers are held.

use std::collections::BTreeMap;

use flyball_core::RunId;

use super::figures::each;
use crate::journal::{Journal, JournalError, RunSummary};
use crate::stats::{Counts, RunTotals, Spans};
use crate::view::Builder;

/// Labels of a figure, with their names.
pub(super) type Labels = Vec<(&'static str, String)>;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Figure {
    Ended,
    Iterations,
    Trips,
    Claims,
    Gates,
    Calls,
    Tokens,
    /// In millionths of a dollar.
    Cost,
    /// The same, of what moved nothing.
    Idle,
    Stories,
    IterationSpans(Part),
    GateSpans(Part),
}

/// What is counted of spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// Those between two bounds.
    Between(usize),
    /// All of them together, in milliseconds.
    Sum,
}

/// One figure under its labels.
type Series = (Figure, Labels);

/// What all runs add.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// What anything was ever counted under, and the number of that.
    series: BTreeMap<Series, u32>,
    runs: BTreeMap<RunId, Kept>,
    looks: u64,
}

/// What one run adds, by the numbers of series.
#[derive(Debug)]
struct Kept {
    events: u64,
    looked: u64,
    counts: Box<[(u32, u64)]>,
}

impl Totals {
    /// What all runs add together, brought up to date.
    pub(super) fn of(
        &mut self,
        journal: &Journal,
    ) -> Result<impl Iterator<Item = (Figure, &Labels, u64)>, JournalError> {
        self.looks += 1;
        for run in journal.runs_before(None)? {
            let run = run?;
            if let Some(kept) = self.runs.get_mut(&run.run)
                && kept.events == run.events
            {
                kept.looked = self.looks;
                continue;
            }
            let counts = self.numbered(&read(journal, &run)?);
            let kept = Kept { events: run.events, looked: self.looks, counts };
            self.runs.insert(run.run, kept);
        }
        self.runs.retain(|_, kept| kept.looked == self.looks);
        let mut sums: Vec<Option<u64>> = vec![None; self.series.len()];
        for (number, count) in self.runs.values().flat_map(|kept| &kept.counts) {
            if let Some(sum) = sums.get_mut(*number as usize) {
                *sum = Some(sum.unwrap_or(0).saturating_add(*count));
            }
        }
        Ok(self.series.iter().filter_map(move |((figure, labels), number)| {
            let sum = sums.get(*number as usize).copied().flatten()?;
            Some((*figure, labels, sum))
        }))
    }

    fn numbered(&mut self, totals: &RunTotals) -> Box<[(u32, u64)]> {
        let mut counts = Vec::new();
        split(totals, |figure, labels, count| {
            let next = u32::try_from(self.series.len()).unwrap_or(u32::MAX);
            counts.push((*self.series.entry((figure, labels)).or_insert(next), count));
        });
        counts.into()
    }
}

/// A run's totals, one by one.
fn split(totals: &RunTotals, mut give: impl FnMut(Figure, Labels, u64)) {
    let by_agent = || vec![("agent", totals.agent.clone())];
    let by_model = || vec![("agent", totals.agent.clone()), ("model", totals.model.clone())];
    if let Some(outcome) = &totals.outcome {
        let labels = vec![("outcome", outcome.clone()), ("agent", totals.agent.clone())];
        give(Figure::Ended, labels, 1);
    }
    let mut all = |figure, counts: &Counts, names: &[&'static str], more: &dyn Fn() -> Labels| {
        for (values, count) in counts {
            let own = names.iter().copied().zip(values.iter().cloned());
            give(figure, own.chain(more()).collect(), *count);
        }
    };
    all(Figure::Iterations, &totals.iterations, &["result"], &by_agent);
    all(Figure::Trips, &totals.trips, &["guard", "rung"], &Labels::new);
    all(Figure::Claims, &totals.claims, &["claim", "verdict"], &Labels::new);
    all(Figure::Gates, &totals.gates, &["gate", "status"], &Labels::new);
    all(Figure::Calls, &totals.calls, &["outcome"], &by_agent);
    for (kind, count) in [("input", totals.input_tokens), ("output", totals.output_tokens)] {
        let labels = [by_model(), vec![("type", kind.to_owned())]].concat();
        give(Figure::Tokens, labels, count);
    }
    give(Figure::Cost, by_model(), totals.cost_micro_usd);
    give(Figure::Idle, by_model(), totals.idle_micro_usd);
    give(Figure::Stories, by_agent(), totals.stories);
    if let Some(spans) = &totals.iteration_spans {
        spread(spans, |part, count| give(Figure::IterationSpans(part), by_agent(), count));
    }
    for (gate, spans) in &totals.gate_spans {
        let labels = || vec![("gate", gate.clone())];
        spread(spans, |part, count| give(Figure::GateSpans(part), labels(), count));
    }
}

fn spread(spans: &Spans, mut give: impl FnMut(Part, u64)) {
    for (at, count) in spans.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        give(Part::Between(at), *count);
    }
    give(Part::Sum, spans.sum.get());
}

fn read(journal: &Journal, run: &RunSummary) -> Result<RunTotals, JournalError> {
    let (mut totals, mut builder) = (RunTotals::new(run), Builder::without_lines(run));
    each(journal, run, |at, event| {
        totals.happened(event);
        for effect in builder.step(at, event) {
            totals.decided(&effect);
        }
    })?;
    totals.seen(&builder.view(run));
    Ok(totals)
}
