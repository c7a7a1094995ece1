//! `flyball unblock`: takes `blocked.txt` away and brings tasks back that were left.

use std::process::ExitCode;

use clap::Args;
use flyball_core::Millis;
use flyball_core::task::{Standing, TaskRing};

use super::place::{self, Place};
use super::{Globals, fault, runs, words};
use crate::clock;
use crate::error::CliError;
use crate::terminal;

/// Clear a block, and bring set-aside tasks back
///
/// Removes blocked.txt. Tasks that were blocked, set aside or escalated stand open again.
#[derive(Clone, Debug, Default, Args)]
pub struct UnblockArgs {
    /// The run that is blocked; without it, the one here
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

/// Clears what blocks, and says what that was.
pub fn run(args: &UnblockArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let place = Place::of_run(globals, args.run.as_deref())?;
    let mut journal = place::open_journal()?;
    let (root, now) = (&place.root, clock::wall());
    let blocked = place.human_files.file("blocked.txt");
    let seen = place.human_files.human_files().map_err(fault::file(&blocked, "read"))?;
    let mut lines = Vec::new();
    if let Some(reason) = &seen.blocked {
        place.human_files.remove_blocked().map_err(fault::file(&blocked, "removed"))?;
        lines.push(format!("Removed {}: {}", blocked.display(), words::line(reason, 200)));
    }
    let memory = journal.task_memory(root, now, Millis::ZERO).map_err(fault::journal)?;
    let mut ring = TaskRing::new(memory.clone());
    for task in ring.bring_back() {
        let stood = memory.standings.iter().find(|(one, _)| *one == task);
        let stood = stood.map_or(Standing::Open, |(_, standing)| *standing);
        journal.mark_task(root, &task, (Standing::Open, now)).map_err(fault::journal)?;
        lines.push(format!("Brought back {task}, which was {}", words::standing(stood)));
    }
    if lines.is_empty() {
        lines.push(
            if args.run.is_some() {
                "Nothing is blocked there."
            } else {
                "Nothing is blocked here."
            }
            .to_owned(),
        );
    } else if let Some(run) = runs::at_work(&journal, root)? {
        lines.push(format!(
            "Run {} is at work and does not know: it counts from the next run on",
            run.run
        ));
    } else if seen.question.is_none() {
        lines.push(format!("Next: {}", place.next()));
    }
    if seen.question.is_some() && seen.answer.is_none() {
        lines.push("A question waits too: flyball answer".to_owned());
    }
    terminal::write_out(&format!("{}\n", lines.join("\n")))?;
    Ok(ExitCode::SUCCESS)
}
