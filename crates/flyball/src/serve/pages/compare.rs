//! Two runs side by side: the same checks in the same rows, what each took, and where they parted.

use std::collections::BTreeMap;

use flyball_core::{GateName, IterationNo, Millis};
use maud::{Markup, html};
use serde::Deserialize;

use super::frame::{Place, frame};
use super::{address, fitting, project, span_words};
use crate::journal::RunSummary;
use crate::page::{mark, newest, outcome_words, title, tone};
use crate::serve::window::{Books, Look, Problem};
use crate::view::{Cell, CheckRow, RunView, words};

/// Rows and columns of each; fewer where the page would be too large.
const STEPS: [(usize, usize); 4] = [(30, 18), (24, 12), (14, 10), (6, 6)];
/// How many runs are offered for comparing.
const OFFERED: usize = 30;

/// Which two.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct CompareQuery {
    a: Option<String>,
    b: Option<String>,
}

/// The page.
pub(in crate::serve) fn compare(
    _: Look<'_>,
    books: &mut Books,
    query: &CompareQuery,
) -> Result<Markup, Problem> {
    let asks = books.asks()?.len();
    let given = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    let (Some(first), Some(second)) = (given(&query.a), given(&query.b)) else {
        let chosen = given(&query.a).map(|name| books.run(&name)).transpose()?;
        let choice = choose(chosen.as_ref(), &offered(books, chosen.as_ref())?);
        return Ok(frame("Compare", Place::Runs, asks, &choice));
    };
    let mut view = |name: &str| -> Result<RunView, Problem> {
        let run = books.run(name)?;
        Ok(books.views.view(&books.journal, &run)?)
    };
    let (one, other) = (view(&first)?, view(&second)?);
    Ok(fitting(&STEPS, |size| {
        let body = html! {
            p.crumb { a href="/" { "Runs" } " / compare" }
            h1 { "Two runs" @if let Some(words) = parted(&one, &other) { span.dim { " · " (words) } } }
            (facts(&one, &other))
            section {
                h2 { "The same checks in both" }
                div.scroll tabindex="0" role="region" aria-label="Checks by iteration in both runs" { (matrices(&one, &other, size)) }
            }
        };
        frame("Compare", Place::Runs, asks, &body)
    }))
}

/// Runs of the same project are what one compares with.
fn offered(books: &Books, chosen: Option<&RunSummary>) -> Result<Vec<RunSummary>, Problem> {
    let same = |run: &RunSummary| {
        chosen.is_none_or(|chosen| {
            chosen.root.file_name() == run.root.file_name() && chosen.run != run.run
        })
    };
    let runs = books.journal.runs_before(None)?;
    let fitting = runs.filter(|run| run.as_ref().map_or(true, same)).take(OFFERED);
    Ok(fitting.collect::<Result<_, _>>()?)
}

fn choose(chosen: Option<&RunSummary>, offered: &[RunSummary]) -> Markup {
    html! {
        p.crumb { a href="/" { "Runs" } " / compare" }
        h1 { "Compare two runs" }
        p.note { "Two runs of the same task tell most: the same checks side by side, and where the runs parted." }
        @if offered.is_empty() { p.note { "There is no other run of this project." } }
        @else {
            form.filter method="get" action="/compare" {
                @match chosen {
                    Some(run) => { input type="hidden" name="a" value=(run.run); p { (project(run)) " " code { (run.run) } " with" } },
                    None => (select("a", "First run", offered)),
                }
                (select("b", "Second run", offered.get(usize::from(chosen.is_none() && offered.len() > 1)..).unwrap_or(offered)))
                button type="submit" { "Compare" }
            }
        }
    }
}

fn select(name: &str, label: &str, offered: &[RunSummary]) -> Markup {
    html! {
        label {
            span.vh { (label) }
            select name=(name) { @for run in offered { option value=(run.run) { (project(run)) " · " (run.run) " · " (run.outcome.as_deref().unwrap_or("not ended")) } } }
        }
    }
}

fn facts(one: &RunView, other: &RunView) -> Markup {
    let failing = |view: &RunView| {
        view.failing().map_or("–".to_owned(), |(first, last)| format!("{first} → {last}"))
    };
    let row = |name: &str, of: &dyn Fn(&RunView) -> String| {
        html! { tr { th scope="row" { (name) } td { (of(one)) } td { (of(other)) } } }
    };
    html! {
        table.list.two-runs {
            thead { tr {
                th scope="col" { span.vh { "what" } }
                @for view in [one, other] {
                    th scope="col" { a href=(address(&view.run)) { (project(&view.run)) " " code { (view.run.run) } } " " span class=(format!("chip {}", tone(view.outcome()))) { (outcome_words(view)) } }
                }
            } }
            tbody {
                (row("agent", &|view| words::line(&view.run.agent, 60)))
                (row("iterations", &|view| view.tally.iterations.to_string()))
                (row("stories", &|view| words::share(view.tally.stories_complete, view.tally.stories_total)))
                (row("failing checks", &failing))
                (row("time", &|view| span_words(Millis::new(view.tally.runtime_ms))))
                (row("tokens", &|view| words::count(view.tally.tokens)))
                (row("cost", &|view| words::money(view.tally.cost_micro_usd)))
                (row("without progress", &|view| view.cost_without_progress().map_or("–".to_owned(), words::money)))
                (row("guards spoke", &|view| view.guards_spoke().to_string()))
            }
        }
    }
}

/// Checks by gate and name.
type Rows<'v> = BTreeMap<(&'v GateName, &'v str), (Option<&'v CheckRow>, Option<&'v CheckRow>)>;

fn joined<'v>(one: &'v RunView, other: &'v RunView) -> Rows<'v> {
    let mut rows: Rows<'v> = BTreeMap::new();
    for row in &one.matrix.rows {
        rows.entry((&row.gate, row.name.as_str())).or_default().0 = Some(row);
    }
    for row in &other.matrix.rows {
        rows.entry((&row.gate, row.name.as_str())).or_default().1 = Some(row);
    }
    rows
}

fn matrices(one: &RunView, other: &RunView, (most, columns): (usize, usize)) -> Markup {
    let rows = joined(one, other);
    let columns = [newest(&one.matrix.columns, columns), newest(&other.matrix.columns, columns)];
    let views = [one, other];
    let cell = |row: Option<&CheckRow>, view: &RunView, at: usize| {
        let cell = row.and_then(|row| row.cells.get(at).copied()).unwrap_or(Cell::Unknown);
        let when = view.matrix.columns.get(at).map_or(IterationNo::BASELINE, |one| one.iteration);
        mark(cell, when)
    };
    let hidden = rows.len().saturating_sub(most);
    html! {
        @if rows.is_empty() { p.note { "No check failed in either." } }
        @else {
            table.matrix {
                thead { tr {
                    th scope="col" { "check" }
                    @for (view, shown) in views.iter().zip(&columns) {
                        @for at in shown { th scope="col" { (view.matrix.columns.get(*at).map_or_else(|| html! {}, |column| heading(column.iteration))) } }
                        th.gap scope="col" { span.vh { "next run" } }
                    }
                } }
                tbody {
                    @for ((_, name), pair) in rows.iter().take(most) {
                        @let any = pair.0.or(pair.1);
                        tr {
                            th scope="row" title=[any.map(title)] { (words::line(name, 60)) }
                            @for ((view, shown), row) in views.iter().zip(&columns).zip([pair.0, pair.1]) {
                                @for at in shown { (cell(row, view, *at)) }
                                td.gap {}
                            }
                        }
                    }
                    @if hidden > 0 { tr { th scope="row" { span.times { "and " (hidden) " more" } } } }
                }
            }
        }
    }
}

/// A heading without a link: the iterations are on another page.
fn heading(iteration: IterationNo) -> Markup {
    html! { @if iteration == IterationNo::BASELINE { "start" } @else { (iteration) } }
}

/// The first iteration after which other checks failed.
fn parted(one: &RunView, other: &RunView) -> Option<String> {
    let pairs = one.matrix.columns.iter().zip(&other.matrix.columns);
    let apart = pairs
        .into_iter()
        .find(|(a, b)| a.failing.is_some() && b.failing.is_some() && a.failing != b.failing)?;
    let number = apart.0.iteration;
    Some(if number == IterationNo::BASELINE {
        "they began from different places".to_owned()
    } else {
        format!("they parted in iteration {number}")
    })
}
