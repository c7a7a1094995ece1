//! `flyball land`: brings the branch of a `--worktree` run back to the branch it came from.

use std::process::ExitCode;

use clap::Args;
use flyball_core::landing::LandingRefusal;
use serde_json::json;

use super::gate::{Interrupt, progress_line};
use super::runs::{self, Life};
use super::{Globals, fault, place, words};
use crate::config::{Sources, quoted};
use crate::error::CliError;
use crate::gate::GatePlan;
use crate::journal::{ApartRun, Fate, Journal, RunSummary, state_dir};
use crate::landing::{Engine, LandOrder, Landed, OnWeakened};
use crate::run_record::RunRecord;
use crate::terminal::{self, Reader};
use crate::worktree::Worktree;

/// Bring back the work of a `--worktree` run
///
/// Its branch is merged into the branch it came from, the gates run on the merged tree, and only when
/// they are green, and run no fewer tests than on that branch, does it move. Red, in conflict, or with
/// weakened checks nobody accepted: nothing is done, and the exit code is 1.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct LandArgs {
    /// The run, or the beginning of its name
    pub run: String,
    /// The branch it shall become part of; without it, the one it came from
    #[arg(long, value_name = "BRANCH")]
    pub onto: Option<String>,
    /// Land it although tests or gates are weaker than on that branch
    #[arg(long)]
    pub accept_tamper: bool,
    /// Keep the run's worktree and branch
    #[arg(long)]
    pub keep: bool,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
}

/// Lands it.
pub fn run(args: &LandArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let mut journal = place::open_journal()?;
    let found = runs::find(&journal, &args.run)?;
    let apart = of_run(&journal, &found)?;
    let target = target(args, &apart)?;
    let repository = repository(&apart)?;
    let state_dir = state_dir()?;
    let config = Sources::of_process(&apart.origin).load()?;
    let record = RunRecord::load(&state_dir, &found.run).map_err(|error| {
        CliError::no_input(format!("the gates of run `{}` are gone", found.run)).cause(error)
    })?;
    let gates = GatePlan::of(record.gates())?;
    let interrupt = Interrupt::listen()
        .map_err(|error| CliError::io("signals could not be listened to").cause(error))?;
    let paint = globals.color.for_stderr();
    let title = format!("flyball run {}", found.run);
    let keep_as = format!("{}-landed", apart.branch);
    let order = LandOrder {
        title: &title,
        branch: &apart.branch,
        target: &target,
        place: Some(apart.path.as_path()).filter(|path| path.is_dir()),
        gates: &gates,
        keep_as: &keep_as,
        weakened: if args.accept_tamper { OnWeakened::Meant } else { OnWeakened::AsSet },
    };
    let mut engine = Engine {
        repository: &repository,
        config: &config,
        journal: &mut journal,
        state_dir: &state_dir,
        cancel: interrupt.cancel(),
        observe: &|progress| terminal::write_err(&progress_line(&progress, paint)),
        say: &|what| terminal::write_err(&format!("{}\n", paint.dim(what))),
    };
    let landed = engine.land(&order)?;
    if landed == Landed::Interrupted {
        terminal::write_err("interrupted: nothing was moved\n");
        return Ok(interrupt.exit_code());
    }
    let mut notes = Vec::new();
    if gates.is_empty() {
        notes.push("No gate is configured or detected: nothing checked the merge.".to_owned());
    }
    if let Landed::Moved { .. } | Landed::AlreadyThere = &landed
        && !args.keep
    {
        notes.extend(tidy(&mut journal, &repository, &apart)?);
        forget_kept(&repository, &keep_as, &target)?;
    }
    let is_there = matches!(landed, Landed::Moved { .. } | Landed::AlreadyThere);
    let text = told(args, &found, (&apart, &target), (&landed, &notes));
    terminal::write_told(&text, Reader::of_json(args.json))?;
    Ok(ExitCode::from(u8::from(!is_there)))
}

/// The worktree of a run that has ended.
pub(super) fn of_run(journal: &Journal, run: &RunSummary) -> Result<ApartRun, CliError> {
    let Some(apart) = journal.apart(&run.run).map_err(fault::journal)? else {
        return Err(CliError::usage(format!("run `{}` has no worktree of its own", run.run))
            .hint("its work is on the branch it ran on: `git log`")
            .hint("`flyball run --worktree` keeps a run apart"));
    };
    if let Some(fate) = apart.fate {
        let message = format!("run `{}` was {} already", run.run, fate.as_str());
        return Err(CliError::no_input(message));
    }
    if runs::life(run) == Life::Running {
        return Err(CliError::already_running(format!("run `{}` is still at work", run.run))
            .hint(format!("end it first: `flyball stop {}`", run.run)));
    }
    Ok(apart)
}

/// The repository, from where the run was started or, if that is gone, from its worktree.
pub(super) fn repository(apart: &ApartRun) -> Result<Worktree, CliError> {
    Worktree::open(&apart.origin).or_else(|_| Worktree::open(&apart.path)).map_err(fault::worktree)
}

fn target(args: &LandArgs, apart: &ApartRun) -> Result<String, CliError> {
    args.onto.clone().or_else(|| apart.target.clone()).ok_or_else(|| {
        CliError::usage("no branch was checked out where the run was started")
            .hint("name one: `flyball land RUN --onto BRANCH`")
    })
}

/// Removes the branch a merge was kept on for its owner, who has taken it.
fn forget_kept(repository: &Worktree, branch: &str, target: &str) -> Result<(), CliError> {
    let (kept, target) = (repository.tip(branch)?, repository.tip(target)?);
    if let (Some(kept), Some(target)) = (kept, target)
        && repository.is_part_of(&kept, &target)?
    {
        repository.remove_branch(branch, &kept)?;
    }
    Ok(())
}

/// Removes a worktree whose work is elsewhere; what is kept, and why.
fn tidy(
    journal: &mut Journal,
    repository: &Worktree,
    apart: &ApartRun,
) -> Result<Option<String>, CliError> {
    if apart.path.is_dir() {
        let left = Worktree::open(&apart.path)?.uncommitted()?;
        if !left.is_empty() {
            let count = words::counted(left.len(), "file");
            let path = apart.path.display();
            return Ok(Some(format!(
                "Kept {path}: {count} there {} not committed.",
                if left.len() == 1 { "is" } else { "are" }
            )));
        }
    }
    let tip = repository.tip(&apart.branch)?;
    repository.remove_worktree(&apart.path)?;
    if let Some(tip) = tip {
        repository.remove_branch(&apart.branch, &tip)?;
    }
    journal.apart_ended(&apart.path, Fate::Landed).map_err(fault::journal)?;
    Ok(None)
}

fn told(
    args: &LandArgs,
    run: &RunSummary,
    (apart, target): (&ApartRun, &str),
    (landed, notes): (&Landed, &[String]),
) -> String {
    if args.json {
        return format!("{}\n", as_json(run, (apart, target), (landed, notes)));
    }
    let mut lines = match landed {
        Landed::AlreadyThere => {
            vec![format!("Branch {target} has everything of run {} already.", run.run)]
        }
        Landed::Moved { from, to, seat } => {
            let (from, to) = (words::short(from), words::short(to));
            let at = seat.as_ref().map(|path| format!(" (checked out in {})", path.display()));
            vec![format!(
                "Landed run {} on {target}: {from} → {to}{}",
                run.run,
                at.unwrap_or_default()
            )]
        }
        Landed::ByHand { path, branch } => {
            let there = quoted(&path.to_string_lossy());
            vec![
                format!(
                    "{target} is checked out in {} with uncommitted work: not moved.",
                    path.display()
                ),
                "The merge is green. Commit or stash there, then type:".to_owned(),
                format!("  git -C {there} merge --ff-only {}", quoted(branch)),
            ]
        }
        Landed::Refused(why) => refused(run, (apart, target), why),
        Landed::Interrupted => Vec::new(),
    };
    lines.extend(notes.iter().cloned());
    format!("{}\n", lines.join("\n"))
}

fn refused(
    run: &RunSummary,
    (apart, target): (&ApartRun, &str),
    why: &LandingRefusal,
) -> Vec<String> {
    let mut lines = vec![format!("Not landed: run {} on {target}; nothing was moved.", run.run)];
    let there = quoted(&apart.path.to_string_lossy());
    match why {
        LandingRefusal::Conflict { files } => {
            lines.push("In conflict:".to_owned());
            lines.extend(files.iter().take(20).map(|file| format!("  {}", words::line(file, 200))));
            lines.push(format!(
                "Solve it there, commit, and land again: cd {there} && git merge {target}"
            ));
        }
        LandingRefusal::Tamper { findings } => {
            lines.push("Weakened, and not accepted:".to_owned());
            lines
                .extend(findings.iter().take(20).map(|one| format!("  {}", words::line(one, 300))));
            lines.push(format!("Put it back: flyball restore tamper --run {}", run.run));
            lines.push(format!("Or say it is meant: flyball land {} --accept-tamper", run.run));
        }
        LandingRefusal::Red { summary } => {
            lines.push(format!("Red on the merged tree: {}", words::line(summary, 400)));
            lines.push(format!("Look: cd {there} && git merge {target} && flyball gate"));
        }
    }
    lines
}

fn as_json(
    run: &RunSummary,
    (apart, target): (&ApartRun, &str),
    (landed, notes): (&Landed, &[String]),
) -> serde_json::Value {
    let mut body = json!({
        "run": run.run, "branch": apart.branch, "target": target, "notes": notes,
    });
    let more = match landed {
        Landed::AlreadyThere => json!({ "landed": true, "moved": false }),
        Landed::Moved { from, to, seat } => {
            json!({ "landed": true, "moved": true, "from": from, "to": to, "worktree": seat })
        }
        Landed::ByHand { path, branch } => {
            json!({ "landed": false, "by_hand": { "worktree": path, "merge": branch } })
        }
        Landed::Refused(LandingRefusal::Conflict { files }) => {
            json!({ "landed": false, "conflict": files })
        }
        Landed::Refused(LandingRefusal::Tamper { findings }) => {
            json!({ "landed": false, "tamper": findings })
        }
        Landed::Refused(LandingRefusal::Red { summary }) => {
            json!({ "landed": false, "red": summary })
        }
        Landed::Interrupted => json!({ "landed": false }),
    };
    if let (Some(body), serde_json::Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    body
}
