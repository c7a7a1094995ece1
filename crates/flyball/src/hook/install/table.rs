//! The hooks of settings files that hold other settings too: which are flyball's, adding them, and
//! taking them out.

use serde_json::{Map, Value, json};

const HOOKS: &str = "hooks";

/// The hooks of a client by event, from the settings a session of it would be given.
pub(super) fn hooks(agent: &str, settings: &str) -> Map<String, Value> {
    let settings: Value = serde_json::from_str(settings).unwrap_or_default();
    let mut table = match settings.get(HOOKS) {
        Some(Value::Object(table)) => table.clone(),
        Some(_) | None => Map::new(),
    };
    if agent == "codex" {
        // It has no event of that name.
        table.remove("PostToolUseFailure");
        let text = Value::Object(table).to_string().replace(" hook claude ", " hook codex ");
        table = serde_json::from_str(&text).unwrap_or_default();
    }
    for event in ["SessionStart", "SessionEnd"] {
        let like = table.values().next().cloned();
        if let Some(entry) = like.and_then(|like| for_event(&like, agent, event)) {
            table.insert(event.to_owned(), entry);
        }
    }
    table
}

/// The same entry, for another event.
fn for_event(like: &Value, agent: &str, event: &str) -> Option<Value> {
    let mut entry = like.clone();
    let hook = entry.pointer_mut("/0/hooks/0")?;
    let command = hook.get("command")?.as_str()?;
    let (program, _) = command.rsplit_once(&format!(" hook {agent} "))?;
    let command = format!("{program} hook {agent} {event}");
    hook.as_object_mut()?.insert("command".to_owned(), json!(command));
    entry.pointer_mut("/0")?.as_object_mut()?.remove("matcher");
    Some(entry)
}

/// Adds hooks to settings; none when the settings have something else in their place.
pub(super) fn add(settings: &mut Value, hooks: &Map<String, Value>) -> Option<()> {
    let members = settings.as_object_mut()?;
    let table = members.entry(HOOKS).or_insert_with(|| json!({})).as_object_mut()?;
    for (event, entries) in hooks {
        let list = table.entry(event).or_insert_with(|| json!([])).as_array_mut()?;
        list.extend(entries.as_array().into_iter().flatten().cloned());
    }
    Some(())
}

/// Takes flyball's hooks out of settings, with what is empty for it; whether there were any.
pub(super) fn take_out(settings: &mut Value, agent: &str) -> bool {
    let Some(table) = settings.get_mut(HOOKS).and_then(Value::as_object_mut) else {
        return false;
    };
    let mut found = false;
    table.retain(|_, entries| {
        let Some(list) = entries.as_array_mut() else { return true };
        let mut touched = false;
        list.retain_mut(|entry| {
            let Some(hooks) = entry.get_mut(HOOKS).and_then(Value::as_array_mut) else {
                return true;
            };
            let before = hooks.len();
            hooks.retain(|hook| !is_ours(hook, agent));
            touched |= hooks.len() < before;
            hooks.len() == before || !hooks.is_empty()
        });
        found |= touched;
        !touched || !list.is_empty()
    });
    if found && table.is_empty() {
        settings.as_object_mut().map(|members| members.remove(HOOKS));
    }
    found
}

/// A hook of flyball's: its program's name, and what it is asked for.
fn is_ours(hook: &Value, agent: &str) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    command
        .rsplit_once(&format!(" hook {agent} "))
        .is_some_and(|(program, event)| program.contains("flyball") && !event.contains(' '))
}
