//! Stops asked, examined and judged.

use std::vec;

use super::*;
use crate::event::TasksSnapshot;
use crate::gate::{Check, Finding, FindingKind};
use crate::id::TaskId;
use crate::tasklist::Mode;

const STORIES: &str = r#"{"project":"p","userStories":[
    {"id":"s1","title":"one","priority":1,"passes":false,"reviewStatus":null,"reviewCount":0}]}"#;

fn rules() -> StopRules {
    StopRules { refusals: 3, baseline: Baseline::Block, backpressure: true }
}

fn gates(failing: &[&str]) -> GateResult {
    let mut check =
        if failing.is_empty() { Check::passed("tests") } else { Check::failed("tests") };
    let finding = |name: &&str| Finding::new(FindingKind::Test, "left != right").named(*name);
    check.findings = failing.iter().map(finding).collect();
    check.tail = "a lot of output".into();
    GateResult { tree: "t".into(), checks: vec![check] }
}

fn assignment() -> Assignment<'static> {
    let review = Policy::default().review.clone();
    let given = Transition { mode: Mode::Implement, story: Some(TaskId::new("s1")), review };
    Assignment { request: "s1: one", tasks: Some(STORIES), given }
}

/// What is found: the tests that fail, paths not committed, the task list.
struct Found {
    gates: Option<GateResult>,
    snapshot: WorktreeSnapshot,
    start: StartingPoint,
    assignment: Option<Assignment<'static>>,
}

impl Found {
    fn green() -> Self {
        let tasks = TasksSnapshot::Found { text: STORIES.into() };
        let snapshot = WorktreeSnapshot { tasks, ..WorktreeSnapshot::default() };
        let (start, assignment) = (StartingPoint::default(), Some(assignment()));
        Self { gates: Some(gates(&[])), snapshot, start, assignment }
    }

    fn red(failing: &[&str]) -> Self {
        Self { gates: Some(gates(failing)), ..Self::green() }
    }

    fn uncommitted() -> Self {
        let mut found = Self::green();
        found.snapshot.uncommitted = vec!["src/lib.rs".into()];
        found
    }

    fn illegal() -> Self {
        let mut found = Self::green();
        let text = STORIES.replace(r#""passes":false"#, r#""passes":true"#);
        found.snapshot.tasks = TasksSnapshot::Found { text };
        found
    }

    fn evidence(&self) -> StopEvidence<'_> {
        StopEvidence {
            start: &self.start,
            assignment: self.assignment.as_ref(),
            snapshot: &self.snapshot,
            gates: self.gates.as_ref(),
            weakened: &[],
        }
    }
}

/// One whole stop: asked, examined where that is wanted, judged.
fn stop(ring: &mut StopRing, rules: StopRules, said: &str, found: &Found) -> StopVerdict {
    match ring.ask(rules, &StopAsked::in_run(said)) {
        StopStep::LetGo(why) => StopVerdict::Allow { why },
        StopStep::Examine(ticket) => ring.judge(rules, &ticket, &found.evidence()),
    }
}

fn allowed(why: LetGo) -> StopVerdict {
    StopVerdict::Allow { why }
}

fn summary(verdict: &StopVerdict) -> Option<&str> {
    match verdict {
        StopVerdict::Refuse { summary, .. } => Some(summary),
        StopVerdict::Allow { .. } => None,
    }
}

#[test]
fn each_thing_that_is_missing_refuses_a_stop_and_is_named() {
    let mut without_assignment = Found::uncommitted();
    without_assignment.assignment = None;
    let mut without_gates = Found::green();
    without_gates.gates = None;
    let mut nothing_ran = Found::green();
    nothing_ran.gates = Some(GateResult {
        tree: "t".into(),
        checks: vec![Check::skipped("tests", "build is red")],
    });
    let cases: [(Found, Option<&str>); 8] = [
        (Found::green(), None),
        (without_gates, None),
        (without_assignment, None),
        (Found::red(&["a"]), Some("tests failed")),
        (nothing_ran, Some("no gate ran")),
        (Found::uncommitted(), Some("1 path not committed: src/lib.rs")),
        (Found::illegal(), Some("s1")),
        (
            {
                let mut both = Found::uncommitted();
                both.gates = Some(gates(&["a"]));
                both
            },
            Some("tests failed; 1 path not committed: src/lib.rs"),
        ),
    ];
    for (number, (found, said)) in cases.into_iter().enumerate() {
        let verdict = stop(&mut StopRing::default(), rules(), "", &found);
        match said {
            None => assert_eq!(verdict, allowed(LetGo::Done), "case {number}"),
            Some(said) => {
                let summary = summary(&verdict).unwrap_or_default();
                assert!(summary.contains(said), "case {number}: {verdict:?}");
                assert!(verdict.reason().unwrap().starts_with("# Completion Blocked: "));
            }
        }
    }
}

#[test]
fn a_stop_is_refused_three_times_in_a_session_and_then_nothing_is_looked_at() {
    let mut ring = StopRing::default();
    for refusals in 1..=3 {
        let verdict = stop(&mut ring, rules(), "done", &Found::red(&["a"]));
        assert!(verdict.reason().is_some());
        assert_eq!(ring.refusals(), refusals);
    }
    let asked = ring.ask(rules(), &StopAsked::in_run("done"));
    assert_eq!(asked, StopStep::LetGo(LetGo::Exhausted));
    assert_eq!(rules().at_most(1).refusals, 1);
    assert_eq!(rules().at_most(9).refusals, 3);
}

#[test]
fn a_green_stop_between_refusals_does_not_give_new_ones() {
    let mut ring = StopRing::default();
    stop(&mut ring, rules(), "", &Found::red(&["a"]));
    assert_eq!(stop(&mut ring, rules(), "", &Found::green()), allowed(LetGo::Done));
    assert_eq!(ring.refusals(), 1);
}

#[test]
fn who_says_that_it_cannot_go_on_is_let_go_but_only_for_new_words() {
    let blocked = "<promise>BLOCKED:no key</promise>";
    for said in [blocked, "<promise>DECIDE:A or B?</promise>"] {
        let verdict = stop(&mut StopRing::default(), rules(), said, &Found::red(&["a"]));
        assert_eq!(verdict, allowed(LetGo::GaveUp));
    }
    // A client that tells everything since the prompt: what was refused does not count again.
    let mut ring = StopRing::default();
    let first = "all done\n";
    stop(&mut ring, rules(), first, &Found::red(&["a"]));
    let again = std::format!("{first}{blocked}");
    assert_eq!(stop(&mut ring, rules(), &again, &Found::red(&["a"])), allowed(LetGo::GaveUp));
    let mut ring = StopRing::default();
    ring.judge(
        rules(),
        &StopTicket { heard: HeardSoFar::of(blocked), ..StopTicket::default() },
        &Found::red(&["a"]).evidence(),
    );
    let more = std::format!("{blocked}\nnow it works");
    assert!(stop(&mut ring, rules(), &more, &Found::red(&["a"])).reason().is_some());
}

#[test]
fn in_a_persons_session_only_stops_after_new_calls_are_looked_at() {
    let mut ring = StopRing::default();
    let ask = |ring: &StopRing, calls| {
        ring.ask(rules(), &StopAsked { said: "", calls: Some(calls), asking: None })
    };
    assert_eq!(ask(&ring, 0), StopStep::LetGo(LetGo::NothingNew));
    let StopStep::Examine(ticket) = ask(&ring, 4) else { panic!("not examined") };
    ring.judge(rules(), &ticket, &Found::red(&["a"]).evidence());
    // Refused: it is asked for the same work, so the next stop is looked at without a new call too.
    let StopStep::Examine(ticket) = ask(&ring, 4) else { panic!("not examined") };
    assert_eq!(ring.judge(rules(), &ticket, &Found::green().evidence()), allowed(LetGo::Done));
    assert_eq!(ask(&ring, 4), StopStep::LetGo(LetGo::NothingNew));
    assert!(matches!(ask(&ring, 5), StopStep::Examine(_)));
}

#[test]
fn two_hooks_asked_about_one_stop_refuse_it_once() {
    let mut ring = StopRing::default();
    let rules = StopRules { refusals: 1, ..rules() };
    let tickets: Vec<StopTicket> = (0..2)
        .map(|_| match ring.ask(rules, &StopAsked::in_run("done")) {
            StopStep::Examine(ticket) => ticket,
            StopStep::LetGo(why) => panic!("let go: {why:?}"),
        })
        .collect();
    let red = Found::red(&["a"]);
    let again: Vec<bool> = tickets
        .iter()
        .map(|ticket| match ring.judge(rules, ticket, &red.evidence()) {
            StopVerdict::Refuse { again, .. } => again,
            StopVerdict::Allow { why } => panic!("let go: {why:?}"),
        })
        .collect();
    assert_eq!((again, ring.refusals()), (vec![false, true], 1));
}

#[test]
fn two_hooks_that_ask_about_one_stop_one_after_the_other_refuse_it_once() {
    let mut ring = StopRing::default();
    let rules = StopRules { refusals: 2, ..rules() };
    let red = Found::red(&["a"]);
    let mut ask = |asking| {
        let asked = StopAsked { said: "done", calls: Some(7), asking };
        match ring.ask(rules, &asked) {
            StopStep::LetGo(_) => None,
            StopStep::Examine(ticket) => match ring.judge(rules, &ticket, &red.evidence()) {
                StopVerdict::Refuse { again, .. } => Some(again),
                StopVerdict::Allow { .. } => None,
            },
        }
    };
    assert_eq!([ask(Some("1")), ask(Some("1"))], [Some(false), Some(true)]);
    // Who says the same for ever is sent back no oftener than the cap allows, twice each.
    assert_eq!([ask(Some("1")), ask(Some("1"))], [Some(false), Some(true)]);
    assert_eq!([ask(Some("1")), ask(Some("2")), ask(None)], [None; 3]);
    let mut ring = StopRing::default();
    let mut ask = || {
        let StopStep::Examine(ticket) = ring.ask(rules, &StopAsked::in_run("done")) else {
            return None;
        };
        match ring.judge(rules, &ticket, &red.evidence()) {
            StopVerdict::Refuse { again, .. } => Some(again),
            StopVerdict::Allow { .. } => None,
        }
    };
    assert_eq!([ask(), ask(), ask()], [Some(false), Some(false), None], "nothing tells them apart");
}

#[test]
fn the_cap_holds_for_a_stop_that_was_examined_while_another_used_it_up() {
    let mut ring = StopRing { refusals: 1, ..StopRing::default() };
    let none_left = StopRules { refusals: 1, ..rules() };
    let ticket = StopTicket { refusals: 1, ..StopTicket::default() };
    let verdict = ring.judge(none_left, &ticket, &Found::red(&["a"]).evidence());
    assert_eq!(verdict, allowed(LetGo::Exhausted));
}

#[test]
fn what_was_red_before_is_let_through_where_that_is_asked_for() {
    let mut found = Found::red(&["a"]);
    found.start.take_gates(&gates(&["a"]));
    let ignore = StopRules { baseline: Baseline::Ignore, ..rules() };
    assert_eq!(stop(&mut StopRing::default(), ignore, "", &found), allowed(LetGo::Done));
    assert!(stop(&mut StopRing::default(), rules(), "", &found).reason().is_some());
    found.gates = Some(gates(&["a", "b"]));
    assert!(stop(&mut StopRing::default(), ignore, "", &found).reason().is_some());
}

#[test]
fn the_second_refusal_says_what_changed_since_the_first() {
    let mut ring = StopRing::default();
    stop(&mut ring, rules(), "", &Found::red(&["a", "b"]));
    let verdict = stop(&mut ring, rules(), "", &Found::red(&["b", "c"]));
    let reason = verdict.reason().unwrap();
    for said in ["Newly failing (1): c", "Still failing (1): b", "Fixed (1): a"] {
        assert!(reason.contains(said), "{reason}");
    }
    assert!(reason.contains("This answers the request: s1: one"), "{reason}");
}

#[test]
fn without_backpressure_the_agent_is_told_how_the_gates_stand_and_no_more() {
    let quiet = StopRules { backpressure: false, ..rules() };
    let verdict = stop(&mut StopRing::default(), quiet, "", &Found::red(&["a"]));
    let reason = verdict.reason().unwrap();
    assert_eq!(reason, "# Completion Blocked: tests failed\n[ ] tests: failed");
}

#[test]
fn the_state_is_small_and_survives_being_written() {
    let mut ring = StopRing::default();
    let said = "word ".repeat(100_000);
    stop(&mut ring, rules(), &said, &Found::red(&["a"]));
    let text = serde_json::to_string(&ring).unwrap();
    assert!(text.len() < 1_000 && !text.contains("a lot of output"), "{text}");
    assert_eq!(serde_json::from_str::<StopRing>(&text).unwrap(), ring);
    // A state as it was kept before.
    let old = r#"{"refusals":2,"said":"x","calls":7,"gates":null}"#;
    let ring: StopRing = serde_json::from_str(old).unwrap();
    assert_eq!((ring.refusals(), ring.calls), (2, 7));
}

#[test]
fn a_turn_that_changed_nothing_is_known_by_its_tree() {
    let tree = |code_tree: &str| WorktreeSnapshot {
        code_tree: code_tree.into(),
        ..WorktreeSnapshot::default()
    };
    let mut ring = StopRing::default();
    assert!(!ring.changed_nothing(&tree("t1")), "nobody said when it began");
    ring.turn_began("");
    assert!(!ring.changed_nothing(&tree("")), "nor with which tree");
    ring.turn_began("t1");
    assert!(ring.changed_nothing(&tree("t1")) && !ring.changed_nothing(&tree("t2")));
    // Refused, it is still the same turn; let go, the next one begins.
    let (red, green) = (gates(&["a"]), gates(&[]));
    for (gates, changed_nothing) in [(&red, false), (&green, true)] {
        let asked = StopAsked { said: "", calls: Some(7), asking: None };
        let StopStep::Examine(ticket) = ring.ask(rules(), &asked) else { panic!() };
        let (start, snapshot) = (StartingPoint::default(), tree("t2"));
        let evidence = StopEvidence {
            start: &start,
            assignment: None,
            snapshot: &snapshot,
            gates: Some(gates),
            weakened: &[],
        };
        ring.judge(rules(), &ticket, &evidence);
        assert_eq!(ring.changed_nothing(&tree("t2")), changed_nothing);
    }
}
