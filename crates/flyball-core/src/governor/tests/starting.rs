//! What keeps a run from beginning, and a run that is given its one task.

use std::format;
use std::prelude::rust_2024::*;
use std::vec;

use super::story::{Act, Story};
use crate::governor::{StartProblem, start_problem};
use crate::id::{GateName, TaskId};
use crate::outcome::Outcome;
use crate::policy::Policy;
use crate::tasklist::{EXAMPLE_TITLE, TasksSnapshot};

fn list(title: &str, passes: &str) -> TasksSnapshot {
    let text = format!(
        r#"{{"userStories": [{{"id": "mine", "title": "x"}},
            {{"id": "US-001", "title": "{title}", "passes": {passes}}}]}}"#
    );
    TasksSnapshot::Found { text }
}

#[test]
fn a_run_that_nothing_could_verify_or_that_nobody_wrote_a_story_for_does_not_begin() {
    let gates = [GateName::new("tests")];
    let policy = Policy::default();
    let trusting = {
        let mut rules = Policy::default().into_rules();
        rules.iterations.trust_claims = true;
        Policy::new(rules).unwrap()
    };
    let example = || Some(StartProblem::ExampleStory(TaskId::new("US-001")));
    let absent = TasksSnapshot::Absent;
    let table = [
        (absent.clone(), &gates[..], &policy, None),
        (absent.clone(), &[], &policy, Some(StartProblem::NothingToVerify)),
        (absent, &[], &trusting, None),
        (list("my own", "false"), &[], &policy, None),
        (list(EXAMPLE_TITLE, "false"), &gates[..], &policy, example()),
        (list(&format!("  {EXAMPLE_TITLE} "), "false"), &[], &trusting, example()),
        (list(EXAMPLE_TITLE, "true"), &gates[..], &policy, None),
    ];
    for (tasks, gates, policy, expected) in table {
        assert_eq!(start_problem(&tasks, gates, policy), expected, "{tasks:?} {gates:?}");
    }
    let unreadable = TasksSnapshot::Unreadable { error: "x".into() };
    assert!(start_problem(&unreadable, &gates, &policy).is_some());
}

#[test]
fn a_request_is_done_when_it_is_claimed_and_green_and_is_named_until_then() {
    let mut story = Story::new().gate(|tree| if tree == "t2" { vec![] } else { vec!["t"] });
    story.request = Some("Mend the cart".into());
    let outcome =
        story.run(|n| Act::commits(format!("t{n}")).and_says("it is <promise>COMPLETE</promise>"));
    assert_eq!((outcome, story.iterations()), (Outcome::Complete, 2));
    assert!(story.briefings[1].contains("This answers the request: Mend the cart"));
}
