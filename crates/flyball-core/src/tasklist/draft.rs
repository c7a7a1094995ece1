//! Stories an agent drafted: what of them is fit to be written down, and how they join those that
//! are there. A draft says what is wanted and nothing else: nothing in it has passed, and it changes
//! neither what checks the work nor what the work may touch.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Value, json};
use thiserror::Error;

use super::edit::{checked, free_id};
use super::read::{Document, as_id, read_story};
use super::{Story, TaskList, TaskListError, graph};
use crate::id::TaskId;
use crate::text;

/// The most stories one draft may bring.
pub const DRAFT_MAX: usize = 200;
/// More criteria than this, and a story is hardly the work of one iteration.
const CRITERIA_MAX: usize = 8;

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
    draft.doubts = draft.stories.iter().filter_map(doubt).collect();
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

/// What a human should look at in a story.
fn doubt(story: &Story) -> Option<String> {
    let (id, count) = (&story.id, story.acceptance_criteria.len());
    if count > CRITERIA_MAX {
        return Some(format!("story `{id}` has {count} criteria: that is hardly one iteration"));
    }
    let vague = story.acceptance_criteria.iter().find(|criterion| is_vague(criterion))?;
    Some(format!("story `{id}`: nothing can be run to check \"{}\"", text::head(vague, 80)))
}

/// Whether a criterion is a wish that no command could check.
fn is_vague(criterion: &str) -> bool {
    const WISHES: [&str; 12] = [
        "works well",
        "works correctly",
        "works as expected",
        "user friendly",
        "user-friendly",
        "looks good",
        "is clean",
        "clean code",
        "well documented",
        "best practices",
        "good quality",
        "is intuitive",
    ];
    let lower = criterion.to_lowercase();
    let words = lower.split_whitespace().count();
    // What names a command, a file or a number can be looked at.
    let is_concrete = lower.contains('`') || lower.chars().any(|c| c.is_ascii_digit() || c == '/');
    !is_concrete && (words < 3 || WISHES.iter().any(|wish| lower.contains(wish)))
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
mod tests {
    use std::prelude::rust_2024::*;
    use std::vec;

    use super::*;

    fn ids(stories: &[Story]) -> Vec<&str> {
        stories.iter().map(|story| story.id.as_str()).collect()
    }

    const GOOD: &str = r#"[
        {"id": "A", "title": "one", "acceptanceCriteria": ["`make test` is green"], "passes": true,
         "reviewStatus": "approved", "mayChange": ["tests/"], "notes": "done"},
        {"title": "two", "acceptanceCriteria": ["`curl /x` answers 200"], "dependsOn": ["A"]}]"#;

    #[test]
    fn a_draft_is_fresh_whatever_it_says_of_itself() {
        let draft = judge(GOOD).unwrap();
        assert_eq!(ids(&draft.stories), ["A", "US-002"]);
        assert!(draft.refused.is_empty() && draft.doubts.is_empty(), "{draft:?}");
        let first = &draft.stories[0];
        assert!(!first.passes && first.review_status.is_none() && first.notes.is_empty());
        assert!(first.may_change.is_empty(), "what the work may touch is the human's to say");
        let text = join(&crate::tasklist::edit::empty("p"), &draft.stories, Join::Add).unwrap().0;
        assert!(!text.contains("mayChange"), "{text}");
    }

    #[test]
    fn what_is_not_valid_is_named_and_left_out_with_what_waits_for_it() {
        let draft = judge(
            r#"{"userStories": [
            {"id": "a", "title": "", "acceptanceCriteria": ["`x` is 1"]},
            {"id": "b", "title": "b", "acceptanceCriteria": [" "]},
            {"id": "c", "title": "c", "acceptanceCriteria": ["`x` is 1"], "dependsOn": ["b"]},
            {"id": "d", "title": "d", "acceptanceCriteria": ["`x` is 1"], "dependsOn": ["e"]},
            {"id": "e", "title": "e", "acceptanceCriteria": ["`x` is 1"], "dependsOn": ["d"]},
            {"id": "f", "title": "f", "acceptanceCriteria": ["`x` is 1"]},
            {"id": "f", "title": "g", "acceptanceCriteria": ["`x` is 1"]},
            {"id": "h", "title": "h", "acceptanceCriteria": "one"}, 7]}"#,
        )
        .unwrap();
        assert_eq!(ids(&draft.stories), ["f"]);
        let all = draft.refused.join("\n");
        for words in [
            "`a` has no title",
            "`b` has no criterion",
            "two stories have the id `f`",
            "`h`: `acceptanceCriteria` must be",
            "story number 9",
            "`c` waits for `b`, which is not there",
            "in a circle",
        ] {
            assert!(all.contains(words), "{words} in {all}");
        }
    }

    #[test]
    fn texts_without_stories_are_no_draft() {
        for text in ["", "{}", "[]", "7", "{\"userStories\": {}}", "{ broken"] {
            assert_eq!(judge(text), Err(DraftError::NoStories), "{text}");
        }
        let many = format!("[{}]", vec!["{}"; DRAFT_MAX + 1].join(","));
        assert_eq!(judge(&many), Err(DraftError::TooMany(DRAFT_MAX + 1)));
    }

    #[test]
    fn a_large_or_vague_story_is_doubted_and_written() {
        let criteria = |list: &[&str]| {
            let text = serde_json::to_string(list).unwrap();
            judge(&format!(r#"[{{"id": "a", "title": "t", "acceptanceCriteria": {text}}}]"#))
                .unwrap()
        };
        for (list, is_doubted) in [
            (&["`cargo test` is green"][..], false),
            (&["GET /cart answers with the sum"], false),
            (&["The page shows three rows"], false),
            (&["It works well"], true),
            (&["Fast"], true),
            (&["a b c"; 9], true),
        ] {
            let draft = criteria(list);
            assert_eq!(draft.doubts.len(), usize::from(is_doubted), "{list:?}: {draft:?}");
            assert_eq!(draft.stories.len(), 1);
        }
    }

    const THERE: &str = r#"{"project": "p", "userStories": [
        {"id": "A", "title": "mine", "priority": 3, "passes": true, "notes": "x", "own": 1}]}"#;

    #[test]
    fn a_draft_joins_what_is_there_without_touching_it() {
        let draft = judge(GOOD).unwrap().stories;
        let (text, added) = join(THERE, &draft, Join::Add).unwrap();
        let list = TaskList::parse(&text).unwrap();
        assert_eq!(ids(list.stories()), ["A", "US-003", "US-002"]);
        assert_eq!(added, [TaskId::new("US-003"), TaskId::new("US-002")]);
        assert!(text.contains("\"own\": 1") && list.stories()[0].passes);
        assert_eq!(list.stories()[2].depends_on, [TaskId::new("US-003")], "links follow");
        assert!(list.stories()[1].priority > list.stories()[0].priority);
        let (text, _) = join(THERE, &draft, Join::Replace).unwrap();
        let list = TaskList::parse(&text).unwrap();
        assert_eq!(ids(list.stories()), ["A", "US-002"]);
        assert_eq!((list.project(), list.stories()[0].title.as_str()), ("p", "one"));
    }

    #[test]
    fn a_draft_is_found_in_what_was_said() {
        let block = format!("Here:\n```json\n{GOOD}\n```\nand\n```\nls\n```\ndone");
        assert_eq!(found_in(&block).as_deref().map(judge), Some(judge(GOOD)));
        let plain = format!("I drafted {GOOD} as asked.");
        assert_eq!(found_in(&plain).as_deref(), Some(GOOD));
        for said in ["nothing", "{ x }", "```\n[1]\n", ""] {
            assert_eq!(
                found_in(said).and_then(|text| judge(&text).ok()).map(|d| d.stories.len()),
                None,
                "{said}"
            );
        }
    }
}
