//! B11: the review cycle through whole runs.

use std::prelude::rust_2024::*;
use std::{format, vec};

use super::story::{Act, Story};
use crate::effect::{Effect, Role};
use crate::guard::GuardKind;
use crate::outcome::Outcome;
use crate::tasklist::Mode;

fn story(status: &str, count: u32, extra: &str) -> String {
    format!(
        r#"{{"userStories": [{{"id": "a", "title": "x", "passes": {}, "notes": "checked",
            "reviewStatus": {status}, "reviewCount": {count}{extra}}}]}}"#,
        status == r#""approved""#
    )
}

#[test]
fn implement_review_fix_review_approved() {
    let mut run = Story::new().tasks(story("null", 0, "")).gate(|_| vec![]);
    run.review = Some(2);
    let outcome = run.run(|n| {
        let (status, count, extra) = match n {
            1 => (r#""needs_review""#, 0, ""),
            2 => (r#""changes_requested""#, 1, r#", "reviewFeedback": "name it better""#),
            3 => (r#""needs_review""#, 1, r#", "reviewFeedback": "name it better""#),
            _ => (r#""approved""#, 2, ""),
        };
        Act::commits(n).and_tasks(story(status, count, extra))
    });
    assert_eq!(outcome, Outcome::Complete);
    let modes: Vec<_> = run.reports.iter().map(|report| report.mode).collect();
    assert_eq!(modes, [Mode::Implement, Mode::Review, Mode::ReviewFix, Mode::Review]);
    let agents = run.effects.iter().filter_map(|effect| {
        let Effect::StartAgent { agent, .. } = effect else { return None };
        Some(*agent)
    });
    assert_eq!(agents.collect::<Vec<_>>(), [0, 2, 0, 2], "who reviews is not who wrote");
    let roles: Vec<(Role, u32)> =
        run.ending().roles.iter().map(|one| (one.role, one.sessions)).collect();
    assert_eq!(roles, [(Role::Work, 2), (Role::Review, 2)]);
}

#[test]
fn approving_oneself_is_undone_and_named_in_the_briefing() {
    let mut run = Story::new().tasks(story("null", 0, "")).gate(|_| vec![]);
    let outcome = run.run(|n| Act::commits(n).and_tasks(story(r#""approved""#, 1, "")));
    assert_ne!(outcome, Outcome::Complete);
    assert!(!run.tripped(GuardKind::TaskList).is_empty());
    assert!(run.briefings[1].contains("Undone In The Task List"));
    assert!(!run.tasks.unwrap().contains("approved"));
}

#[test]
fn a_story_that_vanished_comes_back() {
    let mut run = Story::new().tasks(story("null", 0, "")).gate(|_| vec![]);
    run.run(|n| Act::commits(n).and_tasks(r#"{"userStories": []}"#));
    assert!(run.tasks.unwrap().contains(r#""id": "a""#));
}
