//! Appending events and reading them back, in order.

use std::collections::VecDeque;

use flyball_core::{Event, Moment, RunId};
use rusqlite::{Connection, OptionalExtension, params};

use super::{Journal, JournalError, number, stored};

/// How many events are read from the file at once.
const PAGE: usize = 256;

/// An event as it stands in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its number in its run; the first is 1.
    pub seq: u64,
    /// When it was learned.
    pub at: Moment,
    /// The event.
    pub event: Event,
}

impl Journal {
    /// Adds an event to a run; its number.
    pub fn append(&mut self, run: &RunId, at: Moment, event: &Event) -> Result<u64, JournalError> {
        self.append_all(run, &[(at, event)])
    }

    /// Adds events to a run: all of them or none. The number of the last one.
    pub fn append_all(
        &mut self,
        run: &RunId,
        events: &[(Moment, &Event)],
    ) -> Result<u64, JournalError> {
        let rows = rows(events)?;
        self.write(|change| insert(change, run, &rows))
    }

    /// The events of a run from the first, read page by page.
    pub fn events(&self, run: &RunId) -> Result<Events<'_>, JournalError> {
        self.events_after(run, 0)
    }

    /// The events of a run that come after the one with this number.
    pub fn events_after(&self, run: &RunId, seq: u64) -> Result<Events<'_>, JournalError> {
        let (key, last) = self.read(|connection| key_and_last(connection, run))?;
        Ok(Events {
            journal: self,
            run: run.clone(),
            key,
            after: stored(seq),
            last,
            page: VecDeque::new(),
            over: false,
        })
    }
}

/// Events of a run, in order and without gaps. After an error there are no more.
#[derive(Debug)]
pub struct Events<'journal> {
    journal: &'journal Journal,
    run: RunId,
    key: i64,
    after: i64,
    /// The number of the last event when the reading began.
    last: i64,
    page: VecDeque<(i64, i64, String)>,
    over: bool,
}

impl Iterator for Events<'_> {
    type Item = Result<Recorded, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let next = self.fetch().transpose()?;
        self.over = next.is_err();
        Some(next)
    }
}

impl Events<'_> {
    fn fetch(&mut self) -> Result<Option<Recorded>, JournalError> {
        if self.page.is_empty() {
            self.page = self.journal.read(|connection| page(connection, self.key, self.after))?;
        }
        let next = self.page.pop_front();
        let expected = self.after.saturating_add(1);
        // A damaged page can look like the end of a run, or like a run with fewer events.
        let gap = next.as_ref().map_or(expected <= self.last, |(seq, ..)| *seq != expected);
        if gap {
            return Err(self.missing(expected));
        }
        let Some((seq, at, body)) = next else {
            self.over = true;
            return Ok(None);
        };
        self.after = seq;
        let seq = number(seq);
        let event = serde_json::from_str(&body).map_err(|source| JournalError::BadEvent {
            run: self.run.clone(),
            seq,
            source,
        })?;
        Ok(Some(Recorded { seq, at: Moment::from_millis(number(at)), event }))
    }

    fn missing(&self, seq: i64) -> JournalError {
        let why = format!("event {seq} of run `{}` is missing", self.run);
        JournalError::Corrupt { path: self.journal.path.clone(), why }
    }
}

fn page(
    connection: &Connection,
    key: i64,
    after: i64,
) -> Result<VecDeque<(i64, i64, String)>, JournalError> {
    let mut select = connection.prepare_cached(
        "SELECT seq, at, body FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    )?;
    let most = i64::try_from(PAGE).unwrap_or(i64::MAX);
    let rows = select
        .query_map(params![key, after, most], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The key of a run.
pub(super) fn key(connection: &Connection, run: &RunId) -> Result<i64, JournalError> {
    key_and_last(connection, run).map(|(key, _)| key)
}

fn key_and_last(connection: &Connection, run: &RunId) -> Result<(i64, i64), JournalError> {
    connection
        .prepare_cached("SELECT key, events FROM runs WHERE id = ?1")?
        .query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?
        .ok_or_else(|| JournalError::UnknownRun { run: run.clone() })
}

/// Adds events to a run inside a larger change; the number of the last one.
pub(super) fn append_in(
    change: &Connection,
    run: &RunId,
    events: &[(Moment, &Event)],
) -> Result<u64, JournalError> {
    insert(change, run, &rows(events)?)
}

/// An event as it is stored: when, its word, and all of it.
type Row = (Moment, &'static str, String);

fn rows(events: &[(Moment, &Event)]) -> Result<Vec<Row>, JournalError> {
    let mut rows = Vec::with_capacity(events.len());
    for (at, event) in events {
        let body = serde_json::to_string(event).map_err(JournalError::row("an event"))?;
        rows.push((*at, kind(event), body));
    }
    Ok(rows)
}

fn insert(change: &Connection, run: &RunId, rows: &[Row]) -> Result<u64, JournalError> {
    let latest = rows.iter().map(|(at, ..)| stored(at.as_millis())).max().unwrap_or(0);
    let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let (key, last): (i64, i64) = change
        .prepare_cached(
            "UPDATE runs SET events = events + ?2, last_at = max(last_at, ?3)
             WHERE id = ?1 RETURNING key, events",
        )?
        .query_row(params![run.as_str(), count, latest], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?
        .ok_or_else(|| JournalError::UnknownRun { run: run.clone() })?;
    let mut add = change.prepare_cached(
        "INSERT INTO events (run, seq, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let first = last.saturating_sub(count).saturating_add(1);
    for (seq, (at, kind, body)) in (first..).zip(rows) {
        add.execute(params![key, seq, stored(at.as_millis()), kind, body])?;
    }
    Ok(number(last))
}

/// The word an event is stored under: the same as its `type`.
fn kind(event: &Event) -> &'static str {
    match event {
        Event::RunStarted(_) => "run.started",
        Event::RunResumed(_) => "run.resumed",
        Event::Agent { .. } => "agent",
        Event::WorktreeSeen { .. } => "worktree.seen",
        Event::GatesFinished { .. } => "gates.finished",
        Event::TimerFired { .. } => "timer.fired",
        Event::TimePassed => "time.passed",
        Event::StopRequested { .. } => "stop.requested",
        Event::HumanAsked { .. } => "human.asked",
        Event::ShellFailed { .. } => "shell.failed",
        Event::StateReplaced { .. } => "state.replaced",
    }
}
