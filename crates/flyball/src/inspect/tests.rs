//! Sessions summed, chosen and shown.

use std::path::PathBuf;

use flyball_core::guard::{GuardKind, Rung};
use flyball_core::hindsight::{Cost, Firings, Judged, Loop, LoopKind, Reached};
use flyball_core::{Moment, SubAgent};

use super::*;

fn cost(calls: u64, tokens: u64) -> Cost {
    Cost { calls, input_tokens: tokens, micro_usd: tokens, ..Cost::default() }
}

fn reached(step: u64, after: Cost) -> Reached {
    Reached {
        step,
        at: Moment::default(),
        guard: GuardKind::Repetition,
        evidence: "seen".to_owned(),
        record: step,
        after,
        changed_later: false,
    }
}

/// A session of four model calls, each with a call, that was nudged at its second step.
fn session(id: &str, began: u64, keys: [u64; 4]) -> SessionReport {
    let one = Loop {
        agent: SubAgent::default(),
        kind: LoopKind::Lap,
        began: 0,
        ended: 3,
        nudge: Some(reached(1, cost(2, 20))),
        refuse: None,
        halt: None,
    };
    let calls = (0..).zip(keys).map(|(step, key)| ModelCall { key, step, cost: cost(1, 10) });
    SessionReport {
        id: id.to_owned(),
        agent: "claude".to_owned(),
        project: Some("/work/shop".to_owned()),
        began: Some(Moment::from_millis(began)),
        ended: Some(Moment::from_millis(began + 10)),
        judged: Judged {
            steps: 4,
            calls: 4,
            spent: cost(4, 40),
            firsts: Firings { nudge: Some(1), ..Firings::default() },
            loops: vec![one],
            loops_total: 1,
            waste: [cost(2, 20), Cost::default(), Cost::default()],
            ..Judged::default()
        },
        model_calls: calls.collect(),
        ..SessionReport::default()
    }
}

fn report(path: &str, sessions: Vec<SessionReport>) -> SourceReport {
    let modified = Moment::from_millis(5_000);
    SourceReport { path: PathBuf::from(path), modified, sessions, ..SourceReport::default() }
}

#[test]
fn what_a_fork_copied_counts_once_where_it_came_from() {
    let first = session("first", 100, [1, 2, 3, 4]);
    let fork = session("fork", 200, [1, 2, 3, 9]);
    let copy = session("copy", 300, [1, 2, 3, 4]);
    // Given in any order: the one that began first keeps what is its own.
    let reports =
        vec![report("/b", vec![fork]), report("/a", vec![first]), report("/c", vec![copy])];
    let overview = overview(reports, &Choice::default());
    assert_eq!(overview.all.spent, cost(5, 50));
    assert_eq!((overview.all.steps, overview.all.loops), (5, 1));
    assert_eq!(overview.all.waste[0], cost(2, 20));
    let worst: Vec<&str> = overview.worst().map(|one| one.session.id.as_str()).collect();
    assert_eq!(worst, ["first"]);
    let other = session("other", 100, [5, 6, 7, 8]);
    let apart = super::overview(vec![report("/a", vec![other])], &Choice::default());
    assert_eq!(apart.all.spent, cost(4, 40));
}

#[test]
fn sessions_are_chosen_by_time_agent_and_project() {
    let reports = || {
        let timeless = SessionReport { began: None, ended: None, ..session("t", 0, [5, 6, 7, 8]) };
        vec![report("/a", vec![session("s", 100, [1, 2, 3, 4]), timeless])]
    };
    let ids = |choice: Choice| {
        let overview = overview(reports(), &choice);
        let mut ids: Vec<String> =
            overview.sessions.iter().map(|one| one.session.id.clone()).collect();
        ids.sort();
        ids.concat()
    };
    let at = |millis: u64| Some(Moment::from_millis(millis));
    assert_eq!(ids(Choice::default()), "st");
    assert_eq!(ids(Choice { since: at(110), ..Choice::default() }), "st");
    assert_eq!(ids(Choice { since: at(111), ..Choice::default() }), "t", "as old as its file");
    assert_eq!(ids(Choice { until: at(100), ..Choice::default() }), "");
    assert_eq!(ids(Choice { until: at(101), ..Choice::default() }), "s");
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(ids(Choice { project: named("shop"), ..Choice::default() }), "st");
    assert_eq!(ids(Choice { project: named("/work/shop"), ..Choice::default() }), "st");
    assert_eq!(ids(Choice { project: named("/shop"), ..Choice::default() }), "");
    assert_eq!(ids(Choice { agent: named("codex"), ..Choice::default() }), "");
}

#[test]
fn the_command_that_opens_a_session_can_be_pasted() {
    let listed = |path: &str, shared: bool| Listed {
        path: PathBuf::from(path),
        shared,
        session: session("it's", 0, [1, 2, 3, 4]),
    };
    assert_eq!(listed("/a/b.jsonl", false).command(), "flyball inspect /a/b.jsonl --session");
    assert_eq!(
        listed("/a b/c.db", true).command(),
        "flyball inspect '/a b/c.db' --session='it'\\''s'"
    );
    assert_eq!(listed("/a", false).session.highest(), Rung::Nudge);
}

#[test]
fn sessions_of_sub_agents_count_with_the_one_that_started_them() {
    let child = SessionReport { parent: Some("s".to_owned()), ..session("c", 120, [5, 6, 7, 8]) };
    let all = vec![report("/a", vec![session("s", 100, [1, 2, 3, 4])]), report("/b", vec![child])];
    let overview = overview(all, &Choice::default());
    assert_eq!((overview.all.sessions, overview.all.spent), (1, cost(8, 80)));
}

#[test]
fn a_page_is_whole_by_itself_and_escapes_what_others_wrote() {
    let mut evil = session("<script>alert(1)</script>", 100, [1, 2, 3, 4]);
    evil.title = "<img src=x onerror=alert(1)>".to_owned();
    let overview = overview(vec![report("/<b>", vec![evil])], &Choice::default());
    let page = overview_page(&overview, Moment::default());
    assert!(page.contains("&lt;img src=x"), "{page}");
    for wrong in ["<script", "<img", "http:", "https:", "url("] {
        assert!(!page.contains(wrong), "{wrong} in {page}");
    }
    for part in [
        "Guards would have spoken in 1 of 1 session",
        "By agent",
        "Dead tail",
        "prefers-color-scheme",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
}
