//! What keys do to runs: the commands of the same names do it, and what they say is shown.

use std::process::ExitCode;
use std::time::Duration;

use flyball_core::RunId;

use super::super::accept::{self, AcceptArgs, AcceptTamperArgs, Accepted};
use super::super::answer::{self, AnswerArgs};
use super::super::restore::{self, Restorable, RestoreArgs, RestoreTamperArgs};
use super::super::stop::{self, StopArgs};
use super::super::unblock::{self, UnblockArgs};
use super::super::{Globals, words};
use crate::error::CliError;
use crate::journal::state_dir;
use crate::watch::Act;
use crate::{files, platform, process, terminal};

/// How much of what a command says is shown.
const SAID_MAX: usize = 600;
/// How long a report may take.
const REPORT_MAX: Duration = Duration::from_mins(1);
/// Where reports are put, below the state folder.
const REPORTS: &str = "reports";

/// Does something to a run; what came of it, in a line.
pub(super) fn perform(act: &Act, globals: &Globals) -> String {
    let (done, heard) = terminal::overheard(|| command(act, globals));
    told(done, &heard)
}

fn command(act: &Act, globals: &Globals) -> Result<ExitCode, CliError> {
    let of = |run: &RunId| Some(run.to_string());
    match act {
        Act::Answer { run, text } => {
            answer::run(&AnswerArgs { text: Some(text.clone()), run: of(run) }, globals)
        }
        Act::Unblock(run) => unblock::run(&UnblockArgs { run: of(run) }, globals),
        Act::AcceptTests(run) => {
            let what = Accepted::Tamper(AcceptTamperArgs { run: of(run), json: false });
            accept::run(&AcceptArgs { what }, globals)
        }
        Act::RestoreTests(run) => {
            let args = RestoreTamperArgs { run: of(run), ..RestoreTamperArgs::default() };
            restore::run(&RestoreArgs { what: Restorable::Tamper(args) }, globals)
        }
        Act::Stop(run) => {
            let args = StopArgs { run: of(run), no_wait: true, ..StopArgs::default() };
            stop::run(&args, globals)
        }
    }
}

/// What a command said, or why it failed, on one line.
pub(super) fn told(done: Result<ExitCode, CliError>, heard: &str) -> String {
    match done {
        Ok(_) => {
            let lines: Vec<&str> = heard.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
            words::line(&lines.join(" · "), SAID_MAX)
        }
        Err(error) => {
            let hints: Vec<&str> = error.hints.iter().map(String::as_str).collect();
            let parts: Vec<&str> = std::iter::once(error.message.as_str()).chain(hints).collect();
            words::line(&parts.join("; "), SAID_MAX)
        }
    }
}

/// Writes the report of a run into the state folder, and has a browser show it.
#[expect(clippy::fn_params_excessive_bools, reason = "one key or the other")]
pub(super) fn report(run: &RunId, open: bool) -> String {
    match write_report(run, open) {
        Ok(said) => said,
        Err(why) => format!("No report of {run}: {why}"),
    }
}

#[expect(clippy::fn_params_excessive_bools, reason = "one key or the other")]
fn write_report(run: &RunId, open: bool) -> Result<String, String> {
    let folder = state_dir().map_err(|error| error.to_string())?.join(REPORTS);
    files::private_folder(&folder).map_err(|error| error.to_string())?;
    let path = folder.join(format!("{run}.html"));
    let program = platform::own_program().map_err(|error| error.to_string())?;
    let words = ["report", run.as_str(), "--output", &path.to_string_lossy()].map(str::to_owned);
    process::run_briefly_with(&program.to_string_lossy(), &words, &[], REPORT_MAX)?;
    let shown = path.display();
    if !open {
        return Ok(format!("Report written to {shown}"));
    }
    process::open_for_user(&path)
        .map_err(|error| format!("{shown} is written, and no browser could be started: {error}"))?;
    Ok(format!("Opened {shown}"))
}
