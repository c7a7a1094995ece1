//! What is found out about agents before anything is started, written or paid: whether their
//! programs are there, and whether they are logged in.

mod surroundings;

use std::path::{Path, PathBuf};

use self::surroundings::Machine;
use crate::client::login::{Login, login};
use crate::client::{onboarding, registry};
use crate::config::{AgentSettings, CommandLine, Config, FILE_NAME};
use crate::error::CliError;
use crate::project::Programs;

/// Why an agent cannot work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hindrance {
    /// Its program is not there.
    NoProgram(String),
    /// It is not logged in.
    NotLoggedIn,
}

impl Hindrance {
    /// What is wrong, in words.
    pub(crate) fn words(&self, agent: &AgentSettings) -> String {
        match self {
            Self::NoProgram(program) => format!("there is no program `{program}`"),
            Self::NotLoggedIn => format!("`{}` is not logged in", agent.name),
        }
    }

    /// The error of an agent that is needed.
    pub(crate) fn refusal(&self, agent: &AgentSettings) -> CliError {
        let (outcome, sentence) = match self {
            Self::NoProgram(_) => ("agent_not_started", "the agent cannot be started"),
            Self::NotLoggedIn => ("agent_refused", "the agent cannot work"),
        };
        let what = self.words(agent);
        let error = CliError::agent(format!("{sentence}: {what} ({outcome}, code 7)"));
        self.remedies(agent).into_iter().fold(error, CliError::hint)
    }

    /// What to do about it, the first thing first.
    pub(crate) fn remedies(&self, agent: &AgentSettings) -> Vec<String> {
        let known = onboarding::of(&agent.name).filter(|_| agent.command.is_none());
        let own = match self {
            Self::NoProgram(_) => known.map(|known| format!("install it: {}", known.install)),
            Self::NotLoggedIn => known.map(|known| format!("log in: {}", known.login)),
        };
        let programs = Programs::on_path();
        let is_other = |name: &&&str| **name != agent.name && programs.has(name);
        let other = registry::NAMES.iter().find(is_other);
        let other = other.map(|other| format!("or use another: flyball run --agent {other}"));
        let command = match self {
            Self::NoProgram(_) => Some(format!("or set `agent.command` in {FILE_NAME}")),
            Self::NotLoggedIn => None,
        };
        own.into_iter().chain(other).chain(command).collect()
    }
}

/// Refuses a run in which no agent could work. One that another goes on for is only told.
pub(crate) fn check_agents(config: &Config, root: &Path) -> Result<Vec<String>, CliError> {
    let hindrances: Vec<Option<Hindrance>> =
        config.agents().map(|agent| hindrance(agent, root)).collect();
    let mut notes = Vec::new();
    let reviewer = config.roles.review.filter(|number| *number > config.roles.fallbacks);
    for (number, role) in [(reviewer, "reviews"), (config.roles.rescue, "helps")] {
        let Some(number) = number.filter(|number| *number > 0) else { continue };
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(Some(hindrance)) = hindrances.get(at) {
            let agent = config.nth_agent(number);
            let what = hindrance.words(agent);
            notes.push(format!("{what}: `{}`, which {role}, cannot", agent.name));
        }
    }
    let first = &config.agent;
    let Some(Some(hindrance)) = hindrances.first() else { return Ok(notes) };
    let what = hindrance.words(first);
    let able = config.in_turn().zip(&hindrances).find(|(_, hindrance)| hindrance.is_none());
    if let Some((next, _)) = able {
        notes.push(format!("{what}: {} goes on in its place", next.name));
        return Ok(notes);
    }
    Err(hindrance.refusal(first))
}

/// Why this agent cannot work, if that is plain.
pub(crate) fn hindrance(agent: &AgentSettings, root: &Path) -> Option<Hindrance> {
    if let Some(program) = missing_program(agent, root) {
        return Some(Hindrance::NoProgram(program));
    }
    (login_of(agent, root) == Login::Missing).then_some(Hindrance::NotLoggedIn)
}

/// Whether a known client is logged in. A command of the user's own, or one that lives inside of a
/// wrapper, is its user's affair.
pub(crate) fn login_of(agent: &AgentSettings, root: &Path) -> Login {
    if agent.command.is_some() || !agent.wrapper.is_empty() {
        return Login::Unknown;
    }
    login(&agent.name, &Machine { agent, root })
}

/// The program of an agent that is plainly not there. What begins inside of a wrapper cannot be
/// seen from here, and a line for the shell is the shell's affair.
fn missing_program(agent: &AgentSettings, root: &Path) -> Option<String> {
    if registry::is_built_in(&agent.name) && agent.program.is_none() && agent.wrapper.is_empty() {
        return None;
    }
    let program = match (agent.wrapper.first(), &agent.command) {
        (Some(wrapper), _) => wrapper.clone(),
        (None, Some(CommandLine::Shell(_))) => return None,
        (None, Some(CommandLine::Argv(words))) => words.first().cloned().unwrap_or_default(),
        (None, None) => named_program(agent).to_owned(),
    };
    (!programs(agent).can_start(&program, root)).then_some(program)
}

fn named_program(agent: &AgentSettings) -> &str {
    agent.program.as_deref().unwrap_or(&agent.name)
}

/// Where the agent's program is looked for.
fn programs(agent: &AgentSettings) -> Programs {
    match agent.env.get("PATH") {
        Some(path) => Programs::in_folders(std::env::split_paths(path)),
        None => Programs::on_path(),
    }
}

/// Where the program of a named agent is.
fn place(agent: &AgentSettings, root: &Path) -> Option<PathBuf> {
    let program = named_program(agent);
    if program.contains('/') { Some(root.join(program)) } else { programs(agent).find(program) }
}
