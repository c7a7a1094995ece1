//! Weakened checks across runs: the tree each worktree is compared with, and what is open.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flyball_core::gate::{TamperFinding, TestBounds};
use flyball_core::{Moment, RunId};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use super::{Journal, JournalError, number, stored, text_of};

/// A repository of this machine: all its worktrees and clones.
pub type RepositoryKey = i64;

/// The tree a worktree is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TamperBase {
    /// Its row.
    pub key: i64,
    /// The worktree.
    pub root: PathBuf,
    /// The checkpoint tree.
    pub tree: String,
    /// What was checked out.
    pub head: Option<String>,
    /// The run that began on it.
    pub run: RunId,
    /// When.
    pub at: Moment,
    /// Whether everything that was done since by agents has been looked at.
    pub examined: bool,
    /// What goes with it.
    pub body: BaseBody,
}

/// What goes with a tree that is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseBody {
    /// The gates of the run that began on it, as its record has them.
    pub gates: serde_json::Value,
    /// What the checks have run since.
    #[serde(default)]
    pub bounds: TestBounds,
    /// Files git was told not to look at even then.
    #[serde(default)]
    pub unwatched: Vec<String>,
    /// Ignored files a check may read, and what was in them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ignored: BTreeMap<String, String>,
    /// Programs and settings outside of the repository that checks depend on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outside: BTreeMap<String, String>,
    /// Other worktrees in which a run has taken over what is to be looked at here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_over: Vec<PathBuf>,
}

/// A weakened check that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFinding {
    /// What was found.
    pub finding: TamperFinding,
    /// What was in its files, as far as that is of a size to be kept.
    #[serde(default)]
    pub before: Vec<KeptFile>,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// Its path.
    pub path: String,
    /// What was in it; nothing when it was not there.
    pub text: Option<String>,
}

/// A weakened check that is neither undone nor accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTamper {
    /// Its row.
    pub key: i64,
    /// The tree it was found against.
    pub base: TamperBase,
    /// The worktree it was seen in last.
    pub root: PathBuf,
    /// The run that found it.
    pub run: RunId,
    /// What is kept of it.
    pub kept: KeptFinding,
}

const BASE: &str = "b.key, b.root, b.tree, b.head, b.run, b.at, b.examined, b.body";

impl Journal {
    /// The repository one of these names belongs to; from now on all of them do.
    pub fn repository(&mut self, names: &[String]) -> Result<RepositoryKey, JournalError> {
        if let [Some(first), rest @ ..] = self.named(names)?.as_slice()
            && rest.iter().all(|other| *other == Some(*first))
        {
            return Ok(*first);
        }
        self.write(|change| {
            let known: Vec<i64> = names
                .iter()
                .filter_map(|name| named(change, name).transpose())
                .collect::<Result<_, _>>()?;
            let repository = match known.iter().min() {
                Some(oldest) => *oldest,
                None => change.query_row(
                    "SELECT coalesce(max(repository), 0) + 1 FROM repository_names",
                    [],
                    |row| row.get(0),
                )?,
            };
            for other in known.iter().filter(|other| **other != repository) {
                for table in ["repository_names", "tamper_bases"] {
                    let text = format!("UPDATE {table} SET repository = ?1 WHERE repository = ?2");
                    change.execute(&text, [repository, *other])?;
                }
            }
            for name in names {
                let text =
                    "INSERT OR REPLACE INTO repository_names (name, repository) VALUES (?1, ?2)";
                change.execute(text, params![name, repository])?;
            }
            Ok(repository)
        })
    }

    /// All names of the repository that has this one.
    pub fn repository_names(&self, name: &str) -> Result<Vec<String>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT name FROM repository_names WHERE repository =
                 (SELECT repository FROM repository_names WHERE name = ?1)",
            )?;
            let rows = select.query_map([name], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn named(&self, names: &[String]) -> Result<Vec<Option<i64>>, JournalError> {
        self.read(|connection| names.iter().map(|name| named(connection, name)).collect())
    }

    /// The tree a worktree is compared with at present.
    pub fn tamper_base(&self, root: &Path) -> Result<Option<TamperBase>, JournalError> {
        self.read(|connection| {
            let text = format!(
                "SELECT {BASE} FROM tamper_bases b WHERE b.root = ?1 ORDER BY b.key DESC LIMIT 1"
            );
            let row = connection.prepare_cached(&text)?.query_row([text_of(root)], raw_base);
            row.optional()?.map(base).transpose()
        })
    }

    /// Trees of other worktrees of a repository since which not everything was looked at, the latest
    /// first.
    pub fn unexamined_elsewhere(
        &self,
        of: RepositoryKey,
        here: &Path,
    ) -> Result<Vec<TamperBase>, JournalError> {
        self.read(|connection| {
            let text = format!(
                "SELECT {BASE} FROM tamper_bases b WHERE b.repository = ?1 AND b.examined = 0
                 AND b.root <> ?2 ORDER BY b.key DESC LIMIT 50"
            );
            let mut select = connection.prepare_cached(&text)?;
            let rows = select.query_map(params![of, text_of(here)], raw_base)?;
            rows.map(|row| base(row?)).collect()
        })
    }

    /// What is to be looked at since this tree is taken over by a run in another worktree.
    pub fn take_over_tamper(&mut self, from: &TamperBase, to: &Path) -> Result<(), JournalError> {
        let mut given = from.body.clone();
        given.taken_over.push(to.to_path_buf());
        let body = text(&given)?;
        self.write(|change| {
            let set = "UPDATE tamper_bases SET body = ?2 WHERE key = ?1";
            change.execute(set, params![from.key, body])?;
            Ok(())
        })
    }

    /// A worktree is compared with this tree from now on. Earlier ones go, unless something found
    /// against them is still open.
    pub fn begin_tamper_base(
        &mut self,
        repository: RepositoryKey,
        new: &TamperBase,
    ) -> Result<i64, JournalError> {
        let body = text(&new.body)?;
        self.write(|change| {
            let settled = "root = ?1 AND key NOT IN
                (SELECT base FROM tamper_findings WHERE state = 'open')";
            let of = format!(
                "DELETE FROM tamper_findings WHERE base IN
                 (SELECT key FROM tamper_bases WHERE {settled})"
            );
            change.execute(&of, [text_of(&new.root)])?;
            change.execute(
                &format!("DELETE FROM tamper_bases WHERE {settled}"),
                [text_of(&new.root)],
            )?;
            change.execute(
                "INSERT INTO tamper_bases (repository, root, tree, head, run, at, examined, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    repository,
                    text_of(&new.root),
                    new.tree,
                    new.head,
                    new.run.as_str(),
                    stored(new.at.as_millis()),
                    new.examined,
                    body
                ],
            )?;
            Ok(change.last_insert_rowid())
        })
    }

    /// Keeps whether everything since this tree has been looked at.
    pub fn mark_tamper_base(&mut self, base: &TamperBase) -> Result<(), JournalError> {
        self.write(|change| {
            let text = "UPDATE tamper_bases SET examined = ?2 WHERE key = ?1";
            change.execute(text, params![base.key, base.examined])?;
            Ok(())
        })
    }

    /// Keeps what is open in a worktree; what was open there and is no longer is undone.
    pub fn keep_tamper(
        &mut self,
        now: &TamperBase,
        (run, at): (&RunId, Moment),
        open: &[KeptFinding],
    ) -> Result<(), JournalError> {
        let body = text(&now.body)?;
        let rows = open.iter().map(|kept| Ok((kept, text(kept)?)));
        let rows: Vec<(&KeptFinding, String)> = rows.collect::<Result<_, JournalError>>()?;
        let root = text_of(&now.root);
        self.write(|change| {
            let set = "UPDATE tamper_bases SET examined = ?2, body = ?3 WHERE key = ?1";
            change.execute(set, params![now.key, now.examined, body])?;
            let gone = "UPDATE tamper_findings SET state = 'undone', last_at = ?2
                        WHERE state = 'open' AND root = ?1";
            change.execute(gone, params![root, stored(at.as_millis())])?;
            for (kept, body) in &rows {
                let base = base_of(change, now, kept)?;
                change.execute(
                    "INSERT INTO tamper_findings
                     (base, root, finding, state, run, first_at, last_at, body)
                     VALUES (?1, ?2, ?3, 'open', ?4, ?5, ?5, ?6)
                     ON CONFLICT (base, finding) DO UPDATE SET last_at = ?5, body = ?6,
                     state = CASE state WHEN 'accepted' THEN state ELSE 'open' END",
                    params![
                        base,
                        root,
                        kept.finding.key(),
                        run.as_str(),
                        stored(at.as_millis()),
                        body
                    ],
                )?;
            }
            Ok(())
        })
    }

    /// What is open in a repository, oldest first.
    pub fn open_tamper(&self, of: RepositoryKey) -> Result<Vec<OpenTamper>, JournalError> {
        self.read(|connection| {
            let text = format!(
                "SELECT {BASE}, f.key, f.root, f.run, f.body FROM tamper_findings f
                 JOIN tamper_bases b ON b.key = f.base
                 WHERE f.state = 'open' AND b.repository = ?1 ORDER BY f.key"
            );
            let mut select = connection.prepare_cached(&text)?;
            let rows = select.query_map([of], |row| {
                let own: (i64, String, String, String) =
                    (row.get(8)?, row.get(9)?, row.get(10)?, row.get(11)?);
                Ok((raw_base(row)?, own))
            })?;
            let mut open = Vec::new();
            for row in rows {
                let (of, (key, root, run, body)) = row?;
                let kept = serde_json::from_str(&body).map_err(JournalError::row("a finding"))?;
                let (root, run) = (PathBuf::from(root), RunId::new(run));
                open.push(OpenTamper { key, base: base(of)?, root, run, kept });
            }
            Ok(open)
        })
    }

    /// What is weakened and open in a worktree, as it was seen last, oldest first. Reads no file of it.
    pub fn weakened_at(&self, root: &Path) -> Result<Vec<TamperFinding>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT body FROM tamper_findings WHERE state = 'open' AND root = ?1 ORDER BY key",
            )?;
            let rows = select.query_map([text_of(root)], |row| row.get::<_, String>(0))?;
            // One that is damaged is one all the same, and hides no other.
            let damaged = || TamperFinding::about("?", "a weakened check whose row cannot be read");
            let found = rows.map(|row| {
                let kept: Option<KeptFinding> = serde_json::from_str(&row?).ok();
                Ok(kept.map_or_else(damaged, |kept| kept.finding))
            });
            found.collect()
        })
    }

    /// What people said yes to in a repository, by key of the finding.
    pub fn accepted_tamper(&self, of: RepositoryKey) -> Result<Vec<String>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT f.finding FROM tamper_findings f JOIN tamper_bases b ON b.key = f.base
                 WHERE f.state = 'accepted' AND b.repository = ?1 ORDER BY f.finding",
            )?;
            let rows = select.query_map([of], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// A human says yes to these.
    pub fn accept_tamper(&mut self, rows: &[i64], at: Moment) -> Result<(), JournalError> {
        self.settle_tamper(rows, "accepted", at)
    }

    /// These are as they were again.
    pub fn undo_tamper(&mut self, rows: &[i64], at: Moment) -> Result<(), JournalError> {
        self.settle_tamper(rows, "undone", at)
    }

    fn settle_tamper(&mut self, rows: &[i64], as_: &str, at: Moment) -> Result<(), JournalError> {
        self.write(|change| {
            for row in rows {
                let text = "UPDATE tamper_findings SET state = ?2, last_at = ?3 WHERE key = ?1";
                change.execute(text, params![row, as_, stored(at.as_millis())])?;
            }
            Ok(())
        })
    }
}

fn named(connection: &Connection, name: &str) -> Result<Option<i64>, JournalError> {
    let text = "SELECT repository FROM repository_names WHERE name = ?1";
    Ok(connection.prepare_cached(text)?.query_row([name], |row| row.get(0)).optional()?)
}

/// The row of the tree a finding was made against: that of an earlier run, or the present one.
fn base_of(change: &Connection, now: &TamperBase, kept: &KeptFinding) -> Result<i64, JournalError> {
    let tree = &kept.finding.base;
    if tree.is_empty() || *tree == now.tree {
        return Ok(now.key);
    }
    let text = "SELECT key FROM tamper_bases WHERE tree = ?1 AND repository =
                (SELECT repository FROM tamper_bases WHERE key = ?2) ORDER BY key LIMIT 1";
    let known = change.query_row(text, params![tree, now.key], |row| row.get(0)).optional()?;
    Ok(known.unwrap_or(now.key))
}

/// The columns of a base, in the order of [`BASE`].
type RawBase = (i64, String, String, Option<String>, String, i64, bool, String);

fn raw_base(row: &Row<'_>) -> rusqlite::Result<RawBase> {
    Ok((
        row.get(0)?,
        row.get(1)?,
        row.get(2)?,
        row.get(3)?,
        row.get(4)?,
        row.get(5)?,
        row.get(6)?,
        row.get(7)?,
    ))
}

fn base(raw: RawBase) -> Result<TamperBase, JournalError> {
    let (key, root, tree, head, run, at, examined, body) = raw;
    let body = serde_json::from_str(&body).map_err(JournalError::row("a tree compared with"))?;
    let (root, run, at) = (PathBuf::from(root), RunId::new(run), Moment::from_millis(number(at)));
    Ok(TamperBase { key, root, tree, head, run, at, examined, body })
}

fn text<T: Serialize>(value: &T) -> Result<String, JournalError> {
    serde_json::to_string(value).map_err(JournalError::row("a weakened check"))
}
