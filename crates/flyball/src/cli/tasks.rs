//! `flyball tasks`: the stories of the task list with what the task ring remembers of them.

mod by_hand;
pub(super) mod looped;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use flyball_core::task::Standing;
use serde_json::json;

use self::by_hand::AddArgs;
use super::columns::{self, Cell, Last, Tint};
use super::place::{self, Place};
use super::{Globals, fault, runs, words};
use crate::desk::{self, Task, tasks_of};
use crate::error::CliError;
use crate::journal::Journal;
use crate::terminal::{self, Paint, Reader};

/// Show the tasks with their attempts; add, edit, drop or retry one
#[derive(Clone, Debug, Default, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct TasksArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: Option<TasksAction>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What can be done with a task.
#[derive(Clone, Debug, Subcommand)]
pub enum TasksAction {
    /// Bring a task back that was set aside, escalated or tripped
    Retry {
        /// The task's id
        id: String,
    },
    /// Add a story to the task list
    Add(AddArgs),
    /// Change a story in your editor (`VISUAL`, `EDITOR`)
    Edit {
        /// The story's id
        id: String,
    },
    /// Show blockers met in any project, and how they went away
    Blockers {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take a story out of the task list
    Drop {
        /// The story's id
        id: String,
        /// Even when others wait for it: they wait for it no longer
        #[arg(long)]
        force: bool,
    },
}

impl TasksAction {
    /// How it is called.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Retry { .. } => "tasks retry",
            Self::Add(_) => "tasks add",
            Self::Blockers { .. } => "tasks blockers",
            Self::Edit { .. } => "tasks edit",
            Self::Drop { .. } => "tasks drop",
        }
    }
}

/// Lists the tasks, or brings one back.
pub fn run(args: &TasksArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    if let Some(TasksAction::Blockers { json }) = &args.action {
        terminal::write_out(&looped::catalogue(&place::open_journal()?, *json)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let place = Place::find(globals)?;
    let mut journal = place::open_journal()?;
    let text = match &args.action {
        Some(TasksAction::Retry { id }) => retry(&place, &mut journal, id)?,
        Some(TasksAction::Add(args)) => by_hand::add(&place, &journal, args)?,
        Some(TasksAction::Edit { id }) => by_hand::edit(&place, &journal, id)?,
        Some(TasksAction::Drop { id, force }) => by_hand::drop_story(&place, &journal, id, *force)?,
        Some(TasksAction::Blockers { .. }) => String::new(),
        None if args.json => {
            let tasks = tasks_of(&place.site(), &journal)?;
            let value = serde_json::to_string_pretty(&tasks)
                .map_err(|error| CliError::internal("JSON could not be written").cause(error))?;
            format!("{value}\n")
        }
        None => text(&tasks_of(&place.site(), &journal)?, globals.color.for_stdout()),
    };
    terminal::write_told(&text, Reader::of_json(args.json))?;
    Ok(ExitCode::SUCCESS)
}

fn text(tasks: &[Task], paint: Paint) -> String {
    if tasks.is_empty() {
        return "There are no tasks here. `flyball init` writes a task list to begin with.\n"
            .to_owned();
    }
    let titles = ["TASK", "STATE", "ATTEMPTS", "LAST", "PATTERN", "REMEDY", "TITLE"];
    let mut rows = vec![columns::heading(&titles)];
    rows.extend(tasks.iter().map(row));
    let rows = columns::within(rows, terminal::out_columns(), Last::Words);
    let text = format!("{}{}", columns::render(&rows, paint), looped::text(tasks));
    let left = |task: &&Task| {
        matches!(task.standing, Standing::SetAside | Standing::Escalated | Standing::Tripped)
    };
    let Some(task) = tasks.iter().find(left) else { return text };
    let command = format!("flyball tasks retry {}", task.id);
    format!("{text}\nTo try a task again: {}\n", paint.cyan(&command))
}

fn row(task: &Task) -> Vec<Cell> {
    let (state, tint) = state(task);
    vec![
        Cell::plain(words::line(task.id.as_str(), 40)),
        Cell::new(state, tint),
        Cell::plain(words::count(task.attempts)),
        Cell::plain(task.last_attempt.map_or("-".to_owned(), words::time)),
        Cell::plain(task.pattern.map_or("-", words::pattern)),
        Cell::plain(task.remedy.map_or("-", words::remedy)),
        Cell::plain(task.title.as_deref().map_or(String::new(), |title| words::line(title, 60))),
    ]
}

/// Where the ring has put it, else what the task list says.
fn state(task: &Task) -> (&'static str, Tint) {
    match (task.standing, task.passes, task.review) {
        (Standing::Open, Some(true), _) => ("passed", Tint::Good),
        (Standing::Open, Some(false), Some(review)) => (review.as_str(), Tint::Name),
        (Standing::Open, None, _) => ("not in the list", Tint::Dim),
        (Standing::Open, Some(false), None) => ("open", Tint::Plain),
        (standing, ..) => (words::standing(standing), Tint::Warn),
    }
}

fn retry(place: &Place, journal: &mut Journal, id: &str) -> Result<String, CliError> {
    let stood = desk::retry(&place.site(), journal, id);
    let Some(stood) = place.recorded("tasks retry", &json!({ "task": id }), stood)? else {
        return Ok(format!("Task {id} stands open already.\n"));
    };
    let blocked = still_blocked(place, journal)?;
    let next = match runs::at_work(journal, &place.root)? {
        Some(run) => {
            format!("Run {} is at work and does not know: it counts from the next run on", run.run)
        }
        None => match blocked {
            None => "Next: flyball run".to_owned(),
            Some(reason) => format!("Still blocked: {reason}\nNext: flyball unblock"),
        },
    };
    let was = words::standing(stood);
    Ok(format!("Task {id} was {was} and stands open again.\n{next}\n"))
}

/// What blocks beside the tasks that were left. A file that only lists those is out of date now.
fn still_blocked(place: &Place, journal: &Journal) -> Result<Option<String>, CliError> {
    let blocked = place.human_files.file("blocked.txt");
    let seen = place.human_files.human_files().map_err(fault::file(&blocked, "read"))?;
    let Some(reason) = seen.blocked else { return Ok(None) };
    let latest = journal.latest_run(&place.root).map_err(fault::journal)?;
    let ending = latest.and_then(|run| run.ending).filter(|ending| ending.nothing_left);
    if ending.is_some_and(|ending| ending.why.trim() == reason.trim()) {
        place.human_files.remove_blocked().map_err(fault::file(&blocked, "removed"))?;
        return Ok(None);
    }
    Ok(Some(words::line(&reason, 200)))
}
