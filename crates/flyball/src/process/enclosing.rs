//! Whether this process was started by a run, by descent: what it says of itself does not count.

use std::path::PathBuf;

use flyball_core::RunId;

use super::clerk::CLERK_ARGUMENT;
use super::keeper::KEEPER_ARGUMENT;
use crate::platform;

/// The name of the folder in a run's own folder that is shown in place of secrets behind its walls:
/// whoever sees it is part of that run.
pub(crate) const EMPTY: &str = "empty";

/// How the path of that folder ends.
pub(super) fn walls_mark(run: &RunId) -> String {
    format!("/runs/{run}/{EMPTY}")
}

/// The run whose keeper stands somewhere above this process, or whose walls it is behind; else the
/// one its environment names.
pub fn enclosing_run() -> Option<String> {
    by_descent(std::process::id())
        .or_else(|| std::env::var("FLYBALL_RUN").ok().filter(|run| !run.is_empty()))
}

/// Whether git has started this for flyball: a repository can have it run anything, and nobody who sits
/// at a keyboard stands there.
pub fn is_of_a_clerk() -> bool {
    let is_clerk = |pid: u32| {
        platform::arguments_of(pid).is_some_and(|words| words.iter().any(|w| w == CLERK_ARGUMENT))
    };
    platform::above(std::process::id()).into_iter().any(is_clerk)
}

/// The run another process is part of, by descent or by the walls it is behind.
pub fn run_around(pid: u32) -> Option<String> {
    by_descent(pid)
}

fn by_descent(pid: u32) -> Option<String> {
    let above = platform::above(pid).into_iter().find_map(keeper_of);
    above.or_else(|| walls_around(pid).map(|(run, _)| run))
}

/// Whether this process is the agent of a run itself: what its keeper has started, not what the agent
/// starts. One that lives in a container has no keeper above it, and is believed.
#[cfg(feature = "session")]
pub fn is_agent_itself() -> bool {
    let own = std::process::id();
    by_descent(own).is_none() || keeper_of(std::os::unix::process::parent_id()).is_some()
}

/// The run a keeper keeps an agent for.
fn keeper_of(pid: u32) -> Option<String> {
    match platform::arguments_of(pid)?.as_slice() {
        [.., keeper, run] if keeper == KEEPER_ARGUMENT => Some(run.clone()),
        _ => None,
    }
}

/// The state folder of the run whose walls this process is behind: no variable leads elsewhere.
pub fn enclosing_state() -> Option<PathBuf> {
    walls_around(std::process::id()).map(|(_, state)| state)
}

/// The run whose own folder is shown in place of secrets, and where its state is.
fn walls_around(pid: u32) -> Option<(String, PathBuf)> {
    platform::mounted_folders_of(pid)
        .into_iter()
        .find_map(|(folder, at)| {
            let (_, run) = folder.strip_suffix(EMPTY)?.strip_suffix('/')?.rsplit_once("/runs/")?;
            (!run.contains('/')).then(|| (run.to_owned(), at.parent().map(PathBuf::from)))
        })
        .and_then(|(run, state)| Some((run, state?)))
}
