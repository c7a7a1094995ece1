//! Which limits of a run differ from the defaults.

use flyball_core::Policy;
use serde_json::Value;

use crate::view::words;

/// How many are told, and how much of each.
const MOST: usize = 60;
const VALUE_MAX: usize = 120;

/// The settings that differ, by name.
pub(super) fn changed(policy: &Policy) -> Vec<(String, String)> {
    let json = |policy: &Policy| serde_json::to_value(policy).unwrap_or(Value::Null);
    let mut out = Vec::new();
    compare("", &json(&Policy::default()), &json(policy), &mut out);
    out.truncate(MOST);
    out
}

fn compare(name: &str, usual: &Value, set: &Value, out: &mut Vec<(String, String)>) {
    match (usual, set) {
        (Value::Object(usual), Value::Object(set)) => {
            for (key, value) in set {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                compare(&name, usual.get(key).unwrap_or(&Value::Null), value, out);
            }
        }
        (usual, set) if usual == set => {}
        (_, set) => out.push((name.to_owned(), words::line(&set.to_string(), VALUE_MAX))),
    }
}
