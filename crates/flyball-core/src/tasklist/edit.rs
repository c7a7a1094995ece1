//! A human's hand on the task list: a story is added, changed or taken out. Fields flyball does not
//! know stay, and what comes out is always a list that can be used.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::read::{Document, as_id};
use super::{Story, TaskList, TaskListError, transition};
use crate::id::TaskId;

/// A story somebody wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewStory {
    /// What it is called.
    pub title: String,
    /// What is wanted, at more length.
    pub description: String,
    /// What must hold in the end.
    pub criteria: Vec<String>,
    /// Stories that must be done before.
    pub after: Vec<TaskId>,
    /// Its place in the order; none for the end.
    pub priority: Option<i64>,
}

/// Why a list was not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditError {
    /// What would come out, or what is there, is no task list.
    #[error(transparent)]
    List(#[from] TaskListError),
    /// There is no such story.
    #[error("there is no story `{0}`")]
    NoStory(TaskId),
    /// A story needs a title.
    #[error("a story needs a title")]
    NoTitle,
    /// Others wait for the one that is to go.
    #[error("`{story}` is waited for by {}", names(.waiting))]
    WaitedFor {
        /// The one that is to go.
        story: TaskId,
        /// Those that wait for it.
        waiting: Vec<TaskId>,
    },
    /// What stands for the story is no JSON object.
    #[error("the story is no JSON object: {0}")]
    NotAStory(String),
}

fn names(ids: &[TaskId]) -> String {
    let names: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
    names.join(", ")
}

/// An empty list of a project.
pub fn empty(project: &str) -> String {
    let list = json!({
        "project": project, "description": "", "verifyCommands": [], "userStories": [],
    });
    transition::lay_out(&list)
}

/// Adds a story; the list and its id. The example of a new list makes room for it.
pub fn add(text: &str, new: &NewStory) -> Result<(String, TaskId), EditError> {
    if new.title.trim().is_empty() {
        return Err(EditError::NoTitle);
    }
    let list = TaskList::parse(text)?;
    let mut document = Document::read(text)?;
    let is_example = |id: Option<TaskId>| {
        id.and_then(|id| list.story(&id).map(Story::is_example)).unwrap_or(false)
    };
    document.elements.retain(|element| !is_example(element.get("id").and_then(as_id)));
    if let Some(unknown) = new.after.iter().find(|id| list.story(id).is_none_or(Story::is_example))
    {
        return Err(EditError::NoStory(unknown.clone()));
    }
    let left: Vec<&Story> = list.stories().iter().filter(|story| !story.is_example()).collect();
    let id = free_id(|id| left.iter().any(|story| story.id == *id), left.len());
    let last = left.iter().filter_map(|story| story.priority).max().unwrap_or(0);
    let priority = new.priority.unwrap_or_else(|| last.saturating_add(1));
    document.elements.push(json!({
        "id": id, "title": new.title.trim(), "description": new.description.trim(),
        "acceptanceCriteria": new.criteria, "priority": priority, "dependsOn": new.after,
        "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "",
    }));
    Ok((checked(document)?, id))
}

/// The next id of the usual form that nobody has; counting begins after as many stories.
pub(super) fn free_id(is_taken: impl Fn(&TaskId) -> bool, after: usize) -> TaskId {
    let ids = (after.saturating_add(1)..).map(|number| TaskId::new(format!("US-{number:03}")));
    let mut free = ids.filter(|id| !is_taken(id));
    free.next().unwrap_or_default()
}

/// The text of one story, for an editor.
pub fn story_text(text: &str, id: &TaskId) -> Result<String, EditError> {
    TaskList::parse(text)?;
    let document = Document::read(text)?;
    let found = document.elements.iter().find(|element| is(element, id));
    found.map(transition::lay_out).ok_or_else(|| EditError::NoStory(id.clone()))
}

/// Puts the text of a story in the place of the one with this id. A new id is taken over by those
/// that wait for it.
pub fn replace(text: &str, id: &TaskId, story: &str) -> Result<String, EditError> {
    let not_a_story = |why: String| EditError::NotAStory(why);
    let story: Value =
        serde_json::from_str(story).map_err(|error| not_a_story(error.to_string()))?;
    if !story.is_object() {
        return Err(not_a_story("it is something else".to_owned()));
    }
    TaskList::parse(text)?;
    let mut document = Document::read(text)?;
    let renamed = story.get("id").and_then(as_id).filter(|new| new != id);
    let at = document.elements.iter().position(|element| is(element, id));
    let Some(place) = at.and_then(|at| document.elements.get_mut(at)) else {
        return Err(EditError::NoStory(id.clone()));
    };
    *place = story;
    if let Some(new) = renamed {
        for element in &mut document.elements {
            rename_links(element, id, &new);
        }
    }
    Ok(checked(document)?)
}

/// What becomes of stories that wait for one that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// They keep it from going.
    Hold,
    /// They wait for it no longer.
    Cut,
}

/// Takes a story out.
pub fn drop_story(text: &str, id: &TaskId, links: Links) -> Result<String, EditError> {
    let list = TaskList::parse(text)?;
    if list.story(id).is_none() {
        return Err(EditError::NoStory(id.clone()));
    }
    let waits = |story: &&Story| story.depends_on.contains(id);
    let waiting: Vec<TaskId> =
        list.stories().iter().filter(waits).map(|story| story.id.clone()).collect();
    if links == Links::Hold && !waiting.is_empty() {
        return Err(EditError::WaitedFor { story: id.clone(), waiting });
    }
    let mut document = Document::read(text)?;
    document.elements.retain(|element| !is(element, id));
    for element in &mut document.elements {
        if let Some(Value::Array(links)) = element.get_mut("dependsOn") {
            links.retain(|link| as_id(link).as_ref() != Some(id));
        }
    }
    Ok(checked(document)?)
}

fn is(element: &Value, id: &TaskId) -> bool {
    element.get("id").and_then(as_id).as_ref() == Some(id)
}

fn rename_links(element: &mut Value, old: &TaskId, new: &TaskId) {
    let links =
        element.as_object_mut().and_then(|story: &mut Map<_, _>| story.get_mut("dependsOn"));
    if let Some(Value::Array(links)) = links {
        for link in links.iter_mut().filter(|link| as_id(link).as_ref() == Some(old)) {
            *link = json!(new);
        }
    }
}

/// The list as text, once it can be used.
pub(super) fn checked(document: Document) -> Result<String, TaskListError> {
    let text = transition::lay_out(&document.into_value());
    TaskList::parse(&text).map(|_| text)
}

#[cfg(test)]
mod tests {
    use std::prelude::rust_2024::*;
    use std::vec;

    use super::*;

    const LIST: &str = r#"{"project": "p", "mine": 1, "userStories": [
        {"id": "US-001", "title": "a", "priority": 4, "own": true},
        {"id": "b", "title": "b", "dependsOn": ["US-001"]}]}"#;

    fn id(text: &str) -> TaskId {
        TaskId::new(text)
    }

    #[test]
    fn a_story_is_added_at_the_end_with_a_free_id() {
        let new = NewStory {
            title: " c ".into(),
            criteria: vec!["`make` is green".into()],
            after: vec![id("b")],
            ..NewStory::default()
        };
        let (text, added) = add(LIST, &new).unwrap();
        let list = TaskList::parse(&text).unwrap();
        let story = list.story(&added).unwrap();
        assert_eq!((added.as_str(), story.title.as_str()), ("US-003", "c"));
        assert_eq!((story.priority, story.depends_on.as_slice()), (Some(5), &[id("b")][..]));
        assert!(text.contains("\"own\": true") && text.contains("\"mine\": 1"), "{text}");
        let (_, second) = add(&text, &NewStory { priority: Some(1), ..new.clone() }).unwrap();
        assert_eq!(second.as_str(), "US-004");
        let unknown = NewStory { after: vec![id("z")], ..new };
        assert_eq!(add(LIST, &unknown), Err(EditError::NoStory(id("z"))));
        assert_eq!(add(LIST, &NewStory::default()), Err(EditError::NoTitle));
    }

    #[test]
    fn the_example_makes_room_and_an_empty_list_is_begun() {
        let example = format!(
            r#"{{"userStories": [{{"id": "US-001", "title": "{}"}}]}}"#,
            super::super::EXAMPLE_TITLE
        );
        let new = NewStory { title: "first".into(), ..NewStory::default() };
        for text in [example, empty("p")] {
            let (text, added) = add(&text, &new).unwrap();
            assert_eq!(added.as_str(), "US-001");
            assert_eq!(TaskList::parse(&text).unwrap().stories().len(), 1);
        }
    }

    #[test]
    fn an_edited_story_must_fit_and_takes_its_links_along() {
        let text = story_text(LIST, &id("US-001")).unwrap();
        assert!(text.contains("\"own\": true"), "{text}");
        let renamed = text.replace("US-001", "first");
        let list = replace(LIST, &id("US-001"), &renamed).unwrap();
        let list = TaskList::parse(&list).unwrap();
        assert_eq!(list.story(&id("b")).unwrap().depends_on, [id("first")]);
        for (story, expected) in [
            (r#"{"id": "b", "title": "twice"}"#, "two stories have the id"),
            (r#"{"id": "US-001", "dependsOn": ["b"]}"#, "circle"),
            (r#"{"id": "US-001", "passes": "yes"}"#, "`passes`"),
            ("{ broken", "no JSON object"),
            ("[]", "no JSON object"),
        ] {
            let error = replace(LIST, &id("US-001"), story).unwrap_err().to_string();
            assert!(error.contains(expected), "{story}: {error}");
        }
        assert_eq!(replace(LIST, &id("z"), "{}"), Err(EditError::NoStory(id("z"))));
    }

    #[test]
    fn a_story_that_others_wait_for_goes_only_with_its_links() {
        let error = drop_story(LIST, &id("US-001"), Links::Hold).unwrap_err();
        assert_eq!(error.to_string(), "`US-001` is waited for by `b`");
        let list = drop_story(LIST, &id("US-001"), Links::Cut).unwrap();
        let list = TaskList::parse(&list).unwrap();
        assert_eq!(list.stories().len(), 1);
        assert!(list.stories()[0].depends_on.is_empty());
        assert!(drop_story(LIST, &id("b"), Links::Hold).is_ok());
        assert_eq!(drop_story(LIST, &id("z"), Links::Cut), Err(EditError::NoStory(id("z"))));
    }
}
