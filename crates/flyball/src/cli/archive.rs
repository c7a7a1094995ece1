//! `flyball archive` (B12): finished work is put away inside the loop folder, and the next piece
//! begins with fresh templates. The prompt stays; nothing is ever deleted.

mod summary;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use flyball_core::event::TasksSnapshot;
use flyball_core::task::Standing;
use flyball_core::tasklist::TaskList;
use flyball_core::{Millis, RunId};

use super::init::template;
use super::place::Place;
use super::{Globals, fault, words};
use crate::clock;
use crate::error::CliError;
use crate::files::write_whole;
use crate::journal::{self, Journal};
use crate::loopdir::from_here;
use crate::terminal;

/// Nothing of an archive is ignored, whatever is elsewhere.
const KEEP_ALL: &str = "# Everything in here is kept.\n!*\n";
/// The longest label.
const LABEL_MAX: usize = 60;

/// Put finished work away and start with fresh templates
///
/// Moves the task list, prd.md and progress.txt to archive/DATE-LABEL/ in the loop folder, with a
/// summary of the latest run. The prompt stays.
#[derive(Clone, Debug, Default, Args)]
pub struct ArchiveArgs {
    /// Name of the archive, after the date; without it, the project's name in the task list
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    /// Move the logs too
    #[arg(long)]
    pub include_logs: bool,
}

/// Puts the work away.
pub fn run(args: &ArchiveArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let place = Place::find(globals)?;
    let state = journal::state_dir().map_err(fault::journal)?;
    let mut journal = Journal::open(&state).map_err(fault::journal)?;
    // Nobody may begin to work while files are moved.
    let _lock =
        journal::lock_worktree(&state, &place.root, &RunId::new("archive")).map_err(fault::lock)?;
    let moved = to_move(&place, args);
    if moved.iter().all(|path| !path.is_file()) {
        let dir = place.human_files.path();
        let message = format!("there is nothing to put away in `{}`", dir.display());
        return Err(CliError::no_input(message).hint("`flyball init` sets a repository up"));
    }
    let list = match place.human_files.tasks() {
        TasksSnapshot::Found { text } => TaskList::parse(&text).ok(),
        TasksSnapshot::Absent | TasksSnapshot::Unreadable { .. } => None,
    };
    let label = label(args, &place, list.as_ref())?;
    let folder = new_folder(&place, &label)?;
    let latest = journal.latest_run(&place.root).map_err(fault::journal)?;
    let text = summary::text(&label, latest.as_ref(), list.as_ref());
    let path = folder.join("summary.md");
    write_whole(&path, text).map_err(fault::file(&path, "written"))?;
    let names = put_away(&moved, &folder)?;
    if args.include_logs {
        // What is put away is kept: the ignore file of the loop folder knows every `logs`.
        let ignore = folder.join(".gitignore");
        write_whole(&ignore, KEEP_ALL).map_err(fault::file(&ignore, "written"))?;
    }
    begin_anew(&place, list.as_ref())?;
    forget_standings(&mut journal, &place)?;
    terminal::write_out(&told(&place, &folder, &names))?;
    Ok(ExitCode::SUCCESS)
}

/// What belongs to the work, there or not.
fn to_move(place: &Place, args: &ArchiveArgs) -> Vec<PathBuf> {
    let mut paths = vec![
        place.human_files.file("prd.md"),
        place.human_files.tasks_path(),
        place.human_files.file("progress.txt"),
    ];
    if args.include_logs {
        paths.push(place.human_files.logs());
    }
    paths
}

fn label(args: &ArchiveArgs, place: &Place, list: Option<&TaskList>) -> Result<String, CliError> {
    let folder = place.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let named = list.map(|list| list.project().to_owned()).filter(|name| !slug(name).is_empty());
    let label = slug(args.label.as_ref().unwrap_or(&named.unwrap_or(folder)));
    match (&args.label, label.is_empty()) {
        (Some(asked), true) => {
            Err(CliError::usage(format!("`--label {asked}` holds neither letter nor digit")))
        }
        (None, true) => Ok("work".to_owned()),
        (_, false) => Ok(label),
    }
}

/// Letters, digits and single dashes: a name for a folder, whatever was written.
fn slug(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '_' || c == '.' { c } else { '-' };
    let text: String = text.chars().map(plain).collect();
    let parts: Vec<&str> =
        text.split('-').filter(|part| !part.trim_matches('.').is_empty()).collect();
    flyball_core::text::prefix(&parts.join("-"), LABEL_MAX).to_owned()
}

/// A folder that was not there: `DATE-LABEL`, or with a number.
fn new_folder(place: &Place, label: &str) -> Result<PathBuf, CliError> {
    let archive = place.human_files.file("archive");
    fs::create_dir_all(&archive).map_err(fault::file(&archive, "made"))?;
    let first = format!("{}-{label}", clock::day(clock::wall()));
    for number in 1..1_000 {
        let name = if number == 1 { first.clone() } else { format!("{first}-{number}") };
        let folder = archive.join(name);
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(fault::file(&folder, "made")(error)),
        }
    }
    Err(CliError::io(format!("`{}` is full of archives named `{first}`", archive.display()))
        .hint("`--label` chooses another name"))
}

/// Moves what is there; the names of it.
fn put_away(paths: &[PathBuf], folder: &Path) -> Result<Vec<String>, CliError> {
    let mut names = Vec::new();
    for path in paths.iter().filter(|path| path.exists()) {
        let Some(name) = path.file_name() else { continue };
        fs::rename(path, folder.join(name)).map_err(fault::file(path, "moved"))?;
        names.push(name.to_string_lossy().into_owned());
    }
    Ok(names)
}

/// Fresh templates, for the same project.
fn begin_anew(place: &Place, list: Option<&TaskList>) -> Result<(), CliError> {
    let folder = place.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let named = list.map(TaskList::project).filter(|name| !name.is_empty());
    let tasks = template::tasks(named.unwrap_or(&folder));
    let files = [
        (place.human_files.file("prd.md"), template::PRD),
        (place.human_files.tasks_path(), &tasks),
        (place.human_files.file("progress.txt"), template::PROGRESS),
    ];
    for (path, text) in files {
        write_whole(&path, text).map_err(fault::file(&path, "written"))?;
    }
    Ok(())
}

/// New stories may bear the names of old ones: those stand open.
fn forget_standings(journal: &mut Journal, place: &Place) -> Result<(), CliError> {
    let now = clock::wall();
    let memory = journal.task_memory(&place.root, now, Millis::ZERO).map_err(fault::journal)?;
    for (task, _) in memory.standings {
        let open = (Standing::Open, now);
        journal.mark_task(&place.root, &task, open).map_err(fault::journal)?;
    }
    Ok(())
}

fn told(place: &Place, folder: &Path, names: &[String]) -> String {
    let shown = from_here(folder);
    let dir = crate::config::quoted(&from_here(&place.human_files.path()));
    let mut lines = vec![
        format!("Moved {} to {shown}", names.join(", ")),
        format!("Wrote {shown}/summary.md and fresh templates; the prompt stays"),
    ];
    let left = [("blocked.txt", "flyball unblock"), ("decide.txt", "flyball answer")];
    for (name, command) in left {
        if place.human_files.file(name).exists() {
            lines.push(format!("{name} of the old work is still there: {command}, or delete it"));
        }
    }
    lines.push(format!("Next: git add -A {dir} && git commit -m 'Archive finished work'"));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_names_of_folders() {
        let cases = [
            ("Shop 2.0", "Shop-2.0"),
            ("../../etc", "etc"),
            ("a//b  c", "a-b-c"),
            ("über", "über"),
            ("..", ""),
            ("-", ""),
        ];
        for (label, name) in cases {
            assert_eq!(slug(label), name, "{label}");
        }
        assert_eq!(slug(&"x".repeat(200)).len(), LABEL_MAX);
    }
}
