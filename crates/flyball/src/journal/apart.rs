//! Runs in a worktree of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flyball_core::{Moment, RunId};
use rusqlite::{OptionalExtension, Row, params};

use super::{Journal, JournalError, stored, text_of};

/// A run in a worktree of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApartRun {
    /// The run.
    pub run: RunId,
    /// Its worktree.
    pub path: PathBuf,
    /// The worktree it was started in.
    pub origin: PathBuf,
    /// Its branch.
    pub branch: String,
    /// The branch it came from; none when none was checked out.
    pub target: Option<String>,
    /// The commit it began on.
    pub base: String,
    /// What became of it; none as long as it is there.
    pub fate: Option<Fate>,
}

/// What became of a run's branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is part of another branch.
    Landed,
    /// It was thrown away.
    Dropped,
}

impl Fate {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Landed => "landed",
            Self::Dropped => "dropped",
        }
    }
}

const COLUMNS: &str = "run, path, origin, branch, target, base, fate";

impl Journal {
    /// Enters that a run has a worktree of its own.
    pub fn set_apart(&mut self, apart: &ApartRun, at: Moment) -> Result<(), JournalError> {
        self.write(|change| {
            change.execute(
                "INSERT OR REPLACE INTO apart (run, path, origin, branch, target, base, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    apart.run.as_str(),
                    text_of(&apart.path),
                    text_of(&apart.origin),
                    apart.branch,
                    apart.target,
                    apart.base,
                    stored(at.as_millis()),
                ],
            )?;
            Ok(())
        })
    }

    /// The run's worktree, where it has one of its own.
    pub fn apart(&self, run: &RunId) -> Result<Option<ApartRun>, JournalError> {
        let text = format!("SELECT {COLUMNS} FROM apart WHERE run = ?1");
        self.read(|connection| {
            Ok(connection.prepare_cached(&text)?.query_row([run.as_str()], read).optional()?)
        })
    }

    /// The runs that were started here and work in a worktree of their own, the latest first.
    pub fn apart_from(&self, origin: &Path) -> Result<Vec<ApartRun>, JournalError> {
        let text = format!(
            "SELECT {COLUMNS} FROM apart WHERE origin = ?1 AND fate IS NULL ORDER BY at DESC"
        );
        self.read(|connection| {
            let mut select = connection.prepare_cached(&text)?;
            let rows = select.query_map([text_of(origin)], read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Where the runs with a worktree of their own were started.
    pub fn apart_origins(&self) -> Result<BTreeMap<RunId, PathBuf>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached("SELECT run, origin FROM apart")?;
            let row = |row: &Row<'_>| {
                let (run, origin): (String, String) = (row.get(0)?, row.get(1)?);
                Ok((RunId::new(run), PathBuf::from(origin)))
            };
            Ok(select.query_map([], row)?.collect::<Result<_, _>>()?)
        })
    }

    /// All runs in a worktree of their own that was neither landed nor dropped, the latest first.
    pub fn all_apart(&self) -> Result<Vec<ApartRun>, JournalError> {
        let text = format!("SELECT {COLUMNS} FROM apart WHERE fate IS NULL ORDER BY at DESC");
        self.read(|connection| {
            let mut select = connection.prepare_cached(&text)?;
            let rows = select.query_map([], read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Enters what became of a worktree, for every run that had it.
    pub fn apart_ended(&mut self, path: &Path, fate: Fate) -> Result<(), JournalError> {
        self.write(|change| {
            change.execute(
                "UPDATE apart SET fate = ?2 WHERE path = ?1 AND fate IS NULL",
                params![text_of(path), fate.as_str()],
            )?;
            Ok(())
        })
    }

    /// Forgets a worktree that a run never began in.
    pub fn forget_apart(&mut self, run: &RunId) -> Result<(), JournalError> {
        self.write(|change| {
            change.execute("DELETE FROM apart WHERE run = ?1", [run.as_str()])?;
            Ok(())
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<ApartRun> {
    let fate: Option<String> = row.get("fate")?;
    Ok(ApartRun {
        run: RunId::new(row.get::<_, String>("run")?),
        path: PathBuf::from(row.get::<_, String>("path")?),
        origin: PathBuf::from(row.get::<_, String>("origin")?),
        branch: row.get("branch")?,
        target: row.get("target")?,
        base: row.get("base")?,
        fate: fate.map(|fate| if fate == "landed" { Fate::Landed } else { Fate::Dropped }),
    })
}
