//! One session of an agent that only drafts: no loop, no gates, nothing in the journal. It is held
//! like the agent of a run, and nobody else works in the worktree meanwhile.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use flyball_core::effect::Force;
use flyball_core::event::{ExitHow, Spend};
use flyball_core::{AgentFact, Millis};
use serde_json::json;

use super::choice::{ChosenAgent, choose, local_time, prices};
use super::launching::{permissions, with_own_settings};
use super::opening::{already_running, name_words};
use super::perform::io;
use super::run_id::new_run_id;
use super::session_files::SessionFiles;
use super::setup::{RunSetup, drop_folder, enclose};
use crate::client::{AgentNote, Fact, Launch, LaunchRequest, ReadRequest, Reader, Stdin};
use crate::clock::{Clock, Deadline};
use crate::config::{AgentSettings, Config};
use crate::error::CliError;
use crate::files;
use crate::journal::{Journal, lock_worktree, state_dir};
use crate::preflight;
use crate::process::{Input, ProcessEvent, Spec, Stream, Supervised};

/// The most words of an agent that are kept.
const SAID_MAX: usize = 4 * 1024 * 1024;

/// What is to be drafted.
pub struct DraftRequest<'a> {
    /// Where.
    pub dir: &'a Path,
    /// With which settings.
    pub config: &'a Config,
    /// What the agent is told.
    pub prompt: &'a str,
}

/// What came of it.
#[derive(Debug)]
pub struct Drafted {
    /// What the agent said.
    pub said: String,
    /// What it used.
    pub spend: Spend,
    /// How it ended.
    pub how: ExitHow,
    /// How long it took.
    pub took: Millis,
}

impl DraftRequest<'_> {
    /// Who drafts.
    pub fn agent(&self) -> &AgentSettings {
        self.config.planner.as_ref().unwrap_or(&self.config.agent)
    }

    /// What it is called.
    pub fn agent_name(&self) -> String {
        name_words(self.agent())
    }

    /// Refuses before anything is written when the agent cannot work.
    pub fn check(&self, root: &Path) -> Result<(), CliError> {
        choose(self.agent())?;
        match preflight::hindrance(self.agent(), root) {
            Some(hindrance) => Err(hindrance.refusal(self.agent())),
            None => Ok(()),
        }
    }

    /// Has the agent draft; `hear` is given what it says as it comes.
    pub fn draft(&self, hear: &mut dyn FnMut(&str)) -> Result<Drafted, CliError> {
        let setup = RunSetup::gather(self.dir, self.config, Some(self.prompt.to_owned()))?;
        let (clock, state) = (Clock::start(), state_dir()?);
        let run = new_run_id();
        // The shield watches over the folder the journal is in.
        let _journal = Journal::open(&state)?;
        let _lock = lock_worktree(&state, setup.worktree.root(), &run).map_err(already_running)?;
        let private_dir = state.join("runs").join(run.as_str());
        let enclosure = enclose(self.config, &setup, &private_dir)?;
        let mut session = || -> Result<Drafted, CliError> {
            let agent = self.agent();
            let adapter = choose(agent)?;
            let launch = self.launch(&adapter, &private_dir, setup.worktree.root());
            let _files = SessionFiles::write(&launch, setup.worktree.root())
                .map_err(|e| io("write the agent's files", &e))?;
            let mut spec = self.spec(&launch, &setup, &private_dir)?;
            spec.walls.clone_from(&enclosure.walls);
            spec.env.splice(0..0, enclosure.env.iter().cloned());
            spec.run = Some(run.clone());
            spec.env.push(("FLYBALL_RUN".to_owned(), Some(run.to_string())));
            let reader = adapter.output().reader(&ReadRequest {
                prompt: self.prompt.to_owned(),
                model: agent.model.clone(),
                free_text: self.config.policy.calls.free_text.clone(),
                prices: prices(self.config),
                clock: Some(local_time),
                ..ReadRequest::default()
            });
            let began = clock.now();
            let mut drafted = DraftSession::new(reader, hear).drive(&spec, self.patience())?;
            drafted.took = clock.now().since(began);
            Ok(drafted)
        };
        let drafted = session();
        drop_folder(&private_dir);
        drafted
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(self.config.policy.limits.iteration_timeout.get())
    }

    fn launch(&self, adapter: &ChosenAgent, private_dir: &Path, root: &Path) -> Launch {
        let agent = self.agent();
        let launch = adapter.launch(&LaunchRequest {
            prompt: self.prompt,
            model: agent.model.as_deref(),
            permissions: permissions(agent.permission),
            hooks: None,
            private_dir,
            worktree: root,
            program: agent.program.as_deref(),
            extra_args: &agent.args,
        });
        with_own_settings(launch, agent, root)
    }

    fn spec(&self, launch: &Launch, setup: &RunSetup, private: &Path) -> Result<Spec, CliError> {
        let agent = self.agent();
        let mut words = agent.wrapper.iter().chain(&launch.argv).cloned();
        let mut spec = Spec::new(words.next().unwrap_or_default(), setup.worktree.root());
        spec.args = words.collect();
        let dir = setup.loop_dir.path().to_string_lossy().into_owned();
        let own = [("FLYBALL_MODE", "plan".to_owned()), ("FLYBALL_DIR", dir)];
        let launched = launch.env.iter().cloned();
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        spec.env = launched.chain(own).map(|(name, value)| (name, Some(value))).collect();
        if let Stdin::Text(text) = &launch.stdin {
            let line = json!({ "type": "prompt", "text": text });
            let text = if agent.steer { format!("{line}\n") } else { text.clone() };
            let path = private.join("prompt.txt");
            files::write_whole(&path, text).map_err(|e| io("write the prompt", &e))?;
            spec.stdin = Input::File(path);
        }
        Ok(spec)
    }
}

/// One agent at its draft.
struct DraftSession<'a> {
    reader: Box<dyn Reader>,
    hear: &'a mut dyn FnMut(&str),
    drafted: Drafted,
    /// Why it could not work.
    trouble: Option<String>,
}

impl<'a> DraftSession<'a> {
    fn new(reader: Box<dyn Reader>, hear: &'a mut dyn FnMut(&str)) -> Self {
        let (spend, how) = (Spend::default(), ExitHow::Lost);
        let drafted = Drafted { said: String::new(), spend, how, took: Millis::ZERO };
        Self { reader, hear, drafted, trouble: None }
    }

    fn drive(mut self, spec: &Spec, patience: Duration) -> Result<Drafted, CliError> {
        let (sender, events) = channel();
        let process = Supervised::start(spec, move |event| {
            sender.send(event).ok();
        })
        .map_err(|error| CliError::agent(format!("the agent cannot be started: {error}")))?;
        let how = self.listen(&events, &process, patience)?;
        let Self { reader, hear, mut drafted, mut trouble } = self;
        let mut facts = Vec::new();
        let exit = reader.finish(how, &mut facts);
        take(facts, hear, &mut drafted, &mut trouble);
        if drafted.said.is_empty() {
            drafted.said = exit.last_words;
        }
        drafted.how = how;
        match trouble {
            Some(why) => Err(CliError::agent("the agent could not draft anything").cause(why)),
            None => Ok(drafted),
        }
    }

    /// Reads until the agent is gone; one that takes too long is ended.
    fn listen(
        &mut self,
        events: &Receiver<ProcessEvent>,
        process: &Supervised,
        patience: Duration,
    ) -> Result<ExitHow, CliError> {
        let mut limit = Deadline::after(patience);
        let mut forces = [Force::Interrupt, Force::Terminate, Force::Kill].into_iter();
        loop {
            match events.recv_timeout(limit.left()) {
                Ok(ProcessEvent::Started { .. }) => {}
                Ok(ProcessEvent::Output { stream, bytes }) => {
                    let mut facts = Vec::new();
                    match stream {
                        Stream::Stdout => self.reader.stdout(&bytes, &mut facts),
                        Stream::Stderr => self.reader.stderr(&bytes, &mut facts),
                    }
                    take(facts, self.hear, &mut self.drafted, &mut self.trouble);
                }
                Ok(ProcessEvent::Exited { how, .. }) => return Ok(how),
                Err(RecvTimeoutError::Timeout) => {
                    let Some(force) = forces.next() else {
                        return Err(CliError::agent("the agent does not end"));
                    };
                    self.trouble = Some(format!(
                        "it took longer than {} s (limits.iteration_timeout)",
                        patience.as_secs()
                    ));
                    process.stop(force).ok();
                    limit = Deadline::after(Duration::from_secs(5));
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(ExitHow::Lost),
            }
        }
    }
}

/// Takes in what the agent said, used and ran into.
#[expect(clippy::wildcard_enum_match_arm, reason = "of all facts only these matter to a draft")]
fn take(
    facts: Vec<Fact>,
    hear: &mut dyn FnMut(&str),
    drafted: &mut Drafted,
    trouble: &mut Option<String>,
) {
    for fact in facts {
        match fact {
            Fact::AgentNote(AgentNote::Said(piece)) => {
                hear(&piece);
                if drafted.said.len() + piece.len() <= SAID_MAX {
                    drafted.said.push_str(&piece);
                }
            }
            Fact::Agent(AgentFact::Spent(spend)) => {
                let sum = &mut drafted.spend;
                sum.input_tokens = sum.input_tokens.saturating_add(spend.input_tokens);
                sum.output_tokens = sum.output_tokens.saturating_add(spend.output_tokens);
                sum.cost_micro_usd = sum.cost_micro_usd.saturating_add(spend.cost_micro_usd);
            }
            Fact::Agent(
                AgentFact::RefusedCredentials { message }
                | AgentFact::HitLimit { message, .. }
                | AgentFact::LostModel { message },
            ) => *trouble = Some(message),
            // An agent that works again has got over it.
            Fact::Agent(AgentFact::CalledTool(_)) => *trouble = None,
            _ => {}
        }
    }
}
