//! What happened in a run, a hundred lines at a time, the newest last.

use std::collections::VecDeque;

use flyball_core::Event;
use maud::{Markup, html};
use serde::Deserialize;

use super::frame::{Place, frame};
use super::{address, fitting, project};
use crate::clock;
use crate::desk;
use crate::journal::{JournalError, RunSummary};
use crate::serve::window::{Books, Look, Problem};
use crate::view::{Line, Replay, Severity, Speaker, Verb, Weight, words};

/// Lines on a page.
const LINES: usize = 100;
/// How much of a line is shown; less where the page would be too large.
const TEXTS: [usize; 4] = [300, 160, 90, 40];

/// Which lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::serve) enum Show {
    /// What is worth reading.
    #[default]
    Story,
    /// What guards did.
    Guards,
    /// What gates said.
    Gates,
    /// Calls and what they gave.
    Calls,
    /// Every event.
    Everything,
}

impl Show {
    const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Story, "story", "Worth reading"),
        (Self::Guards, "guards", "Guards"),
        (Self::Gates, "gates", "Gates"),
        (Self::Calls, "calls", "Calls"),
        (Self::Everything, "everything", "Everything"),
    ];

    fn wants(self, line: &Line) -> bool {
        match self {
            Self::Story => line.weight == Weight::Story,
            Self::Guards => line.speaker == Speaker::Guard,
            Self::Gates => line.speaker == Speaker::Gate,
            Self::Calls => matches!(line.verb, Verb::Call | Verb::Result | Verb::Invalid),
            Self::Everything => true,
        }
    }

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(one, ..)| *one == self).map_or("story", |(_, word, _)| word)
    }
}

/// Which lines, and before which event.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct LogQuery {
    #[serde(default)]
    show: Show,
    before: Option<u64>,
}

/// A line with the number of its event.
struct Told {
    seq: u64,
    line: Option<Line>,
    kind: &'static str,
}

/// The page.
pub(in crate::serve) fn log(
    _: Look<'_>,
    books: &mut Books,
    name: &str,
    query: &LogQuery,
) -> Result<Markup, Problem> {
    let run = books.run(name)?;
    let (told, broken) = told(books, &run, query)?;
    let asks = desk::asks(&books.runs()?).len();
    let title = format!("{} · events", project(&run));
    Ok(fitting(&TEXTS, |most| {
        let body = html! {
            p.crumb { a href="/" { "Runs" } " / " a href=(address(&run)) { (project(&run)) " / " code { (run.run) } } " / events" }
            h1 { "What happened" }
            nav.tabs aria-label="Which events" {
                @for (show, word, words) in Show::ALL {
                    a.btn href=(format!("{}/events?show={word}", address(&run))) aria-current=[(show == query.show).then_some("page")] { (words) }
                }
                a.btn href=(format!("/api/runs/{}/events", run.run)) { "As JSON" }
            }
            div #events data-live {
                @if let Some(first) = told.front().filter(|_| told.len() == LINES) {
                    p.note { a href=(format!("{}/events?show={}&before={}", address(&run), query.show.word(), first.seq)) { "Earlier" } }
                }
                @if told.is_empty() { p.note { "Nothing of that kind happened." } }
                @else { (table(&told, most)) }
                @if let Some(broken) = &broken { p.note { (words::line(broken, 300)) } }
                @if query.before.is_some() { p.note { a href=(format!("{}/events?show={}", address(&run), query.show.word())) { "The newest" } } }
            }
        };
        frame(&title, Place::Runs, asks, &body)
    }))
}

fn table(told: &VecDeque<Told>, most: usize) -> Markup {
    html! {
        table.list.log {
            thead { tr { th scope="col" { "time" } th.num scope="col" { "it." } th scope="col" { "what" } th scope="col" { span.vh { "words" } } } }
            tbody {
                @for one in told {
                    @match &one.line {
                        None => tr.grey { td {} td {} td { (one.kind) } td.num { (one.seq) } },
                        Some(line) => tr class=(tone(line.severity)) {
                            td.keep { (clock::time_of_day(line.at)) }
                            td.num { @if let Some(iteration) = line.iteration { (iteration) } }
                            td.keep { b { (line.verb.as_str()) } }
                            td.words { (flyball_core::text::head(words::lines(&line.text).trim(), most)) }
                        },
                    }
                }
            }
        }
    }
}

/// The last lines before an event, told again from the beginning: what guards did is not stored.
fn told(
    books: &Books,
    run: &RunSummary,
    query: &LogQuery,
) -> Result<(VecDeque<Told>, Option<String>), Problem> {
    let before = query.before.unwrap_or(u64::MAX);
    let mut told = VecDeque::with_capacity(LINES);
    let mut keep = |one: Told| {
        if told.len() == LINES {
            told.pop_front();
        }
        told.push_back(one);
    };
    let mut replay = Replay::new(run);
    let mut broken = None;
    for recorded in books.journal.events(&run.run)? {
        let recorded = match recorded {
            Ok(recorded) if recorded.seq >= before => break,
            Ok(recorded) => recorded,
            Err(error @ (JournalError::BadEvent { .. } | JournalError::Corrupt { .. })) => {
                broken = Some(error.to_string());
                break;
            }
            Err(error) => return Err(error.into()),
        };
        let step = replay.step(recorded.at, &recorded.event);
        let silent = step.lines.is_empty();
        let lines = step.lines.into_iter().filter(|line| query.show.wants(line));
        for line in lines {
            keep(Told { seq: recorded.seq, line: Some(line), kind: "" });
        }
        if silent && query.show == Show::Everything {
            keep(Told { seq: recorded.seq, line: None, kind: kind(&recorded.event) });
        }
    }
    Ok((told, broken))
}

/// An event nothing is told of, in a word.
const fn kind(event: &Event) -> &'static str {
    match event {
        Event::RunStarted(_) => "run started",
        Event::RunResumed(_) => "run resumed",
        Event::Agent { .. } => "sign of the agent",
        Event::WorktreeSeen { .. } => "worktree looked at",
        Event::GatesFinished { .. } => "gates finished",
        Event::TimerFired { .. } => "timer",
        Event::TimePassed => "time passed",
        Event::StopRequested { .. } => "stop asked for",
        Event::HumanAsked { .. } => "a human's wish",
        Event::ShellFailed { .. } => "fault",
        Event::StateReplaced { .. } => "state replaced",
    }
}

const fn tone(severity: Severity) -> &'static str {
    match severity {
        Severity::Quiet | Severity::Plain => "plainly",
        Severity::Turn => "turn",
        Severity::Good => "good",
        Severity::Warn => "warn",
        Severity::Bad => "bad",
    }
}
