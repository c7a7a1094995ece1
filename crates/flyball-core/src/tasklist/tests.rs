//! Tables over reading, planning and checking the list, and the properties of repair.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use std::borrow::ToOwned;
use std::vec;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::policy::Policy;

fn review_on() -> ReviewRules {
    Policy::default().review.clone()
}

fn review_off() -> ReviewRules {
    ReviewRules { enabled: false, ..review_on() }
}

fn list(stories: &Value) -> TaskList {
    TaskList::parse(&json!({ "userStories": stories }).to_string()).unwrap()
}

fn id(story: Option<&Story>) -> Option<&str> {
    story.map(|story| story.id.as_str())
}

#[test]
fn a_bare_story_gets_sensible_defaults() {
    let list =
        list(&json!([{"id": 7, "passes": false}, {"id": "b", "title": "x", "priority": 2.0}]));
    let story = &list.stories()[0];
    assert_eq!((story.id.as_str(), story.title.as_str()), ("7", "7"));
    assert_eq!((story.priority, story.review_status, story.review_count), (None, None, 0));
    assert_eq!(list.stories()[1].priority, Some(2));
}

#[test]
fn every_field_is_read() {
    let text = r#"{"project": "p", "description": "d", "branchName": "kept", "verifyCommands": ["make"],
        "userStories": [{"id": "a", "title": "t", "description": "d", "acceptanceCriteria": ["c"],
        "priority": 1, "dependsOn": [2], "passes": true, "reviewStatus": "approved",
        "reviewCount": 3, "reviewFeedback": "f", "notes": "n"}, {"id": 2, "notes": null}]}"#;
    let list = TaskList::parse(&format!("\u{feff}{text}")).unwrap();
    assert_eq!((list.project(), list.description()), ("p", "d"));
    assert_eq!(list.verify_commands(), ["make"]);
    let story = list.story(&TaskId::new("a")).unwrap();
    assert_eq!(story.acceptance_criteria, ["c"]);
    assert_eq!(story.depends_on, [TaskId::new("2")]);
    assert_eq!(story.review_status, Some(ReviewStatus::Approved));
    assert_eq!((story.review_count, story.review_feedback.as_str()), (3, "f"));
    assert_eq!(list.counts(&review_on()), (1, 2));
}

#[test]
fn every_bad_list_is_an_error_that_says_what_is_wrong_where() {
    let story = |fields: &str| format!(r#"{{"userStories": [{{"id": "a", {fields}}}]}}"#);
    let cases = [
        ("{\n  \"userStories\": [,]\n}".to_owned(), "(line 2, column 19)"),
        (String::new(), "the task list is not JSON: EOF while parsing a value (line 1"),
        ("[]".to_owned(), "must be an object with `userStories`, not a list"),
        ("{}".to_owned(), "the task list has no `userStories`"),
        (
            r#"{"userStories": {}}"#.to_owned(),
            "`userStories` must be a list of stories, not an object",
        ),
        (
            r#"{"project": 1, "userStories": []}"#.to_owned(),
            "`project` must be text, not the number 1",
        ),
        (
            r#"{"userStories": [1]}"#.to_owned(),
            "story number 1: `userStories` must be a list of objects",
        ),
        (r#"{"userStories": [{"id": "a"}, {}]}"#.to_owned(), "story number 2 has no `id`"),
        (r#"{"userStories": [{"id": " "}]}"#.to_owned(), "`id` must be text or a whole number"),
        (
            story(r#""passes": "true""#),
            "story `a`: `passes` must be true or false, not the text `true`",
        ),
        (story(r#""reviewStatus": "done""#), "not the text `done`"),
        (
            story(r#""reviewCount": -1"#),
            "`reviewCount` must be a whole number from 0, not the number -1",
        ),
        (story(r#""reviewCount": 4294967296"#), "`reviewCount` must be a whole number from 0"),
        (story(r#""priority": 1.5"#), "`priority` must be a whole number"),
        (story(r#""priority": "high""#), "`priority` must be a whole number, not the text `high`"),
        (story(r#""dependsOn": "b""#), "`dependsOn` must be a list of story ids, not the text `b`"),
        (story(r#""dependsOn": [null]"#), "not a list with null in it"),
        (story(r#""dependsOn": ["b"]"#), "story `a` depends on `b`, which is no story"),
        (story(r#""dependsOn": ["a"]"#), "goes round in a circle: `a` → `a`"),
        (r#"{"userStories": [{"id": 1}, {"id": "1"}]}"#.to_owned(), "two stories have the id `1`"),
        ("[".repeat(5000), "recursion limit"),
        (" ".repeat(TASK_LIST_BYTES_MAX + 1), "4194305 bytes"),
    ];
    for (text, part) in cases {
        let error = TaskList::parse(&text).unwrap_err().to_string();
        assert!(error.contains(part), "{error:?} should contain {part:?}");
    }
}

#[test]
fn a_list_may_be_as_long_as_the_limit_says() {
    let mut text = String::from(r#"{"userStories": [{"id": "a"}]}"#);
    text.push_str(&" ".repeat(TASK_LIST_BYTES_MAX - text.len()));
    assert_eq!(TaskList::parse(&text).unwrap().stories().len(), 1);
}

#[test]
fn the_stories_of_a_circle_are_named_and_others_are_not() {
    let text = json!({"userStories": [
        {"id": "a"}, {"id": "b", "dependsOn": ["a", "d"]}, {"id": "c", "dependsOn": ["b"]},
        {"id": "d", "dependsOn": ["c"]}, {"id": "e", "dependsOn": ["d"]}
    ]});
    let error = TaskList::parse(&text.to_string()).unwrap_err();
    assert!(error.to_string().contains("`b` → `d` → `c` → `b`"), "{error}");
}

#[test]
fn done_needs_approval_only_with_reviews_and_an_empty_list_is_never_complete() {
    let passes = list(&json!([{"id": "a", "passes": true}]));
    assert!(!passes.complete(&review_on()) && passes.complete(&review_off()));
    let approved = list(&json!([{"id": "a", "passes": true, "reviewStatus": "approved"}]));
    assert!(approved.complete(&review_on()));
    let unfinished = list(&json!([{"id": "a", "reviewStatus": "approved"}]));
    assert!(!unfinished.complete(&review_on()) && !unfinished.complete(&review_off()));
    let empty = list(&json!([]));
    assert!(!empty.complete(&review_on()) && !empty.complete(&review_off()));
    assert_eq!(empty.counts(&review_off()), (0, 0));
}

#[test]
fn the_mode_follows_what_waits_longest_in_the_review() {
    let all = json!([{"id": "a"}, {"id": "b", "reviewStatus": "needs_review"},
        {"id": "c", "reviewStatus": "changes_requested"}]);
    let cases = [(all.as_array().unwrap().as_slice(), Mode::ReviewFix)]
        .into_iter()
        .chain([(&all.as_array().unwrap()[..2], Mode::Review)])
        .chain([(&all.as_array().unwrap()[..1], Mode::Implement)]);
    for (stories, mode) in cases {
        let list = list(&json!(stories));
        assert_eq!(list.mode(&review_on()), mode);
        assert_eq!(list.mode(&review_off()), Mode::Implement);
    }
}

#[test]
fn the_open_story_with_the_smallest_priority_whose_dependencies_are_done_comes_next() {
    let done = json!({"id": "done", "passes": true, "reviewStatus": "approved"});
    let cases = [
        (json!([{"id": "a"}, {"id": "b", "priority": 2}, {"id": "c", "priority": 1}]), Some("c")),
        (json!([{"id": "a"}, {"id": "b"}]), Some("a")),
        (json!([{"id": "a"}, {"id": "b", "priority": 9}]), Some("b")),
        (json!([{"id": "a", "priority": -1, "dependsOn": ["b"]}, {"id": "b"}]), Some("b")),
        (json!([done, {"id": "b", "dependsOn": ["done"]}]), Some("b")),
        (json!([done]), None),
        (json!([]), None),
    ];
    for (stories, expected) in cases {
        let list = list(&stories);
        let next = list.select(Mode::Implement, &review_on(), |_| Standing::Open);
        assert_eq!(id(next), expected, "{stories}");
    }
}

#[test]
fn a_dependency_that_passes_without_approval_does_not_count_with_reviews() {
    let list = list(&json!([{"id": "a", "passes": true, "reviewStatus": "needs_review"},
        {"id": "b", "dependsOn": ["a"]}]));
    let open = |_: &TaskId| Standing::Open;
    assert_eq!(id(list.select(Mode::Implement, &review_on(), open)), None);
    assert_eq!(id(list.select(Mode::Implement, &review_off(), open)), Some("b"));
    assert_eq!(id(list.select(Mode::Review, &review_on(), open)), Some("a"));
}

#[test]
fn standings_decide_who_is_planned() {
    let list = list(&json!([{"id": "a", "priority": 1}, {"id": "b", "priority": 2},
        {"id": "c", "priority": 3, "dependsOn": ["a"]}]));
    let cases = [
        (Standing::Open, "a"),
        (Standing::Blocked, "b"),
        (Standing::Asked, "b"),
        (Standing::SetAside, "b"),
        (Standing::Escalated, "b"),
        (Standing::ForcedDone, "b"),
    ];
    for (standing, expected) in cases {
        let of = |task: &TaskId| if task.as_str() == "a" { standing } else { Standing::Open };
        assert_eq!(id(list.select(Mode::Implement, &review_on(), of)), Some(expected));
    }
    let with_b_out = |standing: Standing| {
        let of = move |task: &TaskId| match task.as_str() {
            "a" => standing,
            "b" => Standing::SetAside,
            _ => Standing::Open,
        };
        id(list.select(Mode::Implement, &review_on(), of)).map(ToOwned::to_owned)
    };
    // A blocked task stays plannable; only one marked done lets go of those that wait for it.
    assert_eq!(with_b_out(Standing::Blocked).as_deref(), Some("a"));
    assert_eq!(with_b_out(Standing::SetAside), None);
    assert_eq!(with_b_out(Standing::ForcedDone).as_deref(), Some("c"));
}

#[test]
fn a_mode_whose_stories_are_all_out_of_planning_gives_way_to_the_next() {
    let list = list(&json!([{"id": "a"}, {"id": "b", "reviewStatus": "changes_requested"},
        {"id": "c", "reviewStatus": "needs_review"}]));
    let plan = |out: &[&str]| {
        let of = |task: &TaskId| {
            if out.contains(&task.as_str()) { Standing::Escalated } else { Standing::Open }
        };
        list.plan_next(&review_on(), of).map(|(mode, story)| (mode, story.id.to_string()))
    };
    assert_eq!(plan(&[]), Some((Mode::ReviewFix, "b".into())));
    assert_eq!(plan(&["b"]), Some((Mode::Review, "c".into())));
    assert_eq!(plan(&["b", "c"]), Some((Mode::Implement, "a".into())));
    assert_eq!(plan(&["a", "b", "c"]), None);
}

const BEFORE: &str = r#"{"userStories": [{"id": "a"}, {"id": "b", "passes": true, "notes": "n", "reviewStatus": "approved", "reviewCount": 1}]}"#;

fn given(mode: Mode) -> Transition {
    Transition { mode, story: None, review: review_on() }
}

#[test]
fn a_list_that_is_gone_or_broken_comes_back_word_for_word() {
    let found = |text: &str| TasksSnapshot::Found { text: text.into() };
    let cases = [
        (TasksSnapshot::Absent, "was removed"),
        (TasksSnapshot::Unreadable { error: "permission denied".into() }, "permission denied"),
        (found("{"), "not JSON"),
        (found("{}"), "no `userStories`"),
        (found(&" ".repeat(TASK_LIST_BYTES_MAX + 1)), "bytes"),
        (found(r#"{"project": [], "userStories": []}"#), "`project`"),
    ];
    for (after, part) in cases {
        let check = check_transition(BEFORE, &after, &given(Mode::Implement));
        assert_eq!(check.text.as_deref(), Some(BEFORE));
        assert_eq!(check.list, TaskList::parse(BEFORE).unwrap());
        assert_eq!(check.violations.len(), 1);
        assert!(check.violations[0].contains(part), "{:?}", check.violations);
        assert!(check.violations[0].ends_with("put back as it was before the iteration"));
        let asked = check_at_stop(BEFORE, &after, &given(Mode::Implement));
        assert!(asked[0].ends_with("put the file back as it was"), "{asked:?}");
    }
}

#[test]
fn undoing_everything_gives_the_text_from_before_word_for_word() {
    let text = r#"{"userStories":[{"id":"b","passes":true,"notes":"n","reviewStatus":"approved","reviewCount":1}]}"#;
    let after = TasksSnapshot::Found { text: text.into() };
    let check = check_transition(BEFORE, &after, &given(Mode::Implement));
    assert_eq!(check.text.as_deref(), Some(BEFORE));
}

#[test]
fn without_a_list_before_there_is_nothing_to_bring_back_and_nothing_counts_as_done() {
    let check = check_transition("", &TasksSnapshot::Absent, &given(Mode::Implement));
    assert_eq!((check.text, check.violations.len()), (None, 0));
    let after = TasksSnapshot::Found { text: BEFORE.into() };
    for before in ["", "{broken"] {
        let check = check_transition(before, &after, &given(Mode::Implement));
        assert_eq!(check.list.counts(&review_on()), (0, 2));
        assert_eq!(check.violations.len(), 1, "{:?}", check.violations);
    }
    let check = check_transition("{broken", &TasksSnapshot::Absent, &given(Mode::Implement));
    assert_eq!((check.text, check.list), (None, TaskList::default()));
}

#[test]
fn what_the_agent_wrote_beside_the_review_fields_survives_a_repair() {
    let text = r#"{"extra": {"z": 1, "a": [2.5]}, "project": "new", "userStories": [
        {"id": "a", "passes": true, "notes": "done", "mine": {"k": null}},
        {"id": "b", "passes": true, "notes": "n", "reviewStatus": "approved", "reviewCount": 1},
        {"id": "c", "title": "fresh"}]}"#;
    let after = TasksSnapshot::Found { text: text.into() };
    let check = check_transition(BEFORE, &after, &given(Mode::Implement));
    let mut expected: Value = serde_json::from_str(text).unwrap();
    expected["userStories"][0].as_object_mut().unwrap().remove("passes");
    let written: Value = serde_json::from_str(check.text.as_ref().unwrap()).unwrap();
    assert_eq!(written, expected);
    assert_eq!(check.list.project(), "new");
}

#[test]
fn a_repair_keeps_the_order_of_keys_where_json_maps_do() {
    let text = r#"{"z":1,"userStories":[{"title":"t","passes":true,"id":"a","b":2}],"c":3}"#;
    let reprinted = serde_json::from_str::<Value>(text).unwrap().to_string();
    let after = TasksSnapshot::Found { text: text.into() };
    let before = r#"{"userStories":[{"title":"t","id":"a"}]}"#;
    let written = check_transition(before, &after, &given(Mode::Implement)).text.unwrap();
    let compact: String = written.split_whitespace().collect();
    let kept = compact == text.replace(r#""passes":true,"#, "");
    assert!(kept || reprinted != text, "{written}");
}

/// What of `after` is left in this mode, with reviews.
fn reviewed(before: &Value, after: &Value, given: &Transition) -> TransitionCheck {
    let text = after.to_string();
    check_transition(&before.to_string(), &TasksSnapshot::Found { text }, given)
}

#[test]
fn implementing_hands_an_open_story_in_and_moves_no_other() {
    let with = |status: Option<&str>| json!({"userStories": [{"id": "a", "reviewStatus": status}]});
    for (old, new, legal) in [
        (None, "needs_review", true),
        (None, "approved", false),
        (None, "changes_requested", false),
        (Some("changes_requested"), "needs_review", false),
        (Some("needs_review"), "approved", false),
    ] {
        let (old, new) = (with(old), with(Some(new)));
        let check = reviewed(&old, &new, &given(Mode::Implement));
        assert_eq!(check.violations.is_empty(), legal, "{old} {new}: {:?}", check.violations);
        let kept = if legal { new } else { old };
        assert_eq!(check.list, list(&kept["userStories"]));
    }
}

#[test]
fn a_new_story_is_open_whatever_it_says() {
    let before = json!({"userStories": [{"id": "a"}]});
    for (field, value) in [
        ("passes", json!(true)),
        ("reviewStatus", json!("needs_review")),
        ("reviewCount", json!(1)),
    ] {
        let after = json!({"userStories": [{"id": "a"}, {"id": "n", field: value}]});
        let check = reviewed(&before, &after, &given(Mode::Implement));
        assert!(check.violations[0].starts_with("story `n` is new and not open"), "{field}");
        let new = &check.list.stories()[1];
        assert_eq!((new.passes, new.review_status, new.review_count), (false, None, 0), "{field}");
    }
}

#[test]
fn one_story_moves_in_an_iteration_and_the_given_one_before_others() {
    let with = |moved: &[&str]| {
        let stories = ["a", "b", "c"].map(|id| {
            let status = moved.contains(&id).then_some("needs_review");
            json!({"id": id, "reviewStatus": status})
        });
        json!({ "userStories": stories })
    };
    for (story, moved, kept) in [
        (None, &["a", "b"][..], "a"),
        (Some("b"), &["a", "b", "c"], "b"),
        (Some("a"), &["b"], "b"),
        (Some("a"), &["b", "c"], "b"),
    ] {
        let given = Transition { story: story.map(TaskId::new), ..given(Mode::Implement) };
        let check = reviewed(&with(&[]), &with(moved), &given);
        assert_eq!(check.list, list(&with(&[kept])["userStories"]), "{story:?} {moved:?}");
        let second = check.violations.iter().filter(|one| one.contains("as a second story"));
        assert_eq!(second.count(), moved.len() - 1, "{:?}", check.violations);
    }
}

#[test]
fn a_new_story_that_waits_in_vain_waits_for_nothing() {
    let before = json!({"userStories": [{"id": "a"}]});
    for (links, said) in [
        (["x", "a"], "depends on `x`, which is no story of this list"),
        (["m", "n"], "depends on itself in the end"),
    ] {
        let after = json!({"userStories": [{"id": "a"}, {"id": "n", "dependsOn": [links[0]]},
            {"id": "m", "dependsOn": [links[1]]}]});
        let check = reviewed(&before, &after, &given(Mode::Implement));
        assert!(check.violations[0].contains(said), "{:?}", check.violations);
        assert_eq!(check.list.stories()[1].depends_on, []);
    }
}

#[test]
fn a_flood_of_violations_is_cut_and_counted() {
    let stories: Vec<Value> = (0..80).map(|number| json!({ "id": number })).collect();
    let before = json!({ "userStories": stories }).to_string();
    let after = TasksSnapshot::Found { text: r#"{"userStories": []}"#.into() };
    let check = check_transition(&before, &after, &given(Mode::Implement));
    assert_eq!(check.violations.len(), 51);
    assert_eq!(check.violations[50], "and 30 more of this kind");
    assert_eq!(check.list.stories().len(), 80);
}

#[test]
fn many_tangled_dependencies_are_put_back_in_little_time() {
    let ids: Vec<String> = (0..20_000).map(|number| format!("s{number}")).collect();
    let chain = |step: usize| -> Value {
        let link = |at: usize| json!({"id": ids[at], "dependsOn": [ids[(at + step) % ids.len()]]});
        json!({"userStories": (0..ids.len()).map(link).collect::<Vec<_>>()})
    };
    let mut before = chain(1);
    before["userStories"][ids.len() - 1]["dependsOn"] = json!([]);
    let after = TasksSnapshot::Found { text: chain(2).to_string() };
    let check = check_transition(&before.to_string(), &after, &given(Mode::Implement));
    let written: Value = serde_json::from_str(check.text.as_ref().unwrap()).unwrap();
    assert_eq!(written, before);
}

fn status() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        Value::Null,
        json!("needs_review"),
        json!("changes_requested"),
        json!("approved"),
    ])
}

fn words() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![Value::Null, json!(""), json!("words"), json!(AUTO_APPROVED_MARK)])
}

prop_compose! {
    fn fields()(
        passes in any::<bool>(), status in status(), count in 0_u32..7, feedback in words(),
        notes in words(), wild in prop::option::weighted(0.05, prop::sample::select(vec![
            ("passes", json!("yes")), ("reviewCount", json!(-1)), ("reviewStatus", json!("done")),
            ("id", json!([])), ("dependsOn", json!("x"))])),
        depends in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d", "zz"]), 0..2),
    ) -> Value {
        let mut story = json!({"passes": passes, "reviewStatus": status, "reviewCount": count,
            "reviewFeedback": feedback, "notes": notes, "dependsOn": depends});
        if let Some((key, value)) = wild {
            story[key] = value;
        }
        story
    }
}

/// A list of stories with no dependencies, in any review state, legal or not.
fn before() -> impl Strategy<Value = Vec<Value>> {
    let story = (fields(), any::<bool>()).prop_map(|(mut story, valid)| {
        story["dependsOn"] = json!([]);
        for (key, value) in
            [("reviewStatus", Value::Null), ("reviewCount", json!(0)), ("passes", json!(false))]
        {
            if story[key] == json!("done") || story[key] == json!(-1) || story[key] == json!("yes")
            {
                story[key] = value;
            }
        }
        if valid {
            story["passes"] = json!(story["reviewStatus"] == json!("approved"));
        }
        story
    });
    prop::collection::vec(story, 0..5).prop_map(|stories| {
        let named = |(mut story, id): (Value, &str)| {
            story["id"] = json!(id);
            story
        };
        stories.into_iter().zip(["a", "b", "c", "d", "e"]).map(named).collect()
    })
}

/// What an agent does to it: changed, removed, doubled, added and reordered stories.
fn edits() -> impl Strategy<Value = Vec<(usize, u8, Value)>> {
    prop::collection::vec((0_usize..6, 0_u8..6, fields()), 0..6)
}

fn edited(mut stories: Vec<Value>, edits: Vec<(usize, u8, Value)>) -> Vec<Value> {
    for (at, what, fields) in edits {
        let at = at.min(stories.len().saturating_sub(1));
        let merge = |story: &mut Value, keys: &[&str]| {
            for key in keys {
                story[*key] = fields[*key].clone();
            }
        };
        match what {
            0 if !stories.is_empty() => drop(stories.remove(at)),
            1 => {
                let mut new = fields.clone();
                if new.get("id").is_none() {
                    new["id"] = json!(["d", "n", "a"][at % 3]);
                }
                stories.insert(at, new);
            }
            2 if !stories.is_empty() => stories.swap(0, at),
            3 if !stories.is_empty() => merge(&mut stories[at], &["dependsOn"]),
            4 if !stories.is_empty() => merge(
                &mut stories[at],
                &["reviewStatus", "reviewCount", "passes", "notes", "reviewFeedback"],
            ),
            // The moves a willing agent makes, so that legal ones come up often.
            _ if !stories.is_empty() => {
                let count = stories[at]["reviewCount"].as_u64().unwrap_or(0);
                merge(&mut stories[at], &["reviewStatus", "notes", "reviewFeedback"]);
                let status = stories[at]["reviewStatus"].clone();
                if status == json!("approved") || status == json!("changes_requested") {
                    stories[at]["reviewCount"] = json!(count + 1);
                }
                stories[at]["passes"] = json!(status == json!("approved"));
            }
            _ => {}
        }
    }
    stories
}

fn transition() -> impl Strategy<Value = Transition> {
    let mode = prop::sample::select(vec![Mode::Implement, Mode::Review, Mode::ReviewFix]);
    let story = prop::option::of(prop::sample::select(vec!["a", "b", "c"]));
    (mode, story, any::<bool>(), 1_u32..5).prop_map(|(mode, story, enabled, cap)| Transition {
        mode,
        story: story.map(TaskId::new),
        review: ReviewRules { enabled, cap },
    })
}

/// Why a story that is done only now may be.
fn moved_legally(old: Option<&Story>, new: &Story, given: &Transition) -> bool {
    let Some(old) = old else { return false };
    if !given.review.enabled {
        return !new.notes.trim().is_empty();
    }
    let assigned = given.story.as_ref().is_none_or(|id| *id == new.id);
    let capped =
        new.review_count >= given.review.cap && new.review_feedback.starts_with(AUTO_APPROVED_MARK);
    given.mode == Mode::Review
        && assigned
        && old.review_status == Some(ReviewStatus::NeedsReview)
        && new.review_count == old.review_count + 1
        && (old.passes || capped || !new.notes.trim().is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_edit_makes_a_story_done_that_was_not_moved_legally(
        stories in before(), edits in edits(), given in transition(),
    ) {
        let before_text = json!({ "userStories": stories }).to_string();
        let before = TaskList::parse(&before_text).unwrap();
        let text = json!({ "userStories": edited(stories, edits) }).to_string();
        let check = check_transition(&before_text, &TasksSnapshot::Found { text: text.clone() }, &given);
        let old: BTreeMap<_, _> = before.stories().iter().map(|story| (&story.id, story)).collect();
        let mut newly = 0;
        for story in check.list.stories() {
            let was = old.get(&story.id).copied();
            if story.is_done(&given.review) && !was.is_some_and(|was| was.is_done(&given.review)) {
                newly += 1;
                prop_assert!(moved_legally(was, story, &given), "{story:?} was {was:?}");
            }
        }
        prop_assert!(!given.review.enabled || newly <= 1);
        for id in old.keys() {
            prop_assert!(check.list.story(id).is_some(), "{id} vanished");
        }
        let final_text = check.text.unwrap_or(text);
        prop_assert_eq!(&TaskList::parse(&final_text).unwrap(), &check.list);
        let again = check_transition(&before_text, &TasksSnapshot::Found { text: final_text }, &given);
        prop_assert_eq!(again.violations, Vec::<String>::new());
        prop_assert_eq!((again.text, again.auto_approved.len()), (None, 0));
    }

    #[test]
    fn the_stop_check_says_as_much_as_the_repair(
        stories in before(), edits in edits(), given in transition(),
    ) {
        let before_text = json!({ "userStories": stories }).to_string();
        let text = json!({ "userStories": edited(stories, edits) }).to_string();
        let after = TasksSnapshot::Found { text };
        let repaired = check_transition(&before_text, &after, &given).violations.len();
        prop_assert_eq!(check_at_stop(&before_text, &after, &given).len(), repaired);
    }

    #[test]
    fn no_text_makes_it_panic(before in ".{0,60}", after in ".{0,60}", given in transition()) {
        let check = check_transition(&before, &TasksSnapshot::Found { text: after }, &given);
        prop_assert_eq!(check.list.counts(&given.review).0, 0);
    }

    #[test]
    fn no_torn_file_makes_it_panic(cut in 0_usize..200, junk in "[\\[\\]{}\",:a-z0-9]{0,8}") {
        let cut = cut.min(BEFORE.len());
        let text = format!("{}{junk}{}", &BEFORE[..cut], &BEFORE[cut..]);
        let check = check_transition(BEFORE, &TasksSnapshot::Found { text }, &given(Mode::Review));
        prop_assert_eq!(check.list.counts(&review_on()).0, 1);
    }
}

/// What of `after` is left when `before` was there.
fn checked(before: &Value, after: &Value) -> TransitionCheck {
    let given = Transition { mode: Mode::Implement, story: None, review: review_off() };
    let text = after.to_string();
    check_transition(&before.to_string(), &TasksSnapshot::Found { text }, &given)
}

#[test]
fn what_is_wanted_is_the_humans_and_is_put_back() {
    let story = json!({"id": "a", "title": "t", "description": "d", "acceptanceCriteria": ["c"],
        "dependsOn": ["b"], "priority": 2, "mayChange": ["x"], "passes": false, "own": 1});
    let before = json!({"verifyCommands": ["make"], "userStories": [story, {"id": "b"}]});
    let changes = [
        ("title", json!("u")),
        ("description", json!("")),
        ("acceptanceCriteria", json!([])),
        ("dependsOn", json!([])),
        ("priority", json!(1)),
        ("priority", json!(null)),
        ("mayChange", json!(["**"])),
    ];
    for (field, value) in changes {
        let mut after = before.clone();
        after["userStories"][0][field] = value;
        after["userStories"][0]["notes"] = json!("mine");
        after["userStories"][0]["own"] = json!(2);
        let check = checked(&before, &after);
        let said = format!(
            "story `a` had its `{field}` changed; what is wanted is a human's to say, \
                            and was put back"
        );
        assert_eq!(check.violations, [said]);
        let text: Value = serde_json::from_str(&check.text.unwrap()).unwrap();
        assert_eq!(text["userStories"][0][field], before["userStories"][0][field]);
        assert_eq!(text["userStories"][0]["notes"], "mine", "its own words stay");
        assert_eq!(text["userStories"][0]["own"], 2);
        let given = Transition { mode: Mode::Implement, story: None, review: review_off() };
        let text = after.to_string();
        let asked = check_at_stop(&before.to_string(), &TasksSnapshot::Found { text }, &given);
        assert!(asked[0].ends_with("put it back"), "{asked:?}");
    }
    for commands in [json!([]), json!(["make", "true"]), json!(null)] {
        let mut after = before.clone();
        after["verifyCommands"] = commands;
        let check = checked(&before, &after);
        assert_eq!(check.list.verify_commands(), ["make"]);
        assert!(check.violations[0].starts_with("`verifyCommands` were changed"));
    }
}

#[test]
fn only_the_meaning_counts_and_fresh_stories_may_be_added() {
    let before = json!({"userStories": [{"id": "a", "priority": 2, "acceptanceCriteria": []}]});
    let after = json!({"userStories": [{"id": "a", "priority": 2.0, "title": "a"},
        {"id": "n", "title": "new", "acceptanceCriteria": ["x"], "dependsOn": ["a"]}],
        "verifyCommands": []});
    let check = checked(&before, &after);
    assert_eq!((check.violations, check.text), (vec![], None));
    let after = json!({"userStories": [{"id": "a", "priority": 2},
        {"id": "n", "mayChange": ["**"]}]});
    let check = checked(&before, &after);
    assert_eq!(check.violations.len(), 1);
    assert!(check.violations[0].contains("story `n` is new and says what it may change"));
    assert!(!check.text.unwrap().contains("mayChange"));
}
