//! Stories an agent drafted: what of them is fit to be written down, and how they join those that
//! are there. A draft says what is wanted and nothing else: nothing in it has passed, and it changes
//! neither what checks the work nor what the work may touch.

mod again;
mod criterion;

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Value, json};
use thiserror::Error;

pub use self::again::{TRIES_MAX, Try, best, what_was_wrong};
use self::criterion::Checked;
use super::edit::{checked, free_id};
use super::read::{Document, as_id, read_story};
use super::{Story, TaskList, TaskListError, graph};
use crate::id::TaskId;
use crate::text;

/// The most stories one draft may bring.
pub const DRAFT_MAX: usize = 200;
/// More criteria than this, and a story is not the work of one iteration.
const CRITERIA_MAX: usize = 8;
/// A longer description tells of more than one change.
const DESCRIPTION_MAX: usize = 4000;

/// What an agent drafted, judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Stories that can be written down, in the order they came.
    pub stories: Vec<Story>,
    /// What was left out, and why, one sentence each.
    pub refused: Vec<String>,
    /// What a human should look at, one sentence each.
    pub doubts: Vec<String>,
}

/// Why a text is no draft at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DraftError {
    /// Nothing in it is a list of stories.
    #[error("it holds no list of stories")]
    NoStories,
    /// More than anybody would read.
    #[error("it holds {0} stories, more than {DRAFT_MAX}")]
    TooMany(usize),
}

/// Judges a draft: an object with `userStories`, or the bare list.
pub fn judge(text: &str) -> Result<Draft, DraftError> {
    let value: Value = serde_json::from_str(text).map_err(|_| DraftError::NoStories)?;
    let elements = match value {
        Value::Array(elements) => elements,
        Value::Object(mut map) => match map.get_mut("userStories").map(Value::take) {
            Some(Value::Array(elements)) => elements,
            Some(_) | None => return Err(DraftError::NoStories),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(DraftError::NoStories);
        }
    };
    if !elements.iter().any(Value::is_object) {
        return Err(DraftError::NoStories);
    }
    if elements.len() > DRAFT_MAX {
        return Err(DraftError::TooMany(elements.len()));
    }
    Ok(judged(&elements))
}

fn judged(elements: &[Value]) -> Draft {
    let mut draft = Draft::default();
    let mut seen = BTreeSet::new();
    for (index, element) in elements.iter().enumerate() {
        match fresh(element, index, &seen) {
            Ok(story) => {
                seen.insert(story.id.clone());
                draft.stories.push(story);
            }
            Err(why) => draft.refused.push(why),
        }
    }
    draft.refuse_what_waits_in_vain();
    draft.doubts = draft.stories.iter().flat_map(doubts).collect();
    draft
}

/// One story as it may be written down: fresh, with something that can be checked.
fn fresh(element: &Value, index: usize, seen: &BTreeSet<TaskId>) -> Result<Story, String> {
    let mut element = element.clone();
    if let Some(story) = element.as_object_mut()
        && story.get("id").is_none_or(Value::is_null)
    {
        let id = free_id(|id| seen.contains(id), index);
        story.insert("id".to_owned(), json!(id));
    }
    let story = read_story(&element, index + 1).map_err(|error| error.to_string())?;
    let shown = text::head(story.id.as_str(), 40);
    if seen.contains(&story.id) {
        return Err(format!("two stories have the id `{shown}`: the second is left out"));
    }
    let has_title =
        element.get("title").and_then(Value::as_str).is_some_and(|t| !t.trim().is_empty());
    if !has_title {
        return Err(format!("story `{shown}` has no title"));
    }
    let criteria: Vec<String> = story
        .acceptance_criteria
        .iter()
        .map(|criterion| criterion.trim().to_owned())
        .filter(|criterion| !criterion.is_empty())
        .collect();
    if criteria.is_empty() {
        return Err(format!(
            "story `{shown}` has no criterion: nothing could tell that it is done"
        ));
    }
    can_be_checked(&shown, &criteria)?;
    is_one_iteration(&shown, &criteria, &story.description)?;
    Ok(Story {
        id: story.id,
        title: story.title.trim().to_owned(),
        description: story.description.trim().to_owned(),
        acceptance_criteria: criteria,
        priority: story.priority,
        depends_on: story.depends_on,
        ..Story::default()
    })
}

/// Refuses a story of which nothing could be found out by running something.
fn can_be_checked(shown: &str, criteria: &[String]) -> Result<(), String> {
    if criteria.iter().any(|criterion| criterion::checked(criterion) != Checked::Never) {
        return Ok(());
    }
    let first = criteria.first().map(String::as_str).unwrap_or_default();
    Err(format!(
        "story `{shown}`: nothing can be run to check \"{}\"; name the command, the request, the \
         file or the number",
        text::head(first, 80)
    ))
}

/// Refuses a story that is more than one iteration's work.
fn is_one_iteration(shown: &str, criteria: &[String], description: &str) -> Result<(), String> {
    let (count, length) = (criteria.len(), description.trim().chars().count());
    if count > CRITERIA_MAX {
        return Err(format!(
            "story `{shown}` has {count} criteria, more than one iteration's work \
             ({CRITERIA_MAX}): split it"
        ));
    }
    if length > DESCRIPTION_MAX {
        return Err(format!(
            "the description of story `{shown}` has {length} characters, more than one \
             iteration's work ({DESCRIPTION_MAX}): split it"
        ));
    }
    Ok(())
}

/// What a human should look at in a story.
fn doubts(story: &Story) -> impl Iterator<Item = String> {
    let unsure = story.acceptance_criteria.iter();
    let unsure = unsure.filter(|criterion| criterion::checked(criterion) != Checked::ByRunning);
    unsure.map(|criterion| {
        format!(
            "story `{}`: what could be run to check \"{}\"?",
            story.id,
            text::head(criterion, 80)
        )
    })
}

impl Draft {
    /// A story that waits for one that is not there, or for itself, could never begin.
    fn refuse_what_waits_in_vain(&mut self) {
        loop {
            let ids: BTreeSet<TaskId> = self.stories.iter().map(|story| story.id.clone()).collect();
            let in_vain = self
                .stories
                .iter()
                .position(|story| story.depends_on.iter().any(|link| !ids.contains(link)));
            let at = match (in_vain, graph::check(&self.stories)) {
                (Some(at), _) => at,
                (None, Err(TaskListError::Cycle { stories })) => {
                    let last = stories.last();
                    let found = self.stories.iter().position(|story| Some(&story.id) == last);
                    let Some(at) = found else { return };
                    at
                }
                (None, _) => return,
            };
            let story = self.stories.remove(at);
            let missing = story.depends_on.iter().find(|link| !ids.contains(*link));
            let shown = text::head(story.id.as_str(), 40);
            self.refused.push(match missing {
                Some(link) => format!("story `{shown}` waits for `{link}`, which is not there"),
                None => format!("story `{shown}` waits for itself in a circle"),
            });
        }
    }
}

/// How a draft joins the stories that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Behind them.
    Add,
    /// In their place.
    Replace,
}

/// The list with the stories of a draft, and the ids they have there. What was there keeps its ids,
/// its order and its fields; a new story whose id is taken gets another.
pub fn join(
    list: &str,
    draft: &[Story],
    how: Join,
) -> Result<(String, Vec<TaskId>), TaskListError> {
    let known = TaskList::parse(list)?;
    let mut document = Document::read(list)?;
    let is_left = |element: &Value| {
        let story = element.get("id").and_then(as_id).and_then(|id| known.story(&id));
        how == Join::Add && !story.is_some_and(Story::is_example)
    };
    document.elements.retain(is_left);
    let mut taken: BTreeSet<TaskId> =
        document.elements.iter().filter_map(|element| element.get("id").and_then(as_id)).collect();
    let last = known.stories().iter().filter(|story| taken.contains(&story.id));
    let last = last.filter_map(|story| story.priority).max().unwrap_or(0);
    let mut ids: BTreeMap<TaskId, TaskId> = BTreeMap::new();
    for story in draft {
        let count = taken.len();
        let id = if taken.contains(&story.id) {
            let drafted = |id: &TaskId| draft.iter().any(|other| other.id == *id);
            free_id(|id| taken.contains(id) || drafted(id), count)
        } else {
            story.id.clone()
        };
        taken.insert(id.clone());
        ids.insert(story.id.clone(), id);
    }
    let named = |id: &TaskId| ids.get(id).cloned().unwrap_or_else(|| id.clone());
    for (place, story) in draft.iter().enumerate() {
        let place = i64::try_from(place).unwrap_or(i64::MAX).saturating_add(1);
        let priority = last.saturating_add(story.priority.unwrap_or(place).max(1));
        let links: Vec<TaskId> = story.depends_on.iter().map(named).collect();
        document.elements.push(json!({
            "id": named(&story.id), "title": story.title, "description": story.description,
            "acceptanceCriteria": story.acceptance_criteria, "priority": priority,
            "dependsOn": links, "passes": false, "reviewStatus": null, "reviewCount": 0,
            "reviewFeedback": "", "notes": "",
        }));
    }
    let text = checked(document)?;
    Ok((text, draft.iter().map(|story| named(&story.id)).collect()))
}

/// The JSON of a draft in what an agent said: the last fenced block that holds one, else the widest
/// piece between braces or brackets that does.
pub fn found_in(said: &str) -> Option<String> {
    let mut fenced = Vec::new();
    let mut open: Option<String> = None;
    for line in said.lines() {
        let is_fence = line.trim_start().starts_with("```");
        match (&mut open, is_fence) {
            (None, true) => open = Some(String::new()),
            (Some(_), true) => fenced.extend(open.take()),
            (Some(block), false) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, false) => {}
        }
    }
    let holds = |text: &&str| judge(text).is_ok();
    let mut blocks = fenced.iter().rev().map(|block| block.trim());
    if let Some(block) = blocks.find(holds) {
        return Some(block.to_owned());
    }
    let pieces = [('{', '}'), ('[', ']')].into_iter().filter_map(|(first, last)| {
        let (from, to) = (said.find(first)?, said.rfind(last)?);
        said.get(from..=to)
    });
    pieces.filter(holds).max_by_key(|piece| piece.len()).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests;
