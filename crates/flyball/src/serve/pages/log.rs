//! What happened in a run, a hundred lines at a time, the newest last.

use maud::{Markup, html};
use serde::Deserialize;

use super::frame::{Place, frame};
use super::{address, fitting, project, ticked};
use crate::clock;
use crate::serve::told::{Show, Shown, TEXT_MAX};
use crate::serve::window::{Books, Look, Problem};
use crate::view::words;

/// Lines on a page.
const LINES: usize = 100;
/// How much of a line is shown; less where the page would be too large.
const TEXTS: [usize; 4] = [TEXT_MAX, 160, 90, 40];

/// Which lines, and before which event.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct LogQuery {
    #[serde(default)]
    show: Show,
    before: Option<u64>,
}

/// The page.
pub(in crate::serve) fn log(
    _: Look<'_>,
    books: &mut Books,
    name: &str,
    query: &LogQuery,
) -> Result<Markup, Problem> {
    let run = books.run(name)?;
    let wanted = (query.show, query.before.unwrap_or(u64::MAX));
    let page = books.views.lines(&books.journal, &run, wanted, LINES)?;
    let asks = books.asks()?.len();
    let title = format!("{} · events", project(&run));
    Ok(fitting(&TEXTS, |most| {
        let body = html! {
            p.crumb { a href="/" { "Runs" } " / " a href=(address(&run)) { (project(&run)) " / " code { (run.run) } } " / events" }
            h1 { "What happened" span.dim { " · " (run.events) " events" } }
            nav.tabs aria-label="Which events" {
                @for (show, word, words) in Show::ALL {
                    a.btn href=(format!("{}/events?show={word}", address(&run))) aria-current=[(show == query.show).then_some("page")] { (words) }
                }
                a.btn href=(format!("/api/runs/{}/events", run.run)) { "As JSON" }
            }
            div #events data-live {
                @if let Some(first) = page.lines.first().filter(|_| page.more) {
                    p.note { a href=(format!("{}/events?show={}&before={}", address(&run), query.show.word(), first.seq())) { "Earlier" } }
                }
                @if page.lines.is_empty() { p.note { "Nothing of that kind happened." } }
                @else { (table(&page.lines, most)) }
                @if let Some(broken) = &page.broken { p.note { (words::line(broken, 300)) } }
                @if query.before.is_some() { p.note { a href=(format!("{}/events?show={}", address(&run), query.show.word())) { "The newest" } } }
            }
        };
        frame(&title, Place::Runs, asks, &body)
    }))
}

fn table(lines: &[Shown], most: usize) -> Markup {
    html! {
        table.list.log {
            thead { tr { th scope="col" { "time" } th.num scope="col" { "it." } th scope="col" { "what" } th scope="col" { span.vh { "words" } } } }
            tbody {
                @for one in lines {
                    @match one {
                        Shown::Silent { seq, at, kind } => tr.grey { td.keep { (clock::time_of_day(*at)) } td {} td {} td.words { (kind) " · event " (seq) } },
                        Shown::Told(line) => tr class=(line.tone) {
                            td.keep { (clock::time_of_day(line.at)) }
                            td.num { @if let Some(iteration) = line.iteration { (iteration) } }
                            td.keep { b { (line.verb) } }
                            td.words { (ticked(&flyball_core::text::head(&line.text, most))) }
                        },
                    }
                }
            }
        }
    }
}
