//! From text to stories. Lenient where files in the wild differ (ids that are numbers, fields left
//! out), strict where a guess would decide what counts as done. Never changes the text.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{borrow::ToOwned, format};

use serde_json::{Map, Value};
use thiserror::Error;

use super::{ReviewStatus, Story, TaskList, graph};
use crate::id::TaskId;
use crate::text;

/// The longest text of a task list that is read.
pub const TASK_LIST_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Characters of an id or value shown in a sentence.
pub(super) const SHOWN_CHARS: usize = 80;

/// Why a text is no task list. Always bad data, exit code 65.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TaskListError {
    /// Longer than is read.
    #[error(
        "the task list has {bytes} bytes, more than {TASK_LIST_BYTES_MAX}: split it or shorten it"
    )]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// No JSON.
    #[error("the task list is not JSON: {why} (line {line}, column {column})")]
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What the parser stumbled over.
        why: String,
    },
    /// A field that must be there is not.
    #[error("{place} has no `{field}`: add it as {expected}")]
    Missing {
        /// Which story, or the list itself.
        place: String,
        /// Which field.
        field: &'static str,
        /// What belongs there.
        expected: &'static str,
    },
    /// A field holds something else than it can.
    #[error("{place}: `{field}` must be {expected}, not {found}")]
    WrongType {
        /// Which story, or the list itself.
        place: String,
        /// Which field.
        field: &'static str,
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// Two stories with one id.
    #[error("two stories have the id `{id}`: give one of them another")]
    DuplicateId {
        /// The id.
        id: TaskId,
    },
    /// A dependency that is no story.
    #[error("story `{story}` depends on `{dependency}`, which is no story of this list")]
    UnknownDependency {
        /// Which story.
        story: TaskId,
        /// What it names.
        dependency: TaskId,
    },
    /// Stories that wait for each other.
    #[error(
        "`dependsOn` goes round in a circle: {}: take one of these links out",
        graph::arrows(.stories)
    )]
    Cycle {
        /// The circle, each story once.
        stories: Vec<TaskId>,
    },
}

/// The text taken apart, with everything flyball does not know still in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document {
    /// The whole object, its `userStories` taken out of it (left as an empty list).
    pub(super) root: Map<String, Value>,
    /// The elements of `userStories`, not yet read.
    pub(super) elements: Vec<Value>,
    project: String,
    description: String,
    verify_commands: Vec<String>,
}

impl Document {
    /// Takes a text apart; checks everything but the stories.
    pub(super) fn read(text: &str) -> Result<Self, TaskListError> {
        if text.len() > TASK_LIST_BYTES_MAX {
            return Err(TaskListError::TooLong { bytes: text.len() });
        }
        let json = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value: Value = serde_json::from_str(json).map_err(|error| not_json(&error))?;
        let fields = Fields { place: "the task list".to_owned(), map: as_list(&value)? };
        let (project, description) = (fields.text("project")?, fields.text("description")?);
        let verify_commands = fields.texts("verifyCommands")?;
        let expected = "a list of stories";
        match fields.map.get("userStories") {
            None => return Err(fields.missing("userStories", expected)),
            Some(Value::Array(_)) => {}
            Some(other) => return Err(fields.wrong("userStories", expected, other)),
        }
        let Value::Object(mut root) = value else { return Err(no_object(&value)) };
        let elements = match root.get_mut("userStories").map(Value::take) {
            Some(Value::Array(elements)) => elements,
            Some(_) | None => Vec::new(),
        };
        Ok(Self { root, elements, project, description, verify_commands })
    }

    /// Commands that are gates besides the configured ones.
    pub(super) fn verify_commands(&self) -> &[String] {
        &self.verify_commands
    }

    /// Has the commands of another document again, as they stand there.
    pub(super) fn put_back_verify_commands(&mut self, from: Option<&Value>) {
        const FIELD: &str = "verifyCommands";
        match from.and_then(|value| value.get(FIELD)) {
            Some(commands) => {
                self.root.insert(FIELD.to_owned(), commands.clone());
            }
            None => self.root.retain(|key, _| key != FIELD),
        }
    }

    /// The whole object again, with these elements as `userStories`.
    pub(super) fn into_value(self) -> Value {
        let Self { mut root, elements, .. } = self;
        root.insert("userStories".to_owned(), Value::Array(elements));
        Value::Object(root)
    }
}

/// Reads a text as a task list.
pub(super) fn parse(text: &str) -> Result<TaskList, TaskListError> {
    let document = Document::read(text)?;
    let mut seen = BTreeSet::new();
    let mut stories = Vec::with_capacity(document.elements.len());
    for (index, element) in document.elements.iter().enumerate() {
        let story = read_story(element, index + 1)?;
        if !seen.insert(story.id.clone()) {
            return Err(TaskListError::DuplicateId { id: story.id });
        }
        stories.push(story);
    }
    graph::check(&stories)?;
    let Document { project, description, verify_commands, .. } = document;
    Ok(TaskList { project, description, verify_commands, user_stories: stories })
}

/// Reads one element of `userStories`; `number` counts from 1 and names a story without an id.
pub(super) fn read_story(element: &Value, number: usize) -> Result<Story, TaskListError> {
    let place = format!("story number {number}");
    let Value::Object(map) = element else {
        let (expected, found) = ("a list of objects", describe(element));
        return Err(TaskListError::WrongType { place, field: "userStories", expected, found });
    };
    let mut fields = Fields { place, map };
    let expected = "text that no other story has";
    let id = match map.get("id") {
        None | Some(Value::Null) => return Err(fields.missing("id", expected)),
        Some(value) => {
            as_id(value).ok_or_else(|| fields.wrong("id", "text or a whole number", value))?
        }
    };
    fields.place = format!("story `{}`", shown(&id));
    let title = fields.text("title")?;
    Ok(Story {
        title: if title.is_empty() { id.to_string() } else { title },
        description: fields.text("description")?,
        acceptance_criteria: fields.texts("acceptanceCriteria")?,
        priority: fields.priority()?,
        depends_on: fields.ids("dependsOn")?,
        passes: fields.flag("passes")?,
        review_status: fields.review_status()?,
        review_count: fields.count("reviewCount")?,
        review_feedback: fields.text("reviewFeedback")?,
        notes: fields.text("notes")?,
        may_change: fields.texts("mayChange")?,
        id,
    })
}

/// The id as it stands in a sentence.
pub(super) fn shown(id: &TaskId) -> String {
    let line = text::first_line(id.as_str());
    text::prefix(line, SHOWN_CHARS).to_owned()
}

/// The fields of one object, with the words that name the object in an error.
struct Fields<'a> {
    place: String,
    map: &'a Map<String, Value>,
}

impl Fields<'_> {
    /// The value, where there is one that is not null.
    fn given(&self, field: &str) -> Option<&Value> {
        self.map.get(field).filter(|value| !value.is_null())
    }

    fn text(&self, field: &'static str) -> Result<String, TaskListError> {
        match self.given(field) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(self.wrong(field, "text", other)),
        }
    }

    fn texts(&self, field: &'static str) -> Result<Vec<String>, TaskListError> {
        self.each(field, "a list of texts", |value| value.as_str().map(ToOwned::to_owned))
    }

    fn ids(&self, field: &'static str) -> Result<Vec<TaskId>, TaskListError> {
        self.each(field, "a list of story ids", as_id)
    }

    fn each<T>(
        &self,
        field: &'static str,
        expected: &'static str,
        take: impl Fn(&Value) -> Option<T>,
    ) -> Result<Vec<T>, TaskListError> {
        let elements = match self.given(field) {
            None => return Ok(Vec::new()),
            Some(Value::Array(elements)) => elements,
            Some(other) => return Err(self.wrong(field, expected, other)),
        };
        let item = |value| {
            take(value).ok_or_else(|| TaskListError::WrongType {
                place: self.place.clone(),
                field,
                expected,
                found: format!("a list with {} in it", describe(value)),
            })
        };
        elements.iter().map(item).collect()
    }

    fn flag(&self, field: &'static str) -> Result<bool, TaskListError> {
        match self.given(field) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.wrong(field, "true or false", other)),
        }
    }

    fn count(&self, field: &'static str) -> Result<u32, TaskListError> {
        let Some(value) = self.given(field) else { return Ok(0) };
        as_whole(value)
            .and_then(|number| u32::try_from(number).ok())
            .ok_or_else(|| self.wrong(field, "a whole number from 0", value))
    }

    fn priority(&self) -> Result<Option<i64>, TaskListError> {
        let Some(value) = self.given("priority") else { return Ok(None) };
        match as_whole(value) {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong("priority", "a whole number", value)),
        }
    }

    fn review_status(&self) -> Result<Option<ReviewStatus>, TaskListError> {
        let Some(value) = self.given("reviewStatus") else { return Ok(None) };
        let all =
            [ReviewStatus::NeedsReview, ReviewStatus::ChangesRequested, ReviewStatus::Approved];
        let known = all.into_iter().find(|status| value.as_str() == Some(status.as_str()));
        let expected = "null, `needs_review`, `changes_requested` or `approved`";
        known.map_or_else(|| Err(self.wrong("reviewStatus", expected, value)), |one| Ok(Some(one)))
    }

    fn missing(&self, field: &'static str, expected: &'static str) -> TaskListError {
        TaskListError::Missing { place: self.place.clone(), field, expected }
    }

    fn wrong(&self, field: &'static str, expected: &'static str, found: &Value) -> TaskListError {
        let (place, found) = (self.place.clone(), describe(found));
        TaskListError::WrongType { place, field, expected, found }
    }
}

fn as_list(value: &Value) -> Result<&Map<String, Value>, TaskListError> {
    value.as_object().ok_or_else(|| no_object(value))
}

fn no_object(value: &Value) -> TaskListError {
    TaskListError::WrongType {
        place: "the task list".to_owned(),
        field: "the file",
        expected: "an object with `userStories`",
        found: describe(value),
    }
}

/// An id, written as text or as a number.
pub(super) fn as_id(value: &Value) -> Option<TaskId> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(TaskId::new(text.as_str())),
        Value::Number(number) => Some(TaskId::new(number.to_string())),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

/// A whole number, written as `2` or as `2.0`.
fn as_whole(value: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    let number = value.as_f64().filter(|number| number.abs() < EXACT && number % 1.0 == 0.0)?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53, so it fits exactly")]
    let whole = number as i64;
    Some(whole)
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text `{}`", text::head(text::first_line(text), 40)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn not_json(error: &serde_json::Error) -> TaskListError {
    let (line, column) = (error.line(), error.column());
    let full = error.to_string();
    let why = full.split(" at line ").next().unwrap_or("");
    TaskListError::NotJson { line, column, why: text::head(why, 200) }
}
