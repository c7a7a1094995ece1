//! The environment as a layer: `FLYBALL_SECTION__NAME` for any setting, and a few short names.
//! Unknown names are never an error, wrong values of known ones are.

use std::ffi::OsString;

use flyball_core::Millis;

use super::key::Key;
use super::layer::{Entry, Origin, Settings, Source};
use super::schema::{self, Kind, Place};
use super::suggest;
use super::value::Value;
use crate::error::CliError;

/// Short names and the settings they stand for.
pub const ALIASES: [(&str, &str); 5] = [
    ("FLYBALL_MAX_RUNTIME_HOURS", "limits.runtime"),
    ("FLYBALL_MAX_REPETITIONS", "calls.refuse_after"),
    ("FLYBALL_MAX_VALIDATION_FAILURES", "calls.max_validation_failures"),
    ("FLYBALL_LARGE_RESPONSE_THRESHOLD", "calls.large_response"),
    ("FLYBALL_QUALITY_BACKPRESSURE", "gates.backpressure"),
];

/// Variables that look like settings and name none, each with what was meant.
pub(crate) fn unknown(variables: &[(OsString, OsString)]) -> Vec<String> {
    let names = variables.iter().filter_map(|(name, _)| name.to_str());
    let strangers = names.filter(|name| {
        let path = name.strip_prefix("FLYBALL_").unwrap_or_default();
        path.contains("__") && long_name(name).is_none()
    });
    strangers.map(stranger).collect()
}

fn stranger(name: &str) -> String {
    let path = name.trim_start_matches("FLYBALL_").to_ascii_lowercase().replace("__", ".");
    let settings = schema::SETTINGS.iter().map(|setting| setting.key);
    let meant = suggest::nearest(&path, settings.filter(|key| !key.contains('*')));
    let meant = meant.map(|key| {
        let variable = key.replace('.', "__").to_ascii_uppercase();
        format!("; did you mean FLYBALL_{variable}?")
    });
    format!("the variable {name} names no setting{}", meant.unwrap_or_default())
}

/// Reads the variables that are settings. The long name of a setting outranks its short one; an
/// empty variable counts as not set.
pub(crate) fn layer(variables: &[(OsString, OsString)]) -> Result<Settings, CliError> {
    let mut settings = Settings::new();
    let mut short = Settings::new();
    for (name, value) in variables {
        let Some(name) = name.to_str().filter(|name| name.starts_with("FLYBALL_")) else {
            continue;
        };
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        let Some(key) = alias.map(|(_, key)| Key::dotted(key)).or_else(|| long_name(name)) else {
            continue;
        };
        if value.is_empty() {
            continue;
        }
        let value = value
            .to_str()
            .ok_or_else(|| "it is not UTF-8".to_owned())
            .and_then(|text| read(name, &key, text))
            .map_err(|cause| wrong(name, &cause))?;
        let origin = Origin::of(Source::Environment(name.to_owned()));
        let layer = if alias.is_some() { &mut short } else { &mut settings };
        layer.insert(key, Entry { value, origin });
    }
    for (key, entry) in short {
        settings.entry(key).or_insert(entry);
    }
    Ok(settings)
}

fn long_name(name: &str) -> Option<Key> {
    let path = name.strip_prefix("FLYBALL_")?.to_ascii_lowercase().replace("__", ".");
    let key = Key::dotted(&path);
    match schema::place(&key.parts()) {
        Place::Setting(setting) => (!setting.key.contains('*')).then_some(key),
        Place::Section | Place::Unknown => None,
    }
}

fn read(name: &str, key: &Key, text: &str) -> Result<Value, String> {
    if name == "FLYBALL_MAX_RUNTIME_HOURS" {
        return hours(text).map(Value::Duration).ok_or_else(|| {
            format!("`{key}` must be a number of hours such as 4 or 0.5, not `{text}`")
        });
    }
    let kind = match schema::place(&key.parts()) {
        Place::Setting(setting) => setting.kind,
        Place::Section | Place::Unknown => Kind::Text,
    };
    Value::from_text(kind, &key.to_string(), text)
}

fn hours(text: &str) -> Option<Millis> {
    let seconds = text.trim().parse::<f64>().ok()? * 3600.0;
    let span = std::time::Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(span.as_millis()).ok().map(Millis::new)
}

fn wrong(name: &str, cause: &str) -> CliError {
    CliError::config(format!("the environment variable `{name}` has a wrong value"))
        .cause(cause)
        .hint(format!("correct it, or `unset {name}`"))
}
