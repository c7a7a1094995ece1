//! All runs: does anything need me, is everything at work alive and moving, what did it cost, how did
//! the others end.

use flyball_core::{Outcome, RunId};
use maud::{Markup, html};
use serde::Deserialize;

use super::ended::{self, Row};
use super::frame::{Place, frame};
use super::{ask, card, fitting, sessions};
use crate::clock;
use crate::desk::{Ask, Life, life};
use crate::journal::{RunFilter, RunSummary};
use crate::serve::figures::is_of;
use crate::serve::window::{Books, Look, Problem};
use crate::view::words;

/// How many cards of each sort are shown.
const ASKS_MAX: usize = 12;
const WORK_MAX: usize = 12;
/// How many ended runs are shown; fewer where the page would be too large.
const ENDED: [usize; 5] = [50, 40, 30, 20, 8];

/// Which runs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct ListQuery {
    project: Option<String>,
    outcome: Option<String>,
    q: Option<String>,
    before: Option<String>,
}

impl ListQuery {
    fn fits(&self, run: &RunSummary) -> bool {
        let has = |text: &str| {
            self.q
                .as_ref()
                .is_none_or(|wanted| text.to_lowercase().contains(&wanted.to_lowercase()))
        };
        let task = run.state.task.as_ref().map_or("", |task| task.as_str());
        let why = run.ending.as_ref().map_or("", |ending| ending.why.as_str());
        let q = has(run.run.as_str()) || has(task) || has(&run.root.to_string_lossy()) || has(why);
        let outcome = self.outcome.as_ref().filter(|outcome| !outcome.is_empty());
        self.project.as_ref().is_none_or(|project| is_of(run, project))
            && outcome.is_none_or(|outcome| run.outcome.as_ref() == Some(outcome))
            && q
    }

    fn is_filtered(&self) -> bool {
        let given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        given(&self.project) || given(&self.outcome) || given(&self.q)
    }

    /// The address of what comes before this run.
    fn older(&self, run: &RunSummary) -> String {
        let pairs = [
            ("project", self.project.as_deref()),
            ("outcome", self.outcome.as_deref()),
            ("q", self.q.as_deref()),
            ("before", Some(run.run.as_str())),
        ];
        let given = pairs.iter().filter_map(|(name, value)| Some((name, (*value)?)));
        let pairs: Vec<String> =
            given.map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        format!("/?{}", pairs.join("&"))
    }
}

/// Text as a part of an address.
fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// The page.
pub(in crate::serve) fn overview(
    look: Look<'_>,
    books: &mut Books,
    query: &ListQuery,
) -> Result<Markup, Problem> {
    let asks = books.asks()?;
    let open = RunFilter { unfinished: true, ..RunFilter::default() };
    let mut work = books.journal.runs(&open)?;
    work.retain(|run| life(run) == Life::Running);
    let headline = headline(&today(books, look)?, (asks.len(), work.len()));
    work.retain(|run| query.fits(run));
    let first_page = query.before.is_none();
    let mut cards = Vec::new();
    for run in work.iter().filter(|_| first_page).take(WORK_MAX) {
        cards.push(card::card(look, books, run)?);
    }
    // What needs a human does not stand among the ended as well.
    let is_asked = |run: &RunSummary| asks.iter().any(|ask| ask.run.run == run.run);
    let is_work = |run: &RunSummary| work.iter().any(|one| one.run == run.run);
    let before = query.before.as_ref().map(RunId::new);
    let is_ended = |run: &RunSummary| query.fits(run) && !is_asked(run) && !is_work(run);
    let mut ended = books
        .journal
        .runs_before(before.as_ref())?
        .filter(|run| run.as_ref().map_or(true, is_ended));
    let most = ENDED.first().copied().unwrap_or(0);
    let rows: Vec<Row> = ended
        .by_ref()
        .take(most)
        .map(|run| run.map(|run| Row::read(books, run)))
        .collect::<Result<_, _>>()?;
    let left = match rows.last() {
        // What does not fit must be read to be known.
        _ if query.is_filtered() => ended.count(),
        None => 0,
        Some(last) => {
            let others = work.iter().chain(asks.iter().map(|ask| &ask.run));
            let older = others.filter(|run| run.started < last.run().started).count();
            let all = books.journal.count_before(&last.run().run)?;
            usize::try_from(all).unwrap_or(usize::MAX).saturating_sub(older)
        }
    };
    let is_empty = first_page && !query.is_filtered() && rows.is_empty();
    let is_empty = is_empty && work.is_empty() && asks.is_empty();
    let shown: Vec<&Ask> = asks.iter().filter(|ask| first_page && query.fits(&ask.run)).collect();
    let sessions = first_page.then(|| sessions::section(look, books)).transpose()?;
    let page = fitting(&ENDED, |most| {
        let shown_rows = rows.get(..most.min(rows.len())).unwrap_or(&[]);
        let body = html! {
            (headline)
            (section_asks(look, &shown))
            (section_work(&cards, work.len()))
            (section_ended(look, shown_rows, left + rows.len() - shown_rows.len(), query))
            @if let Some(sessions) = &sessions { (sessions) }
            div #nothing data-live { @if is_empty { (nothing()) } }
        };
        frame("Runs", Place::Runs, asks.len(), &body)
    });
    Ok(page)
}

/// The runs that began today.
fn today(books: &Books, look: Look<'_>) -> Result<Vec<RunSummary>, Problem> {
    let today = clock::day(look.now);
    let is_today = |run: &RunSummary| clock::day(run.started) == today;
    let runs = books.journal.runs_before(None)?;
    Ok(runs.take_while(|run| run.as_ref().map_or(true, is_today)).collect::<Result<_, _>>()?)
}

/// The first line: what a glance must tell.
fn headline(of_today: &[RunSummary], (asks, at_work): (usize, usize)) -> Markup {
    let ended = of_today.iter().filter(|run| run.ended.is_some()).count();
    let is_verified = |run: &&RunSummary| run.outcome.as_deref() == Some("complete");
    let verified = of_today.iter().filter(is_verified).count();
    let cost: u64 = of_today.iter().map(|run| run.state.cost_micro_usd).sum();
    html! {
        h1 #headline data-live {
            @match asks {
                0 => em { "Nothing needs you" },
                1 => em.ask { "1 run needs you" },
                many => em.ask { (many) " runs need you" },
            }
            span.dim {
                " · " (at_work) " at work"
                @if ended > 0 { " · " (verified) " of " (ended) " verified today" }
                @if cost > 0 { " · " (words::dollars(cost)) " today" }
            }
        }
    }
}

fn section_asks(look: Look<'_>, asks: &[&Ask]) -> Markup {
    html! {
        section #asks data-live aria-label="Needs you" {
            @if !asks.is_empty() {
                div.asks { @for ask in asks.iter().take(ASKS_MAX) { (ask::card(look, ask, ask::SHORT)) } }
                @if asks.len() > ASKS_MAX { p.note { "and " (asks.len() - ASKS_MAX) " more; the oldest come first" } }
            }
        }
    }
}

fn section_work(cards: &[Markup], count: usize) -> Markup {
    html! {
        section #work data-live {
            @if !cards.is_empty() {
                h2 { "At work" }
                div.cards { @for card in cards { (card) } }
                @if count > cards.len() { p.note { "and " (count - cards.len()) " more at work" } }
            }
        }
    }
}

fn section_ended(look: Look<'_>, rows: &[Row], left: usize, query: &ListQuery) -> Markup {
    html! {
        section #ended data-live {
            @if !rows.is_empty() || query.is_filtered() || query.before.is_some() {
                h2 { "Ended" }
                (filter(query))
                @if rows.is_empty() { p.note { "No other run fits. " a href="/" { "All runs" } } }
                @else { (ended::table(look, rows)) }
                @if let Some(last) = rows.last().filter(|_| left > 0) {
                    p.note { a href=(query.older(last.run())) { "Older runs" } " · " (left) " more" }
                }
            }
        }
    }
}

/// A search, in the address: it can be kept and shared.
fn filter(query: &ListQuery) -> Markup {
    html! {
        form.filter method="get" action="/" role="search" {
            @if let Some(project) = &query.project { input type="hidden" name="project" value=(project); }
            label { span.vh { "Search runs" } input type="search" name="q" placeholder="project, task, run or reason" value=[query.q.as_deref()]; }
            label {
                span.vh { "Outcome" }
                select name="outcome" {
                    option value="" { "any outcome" }
                    @for outcome in Outcome::ALL.map(Outcome::as_str) {
                        option value=(outcome) selected[query.outcome.as_deref() == Some(outcome)] { (outcome.replace('_', " ")) }
                    }
                }
            }
            button type="submit" { "Find" }
            @if query.is_filtered() { a.btn href="/" { "All" } }
        }
    }
}

fn nothing() -> Markup {
    html! {
        section.empty {
            p.why { "There are no runs yet. In a git repository:" }
            pre { "flyball run \"Fix the failing tests\"" }
            p.note { "Or see it work on an example: " code { "flyball demo" } }
        }
    }
}
