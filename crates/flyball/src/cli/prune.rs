//! `flyball prune`: removes old checkpoints, worktrees and journal rows, and never does so unasked. What
//! is remembered of tasks, what humans accepted, and work that is nowhere else stays.

mod worktrees;

use std::process::ExitCode;

use clap::Args;
use flyball_core::{Millis, Moment, RunId};

use self::worktrees::Worktrees;
use super::runs::{self, Life};
use super::{Globals, fault, place, words};
use crate::clock;
use crate::config::{bytes, duration};
use crate::error::CliError;
use crate::journal::{Journal, Pruned, RunFilter, RunSummary, state_dir};
use crate::project;
use crate::terminal;
use crate::worktree::{Vault, Worktree};

/// Remove old checkpoints, worktrees and journal rows
///
/// Checkpoints of this repository; runs of the whole machine, and the worktrees they worked in. A run
/// at work, and everything since it began, is kept; so is a worktree with work that is nowhere else.
#[derive(Clone, Debug, Args)]
pub struct PruneArgs {
    /// Remove runs that ended longer ago than this
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "30d")]
    pub older_than: Millis,
    /// Only say what would be removed
    #[arg(long)]
    pub dry_run: bool,
}

fn time(text: &str) -> Result<Millis, String> {
    duration::parse(text).ok_or_else(|| "expected a time such as 12h or 30d".to_owned())
}

/// Removes what is old, or lists it.
pub fn run(args: &PruneArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let (mut journal, state_dir) = (place::open_journal()?, state_dir()?);
    let runs = journal.runs(&RunFilter::default()).map_err(fault::journal)?;
    let before = kept_from(&runs, clock::wall().minus(args.older_than));
    let mut worktree = match project::find_repository(&globals.start_dir()?) {
        Some(root) => Some(Worktree::open(&root).map_err(fault::worktree)?),
        None => None,
    };
    let checkpoints = match &mut worktree {
        None => Vec::new(),
        Some(worktree) if args.dry_run => worktree.prunable(before).map_err(fault::worktree)?,
        Some(worktree) => worktree.prune(before).map_err(fault::worktree)?,
    };
    let vault = worktree.as_ref().and_then(|worktree| Vault::find(&state_dir, worktree));
    let kept = match &vault {
        None => Vec::new(),
        Some(vault) if args.dry_run => vault.prunable(before).map_err(fault::worktree)?,
        Some(vault) => vault.prune(before).map_err(fault::worktree)?,
    };
    let worktrees = Worktrees::look(&journal, before)?;
    if !args.dry_run {
        worktrees.remove(&mut journal)?;
    }
    let stay = worktrees.runs_that_stay();
    let rows = rows(&mut journal, (before, &stay), args)?;
    let is_old = |run: &&RunSummary| run.last_at < before && !stay.contains(&run.run);
    for run in runs.iter().filter(|_| !args.dry_run).filter(is_old) {
        crate::files::remove(&super::detach::output_of(&state_dir, &run.run)).ok();
    }
    let verb = if args.dry_run { "Would remove" } else { "Removed" };
    let mut lines = vec![format!("{verb} what is older than {}:", words::time(before))];
    if args.dry_run {
        lines.extend(checkpoints.iter().map(|name| format!("  checkpoint {name}")));
        lines.extend(kept.iter().map(|name| format!("  checkpoint {name} in the vault")));
        lines.extend(worktrees.listed());
        lines.extend(runs.iter().filter(is_old).map(old_run));
    }
    lines.push(format!("  {} of this repository", words::counted(checkpoints.len(), "checkpoint")));
    if let Some(vault) = &vault {
        let (count, size) = (words::counted(kept.len(), "checkpoint"), bytes::shown(vault.size()));
        lines.push(format!("  {count} of its vault, which takes {size}"));
    }
    if worktrees.count() > 0 {
        lines.push(format!("  {} of runs", words::counted(worktrees.count(), "worktree")));
    }
    lines.push(format!("  {}", told(&rows)));
    lines.extend(worktrees.kept());
    terminal::write_fitted(&format!("{}\n", lines.join("\n")))?;
    Ok(ExitCode::SUCCESS)
}

/// The moment before which nothing is needed: what a run at work has made stays.
fn kept_from(runs: &[RunSummary], asked: Moment) -> Moment {
    let working = runs.iter().filter(|run| runs::life(run) == Life::Running);
    working.map(|run| run.started).fold(asked, Moment::min)
}

fn rows(
    journal: &mut Journal,
    (before, stay): (Moment, &[RunId]),
    args: &PruneArgs,
) -> Result<Pruned, CliError> {
    let rows =
        if args.dry_run { journal.prunable(before, stay) } else { journal.prune(before, stay) };
    rows.map_err(fault::journal)
}

fn old_run(run: &RunSummary) -> String {
    let outcome = run.outcome.as_deref().unwrap_or("lost");
    let events = flyball_core::text::count(run.events, "event");
    format!("  run {} ({outcome}, {}, {events})", run.run, words::time(run.last_at))
}

fn told(rows: &Pruned) -> String {
    let Pruned { runs, events, iterations: _, gate_results, sessions, requests, hooks } = rows;
    format!(
        "{} with {}, {}, {} with {} and {} from the journal",
        words::counted(*runs, "run"),
        words::counted(*events, "event"),
        words::counted(*gate_results, "gate result"),
        words::counted(*sessions, "hook session"),
        words::counted(*hooks, "hook report"),
        words::counted(*requests, "request"),
    )
}
