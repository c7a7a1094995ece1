//! Where a session works: the worktree, or a plain folder; what its gates are, and what stands around
//! the commands it runs.

use std::path::{Path, PathBuf};

use flyball_core::event::TasksSnapshot;
use flyball_core::gate::GateResult;
use flyball_core::tasklist::TaskList;
use flyball_core::worktree::WorktreeSnapshot;

use crate::clock;
use crate::config::Config;
use crate::error::CliError;
use crate::gate::{Cancel, GatePlan, GateRunner, Observe, TreeLook, tell_edits};
use crate::journal::{Journal, state_dir};
use crate::loopdir::LoopDir;
use crate::platform::Walls;
use crate::process;
use crate::sandbox::{self, Sandbox};
use crate::worktree::Worktree;

/// Where a session works.
pub(crate) struct Ground {
    /// Its top folder.
    pub(crate) root: PathBuf,
    pub(crate) loop_dir: LoopDir,
    /// What stands around its commands and gates; nothing in a run, which has walls of its own.
    pub(crate) walls: Option<Walls>,
    /// Variables set, or taken out, for its commands.
    pub(crate) env: Vec<(String, Option<String>)>,
    /// Whether there is a repository.
    is_repository: bool,
    config: Config,
}

impl Ground {
    /// The ground around this folder. Secrets of the session itself are kept from what it starts.
    pub(crate) fn around(dir: &Path, config: Config, secrets: &[String]) -> Result<Self, CliError> {
        let worktree = Worktree::open(dir).ok();
        let root = worktree.as_ref().map_or(dir, Worktree::root).canonicalize();
        let root = root.map_err(|error| {
            CliError::no_input(format!("`{}` cannot be worked in", dir.display())).cause(error)
        })?;
        let (walls, mut env) = held(&config, &root, worktree.as_ref())?;
        env.extend(secrets.iter().map(|name| (name.clone(), None)));
        let loop_dir = LoopDir::new(&root, &config.loop_dir, &config.tasks_file);
        let is_repository = worktree.is_some();
        Ok(Self { root, loop_dir, walls, env, is_repository, config })
    }

    /// The worktree, where there is a repository.
    pub(crate) fn worktree(&self) -> Result<Option<Worktree>, CliError> {
        if !self.is_repository {
            return Ok(None);
        }
        let max_file = self.config.checkpoints.max_file;
        let worktree = Worktree::open(&self.root)?.holding_files_up_to(max_file);
        if let Some(walls) = &self.walls {
            worktree.enclose(Walls { network: None, second_layer: false, ..walls.clone() });
        }
        Ok(Some(worktree))
    }

    /// The worktree as it stands; none without a repository.
    pub(crate) fn look(&self) -> Result<Option<WorktreeSnapshot>, CliError> {
        let Some(mut worktree) = self.worktree()? else { return Ok(None) };
        let (dir, tasks) = (self.loop_dir.relative(), self.loop_dir.tasks_relative());
        Ok(Some(worktree.snapshot(&dir, &tasks)?))
    }

    /// The gates of the project; none where there is no repository.
    pub(crate) fn gates(&self) -> Result<GatePlan, CliError> {
        if !self.is_repository {
            return GatePlan::of(Vec::new());
        }
        let verify = match self.loop_dir.tasks() {
            TasksSnapshot::Found { text } => TaskList::parse(&text)
                .map(|list| list.verify_commands().to_vec())
                .unwrap_or_default(),
            TasksSnapshot::Absent | TasksSnapshot::Unreadable { .. } => Vec::new(),
        };
        GatePlan::resolve(&self.config, &self.root, &verify)
    }

    /// Runs the gates that are not known for this tree; none when there are none, or they were ended.
    pub(crate) fn run_gates(
        &self,
        tree: &str,
        cancel: &Cancel,
        watch: Observe<'_>,
    ) -> Result<Option<GateResult>, CliError> {
        let plan = self.gates()?;
        if plan.is_empty() {
            return Ok(None);
        }
        let mut journal = Journal::open(&state_dir()?)?;
        let before = self.look()?;
        let mut runner = GateRunner::new(plan, &self.root);
        if let Some(worktree) = self.worktree()? {
            let (dir, tasks) = (self.loop_dir.relative(), self.loop_dir.tasks_relative());
            runner.look = Some(TreeLook::new(worktree, dir, tasks));
        }
        runner.parallel = self.config.gates.parallel;
        runner.walls.clone_from(&self.walls);
        runner.env.clone_from(&self.env);
        let Ok(mut result) = runner.run_known(&journal, tree, cancel, watch) else {
            return Ok(None);
        };
        let after = self.look()?;
        if let (Some(worktree), Some(before), Some(after)) = (self.worktree()?, &before, &after) {
            tell_edits(&mut result, &worktree, &self.loop_dir.relative(), (before, after));
        }
        // What was said while somebody changed the files is not said of this tree.
        if after.is_some_and(|look| look.code_tree == tree) {
            runner.store(&mut journal, clock::wall(), &result)?;
        }
        Ok(Some(result))
    }
}

/// What stands around a program a session starts, and what is changed in its environment. A profile
/// that was asked for and cannot be had is an error; a shield that cannot be had is none.
type Held = (Option<Walls>, Vec<(String, Option<String>)>);

fn held(config: &Config, root: &Path, worktree: Option<&Worktree>) -> Result<Held, CliError> {
    if process::enclosing_run().is_some() {
        return Ok((None, Vec::new()));
    }
    let state_dir = state_dir()?;
    let sandbox = Sandbox::decide(&config.sandbox, &state_dir)?;
    let git_dirs = worktree.map_or_else(Vec::new, |tree| {
        vec![tree.git_dir().to_path_buf(), tree.common_dir().to_path_buf()]
    });
    let (state_dir, private_dir, clients) = (state_dir.as_path(), None, Vec::new());
    let ground = sandbox::Ground { state_dir, private_dir, root, git_dirs, clients };
    let walls = sandbox
        .walls(&ground)
        .map_err(|error| CliError::io("the shield cannot be put up").cause(error))?;
    Ok((walls, sandbox.environment(&[])))
}
