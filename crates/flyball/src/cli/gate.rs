//! `flyball gate`: runs the gates now, without a run. Decides nothing but its exit code.

mod answer;
mod interrupt;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use flyball_core::GateName;
use flyball_core::gate::GateResult;
use flyball_core::tasklist::TaskList;

pub(super) use self::answer::progress_line;
pub(super) use self::interrupt::Interrupt;
use super::Globals;
use crate::clock;
use crate::config::{Config, suggest};
use crate::error::CliError;
use crate::files;
use crate::gate::{GatePlan, GateRunner, TreeLook, tell_edits};
use crate::journal::{Journal, state_dir};
use crate::loopdir::TASKS_MAX;
use crate::platform::Walls;
use crate::process;
use crate::sandbox::{Ground, Sandbox};
use crate::terminal::{self, Paint};
use crate::worktree::Worktree;

/// Run the gates now
///
/// Exits with 0 when all are green. Usable as a CI step, a git hook or an agent's stop hook.
#[derive(Clone, Debug, Default, Args)]
pub struct GateArgs {
    /// Gates to run; without names, all of them
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Print JSON; the same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// How findings are written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: GateFormat,
    /// Run even when the result for this tree is known
    #[arg(long)]
    pub no_cache: bool,
}

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GateFormat {
    /// For people and agents.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// GitHub workflow annotations.
    Github,
}

impl GateArgs {
    /// The format that was asked for in either way.
    pub const fn chosen_format(&self) -> GateFormat {
        if self.json { GateFormat::Json } else { self.format }
    }
}

/// Runs the gates and says what they found.
pub fn run(args: &GateArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    match examine(args, globals)? {
        Examined::Ran(result) => {
            terminal::write_out(&answer::render(&result, args.chosen_format()))?;
            Ok(ExitCode::from(u8::from(!result.is_green())))
        }
        Examined::Interrupted(code) => Ok(code),
    }
}

/// What came of running the gates.
pub(super) enum Examined {
    /// They ran to their end.
    Ran(GateResult),
    /// They were interrupted, and this is the code to exit with.
    Interrupted(ExitCode),
}

/// Runs the gates, with their progress on standard error.
pub(super) fn examine(args: &GateArgs, globals: &Globals) -> Result<Examined, CliError> {
    let sources = globals.sources()?;
    let worktree = Worktree::open(&globals.start_dir()?)?;
    let config = sources.load()?;
    globals.warn(&config);
    let mut worktree = worktree.holding_files_up_to(config.checkpoints.max_file);
    let root = worktree.root().to_path_buf();
    let plan = GatePlan::resolve(&config, &root, &verify_commands(&config, &root)?)?;
    let only = chosen(&plan, &args.names)?;
    let parallel = config.gates.parallel;
    let walls = walls(&config, &worktree);
    if let Some(walls) = &walls {
        worktree.enclose(walls.clone());
    }
    let look = Some(TreeLook::new(worktree.beside(), loop_dir(&config), tasks_file(&config)));
    let runner = GateRunner { only, parallel, look, walls, ..GateRunner::new(plan, &root) };
    let interrupt = Interrupt::listen()
        .map_err(|error| CliError::io("signals could not be listened to").cause(error))?;
    let paint = globals.color.for_stderr();
    let Some(result) = result(args, &runner, (&mut worktree, &config), (&interrupt, paint))? else {
        terminal::write_err("interrupted: everything that ran was ended\n");
        return Ok(Examined::Interrupted(interrupt.exit_code()));
    };
    Ok(Examined::Ran(result))
}

/// What holds the gates: what an agent wrote runs in them. Inside of a run it is there already.
fn walls(config: &Config, worktree: &Worktree) -> Option<Walls> {
    let state_dir = state_dir().ok().filter(|_| process::enclosing_run().is_none())?;
    let sandbox = Sandbox::decide_for_command(&config.sandbox, &state_dir);
    let ground = Ground {
        state_dir: &state_dir,
        private_dir: None,
        root: worktree.root(),
        git_dirs: vec![worktree.git_dir().to_path_buf(), worktree.common_dir().to_path_buf()],
        clients: Vec::new(),
    };
    // Gates of a human are not the agent's: where nothing can hold them they run all the same.
    sandbox.walls(&ground).ok().flatten()
}

/// Runs the gates, with the journal as their memory where there is one. None when interrupted.
fn result(
    args: &GateArgs,
    runner: &GateRunner,
    (worktree, config): (&mut Worktree, &Config),
    (interrupt, paint): (&Interrupt, Paint),
) -> Result<Option<GateResult>, CliError> {
    let observe = |progress| terminal::write_err(&progress_line(&progress, paint));
    let (dir, tasks) = (loop_dir(config), tasks_file(config));
    let before = worktree.snapshot(&dir, &tasks)?;
    let tree = &before.code_tree;
    let mut journal = open_journal(paint);
    let cancel = interrupt.cancel();
    let ran = match &journal {
        Some(journal) if !args.no_cache => runner.run_known(journal, tree, cancel, &observe),
        Some(_) | None => runner.run(tree, cancel, &observe),
    };
    let Ok(result) = ran else { return Ok(None) };
    let mut result = match &journal {
        Some(journal) if args.no_cache => runner.beside_earlier(journal, result),
        Some(_) | None => result,
    };
    let after = worktree.snapshot(&dir, &tasks)?;
    tell_edits(&mut result, worktree, &dir, (&before, &after));
    if let Some(words) = result.edited_words() {
        warn(paint, &words);
    }
    // What was said while someone changed the files is not said of this tree.
    if let Some(journal) = &mut journal
        && after.code_tree == *tree
        && let Err(error) = runner.store(journal, clock::wall(), &result)
    {
        warn(paint, &format!("the results were not stored: {error}"));
    }
    Ok(Some(result))
}

fn loop_dir(config: &Config) -> String {
    config.loop_dir.to_string_lossy().into_owned()
}

fn tasks_file(config: &Config) -> PathBuf {
    config.loop_dir.join(&config.tasks_file)
}

/// The journal; without one the gates simply run.
fn open_journal(paint: Paint) -> Option<Journal> {
    match state_dir().and_then(|dir| Journal::open(&dir)) {
        Ok(journal) => Some(journal),
        Err(error) => {
            warn(paint, &format!("results are neither looked up nor stored: {error}"));
            None
        }
    }
}

fn warn(paint: Paint, text: &str) {
    terminal::write_err(&format!("{} {text}\n", paint.yellow("warning:")));
}

/// The task list's own gates; none without a task list.
fn verify_commands(config: &Config, root: &Path) -> Result<Vec<String>, CliError> {
    let path = tasks_file(config);
    let shown = path.display();
    let found = files::optional(files::read_text(&root.join(&path), TASKS_MAX))
        .map_err(|error| CliError::io(format!("`{shown}` could not be read")).cause(error))?;
    let Some(text) = found else { return Ok(Vec::new()) };
    TaskList::parse(&text)
        .map(|tasks| tasks.verify_commands().to_vec())
        .map_err(|error| CliError::data(format!("`{shown}` is no task list")).cause(error))
}

/// The gates that were asked for, when there are such gates.
fn chosen(plan: &GatePlan, names: &[String]) -> Result<Vec<GateName>, CliError> {
    if plan.is_empty() {
        return Err(no_gates());
    }
    if let Some(unknown) = names.iter().find(|name| plan.gate(name).is_none()) {
        let known: Vec<String> = plan.names().iter().map(|name| format!("`{name}`")).collect();
        let error = CliError::usage(format!("there is no gate `{unknown}`"))
            .hint(format!("the gates are {}", known.join(", ")));
        let plain = plan.gates().iter().map(|gate| gate.name.as_str());
        return Err(match suggest::nearest(unknown, plain) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error,
        });
    }
    Ok(names.iter().map(GateName::new).collect())
}

fn no_gates() -> CliError {
    CliError::config("there is no gate: none is configured, and none fits what was found here")
        .hint("add one to flyball.toml:")
        .hint("  [[gates.check]]")
        .hint("  name = \"tests\"")
        .hint("  command = \"…\"")
}
