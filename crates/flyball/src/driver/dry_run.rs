//! `--dry-run`: what a run would do, without doing any of it.

use std::path::Path;

use flyball_core::IterationNo;
use flyball_core::event::TasksSnapshot;
use flyball_core::task::Standing;
use flyball_core::tasklist::{Mode, TaskList};

use super::choice::traits;
use super::enclosure::{clients, git_dirs};
use super::launching::permissions;
use super::opening::{agent_words, permission_words};
use super::perform::io;
use super::setup::RunSetup;
use crate::client::{LaunchRequest, quoted};
use crate::config::Config;
use crate::error::CliError;
use crate::prompt::{Variables, render, task_words};
use crate::sandbox::{Ground, Sandbox};
use crate::view::words::line;

/// What `--dry-run` shows: settings, gates, task and prompt. Starts and writes nothing.
pub fn dry_run(dir: &Path, config: &Config, request: Option<&str>) -> Result<String, CliError> {
    let setup = RunSetup::gather(dir, config, request.map(str::to_owned))?;
    let plan = setup.plan(config)?;
    setup.check(config, &plan)?;
    let policy = config.policy.for_agent(&traits(config, &config.agent, &setup.adapter));
    let list = match &setup.tasks {
        TasksSnapshot::Found { text } => TaskList::parse(text).ok(),
        TasksSnapshot::Absent | TasksSnapshot::Unreadable { .. } => None,
    };
    let next = list.as_ref().and_then(|list| list.plan_next(&policy.review, |_| Standing::Open));
    let (mode, task) = next.map_or((Mode::Implement, None), |(m, s)| (m, Some(s.id.clone())));
    let template = setup.prompt_template()?;
    let words = task_words(list.as_ref(), task.as_ref());
    let prompt = render(
        &template,
        &Variables {
            iteration: IterationNo::new(1),
            max_iterations: policy.limits.iterations,
            mode,
            task: &words,
            briefing: "",
            request: request.unwrap_or(""),
        },
    );
    let gates: Vec<String> =
        plan.gates().iter().map(|gate| format!("  {}: {}", gate.name, gate.command)).collect();
    let gates = if gates.is_empty() { "  none".to_owned() } else { gates.join("\n") };
    let task = match (task, request) {
        (Some(task), _) => task.to_string(),
        (None, Some(request)) => line(request, 60),
        (None, None) => "none (the prompt is the task)".to_owned(),
    };
    let permissions = permission_words(config).map(|words| format!(" · {words}"));
    let sandbox = Sandbox::decide(&config.sandbox, &setup.state_dir)?;
    let holds = sandbox.preview(&Ground {
        state_dir: &setup.state_dir,
        private_dir: None,
        root: setup.worktree.root(),
        git_dirs: git_dirs(&setup.worktree),
        clients: clients(config),
    });
    let waiting = waiting(&setup)?;
    let iterations = match policy.limits.iterations {
        0 => "no limit of iterations".to_owned(),
        most => flyball_core::text::count(most.into(), "iteration"),
    };
    Ok(format!(
        "repository: {}\nagent: {}{}\ncommand: {}\ngates:\n{gates}\nlimits: {iterations}, runtime {}, stuck {}\n{}\n\
         {waiting}next: {} {task}\nprompt:\n{prompt}\n",
        setup.worktree.root().display(),
        agent_words(config),
        permissions.unwrap_or_default(),
        command(config, &setup),
        policy.limits.runtime,
        policy.limits.stuck,
        holds.join("\n"),
        mode.as_str(),
    ))
}

/// What a human left, or has yet to do: an answer goes into the first briefing, a question or a
/// blocker without one ends the run at once (B2).
fn waiting(setup: &RunSetup) -> Result<String, CliError> {
    let found = setup.loop_dir.human_files().map_err(|e| io("read what humans left", &e))?;
    let said = |text: &str| line(text, 400);
    Ok(match (&found.blocked, &found.question, &found.answer) {
        (Some(reason), ..) => {
            format!("blocked: {}; a run would end at once, `flyball unblock`\n", said(reason))
        }
        (None, question, Some(answer)) => {
            let to = question.as_ref().map(|q| format!(" to: {}", said(q))).unwrap_or_default();
            format!("answer: {} (goes into the first briefing){to}\n", said(answer))
        }
        (None, Some(question), None) => {
            format!("question: {}; a run would end at once, `flyball answer`\n", said(question))
        }
        (None, None, None) => String::new(),
    })
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
