//! For those who watch: whether anything changed, which runs moved, and events as they are stored.

use flyball_core::{Moment, RunId};
use rusqlite::params;

use super::event::key;
use super::{Journal, JournalError, number, stored};

/// An event as it is stored, readable or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its number in its run.
    pub seq: u64,
    /// When it was learned.
    pub at: Moment,
    /// Its word.
    pub kind: String,
    /// All of it, as JSON.
    pub body: String,
}

/// An event without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKind {
    /// Its number in its run.
    pub seq: u64,
    /// When it was learned.
    pub at: Moment,
    /// Its word.
    pub kind: String,
}

impl Journal {
    /// A number that is another one after any other connection has written.
    pub fn data_version(&self) -> Result<i64, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached("PRAGMA data_version")?;
            Ok(select.query_row([], |row| row.get(0))?)
        })
    }

    /// The runs whose last event came at this moment or later, with how many events they have.
    pub fn moved_since(&self, since: Moment) -> Result<Vec<(RunId, u64)>, JournalError> {
        self.read(|connection| {
            let mut select = connection
                .prepare_cached("SELECT id, events FROM runs WHERE last_at >= ?1 LIMIT 200")?;
            let rows = select.query_map([stored(since.as_millis())], |row| {
                Ok((RunId::new(row.get::<_, String>(0)?), number(row.get(1)?)))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// How many events all runs have.
    pub fn event_count(&self) -> Result<u64, JournalError> {
        self.read(|connection| {
            let count = "SELECT coalesce(sum(events), 0) FROM runs";
            Ok(number(connection.query_row(count, [], |row| row.get(0))?))
        })
    }

    /// The last events of a run before one, in order, at most so many; their bodies are not read.
    pub fn last_kinds(
        &self,
        run: &RunId,
        before: u64,
        limit: u32,
    ) -> Result<Vec<StoredKind>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT seq, at, kind FROM events WHERE run = ?1 AND seq < ?2
                 ORDER BY seq DESC LIMIT ?3",
            )?;
            let wanted = params![key(connection, run)?, stored(before), limit];
            let rows = select.query_map(wanted, |row| {
                Ok(StoredKind {
                    seq: number(row.get(0)?),
                    at: Moment::from_millis(number(row.get(1)?)),
                    kind: row.get(2)?,
                })
            })?;
            let mut kinds: Vec<StoredKind> = rows.collect::<Result<_, _>>()?;
            kinds.reverse();
            Ok(kinds)
        })
    }

    /// Events of a run as they are stored, at most so many after one; of one kind, where it is named.
    pub fn stored_events(
        &self,
        run: &RunId,
        after: u64,
        limit: u32,
        kind: Option<&str>,
    ) -> Result<Vec<StoredEvent>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT seq, at, kind, body FROM events
                 WHERE run = ?1 AND seq > ?2 AND (?3 IS NULL OR kind = ?3) ORDER BY seq LIMIT ?4",
            )?;
            let wanted = params![key(connection, run)?, stored(after), kind, limit];
            let rows = select.query_map(wanted, |row| {
                Ok(StoredEvent {
                    seq: number(row.get(0)?),
                    at: Moment::from_millis(number(row.get(1)?)),
                    kind: row.get(2)?,
                    body: row.get(3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

#[cfg(test)]
impl Journal {
    /// Puts something else in the place of a run's ending.
    pub(crate) fn spoil_ending(&mut self, run: &str, body: &str) {
        let change = "UPDATE runs SET ending = ?2 WHERE id = ?1";
        assert_eq!(self.connection.execute(change, params![run, body]), Ok(1));
    }

    /// Puts something else in the place of what is kept of every weakened check.
    pub(crate) fn spoil_findings(&mut self, body: &str) {
        let change = "UPDATE tamper_findings SET body = ?1";
        assert_eq!(self.connection.execute(change, [body]), Ok(1));
    }

    /// Puts something else in the place of an event's body.
    pub(crate) fn spoil_event(&mut self, run: &str, seq: u64, body: &str) {
        let run = key(&self.connection, &RunId::new(run)).unwrap();
        let change = "UPDATE events SET body = ?3 WHERE run = ?1 AND seq = ?2";
        assert_eq!(self.connection.execute(change, params![run, stored(seq), body]), Ok(1));
    }
}
