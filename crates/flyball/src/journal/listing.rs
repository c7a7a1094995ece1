//! Lists of runs that read no more rows than they show.

use std::collections::VecDeque;
use std::path::PathBuf;

use flyball_core::{Moment, RunId};
use rusqlite::{OptionalExtension, params};

use super::run::{COLUMNS, Raw, raw};
use super::{Journal, JournalError, RunSummary, number, stored};

impl Journal {
    /// The latest run of each worktree, the latest first: as many rows as there are worktrees are read,
    /// however many runs each has.
    pub fn latest_runs(&self) -> Result<Vec<RunSummary>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(&latest_of_each())?;
            let rows = select.query_map([], raw)?;
            let mut runs: Vec<RunSummary> =
                rows.map(|row| Ok(row?.summary())).collect::<Result<_, JournalError>>()?;
            runs.sort_by_key(|run| std::cmp::Reverse(run.started));
            Ok(runs)
        })
    }

    /// Runs, the latest first, read as they are asked for; those before one of them, where it is named
    /// and known.
    pub fn runs_before(&self, run: Option<&RunId>) -> Result<Listing<'_>, JournalError> {
        let place = run.map(|run| {
            self.read(|connection| {
                let text = "SELECT started, key FROM runs WHERE id = ?1";
                let mut select = connection.prepare_cached(text)?;
                let place = select.query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
                Ok(place.optional()?)
            })
        });
        let before = place.transpose()?.flatten().unwrap_or((i64::MAX, i64::MAX));
        Ok(Listing { journal: self, before, page: VecDeque::new(), over: false })
    }

    /// How many runs there are that began before one.
    pub fn count_before(&self, run: &RunId) -> Result<u64, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT count(*) FROM runs AS run, runs AS older
                 WHERE run.id = ?1 AND (older.started, older.key) < (run.started, run.key)",
            )?;
            Ok(number(select.query_row([run.as_str()], |row| row.get(0))?))
        })
    }

    /// The runs that began at this moment or later, the first one first: who they are and how far they
    /// have come.
    pub fn marks(&self, since: Moment) -> Result<Vec<RunMark>, JournalError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT id, root, agent, ended, iteration FROM runs WHERE started >= ?1
                 ORDER BY started, key",
            )?;
            let rows = select.query_map([stored(since.as_millis())], |row| {
                let (ended, iteration): (Option<i64>, i64) = (row.get(3)?, row.get(4)?);
                Ok(RunMark {
                    run: RunId::new(row.get::<_, String>(0)?),
                    root: PathBuf::from(row.get::<_, String>(1)?),
                    agent: row.get(2)?,
                    mark: number(ended.unwrap_or(iteration)),
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// A run, and a number that is another one once its sums may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMark {
    /// The run.
    pub run: RunId,
    /// The worktree's root.
    pub root: PathBuf,
    /// The agent's name or command.
    pub agent: String,
    /// When it ended; the iteration it is in, while it has not.
    pub mark: u64,
}

/// How many rows of a list are read at once.
const LISTED: u32 = 64;

/// Runs, the latest first. After an error there are no more.
#[derive(Debug)]
pub struct Listing<'journal> {
    journal: &'journal Journal,
    before: (i64, i64),
    page: VecDeque<(i64, Raw)>,
    over: bool,
}

impl Listing<'_> {
    fn read(&self) -> Result<VecDeque<(i64, Raw)>, JournalError> {
        let text = format!(
            "SELECT {COLUMNS}, key FROM runs WHERE (started, key) < (?1, ?2)
             ORDER BY started DESC, key DESC LIMIT {LISTED}"
        );
        self.journal.read(|connection| {
            let mut select = connection.prepare_cached(&text)?;
            let (started, key) = self.before;
            let rows =
                select.query_map(params![started, key], |row| Ok((row.get("key")?, raw(row)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

impl Iterator for Listing<'_> {
    type Item = Result<RunSummary, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty() && !self.over {
            match self.read() {
                Ok(page) => self.page = page,
                Err(error) => {
                    self.over = true;
                    return Some(Err(error));
                }
            }
        }
        let next = self.page.pop_front();
        self.over |= next.is_none();
        next.map(|(key, row)| {
            self.before = (stored(row.summary.started.as_millis()), key);
            Ok(row.summary())
        })
    }
}

/// The roots are gone through by their index, each with one step.
fn latest_of_each() -> String {
    format!(
        "WITH RECURSIVE roots (root) AS (
             SELECT min(root) FROM runs
             UNION ALL
             SELECT (SELECT min(root) FROM runs WHERE root > roots.root) FROM roots
             WHERE roots.root IS NOT NULL
         )
         SELECT {COLUMNS} FROM roots JOIN runs ON runs.key = (
             SELECT key FROM runs AS own WHERE own.root = roots.root
             ORDER BY own.started DESC, own.key DESC LIMIT 1
         )"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{NewRun, RunFilter};

    fn begin(journal: &mut Journal, name: &str, root: &str, started: u64) {
        let (run, started) = (RunId::new(name), Moment::from_millis(started));
        let (root, agent) = (PathBuf::from(root), "claude".to_owned());
        journal
            .start_run(&NewRun { run, root, agent, pid: 1, started, max_iterations: 0 })
            .unwrap();
    }

    #[test]
    fn lists_are_those_of_all_runs() {
        let state = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(state.path()).unwrap();
        assert_eq!(journal.latest_runs().unwrap(), []);
        // Some begin in the same moment, and not in the order of their rows.
        for number in 0..200_u64 {
            let root = format!("/p/{}", number % 7);
            begin(&mut journal, &format!("r{number:03}"), &root, 1_000 + (number * 37 % 50));
        }
        let all = journal.runs(&RunFilter::default()).unwrap();
        let listed: Vec<RunSummary> =
            journal.runs_before(None).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(listed, all);
        for at in [0, 63, 64, 130, 199] {
            let (one, older) = (&all[at], &all[at + 1..]);
            let rest: Vec<RunSummary> =
                journal.runs_before(Some(&one.run)).unwrap().collect::<Result<_, _>>().unwrap();
            assert_eq!(rest, older);
            assert_eq!(journal.count_before(&one.run).unwrap(), older.len() as u64);
        }
        let mut roots = std::collections::BTreeSet::new();
        let first: Vec<&RunSummary> = all.iter().filter(|run| roots.insert(&run.root)).collect();
        let latest = journal.latest_runs().unwrap();
        assert_eq!(latest.len(), 7);
        assert!(first.iter().all(|run| latest.contains(run)));
        assert_eq!(journal.marks(Moment::from_millis(1_025)).unwrap().len(), 100);
    }

    #[test]
    fn the_latest_of_each_worktree_are_found_without_reading_all_runs() {
        let state = tempfile::tempdir().unwrap();
        let journal = Journal::open(state.path()).unwrap();
        let explain = format!("EXPLAIN QUERY PLAN {}", latest_of_each());
        let mut plan = journal.connection.prepare(&explain).unwrap();
        let steps = plan.query_map([], |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
        let reads: Vec<&String> = steps.iter().filter(|step| step.contains("runs")).collect();
        assert!(reads.len() >= 3, "{steps:?}");
        assert!(reads.iter().all(|step| step.starts_with("SEARCH")), "{steps:?}");
    }
}
