//! One run: the verdict, what helps, how its checks moved, its story, every iteration with evidence.

use flyball_core::Outcome;
use flyball_core::effect::Ending;
use maud::{Markup, html};

use super::frame::{Place, frame};
use super::{act, address, ago, ask, card, fitting, project};
use crate::desk::{Ask, Life, life};
use crate::journal::{Act, RunSummary};
use crate::page::{self, Shown};
use crate::serve::window::{Books, Look, Problem};
use crate::view::{RunView, words};

/// How much is shown; the next where it is too much.
const STEPS: [Shown; 7] = [
    Shown { iterations: 30, text: 1_200, items: 12, rows: 40, columns: 30 },
    Shown { iterations: 30, text: 300, items: 6, rows: 40, columns: 24 },
    Shown { iterations: 20, text: 120, items: 4, rows: 25, columns: 18 },
    Shown { iterations: 15, text: 0, items: 3, rows: 18, columns: 14 },
    Shown { iterations: 10, text: 0, items: 2, rows: 12, columns: 12 },
    Shown { iterations: 5, text: 0, items: 1, rows: 8, columns: 10 },
    Shown { iterations: 0, text: 0, items: 0, rows: 0, columns: 4 },
];

/// The page.
pub(in crate::serve) fn run(
    look: Look<'_>,
    books: &mut Books,
    name: &str,
) -> Result<Markup, Problem> {
    let row = books.run(name)?;
    let asked = books.ask(&row)?;
    let asks = books.asks()?.len();
    let is_running = life(&row) == Life::Running;
    let doing = if is_running { Some(card::doing(books, &row, look.now)?) } else { None };
    let view = books.views.view(&books.journal, &row)?;
    let acts = books.journal.acts(&row.run, 12)?;
    let title = format!("{} · {}", project(&row), page::outcome_words(&view));
    Ok(fitting(&STEPS, |shown| {
        let body = html! {
            div #head data-live {
                (verdict(&view, &row, asked.as_ref()))
                @if let Some(doing) = &doing { (at_work(look, &view, doing)) }
            }
            @if let Some(ask) = &asked { div.alone { (ask::card(look, ask, ask::LONG)) } }
            (act::acts(look, &view, asked.as_ref()))
            (toolbar(&row))
            div #facts data-live { (page::facts(&view)) }
            div #moved data-live { (page::moved(&view, shown)) }
            div #iterations data-live { (page::iterations(&view, shown)) }
            div #stories data-live { (page::stories(&view)) }
            div #fails data-live { (page::ended(&view, 120)) }
            (acts_of(look, &acts))
            (foot(&row, asked.as_ref()))
        };
        frame(&title, Place::Runs, asks, &body)
    }))
}

/// How it stands, in one word and one line, and what helps now.
fn verdict(view: &RunView, row: &RunSummary, asked: Option<&Ask>) -> Markup {
    let ending = row.ending.as_ref();
    let lost = life(row) == Life::Lost;
    let (tone, word) = match (lost, asked.is_some()) {
        (true, _) => ("warn", "lost".to_owned()),
        (false, true) => {
            ("warn", asked.map_or_else(String::new, |ask| ask::heading(ask.kind).to_owned()))
        }
        (false, false) => (page::tone(view.outcome()), page::outcome_words(view)),
    };
    // What is asked stands in the card below, whole; what else ended the run does not.
    let is_told = |ending: &&Ending| {
        asked.is_none() || !matches!(ending.outcome, Outcome::Decide | Outcome::Blocked)
    };
    html! {
        p.crumb { a href="/" { "Runs" } " / " (project(row)) " / " code { (row.run) } }
        h1 class=(tone) { (word) }
        @if let Some(ending) = ending {
            @if is_told(&ending) { p.why { (words::line(&ending.why, 600)) } }
        } @else if lost {
            p.why { "Its process is gone. Everything up to its last event is kept." }
        }
        @if let Some(broken) = &view.broken { p.why.bad { "Only a part could be read: " (words::line(broken, 300)) } }
        @if let Some(ending) = ending.filter(|ending| is_told(ending) && !ending.next_steps.is_empty() && !ending.outcome.is_success()) {
            details.next {
                summary { "What helps now" }
                ol { @for step in ending.next_steps.iter().take(8) { li { (words::lines(&flyball_core::text::head(step, 600))) } } }
            }
        }
    }
}

fn at_work(look: Look<'_>, view: &RunView, doing: &str) -> Markup {
    let waits = view.run.state.phase == "waiting";
    html! {
        p.doing {
            span class=(if waits { "still" } else { "pulse" }) {}
            code { (doing) }
            span.dim { (ago(view.run.last_at, look.now)) }
        }
        (card::gauges(view))
    }
}

fn toolbar(row: &RunSummary) -> Markup {
    html! {
        p.row.tools {
            a.btn href=(format!("{}/events", address(row))) { "Events" }
            a.btn href=(format!("{}/report", address(row))) { "Report" }
            a.btn href=(format!("/compare?a={}", row.run)) { "Compare with…" }
        }
    }
}

/// What people did to it.
fn acts_of(look: Look<'_>, acts: &[Act]) -> Markup {
    html! {
        section #acts data-live {
            @if !acts.is_empty() {
                h2 { "What people did" }
                ul.plain {
                    @for act in acts {
                        li {
                            (ago(act.at, look.now)) " · " b { (words::line(&act.act, 40)) }
                            " through " (act.by)
                            @if act.result != "done" { " · " span.minus { (act.result.replace('_', " ")) } }
                        }
                    }
                }
            }
        }
    }
}

fn foot(row: &RunSummary, ask: Option<&Ask>) -> Markup {
    let success = row.ending.as_ref().is_some_and(|ending| ending.outcome.is_success());
    html! {
        p.foot {
            "run " code { (row.run) } " · in " code { (words::line(&row.root.to_string_lossy(), 200)) }
            " · began " (words::time(row.started)) " · " (row.events) " events"
            @if row.ended.is_some() && !success && ask.is_none() {
                " · to go on: " code { "flyball run --resume " (row.run) }
            }
        }
    }
}
