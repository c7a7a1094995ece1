//! A `prd.json` with user stories, as other loops keep it, turned into `tasks.json`. Fields flyball
//! does not know are kept.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::read;
use crate::error::CliError;

/// A converted task list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Converted {
    /// Where the stories came from, relative to the root.
    pub(super) from: PathBuf,
    /// The text of `tasks.json`.
    pub(super) text: String,
    /// How many stories, and how many of them had passed.
    pub(super) counts: (usize, usize),
}

/// Finds a `prd.json` in the loop folder or the root and converts it; none when there is none, or
/// when it holds no user stories.
pub(super) fn convert(
    root: &Path,
    dir: &Path,
    project: &str,
) -> Result<Option<Converted>, CliError> {
    for from in [dir.join("prd.json"), PathBuf::from("prd.json")] {
        let Some(text) = read(&root.join(&from))? else { continue };
        let value: Value = serde_json::from_str(&text).map_err(|error| {
            CliError::data(format!("`{}` is no valid JSON", from.display()))
                .cause(error)
                .hint("correct it, or move it away to start with an empty task list")
        })?;
        let Value::Object(list) = value else { continue };
        let Some(Value::Array(stories)) = list.get("userStories") else { continue };
        let stories: Vec<Value> = stories.iter().enumerate().map(story).collect();
        let passed = stories.iter().filter(|story| story["passes"] == json!(true)).count();
        let counts = (stories.len(), passed);
        let text = format!("{:#}\n", with_stories(list, stories, project));
        return Ok(Some(Converted { from, text, counts }));
    }
    Ok(None)
}

fn with_stories(mut list: Map<String, Value>, stories: Vec<Value>, project: &str) -> Value {
    fill(&mut list, "project", || json!(project));
    fill(&mut list, "description", || json!(""));
    fill(&mut list, "verifyCommands", || json!([]));
    list.insert("userStories".to_owned(), stories.into());
    list.into()
}

/// One story with every field flyball reads. A story that passed counts as approved.
fn story((place, story): (usize, &Value)) -> Value {
    let Value::Object(story) = story else { return story.clone() };
    let mut story = story.clone();
    let id = match story.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => format!("US-{:03}", place + 1),
    };
    story.insert("id".to_owned(), json!(id));
    let passes = story.get("passes") == Some(&json!(true));
    let dependencies = story.get("dependencies").filter(|list| list.is_array()).cloned();
    fill(&mut story, "title", || json!(id));
    fill(&mut story, "description", || json!(""));
    fill(&mut story, "acceptanceCriteria", || json!([]));
    fill(&mut story, "priority", || json!(place + 1));
    fill(&mut story, "dependsOn", || dependencies.unwrap_or_else(|| json!([])));
    fill(&mut story, "passes", || json!(false));
    fill(&mut story, "reviewStatus", || if passes { json!("approved") } else { Value::Null });
    fill(&mut story, "reviewCount", || json!(0));
    fill(&mut story, "reviewFeedback", || json!(""));
    fill(&mut story, "notes", || json!(""));
    if passes && story.get("notes") == Some(&json!("")) {
        story.insert("notes".to_owned(), json!("Passed before flyball took over."));
    }
    story.into()
}

fn fill(object: &mut Map<String, Value>, field: &str, value: impl FnOnce() -> Value) {
    if object.get(field).is_none_or(Value::is_null) {
        object.insert(field.to_owned(), value());
    }
}
