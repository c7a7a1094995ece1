//! What guards did over many runs, what that was worth, and where to doubt them.

use maud::{Markup, html};

use super::fitting;
use super::frame::{Place, frame};
use crate::page::percent;
use crate::replay::Amount;
use crate::serve::api::StatsQuery;
use crate::serve::window::{Books, Look, Problem};
use crate::stats::{GuardSum, Share, Stats, wilson};
use crate::view::words;

/// How many rows of each list are shown.
const ROWS: [usize; 3] = [20, 10, 5];

/// Times that are offered, as the address has them and as people say them.
const SPANS: [(&str, &str); 4] =
    [("1d", "1 day"), ("7d", "7 days"), ("30d", "30 days"), ("365d", "year")];

fn span_name(since: &str) -> String {
    let known = SPANS.iter().find(|(value, _)| *value == since);
    known.map_or_else(|| words::line(since, 20), |(_, name)| (*name).to_owned())
}

/// The page.
pub(in crate::serve) fn guards(
    look: Look<'_>,
    books: &mut Books,
    query: &StatsQuery,
) -> Result<Markup, Problem> {
    let (asks, wanted) = (books.asks()?.len(), query.wanted()?);
    let stats = books.figures.stats(&books.journal, look.now, &wanted)?;
    let since = query.since.as_deref().unwrap_or("30d");
    Ok(fitting(&ROWS, |most| {
        let body = html! {
            h1 { "Guards" span.dim { " · runs of the last " (span_name(since)) } }
            nav.tabs aria-label="Which runs" {
                @for (value, name) in SPANS {
                    a.btn href=(format!("/guards?since={value}")) aria-current=[(since == value).then_some("page")] { (name) }
                }
            }
            @if stats.all.runs == 0 { p.note { "No runs in that time." } }
            @else {
                (big(stats))
                (table(stats))
                (doubts(stats, most))
                (shares("By agent", stats.agents.iter().map(|(name, one)| (words::line(name, 60), one)).collect(), most))
                (shares("By project", stats.projects.iter().map(|(root, one)| {
                    let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
                    (words::line(&name, 60), one)
                }).collect(), most))
                p.note {
                    "Facts are counted from journalled runs. What was not spent is a range: at least the next \
                     iteration, at most what the run's own limits left. The same at the command line: "
                    code { "flyball stats" }
                }
            }
        };
        frame("Guards", Place::Guards, asks, &body)
    }))
}

fn big(stats: &Stats) -> Markup {
    let all = &stats.all;
    html! {
        div.big {
            div { b { (all.verified) small { " of " (all.runs) } } span { "runs verified" } }
            div { b { (stats.false_done) } span { "times “done” was said on red gates, and caught" } }
            @if let Some(cost) = all.per_story() { div { b { (words::dollars(cost)) } span { "for each verified story" } } }
            @if all.spent.micro_usd > 0 {
                div { b { (percent(all.idle.micro_usd, all.spent.micro_usd)) " %" } span { "of " (words::dollars(all.spent.micro_usd)) " moved nothing forward" } }
            }
            @if stats.calls.of > 0 { div { b { (stats.calls.heeded) small { " of " (stats.calls.of) } } span { "repeated calls ended at the first word" } } }
        }
    }
}

fn table(stats: &Stats) -> Markup {
    let rungs = ["nudge", "refuse", "redirect", "ask", "halt"];
    html! {
        section {
            h2 { "What each guard did" }
            @if stats.guards.is_empty() { p.note { "No guard had to speak." } }
            @else {
                div.scroll tabindex="0" role="region" aria-label="What each guard did" {
                    table.list.guards {
                        thead { tr {
                            th scope="col" { "guard" }
                            @for rung in rungs { th.num.wide scope="col" { span class=(format!("m {rung}")) {} " " (rung) } }
                            th.num scope="col" { "runs" } th.num scope="col" { "ended" }
                            th scope="col" { "not spent" } th.wide scope="col" { "doubted" }
                        } }
                        tbody { @for (name, one) in &stats.guards { tr {
                            th scope="row" { (name.replace('_', " ")) }
                            @for rung in rungs { td.num.wide { @match one.rungs.get(rung) { Some(count) => (count), None => span.dim { "·" } } } }
                            td.num { (one.runs) }
                            td.num { (one.halts) }
                            td { (saved(one)) }
                            td.wide { (doubted(one)) }
                        } } }
                    }
                }
            }
        }
    }
}

/// What was not spent, as a range.
fn saved(one: &GuardSum) -> Markup {
    let told = |amount: Amount| {
        if amount.micro_usd > 0 {
            words::dollars(amount.micro_usd)
        } else {
            words::short_span(flyball_core::Millis::new(amount.ms))
        }
    };
    html! {
        @if one.halts == 0 { span.dim { "–" } }
        @else if one.halts == one.unlimited { span.dim { "nothing limited it" } }
        @else { (told(one.at_least)) " to " (told(one.at_most)) }
    }
}

fn doubted(one: &GuardSum) -> Markup {
    html! {
        @if one.doubted == 0 { span.dim { "–" } }
        @else {
            (one.doubted) " of " (one.acted.max(one.doubted))
            @if let Some((from, to)) = wilson(one.doubted, one.acted.max(one.doubted)) {
                small { (format!(" {from:.0}–{to:.0} %")) }
            }
        }
    }
}

fn doubts(stats: &Stats, most: usize) -> Markup {
    html! {
        @if !stats.doubts.is_empty() {
            section {
                h2 { "To be doubted, the latest first" }
                ul.plain {
                    @for doubt in stats.doubts.iter().rev().take(most) {
                        li { a href=(format!("/runs/{}", doubt.run)) { code { (doubt.run) } } " " b { (doubt.guard) } " " (doubt.kind.words()) }
                    }
                    @if stats.doubts.len() > most { li.dim { "and " (stats.doubts.len() - most) " more" } }
                }
            }
        }
    }
}

fn shares(title: &str, mut rows: Vec<(String, &Share)>, most: usize) -> Markup {
    rows.sort_by_key(|(_, one)| std::cmp::Reverse(one.runs));
    html! {
        section {
            h2 { (title) }
            div.scroll tabindex="0" role="region" aria-label=(title) {
                table.list {
                    thead { tr {
                        th scope="col" { (title.trim_start_matches("By ")) } th.num scope="col" { "runs" } th.num scope="col" { "verified" }
                        th.num.wide scope="col" { "iterations" } th.num.wide scope="col" { "fixed" } th.num.wide scope="col" { "broken" }
                        th.num scope="col" { "cost" } th.num.wide scope="col" { "without progress" } th.num.wide scope="col" { "per story" }
                    } }
                    tbody { @for (name, one) in rows.iter().take(most) { tr {
                        th scope="row" { (name) }
                        td.num { (one.runs) } td.num { (one.verified) } td.num.wide { (one.iterations) }
                        td.num.wide { (one.fixed) } td.num.wide { (one.broken) }
                        td.num { (words::money(one.spent.micro_usd)) } td.num.wide { (words::money(one.idle.micro_usd)) }
                        td.num.wide { (one.per_story().map_or("-".to_owned(), words::money)) }
                    } } }
                }
            }
            @if rows.len() > most { p.note { "and " (rows.len() - most) " more" } }
        }
    }
}
