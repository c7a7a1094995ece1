//! `flyball init`: looks at a repository and writes what a run needs. Never overwrites without
//! `--force`, and never a task list, a product description or a diary.

mod adopt;
mod checklist;
mod plan;
mod report;
mod stories;
pub(super) mod template;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use flyball_core::gate::GateResult;

use self::adopt::LoopFolder;
use self::plan::Plan;
use super::Globals;
use super::found_agent::FoundAgent;
use super::gate::{self, Examined, GateArgs};
use super::hooks::install_for;
use crate::client::registry;
use crate::config::{FILE_NAME, stays_inside, suggest};
use crate::error::CliError;
use crate::files;
use crate::hook::install::{self, Homes};
use crate::loopdir::TASKS_MAX;
use crate::project::{self, Detected, Programs};
use crate::terminal;

/// Set a repository up for flyball
///
/// Finds out what kind of project it is and which gates fit it, and writes flyball.toml and the loop
/// folder with prompt, tasks skeleton and ignore file. A `ralph/`, `.ralph/` or `scripts/ralph/`
/// folder, a `prd.json` or bare list with user stories and a Markdown checklist (TODO.md, PLAN.md
/// …) are adopted; review is off for a list that knows none. The task list, prd.md and progress.txt
/// are kept when they are there, even with --force.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct InitArgs {
    /// Agent to use; without it, the first known one that is installed
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Install flyball's hooks in the agent's own settings, for sessions you start yourself
    #[arg(long)]
    pub hooks: bool,
    /// Loop folder, inside the repository; sets `loop.dir`
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Run the gates once afterwards, and say which are red now
    #[arg(long)]
    pub check: bool,
    /// Overwrite flyball.toml and prompt.md
    #[arg(long)]
    pub force: bool,
    /// Print what was found and written as JSON
    #[arg(long)]
    pub json: bool,
}

/// What init knows before it writes.
struct Setup {
    root: PathBuf,
    agent: Agent,
    folder: LoopFolder,
    detected: Detected,
}

/// What init has done.
struct Done<'a> {
    plan: &'a Plan,
    hooks: &'a [install::Done],
    /// What the gates said, when they were asked.
    checked: Option<&'a GateResult>,
}

/// The agent that will be written down.
struct Agent {
    name: String,
    installed: bool,
    /// Those that could have been chosen.
    others: Vec<&'static str>,
}

/// Sets the repository up and says what was done.
pub fn run(args: &InitArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    if globals.config_file.is_some() {
        return Err(CliError::usage(format!(
            "`init` writes {FILE_NAME} and cannot use `--config`"
        )));
    }
    let start = globals.start_dir()?;
    let root = project::find_repository(&start).ok_or_else(|| {
        CliError::no_input(format!("`{}` is not in a git repository", start.display()))
            .hint("`git init`, then `flyball init` again")
    })?;
    let programs = Programs::on_path();
    let agent = agent(args.agent.as_deref(), &programs)?;
    if let Some(dir) = args.dir.as_deref().filter(|dir| !stays_inside(dir)) {
        let message =
            format!("`--dir {}` must be a relative path inside the repository", dir.display());
        return Err(CliError::usage(message));
    }
    let folder = LoopFolder::choose(&root, args.dir.as_deref());
    let detected = project::detect_with(&root, &programs);
    let hooked = args.hooks.then(|| hooked(&agent.name)).transpose()?;
    let setup = Setup { root, agent, folder, detected };
    let plan = Plan::make(&setup)?;
    if !args.force {
        refuse_to_overwrite(&plan)?;
    }
    plan.write(&setup.root)?;
    let hooks = match hooked {
        Some(agent) => install_for(agent, None, &Homes::of_process(&setup.root)?)?,
        None => Vec::new(),
    };
    let checked = if args.check && !setup.detected.gates.is_empty() {
        match gate::examine(&GateArgs::default(), globals)? {
            Examined::Ran(result) => Some(result),
            Examined::Interrupted(code) => return Ok(code),
        }
    } else {
        None
    };
    let done = Done { plan: &plan, hooks: &hooks, checked: checked.as_ref() };
    let text = if args.json {
        format!("{:#}\n", report::json(&setup, &done))
    } else {
        report::text(&setup, &done, globals.color.for_stdout())
    };
    terminal::write_fitted(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn agent(asked: Option<&str>, programs: &Programs) -> Result<Agent, CliError> {
    let Some(name) = asked else {
        let found = FoundAgent::first(|name| programs.has(name));
        let installed = found.is_some();
        let name = found.as_ref().map_or("claude", |found| found.name).to_owned();
        return Ok(Agent { name, installed, others: found.map_or(Vec::new(), |f| f.others) });
    };
    if registry::NAMES.contains(&name) {
        let (installed, others) = (programs.has(name), Vec::new());
        return Ok(Agent { name: name.to_owned(), installed, others });
    }
    let error = CliError::usage(format!("flyball knows no agent `{name}`"));
    Err(match suggest::nearest(name, registry::NAMES.iter().copied()) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error.hint(format!("known: {}", registry::NAMES.join(", "))).hint(format!(
            "for any other, leave `--agent` out and set `agent.command` in {FILE_NAME}"
        )),
    })
}

/// The agent as one that hooks can be installed in.
fn hooked(agent: &str) -> Result<&'static str, CliError> {
    install::known(agent).ok_or_else(|| {
        CliError::usage(format!("`{agent}` has no hooks, and nothing was written"))
            .hint("`flyball init` without `--hooks`")
    })
}

fn refuse_to_overwrite(plan: &Plan) -> Result<(), CliError> {
    let names: Vec<String> =
        plan.overwritten().map(|path| format!("`{}`", path.display())).collect();
    if names.is_empty() {
        return Ok(());
    }
    let verb = if names.len() == 1 { "exists" } else { "exist" };
    Err(CliError::usage(format!("{} already {verb}, and nothing was written", names.join(" and ")))
        .hint("`flyball init --force` writes them anew; tasks, prd.md and progress.txt are kept"))
}

/// Reads a file as text; none when it does not exist.
fn read(path: &Path) -> Result<Option<String>, CliError> {
    files::optional(files::read_text(path, TASKS_MAX)).map_err(|error| {
        CliError::io(format!("`{}` could not be read", path.display())).cause(error)
    })
}
