//! What lands, and what does not.

use std::prelude::rust_2024::*;
use std::vec;

use super::*;
use crate::gate::{Check, Executed, Finding, FindingKind};
use crate::id::GateName;

type Case = (Merge, Vec<String>, GateWord, Seat, Landing);

#[test]
fn only_what_nothing_speaks_against_moves() {
    let conflict = Merge::Conflict { files: vec!["a".into()] };
    let refused = |why| Landing::Refused(why);
    let files = vec!["a".into()];
    let tampered = vec!["a test is gone".into()];
    let red = || GateWord::Red { summary: "tests failed".into() };
    let (clean, dirty) = (Seat::Clean { path: "/w".into() }, Seat::Dirty { path: "/w".into() });
    let there = Landing::Move(Move::Worktree { path: "/w".into() });
    let by_hand = Landing::Move(Move::ByHand { path: "/w".into() });
    let cases: Vec<Case> = vec![
        (Merge::Nothing, tampered.clone(), red(), dirty.clone(), Landing::AlreadyThere),
        (
            conflict,
            tampered.clone(),
            red(),
            Seat::Free,
            refused(LandingRefusal::Conflict { files }),
        ),
        (
            Merge::FastForward,
            tampered.clone(),
            GateWord::Green,
            Seat::Free,
            refused(LandingRefusal::Tamper { findings: tampered }),
        ),
        (Merge::FastForward, vec![], GateWord::Unasked, dirty.clone(), Landing::RunGates),
        (
            Merge::Clean,
            vec![],
            red(),
            Seat::Free,
            refused(LandingRefusal::Red { summary: "tests failed".into() }),
        ),
        (
            Merge::Clean,
            vec!["fewer tests".into()],
            red(),
            Seat::Free,
            refused(LandingRefusal::Red { summary: "tests failed".into() }),
        ),
        (Merge::Clean, vec![], GateWord::Green, Seat::Free, Landing::Move(Move::Branch)),
        (Merge::Clean, vec![], GateWord::NoGates, Seat::Free, Landing::Move(Move::Branch)),
        (Merge::FastForward, vec![], GateWord::Green, clean, there),
        (Merge::Clean, vec![], GateWord::Green, dirty, by_hand),
    ];
    for (merge, tamper, gates, seat, landing) in cases {
        let facts = LandingFacts { merge, tamper, gates, seat };
        assert_eq!(facts.judge(), landing, "{facts:?}");
    }
}

#[test]
fn what_is_accepted_or_meant_does_not_stand_in_the_way() {
    let finding = |base: &str, now: &str| {
        let finding = Finding::new(FindingKind::Tamper, "a test is gone").at("tests/a.rs", 3, None);
        let about = TamperFinding::about("tests/a.rs", "a test is gone");
        TamperFinding { finding, base: base.into(), now: now.into(), ..about }
    };
    let (none, tests) = (MayChange::new([]), MayChange::new(["tests/".into()]));
    let accepted = [finding("old base", "n1").key()];
    let cases: [(OnTamper, &[String], &MayChange, &str, usize); 6] = [
        (OnTamper::Ask, &[], &none, "n1", 1),
        (OnTamper::Refuse, &[], &none, "n1", 1),
        (OnTamper::Report, &[], &none, "n1", 0),
        (OnTamper::Ask, &accepted, &none, "n1", 0),
        (OnTamper::Ask, &accepted, &none, "n2", 1),
        (OnTamper::Ask, &[], &tests, "n1", 0),
    ];
    for (on_tamper, accepted, may_change, now, count) in cases {
        let allowed = Allowed { on_tamper, accepted, may_change };
        let open = allowed.against(&[finding("the target", now)], None);
        assert_eq!(open.len(), count, "{allowed:?} {now}");
    }
}

fn green(gate: &str, ran: u64) -> GateResult {
    let executed = Executed { runner: "r".into(), ran, ..Executed::default() };
    let check = Check { executed: vec![executed], ..Check::passed(gate) };
    GateResult { tree: "t".into(), checks: vec![check] }
}

type Counting<'a> = (Vec<TamperFinding>, &'a MayChange, Option<Counted>, usize);

#[test]
fn fewer_tests_than_on_the_target_stand_in_the_way() {
    let (none, tests) = (MayChange::new([]), MayChange::new(["tests/".into()]));
    let counted = |before, now| Counted::compare(TestBounds::default(), &green("g", before), &now);
    let part = || {
        let mut bounds = TestBounds::default();
        bounds.runs_a_part(&GateName::new("g"));
        Counted::compare(bounds, &green("g", 3), &green("g", 1))
    };
    let untold = || GateResult { tree: "t".into(), checks: vec![Check::passed("g")] };
    let finding = |weight, gone| {
        let at = Finding::new(FindingKind::Tamper, "gone").at("tests/a.rs", 3, None);
        let about = TamperFinding::about("tests/a.rs", "gone");
        TamperFinding { finding: at, weight, tests: gone, ..about }
    };
    let perhaps = || vec![finding(Weight::UnlessAllRun, 0)];
    let gone = || vec![finding(Weight::Firm, 2)];
    let cases: Vec<Counting<'_>> = vec![
        (vec![], &none, Some(counted(3, green("g", 3))), 0),
        (vec![], &none, Some(counted(3, green("g", 4))), 0),
        (vec![], &none, Some(counted(3, green("g", 2))), 1),
        (vec![], &none, Some(counted(3, untold())), 1),
        (vec![], &none, Some(counted(0, untold())), 0),
        (vec![], &none, Some(part()), 0),
        // What may be harmless is, when every test still runs.
        (perhaps(), &none, None, 0),
        (perhaps(), &none, Some(counted(3, green("g", 3))), 0),
        (perhaps(), &none, Some(counted(3, green("g", 2))), 2),
        (perhaps(), &none, Some(counted(0, untold())), 1),
        // Tests that were meant to go are fewer, too.
        (gone(), &none, Some(counted(3, green("g", 1))), 2),
        (gone(), &tests, Some(counted(3, green("g", 1))), 0),
    ];
    for (findings, may_change, counted, open) in cases {
        let allowed = Allowed { on_tamper: OnTamper::Ask, accepted: &[], may_change };
        let words = allowed.against(&findings, counted.as_ref());
        assert_eq!(words.len(), open, "{findings:?} {counted:?}");
        let report = Allowed { on_tamper: OnTamper::Report, ..allowed };
        assert!(report.against(&findings, counted.as_ref()).is_empty());
    }
}

#[test]
fn a_worktree_goes_only_when_all_of_it_is_elsewhere() {
    let stays = |only_there, uncommitted| OldWorktree { uncommitted, only_there }.must_stay();
    assert_eq!(stays(0, 0), None);
    assert_eq!(stays(1, 0).unwrap(), "1 commit no other branch has");
    assert_eq!(stays(0, 2).unwrap(), "2 files not committed");
    assert_eq!(stays(2, 1).unwrap(), "2 commits no other branch has, and 1 file not committed");
}
