//! The log file of an iteration: where it is, and how it ends.

use std::io;
use std::path::{Path, PathBuf};

use flyball_core::IterationNo;

use super::super::words;
use crate::config::Sources;
use crate::files;
use crate::journal::RunSummary;
use crate::loopdir::LoopDir;

/// How many lines of a log's end are shown.
const LINES: usize = 20;
/// How much of the file is read for them.
const BYTES: u64 = 16 * 1024;

/// Whether a run is the latest in its worktree: the logs of earlier ones were moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// The latest.
    Latest,
    /// One before it.
    Earlier,
}

/// Where the log is, and its last lines.
pub(super) fn told(run: &RunSummary, iteration: IterationNo, age: Age) -> String {
    let Some(path) = find(run, iteration, age) else {
        return format!("\nThere is no log file of iteration {iteration} any more.\n");
    };
    let shown = path.display();
    match tail(&path) {
        Ok(text) if text.trim().is_empty() => format!("\nLog {shown} is empty.\n"),
        Ok(text) => format!("\nLog {shown} ends:\n{}\n", indented(&text)),
        Err(error) => format!("\nLog {shown} could not be read: {error}\n"),
    }
}

fn find(run: &RunSummary, iteration: IterationNo, age: Age) -> Option<PathBuf> {
    // A config that is broken by now does not hide the log.
    let dir = Sources::of_process(&run.root)
        .load()
        .map_or_else(|_| PathBuf::from(".flyball"), |config| config.loop_dir);
    let logs = LoopDir::new(&run.root, &dir, Path::new("tasks.json")).logs();
    let name = format!("iteration-{:03}.log", iteration.get());
    let own = logs.join(run.run.as_str()).join(&name);
    if own.is_file() {
        return Some(own);
    }
    let shared = logs.join(name);
    (age == Age::Latest && shared.is_file()).then_some(shared)
}

fn tail(path: &Path) -> io::Result<String> {
    let bytes = files::read_end(path, BYTES)?;
    let text = words::lines(&String::from_utf8_lossy(&bytes));
    let lines: Vec<&str> = text.trim_end().lines().collect();
    Ok(lines.get(lines.len().saturating_sub(LINES)..).unwrap_or(&[]).join("\n"))
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}
