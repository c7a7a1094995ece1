//! How a keeper starts its program: with what it was handed over, in a group of its own.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use super::message::{Launch, Report};
use crate::platform::{self, Walls};

/// What flyball has handed over: the program's output, its errors, and what it reads, or nothing.
fn given(launch: &Launch, walls: Option<&Walls>, handed: Vec<OwnedFd>) -> io::Result<[Stdio; 3]> {
    let missing = || io::Error::other("its input and outputs were not handed over");
    let mut handed = handed.into_iter();
    let (out, err) = (handed.next().ok_or_else(missing)?, handed.next().ok_or_else(missing)?);
    let input = match (launch.has_input, handed.next()) {
        (false, _) => Stdio::null(),
        (true, Some(input)) if walls.is_some() => Stdio::from(platform::opened_inside(input)),
        (true, Some(input)) => Stdio::from(input),
        (true, None) => return Err(missing()),
    };
    Ok([input, out.into(), err.into()])
}

/// Starts the program; its process id.
pub(super) fn spawn(
    launch: &Launch,
    walls: Option<&Walls>,
    handed: Vec<OwnedFd>,
) -> io::Result<u32> {
    let stands_in = std::env::set_current_dir(&launch.cwd);
    stands_in
        .map_err(|error| io::Error::other(format!("its folder cannot be entered: {error}")))?;
    let mut command = Command::new(&launch.program);
    // Nobody but the program holds them when it runs: whoever reads hears their end from it alone.
    let [input, out, err] = given(launch, walls, handed)?;
    command.args(&launch.args).process_group(0).stdin(input).stdout(out).stderr(err);
    for (name, value) in &launch.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    // Never waited for through this handle: the keeper waits for any child.
    if walls.is_none() {
        return Ok(command.spawn()?.id());
    }
    // Whoever could kill keeper and flyball at once would outlive both. What holds for the thread a
    // program is started by holds for the program, and not for the keeper.
    let start = move || {
        // Where the system cannot do so, the next run ends what is left.
        platform::keep_signals_inside().ok();
        command.spawn().map(|child| child.id())
    };
    let started = thread::Builder::new().name("start".to_owned()).spawn(start)?.join();
    started.unwrap_or_else(|_| Err(io::Error::other("the program could not be started")))
}

/// Why it could not be started, as it is reported.
pub(super) fn refusal(launch: &Launch, error: &io::Error) -> Report {
    let script = launch.program.contains('/') && Path::new(&launch.program).exists();
    let missing = error.kind() == io::ErrorKind::NotFound;
    let why = if script && missing {
        "the interpreter named in its first line is not there".to_owned()
    } else {
        error.to_string()
    };
    Report::Failed { why, not_found: missing && !script }
}
