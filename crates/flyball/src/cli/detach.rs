//! `flyball run --detach`: the run goes on in a session of its own, whatever becomes of the terminal it
//! was started in; what it prints is kept beside its record.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use flyball_core::{Moment, RunId};
use serde_json::json;

use super::{Format, fault};
use crate::driver;
use crate::error::CliError;
use crate::files;
use crate::journal::{Journal, JournalError, state_dir};
use crate::process::{Background, start_in_background};
use crate::terminal;

/// The argument that says so to the run itself.
const IN_BACKGROUND: &str = "--in-background";
/// The largest part of a refusal that is shown.
const SHOWN_MAX: u64 = 64 * 1024;
/// The largest file of what a run printed.
const OUTPUT_MAX: u64 = 20_000_000;
/// How often that is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Whether a run leaves the terminal it was started in.
#[derive(Clone, Debug, Default, Args)]
pub struct Detach {
    /// Run in the background: print the run's name and return; `flyball attach` shows it
    #[arg(long, conflicts_with = "dry_run")]
    pub detach: bool,
    /// This is that run, and this its name.
    #[arg(long, value_name = "RUN", hide = true, conflicts_with = "detach")]
    pub in_background: Option<String>,
}

impl Detach {
    /// In a run that was detached: leaves the terminal for good. Its name, where that was given.
    pub(super) fn leave_terminal(&self) -> Option<RunId> {
        let name = self.in_background.as_ref()?;
        // Whoever leads its session already has no terminal to lose.
        crate::platform::leave_session().ok();
        let run = RunId::new(name);
        keep_small(&run);
        Some(run)
    }
}

/// Begins the file anew whenever it has become too large: nobody else looks after it.
fn keep_small(run: &RunId) {
    let Ok(state) = state_dir() else { return };
    let Ok(output) = files::append_private(&output_of(&state, run)) else { return };
    thread::spawn(move || {
        loop {
            thread::sleep(LOOK_EVERY);
            if output.metadata().is_ok_and(|meta| meta.len() > OUTPUT_MAX)
                && output.set_len(0).is_ok()
            {
                terminal::write_err(
                    "flyball: what was printed before is left out here; `flyball log` has it\n",
                );
            }
        }
    });
}

/// Where a detached run keeps what it prints.
pub(super) fn output_of(state_dir: &Path, run: &RunId) -> PathBuf {
    state_dir.join("runs").join(format!("{run}.out"))
}

/// Starts the run that was asked for in the background, and waits until it has begun or was refused.
/// `input` is what it finds on its standard input.
pub(super) fn start(
    resumed: Option<RunId>,
    input: Option<&str>,
    format: Format,
) -> Result<ExitCode, CliError> {
    let state = state_dir()?;
    let journal = Journal::open(&state)?;
    let is_new = resumed.is_none();
    let run = resumed.unwrap_or_else(driver::new_run_id);
    let path = output_of(&state, &run);
    let written = fault::file(&path, "written");
    let output = files::private_folder(&state.join("runs"))
        .and_then(|()| files::append_private(&path))
        .map_err(written)?;
    let before = output.metadata().map_or(0, |meta| meta.len());
    let ended_before = journal.run(&run).ok().and_then(|row| row.ended);
    let child = start_in_background(&arguments(&run), input, &output).map_err(|error| {
        CliError::io("flyball could not be started in the background").cause(error)
    })?;
    match begun(&journal, (&run, ended_before), child)? {
        Begun::AtWork { pid } => {
            terminal::write_out(&told(&run, pid, &path, format))?;
            Ok(ExitCode::SUCCESS)
        }
        Begun::Refused { code } => {
            let length = output.metadata().map_or(0, |meta| meta.len());
            let new = length.saturating_sub(before).min(SHOWN_MAX);
            let said = files::read_end(&path, new).unwrap_or_default();
            terminal::write_err(&String::from_utf8_lossy(&said));
            if is_new {
                files::remove(&path).ok();
            }
            Ok(ExitCode::from(code))
        }
    }
}

/// What became of a run that was started.
enum Begun {
    AtWork { pid: u32 },
    Refused { code: u8 },
}

/// Waits until the journal knows that this process has the run, or the process has gone.
fn begun(
    journal: &Journal,
    (run, ended_before): (&RunId, Option<Moment>),
    mut child: Background,
) -> Result<Begun, CliError> {
    loop {
        let ended = child.ended().ok().flatten();
        match journal.run(run) {
            Ok(row) if row.pid == Some(child.pid()) => {
                return Ok(Begun::AtWork { pid: child.pid() });
            }
            // It was short.
            Ok(row) if ended.is_some() && row.ended.is_some() && row.ended != ended_before => {
                return Ok(Begun::AtWork { pid: child.pid() });
            }
            Ok(_) | Err(JournalError::UnknownRun { .. }) => {}
            Err(error) => return Err(fault::journal(error)),
        }
        if let Some(status) = ended {
            let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(70);
            return Ok(Begun::Refused { code });
        }
        thread::sleep(PAUSE);
    }
}

/// The arguments this process was given, for the run itself.
fn arguments(run: &RunId) -> Vec<OsString> {
    let given: Vec<OsString> = std::env::args_os().skip(1).collect();
    let own = given.iter().position(|word| word == "--").unwrap_or(given.len());
    let (own, agent) = given.split_at(own);
    let mut all: Vec<OsString> = own.iter().filter(|word| *word != "--detach").cloned().collect();
    all.push(format!("{IN_BACKGROUND}={run}").into());
    all.extend(agent.iter().cloned());
    all
}

fn told(run: &RunId, pid: u32, path: &Path, format: Format) -> String {
    if format == Format::Json {
        let body = json!({ "run": run, "pid": pid, "output": path });
        return format!("{body}\n");
    }
    format!(
        "Run {run} is at work in the background (process {pid}).\n\
         \x20 flyball attach {run}   shows it; Ctrl-C leaves it running\n\
         \x20 flyball stop {run}     ends it\n\
         What it prints: {}\n",
        path.display()
    )
}
