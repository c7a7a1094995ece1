//! What holds the programs of a run: decided when it begins, the same for agents and for gates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flyball_core::{Event, IterationNo};

use super::Driver;
use super::perform::io;
use super::setup::RunSetup;
use crate::client::needs;
use crate::config::{Config, SandboxProfile};
use crate::error::CliError;
use crate::gate::{Compiled, GateRunner, TreeLook};
use crate::platform::Walls;
use crate::sandbox::proxy::Proxy;
use crate::sandbox::{Ground, Sandbox, Shield, StateWatch, SudoWatch, docker_note};
use crate::worktree::Worktree;

/// What holds the programs of a run.
pub(super) struct Enclosure {
    sandbox: Sandbox,
    pub(super) walls: Option<Walls>,
    /// Variables set, or taken out, behind the walls.
    pub(super) env: Vec<(String, Option<String>)>,
    proxy: Option<Proxy>,
    watch: StateWatch,
    sudo: SudoWatch,
    /// Where what Python compiles for gates lies, out of the agent's way.
    compiled: Option<Arc<Compiled>>,
}

impl Enclosure {
    /// Puts together what holds the programs of a run whose own folder is there.
    pub(super) fn set_up(
        sandbox: Sandbox,
        config: &Config,
        setup: &RunSetup,
        private_dir: &Path,
    ) -> Result<Self, CliError> {
        let clients = clients(config);
        let ground = Ground {
            state_dir: &setup.state_dir,
            private_dir: Some(private_dir),
            root: setup.worktree.root(),
            git_dirs: git_dirs(&setup.worktree),
            clients: clients.clone(),
        };
        let brief = Ground { private_dir: None, clients: Vec::new(), ..ground.clone() };
        let brief = sandbox.shield_alone(&brief).map_err(|e| io("put up the shield", &e))?;
        crate::process::enclose_brief(brief);
        sandbox.prepare(&clients);
        let walls = sandbox.walls(&ground).map_err(|e| io("put up the shield", &e))?;
        let is_offline = sandbox.settings.profile == SandboxProfile::Offline;
        let proxy = is_offline
            .then(|| {
                let own = clients.iter().flat_map(|client| needs::of(client).hosts);
                let own = own.map(|host| (*host).to_owned());
                let hosts: Vec<String> =
                    sandbox.settings.allow_hosts.iter().cloned().chain(own).collect();
                let log = setup.loop_dir.logs().join("network.log");
                Proxy::open(private_dir, &hosts, &sandbox.settings.loopback, Some(log))
            })
            .transpose()
            .map_err(|e| io("open the proxy", &e))?;
        if let Some(walls) = &walls {
            // Git needs no network, and makes no namespaces.
            setup.worktree.enclose(Walls { network: None, second_layer: false, ..walls.clone() });
        }
        let env = sandbox.environment(&clients);
        let watch =
            StateWatch::begin(&setup.state_dir).map_err(|e| io("look at the state folder", &e))?;
        let sudo = SudoWatch::default();
        let cache = crate::apart::cache_dir().ok().zip(private_dir.file_name());
        let compiled = cache.map(|(cache, name)| Arc::new(Compiled::of_run(&cache, name)));
        Ok(Self { sandbox, walls, env, proxy, watch, sudo, compiled })
    }

    /// What is said of it when the run begins.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = self.sandbox.lines(self.walls.as_ref());
        if let Some(walls) = &self.walls {
            notes.extend(docker_note(&walls.hidden));
        }
        notes
    }

    /// Hosts the agent wanted and did not get, for its next briefing; each is told once.
    pub(super) fn refusals(&self) -> Vec<String> {
        self.proxy.as_ref().map(Proxy::refusals).unwrap_or_default()
    }
}

impl Driver {
    /// A runner for the run's gates, behind the same walls as the agent.
    pub(super) fn gate_runner(&self) -> GateRunner {
        let mut runner = GateRunner::new(self.terms.plan.clone(), self.places.worktree.root());
        runner.parallel = self.terms.config.gates.parallel;
        runner.walls.clone_from(&self.terms.enclosure.walls);
        runner.env.clone_from(&self.terms.enclosure.env);
        runner.compiled.clone_from(&self.terms.enclosure.compiled);
        runner.run = Some(self.run.clone());
        let loop_dir = &self.places.loop_dir;
        let (dir, tasks) = (loop_dir.relative(), loop_dir.tasks_relative());
        runner.look = Some(TreeLook::new(self.places.worktree.beside(), dir, tasks));
        runner
    }

    /// Whether flyball's own state is still the one the run began with. If not, the run is over:
    /// nothing that is read there would be worth anything.
    pub(super) fn is_state_ours(&mut self) -> Result<bool, CliError> {
        if self.ending.is_some() || self.is_tampered {
            return Ok(true);
        }
        let Some(why) = self.terms.enclosure.watch.trouble() else { return Ok(true) };
        self.is_tampered = true;
        self.mail.queue.clear();
        let (now, event) = (self.clock.now(), Event::StateReplaced { why });
        // The journal is open; the folder it lies in is another affair.
        self.journal.let_go_of_place();
        self.journal.append_all(&self.run, &[(now, &event)]).ok();
        self.act(now, &event)?;
        Ok(false)
    }

    /// Tells people of a `sudo` that cannot work behind walls.
    pub(super) fn notice_sudo(&mut self, iteration: IterationNo, printed: &[u8]) {
        if self.terms.enclosure.walls.is_some()
            && *self.terms.enclosure.sandbox.shield() != Shield::Unwanted
            && let Some(note) = self.terms.enclosure.sudo.look(printed)
        {
            self.reporter.note(iteration, note);
        }
    }
}

/// The clients a run may start, by name.
pub(super) fn clients(config: &Config) -> Vec<&str> {
    config.agents().chain(&config.planner).map(|agent| agent.name.as_str()).collect()
}

/// Where git writes: the worktree's own folder, and the one it shares with others.
pub(super) fn git_dirs(worktree: &Worktree) -> Vec<PathBuf> {
    vec![worktree.git_dir().to_path_buf(), worktree.common_dir().to_path_buf()]
}
