//! `flyball rewind`: brings back the tree of an iteration, beside what the user has and never over
//! it.

use std::process::ExitCode;

use clap::Args;
use flyball_core::{IterationNo, RunId};

use super::{Globals, fault, place, runs};
use crate::config::quoted;
use crate::error::CliError;
use crate::journal::state_dir;
use crate::terminal;
use crate::worktree::{Kept, RewindTarget, Vault, Worktree, WorktreeError};

/// Bring back the tree of an iteration, on a new branch
///
/// Everything the worktree held when the iteration had ended, untracked files too. Your branch, your
/// index and your files stay as they are.
#[derive(Clone, Debug, Args)]
pub struct RewindArgs {
    /// The run, or the beginning of its name
    pub run: String,
    /// The iteration; 0 is before the first
    #[arg(value_name = "N")]
    pub iteration: u32,
    /// Name of the branch; without it, `flyball/RUN-N`
    #[arg(long, value_name = "NAME", conflicts_with = "worktree")]
    pub branch: Option<String>,
    /// Check it out in a new worktree at this path instead
    #[arg(long, value_name = "PATH")]
    pub worktree: Option<std::path::PathBuf>,
}

/// Brings the tree back and says how to look at it.
pub fn run(args: &RewindArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let root = place::repository(globals)?;
    let worktree = Worktree::open(&root).map_err(fault::worktree)?;
    let vault = Vault::find(&state_dir()?, &worktree);
    let (run, kept) = find(&worktree, vault.as_ref(), &args.run)?;
    let iteration = IterationNo::new(args.iteration);
    let Some(found) = kept.checkpoints.iter().find(|one| one.iteration == iteration) else {
        let known = kept.checkpoints.iter();
        let numbers: Vec<String> = known.map(|one| one.iteration.to_string()).collect();
        let message = format!("run `{run}` has no checkpoint of iteration {iteration}");
        return Err(CliError::no_input(message).hint(format!("known: {}", numbers.join(", "))));
    };
    let target = match &args.worktree {
        Some(path) => RewindTarget::NewWorktree(globals.start_dir()?.join(path)),
        None => RewindTarget::NewBranch(
            args.branch.clone().unwrap_or_else(|| format!("flyball/{run}-{iteration}")),
        ),
    };
    if kept.changed.contains(&iteration) {
        terminal::write_err(&format!(
            "warning: checkpoint refs were changed by someone else (run {run}, iteration \
             {iteration}); using the copy in the state folder\n"
        ));
    }
    if let Some(vault) = vault.as_ref().filter(|_| kept.is_in_vault(iteration)) {
        vault.hand_out(&worktree, found).map_err(fault::worktree)?;
    }
    let commit =
        worktree.bring_back(&run, found, &target).map_err(|error| taken(error, &target))?;
    let text = format!("Iteration {iteration} of run {run} is {}", told(&target, &commit));
    terminal::write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The run and its checkpoints, also when the journal has forgotten the run.
fn find(
    worktree: &Worktree,
    vault: Option<&Vault>,
    asked: &str,
) -> Result<(RunId, Kept), CliError> {
    let exact = RunId::new(asked);
    // What cannot name a checkpoint may still begin the name of a run.
    if let Ok(kept) = Kept::of(worktree, vault, &exact)
        && !kept.checkpoints.is_empty()
    {
        return Ok((exact, kept));
    }
    let found = runs::find(&place::open_journal()?, asked)?;
    let kept = Kept::of(worktree, vault, &found.run).map_err(fault::worktree)?;
    if kept.checkpoints.is_empty() {
        let error = CliError::no_input(format!("run `{}` has no checkpoints here", found.run));
        return Err(if found.root == worktree.root() {
            error.hint("they were pruned, or it ended before its first iteration")
        } else {
            let root = quoted(&found.root.to_string_lossy());
            error.hint(format!("it worked elsewhere: `flyball -C {root} rewind {} N`", found.run))
        });
    }
    Ok((found.run, kept))
}

/// A name that is taken is the user's to change.
fn taken(error: WorktreeError, target: &RewindTarget) -> CliError {
    let is_taken = matches!(&error, WorktreeError::Git { message, .. }
        if message.contains("already exists") || message.contains("not a valid branch name"));
    let told = fault::worktree(error);
    if !is_taken {
        return told;
    }
    let flag = match target {
        RewindTarget::NewBranch(_) => "`--branch NAME` chooses another name",
        RewindTarget::NewWorktree(_) => "`--worktree PATH` must name a folder that is not there",
    };
    CliError::usage(told.message).hint(flag)
}

fn told(target: &RewindTarget, commit: &str) -> String {
    let short = flyball_core::text::prefix(commit, 9);
    match target {
        RewindTarget::NewBranch(name) => {
            let name = quoted(name);
            format!(
                "on the new branch {name} ({short}).\nLook:  git diff HEAD {name}\nTake:  git switch {name}\n\
                 Drop:  git branch -D {name}\n"
            )
        }
        RewindTarget::NewWorktree(path) => {
            let path = quoted(&path.to_string_lossy());
            format!(
                "in the new worktree {path} ({short}).\nLook:  cd {path}\nDrop:  git worktree remove {path}\n"
            )
        }
    }
}
