//! Which adapter a run uses, and the policy and prices that go with it.

use std::ops::Deref;

use flyball_core::event::AgentTraits;
use flyball_core::policy::Policy;

use crate::client::prices::{Price, Prices};
use crate::client::{Adapter, Custom, LocalTime, PromptBy, adapter};
use crate::clock;
use crate::config::{Config, OutputFormat, PromptVia, Source};
use crate::error::CliError;

/// The agent a run was given: a known client, or the user's own command.
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
pub(super) fn choose(config: &Config) -> Result<ChosenAgent, CliError> {
    let agent = &config.agent;
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

/// The configured agent (0) or one of its fallbacks.
pub(super) fn choose_nth(config: &Config, agent: u32) -> Result<ChosenAgent, CliError> {
    let index = usize::try_from(agent).unwrap_or(usize::MAX);
    match index.checked_sub(1).and_then(|index| config.agent.fallback.get(index)) {
        Some(name) => named(name),
        None => choose(config),
    }
}

/// The agent of this name.
pub(super) fn named(name: &str) -> Result<ChosenAgent, CliError> {
    adapter(name).map(ChosenAgent::Known).ok_or_else(|| {
        CliError::config(format!("there is no agent named `{name}`"))
            .hint("name a known one in [agent], or give its command: `flyball run -- CMD …`")
    })
}

/// What is known of an agent as this config has it. Plain text is silent while its agent thinks: it
/// is no stall unless somebody asked for that watch.
pub(super) fn traits(config: &Config, agent: &ChosenAgent) -> AgentTraits {
    let told = agent.traits();
    let asked_for = config
        .origin("limits.stall_after")
        .is_some_and(|origin| !matches!(origin.source, Source::Default));
    // Other agents hear nothing while they are silent: their hooks speak when they ask.
    let steerable = config.agent.steer && matches!(agent, ChosenAgent::Custom(_));
    AgentTraits { steerable, may_be_silent: told.may_be_silent && !asked_for, ..told }
}

/// Refuses limits that could not hold: one on cost where cost cannot be known.
pub(super) fn check_limits(config: &Config, adapter: &dyn Adapter) -> Result<(), CliError> {
    if config.policy.limits.cost_usd > 0.0 && !adapter.output().tells_cost() {
        let model = config.agent.model.as_deref().unwrap_or("");
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

/// The config's prices on top of the built-in ones.
pub(super) fn prices(config: &Config) -> Prices {
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
    /// The policy while the agent at work is at work.
    pub(super) fn policy(&self) -> Policy {
        self.config.policy.for_agent(&traits(&self.config, &self.adapter))
    }
}
