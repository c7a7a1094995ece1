//! The hooks of the running session: what they report becomes facts, and what they judged is not
//! judged a second time.
//!
//! Hooks keep a call ring of their own in the journal. What they are not told (results, for some
//! clients; calls a home-made agent did not ask about) is given to that ring from the stream.

use std::collections::VecDeque;

use flyball_core::call::{ToolCall, ToolOutcome, ToolResult, Verdict};
use flyball_core::guard::Rung;
use flyball_core::{AgentFact, CallId, Event, IterationNo, Moment};

use super::Driver;
use super::perform::Start;
use crate::agent::{Fact, HookSetup, HooksFor};
use crate::error::CliError;
use crate::hook::{
    AttemptRow, CallState, Dialect, HookReport, RunGuards, SessionBrief, TrailRow, dialect,
    remove_spilled, run_key, stop_key, stop_time,
};
use crate::journal::{HookChange, HookStep};

/// Ids remembered, of calls and of results.
const SEEN_MAX: usize = 512;
/// Seconds a client waits longer for a hook than the hook itself takes at most.
const SLACK_SECS: u64 = 5;

/// What is known of the hooks of a session.
#[derive(Default)]
pub(super) struct HookWatch {
    /// Whether hooks were put into this session.
    installed: bool,
    /// The last row of the trail that is known.
    after: u64,
    /// How the hooks that reported speak; none before the first report.
    dialect: Option<&'static dyn Dialect>,
    asked: Seen,
    answered: Seen,
    /// Calls of the stream.
    calls: u64,
    /// A halt was told; the client may go on asking until it is stopped.
    halted: bool,
    told: Told,
}

/// What was told of hooks, in this session or an earlier one of the run: once is enough.
#[derive(Clone, Copy, Default)]
struct Told {
    /// That one could not judge.
    failure: bool,
    /// That they never reported.
    silence: bool,
}

/// Ids that were seen lately.
#[derive(Default)]
struct Seen(VecDeque<String>);

impl Seen {
    fn add(&mut self, id: String) {
        if id.is_empty() {
            return;
        }
        if self.0.len() >= SEEN_MAX {
            self.0.pop_front();
        }
        self.0.push_back(id);
    }

    fn has(&self, id: &CallId) -> bool {
        self.0.iter().rev().any(|seen| seen == id.as_str())
    }
}

impl HookWatch {
    fn take(&mut self, report: HookReport) -> Option<AgentFact> {
        self.dialect = self.dialect.or_else(|| dialect(&report.agent));
        if report.asked {
            self.asked.add(report.call);
        } else if report.answered {
            self.answered.add(report.call);
        }
        if let Some(reason) = report.stop_refused {
            return Some(AgentFact::StopRefused { reason });
        }
        match report.verdict {
            Some(Rung::Halt) if std::mem::replace(&mut self.halted, true) => None,
            Some(Rung::Halt) => report.trip.map(AgentFact::HookHalted),
            Some(rung @ (Rung::Nudge | Rung::Refuse)) => {
                report.trip.map(|trip| AgentFact::HookSteered { rung, trip })
            }
            Some(Rung::Pass | Rung::Redirect | Rung::Ask) | None => None,
        }
    }
}

impl Driver {
    /// The hooks to put into a session; none when the client has none.
    pub(super) fn hook_setup(&self) -> Option<HookSetup> {
        let name = self.adapter.name();
        // A home-made agent calls flyball itself.
        dialect(name).filter(|_| name != "flyball")?;
        let secs = self.config.hooks.timeout.get().div_ceil(1000).saturating_add(SLACK_SECS);
        Some(HookSetup {
            stay: HooksFor::Run,
            program: std::env::current_exe().ok()?,
            call_timeout_secs: secs,
            stop_timeout_secs: secs.saturating_add(stop_time(&self.plan).as_secs()),
        })
    }

    /// Lays down what the hooks of this session are judged by, with a fresh ring.
    pub(super) fn prepare_hooks(
        &mut self,
        now: Moment,
        start: &Start,
        request: &str,
    ) -> Result<(), CliError> {
        let key = run_key(&self.run, start.iteration);
        for session in [key.clone(), stop_key(&key)] {
            self.journal.with_session(&session, now, |_| (None, ()))?;
        }
        let tasks = match self.loop_dir.tasks() {
            flyball_core::event::TasksSnapshot::Found { text } => Some(text),
            flyball_core::event::TasksSnapshot::Absent
            | flyball_core::event::TasksSnapshot::Unreadable { .. } => None,
        };
        let brief = SessionBrief {
            iteration: start.iteration,
            mode: start.mode,
            task: start.task.clone(),
            request: request.to_owned(),
            tasks,
        };
        let installed = self.hook_setup().is_some();
        let mut guards = RunGuards::of(&self.config, self.worktree.root());
        if installed {
            guards.heeds = HooksFor::Run;
        }
        guards
            .write(&self.private_dir, &brief)
            .map_err(|error| super::perform::io("write the hooks' settings", &error))?;
        let after = self.journal.last_hook(&self.run)?;
        let told = self.hooks.told;
        self.hooks = HookWatch { installed, after, told, ..HookWatch::default() };
        Ok(())
    }

    /// What hooks and tools of this session have reported since the last time.
    pub(super) fn hook_events(&mut self) -> Result<Vec<Event>, CliError> {
        let Some(session) = &mut self.session else { return Ok(Vec::new()) };
        let iteration = session.iteration;
        let mut events = Vec::new();
        for row in self.journal.hooks_after(&self.run, self.hooks.after)? {
            self.hooks.after = row.key;
            let report = match TrailRow::read(&row) {
                Some(TrailRow::Hook(report)) => report,
                // What was said in another iteration comes too late for this one.
                Some(TrailRow::Attempt(AttemptRow { iteration: said_in, reported })) => {
                    if said_in == iteration {
                        let fact = AgentFact::ReportedAttempt(reported);
                        events.push(Event::Agent { iteration, fact });
                    }
                    continue;
                }
                None => continue,
            };
            if report.iteration != Some(iteration) {
                continue;
            }
            session.book.named(&report.session);
            if let (Some(said), true) = (&report.said, report.stop_refused.is_some()) {
                session.reader.refused_stop(said);
            }
            if let (Some(note), false) = (&report.note, self.hooks.told.failure) {
                self.hooks.told.failure = true;
                self.reporter.note(iteration, note);
            }
            if let Some(fact) = self.hooks.take(report) {
                events.push(Event::Agent { iteration, fact });
            }
        }
        Ok(events)
    }

    /// A fact of the stream as the governor should learn it: what hooks have judged is not judged
    /// again, and what they were not told is given to their ring.
    pub(super) fn beside_hooks(
        &mut self,
        iteration: IterationNo,
        fact: AgentFact,
    ) -> Result<AgentFact, CliError> {
        let watch = &mut self.hooks;
        if let AgentFact::CalledTool(call) = &fact {
            watch.calls = watch.calls.saturating_add(1);
            let Some(dialect) = watch.dialect else { return Ok(fact) };
            if dialect.sees_all_calls() || watch.asked.has(&call.id) {
                return Ok(AgentFact::CalledJudged(call.clone()));
            }
            let halted = self.give(iteration, Given::Call(call))?;
            return Ok(halted.unwrap_or_else(|| AgentFact::CalledJudged(call.clone())));
        }
        if let AgentFact::ToolReturned(result) = &fact {
            let Some(dialect) = watch.dialect else { return Ok(fact) };
            // The governor counts failures of calls it does not know, and nothing else.
            if dialect.sees_results() || watch.answered.has(&result.id) {
                return Ok(fact);
            }
            let well = matches!(result.outcome, ToolOutcome::Ok | ToolOutcome::Exit);
            let sign = if well { AgentFact::Spoke } else { AgentFact::ShowedLife };
            return Ok(self.give(iteration, Given::Result(result))?.unwrap_or(sign));
        }
        Ok(fact)
    }

    /// Gives the hooks' ring what they were not told; a halt is a fact.
    fn give(
        &mut self,
        iteration: IterationNo,
        given: Given<'_>,
    ) -> Result<Option<AgentFact>, CliError> {
        let (key, at) = (run_key(&self.run, iteration), self.clock.now());
        let step = HookStep { run: Some(&self.run), session: &key, at };
        let rules = &self.config.policy.calls;
        let verdict = self.journal.hook_step(&step, |bytes| {
            let mut state = CallState::read(bytes);
            let verdict = match given {
                Given::Call(call) => state.before(rules, at, call),
                Given::Result(result) => state.after(rules, at, result),
            };
            if let Verdict::Nudge { message, .. } = &verdict {
                state.owe(message.clone());
            }
            (HookChange { state: state.write(), report: None }, verdict)
        })?;
        Ok(match verdict {
            Verdict::Halt { trip, .. } => Some(AgentFact::HookHalted(trip)),
            Verdict::Pass | Verdict::Nudge { .. } | Verdict::Refuse { .. } => None,
        })
    }

    /// The session is over: what its hooks left is removed, and hooks that were put into it and
    /// never reported are noticed.
    pub(super) fn hooks_ended(&mut self, iteration: IterationNo) {
        let key = run_key(&self.run, iteration);
        remove_spilled(&self.loop_dir, &key);
        let watch = &mut self.hooks;
        let reported = !watch.installed || watch.dialect.is_some() || watch.calls == 0;
        if reported || std::mem::replace(&mut watch.told.silence, true) {
            return;
        }
        let note = format!(
            "the hooks put into this session never reported, though it made {}: calls are only \
             watched and stops not refused; `flyball doctor` looks at {}",
            flyball_core::text::count(watch.calls, "call"),
            self.adapter.name()
        );
        self.reporter.note(iteration, &note);
        let report = HookReport {
            agent: self.adapter.name().to_owned(),
            iteration: Some(iteration),
            note: Some(note),
            ..HookReport::default()
        };
        let step = HookStep { run: Some(&self.run), session: &key, at: self.clock.now() };
        let change = HookChange { state: None, report: report.to_json() };
        // People were told; a journal that fails fails again at the next event.
        self.journal.hook_step(&step, |_| (change, ())).ok();
    }
}

/// What hooks were not told.
#[derive(Clone, Copy)]
enum Given<'a> {
    Call(&'a ToolCall),
    Result(&'a ToolResult),
}

/// Whether facts hold something that hooks may have judged.
pub(super) fn may_be_judged(facts: &[Fact]) -> bool {
    facts.iter().any(|fact| {
        matches!(fact, Fact::Agent(AgentFact::CalledTool(_) | AgentFact::ToolReturned(_)))
    })
}
