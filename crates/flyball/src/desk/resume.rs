//! A run that goes on, in a session of its own: whoever starts it is never its parent.

use std::ffi::OsString;
use std::path::Path;
use std::thread;
use std::time::Duration;

use flyball_core::RunId;

use super::life::{Life, life};
use crate::config::quoted;
use crate::error::CliError;
use crate::files;
use crate::journal::{Journal, RunSummary};
use crate::process;

/// How long the beginning is waited for.
const WAIT_MAX: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(50);
/// How much of what it printed is told when it did not begin.
const SAID_MAX: u64 = 4096;

/// What to type to go on with a run, from inside its repository or from elsewhere.
pub fn resume_command(run: &RunId, root: &Path, here: Option<&Path>) -> String {
    if here == Some(root) {
        return format!("flyball run --resume {run}");
    }
    let root = quoted(&root.to_string_lossy());
    format!("flyball -C {root} run --resume {run}")
}

/// Goes on with a run in the background, as `flyball run --resume RUN --detach` does. Nothing of it
/// comes from who asks but the name of a run that is in the journal.
pub fn resume(journal: &Journal, state_dir: &Path, run: &RunSummary) -> Result<(), CliError> {
    if life(run) == Life::Running {
        return Err(CliError::already_running(format!("run `{}` is at work already", run.run)));
    }
    let failed = |what: &str| CliError::io(format!("run `{}` could not be {what}", run.run));
    let path = state_dir.join("runs").join(format!("{}.resumed.out", run.run));
    files::private_folder(&state_dir.join("runs"))
        .map_err(|error| failed("started").cause(error))?;
    files::remove(&path).ok();
    let output = files::append_private(&path).map_err(|error| failed("started").cause(error))?;
    let words: [OsString; 6] = [
        "-C".into(),
        run.root.clone().into(),
        "run".into(),
        "--resume".into(),
        run.run.as_str().into(),
        "--detach".into(),
    ];
    let mut child =
        process::start_alone(&words, &output).map_err(|error| failed("started").cause(error))?;
    let limit = crate::clock::Deadline::after(WAIT_MAX);
    loop {
        if let Some(status) = child.ended().map_err(|error| failed("waited for").cause(error))? {
            if status.success() {
                return Ok(());
            }
            let said = files::read_end(&path, SAID_MAX).unwrap_or_default();
            let said = String::from_utf8_lossy(&said).into_owned();
            let told = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
            return Err(CliError::already_running(format!("run `{}` did not go on", run.run))
                .cause(told.trim())
                .hint(resume_command(&run.run, &run.root, None)));
        }
        // Whether it began can be seen in the journal, too, should the one who starts it dawdle.
        if journal.run(&run.run).is_ok_and(|now| life(&now) == Life::Running) || limit.passed() {
            thread::spawn(move || {
                while matches!(child.ended(), Ok(None)) {
                    thread::sleep(PAUSE);
                }
            });
            return Ok(());
        }
        thread::sleep(PAUSE);
    }
}
