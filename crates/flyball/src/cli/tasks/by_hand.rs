//! Stories by hand: added, changed in an editor, taken out.

use std::fs;
use std::io::Write;

use clap::Args;
use flyball_core::TaskId;
use flyball_core::event::TasksSnapshot;
use flyball_core::tasklist::edit::{self, EditError, Links, NewStory};
use flyball_core::tasklist::{Story, TaskList};
use serde_json::json;

use crate::cli::place::Place;
use crate::cli::{fault, runs};
use crate::config::{quoted, suggest};
use crate::error::CliError;
use crate::files;
use crate::journal::Journal;
use crate::process;

/// A story to add.
#[derive(Clone, Debug, Default, Args)]
pub struct AddArgs {
    /// What it is called
    #[arg(value_name = "TITLE")]
    pub title: String,
    /// What must hold in the end, best something that can be run; may be given several times
    #[arg(long = "criterion", value_name = "TEXT")]
    pub criteria: Vec<String>,
    /// What is wanted, at more length
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// A story that must be done before; may be given several times
    #[arg(long, value_name = "ID")]
    pub after: Vec<String>,
    /// Its place in the order, the smallest first; without it, the end
    #[arg(long, value_name = "N")]
    pub priority: Option<i64>,
    /// Print the story as JSON
    #[arg(long)]
    pub json: bool,
}

/// Adds a story; what is said about it.
pub(super) fn add(place: &Place, journal: &Journal, args: &AddArgs) -> Result<String, CliError> {
    let text = text(place)?.unwrap_or_else(|| {
        let name = place.root.file_name().map_or("project".into(), |name| name.to_string_lossy());
        edit::empty(&name)
    });
    let new = NewStory {
        title: args.title.clone(),
        description: args.description.clone().unwrap_or_default(),
        criteria: args.criteria.clone(),
        after: args.after.iter().map(|id| TaskId::new(id.as_str())).collect(),
        priority: args.priority,
    };
    let (changed, id) = edit::add(&text, &new).map_err(|error| refused(place, &text, error))?;
    write(place, &changed)?;
    if args.json {
        let list = TaskList::parse(&changed).unwrap_or_default();
        return Ok(format!("{:#}\n", json!({ "added": list.story(&id) })));
    }
    let mut said = format!("Added {id}: {}\n", new.title.trim());
    if new.criteria.is_empty() {
        said.push_str("It has no criterion: nothing says when it is done (flyball tasks edit ");
        said.push_str(id.as_str());
        said.push_str(")\n");
    }
    said.push_str(&next(place, journal)?);
    Ok(said)
}

/// Has a story changed in an editor; what is said about it.
pub(super) fn edit(place: &Place, journal: &Journal, id: &str) -> Result<String, CliError> {
    nobody_at_work(place, journal)?;
    let (text, id) = (needed(place)?, TaskId::new(id));
    let story = edit::story_text(&text, &id).map_err(|error| refused(place, &text, error))?;
    let folder = tempfile::tempdir()
        .map_err(|error| CliError::io("no file to edit can be made").cause(error))?;
    let path = folder.path().join(format!("{}.json", file_name(&id)));
    files::write_whole(&path, &story).map_err(fault::file(&path, "written"))?;
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty()));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let line = format!("{editor} {}", quoted(&path.to_string_lossy()));
    process::in_terminal("sh", &["-c".to_owned(), line]).map_err(|why| {
        CliError::io(format!("the editor `{editor}` failed, and nothing was changed"))
            .cause(why)
            .hint("set VISUAL or EDITOR")
    })?;
    let edited =
        files::read_text(&path, crate::loopdir::TASKS_MAX).map_err(fault::file(&path, "read"))?;
    if edited.trim() == story.trim() {
        return Ok(format!("{id} is as it was.\n"));
    }
    let changed = edit::replace(&text, &id, &edited).map_err(|error| {
        let error = refused(place, &text, error);
        match kept(&id, &edited) {
            Some(kept) => error.hint(format!("what you wrote is in {kept}")),
            None => error,
        }
    })?;
    write(place, &changed)?;
    Ok(format!("Changed {id}.\n{}", next(place, journal)?))
}

/// Takes a story out; what is said about it.
#[expect(clippy::fn_params_excessive_bools, reason = "one flag, named by its parameter")]
pub(super) fn drop_story(
    place: &Place,
    journal: &Journal,
    id: &str,
    is_forced: bool,
) -> Result<String, CliError> {
    nobody_at_work(place, journal)?;
    let (text, id) = (needed(place)?, TaskId::new(id));
    let links = if is_forced { Links::Cut } else { Links::Hold };
    let changed =
        edit::drop_story(&text, &id, links).map_err(|error| refused(place, &text, error))?;
    write(place, &changed)?;
    Ok(format!("Dropped {id}.\n{}", next(place, journal)?))
}

/// An edit that could not be taken is not lost.
fn kept(id: &TaskId, edited: &str) -> Option<String> {
    let path = std::env::temp_dir().join(format!("flyball-{}.json", file_name(id)));
    let mut file = files::create_private(&path).or_else(|_| {
        fs::remove_file(&path)?;
        files::create_private(&path)
    });
    file.as_mut().ok()?.write_all(edited.as_bytes()).ok()?;
    Some(path.display().to_string())
}

/// An id as part of a file's name.
fn file_name(id: &TaskId) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    id.as_str().chars().take(60).map(safe).collect()
}

fn text(place: &Place) -> Result<Option<String>, CliError> {
    match place.human_files.tasks() {
        TasksSnapshot::Absent => Ok(None),
        TasksSnapshot::Unreadable { error } => {
            let path = place.human_files.tasks_relative();
            Err(CliError::io(format!("`{}` could not be read", path.display())).cause(error))
        }
        TasksSnapshot::Found { text } => Ok(Some(text)),
    }
}

fn needed(place: &Place) -> Result<String, CliError> {
    text(place)?.ok_or_else(|| {
        let path = place.human_files.tasks_relative();
        CliError::no_input(format!("there is no task list `{}`", path.display()))
            .hint("flyball tasks add \"TITLE\" begins one")
    })
}

fn write(place: &Place, text: &str) -> Result<(), CliError> {
    let path = place.human_files.tasks_path();
    place.human_files.write_tasks(text).map_err(fault::file(&path, "written"))?;
    place.human_files.share().map_err(fault::file(&path, "written"))
}

/// A run holds stories that are there against every change but its own.
fn nobody_at_work(place: &Place, journal: &Journal) -> Result<(), CliError> {
    match runs::at_work(journal, &place.root)? {
        None => Ok(()),
        Some(run) => Err(CliError::already_running(format!(
            "run `{}` is at work here and would undo it",
            run.run
        ))
        .hint(format!("flyball stop {}, then again", run.run))
        .hint("flyball tasks add works at any time")),
    }
}

fn next(place: &Place, journal: &Journal) -> Result<String, CliError> {
    Ok(match runs::at_work(journal, &place.root)? {
        Some(run) => {
            format!("Run {} is at work and takes it in with its next iteration.\n", run.run)
        }
        None => "Next: flyball run\n".to_owned(),
    })
}

fn refused(place: &Place, text: &str, error: EditError) -> CliError {
    let path = place.human_files.tasks_relative();
    match error {
        EditError::NoStory(id) => {
            let list = TaskList::parse(text).unwrap_or_default();
            let ids = list.stories().iter().filter(|story| !story.is_example());
            let error = CliError::no_input(format!("there is no task `{id}` here"));
            let ids: Vec<&str> = ids.map(|story: &Story| story.id.as_str()).collect();
            match suggest::nearest(id.as_str(), ids) {
                Some(meant) => error.hint(format!("did you mean `{meant}`?")),
                None => error.hint("`flyball tasks` lists them"),
            }
        }
        EditError::NoTitle => CliError::usage("a story needs a title"),
        EditError::WaitedFor { ref story, .. } => CliError::usage(error.to_string())
            .hint(format!("flyball tasks drop {story} --force lets them wait for it no longer")),
        EditError::List(_) | EditError::NotAStory(_) => {
            CliError::data(format!("`{}` was not changed", path.display())).cause(error)
        }
    }
}
