//! Which adapter a run uses, and the policy and prices that go with it.

use std::ops::Deref;

use flyball_core::Millis;
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

/// The policy as this agent needs it: refusals before its own loop guard, no stall watch over
/// plain text unless asked for, and a cost limit only where cost can be known.
pub(super) fn policy_for(config: &Config, adapter: &dyn Adapter) -> Result<Policy, CliError> {
    let mut rules = config.policy.clone().into_rules();
    if let Some(most) = adapter.output().refuse_after_at_most() {
        rules.calls.refuse_after = rules.calls.refuse_after.min(most).max(rules.calls.nudge_after);
    }
    let is_default = config
        .origin("limits.stall_after")
        .is_none_or(|origin| matches!(origin.source, Source::Default));
    if is_default && !adapter.traits().structured {
        rules.limits.stall_after = Millis::ZERO;
    }
    if rules.limits.cost_usd > 0.0 && !adapter.output().tells_cost() {
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
    Policy::new(rules).map_err(|error| CliError::config(error.to_string()))
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
