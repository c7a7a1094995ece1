//! `flyball drop`: throws the worktree and the branch of a `--worktree` run away. Its checkpoints stay.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::{Globals, fault, land, place, runs, words};
use crate::error::CliError;
use crate::journal::{ApartRun, Fate};
use crate::terminal;
use crate::worktree::Worktree;

/// Where the loop folder usually is: what is in it is part of a checkpoint wherever that is.
const LOOP_DIR: &str = ".flyball";
const TASKS: &str = ".flyball/tasks.json";

/// Throw away the worktree and the branch of a `--worktree` run
///
/// Its checkpoints stay: `flyball rewind` brings any iteration back.
#[derive(Clone, Debug, Default, Args)]
pub struct DropArgs {
    /// The run, or the beginning of its name
    pub run: String,
    /// Also what was changed there since the run ended
    #[arg(long)]
    pub force: bool,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
}

/// Throws it away.
pub fn run(args: &DropArgs, _: &Globals) -> Result<ExitCode, CliError> {
    let mut journal = place::open_journal()?;
    let found = runs::find(&journal, &args.run)?;
    let apart = land::of_run(&journal, &found)?;
    let repository = land::repository(&apart)?;
    if !args.force {
        refuse_unkept(&repository, &found.run, &apart)?;
    }
    let tip = repository.tip(&apart.branch)?;
    repository.remove_worktree(&apart.path).map_err(fault::worktree)?;
    if let Some(tip) = &tip {
        repository.remove_branch(&apart.branch, tip).map_err(fault::worktree)?;
    }
    journal.apart_ended(&apart.path, Fate::Dropped).map_err(fault::journal)?;
    let text = if args.json {
        format!("{}\n", json!({ "run": found.run, "dropped": apart.path, "tip": tip }))
    } else {
        let back = tip.map(|tip| format!("Back:  git branch {} {tip}\n", apart.branch));
        format!(
            "Dropped run {}: {} and branch {}.\n{}",
            found.run,
            apart.path.display(),
            apart.branch,
            back.unwrap_or_default()
        )
    };
    terminal::write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses when something there is nowhere else: not in the last checkpoint of the run.
fn refuse_unkept(
    repository: &Worktree,
    run: &flyball_core::RunId,
    apart: &ApartRun,
) -> Result<(), CliError> {
    if !apart.path.is_dir() {
        return Ok(());
    }
    let mut worktree = Worktree::open(&apart.path)?;
    let left = worktree.uncommitted()?;
    let kept = repository.checkpoints(run)?.pop();
    let is_kept = match kept {
        _ if left.is_empty() => true,
        Some(kept) => worktree.snapshot(LOOP_DIR, Path::new(TASKS))?.checkpoint_tree == kept.tree,
        None => false,
    };
    if is_kept {
        return Ok(());
    }
    let first: Vec<String> = left.iter().take(5).map(|file| words::line(file, 100)).collect();
    Err(CliError::usage(format!(
        "{} in `{}` {} neither committed nor in a checkpoint: {}",
        words::counted(left.len(), "file"),
        apart.path.display(),
        if left.len() == 1 { "is" } else { "are" },
        first.join(", ")
    ))
    .hint(format!("commit there, or throw it away too: `flyball drop {run} --force`")))
}
