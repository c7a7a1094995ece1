//! Tasks across runs: how often each was tried, what its attempts look like, what was done about it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use flyball_core::task::Standing;
use maud::{Markup, html};

use super::frame::{Place, frame};
use super::{ago, fitting};
use crate::config::Sources;
use crate::desk::{self, Site, Task, tasks_of};
use crate::loopdir::LoopDir;
use crate::serve::window::{Books, Look, Problem};
use crate::view::words;

/// How many worktrees are looked at: those of the latest runs.
const ROOTS_MAX: usize = 12;
/// How many tasks of each are shown.
const ROWS: [usize; 4] = [40, 20, 10, 4];

/// The tasks of one worktree.
struct Group {
    root: PathBuf,
    tasks: Vec<Task>,
}

/// The page.
pub(in crate::serve) fn tasks(look: Look<'_>, books: &mut Books) -> Result<Markup, Problem> {
    let runs = books.runs()?;
    let asks = desk::asks(&runs).len();
    let mut seen: BTreeSet<&Path> = BTreeSet::new();
    let roots = runs.iter().map(|run| run.root.as_path()).filter(|root| seen.insert(root));
    let groups: Vec<Group> = roots.take(ROOTS_MAX).filter_map(|root| group(books, root)).collect();
    Ok(fitting(&ROWS, |most| {
        let body = html! {
            h1 { "Tasks" }
            @if groups.is_empty() { p.note { "No worktree of the latest runs has a task list or remembers a task." } }
            @for group in &groups { (section(look, group, most)) }
        };
        frame("Tasks", Place::Tasks, asks, &body)
    }))
}

/// A worktree that is gone, or whose list cannot be read, has none.
fn group(books: &Books, root: &Path) -> Option<Group> {
    let config = Sources::of_process(root).load().ok()?;
    let human_files = LoopDir::new(root, &config.loop_dir, &config.tasks_file);
    let site = Site { root, human_files: &human_files, rules: &config.policy.tasks };
    let tasks = tasks_of(&site, &books.journal).ok()?;
    (!tasks.is_empty()).then(|| Group { root: root.to_path_buf(), tasks })
}

fn section(look: Look<'_>, group: &Group, most: usize) -> Markup {
    let name = group.root.file_name().unwrap_or(group.root.as_os_str()).to_string_lossy();
    // What was left, then what is tried most.
    let mut tasks: Vec<&Task> = group.tasks.iter().collect();
    tasks.sort_by_key(|task| {
        (
            task.standing == Standing::Open,
            task.passes == Some(true),
            std::cmp::Reverse(task.attempts),
        )
    });
    html! {
        section {
            h2 { (words::line(&name, 60)) " " small { (words::line(&group.root.to_string_lossy(), 120)) } }
            div.scroll tabindex="0" role="region" aria-label=(format!("Tasks of {name}")) {
                table.list {
                    thead { tr {
                        th scope="col" { "task" } th scope="col" { "title" } th scope="col" { "state" }
                        th.num scope="col" { "attempts" } th.wide scope="col" { "last" } th.wide scope="col" { "pattern" } th.wide scope="col" { "remedy" }
                    } }
                    tbody { @for task in tasks.iter().take(most) { tr {
                        th scope="row" { (words::line(task.id.as_str(), 40)) }
                        td { (words::line(task.title.as_deref().unwrap_or(""), 100)) }
                        td { (state(task)) }
                        td.num { (words::count(task.attempts)) }
                        td.wide { @if let Some(at) = task.last_attempt { (ago(at, look.now)) } }
                        td.wide { @if let Some(pattern) = task.pattern { (words::pattern(pattern).replace('_', " ")) } }
                        td.wide { @if let Some(remedy) = task.remedy { (words::remedy(remedy).replace('_', " ")) } }
                    } } }
                }
            }
            @if tasks.len() > most { p.note { "and " (tasks.len() - most) " more: " code { "flyball tasks" } } }
        }
    }
}

fn state(task: &Task) -> Markup {
    html! {
        @match (task.standing, task.passes) {
            (Standing::Open, Some(true)) => span.chip.good { "passed" },
            (Standing::Open, Some(false)) => span.chip { "open" },
            (Standing::Open, None) => span.chip { "not in the list" },
            (standing, _) => span.chip.warn { (words::standing(standing)) },
        }
    }
}
