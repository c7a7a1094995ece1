//! Runs: the one row each that `status` shows, and the rows of their iterations.

use std::path::{Path, PathBuf};

use flyball_core::effect::{Ending, IterationReport};
use flyball_core::{IterationNo, Moment, RunId, TaskId};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use serde::Serialize;

use super::event::key;
use super::{Journal, JournalError, number, stored, text_of};

/// What is known of a run when it begins.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// The run.
    pub run: RunId,
    /// The worktree's root.
    pub root: PathBuf,
    /// The agent's name or command.
    pub agent: String,
    /// flyball's process id.
    pub pid: u32,
    /// When.
    pub started: Moment,
    /// The limit of iterations; 0 is none.
    pub max_iterations: u32,
}

/// How a run stands, for those who watch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunProgress {
    /// The iteration it is in.
    pub iteration: IterationNo,
    /// What the iteration is for.
    pub mode: Option<String>,
    /// The task at hand.
    pub task: Option<TaskId>,
    /// Where it stands, in one word.
    pub phase: String,
    /// Iterations without progress in a row.
    pub stuck: u32,
    /// Tokens used.
    pub tokens: u64,
    /// Money used, in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// Stories passed.
    pub stories_complete: u32,
    /// Stories in all.
    pub stories_total: u32,
}

/// A run as the journal has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSummary {
    /// The run.
    pub run: RunId,
    /// The worktree's root.
    pub root: PathBuf,
    /// The agent's name or command.
    pub agent: String,
    /// flyball's process id while it runs; none once it has ended.
    pub pid: Option<u32>,
    /// When it began.
    pub started: Moment,
    /// When its last event came.
    pub last_at: Moment,
    /// When it ended; none when it runs or was lost.
    pub ended: Option<Moment>,
    /// How it ended, in the outcome's word.
    pub outcome: Option<String>,
    /// The limit of iterations; 0 is none.
    pub max_iterations: u32,
    /// How many events it has.
    pub events: u64,
    /// How it stands.
    pub state: RunProgress,
    /// How it ended, in full.
    pub ending: Option<Ending>,
    /// What of its row could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

/// Which runs to list.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Only those of this worktree.
    pub root: Option<PathBuf>,
    /// Only those that have not ended.
    pub unfinished: bool,
    /// At most this many, the latest first; 0 is all.
    pub limit: u32,
}

pub(super) const COLUMNS: &str = "id, runs.root, agent, pid, started, last_at, ended, outcome, max_iterations, \
     events, iteration, mode, task, phase, stuck, tokens, cost_micro_usd, stories_complete, \
     stories_total, ending";

impl Journal {
    /// Enters a new run.
    pub fn start_run(&mut self, run: &NewRun) -> Result<(), JournalError> {
        self.write(|change| {
            change.execute(
                "INSERT INTO runs (id, root, agent, pid, started, last_at, max_iterations)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)",
                params![
                    run.run.as_str(),
                    text_of(&run.root),
                    run.agent,
                    run.pid,
                    stored(run.started.as_millis()),
                    run.max_iterations,
                ],
            )?;
            Ok(())
        })
    }

    /// Takes up a run again, in another process.
    pub fn resume_run(
        &mut self,
        run: &RunId,
        pid: u32,
        max_iterations: u32,
    ) -> Result<(), JournalError> {
        self.write(|change| {
            let count = change.execute(
                "UPDATE runs SET pid = ?2, max_iterations = ?3, ended = NULL, outcome = NULL,
                 ending = NULL WHERE id = ?1",
                params![run.as_str(), pid, max_iterations],
            )?;
            known(run, count)
        })
    }

    /// Another limit of iterations holds from now on.
    pub fn limit_iterations(&mut self, run: &RunId, iterations: u32) -> Result<(), JournalError> {
        self.write(|change| {
            let count = change.execute(
                "UPDATE runs SET max_iterations = ?2 WHERE id = ?1",
                params![run.as_str(), iterations],
            )?;
            known(run, count)
        })
    }

    /// Writes down how a run stands.
    pub fn update_run(&mut self, run: &RunId, state: &RunProgress) -> Result<(), JournalError> {
        self.write(|change| write_state(change, run, state))
    }

    /// Writes down how a run ended.
    pub fn finish_run(
        &mut self,
        run: &RunId,
        at: Moment,
        ending: &Ending,
    ) -> Result<(), JournalError> {
        let body = serde_json::to_string(ending).map_err(JournalError::row("an ending"))?;
        self.write(|change| {
            let count = change.execute(
                "UPDATE runs SET ended = ?2, last_at = max(last_at, ?2), outcome = ?3,
                 ending = ?4, phase = 'finished', pid = NULL WHERE id = ?1",
                params![run.as_str(), stored(at.as_millis()), ending.outcome.as_str(), body],
            )?;
            known(run, count)
        })
    }

    /// One run.
    pub fn run(&self, run: &RunId) -> Result<RunSummary, JournalError> {
        let text = format!("SELECT {COLUMNS} FROM runs WHERE id = ?1");
        self.read(|connection| {
            let found = connection.prepare_cached(&text)?.query_row([run.as_str()], raw);
            let found = found.optional()?;
            Ok(found.ok_or_else(|| JournalError::UnknownRun { run: run.clone() })?.summary())
        })
    }

    /// Runs, the latest first. Never reads events.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<RunSummary>, JournalError> {
        let by_root = if filter.root.is_some() { "root = :root" } else { ":root IS NULL" };
        let open = if filter.unfinished { "AND ended IS NULL" } else { "" };
        let text = format!(
            "SELECT {COLUMNS} FROM runs WHERE {by_root} {open}
             ORDER BY started DESC, key DESC LIMIT :limit"
        );
        let root = filter.root.as_deref().map(text_of);
        let limit = if filter.limit == 0 { -1 } else { i64::from(filter.limit) };
        self.read(|connection| {
            let mut select = connection.prepare_cached(&text)?;
            let rows = select.query_map(named_params! {":root": root, ":limit": limit}, raw)?;
            rows.map(|row| Ok(row?.summary())).collect()
        })
    }

    /// The latest run in a worktree.
    pub fn latest_run(&self, root: &Path) -> Result<Option<RunSummary>, JournalError> {
        let filter = RunFilter { root: Some(root.to_path_buf()), unfinished: false, limit: 1 };
        Ok(self.runs(&filter)?.pop())
    }

    /// Keeps the report of a closed iteration.
    pub fn close_iteration(
        &mut self,
        run: &RunId,
        report: &IterationReport,
    ) -> Result<(), JournalError> {
        let body = serde_json::to_string(report).map_err(JournalError::row("an iteration"))?;
        self.write(|change| {
            change.execute(
                "INSERT OR REPLACE INTO iterations (run, iteration, started, ended, task, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    key(change, run)?,
                    report.iteration.get(),
                    stored(report.started.as_millis()),
                    stored(report.ended.as_millis()),
                    report.task.as_ref().map(TaskId::as_str),
                    body,
                ],
            )?;
            Ok(())
        })
    }

    /// The closed iterations of a run, in order.
    pub fn iterations(&self, run: &RunId) -> Result<Vec<IterationReport>, JournalError> {
        self.read(|connection| {
            let key = key(connection, run)?;
            let mut select = connection
                .prepare_cached("SELECT body FROM iterations WHERE run = ?1 ORDER BY iteration")?;
            let rows = select.query_map([key], |row| row.get::<_, String>(0))?;
            let parse = |body: String| {
                let what = format!("an iteration of run `{run}`");
                serde_json::from_str(&body).map_err(JournalError::row(what))
            };
            rows.map(|body| parse(body?)).collect()
        })
    }
}

/// Writes down how a run stands, inside a larger change.
pub(super) fn write_state(
    change: &Connection,
    run: &RunId,
    state: &RunProgress,
) -> Result<(), JournalError> {
    let count = change
        .prepare_cached(
            "UPDATE runs SET iteration = ?2, mode = ?3, task = ?4, phase = ?5, stuck = ?6,
             tokens = ?7, cost_micro_usd = ?8, stories_complete = ?9, stories_total = ?10
             WHERE id = ?1",
        )?
        .execute(params![
            run.as_str(),
            state.iteration.get(),
            state.mode,
            state.task.as_ref().map(TaskId::as_str),
            state.phase,
            state.stuck,
            stored(state.tokens),
            stored(state.cost_micro_usd),
            state.stories_complete,
            state.stories_total,
        ])?;
    known(run, count)
}

fn known(run: &RunId, count: usize) -> Result<(), JournalError> {
    if count == 0 { Err(JournalError::UnknownRun { run: run.clone() }) } else { Ok(()) }
}

/// A run's row, its ending not yet parsed.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) summary: RunSummary,
    ending: Option<String>,
}

impl Raw {
    /// An ending that cannot be read damages this run, not the list it stands in.
    pub(super) fn summary(self) -> RunSummary {
        match self.ending.map(|body| serde_json::from_str(&body)).transpose() {
            Ok(ending) => RunSummary { ending, ..self.summary },
            Err(error) => {
                let damaged = Some(format!("how it ended cannot be read ({error})"));
                RunSummary { damaged, ..self.summary }
            }
        }
    }
}

pub(super) fn raw(row: &Row<'_>) -> rusqlite::Result<Raw> {
    let moment = |at: i64| Moment::from_millis(number(at));
    let state = RunProgress {
        iteration: IterationNo::new(row.get("iteration")?),
        mode: row.get("mode")?,
        task: row.get::<_, Option<String>>("task")?.map(TaskId::new),
        phase: row.get("phase")?,
        stuck: row.get("stuck")?,
        tokens: number(row.get("tokens")?),
        cost_micro_usd: number(row.get("cost_micro_usd")?),
        stories_complete: row.get("stories_complete")?,
        stories_total: row.get("stories_total")?,
    };
    let summary = RunSummary {
        run: RunId::new(row.get::<_, String>("id")?),
        root: PathBuf::from(row.get::<_, String>("root")?),
        agent: row.get("agent")?,
        pid: row.get("pid")?,
        started: moment(row.get("started")?),
        last_at: moment(row.get("last_at")?),
        ended: row.get::<_, Option<i64>>("ended")?.map(moment),
        outcome: row.get("outcome")?,
        max_iterations: row.get("max_iterations")?,
        events: number(row.get("events")?),
        state,
        ending: None,
        damaged: None,
    };
    Ok(Raw { summary, ending: row.get("ending")? })
}
