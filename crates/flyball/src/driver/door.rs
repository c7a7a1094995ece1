//! The door of the running session: what is asked there becomes a fact, and the order that answers it
//! goes back to the asker. Nothing is judged here: the governor has the session's one ring.

use std::collections::BTreeMap;

use flyball_core::door::{DoorAnswer, DoorQuestion, Matter};
use flyball_core::guard::Rung;
use flyball_core::stop::StopVerdict;
use flyball_core::{AgentFact, CallId, Event, IterationNo};

use super::gates::GateJob;
use super::perform::io;
use super::{Driver, DriverInput};
use crate::client::{Fact, HookSetup, HooksFor, registry};
use crate::door::{Door, Input, Knocked, Reply};
use crate::error::CliError;
use crate::hook::{HookReport, RunGuards, remove_spilled, run_key, stop_time};
use crate::journal::{HookChange, HookStep};

/// Seconds a client waits longer for a hook than the hook itself takes at most.
const SLACK_SECS: u64 = 5;

/// Questions that are taken together at most.
const TOGETHER_MAX: usize = 64;

/// The run's door, and who waits at it.
#[derive(Default)]
pub(super) struct DoorWatch {
    /// Open from the first session on.
    door: Option<Door>,
    /// Who waits for an answer, by the question's number.
    waiting: BTreeMap<u64, Waiting>,
    /// Questions so far.
    questions: u64,
    session: SessionWatch,
    told: HookNotices,
}

/// What is known of the doors of one session.
#[derive(Default)]
struct SessionWatch {
    /// Whether hooks were put into it.
    installed: bool,
    /// Whether one of them has asked.
    asked: bool,
    /// Calls its stream has shown.
    calls: u64,
}

/// What was told of hooks in this run: once is enough.
#[derive(Default)]
struct HookNotices {
    /// That one could not judge.
    failure: bool,
    /// That they never asked.
    silence: bool,
}

/// Someone who waits for an answer.
struct Waiting {
    reply: Reply,
    /// What the agent said before the stop that is asked about.
    said: Option<String>,
    /// The call that is asked about.
    call: Option<CallId>,
}

impl Driver {
    /// The hooks to put into a session; none when the client has none.
    pub(super) fn hook_setup(&self) -> Option<HookSetup> {
        if !self.adapter.takes_hooks() {
            return None;
        }
        let secs = self.terms.config.hooks.timeout.get().div_ceil(1000).saturating_add(SLACK_SECS);
        Some(HookSetup {
            stay: HooksFor::Run,
            program: std::env::current_exe().ok()?,
            call_timeout_secs: secs,
            stop_timeout_secs: secs.saturating_add(stop_time(&self.terms.plan).as_secs()),
        })
    }

    /// Opens the door, unless it is open, and lays down what those who ask need to know.
    pub(super) fn prepare_door(&mut self) -> Result<(), CliError> {
        let installed = self.hook_setup().is_some();
        let mut guards = RunGuards::of(
            &self.terms.config,
            self.policy(),
            self.places.worktree.root(),
            stop_time(&self.terms.plan),
        );
        if installed {
            guards.heeds = HooksFor::Run;
        }
        guards
            .write(&self.places.private_dir)
            .map_err(|error| io("write the hooks' settings", &error))?;
        if self.agent_side.doors.door.is_none() {
            let outbox = self.mail.outbox.clone();
            let inbox = move |knocked| outbox.send(DriverInput::Knocked(knocked)).is_ok();
            let door = Door::open(&self.places.private_dir, &self.run, inbox)
                .map_err(|error| io("open the run's door", &error))?;
            self.agent_side.doors.door = Some(door);
        }
        self.agent_side.doors.session = SessionWatch { installed, ..SessionWatch::default() };
        Ok(())
    }

    /// Whatever stands below this keeper may ask from now on.
    pub(super) fn admit(&self, keeper: Option<u32>) {
        if let Some(door) = &self.agent_side.doors.door {
            door.admit(keeper);
        }
    }

    /// Someone asks or tells something at the door. Whoever has come by now is taken with it: their
    /// questions go into the journal together, which is what costs, and are answered one by one.
    pub(super) fn knocked(&mut self, first: Knocked) -> Result<(), CliError> {
        let mut events = self.question(first);
        let mut other = None;
        for _ in 1..TOGETHER_MAX {
            match self.mail.inbox.try_recv() {
                Ok(DriverInput::Knocked(knocked)) => events.extend(self.question(knocked)),
                Ok(input) => {
                    other = Some(input);
                    break;
                }
                Err(_) => break,
            }
        }
        if !events.is_empty() {
            self.take(&events)?;
        }
        other.map_or(Ok(()), |input| self.happened(input))
    }

    /// What is asked, as facts; nothing when it is for another session: its asker is sent away.
    fn question(&mut self, Knocked { knock, reply }: Knocked) -> Vec<Event> {
        let Some(session) = &mut self.agent_side.session else { return Vec::new() };
        if session.iteration != knock.iteration {
            return Vec::new();
        }
        let iteration = session.iteration;
        session.usage_file.named(&knock.session);
        if registry::dialect(&knock.agent).is_some() {
            self.agent_side.doors.session.asked = true;
        }
        let (mut said, mut called, mut spent) = (None, None, None);
        let matter = match knock.input {
            Input::Call(call) => {
                called = Some(call.id.clone());
                Matter::Call(call)
            }
            Input::Result(result) => Matter::Result(result),
            Input::Invalid(failure) => Matter::Invalid(failure),
            Input::Report(report) => Matter::Report(report),
            Input::Nothing => Matter::Nothing,
            // Counted before it is answered: a budget ends a session before its next call.
            Input::Spent(spend) => {
                spent = Some(AgentFact::Spent(spend));
                Matter::AsksModel
            }
            Input::Trouble { note } => {
                self.note_of_hooks(iteration, &knock.agent, &note);
                Matter::Nothing
            }
            Input::Stop { said: words } => {
                said.clone_from(&words);
                let client_cap = self.adapter.output().stop_refusal_cap();
                Matter::Stop { said: words.unwrap_or_default(), client_cap }
            }
        };
        self.agent_side.doors.questions = self.agent_side.doors.questions.saturating_add(1);
        let number = self.agent_side.doors.questions;
        self.agent_side.doors.waiting.insert(number, Waiting { reply, said, call: called });
        let (hears, context) = (knock.hears, knock.context);
        let asked = AgentFact::Asked(DoorQuestion { number, matter, hears, context });
        spent.into_iter().chain([asked]).map(|fact| Event::Agent { iteration, fact }).collect()
    }

    /// Answers whoever waits for this.
    pub(super) fn answer_door(&mut self, question: u64, answer: DoorAnswer) {
        let Some(waiting) = self.agent_side.doors.waiting.remove(&question) else { return };
        if let (Rung::Refuse, Some(call), Some(session)) =
            (answer.rung, &waiting.call, &mut self.agent_side.session)
        {
            session.reader.refused_call(call.as_str());
        }
        waiting.reply.answer(answer);
    }

    /// Tells the agent whether it may stop. What it said before a refusal is not its last word.
    pub(super) fn answer_stop(&mut self, question: u64, verdict: &StopVerdict) {
        let Some(waiting) = self.agent_side.doors.waiting.remove(&question) else { return };
        if let (Some(said), Some(_), Some(session)) =
            (&waiting.said, verdict.reason(), &mut self.agent_side.session)
        {
            session.reader.refused_stop(said);
        }
        let rung = if verdict.reason().is_some() { Rung::Refuse } else { Rung::Pass };
        let message = verdict.reason().unwrap_or_default().to_owned();
        let calls = self.governor.standing().and_then(|s| s.calls).unwrap_or_default();
        waiting.reply.answer(DoorAnswer { rung, message, trip: None, calls });
    }

    /// Nothing can be said to whoever waits for this.
    pub(super) fn send_away(&mut self, question: u64) {
        self.agent_side.doors.waiting.remove(&question);
    }

    /// Whoever wanted to stop has gone: nobody needs to know any more.
    pub(super) fn end_stop_jobs(&mut self) {
        std::mem::take(&mut self.jobs.stops).values().for_each(GateJob::cancel);
    }

    /// Takes note of what the stream shows.
    pub(super) fn count_calls(&mut self, facts: &[Fact]) {
        let shown = facts
            .iter()
            .filter(|fact| matches!(fact, Fact::Agent(AgentFact::CalledTool(_))))
            .count();
        let calls = &mut self.agent_side.doors.session.calls;
        *calls = calls.saturating_add(shown as u64);
    }

    /// The session is over: nobody may ask any more, who waits is sent away, what large results left
    /// is removed, and hooks that were put into it and never asked are noticed.
    pub(super) fn door_closed(&mut self, iteration: IterationNo) {
        self.admit(None);
        self.end_stop_jobs();
        self.agent_side.doors.waiting.clear();
        remove_spilled(&self.places.loop_dir, &run_key(&self.run, iteration));
        let SessionWatch { installed, asked, calls } = self.agent_side.doors.session;
        let is_silent = installed && !asked && calls > 0;
        if !is_silent || std::mem::replace(&mut self.agent_side.doors.told.silence, true) {
            return;
        }
        let name = self.adapter.name();
        let note = format!(
            "the hooks put into this session never asked, though it made {}: calls are only \
             watched and stops not refused; `flyball doctor` looks at {name}",
            flyball_core::text::count(calls, "call"),
        );
        self.reporter.note(iteration, &note);
        self.keep_note(iteration, name, &note);
    }

    /// A hook could not judge: people are told once.
    fn note_of_hooks(&mut self, iteration: IterationNo, agent: &str, note: &str) {
        if !std::mem::replace(&mut self.agent_side.doors.told.failure, true) {
            self.reporter.note(iteration, note);
        }
        self.keep_note(iteration, agent, note);
    }

    fn keep_note(&mut self, iteration: IterationNo, agent: &str, note: &str) {
        let report = HookReport {
            agent: agent.to_owned(),
            iteration: Some(iteration),
            note: Some(note.to_owned()),
            ..HookReport::default()
        };
        let key = run_key(&self.run, iteration);
        let step = HookStep { run: Some(&self.run), session: &key, at: self.clock.now() };
        let change = HookChange { state: None, report: report.to_json() };
        // People were told; a journal that fails fails again at the next event.
        self.journal.hook_step(&step, |_| (change, ())).ok();
    }
}
