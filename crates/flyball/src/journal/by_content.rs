//! Smaller things kept beside the events: gate results, hook sessions.

use flyball_core::gate::GateResult;
use flyball_core::{Moment, RunId};
use rusqlite::{OptionalExtension, params};

use super::trail::{read_state, write_state};
use super::{Journal, JournalError, stored};

/// What gates said on a tree depends on these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateKey {
    /// The code tree.
    pub tree: String,
    /// A digest of the gates' commands.
    pub command: String,
    /// A digest of what of the environment matters.
    pub environment: String,
}

/// How many rows were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs.
    pub runs: usize,
    /// Their events.
    pub events: usize,
    /// Their iterations.
    pub iterations: usize,
    /// Gate results.
    pub gate_results: usize,
    /// Hook sessions.
    pub sessions: usize,
    /// Requests nobody took.
    pub requests: usize,
    /// Rows of the trail of hooks.
    pub hooks: usize,
}

impl Journal {
    /// What the gates said on a tree before, if they ran on it.
    pub fn gate_cache_get(&self, of: &GateKey) -> Result<Option<GateResult>, JournalError> {
        self.read(|connection| {
            let body: Option<String> = connection
                .prepare_cached(
                    "SELECT body FROM gate_results
                     WHERE tree = ?1 AND command = ?2 AND environment = ?3",
                )?
                .query_row(params![of.tree, of.command, of.environment], |row| row.get(0))
                .optional()?;
            let what = || JournalError::row(format!("the gate result of tree `{}`", of.tree));
            body.map(|body| serde_json::from_str(&body).map_err(what())).transpose()
        })
    }

    /// Keeps what the gates said on a tree.
    pub fn gate_cache_put(
        &mut self,
        of: &GateKey,
        at: Moment,
        result: &GateResult,
    ) -> Result<(), JournalError> {
        let body = serde_json::to_string(result).map_err(JournalError::row("a gate result"))?;
        self.write(|change| {
            change.execute(
                "INSERT OR REPLACE INTO gate_results (tree, command, environment, at, body)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![of.tree, of.command, of.environment, stored(at.as_millis()), body],
            )?;
            Ok(())
        })
    }

    /// Forgets what the gates said on a tree, if they ran on it.
    pub fn gate_cache_forget(&mut self, of: &GateKey) -> Result<(), JournalError> {
        self.write(|change| {
            change.execute(
                "DELETE FROM gate_results WHERE tree = ?1 AND command = ?2 AND environment = ?3",
                params![of.tree, of.command, of.environment],
            )?;
            Ok(())
        })
    }

    /// Reads a session's state, has it changed, and keeps the change: nobody comes in between.
    /// `change` is given nothing for a new session; a state of nothing forgets the session.
    pub fn with_session<R>(
        &mut self,
        id: &str,
        now: Moment,
        change: impl FnOnce(Option<&[u8]>) -> (Option<Vec<u8>>, R),
    ) -> Result<R, JournalError> {
        self.write(|transaction| {
            let before = read_state(transaction, id)?;
            let (after, result) = change(before.as_deref());
            match after {
                Some(state) => write_state(transaction, id, now, &state)?,
                None => {
                    transaction.execute("DELETE FROM sessions WHERE id = ?1", [id])?;
                }
            }
            Ok(result)
        })
    }

    /// What [`Journal::prune`] would remove.
    pub fn prunable(&self, before: Moment, kept: &[RunId]) -> Result<Pruned, JournalError> {
        let (before, kept) = (stored(before.as_millis()), names(kept)?);
        self.read(|connection| {
            pruned(|what| {
                let text = format!("SELECT count(*) FROM {what}");
                let rows: i64 =
                    connection.query_row(&text, params![before, kept], |row| row.get(0))?;
                Ok(usize::try_from(rows).unwrap_or(usize::MAX))
            })
        })
    }

    /// Removes runs whose last event came before a moment, with all that belongs to them, and what
    /// else is older; these runs stay. What is remembered of tasks, and what humans accepted, stays.
    pub fn prune(&mut self, before: Moment, kept: &[RunId]) -> Result<Pruned, JournalError> {
        let (before, kept) = (stored(before.as_millis()), names(kept)?);
        self.write(|change| {
            let gone = pruned(|what| {
                Ok(change.execute(&format!("DELETE FROM {what}"), params![before, kept])?)
            })?;
            change.execute(
                "DELETE FROM apart WHERE fate IS NOT NULL AND run NOT IN (SELECT id FROM runs)",
                [],
            )?;
            Ok(gone)
        })
    }
}

/// Runs as the database takes a list of them.
fn names(runs: &[RunId]) -> Result<String, JournalError> {
    serde_json::to_string(runs).map_err(JournalError::row("a list of runs"))
}

/// Goes through everything that grows old; `each` is told where it is, counts it and may remove it.
fn pruned(each: impl Fn(&str) -> Result<usize, JournalError>) -> Result<Pruned, JournalError> {
    let old = "last_at < ?1 AND id NOT IN (SELECT value FROM json_each(?2))";
    let of_old = format!("run IN (SELECT key FROM runs WHERE {old})");
    // All of them are given both: what is kept, and what is old.
    let aged = |what: &str, when: &str| each(&format!("{what} WHERE {when} < ?1 AND ?2 = ?2"));
    Ok(Pruned {
        events: each(&format!("events WHERE {of_old}"))?,
        iterations: each(&format!("iterations WHERE {of_old}"))?,
        runs: each(&format!("runs WHERE {old}"))?,
        gate_results: aged("gate_results", "at")?,
        sessions: aged("sessions", "updated")?,
        requests: aged("requests", "at")?.saturating_add(aged("replies", "at")?),
        hooks: aged("hook_trail", "at")?,
    })
}
