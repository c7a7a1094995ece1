//! Runs decided again: with their own limits they go as they went; with others, known answers.

use std::path::PathBuf;

use flyball_core::{Event, IterationNo, Moment, RunId};
use flyball_testkit::sim::Sim;

use super::*;
use crate::journal::{RunProgress, RunSummary};

fn row() -> RunSummary {
    RunSummary {
        run: RunId::new("r"),
        root: PathBuf::from("/shop"),
        agent: "claude".to_owned(),
        pid: None,
        started: Moment::from_millis(0),
        last_at: Moment::from_millis(0),
        ended: None,
        outcome: None,
        max_iterations: 15,
        events: 0,
        state: RunProgress::default(),
        ending: None,
        damaged: None,
    }
}

fn again(journal: &[(Moment, Event)], limits: &Limits) -> Replayed {
    let told = replay(limits, &row(), |to| {
        for (at, event) in journal {
            to(*at, event);
        }
        Ok::<(), ()>(())
    });
    told.unwrap()
}

#[test]
fn with_its_own_limits_a_run_goes_as_it_went() {
    for seed in 0..100 {
        let (_, journal) = Sim::new(seed).run_with_journal();
        let told = again(&journal, &Limits::default());
        assert!(told.differences.is_empty(), "seed {seed}: {:?}", told.differences);
        assert!(!told.is_stopped() && !told.let_go && !told.unfit, "seed {seed}");
        assert_eq!(told.after, Amount::default(), "seed {seed}");
    }
}

#[test]
fn what_would_have_been_saved_is_never_more_than_what_was_spent() {
    let changes =
        ["limits.stuck=1", "limits.iterations=2", "calls.max_refusals=1", "limits.cost_usd=0.01"];
    let (mut stopped, mut harmed) = (0, 0);
    for seed in 0..60 {
        let (_, journal) = Sim::new(seed).run_with_journal();
        for change in changes {
            let told = again(&journal, &Limits::with(&Change::parse(change).unwrap()));
            let point = told.stop.as_ref().map_or(Amount::default(), |stop| stop.spent);
            let all = point.plus(told.after);
            assert!(all.micro_usd <= told.spent.micro_usd, "seed {seed} {change}");
            assert!(
                all.tokens <= told.spent.tokens && all.ms <= told.spent.ms,
                "seed {seed} {change}"
            );
            stopped += u32::from(told.is_stopped());
            harmed += u32::from(told.is_stopped() && !told.lost.is_nothing());
            if told.is_stopped() {
                assert!(!told.differences.is_empty(), "seed {seed} {change}");
            }
        }
    }
    assert!(stopped > 20 && harmed > 5, "{stopped} {harmed}");
}

#[test]
fn a_run_that_would_have_ended_says_when_and_what_it_would_have_lost() {
    // The first simulated run that was verified after more than two iterations.
    let found = (0..400).find_map(|seed| {
        let (_, journal) = Sim::new(seed).run_with_journal();
        let told = again(&journal, &Limits::default());
        let resumed = journal.iter().any(|(_, event)| matches!(event, Event::RunResumed(_)));
        let is_done = told.outcome == Some(flyball_core::Outcome::Complete) && !resumed;
        let change = Change::parse("limits.iterations=2").unwrap();
        let less = again(&journal, &Limits::with(&change));
        (is_done && less.is_stopped()).then_some(less)
    });
    let told = found.unwrap();
    let stop = told.stop.as_ref().unwrap();
    assert_eq!((stop.scope, stop.iteration), (Scope::Run, Some(IterationNo::new(2))));
    assert_eq!(stop.outcome, Some(flyball_core::Outcome::MaxIterations));
    assert!(told.lost.verified && told.saved() == Amount::default());
    let last = told.differences.last().unwrap();
    assert!(last.would.iter().any(|one| one.words() == "the run ends: max_iterations"), "{last:?}");
    assert!(last.was.iter().any(|one| one.words() == "iteration 3 begins"), "{last:?}");
}

#[test]
fn a_limit_that_is_none_is_refused_and_the_nearest_is_named() {
    for wrong in [
        "limits.stuck",
        "limits.stcuk=2",
        "limits=2",
        "limits.stuck=many",
        "limits.stuck=0",
        "limits.stuck=5m",
    ] {
        assert!(Change::parse(wrong).is_err(), "{wrong}");
    }
    let error = Change::parse("limits.stcuk=2").unwrap_err().to_string();
    assert!(error.contains("did you mean `limits.stuck`?"), "{error}");
    assert_eq!(Change::parse("limits.stuck=2").unwrap().toml(), "limits.stuck = 2");
    assert_eq!(
        Change::parse("limits.stall_after=5m").unwrap().toml(),
        "limits.stall_after = \"5m\""
    );
}

#[test]
fn changes_are_judged_together() {
    let nudge = Change::parse("calls.nudge_after=9").unwrap();
    let refuse = Change::parse("calls.refuse_after=10").unwrap();
    let upon = |changes: &[&Change]| {
        let changes = changes.iter().map(|change| (*change).clone()).collect();
        Limits { policy: None, changes }.upon(&flyball_core::Policy::default())
    };
    assert!(matches!(upon(&[&nudge]), Err(ChangeError::Together(_))));
    assert_eq!(upon(&[&nudge, &refuse]).unwrap().calls.refuse_after, 10);
    assert!(matches!(Change::parse("calls.nudge_after=1"), Err(ChangeError::Wrong(_))));
}
