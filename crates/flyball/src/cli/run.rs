//! `flyball run`: the arguments of the loop, and the settings they stand for.

pub mod request;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use flyball_core::{Millis, RunId};

use self::request::Wanted;
use super::aside::{self, Aside};
use super::detach::{self, Detach};
use super::{Format, Globals, found_agent, runs};
use crate::config::{CommandLine, Override, Sources, Value, duration};
use crate::driver::{self, RunRequest, Started};
use crate::error::CliError;
use crate::journal::{Journal, RunSummary, state_dir};
use crate::terminal;
use crate::worktree::Worktree;

/// Run the agent until the work is verifiably done
///
/// With TEXT that is the one task, beside any task list, and nothing need be set up before: agent and
/// gates are found. Without it the stories of the task list are worked on.
///
/// Exit codes: 0 complete (verified), 1 iterations used up, 2 blocked, 3 a decision is needed,
/// 4 stuck, 5 a budget is used up, 6 a guard stopped the run, 7 the agent cannot work.
#[derive(Clone, Debug, Default, Args)]
pub struct RunArgs {
    /// What is wanted.
    #[command(flatten)]
    pub wanted: Wanted,
    /// Limits of this run.
    #[command(flatten)]
    pub limits: RunLimits,
    /// Agent to run; sets `agent.name`
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Model to ask the agent for; sets `agent.model`
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// How the work is judged.
    #[command(flatten)]
    pub judging: RunJudging,
    /// What protects you from the agent: `workspace` or `offline`; sets `sandbox.profile`
    #[arg(long, value_name = "NAME", value_parser = ["off", "workspace", "offline"])]
    pub sandbox: Option<String>,
    /// Profile of settings to use, such as `overnight`
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Go on with an earlier run: its id, or `latest`
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "latest")]
    #[arg(conflicts_with_all = ["text", "file"])]
    pub resume: Option<String>,
    /// How the run is told: text on stderr, or JSON lines on stdout
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,
    /// Show what would be done: settings, gates, task and prompt; start nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Work in a git worktree of its own, on branch `flyball/NAME`; without NAME, the run's name. What
    /// has blanks is no name but the task: `--worktree "Fix the tests"`
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    #[arg(conflicts_with_all = ["resume", "dry_run"])]
    pub worktree: Option<String>,
    /// Whether it leaves this terminal.
    #[command(flatten)]
    pub detach: Detach,
    /// Any command to run as the agent; sets `agent.command`
    #[arg(last = true, value_name = "AGENT COMMAND")]
    pub command: Vec<String>,
}

/// Runs the loop; the outcome is the exit code.
pub fn run(args: &RunArgs, globals: &Globals) -> Result<ExitCode, CliError> {
    terminal::never_wait();
    let args = &args.as_meant();
    let dir = globals.start_dir()?;
    if args.detach.detach {
        let resumed = args.resume.as_ref().map(|wanted| earlier(&dir, wanted)).transpose()?;
        // Who has no terminal any more cannot be asked.
        let input = if args.wanted.is_input() { args.wanted.read(&dir)? } else { None };
        return detach::start(resumed.map(|found| found.run), input.as_deref(), args.format);
    }
    let name = args.detach.leave_terminal();
    let sources = args.sources(globals)?;
    let (format, color, notes) = (args.format, globals.color, Vec::new());
    let (started, run) = if let Some(wanted) = &args.resume {
        let found = earlier(&dir, wanted)?;
        let config = driver::recorded_config(&found.run, sources)?;
        let (dir, request) = (found.root.clone(), None);
        let request = RunRequest { dir, config, request, format, color, name, notes };
        (request.resume(&found)?, Some(found.run))
    } else {
        Worktree::open(&dir)?;
        let request = args.wanted.read(&dir)?;
        let (config, note) = found_agent::load(sources)?;
        globals.warn(&config);
        if args.dry_run {
            terminal::write_out(&driver::dry_run(&dir, &config, request.as_deref())?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let notes = note.into_iter().collect();
        let request = RunRequest { dir, config, request, format, color, name, notes };
        match &args.worktree {
            None => (request.start()?, None),
            Some(label) => {
                let (started, run) = apart(args, globals, (label, request))?;
                (started, Some(run))
            }
        }
    };
    let ending = started.driver.drive(started.first);
    if let Some(run) = &run {
        aside::say_next(run);
    }
    Ok(ExitCode::from(ending?.outcome.exit_code()))
}

/// Sets up a run in a worktree of its own; one that is refused leaves nothing of it.
fn apart(
    args: &RunArgs,
    globals: &Globals,
    (label, request): (&str, RunRequest),
) -> Result<(Started, RunId), CliError> {
    let run = request.name.clone().unwrap_or_else(driver::new_run_id);
    let aside = Aside::begin(&request.dir, (&run, label), &request.config)?;
    let started = aside.globals(globals).and_then(|globals| {
        let (config, note) = found_agent::load(args.sources(&globals)?)?;
        let notes = note.into_iter().chain(aside.notes()).collect();
        let (dir, name) = (aside.dir(), Some(run.clone()));
        RunRequest { dir, config, name, notes, ..request }.start()
    });
    match started {
        Ok(started) => Ok((started, run)),
        Err(error) => {
            aside.undo();
            Err(error)
        }
    }
}

/// The run meant by `--resume [RUN|latest]`; it must be one of this repository.
fn earlier(dir: &Path, wanted: &str) -> Result<RunSummary, CliError> {
    let journal = Journal::open(&state_dir()?)?;
    let root = Worktree::open(dir)?.root().to_path_buf();
    let asked = (wanted != "latest").then_some(wanted);
    let found = runs::find_or_latest(&journal, asked, || Ok(root.clone()))?;
    let is_apart = journal.apart(&found.run)?.is_some_and(|apart| apart.origin == root);
    if found.root == root || is_apart {
        return Ok(found);
    }
    let shown = found.root.display();
    Err(CliError::usage(format!("run `{}` belongs to `{shown}`", found.run))
        .hint(format!("flyball -C {shown} run --resume {}", found.run)))
}

/// Limits of one run.
#[derive(Clone, Debug, Default, Args)]
pub struct RunLimits {
    /// Iterations, 0 for no limit; sets `limits.iterations`
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<u32>,
    /// Run one iteration only; sets `limits.iterations` to 1
    #[arg(long, conflicts_with = "max_iterations")]
    pub once: bool,
    /// Iterations in a row without progress; sets `limits.stuck`
    #[arg(long, value_name = "N")]
    pub max_stuck: Option<u32>,
    /// Time such as 90m or 4h, 0 for no limit; sets `limits.runtime`
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub max_runtime: Option<Millis>,
    /// US dollars, 0 for no limit; sets `limits.cost_usd`
    #[arg(long, value_name = "USD", value_parser = money)]
    pub max_cost: Option<f64>,
    /// Tokens, 0 for no limit; sets `limits.tokens`
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
}

/// How the work is judged.
#[derive(Clone, Debug, Default, Args)]
pub struct RunJudging {
    /// Let stories pass without review; sets `review.enabled` to false
    #[arg(long)]
    pub skip_review: bool,
    /// Reviews after which a story is approved anyway; sets `review.cap`
    #[arg(long, value_name = "N")]
    pub review_cap: Option<u32>,
    /// Believe COMPLETE when there are neither tasks nor gates; sets `iterations.trust_claims`
    #[arg(long)]
    pub trust_claims: bool,
}

impl RunArgs {
    /// `--worktree "Fix the tests"` names the task: no branch has blanks in its name.
    fn as_meant(&self) -> Self {
        let mut args = self.clone();
        let is_task = |given: &mut String| given == "-" || given.contains(char::is_whitespace);
        if !args.wanted.is_given()
            && let Some(text) = args.worktree.take_if(is_task)
        {
            args.wanted.text = Some(text);
            args.worktree = Some(String::new());
        }
        args
    }

    /// The sources of the settings, with these flags.
    fn sources(&self, globals: &Globals) -> Result<Sources, CliError> {
        let mut sources = globals.sources()?;
        sources.overrides = self.overrides();
        sources.profile.clone_from(&self.profile);
        Ok(sources)
    }
    /// In place of a flag, for an agent that nobody named.
    pub(super) const FOUND: &str = "found on PATH";

    /// The settings these flags stand for.
    pub fn overrides(&self) -> Vec<Override> {
        let count = |number: Option<u32>| number.map(|number| Value::Number(number.into()));
        let text = |text: &Option<String>| text.clone().map(Value::Text);
        let RunLimits { max_iterations, once, max_stuck, max_runtime, max_cost, max_tokens } =
            &self.limits;
        let RunJudging { skip_review, review_cap, trust_claims } = &self.judging;
        let command = (!self.command.is_empty())
            .then(|| Value::Command(CommandLine::Argv(self.command.clone())));
        let given = [
            ("limits.iterations", count(*max_iterations), "--max-iterations"),
            ("limits.iterations", once.then_some(Value::Number(1)), "--once"),
            ("limits.stuck", count(*max_stuck), "--max-stuck"),
            ("limits.runtime", max_runtime.map(Value::Duration), "--max-runtime"),
            ("limits.cost_usd", max_cost.map(Value::Money), "--max-cost"),
            ("limits.tokens", max_tokens.map(Value::Number), "--max-tokens"),
            ("agent.name", text(&self.agent), "--agent"),
            ("agent.model", text(&self.model), "--model"),
            ("agent.command", command, "`-- <agent command>`"),
            ("sandbox.profile", text(&self.sandbox), "--sandbox"),
            ("review.enabled", skip_review.then_some(Value::Flag(false)), "--skip-review"),
            ("review.cap", count(*review_cap), "--review-cap"),
            (
                "iterations.trust_claims",
                trust_claims.then_some(Value::Flag(true)),
                "--trust-claims",
            ),
        ];
        given
            .into_iter()
            .filter_map(|(key, value, flag)| Some(Override { key, value: value?, flag }))
            .collect()
    }
}

fn time(text: &str) -> Result<Millis, String> {
    duration::parse(text).ok_or_else(|| "expected a time such as 90s, 90m, 1h30m or 0".to_owned())
}

fn money(text: &str) -> Result<f64, String> {
    let money = text.parse::<f64>().ok().filter(|money| money.is_finite() && *money >= 0.0);
    money.ok_or_else(|| "expected a sum in US dollars such as 5 or 5.00".to_owned())
}
