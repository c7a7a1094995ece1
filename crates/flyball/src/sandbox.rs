//! What holds an agent. The *shield* keeps flyball's state folder and the user's configuration out
//! of its reach and changes nothing else; it is on where the system allows it. A *profile* protects
//! the user: little can be written, secrets are hidden, and with `offline` there is no network but a
//! list of hosts.
//!
//! Here is decided what stands where; `platform` puts it up, keepers live behind it.

mod environment;
mod means;
mod notes;
mod places;
pub(crate) mod proxy;
mod watch;

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::config::{SandboxProfile, SandboxSettings, ShieldWish};
use crate::error::CliError;
use crate::platform::{self, Forward, InPlace, Means, Walls};
use crate::process::EMPTY;

pub(crate) use self::notes::{SudoWatch, docker_note};
pub(crate) use self::watch::StateWatch;

/// The port of the proxy inside of a program without network.
pub(crate) const PROXY_PORT: u16 = 3128;

/// What holds the programs of one run.
#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    pub(crate) settings: SandboxSettings,
    shield: Shield,
}

/// Whether flyball's own state is out of reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shield {
    /// It is, by these means.
    On(Means),
    /// It is not.
    Off {
        /// Why, as it is said when a run begins.
        text: String,
        /// What to type.
        remedy: &'static str,
    },
    /// It was not asked for.
    Unwanted,
}

/// Where a run takes place.
#[derive(Clone)]
pub(crate) struct Ground<'a> {
    /// flyball's state folder.
    pub(crate) state_dir: &'a Path,
    /// The run's own folder in it; none outside of a run.
    pub(crate) private_dir: Option<&'a Path>,
    /// The repository.
    pub(crate) root: &'a Path,
    /// Folders git writes to: the worktree's own and the common one.
    pub(crate) git_dirs: Vec<PathBuf>,
    /// The clients at work, by name.
    pub(crate) clients: Vec<&'a str>,
}

impl Sandbox {
    /// Finds out what can be had. What was asked for and cannot be had is an error, and never left
    /// out silently.
    pub(crate) fn decide(settings: &SandboxSettings, state_dir: &Path) -> Result<Self, CliError> {
        let wanted = settings.shield != ShieldWish::Off;
        let settings = settings.clone();
        if !wanted && settings.profile == SandboxProfile::Off {
            return Ok(Self { settings, shield: Shield::Unwanted });
        }
        let found = means::find(state_dir);
        if let (Err(lack), true) = (&found, settings.profile != SandboxProfile::Off) {
            let name = settings.profile.as_str();
            return Err(CliError::config(format!(
                "sandbox \"{name}\" cannot be had here: {}",
                lack.why
            ))
            .hint(lack.remedy())
            .hint("flyball doctor"));
        }
        let shield = match found {
            // A profile's walls hold the state folder too, wanted or not.
            Ok(means) => Shield::On(means),
            Err(lack) if settings.shield == ShieldWish::Require => {
                let text = format!("the shield was required and cannot be had: {}", lack.why);
                return Err(CliError::config(text).hint(lack.remedy()).hint("flyball doctor"));
            }
            Err(lack) => Shield::Off { text: lack.text(), remedy: lack.remedy() },
        };
        Ok(Self { settings, shield })
    }

    /// The same for a program that is no run and must never fail for it: without a shield it works.
    pub(crate) fn decide_for_command(settings: &SandboxSettings, state_dir: &Path) -> Self {
        Self::decide(settings, state_dir)
            .unwrap_or_else(|_| Self { settings: settings.clone(), shield: Shield::Unwanted })
    }

    /// Makes what the clients of a run need to have before walls stand around them.
    pub(crate) fn prepare(&self, clients: &[&str]) {
        if self.settings.profile != SandboxProfile::Off {
            places::make_own(clients);
        }
    }

    /// Whether flyball's own state is out of reach.
    pub(crate) fn shield(&self) -> &Shield {
        &self.shield
    }

    /// The lines for somebody who only looks: nothing is made.
    pub(crate) fn preview(&self, ground: &Ground<'_>) -> Vec<String> {
        let mut walls = Walls { hidden: places::existing(&self.settings.hide), ..Walls::default() };
        self.add_profile(&mut walls, ground);
        self.lines(Some(&walls))
    }

    /// The lines that say what holds the agent.
    pub(crate) fn lines(&self, walls: Option<&Walls>) -> Vec<String> {
        let shield = match &self.shield {
            Shield::On(means) => format!("shield: on ({})", means.as_str()),
            Shield::Off { text, .. } => text.clone(),
            Shield::Unwanted => "shield: off (sandbox.shield)".to_owned(),
        };
        let mut lines = vec![shield];
        if let (Some(walls), true) = (walls, self.settings.profile != SandboxProfile::Off) {
            let writable = walls.writable.as_ref().map_or(0, Vec::len);
            lines.push(format!(
                "sandbox: {} ({writable} places writable, {} hidden)",
                self.settings.profile.as_str(),
                walls.hidden.len()
            ));
        }
        lines
    }

    /// The walls around the programs of a run. Folders of flyball's own that are shown or protected
    /// are made when they are not there; nothing of the user's is ever made.
    pub(crate) fn walls(&self, ground: &Ground<'_>) -> io::Result<Option<Walls>> {
        let Shield::On(means) = self.shield else { return Ok(None) };
        let state = ground.state_dir.canonicalize()?;
        let own = ground.private_dir.map_or_else(|| state.join("shield"), Path::to_path_buf);
        let empty = own.join(EMPTY);
        let secrets = state.join("secrets");
        private_folder(&empty)?;
        private_folder(&secrets)?;
        let mut walls = Walls { means, ..Walls::default() };
        walls.read_only.push(state.clone());
        walls.read_only.extend(user_config_folder());
        walls.in_place.push(InPlace { shown: empty.canonicalize()?, at: secrets });
        walls.in_place.extend(ssh_folder(&state.join("shield"))?);
        walls.hidden = places::existing(&self.settings.hide);
        self.add_profile(&mut walls, ground);
        if self.settings.profile == SandboxProfile::Offline {
            walls.network = Some(self.forwards(&own));
        }
        Ok(Some(walls))
    }

    /// The walls around programs that are the user's own choice and not held by a profile: what tells
    /// people, what ends a container. They may still be scripts of the worktree.
    pub(crate) fn shield_alone(&self, ground: &Ground<'_>) -> io::Result<Option<Walls>> {
        let profile = SandboxProfile::Off;
        let settings = SandboxSettings { profile, hide: Vec::new(), ..self.settings.clone() };
        Self { settings, shield: self.shield.clone() }.walls(ground)
    }

    fn add_profile(&self, walls: &mut Walls, ground: &Ground<'_>) {
        if self.settings.profile != SandboxProfile::Off {
            walls.writable = Some(places::writable(&self.settings, ground));
            walls.hidden.extend(places::hidden(&self.settings, ground));
            walls.second_layer = !self.settings.nested;
        }
        walls.hidden.sort();
        walls.hidden.dedup();
    }

    fn forwards(&self, own: &Path) -> Vec<Forward> {
        let proxy = Forward { port: PROXY_PORT, socket: proxy::place(own) };
        let single = self
            .settings
            .loopback
            .iter()
            .map(|port| Forward { port: *port, socket: proxy::port_place(own, *port) });
        std::iter::once(proxy).chain(single).collect()
    }

    /// Variables to set, or to take out with `None`, for a program behind the walls.
    pub(crate) fn environment(&self, clients: &[&str]) -> Vec<(String, Option<String>)> {
        if self.settings.profile == SandboxProfile::Off {
            return Vec::new();
        }
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let mut changes = environment::scrubbed(names, &self.settings.keep_env, clients);
        if self.settings.profile == SandboxProfile::Offline {
            changes.extend(environment::proxied());
        }
        changes
    }
}

/// The user's own configuration. The folder is flyball's, and made: an agent could else make it, and
/// put into it what the next run obeys.
fn user_config_folder() -> Option<PathBuf> {
    let file = crate::config::Sources::of_process(Path::new("")).user_file?;
    let folder = file.parent()?;
    if !folder.is_dir() {
        private_folder(folder).ok()?;
    }
    folder.canonicalize().ok()
}

/// Where files of root's seem to be nobody's, ssh refuses those in its folder; a copy of the user's
/// own is shown instead.
fn ssh_folder(own: &Path) -> io::Result<Option<InPlace>> {
    let theirs = Path::new("/etc/ssh/ssh_config.d");
    let names: Vec<_> = fs::read_dir(theirs).into_iter().flatten().flatten().collect();
    if names.is_empty() || platform::own_user() == 0 {
        return Ok(None);
    }
    let copy = own.join("ssh_config.d");
    private_folder(&copy)?;
    for old in fs::read_dir(&copy)?.flatten() {
        if !names.iter().any(|entry| entry.file_name() == old.file_name()) {
            fs::remove_file(old.path())?;
        }
    }
    for entry in &names {
        let text = fs::read(entry.path());
        // What this user may not read, ssh may not read either.
        if let (Ok(text), true) = (text, entry.path().is_file()) {
            let path = copy.join(entry.file_name());
            if fs::read(&path).ok().as_ref() != Some(&text) {
                fs::write(&path, text)?;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            }
        }
    }
    Ok(Some(InPlace { shown: copy, at: theirs.canonicalize()? }))
}

fn private_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
