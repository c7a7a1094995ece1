//! Configuration: files, environment and flags, put on top of each other and checked. The result is
//! a [`Config`] that knows who set what. Read once; nothing in here watches or writes files.

mod build;
pub(crate) mod bytes;
mod check;
mod command_line;
pub mod duration;
mod env;
mod file;
mod key;
mod layer;
mod report;
mod roles;
mod route;
mod sandbox;
pub mod schema;
mod session;
mod show;
pub(crate) mod suggest;
mod value;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use flyball_core::Millis;
use flyball_core::policy::{Policy, Preset};
use serde::Deserialize;

pub use self::check::{GateCheck, default_timeout};
pub use self::command_line::CommandLine;
pub(crate) use self::command_line::quoted;
pub use self::env::ALIASES;
pub use self::key::Key;
pub use self::layer::{Entry, Origin, Settings, Source};
pub use self::report::ReportFormat;
pub use self::route::Route;
pub use self::sandbox::{SandboxProfile, SandboxSettings, ShieldWish};
use self::schema::Reader;
pub use self::session::SessionSettings;
pub use self::value::Value;
pub(crate) use self::value::{stays_inside, string};
use crate::client::{self, registry};
use crate::error::CliError;
use crate::files;

/// The name of the project's file.
pub const FILE_NAME: &str = "flyball.toml";

/// Every setting with its default and why, as compiled in.
pub const DEFAULT_TOML: &str = include_str!("../default.toml");

/// The effective configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The limits the core decides by.
    pub policy: Policy,
    /// Which agent, and how it is started and read.
    pub agent: AgentSettings,
    /// The gates that were written down; without any, those that fit the project are detected.
    pub gates: GateSettings,
    /// Who is told.
    pub notify: NotifySettings,
    /// What is done after a verified completion.
    pub finish: FinishSettings,
    /// How worktrees of runs are made ready.
    pub worktree: WorktreeSettings,
    /// How flyball's hooks behave.
    pub hooks: HookSettings,
    /// How checkpoints are kept.
    pub checkpoints: CheckpointSettings,
    /// What holds the agent.
    pub sandbox: SandboxSettings,
    /// The built-in agent.
    pub session: SessionSettings,
    /// Largest log of one iteration, in bytes.
    pub log_max_bytes: u64,
    /// The report written at the end of a run, relative to the repository's root.
    pub report_file: Option<PathBuf>,
    /// Whether telemetry tells what agents and tools said, too.
    pub otel_content: bool,
    /// The loop folder, relative to the repository's root.
    pub loop_dir: PathBuf,
    /// The task list, relative to the loop folder.
    pub tasks_file: PathBuf,
    /// The named set of task limits that was asked for.
    pub preset: Preset,
    /// Prices by model.
    pub prices: BTreeMap<String, Price>,
    /// Agents beside the configured one: the fallbacks in their order, then those of other roles.
    pub others: Vec<AgentSettings>,
    /// Who takes which role in a run.
    pub roles: Roles,
    /// Who drafts stories, when it is not the configured agent.
    pub planner: Option<AgentSettings>,
    /// The profile that was chosen.
    pub profile: Option<String>,
    /// Every setting with its origin.
    pub settings: Settings,
    /// Variables that look like settings and name none, in words.
    pub strange_variables: Vec<String>,
}

/// `[roles]`, by number: 0 is the configured agent, then the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// How many of the others go on, in their order, when an agent cannot.
    pub fallbacks: u32,
    /// Who reviews.
    pub review: Option<u32>,
    /// Who takes one iteration before a guard ends a run.
    pub rescue: Option<u32>,
}

/// `[agent]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSettings {
    /// Its name.
    pub name: String,
    /// The user's own command, when there is one.
    pub command: Option<CommandLine>,
    /// The program of the named agent, when it is not the one found by its name.
    pub program: Option<String>,
    /// Arguments for the named agent, on top of those flyball gives it.
    pub args: Vec<String>,
    /// How the prompt is handed over; none leaves it to the adapter, or stdin for a command.
    pub prompt: Option<PromptVia>,
    /// How output is read; none leaves it to the adapter, or plain text for a command.
    pub output: Option<OutputFormat>,
    /// Whether it listens on its standard input while it works.
    pub steer: bool,
    /// Words put in front of the command.
    pub wrapper: Vec<String>,
    /// Ends what runs inside the wrapper.
    pub stop_command: Option<CommandLine>,
    /// The model to ask for.
    pub model: Option<String>,
    /// Whether the agent may ask for permission.
    pub permission: Permission,
    /// Variables on top of the inherited environment.
    pub env: BTreeMap<String, String>,
}

impl Config {
    /// The configured agent (0), one of its fallbacks, or one of another role.
    pub fn nth_agent(&self, number: u32) -> &AgentSettings {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        index.checked_sub(1).and_then(|index| self.others.get(index)).unwrap_or(&self.agent)
    }

    /// All agents that may have a session in a run, the configured one first.
    pub fn agents(&self) -> impl Iterator<Item = &AgentSettings> {
        std::iter::once(&self.agent).chain(&self.others)
    }

    /// Those that work in turn: the configured one, then its fallbacks.
    pub fn in_turn(&self) -> impl Iterator<Item = &AgentSettings> {
        let fallbacks = usize::try_from(self.roles.fallbacks).unwrap_or(usize::MAX);
        self.agents().take(fallbacks.saturating_add(1))
    }
}

/// How the prompt reaches the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptVia {
    /// On standard input.
    Stdin,
    /// As the last argument.
    Argument,
    /// In a file whose path is the last argument.
    File,
}

/// How the agent's output is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// Plain text.
    Text,
    /// As the client of this name prints it; `flyball` stands for flyball's own JSON lines.
    Client(&'static str),
}

impl<'de> Deserialize<'de> for OutputFormat {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = String::deserialize(from)?;
        match client::adapter(&word) {
            Some(known) => Ok(Self::Client(known.name())),
            None if word == "text" => Ok(Self::Text),
            None => Err(serde::de::Error::unknown_variant(&word, registry::OUTPUTS)),
        }
    }
}

/// Whether the agent may stop to ask for permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// It is started so that it does not ask.
    Skip,
    /// Its own rules hold.
    Ask,
}

/// `[gates]`, as far as it is not policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateSettings {
    /// The gates that were written down, disabled ones too.
    pub checks: Vec<GateCheck>,
    /// Whether gates run side by side.
    pub parallel: bool,
}

/// `[finish]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishSettings {
    /// A program to run after a verified completion.
    pub command: Option<CommandLine>,
    /// How long it may take.
    pub timeout: Millis,
}

/// `[worktree]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeSettings {
    /// Lines for the shell, run once in each worktree that is made.
    pub setup: Vec<String>,
    /// How long each may take.
    pub timeout: Millis,
}

/// `[notify]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifySettings {
    /// Where messages go.
    pub to: Vec<Route>,
    /// A program to run.
    pub command: Option<CommandLine>,
    /// An address to post to.
    pub webhook: Option<String>,
    /// How long each may take.
    pub timeout: Millis,
    /// Whether a verified completion is told to nobody.
    pub quiet_on_success: bool,
}

impl NotifySettings {
    /// Every way a message goes, `command` and `webhook` among them.
    pub fn routes(&self) -> Vec<Route> {
        let command = self.command.clone().map(Route::Command);
        let webhook = self.webhook.clone().map(Route::Webhook);
        self.to.iter().cloned().chain(command).chain(webhook).collect()
    }
}

/// `[checkpoints]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointSettings {
    /// Whether each is kept a second time, in the state folder.
    pub vault: bool,
    /// The largest untracked file they hold, in bytes; 0 for no limit.
    pub max_file: u64,
}

/// `[hooks]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookSettings {
    /// What a failing hook of flyball's does.
    pub on_error: OnHookError,
    /// How long a hook may take, gates not counted.
    pub timeout: Millis,
}

/// What a failing hook of flyball's does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnHookError {
    /// The agent goes on.
    Open,
    /// The agent is refused.
    Closed,
}

/// `[prices."model"]`, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// For what goes in.
    pub input_usd_per_mtok: f64,
    /// For what comes out.
    pub output_usd_per_mtok: f64,
}

/// A setting given by a flag.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// The setting with dots.
    pub key: &'static str,
    /// Its value.
    pub value: Value,
    /// The flag, as the user typed it.
    pub flag: &'static str,
}

/// Where configuration is read from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The folder `flyball.toml` is looked for in.
    pub root: PathBuf,
    /// A file to read instead of it; must exist.
    pub project_file: Option<PathBuf>,
    /// The user's own file, if there may be one.
    pub user_file: Option<PathBuf>,
    /// The environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What flags say.
    pub overrides: Vec<Override>,
    /// The profile chosen.
    pub profile: Option<String>,
    /// The project's file is what flyball itself kept of a run: no agent wrote it, so that it may
    /// say anything.
    pub is_record: bool,
}

impl Sources {
    /// The sources of this process for the project at `root`: its environment and user file.
    pub fn of_process(root: impl Into<PathBuf>) -> Self {
        let environment: Vec<_> = std::env::vars_os().collect();
        let absolute = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let folder =
            absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
        let user_file = folder.map(|folder| folder.join("flyball").join("config.toml"));
        Self { root: root.into(), user_file, environment, ..Self::default() }
    }

    /// Reads, stacks and checks all layers.
    pub fn load(self) -> Result<Config, CliError> {
        let mut files = vec![file::SourceText { path: None, text: DEFAULT_TOML }.layer()?];
        if let Some(path) = &self.user_file {
            files.extend(read_layer(path, &path.display().to_string())?);
        }
        files.extend(self.project_layer(&files)?);
        let profile = self.profile_settings(&files)?;
        let mut layers: Vec<Settings> = files.into_iter().map(|file| file.settings).collect();
        layers.extend(profile);
        layers.push(env::layer(&self.environment)?);
        layers.push(self.overrides.iter().map(flag_entry).collect());
        let mut config = build::config(layer::stack(layers), self.profile)?;
        config.strange_variables = env::unknown(&self.environment);
        Ok(config)
    }

    /// The project's own file. What holds the agent it may tighten, and not loosen; what is done with
    /// the user's key is none of its business.
    fn project_layer(&self, below: &[layer::Layer]) -> Result<Option<layer::Layer>, CliError> {
        let mut project = match &self.project_file {
            None => read_layer(&self.root.join(FILE_NAME), FILE_NAME)?,
            Some(path) => {
                let shown = path.display().to_string();
                let missing =
                    || CliError::no_input(format!("the config file `{shown}` does not exist"));
                Some(read_layer(path, &shown)?.ok_or_else(missing)?)
            }
        };
        if let Some(project) = project.as_mut().filter(|_| !self.is_record) {
            let layers = below.iter().map(|layer| layer.settings.clone()).collect();
            let below = layer::stack(layers);
            let profiles = project.profiles.values_mut();
            for settings in std::iter::once(&mut project.settings).chain(profiles) {
                sandbox::tighten_only(&below, settings)?;
                session::own_only(&below, settings)?;
            }
        }
        Ok(project)
    }

    /// The layers of the chosen profile, one per file that has it.
    fn profile_settings(&self, files: &[layer::Layer]) -> Result<Vec<Settings>, CliError> {
        let Some(name) = &self.profile else { return Ok(Vec::new()) };
        let found: Vec<Settings> =
            files.iter().filter_map(|file| file.profiles.get(name).cloned()).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let mut known: Vec<&str> =
            files.iter().flat_map(|file| file.profiles.keys()).map(String::as_str).collect();
        known.sort_unstable();
        known.dedup();
        let error = CliError::config(format!("there is no profile `{name}`"))
            .hint(format!("known profiles: {}", known.join(", ")));
        Err(match suggest::nearest(name, known) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error,
        })
    }
}

impl Config {
    /// Who set a setting; none for a name that is no setting.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.settings.get(&Key::dotted(key)).map(|entry| &entry.origin)
    }

    /// Settings that are still read and do nothing any more, each with who set it, and variables
    /// that name none.
    pub fn warnings(&self) -> Vec<String> {
        let gone = schema::SETTINGS.iter().filter(|setting| setting.reader == Reader::Nobody);
        let set = gone.filter_map(|setting| Some((setting.key, self.origin(setting.key)?)));
        set.map(|(key, origin)| {
            format!(
                "`{key}` ({origin}) does nothing any more: results that change are let through by \
                 themselves (`calls.refuse_after_changing`); take it out"
            )
        })
        .chain(self.strange_variables.iter().cloned())
        .collect()
    }

    /// The whole configuration as TOML, for people.
    pub fn to_toml(&self, detail: Detail) -> String {
        show::toml(&self.settings, detail)
    }

    /// The whole configuration as JSON, for programs.
    pub fn to_json(&self, detail: Detail) -> serde_json::Value {
        show::json(&self.settings, detail)
    }
}

/// How much of the configuration is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The values.
    Values,
    /// The values and who set them.
    Origins,
}

fn flag_entry(given: &Override) -> (Key, Entry) {
    let origin = Origin::of(Source::Flag(given.flag.to_owned()));
    (Key::dotted(given.key), Entry { value: given.value.clone(), origin })
}

/// The largest file of settings that is read.
pub(crate) const FILE_MAX: u64 = 1024 * 1024;

/// A file as a layer; none when it does not exist.
fn read_layer(path: &Path, shown: &str) -> Result<Option<layer::Layer>, CliError> {
    let refused = |error| CliError::io(format!("`{shown}` could not be read")).cause(error);
    let found = files::optional(files::read(path, FILE_MAX)).map_err(refused)?;
    let Some(bytes) = found else { return Ok(None) };
    let text = String::from_utf8(bytes)
        .map_err(|error| CliError::config(format!("`{shown}` is not UTF-8")).cause(error))?;
    file::SourceText { path: Some(shown), text: &text }.layer().map(Some)
}
