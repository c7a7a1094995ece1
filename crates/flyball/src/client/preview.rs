//! The arguments of a call, short enough to be kept and still whole: what is long is shortened where
//! it stands, so that a file's name is not lost behind its content.

use serde_json::{Map, Value};

/// The longest arguments that are looked into.
const READ_MAX: usize = 256 * 1024;
/// How much of one text is kept.
const TEXT_MAX: usize = 60;

/// A shorter form of arguments that are longer than `max` characters; none where they are short, or
/// no object.
pub(crate) fn preview(args: &str, max: usize) -> Option<String> {
    if args.len() <= max || args.len() > READ_MAX {
        return None;
    }
    let Ok(Value::Object(members)) = serde_json::from_str(args) else { return None };
    // A single text keeps all the room there is.
    let room = max.saturating_sub(40) / members.len().max(1);
    let short: Map<String, Value> = members
        .into_iter()
        .map(|(name, value)| (name, shortened(value, room.max(TEXT_MAX))))
        .collect();
    let text = Value::Object(short).to_string();
    Some(flyball_core::text::prefix(&text, max).to_owned())
}

fn shortened(value: Value, max: usize) -> Value {
    let text = match &value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) if value.to_string().len() > max => value.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            return value;
        }
    };
    let kept = flyball_core::text::prefix(&text, max);
    let is_cut = kept.len() < text.len();
    Value::String(if is_cut { format!("{kept}…") } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_behind_a_long_content_is_kept() {
        let args = format!(r#"{{"content":"{}","file_path":"src/cart.rs"}}"#, "x".repeat(5_000));
        let short = preview(&args, 200).unwrap();
        assert!(
            short.chars().count() <= 200 && short.contains(r#""file_path":"src/cart.rs"}"#),
            "{short}"
        );
        assert_eq!(preview(r#"{"command":"ls"}"#, 200), None);
        assert_eq!(preview(&"x".repeat(500), 200), None);
    }
}
