//! Results after each other, and what is said of the last.

use std::vec;

use super::*;

fn tally(ran: u64, names: &[&str]) -> Executed {
    let names = names.iter().map(|name| String::from(*name)).collect();
    Executed { runner: String::from("r"), ran, names, ..Executed::default() }
}

fn green(tests: Option<Executed>) -> Check {
    Check { executed: tests.into_iter().collect(), ..Check::passed("tests") }
}

fn red(tests: Executed, failed: &[&str]) -> Check {
    let finding = |name: &&str| Finding::new(FindingKind::Test, "no").named(*name);
    let findings = failed.iter().map(finding).collect();
    Check { executed: vec![tests], findings, ..Check::failed("tests") }
}

fn last(results: &[Check]) -> Ran {
    let mut bounds = TestBounds::default();
    results.iter().map(|check| bounds.judge(check)).last().unwrap()
}

#[test]
fn a_green_result_with_fewer_tests_is_noticed() {
    let of = |ran| Some(tally(ran, &[]));
    // What came before, what came last, whether that is fewer.
    let cases: Vec<(Vec<Check>, Check, bool)> = vec![
        (vec![], green(of(3)), false),
        (vec![green(of(10))], green(of(10)), false),
        (vec![green(of(10))], green(of(11)), false),
        (vec![green(of(10))], green(of(9)), true),
        (vec![green(of(10))], green(None), true),
        (vec![green(None)], green(of(1)), false),
        (vec![red(tally(10, &[]), &[])], green(of(9)), true),
        // One that stopped early and told of a few: no lower, no higher bound than that.
        (vec![red(tally(3, &[]), &[])], green(of(10)), false),
        (vec![green(of(10)), red(tally(3, &[]), &[])], green(of(10)), false),
        (vec![green(of(10)), red(tally(3, &[]), &[])], green(of(4)), true),
        // A red one is never blamed.
        (vec![green(of(10))], red(tally(1, &[]), &[]), false),
        (vec![green(of(10))], Check::skipped("tests", "why"), false),
    ];
    for (before, now, fewer) in cases {
        let all: Vec<Check> = before.into_iter().chain([now]).collect();
        assert_eq!(matches!(last(&all), Ran::Fewer(_)), fewer, "{all:?}");
    }
    let mut bounds = TestBounds::default();
    bounds.runs_a_part(&GateName::new("tests"));
    bounds.judge(&green(of(10)));
    assert_eq!(bounds.judge(&green(of(1))), Ran::Unknown, "it runs what changed");
}

#[test]
fn a_red_test_must_run_again_be_skipped_by_itself_or_be_renamed() {
    let before = red(tally(2, &["a", "b"]), &["b"]);
    let skipped = Executed { skipped: 1, ..tally(1, &["a"]) };
    let cases = [
        (tally(2, &["a", "b"]), false),
        (tally(2, &["a", "renamed"]), false),
        (tally(3, &["a", "c", "d"]), false),
        (Executed { ran: 2, names_left_out: 1, ..tally(2, &["a"]) }, false),
        (tally(2, &[]), false),
    ];
    for (now, fewer) in cases {
        let said = last(&[before.clone(), green(Some(now.clone()))]);
        assert_eq!(matches!(said, Ran::Fewer(_)), fewer, "{now:?}");
    }
    // As many run, but only ones that were there before: the red one is gone.
    let three = red(tally(3, &["a", "b", "c"]), &["c"]);
    let two = red(tally(2, &["a", "b"]), &[]);
    let mut bounds = TestBounds::default();
    bounds.judge(&red(tally(2, &["b", "c"]), &["c"]));
    bounds.judge(&two);
    assert!(matches!(bounds.judge(&green(Some(tally(2, &["a", "b"])))), Ran::Fewer(_)));
    // One that has been green in between is no longer looked for.
    let between = red(tally(3, &["a", "b", "c"]), &["a"]);
    assert_eq!(last(&[three, between, green(Some(tally(3, &["a", "b", "d"])))]), Ran::All);
    let Ran::Fewer(fewer) = last(&[before, green(Some(skipped))]) else { panic!() };
    assert_eq!(fewer.weight, Weight::UnlessAlone);
}

proptest::proptest! {
    #[test]
    fn only_a_green_result_below_the_most_ever_run_is_fewer(
        results in proptest::collection::vec((proptest::bool::ANY, 0_u64..9), 1..12),
    ) {
        let mut bounds = TestBounds::default();
        let mut most = 0;
        for (is_green, ran) in results {
            let check = if is_green { green(Some(tally(ran, &[]))) } else { red(tally(ran, &[]), &[]) };
            let said = bounds.judge(&check);
            proptest::prop_assert_eq!(matches!(said, Ran::Fewer(_)), is_green && ran < most);
            most = most.max(ran);
        }
    }
}

#[test]
fn what_is_newly_skipped_is_told_apart() {
    let of = |skipped| green(Some(Executed { skipped, ..tally(5, &[]) }));
    assert_eq!(last(&[of(1), of(1)]), Ran::All);
    assert_eq!(last(&[of(1), of(2)]), Ran::MoreSkipped);
}

#[test]
fn a_check_that_no_longer_heeds_its_own_failures_is_noticed() {
    let counted = |check: Check, failed: u64| {
        let counts = super::super::Counts { passed: 2, failed, skipped: 0 };
        Check { counts: Some(counts), ..check }
    };
    let tests = || tally(3, &[]);
    let was = counted(red(tests(), &[]), 1);
    assert!(matches!(last(&[was.clone(), counted(green(Some(tests())), 1)]), Ran::Fewer(_)));
    assert_eq!(last(&[was, counted(green(Some(tests())), 0)]), Ran::All);
    // One that never did is as people made it.
    let lax = || counted(green(Some(tests())), 1);
    assert_eq!(last(&[lax(), lax()]), Ran::All);
}

#[test]
fn a_check_that_rewrites_what_it_checks_with_is_noticed_unless_it_always_did() {
    let writes = |paths: &[&str]| Check {
        rewrote: paths.iter().map(|path| String::from(*path)).collect(),
        ..green(Some(tally(2, &[])))
    };
    // Nobody looked before: what is seen first is not trusted.
    assert!(matches!(last(&[writes(&["t.js"])]), Ran::Fewer(_)));
    let mut bounds = TestBounds::default();
    bounds.accustom(&writes(&["gen.js"]));
    bounds.judge(&writes(&["gen.js"]));
    assert_eq!(bounds.judge(&writes(&["gen.js"])), Ran::All);
    let Ran::Fewer(found) = bounds.judge(&writes(&["gen.js", "t.js"])) else { panic!() };
    assert!(found.finding.message.contains("`t.js`"), "{found:?}");
    // The next run does not get used to it, as long as this one's knowledge is handed on.
    let mut next = TestBounds::default();
    next.merge(&bounds);
    next.accustom(&writes(&["gen.js", "t.js"]));
    assert!(matches!(next.judge(&writes(&["gen.js", "t.js"])), Ran::Fewer(_)));
    assert_eq!(next.judge(&writes(&[])), Ran::All);
    // A red one is red.
    let red = Check { rewrote: vec![String::from("t.js")], ..Check::failed("tests") };
    assert_eq!(next.judge(&red), Ran::Unknown);
}

#[test]
fn bounds_of_earlier_runs_are_taken_over() {
    let mut earlier = TestBounds::default();
    earlier.judge(&red(tally(2, &["a", "b"]), &["b"]));
    let mut bounds = TestBounds::default();
    assert!(bounds.is_empty());
    bounds.merge(&earlier);
    bounds.merge(&earlier);
    assert_eq!(bounds, earlier);
    assert!(matches!(bounds.judge(&green(Some(tally(1, &["a"])))), Ran::Fewer(_)));
    let mut bounds = TestBounds::default();
    bounds.remember(&GateName::new("tests"), 4);
    assert!(matches!(bounds.judge(&green(Some(tally(3, &[])))), Ran::Fewer(_)));
    let text = serde_json::to_string(&bounds).unwrap();
    assert_eq!(serde_json::from_str::<TestBounds>(&text).unwrap(), bounds);
}

#[test]
fn what_an_earlier_run_knew_of_a_check_holds_in_the_next() {
    let gate = GateName::new("tests");
    let mut earlier = TestBounds::default();
    earlier.runs_a_part(&gate);
    let mut bounds = TestBounds::default();
    bounds.merge(&earlier);
    bounds.judge(&green(Some(tally(10, &[]))));
    assert_eq!(bounds.judge(&green(Some(tally(1, &[])))), Ran::Unknown, "it runs a part");
    let failed = |check: Check| {
        let counts = super::super::Counts { passed: 2, failed: 1, skipped: 0 };
        Check { counts: Some(counts), ..check }
    };
    let mut earlier = TestBounds::default();
    earlier.judge(&failed(red(tally(3, &[]), &[])));
    let mut bounds = TestBounds::default();
    bounds.merge(&earlier);
    let lax = bounds.judge(&failed(green(Some(tally(3, &[])))));
    assert!(matches!(lax, Ran::Fewer(_)), "it heeded its failures");
}

#[test]
fn nothing_is_learnt_from_who_tells_of_no_tests_or_did_not_run() {
    let skipped = Check { executed: vec![tally(4, &[])], ..Check::skipped("tests", "why") };
    for check in [green(None), Check::failed("tests"), skipped] {
        let mut bounds = TestBounds::default();
        bounds.judge(&check);
        assert!(bounds.is_empty(), "{check:?}");
    }
}

#[test]
fn tests_that_are_gone_are_named() {
    let gone = |before: &[&str], now: &[&str]| {
        let all = tally(before.len() as u64, before);
        let mut bounds = TestBounds::default();
        bounds.judge(&red(all, before));
        // As many run, and all of them are known: none of them took the others' place.
        bounds.judge(&red(tally(now.len() as u64, now), &[]));
        let said = bounds.judge(&green(Some(tally(now.len() as u64, now))));
        let Ran::Fewer(found) = said else { panic!("{said:?}") };
        found.finding.message
    };
    assert_eq!(gone(&["a"], &["x"]), "gate `tests` is green without `a`, which was red before");
    assert_eq!(
        gone(&["a", "b"], &["x", "y"]),
        "gate `tests` is green without `a`, `b`, which were red before"
    );
    let many: Vec<String> = (0..30).map(|n| format!("t{n:02}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let now: Vec<String> = (0..30).map(|n| format!("x{n:02}")).collect();
    let now: Vec<&str> = now.iter().map(String::as_str).collect();
    let message = gone(&many, &now);
    let more = many.len() - NAMED_MAX;
    assert!(message.contains(&format!("` and {more} more, which were red before")), "{message}");
}
