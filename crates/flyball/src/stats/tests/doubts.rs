//! Doubts D1 to D5: each fires once, and not on its near misses.

use super::*;

#[test]
fn a_refused_call_that_gives_another_result_is_doubted_unless_something_was_changed() {
    for (between, doubted) in [("read", 1), ("write", 0)] {
        let mut watch = Watch::default();
        watch.happened(at(0), &call("1", "a", "read"));
        watch.happened(at(0), &answer("1", "e"));
        watch.happened(at(1), &call("2", "a", "read"));
        watch.decided(at(1), &tripped(GuardKind::Repetition, Rung::Refuse));
        watch.happened(at(2), &call("3", "b", between));
        watch.happened(at(3), &call("4", "a", "read"));
        watch.happened(at(3), &answer("4", "f"));
        assert_eq!(watch.doubts.len(), doubted, "{between}");
    }
}

#[test]
fn gates_that_waver_and_agents_that_lived_are_doubted_once() {
    let gates = |tree: &str, failing: u64| {
        let mut result = red(tree, failing);
        if failing == 0 {
            result.checks = vec![Check::passed("tests")];
        }
        let (iteration, result) = (IterationNo::new(1), Box::new(result));
        Event::GatesFinished { iteration, result, tamper: Vec::new() }
    };
    let mut watch = Watch::default();
    watch.happened(at(0), &gates("t1", 1));
    watch.happened(at(1), &gates("t2", 0));
    assert!(watch.doubts.is_empty(), "another tree");
    watch.happened(at(2), &gates("t1", 0));
    assert_eq!(watch.doubts.len(), 1);
    let life = Event::Agent { iteration: IterationNo::new(1), fact: AgentFact::ShowedLife };
    let stall = tripped(GuardKind::Stall, Rung::Halt);
    watch.happened(at(10), &life);
    watch.decided(at(21), &stall);
    assert_eq!(watch.doubts.len(), 1, "long enough ago");
    watch.decided(at(20), &stall);
    assert_eq!(watch.doubts.len(), 2);
}

#[test]
fn a_halt_is_doubted_when_the_same_work_moves_at_once_and_saves_nothing_then() {
    let halted = figures(&mut row("first"), &events(3, 9, &[]));
    let again = |head: &str| {
        let mut run = row("second");
        run.started = at(600);
        let mut told = events(3, 9, &[1]);
        if let Some((_, Event::RunStarted(start))) = told.first_mut() {
            start.snapshot.head = Some(head.to_owned());
            start.human_files.accepted_tamper = vec!["x".to_owned()];
        }
        figures(&mut run, &told)
    };
    let stats = sum(&[halted.clone(), again("t0")]);
    let kinds: Vec<DoubtKind> = stats.doubts.iter().map(|doubt| doubt.kind).collect();
    assert_eq!(kinds, [DoubtKind::Accepted, DoubtKind::MovedAfterAll]);
    assert_eq!(stats.doubts[1].run, RunId::new("first"));
    assert_eq!(stats.guards["stuck"].halts, 1, "only the second one's");
    let stats = sum(&[halted, again("somebody-else")]);
    assert_eq!(stats.guards["stuck"].doubted, 0, "somebody had changed it");
    assert_eq!(stats.guards["stuck"].halts, 2);
}

#[test]
fn a_halt_is_not_doubted_when_the_next_run_comes_late_or_moves_nothing() {
    let halted = figures(&mut row("first"), &events(3, 9, &[]));
    let doubts = |moved: &[u32], seconds: u64| {
        let mut run = row("second");
        run.started = at(seconds);
        let mut told = events(3, 9, moved);
        if let Some((_, Event::RunStarted(start))) = told.first_mut() {
            start.snapshot.head = Some("t0".to_owned());
        }
        let stats = sum(&[halted.clone(), figures(&mut run, &told)]);
        stats.doubts.iter().filter(|doubt| doubt.kind == DoubtKind::MovedAfterAll).count()
    };
    assert_eq!(doubts(&[1], 600), 1);
    assert_eq!(doubts(&[], 600), 0, "it moved nothing either");
    assert_eq!(doubts(&[2], 600), 0, "not at once");
    assert_eq!(doubts(&[1], 2 * 86_400), 0, "more than a day later");
}

#[test]
fn what_a_human_accepted_is_doubted_once() {
    let accepted = |name: &str, findings: &[&str]| {
        let mut told = events(3, 9, &[1]);
        if let Some((_, Event::RunStarted(start))) = told.first_mut() {
            start.human_files.accepted_tamper =
                findings.iter().map(|finding| (*finding).to_owned()).collect();
        }
        figures(&mut row(name), &told)
    };
    let count = |runs: &[RunFigures]| {
        let stats = sum(runs);
        stats.doubts.iter().filter(|doubt| doubt.kind == DoubtKind::Accepted).count()
    };
    assert_eq!(count(&[accepted("a", &[])]), 0);
    assert_eq!(count(&[accepted("a", &["x"]), accepted("b", &["x"])]), 1, "the same one");
    assert_eq!(count(&[accepted("a", &["x"]), accepted("b", &["x", "y"])]), 2);
}

#[test]
fn a_refused_call_that_gives_the_same_again_is_not_doubted() {
    let mut watch = Watch::default();
    for (id, result) in [("1", "e"), ("2", "e")] {
        watch.happened(at(0), &call(id, "a", "read"));
        watch.decided(at(0), &tripped(GuardKind::Repetition, Rung::Refuse));
        watch.happened(at(0), &answer(id, result));
    }
    assert!(watch.doubts.is_empty());
    watch.happened(at(1), &call("3", "a", "read"));
    watch.happened(at(1), &answer("3", "f"));
    watch.happened(at(2), &call("4", "a", "read"));
    watch.happened(at(2), &answer("4", "e"));
    assert_eq!(watch.doubts.len(), 1, "once");
}
