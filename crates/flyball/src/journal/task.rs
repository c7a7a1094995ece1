//! What is remembered of tasks across runs, by repository: attempts, remedies, standings, context.

use std::collections::BTreeMap;
use std::path::Path;

use flyball_core::task::{
    AppliedRemedy, Attempt, ContextEntry, KnownBlocker, Standing, TaskMemory, catalogue,
};
use flyball_core::{Millis, Moment, TaskId};
use rusqlite::{Connection, Params, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Journal, JournalError, number, stored, text_of};

/// The most attempts, remedies or entries that are handed out, the latest ones.
const ROWS_MAX: u32 = 10_000;
/// How many attempts of all repositories the catalogue of blockers is made from: a run reads them
/// before it begins.
const CATALOGUE_MAX: u32 = 3_000;

impl Journal {
    /// Keeps an attempt at a task. The same one again changes nothing.
    pub fn record_attempt(&mut self, root: &Path, attempt: &Attempt) -> Result<(), JournalError> {
        let body = json(attempt, "an attempt")?;
        self.write(|change| {
            change.execute(
                "INSERT OR IGNORE INTO attempts (root, task, at, run, iteration, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    text_of(root),
                    attempt.task.as_str(),
                    stored(attempt.at.as_millis()),
                    attempt.run.as_str(),
                    attempt.iteration.get(),
                    body,
                ],
            )?;
            Ok(())
        })
    }

    /// Keeps an attempt of which there may be others at the same moment: it is put after those that
    /// are already there. The attempt as it is kept.
    pub fn add_attempt(
        &mut self,
        root: &Path,
        mut attempt: Attempt,
    ) -> Result<Attempt, JournalError> {
        self.write(|change| {
            let at = stored(attempt.at.as_millis());
            let latest: Option<i64> = change.query_row(
                "SELECT max(at) FROM attempts WHERE root = ?1 AND at >= ?2",
                params![text_of(root), at],
                |row| row.get(0),
            )?;
            let at = latest.map_or(at, |latest| latest.saturating_add(1));
            attempt.at = Moment::from_millis(number(at));
            let (run, iteration) = (attempt.run.as_str(), attempt.iteration.get());
            change.execute(
                "INSERT INTO attempts (root, task, at, run, iteration, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    text_of(root),
                    attempt.task.as_str(),
                    at,
                    run,
                    iteration,
                    json(&attempt, "an attempt")?,
                ],
            )?;
            Ok(())
        })?;
        Ok(attempt)
    }

    /// Keeps a remedy that was applied. The same one again changes nothing.
    pub fn record_remedy(
        &mut self,
        root: &Path,
        remedy: &AppliedRemedy,
    ) -> Result<(), JournalError> {
        let body = json(remedy, "a remedy")?;
        self.write(|change| {
            change.execute(
                "INSERT OR IGNORE INTO remedies (root, task, at, body) VALUES (?1, ?2, ?3, ?4)",
                params![text_of(root), remedy.task.as_str(), stored(remedy.at.as_millis()), body],
            )?;
            Ok(())
        })
    }

    /// Writes down where a task stands. One that stands open again is forgotten.
    pub fn mark_task(
        &mut self,
        root: &Path,
        task: &TaskId,
        (standing, at): (Standing, Moment),
    ) -> Result<(), JournalError> {
        let body = json(&standing, "a standing")?;
        self.write(|change| {
            if standing == Standing::Open {
                change.execute(
                    "DELETE FROM standings WHERE root = ?1 AND task = ?2",
                    params![text_of(root), task.as_str()],
                )?;
                return Ok(());
            }
            change.execute(
                "INSERT OR REPLACE INTO standings (root, task, standing, at)
                 VALUES (?1, ?2, ?3, ?4)",
                params![text_of(root), task.as_str(), body, stored(at.as_millis())],
            )?;
            Ok(())
        })
    }

    /// Keeps a context entry. The same one again changes nothing.
    pub fn record_context(
        &mut self,
        root: &Path,
        entry: &ContextEntry,
    ) -> Result<(), JournalError> {
        let body = json(entry, "a context entry")?;
        self.write(|change| {
            change.execute(
                "INSERT OR IGNORE INTO contexts (root, entry, topic, at, body)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![text_of(root), entry.id, entry.topic, stored(entry.at.as_millis()), body],
            )?;
            Ok(())
        })
    }

    /// What is remembered of the tasks of a repository: attempts younger than the window, every
    /// remedy, and where tasks stand.
    pub fn task_memory(
        &self,
        root: &Path,
        now: Moment,
        window: Millis,
    ) -> Result<TaskMemory, JournalError> {
        let root = text_of(root);
        let since = stored(now.minus(window).as_millis());
        self.read(|connection| {
            let attempts = list(
                connection,
                "SELECT body FROM attempts WHERE root = ?1 AND at > ?2
                 ORDER BY at DESC, key DESC LIMIT ?3",
                params![root, since, ROWS_MAX],
            )?;
            let remedies = list(
                connection,
                "SELECT body FROM remedies WHERE root = ?1 ORDER BY at DESC, key DESC LIMIT ?2",
                params![root, ROWS_MAX],
            )?;
            let standings = standings(connection, &root)?;
            Ok(TaskMemory { attempts, remedies, standings, known: Vec::new() })
        })
    }

    /// Blockers that were met in any project of this machine, and how they went away.
    pub fn known_blockers(&self) -> Result<Vec<KnownBlocker>, JournalError> {
        self.read(|connection| {
            let attempts = of_all(connection, "attempts")?;
            Ok(catalogue(&attempts, &of_all(connection, "remedies")?))
        })
    }

    /// What the tasks of a repository have cost in all its runs, in millionths of a dollar.
    pub fn task_costs(&self, root: &Path) -> Result<BTreeMap<TaskId, u64>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT iterations.task, sum(coalesce(body ->> '$.cost_micro_usd', 0))
                 FROM iterations JOIN runs ON runs.key = iterations.run
                 WHERE root = ?1 AND iterations.task IS NOT NULL AND json_valid(body)
                 GROUP BY iterations.task",
            )?;
            let rows = select.query_map([text_of(root)], |row| {
                Ok((TaskId::new(row.get::<_, String>(0)?), number(row.get(1)?)))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// What was ever done about the tasks of a repository that went in circles, oldest first.
    pub fn remedies(&self, root: &Path) -> Result<Vec<AppliedRemedy>, JournalError> {
        let text = "SELECT body FROM remedies WHERE root = ?1 ORDER BY at DESC, key DESC LIMIT ?2";
        self.read(|connection| list(connection, text, params![text_of(root), ROWS_MAX]))
    }

    /// Every attempt at the tasks of a repository, oldest first.
    pub fn attempts(&self, root: &Path) -> Result<Vec<Attempt>, JournalError> {
        let text = "SELECT body FROM attempts WHERE root = ?1 ORDER BY at DESC, key DESC LIMIT ?2";
        self.read(|connection| list(connection, text, params![text_of(root), ROWS_MAX]))
    }

    /// The context entries of a repository, oldest first; only those on a topic when one is given.
    pub fn contexts(
        &self,
        root: &Path,
        topic: Option<&str>,
    ) -> Result<Vec<ContextEntry>, JournalError> {
        let text = "SELECT body FROM contexts WHERE root = ?1 AND (?2 IS NULL OR topic = ?2)
                    ORDER BY at DESC, key DESC LIMIT ?3";
        self.read(|connection| list(connection, text, params![text_of(root), topic, ROWS_MAX]))
    }
}

fn standings(connection: &Connection, root: &str) -> Result<Vec<(TaskId, Standing)>, JournalError> {
    let mut select = connection
        .prepare_cached("SELECT task, standing FROM standings WHERE root = ?1 ORDER BY task")?;
    let rows = select.query_map([root], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.map(|row| {
        let (task, standing): (String, String) = row?;
        let what = format!("where task `{task}` stands");
        let standing = serde_json::from_str(&standing).map_err(JournalError::row(what))?;
        Ok((TaskId::new(task), standing))
    })
    .collect()
}

/// Bodies selected newest first, handed out oldest first.
fn list<T: DeserializeOwned>(
    connection: &Connection,
    text: &str,
    params: impl Params,
) -> Result<Vec<T>, JournalError> {
    let mut select = connection.prepare_cached(text)?;
    let rows = select.query_map(params, |row| row.get::<_, String>(0))?;
    let mut found: Vec<T> = rows
        .map(|body| {
            let body: String = body?;
            serde_json::from_str(&body).map_err(JournalError::row("what is remembered of tasks"))
        })
        .collect::<Result<_, JournalError>>()?;
    found.reverse();
    Ok(found)
}

/// The latest rows of all repositories, each with its own, oldest first.
fn of_all<T: DeserializeOwned>(
    connection: &Connection,
    table: &str,
) -> Result<Vec<(String, T)>, JournalError> {
    let text = format!("SELECT root, body FROM {table} ORDER BY at DESC, key DESC LIMIT ?1");
    let mut select = connection.prepare_cached(&text)?;
    let rows = select.query_map([CATALOGUE_MAX], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut found = rows
        .map(|row| {
            let (root, body): (String, String) = row?;
            let what = JournalError::row("what is remembered of tasks");
            Ok((root, serde_json::from_str(&body).map_err(what)?))
        })
        .collect::<Result<Vec<_>, JournalError>>()?;
    found.reverse();
    Ok(found)
}

fn json<T: Serialize>(value: &T, what: &str) -> Result<String, JournalError> {
    serde_json::to_string(value).map_err(JournalError::row(what))
}
