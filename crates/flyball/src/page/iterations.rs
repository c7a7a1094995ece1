//! The iterations, newest first, each opening to its evidence.

use flyball_core::text::{count, head};
use maud::{Markup, html};

use super::matrix::rung;
use crate::view::{Cell, CheckRow, IterationView, RunView, Severity, words};

/// How much of the iterations is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// How many, the newest.
    pub(crate) iterations: usize,
    /// Characters of a briefing or of last words.
    pub(crate) text: usize,
    /// Lines of each list.
    pub(crate) items: usize,
    /// Rows and columns of the matrix; the newest columns win.
    pub(crate) rows: usize,
    /// Columns of the matrix.
    pub(crate) columns: usize,
}

/// The section.
pub(crate) fn iterations(run: &RunView, shown: Shown) -> Markup {
    let hidden = run.iterations.len().saturating_sub(shown.iterations);
    html! {
        @if !run.iterations.is_empty() {
            section {
                h2 { "Iterations" }
                @for one in run.iterations.iter().rev().take(shown.iterations) { (iteration(run, one, shown)) }
                @if hidden > 0 {
                    p.note { (count(hidden as u64, "earlier iteration")) " left out here: " code { "flyball log " (run.run.run) } }
                }
            }
        }
    }
}

fn iteration(run: &RunView, one: &IterationView, shown: Shown) -> Markup {
    let (result, severity) = one.result_words();
    let column = run.matrix.column(one.iteration);
    html! {
        details.it id=(format!("i{}", one.iteration)) {
            summary {
                b.no { (one.iteration) }
                span class=(format!("chip {}", tone(severity))) title=(result) { (result.replace('_', " ")) }
                span.task title=[one.task.as_ref()] { (one.task.as_ref().map_or("", |task| task.as_str())) }
                span.delta { (delta(run, column)) }
                span.marks {
                    @for act in one.guards.iter().take(5) {
                        i class=(format!("m {}", rung(act.rung))) title=(format!("{} · {}", rung(act.rung), act.guard)) {}
                    }
                    @if one.guards_spoke() > 5 { span.more { "+" (one.guards_spoke() - 5) } }
                }
                span.subject { (one.subject().unwrap_or("")) }
                span.num { @if one.calls > 0 { (count(one.calls, "call")) } }
                span.num { (words::span(one.duration())) }
                span.num { @if one.cost_micro_usd > 0 { (words::dollars(one.cost_micro_usd)) } }
            }
            div.in {
                (guards(one, shown))
                (tamper(one, shown))
                div.cols {
                    div { (gates(run, one, column, shown)) }
                    div { (work(one, shown)) }
                    div { (calls(one, shown)) }
                }
                (said(run, one, shown))
            }
        }
    }
}

/// What was fixed and broken, or how much still fails.
fn delta(run: &RunView, column: Option<usize>) -> Markup {
    let column = column.and_then(|at| run.matrix.columns.get(at));
    let Some(column) = column else { return html! {} };
    html! {
        @if column.fixed > 0 { span.plus { (column.fixed) " fixed" } }
        @if column.broken > 0 { span.minus { (column.broken) " broken" } }
        @if let (0, 0, Some(failing)) = (column.fixed, column.broken, column.failing) {
            span.dim { @if failing == 0 { "green" } @else { "same " (failing) } }
        }
    }
}

fn guards(one: &IterationView, shown: Shown) -> Markup {
    let more = one.guards_spoke().saturating_sub(shown.items.min(one.guards.len()) as u64);
    html! {
        @if !one.guards.is_empty() {
            h3 { "What the guards did" }
            ul.said {
                @for act in one.guards.iter().take(shown.items) {
                    li {
                        span class=(format!("rung {}", rung(act.rung))) { (rung(act.rung)) }
                        " " b { (act.guard) } " " (act.evidence)
                        @if act.allowed > 0 { span.dim { " · " (act.measured) ", allowed " (act.allowed) } }
                    }
                }
                @if more > 0 { li.dim { "and " (count(more, "more word")) } }
            }
        }
    }
}

fn tamper(one: &IterationView, shown: Shown) -> Markup {
    html! {
        @if !one.tamper.is_empty() {
            h3 { "Weakened tests or gates" }
            ul.said { @for finding in one.tamper.iter().take(shown.items) { li.minus { (finding) } } }
        }
    }
}

fn gates(run: &RunView, one: &IterationView, column: Option<usize>, shown: Shown) -> Markup {
    let rows = |wanted| -> Vec<&CheckRow> {
        column.map(|at| run.matrix.rows_in(at, wanted).collect()).unwrap_or_default()
    };
    let (broken, fixed) = (rows(Cell::Breaks), rows(Cell::Fixed));
    html! {
        @if !one.gates.is_empty() {
            h3 { "Gates" }
            ul.plain {
                @for gate in &one.gates {
                    li {
                        span class=(if gate.red { "dot bad" } else if gate.status == "passed" { "dot good" } else { "dot" }) {}
                        (gate.gate) " "
                        span.dim {
                            (gate.status)
                            @if let Some(counts) = gate.counts { ", " (counts.passed) " passed, " (counts.failed) " failed" }
                            " · " (gate.duration)
                        }
                    }
                }
            }
            ul.plain {
                (checks(&broken, "minus", "broken: ", shown))
                (checks(&fixed, "plus", "fixed: ", shown))
            }
        }
    }
}

fn checks(rows: &[&CheckRow], class: &str, word: &str, shown: Shown) -> Markup {
    html! {
        @for row in rows.iter().take(shown.items) {
            li class=(class) {
                (word) (row.name)
                @if let Some(place) = &row.place { " " small { (place) } }
            }
        }
        @if let Some(more) = rows.len().checked_sub(shown.items + 1) { li.dim { "and " (more + 1) " more" } }
    }
}

fn work(one: &IterationView, shown: Shown) -> Markup {
    let files = one.changed.len().saturating_sub(shown.items) + one.changed_left_out;
    let commits = one.commits.len().saturating_sub(shown.items) + one.commits_left_out;
    html! {
        @if !one.commits.is_empty() || !one.changed.is_empty() {
            h3 { "Work" }
            ul.plain {
                @for commit in one.commits.iter().rev().take(shown.items) { li { code { (commit.hash) } " " (commit.subject) } }
                @if commits > 0 { li.dim { "and " (count(commits as u64, "more commit")) } }
                @for file in one.changed.iter().take(shown.items) { li.dim { (file) } }
                @if files > 0 { li.dim { "and " (count(files as u64, "more file")) } }
            }
        }
    }
}

fn calls(one: &IterationView, shown: Shown) -> Markup {
    html! {
        @if !one.tools.is_empty() {
            h3 { "Calls" }
            ul.plain {
                @for (tool, times) in one.tools.iter().take(shown.items) { li { (tool) " " span.dim { "×" (times) } } }
                @if let Some(permille) = one.context_permille { li.dim { "context " (permille / 10) " % full" } }
            }
        }
    }
}

/// What was said: by the agent at its end, and to it at its beginning.
fn said(run: &RunView, one: &IterationView, shown: Shown) -> Markup {
    let claim = one.claim.as_ref();
    let asks = claim.and_then(|claim| claim.decide.as_ref().or(claim.blocked.as_ref()));
    html! {
        @if let Some(asks) = asks { h3 { "It cannot go on" } blockquote { (asks) } }
        @if !one.last_words.is_empty() && shown.text > 0 {
            h3 { "Last words" }
            blockquote { (head(&one.last_words, shown.text)) }
        }
        @if !one.briefing.is_empty() && shown.text > 0 {
            details.brief {
                summary { "What it was told" }
                pre tabindex="0" { (head(&one.briefing, shown.text)) }
                @if one.briefing.chars().count() > shown.text {
                    p.note { "All of it: " code { "flyball log " (run.run.run) " --iteration " (one.iteration) " --json" } }
                }
            }
        }
    }
}

const fn tone(severity: Severity) -> &'static str {
    match severity {
        Severity::Quiet | Severity::Plain => "quiet",
        Severity::Turn => "turn",
        Severity::Good => "good",
        Severity::Warn => "warn",
        Severity::Bad => "bad",
    }
}
