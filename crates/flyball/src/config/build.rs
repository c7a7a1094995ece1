//! Settings by name, turned into a typed [`Config`]. What does not fit together is an error that
//! says who set it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use flyball_core::Millis;
use flyball_core::policy::{Policy, PolicyError, Rules};
use serde::de::DeserializeOwned;
use serde_json::Map;

use super::key::Key;
use super::layer::Settings;
use super::roles::{Crew, crew, described};
use super::schema::{Reader, SETTINGS};
use super::session::session;
use super::value::Value;
use super::{
    AgentSettings, CheckpointSettings, CommandLine, Config, FinishSettings, GateCheck,
    GateSettings, HookSettings, NotifySettings, OutputFormat, Price, ReportFormat, Route,
    SandboxSettings, WorktreeSettings,
};
use crate::error::CliError;

pub(super) fn config(settings: Settings, profile: Option<String>) -> Result<Config, CliError> {
    not_zero(&settings)?;
    let from = Typed(&settings);
    let agent = agent(&from)?;
    let Crew { others, roles, planner } = crew(&from, &agent)?;
    Ok(Config {
        policy: policy(&settings)?,
        agent,
        others,
        roles,
        planner,
        gates: GateSettings {
            checks: from.checks("gates.check")?,
            parallel: from.flag("gates.parallel")?,
        },
        notify: NotifySettings {
            to: routes(&from)?,
            command: from.command("notify.command")?,
            webhook: from.text_or_none("notify.webhook")?,
            timeout: from.duration("notify.timeout")?,
            quiet_on_success: from.flag("notify.quiet_on_success")?,
        },
        finish: FinishSettings {
            command: from.command("finish.command")?,
            timeout: from.duration("finish.timeout")?,
        },
        worktree: WorktreeSettings {
            setup: from.words("worktree.setup")?,
            timeout: from.duration("worktree.timeout")?,
        },
        hooks: HookSettings {
            on_error: from.choice("hooks.on_error")?,
            timeout: from.duration("hooks.timeout")?,
        },
        checkpoints: CheckpointSettings {
            vault: from.flag("checkpoints.vault")?,
            max_file: from.bytes("checkpoints.max_file")?,
        },
        sandbox: sandbox(&from)?,
        session: session(&from)?,
        log_max_bytes: from.number("log.max_bytes")?,
        report_file: report_file(&from)?,
        otel_content: otel_content(&from)?,
        loop_dir: PathBuf::from(from.text("loop.dir")?),
        tasks_file: PathBuf::from(from.text("tasks.file")?),
        preset: from.choice("tasks.preset")?,
        prices: prices(&settings),
        profile,
        settings,
        strange_variables: Vec::new(),
    })
}

/// The file of the report; its name says in which form.
fn report_file(from: &Typed<'_>) -> Result<Option<PathBuf>, CliError> {
    let file = from.text_or_none("report.file")?.map(PathBuf::from);
    if let Some(path) = &file
        && ReportFormat::of_file(path).is_none()
    {
        let message = format!("`report.file = \"{}\"` does not say in which form", path.display());
        return Err(CliError::config(message).hint("name it .html, .md, .json or .csv"));
    }
    Ok(file)
}

/// Whether telemetry tells what was said: asked of a program that sends none, it is a mistake.
fn otel_content(from: &Typed<'_>) -> Result<bool, CliError> {
    match from.flag("otel.content")? {
        true if !cfg!(feature = "otel") => Err(CliError::config("`otel.content` is set")
            .hint("this flyball sends no telemetry: build it with the feature `otel`")),
        wanted => Ok(wanted),
    }
}

/// The ways messages go.
fn routes(from: &Typed<'_>) -> Result<Vec<Route>, CliError> {
    let read = |text: &String| {
        Route::parse(text).map_err(|why| {
            CliError::config(format!("`notify.to` has \"{text}\": {why}"))
                .hint("\"desktop\", \"bell\", \"ntfy:TOPIC\", \"slack:URL\", \"webhook:URL\", \"command:…\"")
        })
    };
    from.words("notify.to")?.iter().map(read).collect()
}

fn sandbox(from: &Typed<'_>) -> Result<SandboxSettings, CliError> {
    Ok(SandboxSettings {
        shield: from.choice("sandbox.shield")?,
        profile: from.choice("sandbox.profile")?,
        write: from.words("sandbox.write")?,
        hide: from.words("sandbox.hide")?,
        show: from.words("sandbox.show")?,
        allow_hosts: from.words("sandbox.allow_hosts")?,
        loopback: from.pick("sandbox.loopback", |value| {
            let Value::Ports(ports) = value else { return None };
            Some(ports.clone())
        })?,
        keep_env: from.words("sandbox.keep_env")?,
        nested: from.flag("sandbox.nested")?,
    })
}

/// Limits of the shell's that mean nothing when they are 0.
fn not_zero(settings: &Settings) -> Result<(), CliError> {
    let keys = [
        "notify.timeout",
        "hooks.timeout",
        "finish.timeout",
        "worktree.timeout",
        "session.command_timeout",
        "session.stall_after",
        "session.first_byte",
        "log.max_bytes",
    ];
    for key in keys {
        let Some(entry) = settings.get(&Key::dotted(key)) else { continue };
        if matches!(entry.value, Value::Number(0) | Value::Duration(Millis::ZERO)) {
            return Err(CliError::config(format!("`{key}` must be more than 0"))
                .cause(format!("`{key} = 0` comes from {}", entry.origin)));
        }
    }
    Ok(())
}

fn agent(from: &Typed<'_>) -> Result<AgentSettings, CliError> {
    let agent = described(from, agent_settings(from)?)?;
    let lost = [("agent.program", agent.program.is_some()), ("agent.args", !agent.args.is_empty())];
    if let Some((key, _)) = lost.iter().find(|(_, set)| *set && agent.command.is_some()) {
        let message = format!("`{key}` is for an agent that has no command of its own");
        return Err(CliError::config(message).hint("put it into `agent.command`"));
    }
    if agent.steer
        && (agent.command.is_none()
            || agent.output != Some(OutputFormat::Client(crate::client::OWN_PROTOCOL)))
    {
        let message = "`agent.steer` is for a command of your own that speaks flyball's protocol";
        return Err(CliError::config(message).hint(
            "set `agent.command` and `agent.output = \"flyball\"`, or leave `agent.steer` out",
        ));
    }
    Ok(agent)
}

fn agent_settings(from: &Typed<'_>) -> Result<AgentSettings, CliError> {
    Ok(AgentSettings {
        name: from.text("agent.name")?,
        command: from.command("agent.command")?,
        program: from.text_or_none("agent.program")?,
        args: from.words("agent.args")?,
        prompt: from.choice_or_auto("agent.prompt")?,
        output: from.choice_or_auto("agent.output")?,
        steer: from.flag("agent.steer")?,
        wrapper: from.words("agent.wrapper")?,
        stop_command: from.command("agent.stop_command")?,
        model: from.text_or_none("agent.model")?,
        permission: from.choice("agent.permission")?,
        env: from.table(&["agent", "env"]),
    })
}

fn policy(settings: &Settings) -> Result<Policy, CliError> {
    let mut sections = Map::new();
    for setting in SETTINGS.iter().filter(|setting| setting.reader == Reader::Policy) {
        let key = Key::dotted(setting.key);
        let entry = settings.get(&key).ok_or_else(|| missing(setting.key))?;
        let section = sections
            .entry(key.section().to_string())
            .or_insert_with(|| serde_json::Value::Object(Map::new()));
        if let Some(section) = section.as_object_mut() {
            section.insert(key.last().to_owned(), entry.value.to_rules_json());
        }
    }
    let rules: Rules = serde_json::from_value(sections.into())
        .map_err(|error| CliError::internal("the settings do not make a policy").cause(error))?;
    Policy::new(rules).map_err(|error| senseless(&error, settings))
}

/// A policy error with the origin of every setting it speaks of.
fn senseless(error: &PolicyError, settings: &Settings) -> CliError {
    let keys = match error {
        PolicyError::TooSmall { setting, .. } | PolicyError::TooLarge { setting, .. } => {
            vec![*setting]
        }
        PolicyError::RefuseBeforeNudge { .. } => vec!["calls.refuse_after", "calls.nudge_after"],
        PolicyError::ForceNextBeforePattern { .. } => {
            vec!["tasks.max_attempts_before_force_next", "tasks.max_attempts"]
        }
        PolicyError::BadMoney { .. } => vec!["limits.cost_usd"],
    };
    let origins = keys.iter().filter_map(|key| {
        let entry = settings.get(&Key::dotted(key))?;
        Some(format!("`{key} = {}` comes from {}", entry.value.to_toml(), entry.origin))
    });
    origins.fold(CliError::config(error.to_string()), CliError::cause)
}

fn prices(settings: &Settings) -> BTreeMap<String, Price> {
    let mut prices: BTreeMap<String, Price> = BTreeMap::new();
    for (key, entry) in settings {
        if let (["prices", model, field], Value::Money(money)) =
            (key.parts().as_slice(), &entry.value)
        {
            let price = prices.entry((*model).to_owned()).or_default();
            if *field == "input_usd_per_mtok" {
                price.input_usd_per_mtok = *money;
            } else {
                price.output_usd_per_mtok = *money;
            }
        }
    }
    prices
}

/// Settings read with their types. A wrong type here is a fault of flyball's: values were checked
/// against the schema when they were read.
pub(super) struct Typed<'a>(&'a Settings);

impl Typed<'_> {
    fn value(&self, key: &str) -> Result<&Value, CliError> {
        self.0.get(&Key::dotted(key)).map(|entry| &entry.value).ok_or_else(|| missing(key))
    }

    fn pick<T>(&self, key: &str, pick: impl Fn(&Value) -> Option<T>) -> Result<T, CliError> {
        pick(self.value(key)?)
            .ok_or_else(|| CliError::internal(format!("the setting `{key}` has a wrong type")))
    }

    fn text(&self, key: &str) -> Result<String, CliError> {
        self.pick(key, |value| {
            let Value::Text(text) = value else { return None };
            Some(text.clone())
        })
    }

    pub(super) fn text_or_none(&self, key: &str) -> Result<Option<String>, CliError> {
        self.text(key).map(|text| Some(text).filter(|text| !text.is_empty()))
    }

    pub(super) fn words(&self, key: &str) -> Result<Vec<String>, CliError> {
        self.pick(key, |value| {
            let Value::Words(words) = value else { return None };
            Some(words.clone())
        })
    }

    fn checks(&self, key: &str) -> Result<Vec<GateCheck>, CliError> {
        self.pick(key, |value| {
            let Value::Checks(checks) = value else { return None };
            Some(checks.clone())
        })
    }

    fn flag(&self, key: &str) -> Result<bool, CliError> {
        self.pick(key, |value| {
            let Value::Flag(flag) = value else { return None };
            Some(*flag)
        })
    }

    pub(super) fn number(&self, key: &str) -> Result<u64, CliError> {
        self.pick(key, |value| {
            let Value::Number(number) = value else { return None };
            Some(*number)
        })
    }

    fn bytes(&self, key: &str) -> Result<u64, CliError> {
        self.pick(key, |value| {
            let Value::Bytes(bytes) = value else { return None };
            Some(*bytes)
        })
    }

    pub(super) fn duration(&self, key: &str) -> Result<Millis, CliError> {
        self.pick(key, |value| {
            let Value::Duration(span) = value else { return None };
            Some(*span)
        })
    }

    pub(super) fn command(&self, key: &str) -> Result<Option<CommandLine>, CliError> {
        self.pick(key, |value| {
            let Value::Command(command) = value else { return None };
            Some(Some(command.clone()).filter(|c| !c.is_empty()))
        })
    }

    pub(super) fn choice<T: DeserializeOwned>(&self, key: &str) -> Result<T, CliError> {
        let word = self.text(key)?;
        serde_json::from_value(word.into()).map_err(|error| {
            CliError::internal(format!("the setting `{key}` has a wrong type")).cause(error)
        })
    }

    fn choice_or_auto<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, CliError> {
        if self.text(key)? == "auto" { Ok(None) } else { self.choice(key).map(Some) }
    }

    /// The texts right below a table.
    pub(super) fn table(&self, under: &[&str]) -> BTreeMap<String, String> {
        let pairs = self.0.iter().filter_map(|(key, entry)| {
            let (parts, Value::Text(text)) = (key.parts(), &entry.value) else { return None };
            let (last, above) = parts.split_last()?;
            (above == under).then(|| ((*last).to_owned(), text.clone()))
        });
        pairs.collect()
    }

    /// The commands right below a table.
    pub(super) fn commands(&self, under: &[&str]) -> BTreeMap<String, CommandLine> {
        let pairs = self.0.iter().filter_map(|(key, entry)| {
            let (parts, Value::Command(command)) = (key.parts(), &entry.value) else { return None };
            let (last, above) = parts.split_last()?;
            (above == under).then(|| ((*last).to_owned(), command.clone()))
        });
        pairs.collect()
    }

    /// The names of the tables below a section, each once.
    pub(super) fn names_in(&self, section: &str) -> BTreeSet<String> {
        let names = self.0.keys().filter_map(|key| match key.parts().as_slice() {
            [first, name, ..] if *first == section => Some((*name).to_owned()),
            _ => None,
        });
        names.collect()
    }

    pub(super) fn text_at(&self, key: &Key) -> Option<String> {
        let Value::Text(text) = &self.0.get(key)?.value else { return None };
        Some(text.clone())
    }

    pub(super) fn words_at(&self, key: &Key) -> Vec<String> {
        match self.0.get(key).map(|entry| &entry.value) {
            Some(Value::Words(words)) => words.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) fn command_at(&self, key: &Key) -> Option<CommandLine> {
        let Value::Command(command) = &self.0.get(key)?.value else { return None };
        Some(command.clone()).filter(|command| !command.is_empty())
    }

    /// A choice that is set; "auto" leaves it open.
    pub(super) fn choice_at<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        serde_json::from_value(self.text_at(key)?.into()).ok()
    }
}

fn missing(key: &str) -> CliError {
    CliError::internal(format!("the setting `{key}` has no default"))
}
