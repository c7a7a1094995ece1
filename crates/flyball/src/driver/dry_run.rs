//! `--dry-run`: what a run would do, without doing any of it.

use std::path::Path;

use flyball_core::IterationNo;
use flyball_core::event::TasksSnapshot;
use flyball_core::governor::StartProblem;
use flyball_core::task::Standing;
use flyball_core::tasklist::{Mode, TaskList};

use super::choice::{check_limits, traits};
use super::enclosure::{clients, git_dirs};
use super::perform::{io, permissions};
use super::setup::{RunSetup, agent_words, permission_words, problem_error};
use crate::client::{LaunchRequest, quoted};
use crate::config::Config;
use crate::error::CliError;
use crate::prompt::{Variables, default_template, render, task_words};
use crate::sandbox::{Ground, Sandbox};

/// What `--dry-run` shows: settings, gates, task and prompt. Starts and writes nothing.
pub fn dry_run(dir: &Path, config: &Config) -> Result<String, CliError> {
    let setup = RunSetup::gather(dir, config)?;
    let plan = setup.plan(config)?;
    check_limits(config, &*setup.adapter)?;
    let policy = config.policy.for_agent(&traits(config, &config.agent, &setup.adapter));
    let list = match &setup.tasks {
        TasksSnapshot::Found { text } => Some(
            TaskList::parse(text)
                .map_err(|error| problem_error(StartProblem::BadTasks(error), &setup.loop_dir))?,
        ),
        TasksSnapshot::Absent => None,
        TasksSnapshot::Unreadable { error } => {
            let problem = StartProblem::UnreadableTasks(error.clone());
            return Err(problem_error(problem, &setup.loop_dir));
        }
    };
    if list.is_none() && plan.is_empty() && !policy.iterations.trust_claims {
        return Err(problem_error(StartProblem::NothingToVerify, &setup.loop_dir));
    }
    let next = list.as_ref().and_then(|list| list.plan_next(&policy.review, |_| Standing::Open));
    let (mode, task) = next.map_or((Mode::Implement, None), |(m, s)| (m, Some(s.id.clone())));
    let template = setup.loop_dir.prompt().map_err(|e| io("read the prompt", &e))?;
    let template = template.unwrap_or_else(|| default_template(&setup.loop_dir.relative()));
    let words = task_words(list.as_ref(), task.as_ref());
    let prompt = render(
        &template,
        &Variables {
            iteration: IterationNo::new(1),
            max_iterations: policy.limits.iterations,
            mode,
            task: &words,
            briefing: "",
        },
    );
    let gates: Vec<String> =
        plan.gates().iter().map(|gate| format!("  {}: {}", gate.name, gate.command)).collect();
    let gates = if gates.is_empty() { "  none".to_owned() } else { gates.join("\n") };
    let task = task.map_or_else(|| "none (the prompt is the task)".to_owned(), |t| t.to_string());
    let permissions = permission_words(config).map(|words| format!(" · {words}"));
    let sandbox = Sandbox::decide(&config.sandbox, &setup.state_dir)?;
    let holds = sandbox.preview(&Ground {
        state_dir: &setup.state_dir,
        private_dir: None,
        root: setup.worktree.root(),
        git_dirs: git_dirs(&setup.worktree),
        clients: clients(config),
    });
    Ok(format!(
        "repository: {}\nagent: {}{}\ncommand: {}\ngates:\n{gates}\nlimits: {} iterations, runtime {}, stuck {}\n{}\n\
         next: {} {task}\nprompt:\n{prompt}\n",
        setup.worktree.root().display(),
        agent_words(config),
        permissions.unwrap_or_default(),
        command(config, &setup),
        policy.limits.iterations,
        policy.limits.runtime,
        policy.limits.stuck,
        holds.join("\n"),
        mode.as_str(),
    ))
}

/// The command line of a session, without its hooks; the prompt is left out.
fn command(config: &Config, setup: &RunSetup) -> String {
    let agent = &config.agent;
    let launch = setup.adapter.launch(&LaunchRequest {
        prompt: "PROMPT",
        model: agent.model.as_deref(),
        permissions: permissions(agent.permission),
        hooks: None,
        private_dir: Path::new("FOLDER"),
        worktree: setup.worktree.root(),
        program: agent.program.as_deref(),
        extra_args: &agent.args,
    });
    let words = agent.wrapper.iter().chain(&launch.argv).map(|word| quoted(word));
    words.collect::<Vec<_>>().join(" ")
}
