//! What a tool is: a name, a text for the model, types for what goes in and comes out, and a call.
//! Knows nothing of the protocol.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::RestrictFormats;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::refused::Refused;
use super::site::Call;
use super::tools;
use crate::config::suggest::nearest;

/// One tool.
pub(super) trait Tool {
    /// Its name.
    const NAME: &'static str;
    /// What it does, written for the model that calls it.
    const DESCRIPTION: &'static str;
    /// Whether it changes anything.
    const EFFECT: ToolEffect;
    /// Its arguments.
    type Input: DeserializeOwned + JsonSchema;
    /// Its result.
    type Output: Serialize + JsonSchema;

    /// Does it. May take its time: it is called in a thread of its own.
    fn call(call: Call<'_>, input: Self::Input) -> Result<Self::Output, Refused>;
}

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolEffect {
    /// Nothing.
    Reads,
    /// It writes something down.
    Writes,
    /// It runs commands of the project.
    Runs,
}

/// A tool without its types.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) effect: ToolEffect,
    pub(super) input: Map<String, Value>,
    pub(super) output: Map<String, Value>,
    run: fn(Call<'_>, Value) -> Result<Value, Refused>,
}

impl Entry {
    pub(super) fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            description: T::DESCRIPTION,
            effect: T::EFFECT,
            input: schema::<T::Input>(),
            output: schema::<T::Output>(),
            run: run::<T>,
        }
    }

    /// Checks the arguments and calls the tool.
    pub(super) fn call(
        &self,
        call: Call<'_>,
        arguments: Map<String, Value>,
    ) -> Result<Value, Refused> {
        self.reject_unknown_arguments(&arguments)?;
        (self.run)(call, Value::Object(arguments))
            .map_err(|refused| refused.with_usage(|| self.usage()))
    }

    /// Arguments that nothing knows are mistakes. Those that some tool answers with are not: an
    /// answer may be handed on as it is.
    fn reject_unknown_arguments(&self, arguments: &Map<String, Value>) -> Result<(), Refused> {
        let own: Vec<&str> = names(&self.input).collect();
        let stranger = arguments
            .keys()
            .find(|name| !own.contains(&name.as_str()) && !tools::answers_with(name));
        let Some(name) = stranger else { return Ok(()) };
        let meant = nearest(name, own.iter().copied())
            .map_or_else(String::new, |meant| format!(" (did you mean `{meant}`?)"));
        Err(Refused::new(format!(
            "`{}` has no argument `{name}`{meant}; {}",
            self.name,
            self.usage()
        )))
    }

    /// `its arguments: task (string, required), …`.
    fn usage(&self) -> String {
        let required: Vec<&str> = self
            .input
            .get("required")
            .and_then(Value::as_array)
            .map(|list| list.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let described = names(&self.input).map(|name| {
            let kind = self
                .input
                .get("properties")
                .and_then(|all| all.get(name))
                .map_or_else(String::new, kind);
            let must = if required.contains(&name) { ", required" } else { "" };
            format!("{name} ({kind}{must})")
        });
        let list: Vec<String> = described.collect();
        if list.is_empty() {
            return "it takes no arguments".to_owned();
        }
        format!("its arguments: {}", list.join(", "))
    }
}

/// What a property may be: its words where only some are right, else its type.
fn kind(property: &Value) -> String {
    let choices = property.get("oneOf").and_then(Value::as_array);
    let words = choices.into_iter().flatten().filter_map(|one| one.get("const"));
    let words = words.chain(property.get("enum").and_then(Value::as_array).into_iter().flatten());
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    if words.is_empty() {
        let kind = property.get("type").and_then(Value::as_str);
        return kind.unwrap_or("one of several kinds").to_owned();
    }
    words.join(" | ")
}

/// The names of an object's properties.
pub(super) fn names(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|properties| properties.keys().map(String::as_str))
}

fn run<T: Tool>(call: Call<'_>, arguments: Value) -> Result<Value, Refused> {
    let input = serde_path_to_error::deserialize(arguments).map_err(|error| {
        let place = error.path().to_string();
        let place = if place == "." { String::new() } else { format!("`{place}`: ") };
        Refused::arguments(format!("wrong arguments for `{}`: {place}{}", T::NAME, error.inner()))
    })?;
    let output = T::call(call, input)?;
    serde_json::to_value(output)
        .map_err(|error| Refused::new(format!("the result cannot be written as JSON: {error}")))
}

/// The JSON schema of a type, in the plain form that all clients understand: nothing by reference,
/// no formats of our own, and "may be left out" instead of "or null".
fn schema<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .with_transform(RestrictFormats::default());
    let mut value = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut value);
    let Value::Object(mut schema) = value else { return Map::new() };
    for word in ["$schema", "title"] {
        schema.remove(word);
    }
    schema.entry("type").or_insert_with(|| "object".into());
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    schema
}

fn simplify(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(map) => {
            if let Some(Value::Array(kinds)) = map.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [single] = kinds.as_slice() {
                    let single = single.clone();
                    map.insert("type".to_owned(), single);
                }
            }
            if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    map.remove("anyOf");
                    for (word, meaning) in only {
                        map.entry(word).or_insert(meaning);
                    }
                }
            }
            if map.get("default").is_some_and(Value::is_null) {
                map.remove("default");
            }
            map.values_mut().for_each(simplify);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
