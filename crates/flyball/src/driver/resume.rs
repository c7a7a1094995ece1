//! A run goes on after flyball died, or after it had ended and a human wants more.

use flyball_core::event::{Resume, TasksSnapshot, WorktreeSnapshot};
use flyball_core::gate::TamperSight;
use flyball_core::governor::StartProblem;
use flyball_core::human::{HumanWish, LimitChange};
use flyball_core::policy::LimitRules;
use flyball_core::tasklist::TaskList;
use flyball_core::{Effect, Event, Governor, RunId};

use super::choice::check_limits;
use super::guards::GuardWatch;
use super::look::clear_locks;
use super::opening::{already_running, opening, problem_error};
use super::parts::Guarded;
use super::perform::io;
use super::setup::{Parts, Row, RunRequest, RunSetup, Started, enclose, first_look};
use super::wanted::Wanted;
use crate::clock::Clock;
use crate::config::{Config, Override, Sources, Value};
use crate::crash::CrashPoint;
use crate::error::CliError;
use crate::gate::GatePlan;
use crate::gate::tamper::{Beginning, Entry, Watch, repository_of};
use crate::journal::{Journal, RunSummary, lock_worktree, state_dir};
use crate::process::end_leftovers;
use crate::report::Reporter;
use crate::run_record::RunRecord;

/// The settings a run was started with, with the flags given now on top.
pub fn recorded_config(run: &RunId, sources: Sources) -> Result<Config, CliError> {
    let state = state_dir()?;
    let record = RunRecord::load(&state, run).map_err(|error| {
        CliError::no_input(format!("the settings of run `{run}` are gone")).cause(error)
    })?;
    let path = state.join("runs").join(format!("{run}.toml"));
    crate::files::write_whole(&path, &record.config).map_err(|e| io("read the settings", &e))?;
    let mut sources =
        Sources { project_file: Some(path.clone()), user_file: None, is_record: true, ..sources };
    let config = with_changed_limits(run, &mut sources).and_then(|()| sources.load());
    crate::files::remove(&path).ok();
    config
}

/// Limits that were changed while the run went on hold like those it was started with; flags given
/// now come after them.
fn with_changed_limits(run: &RunId, sources: &mut Sources) -> Result<(), CliError> {
    let wishes = Journal::open(&state_dir()?)?.wishes(run)?;
    let began = Sources { overrides: Vec::new(), ..sources.clone() }.load()?.policy;
    let mut policy = began.clone();
    for wish in wishes {
        if let HumanWish::ChangeLimits { limits } = wish
            && let Ok(changed) = LimitChange::applied(&limits, &policy)
        {
            policy = changed;
        }
    }
    let mut overrides = changed_limits(&began.limits, &policy.limits);
    overrides.append(&mut sources.overrides);
    sources.overrides = overrides;
    Ok(())
}

fn changed_limits(began: &LimitRules, now: &LimitRules) -> Vec<Override> {
    let count = |number: u64| Value::Number(number);
    let all = [
        ("limits.iterations", count(began.iterations.into()), count(now.iterations.into())),
        ("limits.stuck", count(began.stuck.into()), count(now.stuck.into())),
        ("limits.runtime", Value::Duration(began.runtime), Value::Duration(now.runtime)),
        ("limits.tokens", count(began.tokens), count(now.tokens)),
        ("limits.cost_usd", Value::Money(began.cost_usd), Value::Money(now.cost_usd)),
        (
            "limits.iteration_timeout",
            Value::Duration(began.iteration_timeout),
            Value::Duration(now.iteration_timeout),
        ),
        (
            "limits.stall_after",
            Value::Duration(began.stall_after),
            Value::Duration(now.stall_after),
        ),
        ("limits.wait", Value::Duration(began.wait), Value::Duration(now.wait)),
        ("limits.stop_grace", Value::Duration(began.stop_grace), Value::Duration(now.stop_grace)),
    ];
    let changed = all.into_iter().filter(|(_, began, now)| began != now);
    changed.map(|(key, _, value)| Override { key, value, flag: "`flyball limits`" }).collect()
}

impl RunRequest {
    /// Sets up an earlier run to go on.
    pub fn resume(self, run: &RunSummary) -> Result<Started, CliError> {
        let Self { dir, config, format, color, .. } = self;
        let id = run.run.clone();
        let record =
            RunRecord::load(&state_dir()?, &id).map_err(|e| io("read the run's settings", &e))?;
        let setup = RunSetup::gather(&dir, &config, record.request.clone())?;
        let lock =
            lock_worktree(&setup.state_dir, setup.worktree.root(), &id).map_err(already_running)?;
        let journal = Journal::open(&setup.state_dir)?;
        let is_closed = run.ended.is_some();
        if run.ending.as_ref().is_some_and(|ending| ending.outcome.is_success()) {
            return Err(CliError::usage(format!(
                "run `{id}` is complete; there is nothing to resume"
            ))
            .hint("flyball run starts a new one"));
        }
        let plan = GatePlan::of(record.gates())?;
        check_limits(&config, &*setup.adapter)?;
        let Replayed { governor, last_effects, snapshot: latest, guards, repaired } =
            replay(&journal, &id)?;
        let ended = end_leftovers(&id);
        let mut notes: Vec<String> = Vec::new();
        if !ended.is_empty() {
            notes.push(format!("{} left over from it ended", ended.len()));
        }
        notes.extend(clear_locks(&setup.worktree, &id, run.started)?);
        let private_dir = setup.state_dir.join("runs").join(id.as_str());
        let enclosure = enclose(&config, &setup, &private_dir)?;
        let (clock, crash) = (Clock::start(), CrashPoint::from_environment());
        let (policy, reporter) = (config.policy.clone(), Reporter::new(format, color));
        let run = id;
        let mut parts = Parts {
            run,
            config,
            plan,
            setup,
            journal,
            clock,
            lock,
            reporter,
            private_dir,
            crash,
            enclosure,
        };
        let Some(latest) = latest else {
            // It died before its first event: it has yet to begin.
            return parts.begin(Row::There, notes);
        };
        let kept_prompt = record.prompt.filter(|_| !is_closed);
        let entry = if is_closed { Entry::Anew } else { Entry::GoesOn };
        let found = parts.look_again(&latest, entry, kept_prompt)?;
        parts.go_on(&latest, notes)?;
        let mut driver = parts.assemble(governor, latest, found.guarded)?;
        driver.agent_side.guards = guards;
        if let Some(text) = &repaired {
            driver.places.loop_dir.remember_repair(text);
        }
        // All orders of an event are performed before the next is journalled: only the last
        // event's may be missing, and those that record something can be repeated.
        let now = driver.clock.now();
        for effect in last_effects.into_iter().filter(|effect| records(effect) && !is_closed) {
            driver.crash.here();
            driver.perform(now, effect)?;
            driver.crash.here();
        }
        // Only now: an answer whose removal was still to be done has been acted on.
        let mut human_files =
            driver.places.loop_dir.human_files().map_err(|e| io("read what humans left", &e))?;
        let repository = repository_of(&mut driver.journal, &driver.places.worktree)?;
        human_files.accepted_tamper = driver.journal.accepted_tamper(repository)?;
        let (tasks, tamper) = (found.tasks, found.tamper);
        let resume = Resume { policy, human_files, closed: is_closed, tasks, tamper };
        Ok(Started { driver, first: Event::RunResumed(Box::new(resume)) })
    }
}

/// What is found when a run goes on.
struct Found {
    guarded: Guarded,
    /// What people left, of a run that had ended.
    tasks: Option<TasksSnapshot>,
    tamper: Option<TamperSight>,
}

impl Parts {
    /// What people changed since a run ended is taken as it is; what a dead one left is not.
    fn look_again(
        &mut self,
        latest: &WorktreeSnapshot,
        entry: Entry,
        kept_prompt: Option<String>,
    ) -> Result<Found, CliError> {
        let Self { run, plan, setup, journal, clock, .. } = self;
        let now = match entry {
            Entry::Anew => Some(first_look(setup)?),
            Entry::GoesOn => None,
        };
        if let Some(TasksSnapshot::Found { text }) = now.as_ref().map(|now| &now.tasks) {
            TaskList::parse(text).map_err(|e| problem_error(StartProblem::BadTasks(e), setup))?;
        }
        let seen = now.as_ref().unwrap_or(latest);
        let (tree, head) = (seen.checkpoint_tree.as_str(), seen.head.as_deref());
        let of = Beginning { run, tree, head, plan, at: clock.now(), entry };
        let (watch, sight) = Watch::begin(journal, &setup.worktree, &of)?;
        let template = match kept_prompt {
            Some(template) => template,
            None => setup.prompt_template()?,
        };
        let guarded = Guarded { watch, template, wanted: Wanted::of(&setup.loop_dir) };
        let tamper = now.is_some().then_some(sight);
        Ok(Found { guarded, tasks: now.map(|now| now.tasks), tamper })
    }

    /// Says in the journal and to people that the run goes on.
    fn go_on(&mut self, latest: &WorktreeSnapshot, notes: Vec<String>) -> Result<(), CliError> {
        self.setup.worktree.remember(latest);
        let iterations = self.config.policy.limits.iterations;
        self.journal.resume_run(&self.run, std::process::id(), iterations)?;
        let mut told = opening(&self.run, &self.config, &self.plan, &self.setup);
        told.notes.extend(notes);
        told.notes.extend(self.enclosure.notes());
        self.reporter.opening(&told);
        Ok(())
    }
}

/// What the journal leads to.
#[derive(Default)]
struct Replayed {
    governor: Governor,
    /// The orders of the last event.
    last_effects: Vec<Effect>,
    snapshot: Option<WorktreeSnapshot>,
    guards: GuardWatch,
    /// The task list as flyball last repaired it.
    repaired: Option<String>,
}

fn replay(journal: &Journal, run: &RunId) -> Result<Replayed, CliError> {
    let mut replayed = Replayed::default();
    for entry in journal.events(run)? {
        let entry = entry?;
        replayed.last_effects = replayed.governor.step(entry.at, &entry.event);
        for effect in &replayed.last_effects {
            replayed.guards.take(effect);
            if let Effect::WriteTasks { text } = effect {
                replayed.repaired = Some(text.clone());
            }
        }
        match entry.event {
            Event::RunStarted(start) => replayed.snapshot = Some(start.snapshot),
            Event::WorktreeSeen { snapshot: seen, .. } => replayed.snapshot = Some(*seen),
            Event::RunResumed(_)
            | Event::Agent { .. }
            | Event::GatesFinished { .. }
            | Event::TimerFired { .. }
            | Event::StopRequested { .. }
            | Event::TimePassed
            | Event::StateReplaced { .. }
            | Event::HumanAsked { .. }
            | Event::ShellFailed { .. } => {}
        }
    }
    Ok(replayed)
}

/// Performs an effect again after a resume: only those that record something.
pub(super) fn records(effect: &Effect) -> bool {
    match effect {
        Effect::WriteTasks { .. }
        | Effect::WriteBlocked { .. }
        | Effect::WriteDecide { .. }
        | Effect::RemoveDecide
        | Effect::RecordAttempt(_)
        | Effect::RecordContext(_)
        | Effect::MarkTask { .. }
        | Effect::KeepTamper { .. }
        | Effect::CloseIteration(_) => true,
        Effect::StartAgent { .. }
        | Effect::SteerAgent { .. }
        | Effect::AnswerDoor { .. }
        | Effect::AnswerHuman { .. }
        | Effect::ExamineStop { .. }
        | Effect::AnswerStop { .. }
        | Effect::StopAgent { .. }
        | Effect::SnapshotWorktree { .. }
        | Effect::RunGates { .. }
        | Effect::SetTimer { .. }
        | Effect::Announce(_)
        | Effect::FinishRun(_) => false,
    }
}
