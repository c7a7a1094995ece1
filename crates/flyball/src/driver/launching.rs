//! Starting an agent: which one, with what prompt, in what surroundings.

use std::path::Path;
use std::thread;
use std::time::Duration;

use flyball_core::tasklist::Mode;
use flyball_core::{Event, IterationNo, Moment, TaskId};

use super::choice::choose;
use super::perform::io;
use super::session::{Session, TextMeter, could_not_start};
use super::session_files::SessionFiles;
use super::steer::SteerLine;
use super::usage_file::UsageFileWatch;
use super::{Driver, DriverInput};
use crate::client::{Launch, LaunchRequest, Permissions, ReadRequest, Stdin};
use crate::config::{AgentSettings, CommandLine, Permission};
use crate::error::CliError;
use crate::files;
use crate::loopdir::Active;
use crate::process::{Input, InputPipe, KeeperProgram, ReadyKeeper, Spec, StartError, Supervised};
use crate::prompt::{Variables, render, task_words};

/// The largest file of a client's settings that is read.
const SETTINGS_MAX: u64 = 1024 * 1024;

/// An agent to be started.
pub(super) struct Start {
    pub(super) iteration: IterationNo,
    pub(super) mode: Mode,
    pub(super) task: Option<TaskId>,
    pub(super) briefing: String,
}

impl Driver {
    pub(super) fn start_agent(&mut self, now: Moment, start: &Start) -> Result<(), CliError> {
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
            snapshot: &self.jobs.latest.checkpoint_tree,
        };
        if let Err(error) = self.places.loop_dir.write_active(&active) {
            // It only shows what the lock in the state folder holds.
            self.reporter.note(iteration, &format!("active.json cannot be written: {error}"));
        }
        self.prepare_door()?;
        let launch = self.launch(&prompt);
        let files = SessionFiles::write(&launch, self.places.worktree.root())
            .map_err(|e| io("write the agent's files", &e))?;
        let mut spec = self.spec(start, &launch).map_err(|e| io("write the prompt", &e))?;
        let pipe = self.steer_pipe(&mut spec).map_err(|e| io("open the agent's input", &e))?;
        let log = self.iteration_log(iteration);
        let reader = self.adapter.output().reader(&self.read_request(prompt));
        self.terms.guarded.watch.agent_starts(&mut self.journal)?;
        self.agent_side.starts += 1;
        let (number, outbox) = (self.agent_side.starts, self.mail.outbox.clone());
        let (keeper, ready) = (KeeperProgram::Own, self.ready_keeper());
        let started = Supervised::start_ready(&keeper, ready, &spec, move |event| {
            outbox.send(DriverInput::Agent { start: number, event }).ok();
        });
        // The one before has long gone, or is waited for here.
        self.agent_side.leaving = None;
        match started {
            Ok(process) => {
                self.admit(Some(process.keeper_pid()));
                self.pace.watchdog.agent(process.leash().ok());
                let steer = pipe.map(|pipe| SteerLine::into(pipe.into_writer())).transpose();
                let steer = steer.map_err(|e| io("open the agent's input", &e))?;
                if let (Some(line), Stdin::Text(text)) = (&steer, &launch.stdin) {
                    line.prompt(text);
                }
                let stop_command =
                    self.terms.config.agent.stop_command.as_ref().map(CommandLine::argv);
                let cpu = (now, Duration::ZERO);
                let (printed, told_life, text) = (false, now, self.text_meter());
                self.agent_side.session = Some(Session {
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
                self.terms.guarded.watch.agent_did_not_start(&mut self.journal)?;
                let fact = could_not_start(start_words(&error));
                self.mail.queue.push_back(Event::Agent { iteration, fact });
            }
        }
        Ok(())
    }

    /// Has the keeper of the next agent put up its walls while the worktree is looked at.
    pub(super) fn prepare_keeper(&mut self) {
        let has_one = self.agent_side.kept.is_some() || self.agent_side.ready.is_some();
        if self.jobs.look.is_none() || has_one {
            return;
        }
        let mut spec = Spec::new("", self.places.worktree.root());
        self.surround(&mut spec);
        let prepare = move || ReadyKeeper::start(&KeeperProgram::Own, &spec).ok();
        // Without one the agent's start takes a moment longer, and says itself what is wrong.
        self.agent_side.ready = thread::Builder::new().name("ready".to_owned()).spawn(prepare).ok();
    }

    /// The keeper that stayed, or the one that was prepared, as soon as it is ready.
    pub(super) fn ready_keeper(&mut self) -> Option<ReadyKeeper> {
        if let Some(kept) = self.agent_side.kept.take() {
            return Some(kept);
        }
        self.agent_side.ready.take()?.join().ok().flatten()
    }

    /// What stands around every agent of this run.
    fn surround(&self, spec: &mut Spec) {
        spec.walls.clone_from(&self.terms.enclosure.walls);
        spec.run = Some(self.run.clone());
        spec.keeper_stays = spec.walls.is_none();
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
    pub(super) fn use_agent(&mut self, agent: u32) -> Result<(), CliError> {
        if agent != self.agent {
            self.adapter = choose(self.terms.config.nth_agent(agent))?;
            self.agent = agent;
        }
        Ok(())
    }

    /// The settings of the agent at work.
    pub(super) fn agent_settings(&self) -> &AgentSettings {
        self.terms.config.nth_agent(self.agent)
    }

    /// The model asked for.
    fn model(&self) -> Option<&str> {
        self.agent_settings().model.as_deref()
    }

    fn prompt(&self, start: &Start, task: &str) -> String {
        let variables = Variables {
            iteration: start.iteration,
            max_iterations: self.terms.config.policy.limits.iterations,
            mode: start.mode,
            task,
            briefing: &self.briefing(start),
            request: self.terms.request.as_deref().unwrap_or(""),
        };
        render(&self.terms.guarded.template, &variables)
    }

    /// What the governor says, what the proxy refused, and that review is off where the prompt
    /// leaves it open.
    fn briefing(&self, start: &Start) -> String {
        let refused = self.terms.enclosure.refusals().join("\n");
        let text = self.review_briefing(start);
        if refused.is_empty() {
            return text;
        }
        format!("{text}\n\nThe network is closed but for a list of hosts:\n{refused}")
            .trim_start()
            .to_owned()
    }

    fn review_briefing(&self, start: &Start) -> String {
        if self.terms.config.policy.review.enabled || start.task.is_none() {
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
            private_dir: &self.places.private_dir,
            worktree: self.places.worktree.root(),
            program: agent.program.as_deref(),
            extra_args: &agent.args,
        });
        with_own_settings(launch, agent, self.places.worktree.root())
    }

    /// What an agent that tells no usage is charged by, where that is limited.
    fn text_meter(&self) -> Option<TextMeter> {
        let limits = &self.terms.config.policy.limits;
        if limits.tokens == 0 && limits.cost_usd <= 0.0 {
            return None;
        }
        let prices = super::choice::prices(&self.terms.config);
        let price = prices.price(self.model().unwrap_or(""));
        Some(TextMeter::new(price.map_or(0.0, |price| price.output)))
    }

    fn read_request(&self, prompt: String) -> ReadRequest {
        ReadRequest {
            prompt,
            model: self.model().map(str::to_owned),
            free_text: self.terms.config.policy.calls.free_text.clone(),
            prices: super::choice::prices(&self.terms.config),
            clock: Some(super::choice::local_time),
            ..ReadRequest::default()
        }
    }

    fn spec(&self, start: &Start, launch: &Launch) -> std::io::Result<Spec> {
        let mut argv = self.terms.config.agent.wrapper.clone();
        argv.extend(launch.argv.iter().cloned());
        let (program, args) = argv
            .split_first()
            .map_or((String::new(), Vec::new()), |(p, a)| (p.clone(), a.to_vec()));
        let mut spec = Spec::new(program, self.places.worktree.root());
        spec.args = args;
        let task = start.task.as_ref().map(ToString::to_string).unwrap_or_default();
        let dir = self.places.loop_dir.path().to_string_lossy().into_owned();
        let own = [
            ("FLYBALL_RUN", self.run.to_string()),
            ("FLYBALL_ITERATION", start.iteration.to_string()),
            ("FLYBALL_MODE", start.mode.as_str().to_owned()),
            ("FLYBALL_TASK", task),
            ("FLYBALL_DIR", dir),
            #[cfg(feature = "otel")]
            ("TRACEPARENT", crate::otel::traceparent(&self.run, start.iteration)),
        ];
        let launched = launch.env.iter().map(|(k, v)| (k.clone(), Some(v.clone())));
        self.surround(&mut spec);
        spec.env.extend(self.terms.enclosure.env.iter().cloned());
        spec.env.extend(launched);
        spec.env.extend(own.map(|(name, value)| (name.to_owned(), Some(value))));
        if let Stdin::Text(text) = &launch.stdin
            && !self.listens()
        {
            let path = self.places.private_dir.join("prompt.txt");
            files::overwrite(&path, text)?;
            spec.stdin = Input::File(path);
        }
        Ok(spec)
    }
}

/// The launch with what the user has set for the client, in flyball's settings or outside of them.
/// Paths are as the client would read them, which starts at the root.
pub(super) fn with_own_settings(mut launch: Launch, agent: &AgentSettings, root: &Path) -> Launch {
    let own = |name: &str| agent.env.get(name).cloned().or_else(|| std::env::var(name).ok());
    let joined =
        launch.join_own_settings(own, |path| files::read_text(&root.join(path), SETTINGS_MAX).ok());
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
