//! Tasks across runs: how often each was tried, what its attempts look like, what was done about it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flyball_core::TaskId;
use flyball_core::task::{KnownBlocker, Standing};
use maud::{Markup, html};

use super::frame::{Place, frame};
use super::{ago, fitting};
use crate::config::Sources;
use crate::desk::{self, Site, Task, tasks_of};
use crate::loopdir::LoopDir;
use crate::serve::window::{Books, Look, Problem};
use crate::view::remembered::{circles, met, ways};
use crate::view::words;

/// How many worktrees are looked at: those of the latest runs.
const ROOTS_MAX: usize = 12;
/// How many tasks of each are shown.
const ROWS: [usize; 4] = [40, 20, 10, 4];

/// How much of a blocker is shown.
const BLOCKER: usize = 200;

/// The tasks of one worktree.
struct Group {
    root: PathBuf,
    tasks: Vec<Task>,
    costs: BTreeMap<TaskId, u64>,
}

/// The page.
pub(in crate::serve) fn tasks(look: Look<'_>, books: &mut Books) -> Result<Markup, Problem> {
    let latest = books.journal.latest_runs()?;
    let asks = desk::asks(&books.journal, &latest)?.len();
    let roots = latest.iter().map(|run| run.root.as_path());
    let groups: Vec<Group> = roots.take(ROOTS_MAX).filter_map(|root| group(books, root)).collect();
    let known = books.journal.known_blockers()?;
    Ok(fitting(&ROWS, |most| {
        let body = html! {
            h1 { "Tasks" }
            @if groups.is_empty() { {
                p.note { "No worktree of the latest runs has a task list or remembers a task." }
                p.note { "Where there is a list, each task stands here with its attempts, what they cost and what was done about it: " code { "flyball tasks --help" } }
            } }
            div #tasks data-live { @for group in &groups { (section(look, group, most)) } }
            (recurring(&known, most))
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
    let costs = books.journal.task_costs(root).ok()?;
    (!tasks.is_empty()).then(|| Group { root: root.to_path_buf(), tasks, costs })
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
                        th.num scope="col" { "cost" }
                    } }
                    tbody { @for task in tasks.iter().take(most) { tr {
                        th scope="row" { (words::line(task.id.as_str(), 40)) }
                        td { (words::line(task.title.as_deref().unwrap_or(""), 100)) }
                        td { (state(task)) (retry(look, group, task)) }
                        td.num { (words::count(task.attempts)) }
                        td.wide { @if let Some(at) = task.last_attempt { (ago(at, look.now)) } }
                        td.wide { @if let Some(pattern) = task.pattern { (words::pattern(pattern).replace('_', " ")) } }
                        td.wide { @if let Some(remedy) = task.remedy { (words::remedy(remedy).replace('_', " ")) } }
                        td.num { (words::money(group.costs.get(&task.id).copied().unwrap_or(0))) }
                    } } }
                }
            }
            @if tasks.len() > most { p.note { "and " (tasks.len() - most) " more: " code { "flyball tasks" } } }
            (remembered(&tasks, most))
        }
    }
}

/// Tasks that went in circles before, and what blocks some that went away elsewhere.
fn remembered(tasks: &[&Task], most: usize) -> Markup {
    let looped = tasks.iter().filter_map(|task| Some((task, circles(&task.loops)?)));
    let looped: Vec<(&&Task, String)> = looped.take(most).collect();
    let known = tasks.iter().flat_map(|task| task.known.iter().map(move |one| (task, one)));
    let known: Vec<(&&Task, &KnownBlocker)> = known.take(most).collect();
    html! {
        @if !looped.is_empty() {
            h3 { "Went in circles before" }
            ul.plain { @for (task, words) in &looped {
                li { b { (words::line(task.id.as_str(), 40)) } " " (words.replace('_', " ")) }
            } }
        }
        @if !known.is_empty() {
            h3 { "Blocked by what went away elsewhere" }
            ul.plain { @for (task, one) in &known {
                li {
                    b { (words::line(task.id.as_str(), 40)) } " “" (words::line(&one.blocker, BLOCKER)) "” "
                    span.dim { (met(one)) "; " } (ways(one))
                }
            } }
        }
    }
}

/// Blockers that were met more than once, in whatever project.
fn recurring(known: &[KnownBlocker], most: usize) -> Markup {
    let again: Vec<&KnownBlocker> = known.iter().filter(|one| one.times > 1).collect();
    html! {
        @if !again.is_empty() {
            section {
                h2 { "Blockers that come again" }
                ul.plain { @for one in again.iter().take(most) {
                    li { "“" (words::line(&one.blocker, BLOCKER)) "” " span.dim { (met(one)) "; " } (ways(one)) }
                } }
                @if again.len() > most { p.note { "and " (again.len() - most) " more: " code { "flyball tasks blockers" } } }
            }
        }
    }
}

/// A task that was left can be brought back.
fn retry(look: Look<'_>, group: &Group, task: &Task) -> Markup {
    let left =
        matches!(task.standing, Standing::SetAside | Standing::Escalated | Standing::Tripped);
    let root = group.root.to_string_lossy();
    html! {
        @if left && look.may_act() {
            form.again method="post" action="/api/tasks/retry" data-act="retry" {
                input type="hidden" name="page" value=(look.token(&root));
                input type="hidden" name="root" value=(root);
                input type="hidden" name="task" value=(task.id);
                button { "Try again" }
                span role="status" {}
            }
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
