//! Stories as other loops keep them, turned into `tasks.json`: a `prd.json`, a bare list, a Markdown
//! checklist. Fields flyball does not know are kept.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{checklist, read};
use crate::error::CliError;

/// Lists in JSON, beside the one of the loop folder.
const JSON: [&str; 2] = ["prd.json", "scripts/ralph/prd.json"];

/// Checklists in the loop folder or at the root.
const CHECKLISTS: [&str; 8] = [
    "fix_plan.md",
    "@fix_plan.md",
    "IMPLEMENTATION_PLAN.md",
    "PLAN.md",
    "plan.md",
    "TASKS.md",
    "tasks.md",
    "TODO.md",
];

/// A converted task list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Converted {
    /// Where the stories came from, relative to the root.
    pub(super) from: PathBuf,
    /// The text of `tasks.json`.
    pub(super) text: String,
    /// How many stories, and how many of them had passed.
    pub(super) counts: (usize, usize),
    /// Whether the list knows reviews.
    pub(super) has_reviews: bool,
}

/// Finds stories in the loop folder or the root and converts them; none when there are none.
pub(super) fn convert(
    root: &Path,
    dir: &Path,
    project: &str,
) -> Result<Option<Converted>, CliError> {
    let json = std::iter::once(dir.join("prd.json")).chain(JSON.map(PathBuf::from));
    for from in json {
        let Some(text) = read(&root.join(&from))? else { continue };
        let value: Value = serde_json::from_str(&text).map_err(|error| {
            CliError::data(format!("`{}` is no valid JSON", from.display()))
                .cause(error)
                .hint("correct it, or move it away to start with an empty task list")
        })?;
        if let Some(converted) = of_value(value, &from, project) {
            return Ok(Some(converted));
        }
    }
    let inside = CHECKLISTS.iter().map(|name| dir.join(name));
    for from in inside.chain(CHECKLISTS.iter().map(PathBuf::from)) {
        let Some(text) = read(&root.join(&from))? else { continue };
        let stories = checklist::stories(&text);
        if !stories.is_empty() {
            return Ok(of_value(Value::Array(stories), &from, project));
        }
    }
    Ok(None)
}

/// A task list that is there as a bare list of stories, in the form flyball reads.
pub(super) fn bare(text: &str, from: &Path, project: &str) -> Option<Converted> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.is_array().then(|| of_value(value, from, project))?
}

/// Whether a task list that is there knows reviews.
pub(super) fn knows_reviews(text: &str) -> bool {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    value.get("userStories").and_then(Value::as_array).is_none_or(|stories| has_reviews(stories))
}

fn has_reviews(stories: &[Value]) -> bool {
    let fields = ["reviewStatus", "reviewCount", "reviewFeedback"];
    stories.iter().any(|story| fields.iter().any(|field| story.get(field).is_some()))
}

/// A list of stories, bare or in its object.
fn of_value(value: Value, from: &Path, project: &str) -> Option<Converted> {
    let (list, stories) = match value {
        Value::Array(stories) => (Map::new(), stories),
        Value::Object(mut list) => match list.get_mut("userStories").map(Value::take) {
            Some(Value::Array(stories)) => (list, stories),
            Some(_) | None => return None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    };
    if list.is_empty() && !stories.iter().any(Value::is_object) {
        return None;
    }
    let has_reviews = has_reviews(&stories);
    let stories: Vec<Value> = stories.iter().enumerate().map(story).collect();
    let passed = stories.iter().filter(|story| story["passes"] == json!(true)).count();
    let counts = (stories.len(), passed);
    let text = format!("{:#}\n", with_stories(list, stories, project));
    Some(Converted { from: from.to_path_buf(), text, counts, has_reviews })
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
