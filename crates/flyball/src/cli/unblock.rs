//! `flyball unblock`: takes `blocked.txt` away and brings tasks back that were left.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::place::{self, Place};
use super::{Globals, runs, words};
use crate::clock;
use crate::desk;
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
    let done = desk::unblock(&place.workplace(), &mut journal, None, now);
    let done = place.recorded("unblock", &json!({}), done)?;
    let mut lines = Vec::new();
    if let Some(reason) = &done.reason {
        let blocked = place.human_files.file("blocked.txt");
        lines.push(format!("Removed {}: {}", blocked.display(), words::line(reason, 200)));
    }
    for (task, stood) in &done.brought_back {
        lines.push(format!("Brought back {task}, which was {}", words::standing(*stood)));
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
    } else if done.question.is_none() {
        lines.push(format!("Next: {}", place.next()));
    }
    if done.question == Some(false) {
        lines.push("A question waits too: flyball answer".to_owned());
    }
    terminal::write_out(&format!("{}\n", lines.join("\n")))?;
    Ok(ExitCode::SUCCESS)
}
