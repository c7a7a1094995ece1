//! Weakened checks: what blocks, what is only reported, who is told, and what later runs inherit.

use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use super::story::{Act, Story, passed, stories};
use crate::effect::{Effect, Notice};
use crate::event::Event;
use crate::gate::tamper::{TamperFinding, TamperSight, Weight, is_question};
use crate::gate::{Restore, TestBounds};
use crate::guard::GuardKind;
use crate::outcome::Outcome;
use crate::policy::OnTamper;

const DONE: &str = "<promise>COMPLETE</promise>";

fn weak(path: &str) -> TamperFinding {
    let mut finding = TamperFinding::about(format!("file:{path}"), format!("`{path}` was changed"));
    finding.finding.file = Some(String::from(path));
    finding.base = String::from("start");
    finding.now = String::from("x");
    finding.restore = vec![Restore::File { path: String::from(path) }];
    finding
}

fn sight(findings: Vec<TamperFinding>) -> TamperSight {
    TamperSight { findings, ..TamperSight::default() }
}

fn plot() -> Story {
    Story::new().tasks(stories(&["a"])).gate(|_| vec![]).rules(|r| r.review.enabled = false)
}

fn done(n: u32) -> Act {
    Act::commits(n).and_says(DONE).and_tasks(passed(&["a"], &["a"]))
}

fn noticed(story: &Story) -> Vec<String> {
    let said = story.notices.iter().filter_map(|notice| {
        let Notice::Noticed { trip } = notice else { return None };
        (trip.guard == GuardKind::Tamper).then(|| trip.evidence.clone())
    });
    said.collect()
}

fn kept(story: &Story) -> (Vec<TamperFinding>, bool) {
    let last = story.effects.iter().rev().find_map(|effect| {
        let Effect::KeepTamper { findings, examined, .. } = effect else { return None };
        Some((findings.clone(), *examined))
    });
    last.unwrap()
}

#[test]
fn what_an_earlier_run_left_is_told_first_and_asked_then() {
    let mut story = plot();
    story.sights = |_| sight(vec![weak("check.sh")]);
    assert_eq!(story.run(done), Outcome::Decide);
    assert_eq!(story.iterations(), 1);
    assert!(story.briefings[0].contains("put `check.sh` back as it was"), "{}", story.briefings[0]);
    let steps = story.ending().next_steps.join("\n");
    assert!(steps.contains("flyball restore tamper") && steps.contains("flyball accept tamper"));
    assert!(!steps.contains("flyball answer"), "{steps}");
    let (findings, examined) = kept(&story);
    assert_eq!((findings.len(), examined), (1, true));
    // The question lies on the desk as well.
    let asked = story.effects.iter().find_map(|effect| {
        let Effect::WriteDecide { question, .. } = effect else { return None };
        Some(question.clone())
    });
    assert!(asked.is_some_and(|question| is_question(&question)));
}

#[test]
fn all_done_before_it_began_is_not_complete_while_something_is_open() {
    let mut story = plot().tasks(passed(&["a"], &["a"]));
    assert_eq!(story.run(|_| Act::idle()), Outcome::Complete);
    let mut story = plot().tasks(passed(&["a"], &["a"]));
    story.sights = |tree| if tree == "start" { sight(vec![weak("t")]) } else { sight(vec![]) };
    // The agent puts it back.
    assert_eq!(story.run(|_| Act::commits("mended").and_says(DONE)), Outcome::Complete);
    assert_eq!(story.iterations(), 1);
    assert_eq!(kept(&story), (vec![], true));
}

#[test]
fn without_gates_it_blocks_as_well() {
    let mut story = Story::new().tasks(stories(&["a"])).rules(|r| r.review.enabled = false);
    story.sights = |tree| if tree == "start" { sight(vec![]) } else { sight(vec![weak("t.py")]) };
    assert_eq!(story.run(done), Outcome::Decide);
    assert_eq!(story.iterations(), 2);
}

#[test]
fn each_new_weakening_is_told_before_anyone_is_asked() {
    let mut story = plot();
    story.sights = |tree| match tree {
        "start" => sight(vec![]),
        "1" => sight(vec![weak("one")]),
        _ => sight(vec![weak("two")]),
    };
    assert_eq!(story.run(done), Outcome::Decide);
    assert_eq!(story.iterations(), 3);
}

#[test]
fn a_finding_never_holds_up_the_next_story() {
    let mut story = plot().tasks(stories(&["a", "b"]));
    story.sights = |tree| if tree == "start" { sight(vec![]) } else { sight(vec![weak("t")]) };
    let act = |n: u32| {
        let done: &[&str] = if n == 1 { &["a"] } else { &["a", "b"] };
        Act::commits(n).and_tasks(passed(&["a", "b"], done))
    };
    assert_eq!(story.run(act), Outcome::Decide);
    let tasks: Vec<_> = story.reports.iter().map(|r| r.task.clone().unwrap().to_string()).collect();
    assert_eq!(tasks, ["a", "b"]);
}

#[test]
fn what_the_work_may_change_is_reported_and_does_not_block() {
    let weakened = |tree: &str| match tree {
        "start" => sight(vec![]),
        _ => sight(vec![weak("old/test_a.py")]),
    };
    let mut story = plot().rules(|r| r.gates.may_change = vec![String::from("old/")]);
    story.sights = weakened;
    assert_eq!(story.run(done), Outcome::Complete);
    assert_eq!(noticed(&story), ["`old/test_a.py` was changed (the work may change it)"]);
    assert_eq!(kept(&story), (vec![], true));
    let list = r#"{"userStories":[{"id":"a","mayChange":["old/**"]}]}"#;
    let after = r#"{"userStories":[{"id":"a","mayChange":["old/**"],"passes":true,"notes":"x"}]}"#;
    let mut story = plot().tasks(list);
    story.sights = weakened;
    let act = |n: u32| Act::commits(n).and_says(DONE).and_tasks(after);
    assert_eq!(story.run(act), Outcome::Complete);
    // What only the agent says may change, may not.
    let list = r#"{"userStories":[{"id":"a"}]}"#;
    let mut story = plot().tasks(list);
    story.sights = weakened;
    assert_eq!(story.run(act), Outcome::Decide);
    assert!(story.briefings[1].contains("had its `mayChange` changed"), "{}", story.briefings[1]);
}

#[test]
fn report_shows_it_once_and_lets_the_run_complete() {
    let mut story = plot().rules(|r| r.gates.on_tamper = OnTamper::Report);
    story.sights = |_| sight(vec![weak("t")]);
    assert_eq!(story.run(done), Outcome::Complete);
    assert_eq!(noticed(&story), ["`t` was changed (`gates.on_tamper` is \"report\")"]);
    assert_eq!(kept(&story).0.len(), 1, "a later run may be stricter");
}

#[test]
fn settings_an_agent_changed_decide_nothing() {
    let changed = |_: &str| {
        let mut settings = weak("flyball.toml");
        settings.subjects.push(String::from(crate::gate::tamper::SETTINGS));
        sight(vec![settings, weak("t")])
    };
    let mut story = plot().rules(|r| {
        r.gates.on_tamper = OnTamper::Report;
        r.gates.may_change = vec![String::from("**")];
    });
    story.sights = changed;
    assert_eq!(story.run(done), Outcome::Decide);
    assert_eq!(kept(&story).0.len(), 2);
}

#[test]
fn what_is_harmless_when_every_test_runs_waits_for_the_gates() {
    let weakened = |tree: &str| {
        let soft = TamperFinding { weight: Weight::UnlessAllRun, ..weak("conftest.py") };
        if tree == "start" { sight(vec![]) } else { sight(vec![soft]) }
    };
    let mut story = plot();
    story.sights = weakened;
    story.ran = |_| Some(5);
    assert_eq!(story.run(done), Outcome::Complete);
    assert_eq!(noticed(&story), ["`conftest.py` was changed (every test still runs)"]);
    let mut story = plot();
    story.sights = weakened;
    story.ran = |tree| Some(if tree == "start" { 5 } else { 4 });
    assert_eq!(story.run(done), Outcome::Decide);
    let mut story = plot();
    story.sights = weakened;
    assert_eq!(story.run(done), Outcome::Decide, "nothing tells that every test still runs");
}

#[test]
fn fewer_tests_block_until_as_many_run_again() {
    let mut story = plot();
    story.ran = |tree| Some(if tree == "1" { 3 } else { 5 });
    assert_eq!(story.run(done), Outcome::Complete);
    assert_eq!(story.iterations(), 2);
    assert!(story.briefings[1].contains("ran 5 tests before and is green with 3 of them"));
    let mut story = plot();
    story.ran = |tree| Some(if tree == "start" { 5 } else { 3 });
    assert_eq!(story.run(done), Outcome::Decide);
    let (findings, _) = kept(&story);
    assert_eq!(findings[0].ran_before, Some(5));
    // The next run begins with the fewer tests, and is not fooled.
    let mut next = plot().tasks(passed(&["a"], &["a"]));
    next.sights = |_| {
        let mut fewer = TamperFinding::about("count:tests", "fewer");
        fewer.finding.name = Some(String::from("tests"));
        fewer.ran_before = Some(5);
        sight(vec![fewer])
    };
    next.ran = |tree| Some(if tree == "2" { 5 } else { 3 });
    assert_eq!(next.run(|n| Act::commits(n + 1).and_says(DONE)), Outcome::Complete);
    assert_eq!(next.iterations(), 1);
}

#[test]
fn a_module_deleted_with_its_tests_explains_the_fewer_tests() {
    let mut story = plot().rules(|r| r.gates.may_change = vec![String::from("old")]);
    story.ran = |tree| Some(if tree == "start" { 5 } else { 3 });
    story.sights = |tree| {
        let gone = TamperFinding { tests: 2, ..weak("old/test.py") };
        if tree == "start" { sight(vec![]) } else { sight(vec![gone]) }
    };
    assert_eq!(story.run(done), Outcome::Complete);
}

fn taken_in(tests: u32) -> TamperFinding {
    TamperFinding { tests, weight: Weight::TakenIn, ..weak("test.py") }
}

#[test]
fn tests_that_became_part_of_others_explain_as_many_fewer_as_they_are() {
    let story = |sights: fn(&str) -> TamperSight| {
        let mut story = plot();
        story.ran = |tree| Some(if tree == "start" { 5 } else { 3 });
        story.sights = sights;
        story
    };
    let mut enough = story(|tree| sight(if tree == "start" { vec![] } else { vec![taken_in(2)] }));
    assert_eq!(enough.run(done), Outcome::Complete);
    assert!(noticed(&enough).iter().any(|one| one.contains("were meant to go")));
    let mut one = story(|tree| sight(if tree == "start" { vec![] } else { vec![taken_in(1)] }));
    assert_eq!(one.run(done), Outcome::Decide, "one of two is gone for no reason");
}

#[test]
fn bounds_of_a_run_that_was_not_looked_at_hold_in_the_next() {
    let mut story = plot();
    story.ran = |_| Some(3);
    story.sights = |_| {
        let mut bounds = TestBounds::default();
        bounds.remember(&crate::GateName::new("tests"), 5);
        TamperSight { bounds, ..TamperSight::default() }
    };
    assert_eq!(story.run(done), Outcome::Decide);
}

#[test]
fn a_yes_holds_for_what_was_seen_and_for_nothing_else() {
    let mut story = plot();
    story.human_files.accepted_tamper = vec![weak("t").key()];
    story.sights = |_| sight(vec![weak("t")]);
    assert_eq!(story.run(done), Outcome::Complete);
    let mut story = plot();
    story.human_files.accepted_tamper = vec![weak("t").key()];
    story.sights = |_| sight(vec![TamperFinding { now: String::from("y"), ..weak("t") }]);
    assert_eq!(story.run(done), Outcome::Decide);
}

#[test]
fn an_unanswered_question_ends_at_once_unless_it_was_undone() {
    let mut story = plot();
    story.sights = |_| sight(vec![weak("t")]);
    let (_, question) = (story.run(done), story.ending().why.clone());
    assert!(is_question(&question), "{question}");
    let mut again = plot();
    again.human_files.question = Some(question.clone());
    again.sights = |_| sight(vec![weak("t")]);
    assert_eq!(again.run(done), Outcome::Decide);
    assert_eq!(again.iterations(), 0);
    assert!(again.ending().why.contains("flyball restore tamper"), "{}", again.ending().why);
    assert!(!again.ending().next_steps.join("").contains("flyball answer"));
    let mut undone = plot();
    undone.human_files.question = Some(question.clone());
    assert_eq!(undone.run(done), Outcome::Complete);
    assert!(undone.effects.contains(&Effect::RemoveDecide));
    // A "no" is told to the agent, and is no yes.
    let mut no = plot();
    no.human_files.question = Some(question);
    no.human_files.answer = Some(String::from("No"));
    no.sights = |_| sight(vec![weak("t")]);
    assert_eq!(no.run(done), Outcome::Decide);
    assert!(no.briefings[0].contains("Answer: No"));
}

#[test]
fn what_an_agent_leaves_is_not_examined_before_it_was_seen() {
    let mut story = plot();
    story.start();
    assert!(kept(&story).1, "nothing was left yet");
    let iteration = story.alive().unwrap();
    story.tell(Event::ShellFailed { why: String::from("disk full") });
    assert_eq!(iteration.get(), 1);
    assert!(!kept(&story).1, "nobody looked at what the killed agent left");
}

#[test]
fn a_changed_prompt_is_told_once() {
    let mut story = plot().rules(|r| r.limits.iterations = 3);
    story.sights = |tree| {
        let wanted =
            if tree == "start" { vec![] } else { vec![String::from(".flyball/prompt.md")] };
        TamperSight { wanted, ..TamperSight::default() }
    };
    story.run(Act::commits);
    assert_eq!(noticed(&story).len(), 1);
    assert!(story.briefings[1].contains("# Not Yours To Change"), "{}", story.briefings[1]);
    assert!(!story.briefings[2].contains("# Not Yours To Change"));
}

#[test]
fn what_people_changed_in_the_list_before_going_on_is_taken_as_it_is() {
    let text = |title: &str, passes: bool| {
        format!(
            r#"{{"userStories":[{{"id":"a","title":"{title}","passes":{passes},"notes":"x"}}]}}"#
        )
    };
    let mut story = plot().tasks(text("old", false));
    assert_eq!(story.run(|_| Act::idle()), Outcome::Stuck);
    story.tasks = Some(text("new", false));
    story.reopen();
    let iteration = story.alive().unwrap();
    story.perform(iteration, Act::commits("9").and_says(DONE).and_tasks(text("new", true)));
    assert_eq!(story.ending().outcome, Outcome::Complete);
    assert!(story.tasks.unwrap().contains("new"));
}
