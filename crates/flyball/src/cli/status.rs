//! `flyball status`: what runs on this machine and how the last runs ended. Reads one row per run,
//! never events.

mod sessions;
mod table;
mod totals;

use std::collections::BTreeSet;
use std::io::{IsTerminal, stdout};
use std::ops::Not;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use flyball_core::Moment;
use flyball_core::effect::RoleSpend;
use serde::Serialize;

use self::sessions::GuardedSession;
use self::table::text;
use self::totals::Totals;
use super::runs::{self, Life};
use super::{Globals, fault, place};
use crate::call_session::{RingState, RunCalls};
use crate::clock;
use crate::desk::{AskKind, ask_of};
use crate::error::CliError;
use crate::journal::{Journal, RunFilter, RunSummary, state_dir};
use crate::project;
use crate::run_record::RunRecord;
use crate::terminal::{self, Audience, Control};
use crate::worktree::{Stock, Worktree};

/// How many ended runs are shown.
const ENDED_MAX: usize = 8;
/// Between two looks.
const PAUSE: Duration = Duration::from_secs(1);

/// Show what is running and how the last runs ended
///
/// The runs of this repository, marked with `*`, and below them those at work elsewhere; with
/// `--all` every run on this machine. A run that neither ended nor is at work is `lost`: flyball was
/// killed, and the run can be resumed. Then the sessions of the last day that speak to flyball
/// through hooks or MCP outside of a run, and what all of it comes to.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct StatusArgs {
    /// Show the runs of all repositories of this machine
    #[arg(long)]
    pub all: bool,
    /// Keep showing until interrupted
    #[arg(long)]
    pub watch: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A run with what is known of it right now.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    run: RunSummary,
    life: Life,
    here: bool,
    elapsed_ms: u64,
    /// What holds its agent, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    holds: Vec<String>,
    /// The calls of its latest session, and what each guard did in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<RingState>,
    /// What each role has used: work, review, rescue, fallback.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    roles: Vec<RoleSpend>,
    /// Where it was started, when it works in a worktree of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<PathBuf>,
    /// What it needs of a human, where it is the latest of its worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<AskKind>,
    /// Whether its worktree is still there to be landed or dropped.
    #[serde(skip_serializing_if = "Not::not")]
    to_land: bool,
}

impl Shown {
    /// The repository it works for.
    fn project(&self) -> &Path {
        self.origin.as_deref().unwrap_or(&self.run.root)
    }
}

/// Everything there is to show.
#[derive(Debug, Serialize)]
struct Status {
    runs: Vec<Shown>,
    /// What all runs come to: those here, and those of the machine.
    #[serde(skip_serializing_if = "Totals::is_empty")]
    totals: Totals,
    sessions: Vec<GuardedSession>,
    /// What the checkpoints of this repository take, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoints: Option<Stock>,
}

/// Shows the runs, once or until interrupted.
pub fn run(args: &StatusArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let journal = place::open_journal()?;
    let here = project::find_repository(&globals.start_dir()?);
    let here = here.and_then(|root| root.canonicalize().ok());
    let paint = globals.color.for_stdout();
    let clears = stdout().is_terminal() && !args.json;
    loop {
        let now = clock::wall();
        let (runs, totals) = look(&journal, here.as_deref(), args, now)?;
        let stock = here.as_deref().filter(|_| runs.iter().any(|one| one.here)).and_then(stock);
        let sessions = sessions::look(&journal, now)?;
        let status = Status { runs, totals, sessions, checkpoints: stock };
        let text = match (args.json, args.watch) {
            (true, false) => format!("{}\n", json(&status, serde_json::to_string_pretty)?),
            (true, true) => format!("{}\n", json(&status, serde_json::to_string)?),
            (false, _) => text(&status, here.as_deref(), now, paint),
        };
        if !args.watch {
            terminal::write_out(&text)?;
            return Ok(ExitCode::SUCCESS);
        }
        if clears {
            terminal::control_out(Control::ClearScreen)?;
        }
        if terminal::write_on(&text)? == Audience::Gone {
            return Ok(ExitCode::SUCCESS);
        }
        thread::sleep(PAUSE);
    }
}

/// What the checkpoints of this repository take. Where it cannot be told, nothing is said.
fn stock(here: &Path) -> Option<Stock> {
    let worktree = Worktree::open(here).ok()?;
    let stock = Stock::of(&state_dir().ok()?, &worktree).ok()?;
    (stock.count > 0).then_some(stock)
}

/// Runs that have not ended, those here and those at work first, then the last that ended. In a
/// repository nothing of others but what is at work, unless all are asked for.
fn look(
    journal: &Journal,
    here: Option<&Path>,
    args: &StatusArgs,
    now: Moment,
) -> Result<(Vec<Shown>, Totals), CliError> {
    let known = journal.runs(&RunFilter::default()).map_err(fault::journal)?;
    let origins = journal.apart_origins().map_err(fault::journal)?;
    let project = |run: &RunSummary| origins.get(&run.run).unwrap_or(&run.root).clone();
    let is_here =
        |run: &RunSummary| here == Some(run.root.as_path()) || here == Some(&project(run));
    let totals = Totals::of(&known, here.map(|_| &is_here as _));
    let mut ended = 0;
    let mut shown = Vec::new();
    let mut roots: BTreeSet<&Path> = BTreeSet::new();
    for run in &known {
        let is_latest = roots.insert(&run.root);
        let run = run.clone();
        let (life, here_too) = (runs::life(&run), is_here(&run));
        let is_wanted = args.all || here.is_none() || here_too || life == Life::Running;
        if life == Life::Ended && is_wanted {
            ended += 1;
        }
        if !is_wanted || (life == Life::Ended && ended > ENDED_MAX) {
            continue;
        }
        let kept = journal.session_state(&RunCalls::key(&run.run)).map_err(fault::journal)?;
        shown.push(Shown {
            life,
            here: here_too,
            elapsed_ms: runs::elapsed(&run, now).get(),
            holds: holds(&run),
            calls: RunCalls::read(kept.as_deref()),
            roles: RunCalls::roles(kept.as_deref()),
            origin: origins.get(&run.run).cloned(),
            to_land: to_land(journal, &run)?,
            needs: if is_latest {
                ask_of(journal, &run).map_err(fault::journal)?.map(|ask| ask.kind)
            } else {
                None
            },
            run,
        });
    }
    shown.sort_by_key(|one| (!one.here, one.life));
    Ok((shown, totals))
}

/// Whether the run has ended and its worktree is still there.
fn to_land(journal: &Journal, run: &RunSummary) -> Result<bool, CliError> {
    let apart = journal.apart(&run.run).map_err(fault::journal)?;
    Ok(apart.is_some_and(|apart| apart.fate.is_none() && apart.path.is_dir()))
}

fn json(
    status: &Status,
    write: impl FnOnce(&Status) -> serde_json::Result<String>,
) -> Result<String, CliError> {
    write(status).map_err(|error| CliError::internal("JSON could not be written").cause(error))
}

/// What holds the agent of a run, as it was said when the run began.
fn holds(run: &RunSummary) -> Vec<String> {
    let found = state_dir().ok().and_then(|state| RunRecord::load(&state, &run.run).ok());
    found.map(|record| record.holds).unwrap_or_default()
}
