//! `flyball stop`: asks a run to end, through the journal, and waits until it has.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use flyball_core::human::{HumanReply, HumanWish};
use serde_json::json;

use super::runs::{self, Life};
use super::{Globals, fault, live, place};
use crate::clock::Deadline;
use crate::desk::{ask_to_end, recorded, signalled};
use crate::error::CliError;
use crate::journal::{Door, Journal, RunSummary};
use crate::platform::Signal;
use crate::terminal;

/// How long the end of a run is waited for.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// After how long a run that has not ended is sent a signal besides.
const SIGNAL_AFTER: Duration = Duration::from_secs(12);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// Between two signs of patience.
const SIGN_EVERY: Duration = Duration::from_secs(3);

/// Stop a run: its agent is ended, its state is kept
///
/// Waits up to 30 seconds for the run to end.
#[derive(Clone, Debug, Default, Args)]
pub struct StopArgs {
    /// The run, or the beginning of its name; without it, the one at work here
    pub run: Option<String>,
    /// The run, as with the other commands for humans
    #[arg(long = "run", value_name = "RUN", conflicts_with = "run")]
    pub run_named: Option<String>,
    /// Let the iteration at hand be finished and checked, and begin no other; does not wait
    #[arg(long, conflicts_with = "no_wait")]
    pub after_iteration: bool,
    /// Ask and do not wait
    #[arg(long)]
    pub no_wait: bool,
}

/// Asks the run to end.
pub fn run(args: &StopArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let mut journal = place::open_journal()?;
    let asked = args.run.as_deref().or(args.run_named.as_deref());
    let found = live::find(&journal, asked, globals)?;
    if args.after_iteration {
        return after_iteration(&mut journal, &found);
    }
    let asked = ask_to_end(&mut journal, &found);
    let act = (&found.run, "stop", Door::Cli);
    let request = recorded(&mut journal, act, &json!({}), asked)?;
    if args.no_wait {
        terminal::write_out(&format!("Asked run {} to end.\n", found.run))?;
        return Ok(ExitCode::SUCCESS);
    }
    terminal::write_err(&format!("Asked run {} to end; waiting for it\n", found.run));
    let text = wait(&mut journal, &found, request)?;
    terminal::write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Lets the iteration at hand be finished and checked; nothing is waited for, it may take an hour.
fn after_iteration(journal: &mut Journal, run: &RunSummary) -> Result<ExitCode, CliError> {
    let reply = live::ask(journal, run, &HumanWish::StopAfterIteration);
    let body = json!({ "after_iteration": true });
    let reply = recorded(journal, (&run.run, "stop", Door::Cli), &body, reply)?;
    let text = if let HumanReply::StopsAfter { iteration } = reply {
        format!("Run {} ends once iteration {iteration} is over.\n", run.run)
    } else {
        format!("Run {} ends now: no iteration was under way.\n", run.run)
    };
    terminal::write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Waits until the run has ended; what became of it.
fn wait(journal: &mut Journal, run: &RunSummary, request: Option<u64>) -> Result<String, CliError> {
    let limit = Deadline::after(WAIT_MAX);
    let mut sign = Deadline::after(SIGN_EVERY);
    let (patience, mut is_told) = (Deadline::after(SIGNAL_AFTER), false);
    while !limit.passed() {
        let now = journal.run(&run.run).map_err(fault::journal)?;
        match runs::life(&now) {
            Life::Running => {}
            Life::Ended => {
                let outcome = now.outcome.as_deref().unwrap_or("ended");
                return Ok(format!("Run {} has ended: {outcome}.\n", run.run));
            }
            Life::Lost => {
                // Else the request would end the run again as soon as it is resumed.
                request.and_then(|request| journal.drop_request(request).ok());
                let command = runs::resume_command(&run.run, &run.root, None);
                return Ok(format!("Run {} is gone; to go on with it: {command}\n", run.run));
            }
        }
        if patience.passed() && !std::mem::replace(&mut is_told, true) {
            // It may be held up where it does not see requests; a signal it always hears.
            signalled(run, Signal::Terminate);
        }
        if sign.passed() {
            let left = limit.left().as_secs();
            terminal::write_err(&format!("still {}, waiting {left} s more\n", now.state.phase));
            sign = Deadline::after(SIGN_EVERY);
        }
        thread::sleep(PAUSE);
    }
    Err(CliError::already_running(format!(
        "run `{}` was asked to end and is still at work after {} s",
        run.run,
        WAIT_MAX.as_secs()
    ))
    .hint(format!("it ends when its agent has; `flyball stop {}` waits again", run.run)))
}
