//! The only loop: whatever happens becomes an event, is stamped, journalled, given to the governor,
//! and the orders that come back are performed.
//!
//! Nothing in here decides. An event is written before it is acted on, and all orders of one event
//! are performed before the next is taken, so a resume has only the last event's orders to repeat.

mod choice;
mod crash;
mod door;
mod draft;
mod dry_run;
mod enclosure;
mod fault;
mod finishing;
mod gates;
mod guards;
mod human;
mod look;
mod opening;
mod perform;
mod resume;
mod session;
mod session_files;
mod setup;
mod signals;
mod steer;
mod timers;
mod usage_file;
mod vault;
mod wanted;
mod watchdog;

use std::collections::{BTreeMap, VecDeque};
use std::mem::take;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use flyball_core::effect::{Ending, Force};
use flyball_core::event::{ExitHow, StopCause, StopExamined, WorktreeSnapshot};
use flyball_core::gate::{Finding, GateResult};
use flyball_core::{AgentFact, Event, Governor, IterationNo, Millis, Moment, RunId};

use self::crash::CrashPoint;
use self::door::DoorWatch;
pub use self::draft::{DraftRequest, Drafted};
pub use self::dry_run::dry_run;
use self::enclosure::Enclosure;
use self::gates::GateJob;
use self::guards::GuardWatch;
use self::look::{EndedBy, Eyes, LookJob, Looked};
pub use self::resume::recorded_config;
use self::session::Session;
use self::setup::Guarded;
pub use self::setup::{RunRequest, Started, new_run_id};
use self::timers::Timers;
use self::vault::VaultJob;
use self::watchdog::Watchdog;
use crate::client::{AgentNote, Fact};
use crate::clock::Clock;
use crate::config::Config;
use crate::door::Knocked;
use crate::error::CliError;
use crate::gate::{GatePlan, GateProgress};
use crate::journal::{Journal, RunProgress, WorktreeLock};
use crate::loopdir::LoopDir;
use crate::process::ProcessEvent;
use crate::report::Reporter;
use crate::telemetry::Telemetry;
use crate::worktree::Worktree;

/// How often requests of other processes and signs of life are looked for.
const HEARTBEAT: Millis = Millis::new(500);

/// The longest time without an event in the journal: at most so much runtime a death can hide.
const QUIET: Millis = Millis::from_secs(30);

/// Something that happened outside.
enum DriverInput {
    /// The agent process of this start did something.
    Agent { start: u64, event: ProcessEvent },
    /// A gate began or ended.
    GateProgress(GateProgress),
    /// The gates are done.
    GatesDone { iteration: IterationNo, result: GateResult, tamper: Vec<Finding> },
    /// The worktree was looked at.
    Looked { iteration: IterationNo, looked: Box<Looked> },
    /// What an agent leaves that wants to stop was looked at.
    StopExamined { iteration: IterationNo, asking: u64, found: Option<StopExamined> },
    /// Something that people should know.
    Note(String),
    /// A signal came.
    Stop(StopCause),
    /// The terminal has another width.
    Resized,
    /// Someone asks at the session's door.
    Knocked(Knocked),
}

/// What the agent did, on its way to the journal or only to the terminal.
enum AgentReport {
    Event(Box<Event>),
    AgentNote(AgentNote),
}

/// One run under way.
pub struct Driver {
    governor: Governor,
    journal: Journal,
    watchdog: Watchdog,
    clock: Clock,
    run: RunId,
    config: Config,
    adapter: choice::ChosenAgent,
    /// Which agent that is: 0 is the configured one, then its fallbacks.
    agent: u32,
    plan: GatePlan,
    worktree: Worktree,
    /// Not there while a look is under way.
    eyes: Option<Eyes>,
    look_job: Option<LookJob>,
    vault: Option<VaultJob>,
    loop_dir: LoopDir,
    state_dir: PathBuf,
    /// A folder of this run's own in the state folder: prompts, hook settings.
    private_dir: PathBuf,
    reporter: Reporter,
    telemetry: Telemetry,
    timers: Timers,
    inbox: Receiver<DriverInput>,
    outbox: SyncSender<DriverInput>,
    queue: VecDeque<Event>,
    session: Option<Session>,
    doors: DoorWatch,
    /// What each guard did in this run.
    guards: GuardWatch,
    starts: u64,
    gate_job: Option<GateJob>,
    /// Looks at what agents leave that want to stop, by question.
    stop_jobs: BTreeMap<u64, GateJob>,
    /// The one task it was given on the command line.
    request: Option<String>,
    /// What was there when the run began, and is not the agent's to change.
    guarded: Guarded,
    latest: WorktreeSnapshot,
    ending: Option<Ending>,
    next_beat: Moment,
    /// When the last event was written.
    journalled: Moment,
    crash: CrashPoint,
    /// What holds agents and gates.
    enclosure: Enclosure,
    /// Whether flyball's own state was replaced: said once, and then it is over.
    is_tampered: bool,
    /// Held as long as the run lives: nobody else runs here.
    _lock: WorktreeLock,
}

impl Driver {
    /// Drives the run to its end. When flyball itself fails on the way, the run ends with what is
    /// known, and is told as ended too.
    pub fn drive(mut self, first: Event) -> Result<Ending, CliError> {
        self.queue.push_back(first);
        match self.drive_on() {
            Ok(ending) => Ok(ending),
            Err(error) => self.fail(error),
        }
    }

    fn drive_on(&mut self) -> Result<Ending, CliError> {
        loop {
            match self.turn() {
                Ok(Some(ending)) => return Ok(ending),
                Ok(None) => {}
                // What fails because the state folder was swapped is told as that.
                Err(error) => {
                    if self.is_state_ours()? {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Takes what waits, then the next thing that happens.
    fn turn(&mut self) -> Result<Option<Ending>, CliError> {
        while let Some(event) = self.queue.pop_front() {
            self.take(&[event])?;
        }
        if let Some(ending) = self.ending.take() {
            return Ok(Some(ending));
        }
        self.wait().map(|()| None)
    }

    /// Journals events and acts on each.
    fn take(&mut self, events: &[Event]) -> Result<(), CliError> {
        if !self.is_state_ours()? {
            return Ok(());
        }
        let now = self.write(&events.iter().collect::<Vec<_>>())?;
        for event in events {
            self.act(now, event)?;
        }
        self.show_state(now)
    }

    /// Journals events; says when.
    fn write(&mut self, events: &[&Event]) -> Result<Moment, CliError> {
        let now = self.clock.now();
        let stamped: Vec<(Moment, &Event)> = events.iter().map(|event| (now, *event)).collect();
        if !stamped.is_empty() {
            self.journal.append_all(&self.run, &stamped)?;
            self.journalled = now;
        }
        Ok(now)
    }

    /// Acts on a journalled event.
    fn act(&mut self, now: Moment, event: &Event) -> Result<(), CliError> {
        self.reporter.event(now, event);
        for effect in self.governor.step(now, event) {
            self.crash.here();
            self.guards.take(&effect);
            self.reporter.effect(now, &effect);
            self.perform(now, effect)?;
            self.crash.here();
        }
        Ok(())
    }

    /// Takes what the agent did: its events are journalled together, and everything is told and
    /// acted on in the order it came.
    fn take_facts(&mut self, iteration: IterationNo, facts: Vec<Fact>) -> Result<(), CliError> {
        if !self.is_state_ours()? {
            return Ok(());
        }
        let told: Vec<AgentReport> = facts
            .into_iter()
            .map(|fact| match fact {
                Fact::Agent(fact) => {
                    let fact = self.saying_how_to_log_in(fact);
                    AgentReport::Event(Box::new(Event::Agent { iteration, fact }))
                }
                Fact::AgentNote(aside) => AgentReport::AgentNote(aside),
            })
            .collect();
        let events: Vec<&Event> = told
            .iter()
            .filter_map(|told| match told {
                AgentReport::Event(event) => Some(event.as_ref()),
                AgentReport::AgentNote(_) => None,
            })
            .collect();
        let now = self.write(&events)?;
        for told in &told {
            match told {
                AgentReport::Event(event) => self.act(now, event)?,
                AgentReport::AgentNote(aside) => self.reporter.aside(iteration, aside),
            }
        }
        self.show_state(now)
    }

    /// Waits for the next thing to happen, at most until the next timer or heartbeat.
    fn wait(&mut self) -> Result<(), CliError> {
        let now = self.clock.now();
        let until = self.timers.next().map_or(self.next_beat, |at| at.min(self.next_beat));
        let span = Duration::from_millis(until.since(now).get());
        self.watchdog.listens(self.timers.next());
        let input = self.inbox.recv_timeout(span);
        self.watchdog.works(self.clock.now());
        match input {
            Ok(input) => self.happened(input)?,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        let now = self.clock.now();
        for (timer, iteration) in self.timers.due(now) {
            self.queue.push_back(Event::TimerFired { timer, iteration });
        }
        if now >= self.next_beat {
            self.next_beat = now.plus(HEARTBEAT);
            self.beat(now)?;
        }
        Ok(())
    }

    fn happened(&mut self, input: DriverInput) -> Result<(), CliError> {
        match input {
            DriverInput::Agent { start, event } if start == self.starts => self.agent_did(event),
            // The process of an earlier start: it was stopped and swept, nothing of it counts.
            DriverInput::Agent { .. } => Ok(()),
            DriverInput::GateProgress(progress) => {
                self.reporter.gate(&progress);
                Ok(())
            }
            DriverInput::GatesDone { iteration, result, tamper } => {
                self.gate_job = None;
                let result = Box::new(result);
                self.take(&[Event::GatesFinished { iteration, result, tamper }])
            }
            DriverInput::Looked { iteration, looked } => self.looked(iteration, *looked),
            DriverInput::StopExamined { iteration, asking, found } => {
                self.stop_jobs.remove(&asking);
                let Some(found) = found else {
                    self.send_away(asking);
                    return Ok(());
                };
                let fact = AgentFact::StopExamined(found);
                self.take(&[Event::Agent { iteration, fact }])
            }
            DriverInput::Note(note) => {
                self.note(&note);
                Ok(())
            }
            DriverInput::Stop(cause) => self.take(&[Event::StopRequested { cause }]),
            DriverInput::Resized => {
                self.draw(self.clock.now());
                Ok(())
            }
            DriverInput::Knocked(knocked) => self.knocked(knocked),
        }
    }

    fn agent_did(&mut self, event: ProcessEvent) -> Result<(), CliError> {
        let mut facts = match event {
            // What was counted last must be known before the end is read.
            ProcessEvent::Exited { .. } => {
                self.usage_file_facts().map_or(Vec::new(), |(_, facts)| facts)
            }
            ProcessEvent::Started { .. } | ProcessEvent::Output { .. } => Vec::new(),
        };
        let Some(iteration) = self.session.as_ref().map(|session| session.iteration) else {
            return Ok(());
        };
        if let ProcessEvent::Output { bytes, .. } = &event {
            self.notice_sudo(iteration, bytes);
        }
        let Some(session) = &mut self.session else { return Ok(()) };
        match event {
            ProcessEvent::Started { pid } => {
                facts.push(Fact::Agent(AgentFact::Started { pid: Some(pid) }));
            }
            ProcessEvent::Output { stream, bytes } => {
                session.read(stream, &bytes, &mut facts, &mut self.reporter);
                session.usage_file.heard(&facts);
            }
            ProcessEvent::Exited { how, swept } => {
                if let Some(session) = self.session.take() {
                    let since = session.started;
                    self.watchdog.agent(None);
                    let exit = session.finish(how, swept, &mut facts, &mut self.reporter);
                    facts.push(Fact::Agent(AgentFact::Exited(exit)));
                    self.count_calls(&facts);
                    self.door_closed(iteration);
                    let swept = how == ExitHow::Lost || swept > 0;
                    let ended_by = if swept { EndedBy::Flyball } else { EndedBy::Itself };
                    self.see_to_index_lock(iteration, since, ended_by);
                    return self.take_facts(iteration, facts);
                }
            }
        }
        self.count_calls(&facts);
        self.take_facts(iteration, facts)
    }

    /// Looks for requests of other processes and for signs of life.
    fn beat(&mut self, now: Moment) -> Result<(), CliError> {
        // A folder that was swapped is told as that, not as a journal that is gone.
        if !self.is_state_ours()? {
            return Ok(());
        }
        self.journal.check_place()?;
        self.take_requests()?;
        if let Some((iteration, facts)) = self.usage_file_facts() {
            self.take_facts(iteration, facts)?;
        }
        let stall_after = self.policy().limits.stall_after;
        if let Some(session) = &mut self.session
            && session.is_alive(now, stall_after)
        {
            let (iteration, fact) = (session.iteration, AgentFact::ShowedLife);
            self.queue.push_back(Event::Agent { iteration, fact });
        }
        if now.since(self.journalled) >= QUIET {
            self.queue.push_back(Event::TimePassed);
        }
        self.draw(now);
        Ok(())
    }

    /// Draws the live line anew.
    fn draw(&mut self, now: Moment) {
        if let Some(standing) = self.governor.standing() {
            self.reporter.tick(now, &standing);
        }
    }

    /// Writes how the run stands into the row that `flyball status` reads.
    fn show_state(&mut self, now: Moment) -> Result<(), CliError> {
        let Some(standing) = self.governor.standing() else { return Ok(()) };
        self.watchdog.knows(standing.tally);
        let state = RunProgress {
            iteration: standing.iteration,
            mode: Some(standing.mode.as_str().to_owned()),
            task: standing.task.cloned(),
            phase: standing.phase.as_str().to_owned(),
            stuck: standing.stuck,
            tokens: standing.tally.tokens,
            cost_micro_usd: standing.tally.cost_micro_usd,
            stories_complete: standing.tally.stories_complete,
            stories_total: standing.tally.stories_total,
        };
        if self.telemetry.is_news(now, &state) {
            self.journal.update_run(&self.run, &state)?;
            self.keep_calls(now)?;
        }
        Ok(())
    }

    /// Ends everything this run started, whatever happens next.
    fn end_all(&mut self) {
        // First: what is waited for below may be waiting for git.
        self.worktree.end_git();
        // Nobody listens any more: who still has something to say must not wait for that.
        drop(std::mem::replace(&mut self.inbox, std::sync::mpsc::sync_channel(1).1));
        if let Some(job) = self.look_job.take() {
            job.end();
        }
        let jobs = self.gate_job.take().into_iter().chain(take(&mut self.stop_jobs).into_values());
        let jobs: Vec<GateJob> = jobs.inspect(GateJob::cancel).collect();
        if let Some(mut session) = self.session.take() {
            session.stop(Force::Kill);
            session.finish_stopping();
        }
        self.watchdog.agent(None);
        GateJob::await_all(jobs);
        // What killed its keeper, and what git's filters left.
        crate::process::end_orphans();
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.end_all();
        self.end_vault(Duration::ZERO);
        self.loop_dir.remove_active();
    }
}
