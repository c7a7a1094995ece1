//! What people did to runs: who did what through which door, and what came of it.

use flyball_core::{Moment, RunId};
use rusqlite::params;
use serde::Serialize;

use super::{Journal, JournalError, number, stored};

/// Acts that are kept; the oldest go first.
const KEPT_MAX: i64 = 100_000;

/// Through which door somebody acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    /// A command.
    Cli,
    /// The page of `flyball serve`.
    Page,
    /// `flyball watch`.
    Terminal,
    /// A tool over MCP.
    Mcp,
}

impl Door {
    /// As it is kept.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Page => "page",
            Self::Terminal => "terminal",
            Self::Mcp => "mcp",
        }
    }
}

/// What came of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActResult {
    /// It was done.
    Done,
    /// What it was about is no longer there: somebody was faster.
    TooLate,
    /// It was refused: who asked may not.
    Refused,
}

impl ActResult {
    /// As it is kept.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::TooLate => "too_late",
            Self::Refused => "refused",
        }
    }
}

/// An act to be written down.
#[derive(Clone, Debug)]
pub struct NewAct<'a> {
    /// When.
    pub at: Moment,
    /// On which run; empty where none was meant.
    pub run: &'a str,
    /// What: the command of the same name.
    pub act: &'a str,
    /// Through which door.
    pub by: Door,
    /// What came of it.
    pub result: ActResult,
    /// The rest, as JSON.
    pub body: String,
}

/// An act as it was written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Act {
    /// When.
    pub at: Moment,
    /// On which run.
    pub run: RunId,
    /// What.
    pub act: String,
    /// Through which door.
    pub by: String,
    /// What came of it.
    pub result: String,
    /// The rest, as JSON.
    pub body: String,
}

impl Journal {
    /// Writes an act down.
    pub fn record_act(&mut self, act: &NewAct<'_>) -> Result<(), JournalError> {
        self.write(|change| {
            change.execute(
                "INSERT INTO acts (at, run, act, by, result, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    stored(act.at.as_millis()),
                    act.run,
                    act.act,
                    act.by.as_str(),
                    act.result.as_str(),
                    act.body,
                ],
            )?;
            let oldest = change.last_insert_rowid().saturating_sub(KEPT_MAX);
            change.execute("DELETE FROM acts WHERE key <= ?1", [oldest])?;
            Ok(())
        })
    }

    /// The latest acts on a run, the latest first.
    pub fn acts(&self, run: &RunId, limit: u32) -> Result<Vec<Act>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT at, run, act, by, result, body FROM acts WHERE run = ?1
                 ORDER BY key DESC LIMIT ?2",
            )?;
            let rows = select.query_map(params![run.as_str(), limit], |row| {
                Ok(Act {
                    at: Moment::from_millis(number(row.get(0)?)),
                    run: RunId::new(row.get::<_, String>(1)?),
                    act: row.get(2)?,
                    by: row.get(3)?,
                    result: row.get(4)?,
                    body: row.get(5)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}
