//! `[roles]` and the `[agents.NAME]` they name: who works beside the configured agent.

use super::build::Typed;
use super::key::Key;
use super::{AgentSettings, CommandLine, Roles, suggest};
use crate::client::registry;
use crate::error::CliError;

/// Everybody but the configured agent.
pub(super) struct Crew {
    pub(super) others: Vec<AgentSettings>,
    pub(super) roles: Roles,
    pub(super) planner: Option<AgentSettings>,
}

/// Who takes which role.
pub(super) fn crew(from: &Typed<'_>, agent: &AgentSettings) -> Result<Crew, CliError> {
    let mut fallback = from.words("roles.fallback")?;
    if fallback.is_empty() {
        fallback = from.words("agent.fallback")?;
    }
    let others = fallback.iter().map(|name| other(from, name, agent));
    let mut others: Vec<AgentSettings> = others.collect::<Result<_, _>>()?;
    let fallbacks = u32::try_from(others.len()).unwrap_or(u32::MAX);
    let mut number = |role: &str| -> Result<Option<u32>, CliError> {
        let Some(name) = from.text_or_none(role)? else { return Ok(None) };
        if is_same(from, &name, agent) {
            return Ok(Some(0));
        }
        let known = others.iter().position(|other| other.name == name);
        let at = if let Some(at) = known {
            at
        } else {
            others.push(other(from, &name, agent)?);
            others.len().saturating_sub(1)
        };
        Ok(u32::try_from(at).ok().and_then(|at| at.checked_add(1)))
    };
    let (rescue, review) = (number("roles.rescue")?, number("roles.review")?);
    let planner = from.text_or_none("roles.plan")?.filter(|name| !is_same(from, name, agent));
    let planner = planner.map(|name| other(from, &name, agent)).transpose()?;
    // One that nobody takes yet must be sound all the same.
    for name in from.names_in("agents") {
        other(from, &name, agent)?;
    }
    Ok(Crew { others, roles: Roles { fallbacks, review, rescue }, planner })
}

/// Whether a role's name means the configured agent itself.
fn is_same(from: &Typed<'_>, name: &str, agent: &AgentSettings) -> bool {
    agent.name == name && agent.command.is_none() && !from.names_in("agents").contains(name)
}

/// The configured agent, when it is only named and described in `[agents.NAME]`.
pub(super) fn described(from: &Typed<'_>, agent: AgentSettings) -> Result<AgentSettings, CliError> {
    let is_described = agent.command.is_none()
        && !registry::NAMES.contains(&agent.name.as_str())
        && from.names_in("agents").contains(&agent.name);
    if !is_described {
        return Ok(agent);
    }
    let mut found = other(from, &agent.name, &agent)?;
    found.model = agent.model.or(found.model);
    found.env.extend(agent.env);
    Ok(found)
}

/// An agent by its name: what `[agents.NAME]` says of it, else the usual way of a known one. A name
/// flyball does not know is a program of the user's own.
fn other(from: &Typed<'_>, name: &str, usual: &AgentSettings) -> Result<AgentSettings, CliError> {
    let key = |field: &str| format!("agents.{name}.{field}");
    let at = |field: &str| Key::from_parts(&["agents", name, field]);
    let program = from.text_at(&at("program")).filter(|text| !text.is_empty());
    let args = from.words_at(&at("args"));
    let mut command = from.command_at(&at("command"));
    let is_known = registry::NAMES.contains(&name);
    if command.is_some() && (program.is_some() || !args.is_empty()) {
        let message =
            format!("`{}` is for an agent that has no command of its own", key("program"));
        return Err(CliError::config(message).hint(format!("put it into `{}`", key("command"))));
    }
    if let (None, false, Some(program)) = (&command, is_known, &program) {
        command =
            Some(CommandLine::Argv([program.clone()].into_iter().chain(args.clone()).collect()));
    }
    if command.is_none() && !is_known {
        return Err(stranger(from, name));
    }
    let is_own = command.is_some();
    Ok(AgentSettings {
        steer: false,
        name: name.to_owned(),
        command,
        program: program.filter(|_| !is_own),
        args: if is_own { Vec::new() } else { args },
        prompt: from.choice_at(&at("prompt")),
        output: from.choice_at(&at("output")),
        wrapper: usual.wrapper.clone(),
        stop_command: usual.stop_command.clone(),
        model: from.text_at(&at("model")).filter(|text| !text.is_empty()),
        permission: from.choice_at(&at("permission")).unwrap_or(usual.permission),
        env: from.table(&["agents", name, "env"]),
    })
}

/// A name that stands for no agent, with the one that was meant.
fn stranger(from: &Typed<'_>, name: &str) -> CliError {
    let error = CliError::config(format!("there is no agent named `{name}`"));
    let described = from.names_in("agents");
    let known = described.iter().map(String::as_str).filter(|known| *known != name);
    let known = known.chain(registry::NAMES.iter().copied());
    let error = match suggest::nearest(name, known) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error,
    };
    error.hint(format!("give its program: [agents.{name}] program = \"…\" in flyball.toml"))
}
