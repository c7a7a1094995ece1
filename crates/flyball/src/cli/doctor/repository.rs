//! Git, and the files of the loop folder.

use flyball_core::event::TasksSnapshot;
use flyball_core::tasklist::TaskList;

use super::super::{fault, words};
use super::finding::Report;
use crate::config::{Config, quoted};
use crate::error::ErrorKind;
use crate::loopdir::LoopDir;
use crate::worktree;

/// The oldest git whose `for-each-ref` can read checkpoints.
const GIT_MIN: (u32, u32) = (2, 31);

/// Whether the loop folder has a task list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tasks {
    /// It has.
    There,
    /// It has none.
    Missing,
}

/// Git is there and not too old.
pub(super) fn git(report: &mut Report) {
    match worktree::git_version() {
        Err(error) => report.error("git", &fault::worktree(error), "install git"),
        Ok(version) => match numbers(&version) {
            Some(found) if found < GIT_MIN => {
                let (major, minor) = GIT_MIN;
                let what = format!("git {version} is too old");
                let remedy = format!("install git {major}.{minor} or newer");
                report.fail(("git", ErrorKind::NoInput), what, remedy);
            }
            Some(_) | None => report.ok("git", version),
        },
    }
}

fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Prompt and task list can be used; whether there is a task list.
pub(super) fn files(report: &mut Report, human_files: &LoopDir, config: &Config) -> Tasks {
    let dir = human_files.relative();
    match human_files.prompt() {
        Ok(Some(text)) if text.trim().is_empty() => {
            let what = format!("{dir}/prompt.md is empty");
            report.fail(("prompt", ErrorKind::NoInput), what, "flyball init --force");
        }
        Ok(Some(_)) => report.ok("prompt", format!("{dir}/prompt.md")),
        Ok(None) => {
            let what = format!("there is no {dir}/prompt.md: the built-in one is used");
            report.warn("prompt", what, "flyball init");
        }
        Err(error) => {
            let error = fault::file(&human_files.file("prompt.md"), "read")(error);
            report.error("prompt", &error, "look at its permissions");
        }
    }
    let shown = human_files.tasks_relative().display().to_string();
    let edit = format!("$EDITOR {}", quoted(&shown));
    match human_files.tasks() {
        TasksSnapshot::Absent => {
            let what = format!("there is no {shown}: the prompt is one task");
            report.warn("tasks", what, "flyball run \"…\" needs none; else flyball init");
            return Tasks::Missing;
        }
        TasksSnapshot::Unreadable { error } => {
            report.fail(("tasks", ErrorKind::Data), format!("{shown}: {error}"), edit);
        }
        TasksSnapshot::Found { text } => match TaskList::parse(&text) {
            Err(error) => {
                let what = words::line(&format!("{shown}: {error}"), 400);
                report.fail(("tasks", ErrorKind::Data), what, edit);
            }
            Ok(list) if list.stories().is_empty() => {
                report.warn("tasks", format!("{shown} holds no story: nothing can complete"), edit);
            }
            Ok(list) => {
                let (done, all) = list.counts(&config.policy.review);
                report.ok("tasks", format!("{shown}: {done} of {all} stories done"));
            }
        },
    }
    Tasks::There
}

/// What earlier runs and humans left.
pub(super) fn leftovers(report: &mut Report, human_files: &LoopDir) {
    if let Some(pid) = human_files.stale_active() {
        let path = human_files.file("active.json");
        let what = format!("{} names process {pid}, which is gone", path.display());
        let remedy = format!("flyball run clears it, or rm {}", quoted(&path.to_string_lossy()));
        report.warn("active", what, remedy);
    }
    // What cannot be read is found by the commands that need it.
    let Ok(seen) = human_files.human_files() else { return };
    if let Some(reason) = seen.blocked {
        let path = human_files.file("blocked.txt");
        let what = format!("{}: {}", path.display(), words::line(&reason, 200));
        report.warn("blocked", what, "flyball unblock");
    }
    if let (Some(question), None) = (seen.question, seen.answer) {
        let path = human_files.file("decide.txt");
        let what = format!("{}: {}", path.display(), words::line(&question, 200));
        report.warn("question", what, "flyball answer");
    }
}
