//! Arguments of a call, checked against the tool's JSON schema before anything runs (A4).
//!
//! What is checked is what goes wrong: fields that are missing, unknown or of a wrong type, words that
//! are none of those allowed, numbers out of bounds. What a schema says beyond that (patterns, formats)
//! is the tool's own to judge.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::{ValidationFailure, ValidationKind};

/// How deep arguments and their schema are followed.
const DEPTH_MAX: u32 = 64;

/// Whether these arguments are what the schema asks for; if not, what the model is to be told.
///
/// ```
/// use flyball_core::call::{ValidationKind, check_arguments};
/// use serde_json::json;
///
/// let schema = json!({
///     "type": "object",
///     "properties": { "path": { "type": "string" }, "lines": { "type": "integer", "minimum": 1 } },
///     "required": ["path"],
/// });
/// assert!(check_arguments(&schema, &json!({ "path": "a.rs", "lines": 5 })).is_ok());
/// let failure = check_arguments(&schema, &json!({ "lines": 5 })).unwrap_err();
/// assert_eq!(failure.kind, ValidationKind::MissingField);
/// assert_eq!(failure.error, "`path` is missing");
/// let failure = check_arguments(&schema, &json!({ "path": "a.rs", "lines": "5" })).unwrap_err();
/// assert_eq!(failure.error, "`lines` is a string");
/// assert_eq!(failure.expected, "`lines`: an integer");
/// ```
pub fn check_arguments(schema: &Value, args: &Value) -> Result<(), ValidationFailure> {
    let wrong = Schema { root: schema }.judge(schema, args, &Place::Whole, DEPTH_MAX);
    wrong.map_err(|wrong| {
        let received = args.to_string();
        ValidationFailure::new(wrong.kind, wrong.expected, &received, wrong.error)
    })
}

/// What is wrong, and what would be right.
struct Wrong {
    kind: ValidationKind,
    expected: String,
    error: String,
}

impl Wrong {
    fn typed(at: &Place<'_>, expected: &str, error: &str) -> Self {
        let shown = at.shown();
        let (expected, error) = (format!("{shown}: {expected}"), format!("{shown} {error}"));
        Self { kind: ValidationKind::WrongType, expected, error }
    }

    fn missing(at: &Place<'_>) -> Self {
        let shown = at.shown();
        let (expected, error) = (format!("a value for {shown}"), format!("{shown} is missing"));
        Self { kind: ValidationKind::MissingField, expected, error }
    }
}

/// Where in the arguments something stands.
#[derive(Clone, Copy)]
enum Place<'a> {
    Whole,
    Member(&'a Self, &'a str),
    Item(&'a Self, usize),
}

impl Place<'_> {
    fn path(&self) -> String {
        match self {
            Self::Whole => String::new(),
            Self::Member(above, name) => match above.path().as_str() {
                "" => String::from(*name),
                path => format!("{path}.{name}"),
            },
            Self::Item(above, index) => format!("{}[{index}]", above.path()),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Whole => String::from("the arguments"),
            Self::Member(..) | Self::Item(..) => format!("`{}`", self.path()),
        }
    }
}

struct Schema<'s> {
    root: &'s Value,
}

impl Schema<'_> {
    fn judge(
        &self,
        schema: &Value,
        value: &Value,
        at: &Place<'_>,
        depth: u32,
    ) -> Result<(), Wrong> {
        // A schema that is no table (`true`) allows everything; so does what is too deep to follow.
        let (Some(rules), Some(depth)) = (schema.as_object(), depth.checked_sub(1)) else {
            return Ok(());
        };
        if let Some(target) = rules.get("$ref").and_then(Value::as_str) {
            let found = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return found.map_or(Ok(()), |found| self.judge(found, value, at, depth));
        }
        for words in ["anyOf", "oneOf"] {
            if let Some(several) = rules.get(words).and_then(Value::as_array) {
                self.any(several, value, at, depth)?;
            }
        }
        kind(rules, value, at)?;
        allowed(rules, value, at)?;
        bounds(rules, value, at)?;
        match value {
            Value::Object(members) => self.members(rules, members, at, depth),
            Value::Array(items) => rules.get("items").map_or(Ok(()), |schema| {
                let judge =
                    |(index, item)| self.judge(schema, item, &Place::Item(at, index), depth);
                items.iter().enumerate().try_for_each(judge)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    /// One of several has to fit; if none does, the first says why.
    fn any(
        &self,
        several: &[Value],
        value: &Value,
        at: &Place<'_>,
        depth: u32,
    ) -> Result<(), Wrong> {
        let mut first = None;
        for schema in several {
            match self.judge(schema, value, at, depth) {
                Ok(()) => return Ok(()),
                Err(wrong) => first = first.or(Some(wrong)),
            }
        }
        first.map_or(Ok(()), Err)
    }

    fn members(
        &self,
        rules: &Map<String, Value>,
        members: &Map<String, Value>,
        at: &Place<'_>,
        depth: u32,
    ) -> Result<(), Wrong> {
        let properties = rules.get("properties").and_then(Value::as_object);
        for name in rules.get("required").and_then(Value::as_array).into_iter().flatten() {
            let Some(name) = name.as_str() else { continue };
            // Nothing is as good as missing (A1), where nothing is not what is asked for.
            let schema = properties.and_then(|all| all.get(name));
            let takes_null = schema
                .is_some_and(|one| self.judge(one, &Value::Null, &Place::Whole, depth).is_ok());
            if members.get(name).is_none_or(|value| value.is_null() && !takes_null) {
                return Err(Wrong::missing(&Place::Member(at, name)));
            }
        }
        for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            match properties.and_then(|all| all.get(name)) {
                Some(schema) => self.judge(schema, value, &Place::Member(at, name), depth)?,
                None if rules.get("additionalProperties") == Some(&Value::Bool(false)) => {
                    let names: Vec<&str> =
                        properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
                    let expected = format!("only {}", names.join(", "));
                    return Err(Wrong::typed(&Place::Member(at, name), &expected, "is unknown"));
                }
                None => {}
            }
        }
        Ok(())
    }
}

fn kind(rules: &Map<String, Value>, value: &Value, at: &Place<'_>) -> Result<(), Wrong> {
    let wanted: Vec<&str> = match rules.get("type") {
        Some(Value::String(one)) => alloc::vec![one.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            return Ok(());
        }
    };
    if wanted.iter().any(|name| fits(name, value)) {
        return Ok(());
    }
    let expected: Vec<&str> = wanted.iter().map(|name| noun(name)).collect();
    Err(Wrong::typed(at, &expected.join(" or "), &format!("is {}", found(value))))
}

fn fits(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number % 1.0 == 0.0),
        // A kind nobody knows is the tool's own affair.
        _ => true,
    }
}

fn noun(name: &str) -> &str {
    match name {
        "string" => "a string",
        "boolean" => "true or false",
        "object" => "an object",
        "array" => "a list",
        "number" => "a number",
        "integer" => "an integer",
        other => other,
    }
}

fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn allowed(rules: &Map<String, Value>, value: &Value, at: &Place<'_>) -> Result<(), Wrong> {
    let one = rules.get("const").map(core::slice::from_ref);
    let several = rules.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    let Some(allowed) = one.or(several) else { return Ok(()) };
    if allowed.contains(value) {
        return Ok(());
    }
    let words: Vec<String> = allowed.iter().map(Value::to_string).collect();
    Err(Wrong::typed(at, &format!("one of {}", words.join(", ")), &format!("is {value}")))
}

fn bounds(rules: &Map<String, Value>, value: &Value, at: &Place<'_>) -> Result<(), Wrong> {
    let limit = |name: &str| rules.get(name).and_then(Value::as_f64);
    if let Some(number) = value.as_f64() {
        if let Some(least) = limit("minimum").filter(|least| number < *least) {
            return Err(Wrong::typed(at, &format!("at least {least}"), &format!("is {number}")));
        }
        if let Some(most) = limit("maximum").filter(|most| number > *most) {
            return Err(Wrong::typed(at, &format!("at most {most}"), &format!("is {number}")));
        }
    }
    if value.as_str().is_some_and(str::is_empty) && limit("minLength").is_some_and(|n| n >= 1.0) {
        return Err(Wrong::typed(at, "some text", "is empty"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1 },
                "lines": { "type": "integer", "minimum": 1, "maximum": 9 },
                "all": { "type": "boolean" },
                "mode": { "enum": ["a", "b"] },
                "edits": { "type": "array", "items": { "$ref": "#/$defs/edit" } },
                "either": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
            },
            "required": ["path", "either"],
            "additionalProperties": false,
            "$defs": { "edit": { "type": "object", "required": ["old"] } },
        });
        let fine = json!({ "path": "a", "either": null, "lines": 3.0, "all": null });
        assert!(check_arguments(&schema, &fine).is_ok());
        let cases = [
            (json!([]), "the arguments is a list"),
            (json!({ "either": "x" }), "`path` is missing"),
            (json!({ "path": null, "either": "x" }), "`path` is missing"),
            (json!({ "path": 1, "either": "x" }), "`path` is a number"),
            (json!({ "path": "", "either": "x" }), "`path` is empty"),
            (json!({ "path": "a", "either": "x", "lines": 0 }), "`lines` is 0"),
            (json!({ "path": "a", "either": "x", "lines": 10 }), "`lines` is 10"),
            (json!({ "path": "a", "either": "x", "lines": 1.5 }), "`lines` is a number"),
            (json!({ "path": "a", "either": 7 }), "`either` is a number"),
            (json!({ "path": "a", "either": "x", "mode": "c" }), "`mode` is \"c\""),
            (json!({ "path": "a", "either": "x", "file": "b" }), "`file` is unknown"),
            (
                json!({ "path": "a", "either": "x", "edits": [{ "old": 1 }, {}] }),
                "`edits[1].old` is missing",
            ),
        ];
        for (args, error) in cases {
            let failure = check_arguments(&schema, &args).unwrap_err();
            assert_eq!(failure.error, error, "{args}");
        }
    }

    #[test]
    fn a_value_fits_the_name_of_its_kind_and_no_other() {
        let kinds = [
            ("string", json!("a")),
            ("boolean", json!(true)),
            ("object", json!({})),
            ("array", json!([])),
            ("null", json!(null)),
            ("number", json!(1.5)),
        ];
        for (name, _) in &kinds {
            for (of, value) in &kinds {
                assert_eq!(fits(name, value), name == of, "{value} as {name}");
            }
        }
        assert!(fits("number", &json!(1)) && fits("integer", &json!(1)));
        assert!(!fits("integer", &json!(1.5)) && !fits("integer", &json!("1")));
    }

    #[test]
    fn bounds_are_within() {
        let schema = json!({ "properties": { "n": { "minimum": 1, "maximum": 9 } } });
        for (n, is_fine) in [(0, false), (1, true), (9, true), (10, false)] {
            assert_eq!(check_arguments(&schema, &json!({ "n": n })).is_ok(), is_fine, "{n}");
        }
    }

    #[test]
    fn what_a_schema_does_not_say_is_allowed_and_one_without_end_ends() {
        for schema in [json!({}), json!(true), json!({ "type": "tuple" }), json!({ "$ref": "x" })] {
            assert!(check_arguments(&schema, &json!({ "any": 1 })).is_ok(), "{schema}");
        }
        let endless = json!({ "anyOf": [{ "$ref": "#" }] });
        assert!(check_arguments(&endless, &json!({})).is_ok());
    }
}
