//! The hooks of settings files that hold other settings too: which are flyball's, adding them, and
//! taking them out.

use std::collections::BTreeSet;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObjectProp, CstRootNode};
use jsonc_parser::errors::ParseError;
use serde_json::{Map, Value, json};

const HOOKS: &str = "hooks";
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Why hooks could not be added.
pub(super) enum Trouble {
    /// The text is no JSON.
    Unreadable(ParseError),
    /// Something else stands where hooks belong.
    Occupied,
}

/// The text of settings with hooks added to it.
pub(super) fn add(text: &str, hooks: &Map<String, Value>) -> Result<String, Trouble> {
    let file = File::read(text).map_err(Trouble::Unreadable)?;
    let settings = file.root.object_value().ok_or(Trouble::Occupied)?;
    let Some(table) = settings.get(HOOKS) else {
        settings.append(HOOKS, input(&Value::Object(hooks.clone())));
        return Ok(file.text());
    };
    let table = table.object_value().ok_or(Trouble::Occupied)?;
    for (event, entries) in hooks {
        let Some(there) = table.get(event) else {
            table.append(event, input(entries));
            continue;
        };
        let there = there.array_value().ok_or(Trouble::Occupied)?;
        for entry in entries.as_array().into_iter().flatten() {
            there.append(input(entry));
        }
    }
    Ok(file.text())
}

/// The text of settings without flyball's hooks and what is empty for it; none when nothing else was
/// in it.
pub(super) fn take_out(text: &str, agent: &str) -> Result<Option<String>, ParseError> {
    let file = File::read(text)?;
    if ours(&file.value(), agent).is_empty() {
        return Ok(Some(text.to_owned()));
    }
    let Some(settings) = file.root.object_value() else { return Ok(Some(text.to_owned())) };
    for member in settings.properties().into_iter().filter(|member| is_named(member, HOOKS)) {
        let table = member.object_value();
        if table
            .is_some_and(|table| empties(&table.properties(), |event| clear_event(event, agent)))
        {
            member.remove();
        }
    }
    let is_bare = !file.root.children().iter().chain(&settings.children()).any(CstNode::is_comment);
    let is_empty = settings.properties().is_empty();
    Ok((!(is_empty && is_bare)).then(|| file.text()))
}

/// Takes flyball's hooks out of an event; whether nothing else was in it.
fn clear_event(event: &CstObjectProp, agent: &str) -> bool {
    let entries = event.array_value().map(|entries| entries.elements()).unwrap_or_default();
    let emptied = empties(&entries, |entry| {
        let hooks = entry.as_object().and_then(|entry| entry.array_value(HOOKS));
        let hooks = hooks.map(|hooks| hooks.elements()).unwrap_or_default();
        let emptied = empties(&hooks, |hook| {
            let is_ours = hook.to_serde_value().is_some_and(|hook| is_ours(&hook, agent));
            if is_ours {
                hook.clone().remove();
            }
            is_ours
        });
        if emptied {
            entry.clone().remove();
        }
        emptied
    });
    if emptied {
        event.clone().remove();
    }
    emptied
}

/// Clears each item of a list; whether there were some and nothing is left of any.
fn empties<T>(items: &[T], mut clear: impl FnMut(&T) -> bool) -> bool {
    let gone = items.iter().filter(|item| clear(item)).count();
    gone > 0 && gone == items.len()
}

fn is_named(member: &CstObjectProp, name: &str) -> bool {
    member.decoded_name().is_some_and(|own| own == name)
}

/// Whether settings hold flyball's hooks; none when they hold no hook of it, else whether just these.
pub(super) fn holds(text: &str, agent: &str, hooks: &Map<String, Value>) -> Option<bool> {
    let file = File::read(text).ok()?;
    let there = ours(&file.value(), agent);
    let wanted = ours(&json!({ HOOKS: hooks }), agent);
    (!there.is_empty()).then(|| there == wanted)
}

/// A settings file: JSON with whatever comments, trailing commas and layout its owner likes, all of
/// which stay as they are.
struct File {
    root: CstRootNode,
    /// Whether a byte order mark stands in front of it.
    marked: bool,
}

impl File {
    fn read(text: &str) -> Result<Self, ParseError> {
        let (bare, marked) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(bare) => (bare, true),
            None => (text, false),
        };
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        Ok(Self { root: CstRootNode::parse(bare, &options)?, marked })
    }

    fn text(&self) -> String {
        let mark = if self.marked { BYTE_ORDER_MARK } else { "" };
        format!("{mark}{}", self.root)
    }

    fn value(&self) -> Value {
        self.root.to_serde_value().unwrap_or_default()
    }
}

/// A value as the syntax tree takes it.
fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| (name.clone(), input(value));
            CstInputValue::Object(members.iter().map(member).collect())
        }
    }
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
