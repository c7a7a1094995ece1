//! `flyball plan`: an agent drafts stories; flyball checks them, shows them, and writes only what is
//! valid. What is there is kept.

mod drafting;
mod report;
mod scratch;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use flyball_core::event::TasksSnapshot;
use flyball_core::tasklist::draft::{self, Join};
use flyball_core::tasklist::{Story, TaskList, edit};

use self::drafting::{Drafting, Listener};
use self::report::Planned;
use self::scratch::Scratch;
use super::init::template;
use super::run::request::Wanted;
use super::{Globals, fault, found_agent, place, words};
use crate::config::{CommandLine, Config, Override, Value};
use crate::error::CliError;
use crate::files;
use crate::loopdir::{LoopDir, TASKS_MAX};
use crate::terminal;
use crate::worktree::Worktree;

/// Have the agent draft stories for the task list
///
/// The agent looks at the repository and drafts prd.md and stories; flyball checks the stories with
/// its own rules, sends a draft with faults back twice at most, with what was wrong, and writes the
/// stories that are valid. Without TEXT, prd.md says what is wanted. Stories
/// that are there stay as they are.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct PlanArgs {
    /// What is wanted.
    #[command(flatten)]
    pub wanted: Wanted,
    /// Add the stories to those that are there
    #[arg(long, conflicts_with = "replace")]
    pub add: bool,
    /// Put the stories in the place of those that are there
    #[arg(long)]
    pub replace: bool,
    /// Agent that drafts; sets `roles.plan`
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Model to ask it for; sets `agent.model`
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Print what was drafted as JSON
    #[arg(long)]
    pub json: bool,
    /// Any command to run as the agent
    #[arg(last = true, value_name = "AGENT COMMAND")]
    pub command: Vec<String>,
}

impl PlanArgs {
    fn overrides(&self) -> Vec<Override> {
        let text = |text: &Option<String>| text.clone().map(Value::Text);
        let command = (!self.command.is_empty())
            .then(|| Value::Command(CommandLine::Argv(self.command.clone())));
        let no_role = command.as_ref().map(|_| Value::Text(String::new()));
        let given = [
            ("agent.command", command, "`-- <agent command>`"),
            ("roles.plan", no_role.or_else(|| text(&self.agent)), "--agent"),
            ("agent.model", text(&self.model), "--model"),
        ];
        given
            .into_iter()
            .filter_map(|(key, value, flag)| Some(Override { key, value: value?, flag }))
            .collect()
    }
}

/// Drafts, checks, shows and writes.
pub fn run(args: &PlanArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    let root = place::repository(globals)?;
    let given = args.wanted.read(&globals.start_dir()?)?;
    let config = load(args, globals)?;
    globals.warn(&config);
    let loop_dir = LoopDir::new(&root, &config.loop_dir, &config.tasks_file);
    let there = there(&loop_dir, &root)?;
    let how = how(args, there.as_deref(), &loop_dir)?;
    let wanted = match given {
        Some(text) => text,
        None => from_prd(&loop_dir)?,
    };
    let scratch = Scratch::of(&loop_dir);
    let prompt = prompt(&wanted, there.as_deref(), how, &scratch);
    let drafting = Drafting { root: &root, config: &config, prompt: &prompt };
    drafting.check()?;
    let planned = scratch.around(|scratch| {
        let mut worktree = Worktree::open(&root).map_err(fault::worktree)?;
        let (dir, tasks) = (loop_dir.relative(), loop_dir.tasks_relative());
        worktree.snapshot(&dir, &tasks).map_err(fault::worktree)?;
        let listener = Listener::new(args, globals.color.for_stderr());
        let came = drafting.come_to(scratch, listener)?;
        let strayed = worktree.snapshot(&dir, &tasks).map_err(fault::worktree)?.changed;
        let text = there.as_deref().map_or_else(|| edit::empty(&project(&root)), str::to_owned);
        let joined = draft::join(&text, &came.draft.stories, how);
        let (text, ids) = joined.map_err(|error| unusable(&loop_dir, error))?;
        let written = write(&loop_dir, &text, came.prd.as_deref(), how)?;
        Ok(Planned { agent: drafting.agent_name(), came, ids, written, strayed })
    })?;
    let text = if args.json { planned.json() } else { planned.text(globals.color.for_stdout()) };
    terminal::write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn load(args: &PlanArgs, globals: &Globals) -> Result<Config, CliError> {
    let mut sources = globals.sources()?;
    sources.overrides = args.overrides();
    let config = sources.clone().load()?;
    // An agent of its own for the role needs no other.
    if config.planner.is_some() {
        return Ok(config);
    }
    found_agent::load(sources).map(|(config, _)| config)
}

/// The task list that is there; none where nobody has written one.
fn there(loop_dir: &LoopDir, root: &Path) -> Result<Option<String>, CliError> {
    match loop_dir.tasks() {
        TasksSnapshot::Absent => Ok(None),
        TasksSnapshot::Unreadable { error } => {
            let path = root.join(loop_dir.tasks_relative());
            Err(CliError::io(format!("`{}` could not be read", path.display())).cause(error))
        }
        TasksSnapshot::Found { text } => {
            TaskList::parse(&text).map_err(|error| unusable(loop_dir, error))?;
            Ok(Some(text))
        }
    }
}

fn unusable(loop_dir: &LoopDir, error: impl std::fmt::Display) -> CliError {
    let path = loop_dir.tasks_relative();
    CliError::data(format!("the task list `{}` cannot be used", path.display()))
        .cause(error)
        .hint("mend the file; flyball has not touched it")
}

/// The stories somebody wrote; the example is none.
fn written_stories(there: Option<&str>) -> Vec<Story> {
    let list = there.and_then(|text| TaskList::parse(text).ok()).unwrap_or_default();
    list.stories().iter().filter(|story| !story.is_example()).cloned().collect()
}

/// How the draft joins what is there; with stories there, somebody must say so.
fn how(args: &PlanArgs, there: Option<&str>, loop_dir: &LoopDir) -> Result<Join, CliError> {
    let count = written_stories(there).len();
    match (args.add, args.replace) {
        (_, true) => Ok(Join::Replace),
        (true, false) => Ok(Join::Add),
        (false, false) if count == 0 => Ok(Join::Add),
        (false, false) => {
            let stories = words::stories(count);
            let path = loop_dir.tasks_relative();
            Err(CliError::usage(format!("`{}` has {stories} already", path.display()))
                .hint("flyball plan --add keeps them and adds what is drafted")
                .hint("flyball plan --replace puts what is drafted in their place"))
        }
    }
}

/// What prd.md says, when somebody has written it.
fn from_prd(loop_dir: &LoopDir) -> Result<String, CliError> {
    let path = loop_dir.file("prd.md");
    let found = files::optional(files::read_text(&path, TASKS_MAX));
    let text = found.map_err(|error| fault::file(&path, "read")(error))?.unwrap_or_default();
    if text.trim().is_empty() || text == template::PRD {
        return Err(CliError::usage("nobody has said what is wanted")
            .hint("flyball plan \"A cart that survives a reload\"")
            .hint(format!("or write it into {}/prd.md", loop_dir.relative())));
    }
    Ok(text.trim().to_owned())
}

fn prompt(wanted: &str, there: Option<&str>, how: Join, scratch: &Scratch<'_>) -> String {
    let stories = written_stories(there);
    let existing = if how == Join::Add && !stories.is_empty() {
        let lines: Vec<String> =
            stories.iter().map(|story| format!("- {}: {}", story.id, story.title)).collect();
        let head =
            "These stories are there already and stay as they are; draft none of them again:";
        format!("{head}\n\n{}", lines.join("\n"))
    } else {
        String::new()
    };
    include_str!("../../templates/plan.md")
        .replace("{{draft}}", &scratch.relative())
        .replace("{{existing}}", &existing)
        .replace("{{request}}", wanted)
}

fn project(root: &Path) -> String {
    root.file_name().map_or("project".into(), |name| name.to_string_lossy()).into_owned()
}

/// Writes what was drafted; which files, relative to the root.
fn write(
    loop_dir: &LoopDir,
    tasks: &str,
    prd: Option<&str>,
    how: Join,
) -> Result<Vec<String>, CliError> {
    let path = loop_dir.tasks_path();
    loop_dir.write_tasks(tasks).map_err(fault::file(&path, "written"))?;
    loop_dir.share().map_err(fault::file(&path, "written"))?;
    let mut written = vec![loop_dir.tasks_relative().display().to_string()];
    let path = loop_dir.file("prd.md");
    let old = files::optional(files::read_text(&path, TASKS_MAX)).unwrap_or_default();
    let old = old.filter(|old| !old.trim().is_empty() && old != template::PRD);
    let text = match (prd.map(str::trim).filter(|prd| !prd.is_empty()), old, how) {
        (None, ..) => None,
        (Some(prd), None, _) | (Some(prd), Some(_), Join::Replace) => Some(format!("{prd}\n")),
        (Some(prd), Some(old), Join::Add) if old.trim() == prd => None,
        (Some(prd), Some(old), Join::Add) => Some(format!("{}\n\n{prd}\n", old.trim_end())),
    };
    if let Some(text) = text {
        let folder = loop_dir.open().map_err(fault::file(&path, "written"))?;
        folder.write("prd.md", text).map_err(fault::file(&path, "written"))?;
        written.push(format!("{}/prd.md", loop_dir.relative()));
    }
    Ok(written)
}
