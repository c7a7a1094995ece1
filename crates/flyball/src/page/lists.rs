//! Lists below the iterations: stories with what each cost, what still fails, and what was set
//! otherwise than by default.

use maud::{Markup, html};

use crate::view::{CheckRow, RunView, words};

/// How many stories and failing checks are listed.
const ROWS_MAX: usize = 60;

/// The stories, with what was spent on each.
pub(crate) fn stories(run: &RunView) -> Markup {
    let touched = |story: &&crate::view::StoryView| story.iterations > 0 || !story.done;
    let rows: Vec<_> = run.stories.iter().filter(touched).take(ROWS_MAX).collect();
    let before = run.stories.len().saturating_sub(rows.len());
    let costs = run.tally.cost_micro_usd > 0;
    html! {
        @if !rows.is_empty() {
            section {
                h2 { "Stories" }
                table.list {
                    thead { tr {
                        th scope="col" { "story" } th scope="col" { "title" } th scope="col" { "state" }
                        th.num.wide scope="col" { "iterations" }
                        @if costs { th.num scope="col" { "cost" } th.num.wide scope="col" { "without progress" } }
                    } }
                    tbody { @for story in &rows { tr {
                        td.keep { (story.task) }
                        td { @if story.title != story.task.as_str() { (story.title) } }
                        td { (state(run, story)) }
                        td.num.wide { @if story.iterations > 0 { (story.iterations) } @else { span.dim { "–" } } }
                        @if costs {
                            td.num { (words::money(story.cost_micro_usd)) }
                            td.num.wide { (words::money(story.cost_without_progress_micro_usd)) }
                        }
                    } } }
                }
                @if before > 0 { p.note { (before) " more are not shown: done before this run, or further down the list." } }
            }
        }
    }
}

fn state(run: &RunView, story: &crate::view::StoryView) -> Markup {
    let left = run.run.ending.iter().flat_map(|ending| &ending.left);
    let left = left.into_iter().find(|left| left.task == story.task);
    html! {
        @if story.done { span.chip.good { "done" } }
        @else if let Some(left) = left { span.chip.warn title=(left.why) { (left.standing.words()) } }
        @else { span.chip { "open" } }
    }
}

/// What fails at the end: which check, where, and in which words.
pub(crate) fn ended(run: &RunView, message_max: usize) -> Markup {
    let open: Vec<&CheckRow> =
        run.matrix.sorted().into_iter().filter(|row| row.is_open()).collect();
    let more = open.len().saturating_sub(ROWS_MAX) as u64 + run.matrix.left_out;
    html! {
        @if !open.is_empty() {
            section {
                h2 { "What still fails" }
                table.list {
                    thead { tr { th scope="col" { "gate" } th scope="col" { "check" } th scope="col" { "what it says" } } }
                    tbody { @for row in open.iter().take(ROWS_MAX) { tr {
                        td.keep { (row.gate) }
                        td.check { code { (row.name) } @if let Some(place) = &row.place { br; small { (place) } } }
                        td { @if row.message != row.name { (words::line(&row.message, message_max)) } }
                    } } }
                }
                @if more > 0 { p.note { "and " (more) " more" } }
            }
        }
    }
}

/// Settings that differ from flyball's defaults.
pub(crate) fn settings(changed: &[(String, String)]) -> Markup {
    html! {
        @if !changed.is_empty() {
            section {
                h2 { "Set otherwise than by default" }
                ul.plain { @for (key, value) in changed { li { code { (key) " = " (value) } } } }
            }
        }
    }
}
