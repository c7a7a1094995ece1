//! What the journal says of all runs, read anew when somebody wrote to it. Runs at work keep their
//! replay and are fed what is new; of those that ended only rows are read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use flyball_core::{Millis, Moment, RunId};

use super::row::{self, Row, Standing};
use crate::clock;
use crate::desk::{self, Ask, AskKind, Life};
use crate::journal::{Journal, JournalError, RunFilter, RunSummary};
use crate::view::{Builder, RunView, words};

/// How many runs are looked at, beside those that have not ended.
const RUNS_MAX: u32 = 200;
/// How many of those that ended are shown.
const ENDED_MAX: usize = 100;
/// How often it is looked whether somebody answered by hand: nobody writes that to the journal.
const BY_HAND: Millis = Millis::from_secs(2);
/// How much of a question or a reason is kept.
const WHAT_MAX: usize = 2_000;

/// All runs, in the order they are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// The runs.
    pub rows: Vec<Row>,
    /// What the runs of today cost, in millionths of a dollar.
    pub today_micro_usd: u64,
}

impl Board {
    /// How many runs need somebody, and how many are at work.
    pub fn counts(&self) -> (usize, usize) {
        let needs = self.rows.iter().filter(|row| row.standing.needs_you()).count();
        let alive = self.rows.iter().filter(|row| row.standing.is_alive()).count();
        (needs, alive)
    }

    /// A run.
    pub fn row(&self, run: &RunId) -> Option<&Row> {
        self.rows.iter().find(|row| row.run.run == *run)
    }
}

/// A run that ended while somebody watched, in one line.
pub type Ended = String;

/// A run at work.
#[derive(Debug)]
struct Live {
    builder: Builder,
    seq: u64,
    is_broken: bool,
}

/// Reads the journal.
#[derive(Debug, Default)]
pub struct Reader {
    version: Option<i64>,
    /// When everything was read.
    at: Moment,
    board: Board,
    live: BTreeMap<RunId, Live>,
    /// Runs seen at work: once they have ended, that is told.
    seen: BTreeSet<RunId>,
}

impl Reader {
    /// What was read last.
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Looks whether anybody wrote, and reads anew if so; whether something may look different now.
    pub fn look(&mut self, journal: &Journal, now: Moment) -> Result<bool, JournalError> {
        let version = Some(journal.data_version()?);
        // A process that dies writes nothing.
        let is_gone = |row: &Row| row.standing.is_alive() && !is_there(&row.run);
        let is_open = |row: &Row| row.standing.needs_you();
        let is_due = now.since(self.at) >= BY_HAND && self.board.rows.iter().any(is_open);
        if self.version == version && !is_due && !self.board.rows.iter().any(is_gone) {
            return Ok(self.tick(now));
        }
        let written = self.version != version;
        (self.version, self.at) = (version, now);
        let before = std::mem::take(&mut self.board);
        self.read(journal, now)?;
        self.tick(now);
        Ok(written || before != self.board)
    }

    /// Something was done: everything is read at the next look.
    pub const fn forget(&mut self) {
        self.version = None;
    }

    /// Lets the clocks go on; whether a digit moved.
    fn tick(&mut self, now: Moment) -> bool {
        let mut moved = false;
        for row in &mut self.board.rows {
            let live = self.live.get_mut(&row.run.run).filter(|_| row.standing.is_alive());
            let Some(parts) = live.and_then(|live| live.builder.live(now)) else { continue };
            let task = row.run.state.task.as_ref().map(|task| words::line(task.as_str(), 40));
            // The iteration and the task have columns of their own.
            let told = parts.into_iter().skip(1).filter(|part| task.as_ref() != Some(part));
            let what = told.collect::<Vec<String>>().join(" · ");
            moved |= row.what != what;
            row.what = what;
        }
        moved
    }

    /// A run in full.
    pub fn run(&self, journal: &Journal, run: &RunId) -> Result<RunView, JournalError> {
        let summary = journal.run(run)?;
        match self.live.get(run).filter(|live| !live.is_broken) {
            Some(live) => Ok(live.builder.view(&summary)),
            None => RunView::read(journal, &summary),
        }
    }

    /// The run before this one in the same repository, for comparing.
    pub fn before(&self, run: &RunId) -> Option<RunId> {
        let this = self.board.row(run)?;
        let is_before = |row: &&Row| {
            row.run.root == this.run.root
                && row.run.run != *run
                && row.run.started < this.run.started
        };
        let earlier = self.board.rows.iter().filter(is_before);
        earlier.max_by_key(|row| row.run.started).map(|row| row.run.run.clone())
    }

    /// The runs that were seen at work and have ended since.
    pub fn ended(&self) -> Vec<Ended> {
        let is_over = |row: &&Row| self.seen.contains(&row.run.run) && row.run.ended.is_some();
        self.board.rows.iter().filter(is_over).map(Row::summary).collect()
    }

    fn read(&mut self, journal: &Journal, now: Moment) -> Result<(), JournalError> {
        let mut known = journal.runs(&RunFilter { limit: RUNS_MAX, ..RunFilter::default() })?;
        let open = journal.runs(&RunFilter { unfinished: true, ..RunFilter::default() })?;
        let names: BTreeSet<RunId> = known.iter().map(|run| run.run.clone()).collect();
        known.extend(open.into_iter().filter(|run| !names.contains(&run.run)));
        let latest = latest(&known);
        let mut rows = Vec::with_capacity(known.len());
        let (today, mut spent, mut ended) = (clock::day(now), 0_u64, 0);
        for run in known {
            if clock::day(run.last_at) == today {
                spent = spent.saturating_add(run.state.cost_micro_usd);
            }
            ended += usize::from(run.ended.is_some());
            let is_latest = latest.get(&run.root) == Some(&run.run);
            if ended <= ENDED_MAX || run.ended.is_none() {
                rows.push(self.row(journal, run, is_latest)?);
            }
        }
        self.live
            .retain(|run, _| rows.iter().any(|row| row.run.run == *run && row.run.ended.is_none()));
        rows.sort_by_key(|row| {
            let at = row::since(&row.run).as_millis();
            // Who waits longest comes first; of the others the latest.
            let place = if row.standing.needs_you() { at } else { u64::MAX - at };
            (!row.standing.needs_you(), !row.standing.is_alive(), place)
        });
        self.board = Board { rows, today_micro_usd: spent };
        Ok(())
    }

    #[expect(clippy::fn_params_excessive_bools, reason = "a fact found elsewhere, not a mode")]
    fn row(
        &mut self,
        journal: &Journal,
        run: RunSummary,
        is_latest: bool,
    ) -> Result<Row, JournalError> {
        let closed = journal.iterations(&run.run)?;
        if run.ended.is_some() {
            let ask = if is_latest { desk::ask_of(journal, &run)? } else { None };
            let (standing, what) = over(&run, ask);
            let strip = row::strip(&closed, false, &run);
            let is_green = closed.last().and_then(|one| one.green) == Some(true);
            let failing = is_green.then_some(0);
            return Ok(Row { run, standing, strip, failing, cost_limit: 0, what });
        }
        let is_alive = is_there(&run);
        let strip = row::strip(&closed, is_alive, &run);
        if !is_alive {
            let what = format!("its process is gone; last heard of {}", words::time(run.last_at));
            let standing = Standing::Lost;
            return Ok(Row { run, standing, strip, failing: None, cost_limit: 0, what });
        }
        self.seen.insert(run.run.clone());
        let live = self.follow(journal, &run)?;
        let waits = live.builder.waiting_until().is_some();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a limit of money"
        )]
        let cost_limit = (live.builder.limits().cost_usd.max(0.0) * 1e6) as u64;
        let failing = live.builder.failing();
        let standing = if waits { Standing::Waits } else { Standing::AtWork };
        Ok(Row { run, standing, strip, failing, cost_limit, what: String::new() })
    }

    /// Feeds the replay of a run at work what is new.
    fn follow(&mut self, journal: &Journal, run: &RunSummary) -> Result<&Live, JournalError> {
        let new = || Live { builder: Builder::new(run), seq: 0, is_broken: false };
        let live = self.live.entry(run.run.clone()).or_insert_with(new);
        if !live.is_broken {
            for recorded in journal.events_after(&run.run, live.seq)? {
                match recorded {
                    Ok(recorded) => {
                        live.seq = recorded.seq;
                        live.builder.step(recorded.at, &recorded.event);
                    }
                    Err(JournalError::BadEvent { .. } | JournalError::Corrupt { .. }) => {
                        live.is_broken = true;
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(live)
    }
}

fn is_there(run: &RunSummary) -> bool {
    desk::life(run) == Life::Running
}

/// The latest run of each repository: only that can wait for a human.
fn latest(known: &[RunSummary]) -> BTreeMap<PathBuf, RunId> {
    let mut latest: BTreeMap<PathBuf, (Moment, RunId)> = BTreeMap::new();
    for run in known {
        let entry = latest.entry(run.root.clone());
        let entry = entry.or_insert_with(|| (run.started, run.run.clone()));
        if run.started > entry.0 {
            *entry = (run.started, run.run.clone());
        }
    }
    latest.into_iter().map(|(root, (_, run))| (root, run)).collect()
}

/// How a run that is over stands, and why.
fn over(run: &RunSummary, ask: Option<Ask>) -> (Standing, String) {
    if let Some(ask) = ask {
        let standing = match ask.kind {
            AskKind::Decide => Standing::Asks,
            AskKind::Tamper => Standing::Weakened,
            AskKind::Blocked => Standing::Blocked,
            AskKind::Lost => Standing::Lost,
        };
        return (standing, words::line(&ask.text, WHAT_MAX));
    }
    let ending = run.ending.as_ref();
    let took = ending.map_or(Millis::ZERO, |ending| Millis::new(ending.tally.runtime_ms));
    let mut parts = vec![words::short_span(took)];
    if run.state.cost_micro_usd > 0 {
        parts.push(words::dollars(run.state.cost_micro_usd));
    }
    parts.extend(ending.map(|ending| words::line(&ending.why, WHAT_MAX)));
    parts.extend(run.damaged.as_ref().map(|why| words::line(&format!("damaged: {why}"), WHAT_MAX)));
    (row::ended(run), parts.join(" · "))
}
