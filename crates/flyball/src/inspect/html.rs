//! The report as a page: one file for itself, no script.

use std::collections::BTreeMap;

use flyball_core::Moment;
use flyball_core::guard::Rung;
use maud::{Markup, html};

use super::detail::{Detail, Shown};
use super::fold::{Folded, fold};
use super::overview::{Listed, Overview, Sum};
use super::told::{self, FOOTER};
use crate::page::{Style, frame};
use crate::view::words;

/// Sessions that are listed.
const LISTED_MAX: usize = 50;
/// Rows of a table of sums.
const ROWS_MAX: usize = 30;
/// Folded lines of a session that are shown.
const LINES_MAX: usize = 3_000;
/// The size of the curve.
const WIDE: usize = 960;
const HIGH: usize = 120;
/// Points of it.
const POINTS_MAX: usize = 480;
/// The most evidence there can be, and where the rungs are.
const MOST: usize = 40;
const RUNGS: [(usize, &str); 3] = [(10, "nudge"), (14, "refuse"), (20, "halt")];

/// Many sessions.
pub fn overview_page(overview: &Overview, when: Moment) -> String {
    let all = &overview.all;
    let body = html! {
        p.crumb { "flyball inspect" }
        h1 class=(tone(overview.highest())) { (headline(all)) }
        p.why { (waste_words(all)) }
        (facts(all))
        (worst(overview))
        (kinds(overview))
        (shares("By agent", "agent", &overview.agents))
        (shares("By model", "model", &overview.models))
        (shares("By project", "project", &overview.projects))
        (known(overview))
        (foot())
    };
    let when = format!("inspected {} UTC", words::utc_time(when));
    frame("What agents wasted · flyball", &when, Style::Inside, &body).into_string()
}

/// One session.
pub fn session_page(detail: &Detail, path: &str, when: Moment) -> String {
    let session = &detail.session;
    let all = Sum::of(session);
    let folded = fold(&detail.lines);
    let body = html! {
        p.crumb { (session.agent) @if let Some(project) = &session.project { " / " (project) } " / " code { (session.id) } }
        h1 class=(tone(session.highest())) { (verdict(session.highest())) }
        @if !session.title.is_empty() { p.why { (words::line(&session.title, 160)) } }
        p.why { (waste_words(&all)) }
        (facts(&all))
        section { h2 { "Evidence of going nowhere" } (curve(&detail.curve())) }
        section {
            h2 { "Step by step" }
            table.list { tbody { @for one in folded.iter().take(LINES_MAX) { (line(*one)) } } }
            @let more = folded.len().saturating_sub(LINES_MAX) as u64 + detail.left_out;
            @if more > 0 { p.note { "and " (more) " more" } }
        }
        p.note { "From " code { (path) } }
        (foot())
    };
    let title = format!("{} · {} · flyball", session.agent, session.id);
    let when = format!("inspected {} UTC", words::utc_time(when));
    frame(&title, &when, Style::Inside, &body).into_string()
}

const fn tone(highest: Rung) -> &'static str {
    match highest {
        Rung::Pass => "good",
        Rung::Nudge | Rung::Refuse | Rung::Redirect | Rung::Ask => "warn",
        Rung::Halt => "bad",
    }
}

const fn verdict(highest: Rung) -> &'static str {
    match highest {
        Rung::Pass => "No guard would have spoken",
        Rung::Nudge => "A guard would have nudged",
        Rung::Refuse | Rung::Redirect | Rung::Ask => "A guard would have refused a call",
        Rung::Halt => "A guard would have ended it",
    }
}

fn headline(all: &Sum) -> String {
    let [nudged, ..] = all.reached;
    let of = words::counted(usize::try_from(all.sessions).unwrap_or(usize::MAX), "session");
    match nudged {
        0 => format!("{of}: no guard would have spoken"),
        some => format!("Guards would have spoken in {some} of {of}"),
    }
}

fn waste_words(all: &Sum) -> String {
    let [nudge, _, halt] = &all.waste;
    format!("Waste: {}.", told::range(halt, nudge))
}

fn facts(all: &Sum) -> Markup {
    let [nudged, refused, halted] = all.reached;
    html! {
        dl.facts {
            (fact("sessions", &all.sessions.to_string()))
            (fact("calls", &words::count(all.spent.calls)))
            @if all.spent.tokens() > 0 { (fact("tokens", &told::tokens(&all.spent))) }
            @if all.spent.tokens() > 0 { (fact("cost", &told::money(&all.spent))) }
            (fact("would have nudged", &nudged.to_string()))
            (fact("refused", &refused.to_string()))
            (fact("halted", &halted.to_string()))
            (fact("loops", &all.loops.to_string()))
        }
    }
}

fn fact(name: &str, value: &str) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

fn worst(overview: &Overview) -> Markup {
    let rows: Vec<&Listed> = overview.worst().take(LISTED_MAX).collect();
    let more = overview.worst().count().saturating_sub(rows.len());
    html! {
        @if !rows.is_empty() {
            section {
                h2 { "The worst" }
                table.list {
                    thead { tr {
                        th scope="col" { "session" } th scope="col" { "what was seen" }
                        th.num scope="col" { "step" } th.num scope="col" { "waste, calls" }
                        th.num.wide scope="col" { "tokens" } th.num.wide scope="col" { "cost" }
                    } }
                    tbody { @for one in &rows { (worst_row(one)) } }
                }
                @if more > 0 { p.note { "and " (more) " more" } }
            }
        }
    }
}

fn worst_row(one: &Listed) -> Markup {
    let session = &one.session;
    let waste = session.waste();
    let first = session.judged.loops.iter().max_by_key(|one| (one.highest(), one.waste().calls));
    let nudge = first.and_then(|one| one.nudge.as_ref());
    html! {
        tr {
            td {
                @if session.title.is_empty() { (session.id) } @else { (words::line(&session.title, 90)) }
                br; small { code { (one.command()) } }
            }
            td { (rung(session.highest())) " " @if let Some(nudge) = nudge { (words::line(&nudge.evidence, 140)) } }
            td.num { @if let Some(nudge) = nudge { (nudge.step + 1) } }
            td.num { (waste.calls) }
            td.num.wide { (told::tokens(&waste)) }
            td.num.wide { (told::money(&waste)) }
        }
    }
}

fn rung(rung: Rung) -> Markup {
    html! { span class={ "rung " (rung.as_str()) } { (rung.as_str()) } }
}

fn kinds(overview: &Overview) -> Markup {
    html! {
        @if !overview.kinds.is_empty() {
            section {
                h2 { "Kinds of loops" }
                table.list {
                    thead { tr {
                        th scope="col" { "kind" } th.num scope="col" { "loops" } th.num scope="col" { "sessions" }
                        th.num scope="col" { "waste, calls" } th.num.wide scope="col" { "tokens" } th.num.wide scope="col" { "cost" }
                    } }
                    tbody { @for sum in overview.kinds.values() { tr {
                        @let [nudge, ..] = &sum.waste;
                        td { (sum.words) } td.num { (sum.loops) } td.num { (sum.sessions) }
                        td.num { (nudge.calls) } td.num.wide { (told::tokens(nudge)) } td.num.wide { (told::money(nudge)) }
                    } } }
                }
            }
        }
    }
}

fn shares(title: &str, what: &str, sums: &BTreeMap<String, Sum>) -> Markup {
    let mut rows: Vec<(&String, &Sum)> = sums.iter().collect();
    rows.sort_by_key(|(_, sum)| std::cmp::Reverse((sum.spent.tokens(), sum.spent.calls)));
    let more = rows.len().saturating_sub(ROWS_MAX);
    html! {
        @if !rows.is_empty() {
            section {
                h2 { (title) }
                table.list {
                    thead { tr {
                        th scope="col" { (what) } th.num scope="col" { "sessions" } th.num scope="col" { "calls" }
                        th.num.wide scope="col" { "tokens" } th.num scope="col" { "cost" }
                        th.num scope="col" { "nudged" } th.num scope="col" { "halted" } th.num scope="col" { "waste, calls" }
                        th.num.wide scope="col" { "cost of it" }
                    } }
                    tbody { @for (name, sum) in rows.iter().take(ROWS_MAX) { tr {
                        @let [nudged, _, halted] = sum.reached;
                        @let [nudge, ..] = &sum.waste;
                        td { (words::line(name, 120)) } td.num { (sum.sessions) } td.num { (words::count(sum.spent.calls)) }
                        td.num.wide { (told::tokens(&sum.spent)) } td.num { (told::money(&sum.spent)) }
                        td.num { (nudged) } td.num { (halted) } td.num { (nudge.calls) } td.num.wide { (told::money(nudge)) }
                    } } }
                }
                @if more > 0 { p.note { "and " (more) " more" } }
            }
        }
    }
}

fn known(overview: &Overview) -> Markup {
    html! {
        @if !overview.table.is_empty() {
            section { h2 { "Runs of which is known how they ended" } pre { (overview.table) } }
        }
    }
}

/// The account's curve, with the rungs as lines.
fn curve(evidence: &[u8]) -> Markup {
    let cells = POINTS_MAX.min(evidence.len()).max(1);
    let y = |value: usize| HIGH - value.min(MOST) * HIGH / MOST;
    let point = |cell: usize| {
        let from = cell * evidence.len() / cells;
        let to = (cell + 1) * evidence.len() / cells;
        let highest = evidence.get(from..to).unwrap_or(&[]).iter().copied().max().unwrap_or(0);
        let x = (cell * WIDE).checked_div(cells.saturating_sub(1)).unwrap_or(0);
        format!("{x},{}", y(usize::from(highest)))
    };
    let points: Vec<String> = (0..cells).map(point).collect();
    html! {
        svg viewBox={ "0 -6 " (WIDE + 60) " " (HIGH + 12) } role="img" aria-label="evidence after each step" width="100%" {
            @for (value, name) in RUNGS {
                line x1="0" x2=(WIDE) y1=(y(value)) y2=(y(value)) stroke={ "var(--" (if name == "halt" { "bad" } else { name }) ")" } stroke-width="1" stroke-dasharray="4 4" {}
                text x=(WIDE + 6) y=(y(value) + 4) font-size="11" fill="currentColor" { (name) }
            }
            polyline points=(points.join(" ")) fill="none" stroke="var(--run)" stroke-width="1.6" {}
        }
    }
}

fn line(folded: Folded<'_>) -> Markup {
    let said = folded
        .lines
        .iter()
        .filter_map(Shown::as_step)
        .flat_map(|step| step.said.iter().map(move |said| (step.step, said)));
    let said: Vec<_> = said.collect();
    html! {
        tr {
            td.num { @if let Some(step) = folded.lines.iter().find_map(Shown::as_step) { (step.step) } }
            td {
                @if folded.times() > 1 { b { (folded.times()) " × " } }
                @for (at, shown) in folded.first().iter().enumerate() { @if at > 0 { " → " } (told_line(shown)) }
                @if folded.times() > 1 { span.dim { ", same answer" } }
                @for (step, said) in &said {
                    br; (rung(said.rung)) " " span.dim { "step " (step) ": " } (words::line(&said.message, 500))
                }
            }
        }
    }
}

fn told_line(shown: &Shown) -> Markup {
    match shown {
        Shown::Human { words, .. } => html! { b { "human: " } (words) },
        Shown::Compacted { .. } => html! { span.dim { "the context was condensed" } },
        Shown::Step(step) => html! {
            @if !step.agent.as_str().is_empty() { span.dim { (words::line(step.agent.as_str(), 30)) " " } }
            code { (step.words) }
            @if let Some(word) = step.outcome_word() { " " span.chip.bad { (word) } }
        },
    }
}

fn foot() -> Markup {
    html! { div.foot {
        @for words in FOOTER { p.note { (words) } }
        "flyball " (env!("CARGO_PKG_VERSION"))
    } }
}
