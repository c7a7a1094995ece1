//! The hooks of settings files that hold other settings too: which are flyball's, adding them, and
//! taking them out.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::jsonc::Jsonc;

const HOOKS: &str = "hooks";

/// Why hooks could not be added.
pub(super) enum Trouble {
    /// The text is no JSON.
    Unreadable(serde_json::Error),
    /// Something else stands where hooks belong.
    Occupied,
}

/// The text of settings with hooks added to it.
pub(super) fn add(text: &str, hooks: &Map<String, Value>) -> Result<String, Trouble> {
    let file = Jsonc::read(text).map_err(Trouble::Unreadable)?;
    let members = file.value().as_object().ok_or(Trouble::Occupied)?;
    let Some(table) = members.get(HOOKS) else {
        let new = [(HOOKS, Value::Object(hooks.clone()))];
        return file.with_members(&[], &new).ok_or(Trouble::Occupied);
    };
    let table = table.as_object().ok_or(Trouble::Occupied)?;
    let missing: Vec<(&str, Value)> = hooks
        .iter()
        .filter(|(event, _)| !table.contains_key(*event))
        .map(|(event, entries)| (event.as_str(), entries.clone()))
        .collect();
    let mut text = text.to_owned();
    if !missing.is_empty() {
        text = file.with_members(&[HOOKS], &missing).ok_or(Trouble::Occupied)?;
    }
    for (event, entries) in hooks {
        let Some(there) = table.get(event) else { continue };
        there.as_array().ok_or(Trouble::Occupied)?;
        let new: Vec<Value> = entries.as_array().into_iter().flatten().cloned().collect();
        let file = Jsonc::read(&text).map_err(Trouble::Unreadable)?;
        text = file.with_elements(&[HOOKS, event], &new).ok_or(Trouble::Occupied)?;
    }
    Ok(text)
}

/// The text of settings without flyball's hooks and what is empty for it; none when nothing else was
/// in it.
pub(super) fn take_out(text: &str, agent: &str) -> Result<Option<String>, serde_json::Error> {
    let file = Jsonc::read(text)?;
    if ours(file.value(), agent).is_empty() {
        return Ok(Some(text.to_owned()));
    }
    Ok(file.without(HOOKS, &|hook| is_ours(hook, agent)))
}

/// Whether settings hold flyball's hooks; none when they hold no hook of it, else whether just these.
pub(super) fn holds(text: &str, agent: &str, hooks: &Map<String, Value>) -> Option<bool> {
    let file = Jsonc::read(text).ok()?;
    let there = ours(file.value(), agent);
    let wanted = ours(&json!({ HOOKS: hooks }), agent);
    (!there.is_empty()).then(|| there == wanted)
}

/// flyball's hooks in settings, by event.
fn ours(settings: &Value, agent: &str) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for (event, entries) in settings.get(HOOKS).and_then(Value::as_object).into_iter().flatten() {
        for entry in entries.as_array().into_iter().flatten() {
            let hooks = entry.get(HOOKS).and_then(Value::as_array).into_iter().flatten();
            let hooks = hooks.filter(|hook| is_ours(hook, agent));
            found.extend(hooks.map(|hook| (event.clone(), hook.to_string())));
        }
    }
    found
}

/// A hook of flyball's: its program's name, and what it is asked for.
fn is_ours(hook: &Value, agent: &str) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    command.rsplit_once(&format!(" hook {agent} ")).is_some_and(|(program, event)| {
        let name = program.trim_end_matches(['\'', '"']).rsplit(['/', '\'', '"']).next();
        name.is_some_and(|name| name.starts_with("flyball")) && !event.contains(' ')
    })
}

#[cfg(test)]
mod tests;
