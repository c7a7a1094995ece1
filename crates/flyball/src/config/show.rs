//! The effective configuration made visible, in the order of the schema.

use serde_json::{Map, json};

use super::key::Key;
use super::layer::{Entry, Settings};
use super::schema::SETTINGS;
use super::value::Value;
use super::{Detail, GateCheck};

/// As a TOML file; with origins, each setting says at the end of its line who set it.
pub(super) fn toml(settings: &Settings, detail: Detail) -> String {
    let mut text = String::new();
    let mut section = None;
    let mut tables = String::new();
    for (key, entry) in ordered(settings) {
        if let Value::Checks(checks) = &entry.value
            && !checks.is_empty()
        {
            tables = gates(checks, entry, detail);
            continue;
        }
        if section.as_ref() != Some(&key.section()) {
            if key.section().parts().first() != Some(&"gates") {
                text += &std::mem::take(&mut tables);
            }
            let blank = if text.is_empty() { "" } else { "\n" };
            text.extend([blank, "[", &key.section().to_string(), "]\n"]);
            section = Some(key.section());
        }
        let line = format!("{} = {}", key.written_last(), entry.value.to_toml());
        text += &with_origin(line, entry, detail);
    }
    text + &tables
}

/// As JSON: nested like the file, or flat with `value` and `origin` for each setting.
pub(super) fn json(settings: &Settings, detail: Detail) -> serde_json::Value {
    let mut all = Map::new();
    for (key, entry) in ordered(settings) {
        match detail {
            Detail::Values => nest(&mut all, &key.parts(), entry.value.to_json()),
            Detail::Origins => {
                let shown =
                    json!({ "value": entry.value.to_json(), "origin": entry.origin.to_string() });
                all.insert(key.to_string(), shown);
            }
        }
    }
    all.into()
}

fn gates(checks: &[GateCheck], entry: &Entry, detail: Detail) -> String {
    let mut text = String::new();
    for check in checks {
        text += "\n";
        text += &with_origin("[[gates.check]]".to_owned(), entry, detail);
        text += &(check.to_toml_lines().join("\n") + "\n");
    }
    text
}

fn with_origin(line: String, entry: &Entry, detail: Detail) -> String {
    match detail {
        Detail::Values => line + "\n",
        Detail::Origins => format!("{line:<44} # {}\n", entry.origin),
    }
}

/// The settings in the order of the schema; names that are free to choose in their own order.
fn ordered(settings: &Settings) -> Vec<(&Key, &Entry)> {
    let mut all: Vec<(usize, &Key, &Entry)> =
        settings.iter().map(|(key, entry)| (rank(key), key, entry)).collect();
    all.sort_by_key(|(rank, key, _)| (*rank, *key));
    all.into_iter().map(|(_, key, entry)| (key, entry)).collect()
}

/// The place of a setting; prices share one, so that a model's two stay together.
fn rank(key: &Key) -> usize {
    let parts = key.parts();
    let fits = |pattern: &str| {
        let pattern: Vec<&str> = pattern.split('.').collect();
        pattern.first() == parts.first()
            && (pattern.get(1) == Some(&"*") || pattern.get(1) == parts.get(1))
    };
    SETTINGS.iter().position(|setting| fits(setting.key)).unwrap_or(SETTINGS.len())
}

fn nest(into: &mut Map<String, serde_json::Value>, path: &[&str], value: serde_json::Value) {
    match path {
        [] => {}
        [last] => {
            into.insert((*last).to_owned(), value);
        }
        [first, rest @ ..] => {
            let inner = into.entry(*first).or_insert_with(|| Map::new().into());
            if let Some(inner) = inner.as_object_mut() {
                nest(inner, rest, value);
            }
        }
    }
}
