//! Drafts judged and joined.

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
fn a_story_beside_a_circle_is_kept() {
    let draft = judge(
        r#"[{"id": "a", "title": "a", "acceptanceCriteria": ["`x` is 1"]},
            {"id": "b", "title": "b", "acceptanceCriteria": ["`x` is 1"], "dependsOn": ["c"]},
            {"id": "c", "title": "c", "acceptanceCriteria": ["`x` is 1"], "dependsOn": ["b"]}]"#,
    )
    .unwrap();
    assert_eq!(ids(&draft.stories), ["a"]);
    let circles = draft.refused.iter().filter(|one| one.contains("in a circle"));
    assert_eq!((circles.count(), draft.refused.len()), (1, 2), "{:?}", draft.refused);
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
fn what_nothing_can_check_is_refused_and_what_is_unclear_is_doubted() {
    let criteria = |list: &[&str]| {
        let text = serde_json::to_string(list).unwrap();
        judge(&format!(r#"[{{"id": "a", "title": "t", "acceptanceCriteria": {text}}}]"#)).unwrap()
    };
    for (list, stories, doubts) in [
        (&["`cargo test` is green"][..], 1, 0),
        (&["GET /cart answers with the sum"], 1, 0),
        (&["The page shows three rows"], 1, 0),
        (&["It works well"], 0, 0),
        (&["Fast"], 0, 0),
        (&["The code is clean", "It is intuitive"], 0, 0),
        (&["`cargo test` is green", "It works well"], 1, 1),
        (&["Der Warenkorb bleibt auch danach voll"], 1, 1),
        (&["`make test` is green"; 8], 1, 0),
        (&["`make test` is green"; 9], 0, 0),
    ] {
        let draft = criteria(list);
        let found = (draft.stories.len(), draft.doubts.len(), draft.refused.len());
        assert_eq!(found, (stories, doubts, 1 - stories), "{list:?}: {draft:?}");
    }
    let long = "x".repeat(DESCRIPTION_MAX + 1);
    let story = json!([{"title": "t", "description": long, "acceptanceCriteria": ["`x` is 1"]}]);
    let draft = judge(&story.to_string()).unwrap();
    assert!(draft.stories.is_empty() && draft.refused[0].contains("split it"), "{draft:?}");
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
