//! An event acted on: its orders performed, one function each.

use std::fs;
use std::path::Path;
use std::time::Duration;

use flyball_core::effect::{Ending, Force, IterationReport, Notice};
use flyball_core::{Effect, Event, IterationNo, Moment, Outcome};

use super::Driver;
use super::gates::{Extent, GateJob};
use super::launching::Start;
use super::look::LookJob;
use crate::error::CliError;
use crate::gate::tamper::Open;
use crate::loopdir::SUMMARY;
use crate::run_report;
use crate::telemetry::IterationLog;

/// How long the end of a run waits for the vault.
const VAULT_PATIENCE: Duration = Duration::from_secs(10);
/// The same when somebody waits for the end.
const VAULT_HURRY: Duration = Duration::from_secs(2);

impl Driver {
    /// Acts on a journalled event.
    pub(super) fn act(&mut self, now: Moment, event: &Event) -> Result<(), CliError> {
        self.reporter.event(now, event);
        let effects = self.governor.step(now, event);
        let performed = self.perform_all(now, effects);
        // What was gathered is written, whatever became of the rest.
        let written = self.journal.write_out();
        performed?;
        Ok(written?)
    }

    /// Performs the orders of one event. Rows that stand side by side are written together: should
    /// flyball die before, a resume has all of them written again.
    fn perform_all(&mut self, now: Moment, effects: Vec<Effect>) -> Result<(), CliError> {
        for effect in effects {
            self.crash.here();
            self.agent_side.guards.take(&effect);
            self.reporter.effect(now, &effect);
            match Nature::of(&effect) {
                Nature::Row => self.journal.gather(),
                Nature::Word => {}
                Nature::Deed => self.journal.write_out()?,
            }
            self.perform(now, effect)?;
            self.crash.here();
        }
        Ok(())
    }

    /// Performs one order.
    pub(super) fn perform(&mut self, now: Moment, effect: Effect) -> Result<(), CliError> {
        match effect {
            Effect::StartAgent { iteration, mode, task, briefing, agent } => {
                self.use_agent(agent)?;
                self.start_agent(now, &Start { iteration, mode, task, briefing })?;
            }
            Effect::StopAgent { force, .. } => self.stop_agent(force),
            Effect::SteerAgent { message, .. } => self.steer_agent(&message),
            Effect::AnswerDoor { question, answer, .. } => self.answer_door(question, answer),
            Effect::AnswerHuman { request, reply } => self.answer_human(now, (request, &reply))?,
            Effect::AnswerStop { asking, verdict, .. } => self.answer_stop(asking, &verdict),
            Effect::ExamineStop { iteration, asking, ticket } => {
                let job = GateJob::examine_stop(self, (iteration, asking), ticket)?;
                self.jobs.stops.insert(asking, job);
            }
            Effect::SnapshotWorktree { iteration } => {
                self.jobs.look = Some(LookJob::start(self, iteration)?);
            }
            Effect::RunGates { iteration, tree, whole } => {
                let extent = if whole { Extent::Whole } else { Extent::Touched };
                self.jobs.gates = Some(GateJob::start(self, iteration, tree, extent)?);
            }
            Effect::SetTimer { timer, iteration, at } => {
                self.pace.timers.set(timer, iteration, at);
                self.pace.watchdog.expects(self.pace.timers.next());
            }
            Effect::WriteTasks { text } => {
                self.places
                    .loop_dir
                    .write_tasks(&text)
                    .map_err(|e| io("write the task list", &e))?;
            }
            Effect::WriteBlocked { reason } => {
                self.places
                    .loop_dir
                    .write_blocked(&reason)
                    .map_err(|e| io("write blocked.txt", &e))?;
            }
            Effect::WriteDecide { iteration, question } => self
                .places
                .loop_dir
                .write_decide(iteration, now, &question)
                .map_err(|e| io("write decide.txt", &e))?,
            Effect::RemoveDecide => {
                self.places.loop_dir.remove_decide().map_err(|e| io("remove decide.txt", &e))?;
            }
            Effect::RecordAttempt(attempt) => {
                self.journal.record_attempt(self.places.worktree.root(), &attempt)?;
            }
            Effect::RecordContext(entry) => self.record_context(&entry)?,
            Effect::MarkTask { task, standing } => {
                self.journal.mark_task(self.places.worktree.root(), &task, (standing, now))?;
            }
            Effect::KeepTamper { findings, bounds, examined } => {
                let open = Open { findings: &findings, bounds: &bounds, examined };
                let of = (&self.run, now);
                let worktree = &self.places.worktree;
                self.terms.guarded.watch.keep(&mut self.journal, worktree, of, &open)?;
            }
            Effect::CloseIteration(report) => self.close_iteration(&report)?,
            Effect::Announce(notice) => {
                self.log_notice(&notice);
                let (run, root) = (&self.run, self.places.worktree.root());
                crate::notify::noticed(&self.terms.config.notify, run, root, &notice);
            }
            Effect::FinishRun(ending) => self.finish(now, ending)?,
        }
        Ok(())
    }

    /// What the iteration's own log says too: that the context fills up (S1).
    fn log_notice(&mut self, notice: &Notice) {
        if let (Notice::ContextFilling { message, .. }, Some(session)) =
            (notice, &mut self.agent_side.session)
        {
            session.log.remark(message);
        }
    }

    fn record_context(&mut self, entry: &flyball_core::task::ContextEntry) -> Result<(), CliError> {
        let root = self.places.worktree.root();
        self.journal.record_context(root, entry)?;
        // The remedy behind the entry is remembered across runs with it.
        let remedies = self.governor.standing().map(|s| s.task_ring.memory().remedies);
        for remedy in remedies.unwrap_or_default() {
            self.journal.record_remedy(root, &remedy)?;
        }
        Ok(())
    }

    fn stop_agent(&mut self, force: Force) {
        if let Some(session) = &mut self.agent_side.session {
            session.stop(force);
        }
    }

    fn close_iteration(&mut self, report: &IterationReport) -> Result<(), CliError> {
        self.journal.close_iteration(&self.run, report)?;
        if let Err(error) = self.telemetry.iteration(report) {
            let note = format!("summary.csv cannot be written: {error}; the journal has the row");
            self.reporter.note(report.iteration, &note);
        }
        Ok(())
    }

    /// The log of an iteration. One that cannot be had, because of what an agent put in its place, is
    /// done without: what happened is in the journal.
    pub(super) fn iteration_log(&mut self, iteration: IterationNo) -> IterationLog {
        let max = self.terms.config.log_max_bytes;
        let opened = self
            .places
            .loop_dir
            .open_logs()
            .and_then(|logs| IterationLog::create(&logs, iteration, max));
        opened.unwrap_or_else(|error| {
            let note = format!("the iteration's log cannot be written: {error}; it goes without");
            self.reporter.note(iteration, &note);
            IterationLog::none()
        })
    }

    /// Writes the report that was asked for. One that cannot be written is a remark, never the end of
    /// a run that has ended already.
    fn write_report(&mut self, now: Moment) {
        let Some(file) = &self.terms.config.report_file else { return };
        let path = self.places.worktree.root().join(file);
        let text = match run_report::written(&self.journal, &self.run, &path, now) {
            Ok(()) => format!("report: {}", file.display()),
            Err(error) => format!("the report `{}` could not be written: {error}", file.display()),
        };
        self.reporter.remark(&text);
    }

    /// The run is over: everything started is ended, everything known is written, people are told.
    fn finish(&mut self, now: Moment, ending: Ending) -> Result<(), CliError> {
        self.end_all();
        let written = self.journal.finish_run(&self.run, now, &ending).map_err(CliError::from);
        if let Err(error) = written.and_then(|()| self.keep_calls(now)) {
            // How it ended is known all the same, and told by who hears of the error.
            self.ending = Some(ending);
            return Err(error);
        }
        let code = ending.outcome.exit_code();
        self.take_leave(now, &ending, code);
        self.ending = Some(ending);
        Ok(())
    }

    /// Removes what a run leaves only while it works, and tells people how it ended.
    pub(super) fn take_leave(&mut self, now: Moment, ending: &Ending, code: u8) {
        self.places.loop_dir.remove_active();
        let is_asked = matches!(ending.outcome, Outcome::Interrupted | Outcome::Terminated);
        self.end_vault(if is_asked { VAULT_HURRY } else { VAULT_PATIENCE });
        fs::remove_dir_all(&self.places.private_dir).ok();
        self.places.loop_dir.remove_responses();
        self.write_report(now);
        #[cfg(feature = "otel")]
        self.tell_of_sending();
        let max = self.terms.config.policy.limits.iterations;
        let log = self.places.loop_dir.shown(SUMMARY);
        self.reporter.summary(&self.run, (ending, code), max, log.as_deref());
        self.run_finish(now, ending);
        crate::notify::run_ended(
            &self.terms.config.notify,
            &self.run,
            self.places.worktree.root(),
            ending,
        );
    }
}

/// What an order does, as far as the journal is concerned.
enum Nature {
    /// It writes rows, at once.
    Row,
    /// It leaves the journal alone, and waits for nothing.
    Word,
    /// It may take its time, or have others look into the journal.
    Deed,
}

impl Nature {
    fn of(effect: &Effect) -> Self {
        match effect {
            Effect::RecordAttempt(_)
            | Effect::RecordContext(_)
            | Effect::MarkTask { .. }
            | Effect::CloseIteration(_) => Self::Row,
            // What was found is read out of git.
            Effect::KeepTamper { findings, .. } if findings.is_empty() => Self::Row,
            Effect::Announce(_) | Effect::SetTimer { .. } => Self::Word,
            Effect::KeepTamper { .. }
            | Effect::WriteTasks { .. }
            | Effect::WriteBlocked { .. }
            | Effect::WriteDecide { .. }
            | Effect::RemoveDecide
            | Effect::StartAgent { .. }
            | Effect::SteerAgent { .. }
            | Effect::AnswerDoor { .. }
            | Effect::AnswerHuman { .. }
            | Effect::ExamineStop { .. }
            | Effect::AnswerStop { .. }
            | Effect::StopAgent { .. }
            | Effect::SnapshotWorktree { .. }
            | Effect::RunGates { .. }
            | Effect::FinishRun(_) => Self::Deed,
        }
    }
}

pub(super) fn io(what: &str, error: &std::io::Error) -> CliError {
    CliError::io(format!("cannot {what}")).cause(error)
}

/// A folder only its owner can read.
pub(super) fn private_folder(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
