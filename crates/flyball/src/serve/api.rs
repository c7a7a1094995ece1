//! The same as data: rows as `status --json` has them, events as `log --json` prints them.

use axum::http::StatusCode;
use axum::response::Response;
use flyball_core::Moment;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::figures::{Wanted, is_of};
use super::window::{Books, Problem, data, typed};
use crate::config::duration;
use crate::desk::{Life, life};
use crate::journal::{RunSummary, StoredEvent};
use crate::view::{Sentence, secrets, story};

/// Rows in one answer, unless asked otherwise, and at most.
const ROWS: usize = 50;
const ROWS_MAX: usize = 200;
/// Events in one answer, at most.
const EVENTS_MAX: u32 = 1000;

/// Which runs.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunsQuery {
    project: Option<String>,
    outcome: Option<String>,
    state: Option<String>,
    before: Option<String>,
    limit: Option<usize>,
}

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One object with a list.
    List,
    /// A line each.
    Lines,
}

/// Which events.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    #[serde(default)]
    after: u64,
    limit: Option<u32>,
    kind: Option<String>,
}

/// Which runs are summed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatsQuery {
    pub(super) since: Option<String>,
    pub(super) project: Option<String>,
    pub(super) agent: Option<String>,
}

impl StatsQuery {
    /// The runs that are meant: those of 30 days, unless another time is given.
    pub(super) fn wanted(&self) -> Result<Wanted, Problem> {
        let since = self.since.as_deref().unwrap_or("30d");
        let since = duration::parse(since).ok_or_else(|| {
            let error = format!("`{since}` is no time");
            Problem::new(StatusCode::BAD_REQUEST, &error, "such as 12h or 30d")
        })?;
        Ok(Wanted { since, project: self.project.clone(), agent: self.agent.clone() })
    }
}

/// How a run stands, in one word.
pub(super) fn state(run: &RunSummary) -> &'static str {
    match life(run) {
        Life::Running if run.state.phase == "waiting" => "waiting",
        Life::Running => "at_work",
        Life::Lost => "lost",
        Life::Ended => "ended",
    }
}

fn row(run: &RunSummary) -> Value {
    let mut value = json!(run);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("life".to_owned(), json!(life(run)));
        fields.insert("stands".to_owned(), json!(state(run)));
    }
    value
}

pub(super) fn runs(books: &Books, query: &RunsQuery) -> Result<Response, Problem> {
    let limit = query.limit.unwrap_or(ROWS).clamp(1, ROWS_MAX);
    let before = query.before.as_ref().map(|before| books.run(before)).transpose()?;
    let fits = |run: &RunSummary| {
        query.project.as_ref().is_none_or(|project| is_of(run, project))
            && query.outcome.as_ref().is_none_or(|outcome| run.outcome.as_ref() == Some(outcome))
            && query.state.as_ref().is_none_or(|wanted| state(run) == wanted)
    };
    let listed = books.journal.runs_before(before.as_ref().map(|run| &run.run))?;
    let mut found = listed.filter(|run| run.as_ref().map_or(true, fits));
    let rows: Vec<RunSummary> = found.by_ref().take(limit).collect::<Result<_, _>>()?;
    let more = found.next().transpose()?.is_some();
    let before = rows.last().filter(|_| more).map(|run| run.run.as_str());
    data(&json!({ "runs": rows.iter().map(row).collect::<Vec<_>>(), "before": before }))
}

pub(super) fn run(books: &mut Books, name: &str) -> Result<Response, Problem> {
    let run = books.run(name)?;
    let view = books.views.view(&books.journal, &run)?;
    let ask = books.ask(&run)?;
    let (failing, broken) = (view.failing().map(|(_, last)| last), &view.broken);
    data(&json!({
        "run": row(&run), "policy": view.policy, "limits": view.policy.limits, "tally": view.tally,
        "gates": view.gates, "failing_checks": failing, "ask": ask, "broken": broken,
    }))
}

pub(super) fn part(books: &mut Books, name: &str, part: &str) -> Result<Response, Problem> {
    let run = books.run(name)?;
    if part == "acts" {
        return data(&json!({ "acts": books.journal.acts(&run.run, 100)? }));
    }
    let view = books.views.view(&books.journal, &run)?;
    match part {
        "iterations" => data(&json!({ "iterations": view.iterations })),
        "matrix" => data(&json!({ "matrix": view.matrix })),
        "story" => {
            let words = |one: &Sentence| one.spans.iter().map(|span| span.text.as_str()).collect();
            let told: Vec<String> = story(&view).iter().map(words).collect();
            data(&json!({ "story": told }))
        }
        _ => {
            let hint = "iterations, matrix, story, acts or events";
            Err(Problem::new(StatusCode::NOT_FOUND, "a run has no such part", hint))
        }
    }
}

pub(super) fn events(
    books: &Books,
    name: &str,
    query: &EventsQuery,
    form: Form,
) -> Result<Response, Problem> {
    let run = books.run(name)?;
    let limit = query.limit.unwrap_or(100).clamp(1, EVENTS_MAX);
    let found = books.journal.stored_events(&run.run, query.after, limit, query.kind.as_deref())?;
    let lines: Vec<String> = found.iter().map(event).collect();
    if form == Form::Lines {
        let end = if lines.is_empty() { "" } else { "\n" };
        return Ok(typed("application/x-ndjson", format!("{}{end}", lines.join("\n"))));
    }
    let after = found.last().map(|event| event.seq);
    let text = format!(
        "{{\"events\":[{}],\"after\":{}}}",
        lines.join(","),
        after.map_or_else(|| "null".to_owned(), |after| after.to_string())
    );
    Ok(typed("application/json", text))
}

/// One event as `log --json` prints it; one that cannot be read says so.
fn event(event: &StoredEvent) -> String {
    let front = format!("{{\"seq\":{},\"at\":{}", event.seq, event.at.as_millis());
    let body = secrets::masked(&event.body);
    match serde_json::from_str::<&RawValue>(&body) {
        Ok(whole) if whole.get().starts_with("{\"") => {
            format!("{front},{}", whole.get().get(1..).unwrap_or("}"))
        }
        Ok(_) | Err(_) => {
            format!("{front},\"type\":{},\"unreadable\":true}}", json!(event.kind))
        }
    }
}

pub(super) fn asks(books: &Books) -> Result<Response, Problem> {
    data(&json!({ "asks": books.asks()? }))
}

pub(super) fn stats(
    books: &mut Books,
    now: Moment,
    query: &StatsQuery,
) -> Result<Response, Problem> {
    data(books.figures.stats(&books.journal, now, &query.wanted()?)?)
}
