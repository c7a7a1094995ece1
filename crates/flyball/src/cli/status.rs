//! `flyball status`: what runs on this machine and how the last runs ended. Reads one row per run,
//! never events.

mod sessions;

use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use flyball_core::effect::RoleSpend;
use flyball_core::{Moment, Outcome};
use serde::Serialize;

use self::sessions::Session;
use super::columns::{self, Cell, Tint};
use super::runs::{self, Life};
use super::{Globals, fault, place, words};
use crate::call_session::{RingState, RunCalls};
use crate::clock;
use crate::config::bytes;
use crate::error::CliError;
use crate::journal::{Journal, RunFilter, RunSummary, state_dir};
use crate::project;
use crate::run_record::RunRecord;
use crate::terminal::{self, Audience, Control, Paint};
use crate::worktree::{Stock, Worktree};

/// How many ended runs are shown.
const ENDED_MAX: usize = 8;
/// Between two looks.
const PAUSE: Duration = Duration::from_secs(1);

/// Show what is running and how the last runs ended
///
/// All runs on this machine, those of this repository marked with `*`. A run that neither ended nor
/// is at work is `lost`: flyball was killed, and the run can be resumed. Below them the sessions of
/// the last day that speak to flyball through hooks or MCP outside of a run.
#[derive(Clone, Debug, Default, Args)]
pub struct StatusArgs {
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
}

/// Everything there is to show.
#[derive(Debug, Serialize)]
struct Status {
    runs: Vec<Shown>,
    sessions: Vec<Session>,
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
        let runs = look(&journal, here.as_deref(), now)?;
        let stock = stock(&runs);
        let status = Status { runs, sessions: sessions::look(&journal, now)?, checkpoints: stock };
        let text = match (args.json, args.watch) {
            (true, false) => format!("{}\n", json(&status, serde_json::to_string_pretty)?),
            (true, true) => format!("{}\n", json(&status, serde_json::to_string)?),
            (false, _) => {
                let runs = text(&status.runs, here.as_ref(), paint);
                let stock = status.checkpoints.map(stock_text).unwrap_or_default();
                format!("{runs}{stock}{}", sessions::text(&status.sessions, paint))
            }
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
fn stock(runs: &[Shown]) -> Option<Stock> {
    let here = &runs.iter().find(|one| one.here)?.run.root;
    let worktree = Worktree::open(here).ok()?;
    let stock = Stock::of(&state_dir().ok()?, &worktree).ok()?;
    (stock.count > 0).then_some(stock)
}

fn stock_text(stock: Stock) -> String {
    let (count, size) = (words::counted(stock.count, "checkpoint"), bytes::shown(stock.bytes));
    let place = if stock.vault { " in the vault" } else { "" };
    format!("\n{count} of this repository, {size}{place}; `flyball prune` removes old ones\n")
}

/// Runs that have not ended, those at work first, then the last that ended.
fn look(journal: &Journal, here: Option<&Path>, now: Moment) -> Result<Vec<Shown>, CliError> {
    let list = |filter: &RunFilter| journal.runs(filter).map_err(fault::journal);
    let open = list(&RunFilter { unfinished: true, ..RunFilter::default() })?;
    let limit = u32::try_from(open.len() + ENDED_MAX).unwrap_or(u32::MAX);
    let ended = list(&RunFilter { limit, ..RunFilter::default() })?;
    let ended = ended.into_iter().filter(|run| run.ended.is_some()).take(ENDED_MAX);
    let mut shown = Vec::new();
    for run in open.into_iter().chain(ended) {
        let kept = journal.session_state(&RunCalls::key(&run.run)).map_err(fault::journal)?;
        shown.push(Shown {
            life: runs::life(&run),
            here: here == Some(run.root.as_path()),
            elapsed_ms: runs::elapsed(&run, now).get(),
            holds: holds(&run),
            calls: RunCalls::read(kept.as_deref()),
            roles: RunCalls::roles(kept.as_deref()),
            run,
        });
    }
    shown.sort_by_key(|one| match one.life {
        Life::Running => 0,
        Life::Lost => 1,
        Life::Ended => 2,
    });
    Ok(shown)
}

fn json(
    status: &Status,
    write: impl FnOnce(&Status) -> serde_json::Result<String>,
) -> Result<String, CliError> {
    write(status).map_err(|error| CliError::internal("JSON could not be written").cause(error))
}

fn text(shown: &[Shown], here: Option<&PathBuf>, paint: Paint) -> String {
    if shown.is_empty() {
        return "No runs yet. `flyball run` starts one.\n".to_owned();
    }
    let titles = [
        "",
        "RUN",
        "PROJECT",
        "STATE",
        "ITERATION",
        "TASK",
        "ELAPSED",
        "TOKENS",
        "COST",
        "STORIES",
    ];
    let mut rows = vec![columns::heading(&titles)];
    rows.extend(shown.iter().map(row));
    let mut text = columns::render(&rows, paint);
    for one in shown.iter().filter(|one| one.life == Life::Lost) {
        let command = runs::resume_command(&one.run.run, &one.run.root, here.map(PathBuf::as_path));
        text.push_str(&format_lost(&one.run, &command, paint));
    }
    for one in shown.iter().filter(|one| one.life == Life::Running) {
        let lines = one.holds.iter().map(|line| words::line(line, 400));
        text.extend(
            lines.map(|line| format!("\n{}: {line}", one.run.run)).chain(["\n".to_owned()]),
        );
    }
    // Of the last run here: what helps now, unless another is at work or to be taken up.
    let latest = shown.iter().find(|one| one.here);
    if let Some(one) = latest.filter(|one| one.life == Life::Ended) {
        text.push_str(&format_next(&one.run));
    }
    text
}

/// What holds the agent of a run, as it was said when the run began.
fn holds(run: &RunSummary) -> Vec<String> {
    let found = state_dir().ok().and_then(|state| RunRecord::load(&state, &run.run).ok());
    found.map(|record| record.holds).unwrap_or_default()
}

fn format_next(run: &RunSummary) -> String {
    let steps = run.ending.iter().flat_map(|ending| &ending.next_steps);
    let lines: Vec<String> = steps.map(|step| format!("  {}\n", words::line(step, 400))).collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!("\nNext for {}:\n{}", run.run, lines.concat())
    }
}

fn format_lost(run: &RunSummary, command: &str, paint: Paint) -> String {
    format!("\n{} was lost; to go on with it: {}\n", run.run, paint.cyan(command))
}

fn row(one: &Shown) -> Vec<Cell> {
    let RunSummary { run, root, max_iterations, state, outcome, .. } = &one.run;
    let (state_word, tint) = match one.life {
        Life::Running => (state.phase.clone(), Tint::Name),
        Life::Lost => ("lost".to_owned(), Tint::Warn),
        Life::Ended => {
            let ended = one.run.ending.as_ref().map(|ending| ending.outcome);
            let is_good = ended.is_some_and(Outcome::is_success);
            let word = ended.map_or_else(|| outcome.clone().unwrap_or_default(), |o| o.to_string());
            (word, if is_good { Tint::Good } else { Tint::Bad })
        }
    };
    let iteration = match max_iterations {
        0 => state.iteration.to_string(),
        max => format!("{}/{max}", state.iteration),
    };
    let folder = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
    let task = state.task.as_ref().map_or("-", |task| task.as_str());
    vec![
        Cell::plain(if one.here { "*" } else { " " }),
        Cell::plain(run.as_str()),
        Cell::plain(words::line(&folder, 30)),
        Cell::new(state_word, tint),
        Cell::plain(iteration),
        Cell::plain(words::line(task, 30)),
        Cell::plain(flyball_core::Millis::new(one.elapsed_ms).to_string()),
        Cell::plain(words::count(state.tokens)),
        Cell::plain(words::money(state.cost_micro_usd)),
        Cell::plain(words::share(state.stories_complete, state.stories_total)),
    ]
}
