//! A program run for a moment: started, waited for at most so long, and ended with its whole tree.

use std::process::Command;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use flyball_core::event::ExitHow;

use super::{ProcessEvent, Spec, Supervised};
use crate::clock::Deadline;
use crate::platform::Walls;

/// The longest answer that is read.
const ANSWER_MAX: usize = 64 * 1024;

/// What stands around such programs.
static WALLS: Mutex<Option<Walls>> = Mutex::new(None);

/// Has all of them run behind these walls from now on.
pub(crate) fn enclose_brief(walls: Option<Walls>) {
    *WALLS.lock().unwrap_or_else(PoisonError::into_inner) = walls;
}

/// What stands around such programs now.
pub(crate) fn brief_walls() -> Option<Walls> {
    WALLS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Runs a program and waits for it; what it prints is dropped, how it ends does not matter.
pub fn run_briefly(program: &str, args: &[String], timeout: Duration) {
    run_briefly_with(program, args, &[], timeout).ok();
}

/// Runs a program with further variables (an empty one is removed) and says how it failed, if so.
pub fn run_briefly_with(
    program: &str,
    args: &[String],
    env: &[(&str, String)],
    timeout: Duration,
) -> Result<(), String> {
    run_shown(&brief_spec(program, args, env), timeout, |_| {})
}

/// Runs a program, hands on what it prints as it comes, and says how it failed, if so.
pub fn run_shown(
    spec: &Spec,
    timeout: Duration,
    show: impl Fn(&[u8]) + Send + Sync + 'static,
) -> Result<(), String> {
    let (sender, receiver) = mpsc::channel();
    let _process = Supervised::start(spec, move |event| match event {
        ProcessEvent::Exited { how, .. } => {
            sender.send(how).ok();
        }
        ProcessEvent::Output { bytes, .. } => show(&bytes),
        ProcessEvent::Started { .. } => {}
    })
    .map_err(|error| error.to_string())?;
    match receiver.recv_timeout(timeout) {
        Ok(ExitHow::Code(0)) => Ok(()),
        Ok(ExitHow::Code(code)) => Err(format!("it exited with {code}")),
        Ok(ExitHow::Signal(signal)) => Err(format!("signal {signal} ended it")),
        Ok(ExitHow::Lost) => Err("it was lost".to_owned()),
        Err(_) => Err(format!("it took longer than {} s", timeout.as_secs())),
    }
}

/// Runs a program and gives what it printed, however it ends; none when it cannot be started, takes
/// too long or prints more than an answer.
pub fn ask_briefly(
    program: &str,
    args: &[String],
    env: &[(&str, String)],
    timeout: Duration,
) -> Option<String> {
    let spec = brief_spec(program, args, env);
    let (sender, receiver) = mpsc::channel();
    let _process = Supervised::start(&spec, move |event| {
        sender.send(event).ok();
    })
    .ok()?;
    let (limit, mut answer) = (Deadline::after(timeout), Vec::new());
    loop {
        match receiver.recv_timeout(limit.left()).ok()? {
            ProcessEvent::Started { .. } => {}
            ProcessEvent::Output { bytes, .. } => answer.extend_from_slice(&bytes),
            ProcessEvent::Exited { .. } => break,
        }
        if answer.len() > ANSWER_MAX {
            return None;
        }
    }
    Some(String::from_utf8_lossy(&answer).into_owned())
}

fn brief_spec(program: &str, args: &[String], env: &[(&str, String)]) -> Spec {
    let mut spec = Spec::new(program, std::env::temp_dir());
    if let Ok(here) = std::env::current_dir() {
        spec.cwd = here;
    }
    spec.args = args.to_vec();
    spec.walls = brief_walls();
    let value = |value: &String| (!value.is_empty()).then(|| value.clone());
    spec.env = env.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect();
    spec
}

/// Runs a program in the user's own terminal and waits for it, however long that takes.
pub fn in_terminal(program: &str, args: &[String]) -> Result<(), String> {
    let status = Command::new(program).args(args).status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("it ended with {status}")) }
}
