//! Orders performed, one function each.

use std::fs;
use std::path::Path;
use std::time::Duration;

use flyball_core::effect::{Ending, Force, IterationReport, Notice};
use flyball_core::tasklist::Mode;
use flyball_core::{Effect, Event, IterationNo, Moment, Outcome, TaskId};

use super::choice::choose;
use super::gates::{Extent, GateJob};
use super::look::LookJob;
use super::session::{Session, TextMeter, could_not_start};
use super::session_files::SessionFiles;
use super::steer::SteerLine;
use super::usage_file::UsageFileWatch;
use super::{Driver, DriverInput};
use crate::client::{Launch, LaunchRequest, Permissions, ReadRequest, Stdin};
use crate::config::{AgentSettings, CommandLine, Permission};
use crate::error::CliError;
use crate::files;
use crate::gate::tamper::Open;
use crate::loopdir::{Active, SUMMARY};
use crate::process::{Input, InputPipe, Spec, StartError, Supervised};
use crate::prompt::{Variables, render, task_words};
use crate::run_report;
use crate::telemetry::IterationLog;

/// The largest file of a client's settings that is read.
const SETTINGS_MAX: u64 = 1024 * 1024;
/// How long the end of a run waits for the vault.
const VAULT_PATIENCE: Duration = Duration::from_secs(10);
/// The same when somebody waits for the end.
const VAULT_HURRY: Duration = Duration::from_secs(2);

/// An agent to be started.
pub(super) struct Start {
    pub(super) iteration: IterationNo,
    pub(super) mode: Mode,
    pub(super) task: Option<TaskId>,
    briefing: String,
}

impl Driver {
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
                self.stop_jobs.insert(asking, job);
            }
            Effect::SnapshotWorktree { iteration } => {
                self.look_job = Some(LookJob::start(self, iteration)?);
            }
            Effect::RunGates { iteration, tree, whole } => {
                let extent = if whole { Extent::Whole } else { Extent::Touched };
                self.gate_job = Some(GateJob::start(self, iteration, tree, extent)?);
            }
            Effect::SetTimer { timer, iteration, at } => {
                self.timers.set(timer, iteration, at);
                self.watchdog.expects(self.timers.next());
            }
            Effect::WriteTasks { text } => {
                self.loop_dir.write_tasks(&text).map_err(|e| io("write the task list", &e))?;
            }
            Effect::WriteBlocked { reason } => {
                self.loop_dir.write_blocked(&reason).map_err(|e| io("write blocked.txt", &e))?;
            }
            Effect::WriteDecide { iteration, question } => self
                .loop_dir
                .write_decide(iteration, now, &question)
                .map_err(|e| io("write decide.txt", &e))?,
            Effect::RemoveDecide => {
                self.loop_dir.remove_decide().map_err(|e| io("remove decide.txt", &e))?;
            }
            Effect::RecordAttempt(attempt) => {
                self.journal.record_attempt(self.worktree.root(), &attempt)?;
            }
            Effect::RecordContext(entry) => self.record_context(&entry)?,
            Effect::MarkTask { task, standing } => {
                self.journal.mark_task(self.worktree.root(), &task, (standing, now))?;
            }
            Effect::KeepTamper { findings, bounds, examined } => {
                let open = Open { findings: &findings, bounds: &bounds, examined };
                let of = (&self.run, now);
                self.guarded.watch.keep(&mut self.journal, &self.worktree, of, &open)?;
            }
            Effect::CloseIteration(report) => self.close_iteration(&report)?,
            Effect::Announce(notice) => {
                self.log_notice(&notice);
                let (run, root) = (&self.run, self.worktree.root());
                crate::notify::noticed(&self.config.notify, run, root, &notice);
            }
            Effect::FinishRun(ending) => self.finish(now, ending)?,
        }
        Ok(())
    }

    /// What the iteration's own log says too: that the context fills up (S1).
    fn log_notice(&mut self, notice: &Notice) {
        if let (Notice::ContextFilling { message, .. }, Some(session)) = (notice, &mut self.session)
        {
            session.log.remark(message);
        }
    }

    fn record_context(&mut self, entry: &flyball_core::task::ContextEntry) -> Result<(), CliError> {
        let root = self.worktree.root();
        self.journal.record_context(root, entry)?;
        // The remedy behind the entry is remembered across runs with it.
        let remedies = self.governor.standing().map(|s| s.task_ring.memory().remedies);
        for remedy in remedies.unwrap_or_default() {
            self.journal.record_remedy(root, &remedy)?;
        }
        Ok(())
    }

    fn start_agent(&mut self, now: Moment, start: &Start) -> Result<(), CliError> {
        let iteration = start.iteration;
        let standing = self.governor.standing();
        let words = task_words(standing.as_ref().and_then(|s| s.tasks), start.task.as_ref());
        let stuck = standing.map_or(0, |s| s.stuck);
        let prompt = self.prompt(start, &words);
        let active = Active {
            run: &self.run,
            iteration,
            mode: start.mode.as_str(),
            stuck,
            snapshot: &self.latest.checkpoint_tree,
        };
        if let Err(error) = self.loop_dir.write_active(&active) {
            // It only shows what the lock in the state folder holds.
            self.reporter.note(iteration, &format!("active.json cannot be written: {error}"));
        }
        self.prepare_door()?;
        let launch = self.launch(&prompt);
        let files = SessionFiles::write(&launch, self.worktree.root())
            .map_err(|e| io("write the agent's files", &e))?;
        let mut spec = self.spec(start, &launch).map_err(|e| io("write the prompt", &e))?;
        let pipe = self.steer_pipe(&mut spec).map_err(|e| io("open the agent's input", &e))?;
        let log = self.iteration_log(iteration);
        let reader = self.adapter.output().reader(&self.read_request(prompt));
        self.guarded.watch.agent_starts(&mut self.journal)?;
        self.starts += 1;
        let (number, outbox) = (self.starts, self.outbox.clone());
        let started = Supervised::start(&spec, move |event| {
            outbox.send(DriverInput::Agent { start: number, event }).ok();
        });
        match started {
            Ok(process) => {
                self.admit(Some(process.keeper_pid()));
                self.watchdog.agent(process.leash().ok());
                let steer = pipe.map(|pipe| SteerLine::into(pipe.into_writer())).transpose();
                let steer = steer.map_err(|e| io("open the agent's input", &e))?;
                if let (Some(line), Stdin::Text(text)) = (&steer, &launch.stdin) {
                    line.prompt(text);
                }
                let stop_command = self.config.agent.stop_command.as_ref().map(CommandLine::argv);
                let cpu = (now, Duration::ZERO);
                let (printed, told_life, text) = (false, now, self.text_meter());
                self.session = Some(Session {
                    iteration,
                    started: now,
                    process,
                    reader,
                    usage_file: UsageFileWatch::new(&spec.env),
                    log,
                    stop_command,
                    stopping: Vec::new(),
                    steer,
                    files,
                    cpu,
                    printed,
                    told_life,
                    text,
                });
            }
            Err(error) => {
                self.guarded.watch.agent_did_not_start(&mut self.journal)?;
                let fact = could_not_start(start_words(&error));
                self.queue.push_back(Event::Agent { iteration, fact });
            }
        }
        Ok(())
    }

    /// A pipe that becomes the input of an agent that listens while it works.
    fn steer_pipe(&self, spec: &mut Spec) -> std::io::Result<Option<InputPipe>> {
        if !self.listens() {
            return Ok(None);
        }
        let pipe = InputPipe::new()?;
        pipe.feed(spec);
        Ok(Some(pipe))
    }

    /// Whether the agent at work listens on its standard input.
    fn listens(&self) -> bool {
        self.agent_settings().steer
    }

    /// Takes the configured agent, or one of its fallbacks, for the next session.
    fn use_agent(&mut self, agent: u32) -> Result<(), CliError> {
        if agent != self.agent {
            self.adapter = choose(self.config.nth_agent(agent))?;
            self.agent = agent;
        }
        Ok(())
    }

    /// The settings of the agent at work.
    pub(super) fn agent_settings(&self) -> &AgentSettings {
        self.config.nth_agent(self.agent)
    }

    /// The model asked for.
    fn model(&self) -> Option<&str> {
        self.agent_settings().model.as_deref()
    }

    fn prompt(&self, start: &Start, task: &str) -> String {
        let variables = Variables {
            iteration: start.iteration,
            max_iterations: self.config.policy.limits.iterations,
            mode: start.mode,
            task,
            briefing: &self.briefing(start),
            request: self.request.as_deref().unwrap_or(""),
        };
        render(&self.guarded.template, &variables)
    }

    /// What the governor says, what the proxy refused, and that review is off where the prompt
    /// leaves it open.
    fn briefing(&self, start: &Start) -> String {
        let refused = self.enclosure.refusals().join("\n");
        let text = self.review_briefing(start);
        if refused.is_empty() {
            return text;
        }
        format!("{text}\n\nThe network is closed but for a list of hosts:\n{refused}")
            .trim_start()
            .to_owned()
    }

    fn review_briefing(&self, start: &Start) -> String {
        if self.config.policy.review.enabled || start.task.is_none() {
            return start.briefing.clone();
        }
        let note =
            "Review is off: set `passes` to true yourself, with `notes`, once a story holds.";
        format!("{note}\n\n{}", start.briefing).trim_end().to_owned()
    }

    fn launch(&self, prompt: &str) -> Launch {
        let agent = self.agent_settings();
        let launch = self.adapter.launch(&LaunchRequest {
            prompt,
            model: self.model(),
            permissions: permissions(agent.permission),
            hooks: self.hook_setup().as_ref(),
            private_dir: &self.private_dir,
            worktree: self.worktree.root(),
            program: agent.program.as_deref(),
            extra_args: &agent.args,
        });
        with_own_settings(launch, agent)
    }

    /// What an agent that tells no usage is charged by, where that is limited.
    fn text_meter(&self) -> Option<TextMeter> {
        let limits = &self.config.policy.limits;
        if limits.tokens == 0 && limits.cost_usd <= 0.0 {
            return None;
        }
        let prices = super::choice::prices(&self.config);
        let price = prices.price(self.model().unwrap_or(""));
        Some(TextMeter::new(price.map_or(0.0, |price| price.output)))
    }

    fn read_request(&self, prompt: String) -> ReadRequest {
        ReadRequest {
            prompt,
            model: self.model().map(str::to_owned),
            free_text: self.config.policy.calls.free_text.clone(),
            prices: super::choice::prices(&self.config),
            clock: Some(super::choice::local_time),
            ..ReadRequest::default()
        }
    }

    fn spec(&self, start: &Start, launch: &Launch) -> std::io::Result<Spec> {
        let mut argv = self.config.agent.wrapper.clone();
        argv.extend(launch.argv.iter().cloned());
        let (program, args) = argv
            .split_first()
            .map_or((String::new(), Vec::new()), |(p, a)| (p.clone(), a.to_vec()));
        let mut spec = Spec::new(program, self.worktree.root());
        spec.args = args;
        let task = start.task.as_ref().map(ToString::to_string).unwrap_or_default();
        let dir = self.loop_dir.path().to_string_lossy().into_owned();
        let own = [
            ("FLYBALL_RUN", self.run.to_string()),
            ("FLYBALL_ITERATION", start.iteration.to_string()),
            ("FLYBALL_MODE", start.mode.as_str().to_owned()),
            ("FLYBALL_TASK", task),
            ("FLYBALL_DIR", dir),
        ];
        let launched = launch.env.iter().map(|(k, v)| (k.clone(), Some(v.clone())));
        spec.walls.clone_from(&self.enclosure.walls);
        spec.run = Some(self.run.clone());
        spec.env.extend(self.enclosure.env.iter().cloned());
        spec.env.extend(launched);
        spec.env.extend(own.map(|(name, value)| (name.to_owned(), Some(value))));
        if let Stdin::Text(text) = &launch.stdin
            && !self.listens()
        {
            let path = self.private_dir.join("prompt.txt");
            files::write_whole(&path, text)?;
            spec.stdin = Input::File(path);
        }
        Ok(spec)
    }

    fn stop_agent(&mut self, force: Force) {
        if let Some(session) = &mut self.session {
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
    fn iteration_log(&mut self, iteration: IterationNo) -> IterationLog {
        let max = self.config.log_max_bytes;
        let opened =
            self.loop_dir.open_logs().and_then(|logs| IterationLog::create(&logs, iteration, max));
        opened.unwrap_or_else(|error| {
            let note = format!("the iteration's log cannot be written: {error}; it goes without");
            self.reporter.note(iteration, &note);
            IterationLog::none()
        })
    }

    /// Writes the report that was asked for. One that cannot be written is a remark, never the end of
    /// a run that has ended already.
    fn write_report(&mut self, now: Moment) {
        let Some(file) = &self.config.report_file else { return };
        let path = self.worktree.root().join(file);
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
        self.loop_dir.remove_active();
        let is_asked = matches!(ending.outcome, Outcome::Interrupted | Outcome::Terminated);
        self.end_vault(if is_asked { VAULT_HURRY } else { VAULT_PATIENCE });
        fs::remove_dir_all(&self.private_dir).ok();
        self.loop_dir.remove_responses();
        self.write_report(now);
        let max = self.config.policy.limits.iterations;
        let log = self.loop_dir.shown(SUMMARY);
        self.reporter.summary(&self.run, (ending, code), max, log.as_deref());
        self.run_finish(now, ending);
        crate::notify::run_ended(&self.config.notify, &self.run, self.worktree.root(), ending);
    }
}

/// The launch with what the user has set for the client, in flyball's settings or outside of them.
pub(super) fn with_own_settings(mut launch: Launch, agent: &AgentSettings) -> Launch {
    let own = |name: &str| agent.env.get(name).cloned().or_else(|| std::env::var(name).ok());
    let joined =
        launch.join_own_settings(own, |path| files::read_text(Path::new(path), SETTINGS_MAX).ok());
    // What is not joined is the user's to say, and stands last.
    let given = agent.env.iter().filter(|(name, _)| !joined.contains(name));
    launch.env.extend(given.map(|(name, value)| (name.clone(), value.clone())));
    launch
}

/// What the config says, as an adapter is told.
pub(super) const fn permissions(permission: Permission) -> Permissions {
    match permission {
        Permission::Skip => Permissions::Bypass,
        Permission::Ask => Permissions::Own,
    }
}

fn start_words(error: &StartError) -> String {
    format!("{error}; set `agent.command` in flyball.toml, or run `flyball doctor`")
}

pub(super) fn io(what: &str, error: &std::io::Error) -> CliError {
    CliError::io(format!("cannot {what}")).cause(error)
}

/// A folder only its owner can read.
pub(super) fn private_folder(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
