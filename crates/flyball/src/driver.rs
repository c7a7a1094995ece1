//! The only loop: whatever happens becomes an event, is stamped, journalled, given to the governor,
//! and the orders that come back are performed.
//!
//! Nothing in here decides. An event is written before it is acted on, and all orders of one event
//! are performed before the next is taken, so a resume has only the last event's orders to repeat.

#[cfg(feature = "otel")]
mod beside;
mod choice;
mod door;
mod draft;
mod dry_run;
mod enclosure;
mod fault;
mod finishing;
mod gates;
mod guards;
mod human;
mod launching;
mod look;
mod opening;
mod parts;
mod perform;
mod resume;
mod run_id;
mod run_start;
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

use std::mem::take;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use flyball_core::effect::{Ending, Force};
use flyball_core::event::ExitHow;
use flyball_core::{AgentFact, Event, Governor, IterationNo, Millis, Moment, RunId};

pub(crate) use self::choice::prices;
pub use self::draft::{DraftRequest, Drafted};
pub use self::dry_run::dry_run;
use self::gates::GateJob;
use self::look::EndedBy;
use self::parts::{AgentSide, DriverInput, Jobs, Mail, Pace, Places, Terms};
pub use self::resume::recorded_config;
pub use self::run_id::new_run_id;
pub use self::setup::{RunRequest, Started};
use crate::client::{AgentNote, Fact};
use crate::clock::Clock;
use crate::crash::CrashPoint;
use crate::error::CliError;
use crate::journal::Journal;
use crate::process::ProcessEvent;
use crate::report::Reporter;
use crate::telemetry::Telemetry;

/// How often requests of other processes and signs of life are looked for.
const HEARTBEAT: Millis = Millis::new(500);

/// The longest time without an event in the journal: at most so much runtime a death can hide.
const QUIET: Millis = Millis::from_secs(30);

/// What the agent did, on its way to the journal or only to the terminal.
enum AgentReport {
    Event(Box<Event>),
    AgentNote(AgentNote),
}

/// One run under way.
pub struct Driver {
    run: RunId,
    governor: Governor,
    journal: Journal,
    clock: Clock,
    terms: Terms,
    places: Places,
    adapter: choice::ChosenAgent,
    /// Which agent that is: 0 is the configured one, then its fallbacks.
    agent: u32,
    agent_side: AgentSide,
    jobs: Jobs,
    mail: Mail,
    pace: Pace,
    reporter: Reporter,
    telemetry: Telemetry,
    /// What sends the run as telemetry, beside it.
    #[cfg(feature = "otel")]
    beside: Option<crate::otel::Beside>,
    ending: Option<Ending>,
    crash: CrashPoint,
    /// Whether flyball's own state was replaced: said once, and then it is over.
    is_tampered: bool,
}

impl Driver {
    /// Drives the run to its end. When flyball itself fails on the way, the run ends with what is
    /// known, and is told as ended too.
    pub fn drive(mut self, first: Event) -> Result<Ending, CliError> {
        #[cfg(feature = "otel")]
        self.send_beside();
        self.mail.queue.push_back(first);
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
        while let Some(event) = self.mail.queue.pop_front() {
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
            self.pace.journalled = now;
        }
        Ok(now)
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
        let until =
            self.pace.timers.next().map_or(self.pace.next_beat, |at| at.min(self.pace.next_beat));
        let span = Duration::from_millis(until.since(now).get());
        self.pace.watchdog.listens(self.pace.timers.next());
        let input = self.mail.inbox.recv_timeout(span);
        self.pace.watchdog.works(self.clock.now());
        match input {
            Ok(input) => self.happened(input)?,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        let now = self.clock.now();
        for (timer, iteration) in self.pace.timers.due(now) {
            self.mail.queue.push_back(Event::TimerFired { timer, iteration });
        }
        if now >= self.pace.next_beat {
            self.pace.next_beat = now.plus(HEARTBEAT);
            self.beat(now)?;
        }
        Ok(())
    }

    fn happened(&mut self, input: DriverInput) -> Result<(), CliError> {
        match input {
            DriverInput::Agent { start, event } if start == self.agent_side.starts => {
                self.agent_did(event)
            }
            // The process of an earlier start: it was stopped and swept, nothing of it counts.
            DriverInput::Agent { .. } => Ok(()),
            DriverInput::GateProgress(progress) => {
                self.reporter.gate(&progress);
                Ok(())
            }
            DriverInput::GatesDone { iteration, result, tamper } => {
                self.jobs.gates = None;
                let result = Box::new(result);
                self.take(&[Event::GatesFinished { iteration, result, tamper }])
            }
            DriverInput::Looked { iteration, looked } => self.looked(iteration, *looked),
            DriverInput::StopExamined { iteration, asking, found } => {
                self.jobs.stops.remove(&asking);
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
        let Some(iteration) = self.agent_side.session.as_ref().map(|session| session.iteration)
        else {
            return Ok(());
        };
        if let ProcessEvent::Output { bytes, .. } = &event {
            self.notice_sudo(iteration, bytes);
        }
        let Some(session) = &mut self.agent_side.session else { return Ok(()) };
        match event {
            ProcessEvent::Started { pid } => {
                facts.push(Fact::Agent(AgentFact::Started { pid: Some(pid) }));
            }
            ProcessEvent::Output { stream, bytes } => {
                session.read(stream, &bytes, &mut facts, &mut self.reporter);
                session.usage_file.heard(&facts);
            }
            ProcessEvent::Exited { how, swept } => {
                if let Some(session) = self.agent_side.session.take() {
                    let since = session.started;
                    self.pace.watchdog.agent(None);
                    let (exit, process) =
                        session.finish(how, swept, &mut facts, &mut self.reporter);
                    match process.into_keeper() {
                        Ok(keeper) => self.agent_side.kept = Some(keeper),
                        Err(process) => self.agent_side.leaving = Some(process),
                    }
                    facts.push(Fact::Agent(AgentFact::Exited(exit)));
                    self.count_calls(&facts);
                    self.door_closed(iteration);
                    let swept = how == ExitHow::Lost || swept > 0;
                    let ended_by = if swept { EndedBy::Flyball } else { EndedBy::Itself };
                    self.see_to_locks(iteration, since, ended_by);
                    self.take_facts(iteration, facts)?;
                    self.prepare_keeper();
                    return Ok(());
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
        if let Some(session) = &mut self.agent_side.session
            && session.is_alive(now, stall_after)
        {
            let (iteration, fact) = (session.iteration, AgentFact::ShowedLife);
            self.mail.queue.push_back(Event::Agent { iteration, fact });
        }
        if now.since(self.pace.journalled) >= QUIET {
            self.mail.queue.push_back(Event::TimePassed);
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

    /// Ends everything this run started, whatever happens next.
    fn end_all(&mut self) {
        // First: what is waited for below may be waiting for git.
        self.places.worktree.end_git();
        // Nobody listens any more: who still has something to say must not wait for that.
        drop(std::mem::replace(&mut self.mail.inbox, std::sync::mpsc::sync_channel(1).1));
        if let Some(job) = self.jobs.look.take() {
            job.end();
        }
        let jobs =
            self.jobs.gates.take().into_iter().chain(take(&mut self.jobs.stops).into_values());
        let jobs: Vec<GateJob> = jobs.inspect(GateJob::cancel).collect();
        if let Some(mut session) = self.agent_side.session.take() {
            session.stop(Force::Kill);
            session.finish_stopping();
        }
        self.pace.watchdog.agent(None);
        drop((self.agent_side.leaving.take(), self.ready_keeper()));
        GateJob::await_all(jobs);
        // What killed its keeper, and what git's filters left.
        crate::process::end_orphans();
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.end_all();
        self.end_vault(Duration::ZERO);
        self.places.loop_dir.remove_active();
    }
}
