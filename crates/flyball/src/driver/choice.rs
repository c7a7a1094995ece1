//! Which adapter a run uses, and the policy and prices that go with it.

use std::ops::Deref;

use flyball_core::AgentFact;
use flyball_core::event::AgentTraits;
use flyball_core::policy::Policy;

use crate::client::prices::{Price, Prices};
use crate::client::{Adapter, Custom, LocalTime, PromptBy, adapter, onboarding, registry};
use crate::clock;
use crate::config::{AgentSettings, Config, OutputFormat, PromptVia, Source, suggest};
use crate::error::CliError;

/// An agent a run was given: a known client, or the user's own command.
pub(super) enum ChosenAgent {
    /// A client that has a room of its own.
    Known(&'static dyn Adapter),
    /// A command.
    Custom(Custom),
}

impl Deref for ChosenAgent {
    type Target = dyn Adapter;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Known(known) => *known,
            Self::Custom(custom) => custom,
        }
    }
}

/// The named agent, or the user's command read in the given format.
pub(super) fn choose(agent: &AgentSettings) -> Result<ChosenAgent, CliError> {
    let Some(command) = &agent.command else { return named(&agent.name) };
    let prompt = match agent.prompt {
        None | Some(PromptVia::Stdin) => PromptBy::Stdin,
        Some(PromptVia::Argument) => PromptBy::Argument,
        Some(PromptVia::File) => PromptBy::File,
    };
    let speaks_like = match agent.output {
        None | Some(OutputFormat::Text) => None,
        Some(OutputFormat::Client(name)) => Some(name),
    };
    Ok(ChosenAgent::Custom(Custom { command: command.argv(), prompt, speaks_like }))
}

/// The agent of this name.
fn named(name: &str) -> Result<ChosenAgent, CliError> {
    adapter(name).map(ChosenAgent::Known).ok_or_else(|| {
        let error = CliError::config(format!("there is no agent named `{name}`"));
        let error = match suggest::nearest(name, registry::NAMES.iter().copied()) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error,
        };
        error
            .hint(format!("known: {}", registry::NAMES.join(", ")))
            .hint("or give its command: `flyball run -- CMD …`")
    })
}

/// What is known of an agent as this config has it. Plain text is silent while its agent thinks: it
/// is no stall unless somebody asked for that watch.
pub(super) fn traits(
    config: &Config,
    settings: &AgentSettings,
    agent: &ChosenAgent,
) -> AgentTraits {
    let told = agent.traits();
    let asked_for = config
        .origin("limits.stall_after")
        .is_some_and(|origin| !matches!(origin.source, Source::Default));
    // Other agents hear nothing while they are silent: their hooks speak when they ask.
    let steerable = settings.steer;
    AgentTraits { steerable, may_be_silent: told.may_be_silent && !asked_for, ..told }
}

/// Refuses limits that could never fire, of any agent that may have a session (B4).
pub(super) fn check_limits(config: &Config, adapter: &dyn Adapter) -> Result<(), CliError> {
    limits_can_fire(config, &config.agent, adapter)?;
    for agent in &config.others {
        limits_can_fire(config, agent, &*choose(agent)?)?;
    }
    Ok(())
}

/// Whether an agent tells what it uses, in its stream or in files of its own.
pub(super) fn tells_usage(adapter: &dyn Adapter) -> bool {
    adapter.output().is_structured() || adapter.output().tells_cost()
}

/// B4: a limit that could never fire is refused before anything is started.
fn limits_can_fire(
    config: &Config,
    agent: &AgentSettings,
    adapter: &dyn Adapter,
) -> Result<(), CliError> {
    let limits = &config.policy.limits;
    let limit = match (limits.tokens > 0, limits.cost_usd > 0.0) {
        (true, _) => "a token limit",
        (false, true) => "a cost limit",
        (false, false) => return Ok(()),
    };
    if !tells_usage(adapter) {
        let words = flyball_core::text::head(&agent_words(agent), 60);
        return Err(CliError::config(format!(
            "{limit} is set, but the agent `{words}` prints plain text and tells no usage: the \
             limit could never fire"
        ))
        .hint("let it print usage lines and set agent.output = \"flyball\" (or its stream format)")
        .hint(
            "neither --max-tokens nor --max-cost works without that; limit time or iterations \
             instead: --max-runtime, --max-iterations",
        ));
    }
    if limits.cost_usd > 0.0 && !adapter.output().tells_cost() {
        let model = agent.model.as_deref().unwrap_or("");
        if prices(config).price(model).is_none() {
            let shown = if model.is_empty() { "(none named)" } else { model };
            return Err(CliError::config(format!(
                "a cost limit is set, but this agent tells no cost and the price of its model \
                 `{shown}` is unknown"
            ))
            .hint("name a known model with --model, or give [prices.\"MODEL\"] in flyball.toml")
            .hint("or limit tokens instead: --max-tokens"));
        }
    }
    Ok(())
}

/// An agent in a few words: its command, or its name.
fn agent_words(agent: &AgentSettings) -> String {
    agent.command.as_ref().map_or_else(|| agent.name.clone(), ToString::to_string)
}

/// The config's prices on top of the built-in ones.
pub(crate) fn prices(config: &Config) -> Prices {
    let own = config
        .prices
        .iter()
        .map(|(model, price)| {
            let price = Price {
                input: price.input_usd_per_mtok,
                output: price.output_usd_per_mtok,
                ..Price::default()
            };
            (model.clone(), price)
        })
        .collect();
    Prices::with(own)
}

/// Now, and the local zone.
pub(super) fn local_time() -> LocalTime {
    LocalTime { now: clock::wall(), ahead_of_utc_secs: clock::local_offset_secs() }
}

impl super::Driver {
    /// A refusal of credentials with how to have them, where that is known.
    pub(super) fn saying_how_to_log_in(&self, fact: AgentFact) -> AgentFact {
        let client = match &self.adapter {
            ChosenAgent::Known(known) => Some(known.name()),
            ChosenAgent::Custom(custom) => custom.speaks_like,
        };
        match (fact, client.and_then(onboarding::of)) {
            (AgentFact::RefusedCredentials { message }, Some(known)) => {
                let message = format!("{message}\nlog in: {}", known.login);
                AgentFact::RefusedCredentials { message }
            }
            (fact, _) => fact,
        }
    }

    /// The policy while the agent at work is at work.
    pub(super) fn policy(&self) -> Policy {
        self.terms.config.policy.for_agent(&traits(
            &self.terms.config,
            self.agent_settings(),
            &self.adapter,
        ))
    }
}
