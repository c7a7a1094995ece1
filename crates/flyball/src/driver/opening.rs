//! What is said when a run begins, and why one does not.

use flyball_core::RunId;
use flyball_core::event::{TasksSnapshot, WorktreeSnapshot};
use flyball_core::governor::StartProblem;
use flyball_core::tasklist::TaskList;

use super::setup::RunSetup;
use crate::config::{AgentSettings, Config, Permission};
use crate::error::CliError;
use crate::gate::GatePlan;
use crate::journal::LockError;
use crate::loopdir::LoopDir;
use crate::view::Opening;

/// An agent's own name, or the command that stands for it.
pub(super) fn name_words(agent: &AgentSettings) -> String {
    let is_described = agent.command.as_ref().is_none_or(|own| own.program() != agent.name);
    match &agent.command {
        Some(command) if !is_described => flyball_core::text::head(&command.to_string(), 60),
        Some(_) | None => agent.name.clone(),
    }
}

/// The agent in a few words: its name, or the command that stands for it.
pub(super) fn agent_words(config: &Config) -> String {
    let agent = &config.agent;
    let words = match &agent.command {
        Some(command) => command.to_string(),
        None => agent.name.clone(),
    };
    let model = agent.model.as_ref().map(|model| format!(" · {model}")).unwrap_or_default();
    format!("{}{model}", flyball_core::text::head(&words, 60))
}

/// Whether the agent asks before it acts, for one that flyball tells so.
pub(super) const fn permission_words(config: &Config) -> Option<&'static str> {
    match (&config.agent.command, config.agent.permission) {
        (Some(_), _) => None,
        (None, Permission::Skip) => Some("permissions skipped"),
        (None, Permission::Ask) => Some("permissions of its own"),
    }
}

pub(super) fn opening(run: &RunId, config: &Config, plan: &GatePlan, setup: &RunSetup) -> Opening {
    let stories = match &setup.tasks {
        TasksSnapshot::Found { text } => {
            TaskList::parse(text).ok().map(|list| list.counts(&config.policy.review))
        }
        TasksSnapshot::Absent | TasksSnapshot::Unreadable { .. } => None,
    };
    Opening {
        run: run.clone(),
        root: setup.worktree.root().to_string_lossy().into_owned(),
        agent: agent_words(config),
        permissions: permission_words(config),
        gates: plan.names().iter().map(ToString::to_string).collect(),
        stories,
        request: setup.request.clone(),
        notes: Vec::new(),
    }
}

/// What is not committed here is the agent's to commit, for it cannot tell it from its own work.
pub(super) fn uncommitted_words(snapshot: &WorktreeSnapshot, loop_dir: &LoopDir) -> Option<String> {
    let own = format!("{}/", loop_dir.relative());
    let files: Vec<&String> = snapshot
        .uncommitted
        .iter()
        .filter(|file| !file.starts_with(&own) && *file != crate::config::FILE_NAME)
        .collect();
    let first = files.first()?;
    let (count, verb) = match files.len() {
        1 => (format!("`{first}`"), "is"),
        more => (format!("{more} files (`{first}`, …)"), "are"),
    };
    Some(format!(
        "{count} {verb} not committed: the agent may commit that too; `--worktree` keeps it apart"
    ))
}

pub(super) fn stale_words(pid: u32) -> String {
    format!("an earlier run (process {pid}) ended without taking its sign down")
}

pub(super) fn already_running(error: LockError) -> CliError {
    match error {
        LockError::AlreadyRunning { ref run, .. } => CliError::already_running(error.to_string())
            .hint(format!("end it with `flyball stop {run}`")),
        LockError::Journal(error) => error.into(),
    }
}

/// Why a run cannot begin, and what to do about it.
pub(super) fn problem_error(problem: StartProblem, setup: &RunSetup) -> CliError {
    let path = setup.loop_dir.tasks_relative();
    let path = path.display();
    let message = problem.to_string();
    match problem {
        StartProblem::BadTasks(error) => {
            CliError::data(format!("the task list `{path}` cannot be used"))
                .cause(error)
                .hint("mend the file; flyball has not touched it")
                .hint("a bare list of stories, or one of another loop: `flyball init` adopts it")
        }
        StartProblem::UnreadableTasks(why) => {
            CliError::data(format!("the task list `{path}` cannot be read")).cause(why)
        }
        StartProblem::NothingToVerify if setup.request.is_some() => {
            CliError::config("no gate was found here, so nothing could ever verify the work")
                .hint(ADD_A_GATE)
                .hint("or believe the agent's word: --trust-claims")
        }
        StartProblem::NothingToVerify => CliError::config(message)
            .hint(format!("describe the work in `{path}`: `flyball init` writes one"))
            .hint(format!("or {ADD_A_GATE}"))
            .hint("or believe the agent's word: --trust-claims"),
        StartProblem::ExampleStory(_) => CliError::config(message)
            .hint(format!("write what is wanted into `{path}`"))
            .hint("or have it drafted: flyball plan \"…\", or add it: flyball tasks add \"…\"")
            .hint("or give one task alone: flyball run \"Fix the failing tests\""),
    }
}

const ADD_A_GATE: &str =
    "add a gate: [[gates.check]] name = \"tests\", command = \"…\" in flyball.toml";
