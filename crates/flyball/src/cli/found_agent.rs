//! Which agent works when nobody has named one: the first that is installed.

use super::run::RunArgs;
use crate::client::{onboarding, registry};
use crate::config::{Config, Override, Source, Sources, Value};
use crate::error::CliError;
use crate::project::Programs;

/// The agents of this machine, of which one works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundAgent {
    /// The one that works.
    pub(super) name: &'static str,
    /// Those that could have.
    pub(super) others: Vec<&'static str>,
}

impl FoundAgent {
    /// The first of those that are installed, in the order flyball knows them in.
    pub(super) fn first(is_installed: impl Fn(&str) -> bool) -> Option<Self> {
        let mut installed = registry::NAMES.iter().copied().filter(|name| is_installed(name));
        let name = installed.next()?;
        Some(Self { name, others: installed.collect() })
    }

    /// What is worth saying of the choice.
    pub(super) fn note(&self) -> Option<String> {
        let others = self.others.join(", ");
        (!others.is_empty()).then(|| {
            format!("{} works; also found: {others} (flyball run --agent NAME)", self.name)
        })
    }
}

/// Whether nobody has said which agent works.
pub(super) fn is_open(config: &Config) -> bool {
    let agent = &config.agent;
    let named = config.origin("agent.name").is_some_and(|o| o.source != Source::Default);
    !named && agent.command.is_none() && agent.program.is_none() && agent.wrapper.is_empty()
}

/// The settings with an agent that is installed, and what is worth saying of the choice.
pub(super) fn load(mut sources: Sources) -> Result<(Config, Option<String>), CliError> {
    let config = sources.clone().load()?;
    if !is_open(&config) {
        return Ok((config, None));
    }
    let programs = Programs::on_path();
    let found = match FoundAgent::first(|name| programs.has(name) || can_be_asked(name)) {
        Some(found) => found,
        // Those that go on for it may be programs of the user's own.
        None if config.roles.fallbacks > 0 => return Ok((config, None)),
        None => return Err(none_installed()),
    };
    let value = Value::Text(found.name.to_owned());
    sources.overrides.push(Override { key: "agent.name", value, flag: RunArgs::FOUND });
    Ok((sources.load()?, found.note()))
}

/// Whether the agent is flyball itself, and the environment has a key for a model.
#[cfg(feature = "session")]
fn can_be_asked(name: &str) -> bool {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    registry::is_built_in(name) && crate::session::choice::found(&variable).is_some()
}

#[cfg(not(feature = "session"))]
const fn can_be_asked(_name: &str) -> bool {
    false
}

/// What to do about a machine without agents.
fn none_installed() -> CliError {
    let error = CliError::agent("no agent is installed: none of those flyball knows is on PATH");
    let error = ["claude", "codex", "gemini"]
        .iter()
        .filter_map(|name| onboarding::of(name))
        .fold(error, |error, known| error.hint(format!("install one: {}", known.install)));
    error
        .hint(format!("known: {}", registry::NAMES.join(", ")))
        .hint("or have flyball's own agent work: export ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY")
        .hint("or give any program: flyball run \"…\" -- COMMAND")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_installed_agent_of_a_fixed_order_works_and_the_others_are_named() {
        let found = |installed: &[&str]| FoundAgent::first(|name| installed.contains(&name));
        assert_eq!(found(&[]), None);
        assert_eq!(found(&["vim"]), None);
        let only = found(&["qwen"]).unwrap();
        assert_eq!((only.name, only.note()), ("qwen", None));
        let several = found(&["aider", "opencode", "codex"]).unwrap();
        assert_eq!(
            (several.name, several.others.as_slice()),
            ("codex", &["opencode", "aider"][..])
        );
        assert_eq!(
            several.note().unwrap(),
            "codex works; also found: opencode, aider (flyball run --agent NAME)"
        );
    }

    #[test]
    fn an_agent_that_somebody_chose_in_any_way_stays() {
        let loaded = |key, value| {
            let overrides = vec![Override { key, value, flag: "--x" }];
            Sources { overrides, ..Sources::default() }.load().unwrap()
        };
        assert!(is_open(&Sources::default().load().unwrap()));
        assert!(is_open(&loaded("agent.model", Value::Text("m".into()))));
        assert!(!is_open(&loaded("agent.name", Value::Text("claude".into()))));
        assert!(!is_open(&loaded("agent.program", Value::Text("/x/claude".into()))));
        assert!(!is_open(&loaded("agent.wrapper", Value::Words(vec!["docker".into()]))));
    }
}
