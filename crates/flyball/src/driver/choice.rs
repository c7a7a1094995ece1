//! Which adapter a run uses, and the policy and prices that go with it.

use flyball_core::Millis;
use flyball_core::event::AgentTraits;
use flyball_core::policy::Policy;

use crate::agent::prices::{Price, Prices};
use crate::agent::{
    Adapter, Book, Custom, Launch, LaunchRequest, LocalTime, PromptBy, ReadRequest, Reader,
    Whereabouts, adapter,
};
use crate::clock;
use crate::config::{AgentSettings, Config, OutputFormat, PromptVia, Source};
use crate::error::CliError;

/// The adapter: the named agent's own, or the user's command read in the given format.
pub(super) fn choose(agent: &AgentSettings) -> Result<Box<dyn Adapter>, CliError> {
    let output = agent.output.and_then(format_name).unwrap_or("text").to_owned();
    if let Some(command) = &agent.command {
        let prompt = match agent.prompt {
            None | Some(PromptVia::Stdin) => PromptBy::Stdin,
            Some(PromptVia::Argument) => PromptBy::Argument,
            Some(PromptVia::File) => PromptBy::File,
        };
        return Ok(Box::new(Custom { command: command.argv(), prompt, output }));
    }
    named(&agent.name)
}

/// The adapter of this name.
fn named(name: &str) -> Result<Box<dyn Adapter>, CliError> {
    match adapter(name) {
        Some(known) => Ok(Box::new(Known(known))),
        None => Err(CliError::config(format!("there is no agent named `{name}`"))
            .hint("name a known one in [agent], or give its command: `flyball run -- CMD …`")),
    }
}

fn format_name(format: OutputFormat) -> Option<&'static str> {
    Some(match format {
        OutputFormat::Text => return None,
        OutputFormat::Flyball => "flyball",
        OutputFormat::Claude => "claude",
        OutputFormat::Codex => "codex",
        OutputFormat::Gemini => "gemini",
        OutputFormat::Goose => "goose",
        OutputFormat::Opencode => "opencode",
        OutputFormat::Qwen => "qwen",
        OutputFormat::Copilot => "copilot",
        OutputFormat::Pi => "pi",
        OutputFormat::Cline => "cline",
        OutputFormat::Aider => "aider",
    })
}

/// A known adapter behind a box.
struct Known(&'static dyn Adapter);

impl Adapter for Known {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn traits(&self) -> AgentTraits {
        self.0.traits()
    }
    fn launch(&self, request: &LaunchRequest<'_>) -> Launch {
        self.0.launch(request)
    }
    fn free_text(&self) -> &'static [&'static str] {
        self.0.free_text()
    }
    fn refuse_after_at_most(&self) -> Option<u32> {
        self.0.refuse_after_at_most()
    }
    fn stop_refusal_cap(&self) -> u32 {
        self.0.stop_refusal_cap()
    }
    fn can_resume(&self) -> bool {
        self.0.can_resume()
    }
    fn tells_cost(&self) -> bool {
        self.0.tells_cost()
    }
    fn book(&self, at: &Whereabouts<'_>) -> Option<Box<dyn Book>> {
        self.0.book(at)
    }
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        self.0.reader(request)
    }
}

/// The policy as this agent needs it: refusals before its own loop guard, no stall watch over
/// plain text unless asked for, and a cost limit only where cost can be known.
pub(super) fn policy_for(config: &Config, adapter: &dyn Adapter) -> Result<Policy, CliError> {
    let mut rules = config.policy.clone().into_rules();
    if let Some(most) = adapter.refuse_after_at_most() {
        rules.calls.refuse_after = rules.calls.refuse_after.min(most).max(rules.calls.nudge_after);
    }
    let is_default = config
        .origin("limits.stall_after")
        .is_none_or(|origin| matches!(origin.source, Source::Default));
    if is_default && !adapter.traits().structured {
        rules.limits.stall_after = Millis::ZERO;
    }
    limits_can_fire(config, &config.agent, adapter)?;
    for agent in &config.others {
        limits_can_fire(config, agent, choose(agent)?.as_ref())?;
    }
    Policy::new(rules).map_err(|error| CliError::config(error.to_string()))
}

/// Whether an agent tells what it uses, in its stream or in files of its own.
pub(super) fn tells_usage(adapter: &dyn Adapter) -> bool {
    adapter.traits().structured || adapter.tells_cost()
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
    if limits.cost_usd > 0.0 && !adapter.tells_cost() {
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
