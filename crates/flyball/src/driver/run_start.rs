//! What a run begins with, as the governor and the journal are told.

use flyball_core::event::{RunStart, WorktreeSnapshot};
use flyball_core::{Moment, RunId};

use super::choice::traits;
use super::opening::{agent_words, name_words};
use super::perform::io;
use super::setup::RunSetup;
use crate::config::Config;
use crate::error::CliError;
use crate::gate::GatePlan;
use crate::gate::tamper::repository_of;
use crate::journal::{Journal, NewRun};

/// How many blockers with a way out a run is told of.
const KNOWN_MAX: usize = 50;

#[expect(clippy::too_many_arguments, reason = "the facts a run begins with, gathered once")]
pub(super) fn run_start(
    run: &RunId,
    config: &Config,
    plan: &GatePlan,
    snapshot: &WorktreeSnapshot,
    setup: &RunSetup,
    journal: &mut Journal,
    now: Moment,
) -> Result<RunStart, CliError> {
    let root = setup.worktree.root();
    let mut human_files =
        setup.loop_dir.human_files().map_err(|e| io("read what humans left", &e))?;
    let repository = repository_of(journal, &setup.worktree)?;
    human_files.accepted_tamper = journal.accepted_tamper(repository)?;
    let mut memory = journal.task_memory(root, now, config.policy.tasks.attempt_window)?;
    memory.known = journal.known_blockers()?;
    memory.known.retain(|one| !one.resolved.is_empty());
    memory.known.truncate(KNOWN_MAX);
    Ok(RunStart {
        run: run.clone(),
        policy: config.policy.clone(),
        gates: plan.names(),
        snapshot: snapshot.clone(),
        human_files,
        memory,
        agent: traits(config, &config.agent, &setup.adapter),
        other_agents: setup.other_traits(config),
        agent_names: config.agents().map(name_words).collect(),
        fallbacks: config.roles.fallbacks,
        review: config.roles.review,
        rescue: config.roles.rescue,
        request: setup.request.clone(),
    })
}

pub(super) fn new_run(run: &RunId, config: &Config, setup: &RunSetup, now: Moment) -> NewRun {
    NewRun {
        run: run.clone(),
        root: setup.worktree.root().to_path_buf(),
        agent: agent_words(config),
        pid: std::process::id(),
        started: now,
        max_iterations: config.policy.limits.iterations,
    }
}
