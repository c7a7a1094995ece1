//! A run is set up: configuration, repository, task list, gates, agent and lock, in this order, so
//! that whatever is wrong is said before anything is started or written.

use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;

use flyball_core::event::{AgentTraits, TasksSnapshot, WorktreeSnapshot};
use flyball_core::governor::start_problem;
use flyball_core::tasklist::TaskList;
use flyball_core::{Event, Governor, IterationNo, RunId};

use super::choice::{ChosenAgent, check_limits, choose, traits};
use super::enclosure::Enclosure;
use super::look::{Eyes, no_lock};
use super::opening::{already_running, opening, problem_error, stale_words, uncommitted_words};
use super::parts::{AgentSide, Guarded, Jobs, Mail, Pace, Places, Terms};
use super::perform::{io, private_folder};
use super::run_id::run_id_at;
use super::run_start::{new_run, run_start};
use super::timers::Timers;
use super::vault::VaultJob;
use super::wanted::Wanted;
use super::watchdog::{LastWord, Watchdog};
use super::{Driver, signals};
use crate::clock::Clock;
use crate::config::{Config, Detail};
use crate::crash::CrashPoint;
use crate::error::CliError;
use crate::gate::GatePlan;
use crate::gate::tamper::{Beginning, Entry, Watch};
use crate::journal::{Journal, RunSummary, lock_worktree, state_dir};
use crate::loopdir::{LoopDir, SUMMARY, from_here};
use crate::preflight::check_agents;
use crate::process::end_leftovers;
use crate::report::{Format, Reporter};
use crate::run_record::RunRecord;
use crate::sandbox::Sandbox;
use crate::telemetry::Telemetry;
use crate::terminal::ColorChoice;
use crate::worktree::Worktree;

/// How many happenings may wait; more hold the agent up instead of filling the memory.
const INBOX: usize = 64;

/// What `flyball run` was asked for.
pub struct RunRequest {
    /// Where.
    pub dir: PathBuf,
    /// With which settings.
    pub config: Config,
    /// The one task, when it is not the task list.
    pub request: Option<String>,
    /// How it is told.
    pub format: Format,
    /// In colour or not.
    pub color: ColorChoice,
    /// Its name, where that was given.
    pub name: Option<RunId>,
    /// What is said when it begins.
    pub notes: Vec<String>,
}

/// A run ready to be driven, and its first event.
pub struct Started {
    /// The driver.
    pub driver: Driver,
    /// What it is told first.
    pub first: Event,
}

/// Everything that is looked at before a run begins.
pub(super) struct RunSetup {
    pub(super) worktree: Worktree,
    pub(super) loop_dir: LoopDir,
    pub(super) tasks: TasksSnapshot,
    pub(super) state_dir: PathBuf,
    pub(super) adapter: ChosenAgent,
    pub(super) other_agents: Vec<ChosenAgent>,
    /// The one task, when it is not the task list.
    pub(super) request: Option<String>,
}

impl RunSetup {
    pub(super) fn gather(
        dir: &Path,
        config: &Config,
        request: Option<String>,
    ) -> Result<Self, CliError> {
        let max_file = config.checkpoints.max_file;
        let worktree = Worktree::open(dir)?.holding_files_up_to(max_file);
        let loop_dir = LoopDir::new(worktree.root(), &config.loop_dir, &config.tasks_file);
        let loop_dir = if request.is_some() { loop_dir.leaving_tasks() } else { loop_dir };
        let tasks = loop_dir.tasks();
        let adapter = choose(&config.agent)?;
        let other_agents = config.others.iter().map(choose).collect::<Result<_, _>>()?;
        let state_dir = state_dir()?;
        Ok(Self { worktree, loop_dir, tasks, state_dir, adapter, other_agents, request })
    }

    /// Refuses a run that could not come to anything, before anything is started or written.
    pub(super) fn check(&self, config: &Config, plan: &GatePlan) -> Result<Vec<String>, CliError> {
        if let Some(problem) = start_problem(&self.tasks, &plan.names(), &config.policy) {
            return Err(problem_error(problem, self));
        }
        check_limits(config, &*self.adapter)?;
        check_agents(config, self.worktree.root())
    }

    /// The prompt as people wrote it, or the usual one.
    pub(super) fn prompt_template(&self) -> Result<String, CliError> {
        if self.request.is_some() {
            return Ok(crate::prompt::request_template());
        }
        let template = self.loop_dir.prompt().map_err(|e| io("read the prompt", &e))?;
        let dir = self.loop_dir.relative();
        Ok(match template {
            None => crate::prompt::default_template(&dir),
            // Without a task list the prompt is the task, and says itself what it wants.
            Some(text) if self.tasks == TasksSnapshot::Absent => text,
            Some(text) if crate::prompt::places_task(&text) => text,
            Some(text) => crate::prompt::with_rules(&text, &dir),
        })
    }

    pub(super) fn other_traits(&self, config: &Config) -> Vec<AgentTraits> {
        let others = config.others.iter().zip(&self.other_agents);
        others.map(|(settings, agent)| traits(config, settings, agent)).collect()
    }

    pub(super) fn plan(&self, config: &Config) -> Result<GatePlan, CliError> {
        GatePlan::resolve(config, self.worktree.root(), &verify_commands(&self.tasks))
    }
}

pub(super) fn verify_commands(tasks: &TasksSnapshot) -> Vec<String> {
    match tasks {
        TasksSnapshot::Found { text } => {
            TaskList::parse(text).map(|list| list.verify_commands().to_vec()).unwrap_or_default()
        }
        TasksSnapshot::Absent | TasksSnapshot::Unreadable { .. } => Vec::new(),
    }
}

/// Ends what a run left that was killed together with its keeper. The worktree is locked: nobody else
/// is at work here.
fn end_lost(earlier: &RunSummary) -> Option<String> {
    let ended = if earlier.ended.is_none() { end_leftovers(&earlier.run) } else { Vec::new() };
    let count = flyball_core::text::count(ended.len() as u64, "process");
    let run = &earlier.run;
    (!ended.is_empty()).then(|| format!("{count} left over from {run}, which was lost, ended"))
}

impl RunRequest {
    /// Sets up a new run.
    pub fn start(self) -> Result<Started, CliError> {
        let Self { dir, config, request, format, color, name, mut notes } = self;
        let setup = RunSetup::gather(&dir, &config, request)?;
        let plan = setup.plan(&config)?;
        notes.extend(setup.check(&config, &plan)?);
        let clock = Clock::start();
        let run = name.unwrap_or_else(|| run_id_at(clock.now()));
        no_lock(&setup.worktree)?;
        let journal = Journal::open(&setup.state_dir)?;
        let lock = lock_worktree(&setup.state_dir, setup.worktree.root(), &run)
            .map_err(already_running)?;
        let private_dir = setup.state_dir.join("runs").join(run.as_str());
        let enclosure = enclose(&config, &setup, &private_dir)?;
        let stale = setup.loop_dir.stale_active();
        setup.loop_dir.prepare().map_err(|e| io("make the loop folder", &e))?;
        let earlier = journal.latest_run(setup.worktree.root())?;
        notes.extend(earlier.as_ref().and_then(end_lost));
        let earlier = earlier.map_or_else(|| "earlier".to_owned(), |run| run.run.to_string());
        notes.extend(stale.map(stale_words));
        let (reporter, crash) = (Reporter::new(format, color), CrashPoint::from_environment());
        let folder = private_dir.clone();
        let parts = Parts {
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
        parts.begin(Row::New { earlier }, notes).inspect_err(|_| drop_folder(&folder))
    }
}

/// Whether the journal has a row for the run that begins.
pub(super) enum Row {
    /// Not yet; the logs of the run before are put away first.
    New { earlier: String },
    /// Its flyball died between that and the first event.
    There,
}

/// Everything a driver is made of.
pub(super) struct Parts {
    pub(super) run: RunId,
    pub(super) config: Config,
    pub(super) plan: GatePlan,
    pub(super) setup: RunSetup,
    pub(super) journal: Journal,
    pub(super) clock: Clock,
    pub(super) lock: crate::journal::WorktreeLock,
    pub(super) reporter: Reporter,
    pub(super) private_dir: PathBuf,
    pub(super) crash: CrashPoint,
    pub(super) enclosure: Enclosure,
}

impl Parts {
    /// Begins the run. What it is started with is kept before the journal knows of it, so that there
    /// is no moment at which it could not go on.
    #[expect(clippy::needless_pass_by_value, reason = "it is taken over")]
    pub(super) fn begin(mut self, row: Row, notes: Vec<String>) -> Result<Started, CliError> {
        let Self { run, config, plan, setup, journal, clock, crash, enclosure, .. } = &mut self;
        let mut snapshot = first_look(setup)?;
        let template = setup.prompt_template()?;
        let (tree, head) = (snapshot.checkpoint_tree.as_str(), snapshot.head.as_deref());
        let of = Beginning { run, tree, head, plan, at: clock.now(), entry: Entry::Anew };
        let (watch, sight) = Watch::begin(journal, &setup.worktree, &of)?;
        snapshot.tamper = sight;
        let guarded = Guarded { watch, template, wanted: Wanted::of(&setup.loop_dir) };
        let start = run_start(run, config, plan, &snapshot, setup, journal, clock.now())?;
        if let Row::New { earlier } = &row {
            let rotated = setup.loop_dir.rotate_logs(earlier);
            rotated.map_err(|e| io("move the earlier logs", &e))?;
            setup.loop_dir.sweep_responses(clock.now());
        }
        let settings = config.to_toml(Detail::Values);
        let mut record = RunRecord::new(settings, plan, &snapshot.checkpoint_tree)
            .with_prompt(&guarded.template);
        record.request.clone_from(&setup.request);
        record.holds = enclosure.notes();
        record.save(&setup.state_dir, run).map_err(|e| io("keep the run's settings", &e))?;
        match row {
            Row::New { .. } => journal.start_run(&new_run(run, config, setup, clock.now()))?,
            Row::There => {
                journal.resume_run(run, std::process::id(), config.policy.limits.iterations)?;
            }
        }
        crash.here();
        setup.worktree.checkpoint(run, IterationNo::BASELINE, &snapshot.checkpoint_tree)?;
        crash.here();
        let mut told = opening(run, config, plan, setup);
        told.notes.extend(notes);
        told.notes.extend(uncommitted_words(&snapshot, &setup.loop_dir));
        told.notes.extend(enclosure.notes());
        self.reporter.opening(&told);
        let driver = self.assemble(Governor::new(), snapshot, guarded)?;
        Ok(Started { driver, first: Event::RunStarted(Box::new(start)) })
    }

    pub(super) fn assemble(
        mut self,
        governor: Governor,
        latest: WorktreeSnapshot,
        guarded: Guarded,
    ) -> Result<Driver, CliError> {
        let (outbox, inbox) = sync_channel(INBOX);
        let last_word = LastWord {
            run: self.run.clone(),
            log: Some(from_here(&self.setup.loop_dir.file(SUMMARY))),
            private_dir: self.private_dir.clone(),
            max_iterations: self.config.policy.limits.iterations,
        };
        let watchdog = Watchdog::begin(self.clock, last_word)
            .map_err(|error| io("watch over the run", &error))?;
        signals::listen(outbox.clone(), watchdog.bell())?;
        let mut journal = self.journal;
        journal.hurried_by(watchdog.hurry());
        let now = self.clock.now();
        let logs = self.setup.loop_dir.clone();
        let worktree = self.setup.worktree.beside();
        let (loop_dir, run) = (self.setup.loop_dir.clone(), self.run.clone());
        let mut eyes =
            Eyes::new(self.setup.worktree, loop_dir, run, (guarded.clone(), self.plan.clone()));
        // What is there before the agent is the user's own.
        eyes.worktree.newly_planted()?;
        for note in eyes.left_out() {
            self.reporter.note(IterationNo::BASELINE, &note);
        }
        let vault = if self.config.checkpoints.vault {
            let (state, run) = (self.setup.state_dir.clone(), self.run.clone());
            let there = eyes.worktree.deposits(&run)?;
            VaultJob::start(state, worktree.beside(), (run, there), outbox.clone())
        } else {
            None
        };
        Ok(Driver {
            run: self.run,
            governor,
            journal,
            clock: self.clock,
            terms: Terms {
                config: self.config,
                plan: self.plan,
                request: self.setup.request,
                guarded,
                enclosure: self.enclosure,
            },
            places: Places {
                worktree,
                loop_dir: self.setup.loop_dir,
                state_dir: self.setup.state_dir,
                private_dir: self.private_dir,
                _lock: self.lock,
            },
            adapter: self.setup.adapter,
            agent: 0,
            agent_side: AgentSide::default(),
            jobs: Jobs {
                eyes: Some(eyes),
                look: None,
                latest,
                vault,
                gates: None,
                stops: std::collections::BTreeMap::new(),
            },
            mail: Mail { inbox, outbox, queue: std::collections::VecDeque::new() },
            pace: Pace { watchdog, timers: Timers::default(), next_beat: now, journalled: now },
            reporter: self.reporter,
            telemetry: Telemetry::new(logs),
            #[cfg(feature = "otel")]
            beside: None,
            ending: None,
            crash: self.crash,
            is_tampered: false,
        })
    }
}

/// What holds the run's programs, git among them: before it looks at what agents of earlier runs
/// left.
pub(super) fn enclose(
    config: &Config,
    setup: &RunSetup,
    private_dir: &Path,
) -> Result<Enclosure, CliError> {
    let sandbox = Sandbox::decide(&config.sandbox, &setup.state_dir)?;
    private_folder(private_dir).map_err(|e| io("make the run's folder", &e))?;
    Enclosure::set_up(sandbox, config, setup, private_dir).inspect_err(|_| drop_folder(private_dir))
}

/// Removes the folder of a run that does not begin.
pub(super) fn drop_folder(private_dir: &Path) {
    std::fs::remove_dir_all(private_dir).ok();
}

pub(super) fn first_look(setup: &mut RunSetup) -> Result<WorktreeSnapshot, CliError> {
    let (dir, tasks) = (setup.loop_dir.relative(), setup.loop_dir.tasks_relative());
    let mut snapshot = setup.worktree.snapshot(&dir, &tasks)?;
    snapshot.tasks = setup.tasks.clone();
    Ok(snapshot)
}
