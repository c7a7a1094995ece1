//! The trail of hooks: what each hook process was asked and answered, beside the events of runs.

use flyball_core::{Moment, RunId};
use rusqlite::{Connection, OptionalExtension, params};

use super::{Journal, JournalError, number, stored};

/// Where a hook stands when it writes.
#[derive(Clone, Copy, Debug)]
pub struct HookStep<'a> {
    /// The run it belongs to, if any.
    pub run: Option<&'a RunId>,
    /// The session whose state it changes.
    pub session: &'a str,
    /// When.
    pub at: Moment,
}

/// What a hook keeps.
#[derive(Clone, Debug, Default)]
pub struct HookChange {
    /// The session's new state; none leaves it as it is.
    pub state: Option<Vec<u8>>,
    /// What goes on the trail, as JSON; none when there is nothing to tell.
    pub report: Option<String>,
}

/// A row of the trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRow {
    /// Its place: later rows have larger ones.
    pub key: u64,
    /// When it was written.
    pub at: Moment,
    /// The report, as JSON.
    pub body: String,
}

/// A session as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// What it is kept under.
    pub id: String,
    /// When it was kept last.
    pub updated: Moment,
    /// Its state, as JSON.
    pub state: Vec<u8>,
}

impl Journal {
    /// Reads a session's state, has it changed, and keeps the change and its report: all of it or
    /// nothing, and nobody comes in between.
    pub fn hook_step<R>(
        &mut self,
        step: &HookStep<'_>,
        change: impl FnOnce(Option<&[u8]>) -> (HookChange, R),
    ) -> Result<R, JournalError> {
        self.write(|transaction| {
            let before = read_state(transaction, step.session)?;
            let (HookChange { state, report }, result) = change(before.as_deref());
            if let Some(state) = state {
                write_state(transaction, step.session, step.at, &state)?;
            }
            if let Some(report) = report {
                transaction
                    .prepare_cached(
                        "INSERT INTO hook_trail (run, session, at, body) VALUES (?1, ?2, ?3, ?4)",
                    )?
                    .execute(params![
                        step.run.map(RunId::as_str),
                        step.session,
                        stored(step.at.as_millis()),
                        report
                    ])?;
            }
            Ok(result)
        })
    }

    /// The rows of a run's trail that come after the one at this place. Cheap when there are none.
    pub fn hooks_after(&self, run: &RunId, key: u64) -> Result<Vec<HookRow>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT key, at, body FROM hook_trail WHERE run = ?1 AND key > ?2 ORDER BY key",
            )?;
            let rows = select.query_map(params![run.as_str(), stored(key)], |row| {
                let at = Moment::from_millis(number(row.get(1)?));
                Ok(HookRow { key: number(row.get(0)?), at, body: row.get(2)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The place of the last row of a run's trail; 0 when there is none.
    pub fn last_hook(&self, run: &RunId) -> Result<u64, JournalError> {
        self.read(|connection| {
            let last: Option<i64> = connection
                .prepare_cached("SELECT max(key) FROM hook_trail WHERE run = ?1")?
                .query_row([run.as_str()], |row| row.get(0))?;
            Ok(number(last.unwrap_or(0)))
        })
    }

    /// The sessions whose state was kept since then, the latest first.
    pub fn sessions_since(
        &self,
        since: Moment,
        limit: u32,
    ) -> Result<Vec<SessionRow>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT id, updated, state FROM sessions WHERE updated >= ?1
                 ORDER BY updated DESC, id LIMIT ?2",
            )?;
            let rows = select.query_map(params![stored(since.as_millis()), limit], |row| {
                let updated = Moment::from_millis(number(row.get(1)?));
                Ok(SessionRow { id: row.get(0)?, updated, state: row.get(2)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The trail of a session outside of a run, oldest first.
    pub fn trail_of(&self, session: &str) -> Result<Vec<HookRow>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT key, at, body FROM hook_trail
                 WHERE session = ?1 AND run IS NULL ORDER BY key",
            )?;
            let rows = select.query_map([session], |row| {
                let at = Moment::from_millis(number(row.get(1)?));
                Ok(HookRow { key: number(row.get(0)?), at, body: row.get(2)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// A session's state, for looking only.
    pub fn session_state(&self, session: &str) -> Result<Option<Vec<u8>>, JournalError> {
        self.read(|connection| read_state(connection, session))
    }
}

pub(super) fn read_state(
    connection: &Connection,
    session: &str,
) -> Result<Option<Vec<u8>>, JournalError> {
    let mut select = connection.prepare_cached("SELECT state FROM sessions WHERE id = ?1")?;
    Ok(select.query_row([session], |row| row.get(0)).optional()?)
}

pub(super) fn write_state(
    change: &Connection,
    session: &str,
    at: Moment,
    state: &[u8],
) -> Result<(), JournalError> {
    change
        .prepare_cached("INSERT OR REPLACE INTO sessions (id, updated, state) VALUES (?1, ?2, ?3)")?
        .execute(params![session, stored(at.as_millis()), state])?;
    Ok(())
}
