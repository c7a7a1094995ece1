//! How the failing checks moved: checks by iteration, with guards, claims, cost and time on the same
//! axis, and the story beside it.

use flyball_core::IterationNo;
use flyball_core::guard::Rung;
use maud::{Markup, html};

use super::iterations::Shown;
use crate::view::{
    Cell, CheckRow, ClaimVerdict, Column, GuardAct, IterationView, RunView, Sentence, story, words,
};

/// How many marks of guards stand in one cell.
const MARKS_MAX: usize = 8;

/// The section.
pub(crate) fn moved(run: &RunView, shown: Shown) -> Markup {
    let sentences = story(run);
    html! {
        section {
            h2 { @if run.gates.is_empty() { "What happened" } @else { "How the failing checks moved" } }
            @if run.matrix.columns.is_empty() {
                ol.story { @for sentence in &sentences { li { (said(sentence)) } } }
            } @else {
                div.two {
                    div {
                        div.scroll tabindex="0" role="region" aria-label="Failing checks by iteration" {
                            (table(run, shown))
                        }
                        (legend(run))
                    }
                    ol.story { @for sentence in &sentences { li { (said(sentence)) } } }
                }
            }
        }
    }
}

fn said(sentence: &Sentence) -> Markup {
    html! {
        @for span in &sentence.spans {
            @if let Some(iteration) = span.iteration {
                a href=(format!("#i{iteration}")) { (span.text) }
            } @else if span.strong { b { (span.text) } } @else { (span.text) }
        }
    }
}

/// The columns that are shown: the first, and the newest.
pub(crate) fn newest(columns: &[Column], most: usize) -> Vec<usize> {
    let hidden = columns.len().saturating_sub(most);
    (0..columns.len()).filter(|at| *at == 0 || *at > hidden).collect()
}

fn table(run: &RunView, shown: Shown) -> Markup {
    let columns = newest(&run.matrix.columns, shown.columns);
    let fates = run.matrix.fates();
    let hidden: usize = fates.iter().skip(shown.rows).map(Vec::len).sum();
    let hidden = hidden as u64 + run.matrix.left_out;
    let of = |at: &usize| run.matrix.columns.get(*at);
    html! {
        table.matrix {
            thead {
                tr {
                    th scope="col" { "check" }
                    @for column in columns.iter().filter_map(of) { th scope="col" { (heading(column.iteration)) } }
                }
                tr.sum {
                    th scope="row" { "failing" }
                    @for column in columns.iter().filter_map(of) {
                        @match column.failing {
                            Some(failing) => td { (failing) },
                            None => td.none title="no gate ran" { "–" },
                        }
                    }
                }
            }
            tbody {
                @for fate in fates.iter().take(shown.rows) { (row(fate, &columns, &run.matrix.columns)) }
                @if hidden > 0 {
                    tr { th scope="row" { span.times { "and " (hidden) " more" } } }
                }
            }
            (lanes(run, &columns))
        }
    }
}

fn heading(iteration: IterationNo) -> Markup {
    html! {
        @if iteration == IterationNo::BASELINE { "start" }
        @else { a href=(format!("#i{iteration}")) { (iteration) } }
    }
}

/// Checks of the same fate, in one row.
fn row(fate: &[&CheckRow], columns: &[usize], all: &[Column]) -> Markup {
    let Some(first) = fate.first() else { return html! {} };
    let titles: Vec<String> = fate.iter().take(12).map(|row| title(row)).collect();
    html! {
        tr class=[first.is_open().then_some("open")] {
            th scope="row" title=(titles.join("\n")) {
                (words::line(&first.name, 60))
                @if fate.len() > 1 { span.times { "+" (fate.len() - 1) " alike" } }
            }
            @for at in columns {
                @let cell = first.cells.get(*at).copied().unwrap_or(Cell::Unknown);
                @let when = all.get(*at).map_or(IterationNo::BASELINE, |column| column.iteration);
                (mark(cell, when))
            }
        }
    }
}

pub(crate) fn title(row: &CheckRow) -> String {
    match &row.place {
        Some(place) => format!("{}  {place}", row.name),
        None => row.name.clone(),
    }
}

pub(crate) fn mark(cell: Cell, when: IterationNo) -> Markup {
    let (class, sign) = match cell {
        Cell::Unknown => ("o", "·"),
        Cell::Passes => ("p", ""),
        Cell::Fails => ("f", ""),
        Cell::Breaks => ("n", "!"),
        Cell::Fixed => ("x", "✓"),
    };
    let place = if when == IterationNo::BASELINE { "start".to_owned() } else { when.to_string() };
    let words = format!("{place}: {}", cell.as_str());
    html! { td class=(class) title=(words) { (sign) @if sign.is_empty() { span.vh { (cell.as_str()) } } } }
}

/// What happened in each iteration, below the checks.
fn lanes(run: &RunView, columns: &[usize]) -> Markup {
    let of: Vec<Option<&IterationView>> = columns
        .iter()
        .filter_map(|at| run.matrix.columns.get(*at))
        .map(|column| run.iteration(column.iteration))
        .collect();
    let cost = of.iter().flatten().map(|one| one.cost_micro_usd).max().unwrap_or(0);
    let time = of.iter().flatten().map(|one| one.duration().get()).max().unwrap_or(0);
    let spoke = of.iter().flatten().any(|one| one.guards_spoke() > 0);
    let claimed = of.iter().flatten().any(|one| one.claim.is_some());
    html! {
        tfoot {
            @if spoke {
                tr.lane { th scope="row" { "guards" } @for one in &of { td.marks { (guards(*one)) } } }
            }
            @if claimed {
                tr.lane { th scope="row" { "claims" } @for one in &of { td { (claim(*one)) } } }
            }
            @if cost > 0 {
                tr.lane.bars {
                    th scope="row" { "cost" small { " up to " (words::dollars(cost)) } }
                    @for one in &of {
                        @let value = one.map_or(0, |one| one.cost_micro_usd);
                        @let idle = one.is_some_and(|one| one.progress == Some(false));
                        (bar(value, cost, if idle { "idle" } else { "" }, &words::dollars(value)))
                    }
                }
            }
            @if time > 0 {
                tr.lane.bars {
                    th scope="row" { "time" small { " up to " (words::span(flyball_core::Millis::new(time))) } }
                    @for one in &of {
                        @let value = one.map_or(0, |one| one.duration().get());
                        (bar(value, time, "t", &words::span(flyball_core::Millis::new(value)).to_string()))
                    }
                }
            }
        }
    }
}

/// A bar in steps of a twentieth, for a page without inline style.
fn bar(value: u64, most: u64, class: &str, words: &str) -> Markup {
    let step = if most == 0 { 0 } else { value.saturating_mul(20).div_ceil(most).min(20) };
    html! { td title=(words) { i class=(format!("{class} v{step}")) { span.vh { (words) } } } }
}

fn guards(one: Option<&IterationView>) -> Markup {
    let Some(one) = one else { return html! {} };
    let more = one.guards_spoke().saturating_sub(MARKS_MAX as u64);
    html! {
        @for act in one.guards.iter().take(MARKS_MAX) {
            a class=(format!("m {}", rung(act.rung))) href=(format!("#i{}", one.iteration)) title=(act_words(act)) {
                span.vh { (rung(act.rung)) }
            }
        }
        @if more > 0 { span.more { "+" (more) } }
    }
}

fn act_words(act: &GuardAct) -> String {
    format!("{} · {}: {}", rung(act.rung), act.guard, act.evidence)
}

/// A rung's word, which is its class too.
pub(crate) const fn rung(rung: Rung) -> &'static str {
    match rung {
        Rung::Pass => "pass",
        Rung::Nudge => "nudge",
        Rung::Refuse => "refuse",
        Rung::Redirect => "redirect",
        Rung::Ask => "ask",
        Rung::Halt => "halt",
    }
}

fn claim(one: Option<&IterationView>) -> Markup {
    let Some(claim) = one.and_then(|one| one.claim.as_ref()) else { return html! {} };
    let (class, sign, words) = match (claim.complete, &claim.blocked, &claim.decide) {
        (Some(ClaimVerdict::Refused), ..) => ("no", "✗", "said done, refused".to_owned()),
        (Some(ClaimVerdict::Accepted), ..) => ("yes", "✓", "said done, verified".to_owned()),
        (_, Some(reason), _) => ("q", "■", format!("blocked: {reason}")),
        (_, _, Some(question)) => ("q", "?", format!("asks: {question}")),
        (Some(ClaimVerdict::Open), ..) => ("q", "–", "said done, not judged".to_owned()),
        (None, None, None) => return html! {},
    };
    html! { span class=(format!("claim {class}")) title=(words) aria-label=(words) role="img" { (sign) } }
}

/// What the signs mean; only those that are there.
fn legend(run: &RunView) -> Markup {
    let cells = [
        (Cell::Fails, "f"),
        (Cell::Breaks, "n"),
        (Cell::Fixed, "x"),
        (Cell::Passes, "p"),
        (Cell::Unknown, "o"),
    ];
    let has = |wanted: Cell| run.matrix.rows.iter().any(|row| row.cells.contains(&wanted));
    let rungs = [Rung::Nudge, Rung::Refuse, Rung::Redirect, Rung::Ask, Rung::Halt];
    let spoke = |wanted: Rung| {
        run.iterations.iter().any(|one| one.guards.iter().any(|act| act.rung == wanted))
    };
    html! {
        ul.legend aria-label="Legend" {
            @for (cell, class) in cells {
                @if has(cell) { li { span class=(format!("key {class}")) {} (cell.as_str()) } }
            }
            @if run.cost_without_progress().is_some_and(|idle| idle > 0) {
                li { span.key.idle {} "cost without progress" }
            }
            @for one in rungs {
                @if spoke(one) { li { span class=(format!("m {}", rung(one))) {} (rung(one)) } }
            }
        }
    }
}
