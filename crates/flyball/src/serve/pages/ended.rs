//! Runs that ended, in a table: how, how its checks moved, what it took, and why.

use flyball_core::Millis;
use maud::{Markup, html};

use super::{address, project, short, span_words};
use crate::desk::elapsed;
use crate::journal::RunSummary;
use crate::page::tone;
use crate::serve::window::{Books, Look};
use crate::view::words;

/// How much of why it ended is shown.
const WHY: usize = 140;

/// A run that ended, and its scores.
pub(super) struct Row {
    run: RunSummary,
    scores: Vec<f64>,
}

impl Row {
    /// With the scores of its iterations.
    pub(super) fn read(books: &Books, run: RunSummary) -> Self {
        let reports = books.journal.iterations(&run.run).unwrap_or_default();
        let scores = reports.iter().filter_map(|report| report.score).collect();
        Self { run, scores }
    }

    /// Which run.
    pub(super) const fn run(&self) -> &RunSummary {
        &self.run
    }
}

/// The table.
pub(super) fn table(look: Look<'_>, rows: &[Row]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Runs that ended" {
            table.list.runs {
                thead { tr {
                    th scope="col" { "run" } th scope="col" { "outcome" } th.wide scope="col" { "checks" }
                    th.num.wide scope="col" { "iterations" } th.num.wide scope="col" { "stories" }
                    th.num.wide scope="col" { "time" } th.num.wide scope="col" { "tokens" }
                    th.num scope="col" { "cost" } th.wide scope="col" { "why" }
                } }
                tbody { @for row in rows { (line(look, row)) } }
            }
        }
    }
}

fn line(look: Look<'_>, row: &Row) -> Markup {
    let run = &row.run;
    let outcome = run.ending.as_ref().map(|ending| ending.outcome);
    let (why, iterations) = match (&run.ending, &run.damaged) {
        (Some(ending), _) => (words::line(&ending.why, WHY), ending.tally.iterations),
        (None, Some(damaged)) => {
            (words::line(&format!("damaged: {damaged}"), WHY), run.state.iteration.get())
        }
        (None, None) => ("its process is gone".to_owned(), run.state.iteration.get()),
    };
    let chip = match (run.ended, outcome) {
        (Some(_), Some(_)) => tone(outcome),
        // It says how it ended, in a way that cannot be read.
        (Some(_), None) => "warn",
        (None, _) => "ask",
    };
    let word = run.outcome.as_deref().unwrap_or("lost").replace('_', " ");
    let took: Millis = elapsed(run, look.now);
    html! {
        tr {
            td.keep { a href=(address(run)) { (project(run)) } " " small { (short(run)) } }
            td { span class=(format!("chip {chip}")) { (word) } }
            td.wide { (curve(&row.scores)) }
            td.num.wide { (iterations) }
            td.num.wide { (words::share(run.state.stories_complete, run.state.stories_total)) }
            td.num.wide { (span_words(took)) }
            td.num.wide { (words::count(run.state.tokens)) }
            td.num { (words::money(run.state.cost_micro_usd)) }
            td.reason.wide { (why) }
        }
    }
}

/// The share of checks that pass, iteration by iteration.
fn curve(scores: &[f64]) -> Markup {
    const WIDTH: f64 = 80.0;
    if scores.len() < 2 {
        return html! {};
    }
    #[expect(clippy::cast_precision_loss, reason = "a few dozen points")]
    let step = WIDTH / (scores.len() - 1) as f64;
    let mut x = 2.0;
    let mut points = String::new();
    let mut last = (2.0, 18.0);
    for score in scores {
        last = (x, 18.0 - score.clamp(0.0, 1.0) * 16.0);
        points.extend([format!("{:.0},{:.1} ", last.0, last.1)]);
        x += step;
    }
    let ends = scores.last().copied().unwrap_or(0.0) * 100.0;
    html! {
        svg.curve viewBox="0 0 86 20" role="img" aria-label=(format!("ends at {ends:.0} % of the checks")) {
            polyline points=(points.trim_end()) {}
            circle cx=(format!("{:.0}", last.0)) cy=(format!("{:.1}", last.1)) r="2.2" {}
        }
    }
}
