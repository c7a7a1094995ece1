//! One layer of settings, where each came from, and how layers are put on top of each other.

use std::collections::BTreeMap;
use std::fmt;

use flyball_core::policy::{Policy, Preset};

use super::key::Key;
use super::value::Value;

/// Who wrote a setting down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The defaults compiled in.
    Default,
    /// A file.
    File {
        /// The file as it is shown.
        path: String,
        /// The line, from 1.
        line: usize,
    },
    /// An environment variable.
    Environment(String),
    /// A flag.
    Flag(String),
}

/// Where a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Who wrote it down.
    pub source: Source,
    /// The profile it belongs to.
    pub profile: Option<String>,
    /// The setting that brought it along, such as `tasks.preset`.
    pub through: Option<Key>,
}

impl Origin {
    /// Written down by this source itself.
    pub const fn of(source: Source) -> Self {
        Self { source, profile: None, through: None }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match &self.source {
            Source::Default => "default".to_owned(),
            Source::File { path, line } => format!("{path}:{line}"),
            Source::Environment(name) | Source::Flag(name) => name.clone(),
        };
        match (&self.profile, &self.through) {
            (Some(profile), None) => write!(f, "profile {profile} ({source})"),
            (Some(profile), Some(key)) => write!(f, "profile {profile} ({source}, by `{key}`)"),
            (None, Some(key)) => write!(f, "{source} (by `{key}`)"),
            (None, None) => f.write_str(&source),
        }
    }
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The value.
    pub value: Value,
    /// Who set it.
    pub origin: Origin,
}

/// Settings by name.
pub type Settings = BTreeMap<Key, Entry>;

/// What one file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layer {
    /// Settings that always hold.
    pub(crate) settings: Settings,
    /// Settings that hold when their profile is chosen.
    pub(crate) profiles: BTreeMap<String, Settings>,
}

/// Puts layers on top of each other; the first holds the defaults.
pub(crate) fn stack(layers: Vec<Settings>) -> Settings {
    let mut layers = layers.into_iter();
    let defaults = layers.next().unwrap_or_default();
    let mut all = defaults.clone();
    for mut layer in layers {
        apply_preset(&mut layer);
        apply_agent(&mut layer, &all, &defaults);
        all.extend(layer);
    }
    all
}

/// A preset sets three values, unless its own layer sets them.
fn apply_preset(layer: &mut Settings) {
    let through = Key::dotted("tasks.preset");
    let Some(Entry { value: Value::Text(name), origin }) = layer.get(&through).cloned() else {
        return;
    };
    let Ok(preset) = serde_json::from_value::<Preset>(name.into()) else { return };
    let rules = Policy::default().into_rules().tasks.with_preset(preset);
    let origin = Origin { through: Some(through), ..origin };
    let brought = [
        ("tasks.max_attempts", Value::Number(rules.max_attempts.into())),
        ("tasks.auto_unblock", Value::Flag(rules.auto_unblock)),
        (
            "tasks.max_attempts_before_force_next",
            Value::Number(rules.max_attempts_before_force_next.into()),
        ),
    ];
    for (key, value) in brought {
        layer.entry(Key::dotted(key)).or_insert(Entry { value, origin: origin.clone() });
    }
}

/// A command names its agent; another agent's name does away with what files said of the old one.
fn apply_agent(layer: &mut Settings, below: &Settings, defaults: &Settings) {
    let (name_key, command_key) = (Key::dotted("agent.name"), Key::dotted("agent.command"));
    if let Some(Entry { value: Value::Command(command), origin }) = layer.get(&command_key).cloned()
        && !command.is_empty()
    {
        let origin = Origin { through: Some(command_key), ..origin };
        let value = Value::Text(command.program().to_owned());
        layer.entry(name_key).or_insert(Entry { value, origin: origin.clone() });
        outdate(layer, &NAMED_ONLY, &origin, (below, defaults));
        return;
    }
    let Some(name) = layer.get(&name_key).cloned() else { return };
    if below.get(&name_key).is_some_and(|old| old.value == name.value) {
        return;
    }
    let origin = Origin { through: Some(name_key), ..name.origin };
    let own = ["agent.command", "agent.prompt", "agent.output", "agent.model"];
    outdate(layer, &own, &origin, (below, defaults));
    outdate(layer, &NAMED_ONLY, &origin, (below, defaults));
}

/// What only an agent that flyball starts by its name has.
const NAMED_ONLY: [&str; 2] = ["agent.program", "agent.args"];

/// Puts defaults in place of what files below say.
fn outdate(layer: &mut Settings, keys: &[&str], origin: &Origin, from: (&Settings, &Settings)) {
    let (below, defaults) = from;
    for key in keys.iter().map(|key| Key::dotted(key)) {
        let from_file =
            below.get(&key).is_some_and(|old| matches!(old.origin.source, Source::File { .. }));
        if let Some(default) = defaults.get(&key).filter(|_| from_file) {
            let value = default.value.clone();
            layer.entry(key).or_insert(Entry { value, origin: origin.clone() });
        }
    }
}
