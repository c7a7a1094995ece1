//! The machine of a session: its order of guards, its endings, and what it promises whatever is done.

use std::string::ToString;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::guard::GuardKind;

const AT: Moment = Moment::from_millis(1);

fn session(max_iterations: u32, threshold: u32) -> IterationSession {
    let rules =
        SessionRules { circuit_breaker_threshold: threshold, ..SessionRules::new(max_iterations) };
    IterationSession::begin(rules, AT).unwrap()
}

fn policy() -> Policy {
    Policy::default()
}

/// One iteration that ends with this score, on these files; passed at 1.
fn judge(session: &mut IterationSession, score: f64, files: &[&str]) -> Judged {
    let messages = files.iter().map(|file| std::format!("error in file: {file}")).collect();
    let report = Report { passed: score >= 1.0, score: Some(score), messages };
    session.judge(&policy(), AT, &Evidence { report: Some(&report), ..Evidence::default() })
}

/// What stops a session whose iterations end like this, and in which iteration.
fn stopped_by(
    session: &mut IterationSession,
    scores: &[f64],
    file: &str,
) -> Option<(&'static str, u32)> {
    for score in scores {
        judge(session, *score, &[file]);
        match session.next(&policy()).unwrap() {
            NextStep::Began(_) => {}
            NextStep::Stopped { safety, .. } => {
                return Some((safety.blocked_by().unwrap().as_str(), session.iteration()));
            }
            NextStep::JudgeFirst => panic!("it was judged"),
        }
    }
    None
}

#[test]
fn the_guards_say_no_in_their_order() {
    type Case = (&'static str, u32, u32, &'static [f64], Option<(&'static str, u32)>);
    let cases: [Case; 7] = [
        ("the last one allowed", 2, 20, &[1.0, 1.0], Some(("max_iterations", 2))),
        ("three failures", 9, 3, &[0.5, 0.5, 0.5], Some(("circuit_breaker", 3))),
        ("both at once", 3, 3, &[0.5, 0.5, 0.5], Some(("max_iterations", 3))),
        ("breaker before regression", 9, 3, &[0.9, 0.7, 0.5], Some(("circuit_breaker", 3))),
        ("regression", 9, 20, &[0.9, 0.7, 0.5], Some(("quality_regression", 3))),
        ("thrashing", 20, 20, &[0.5, 0.4, 0.5, 0.4, 0.5, 0.4], Some(("thrashing", 5))),
        ("a pass in between", 9, 3, &[0.5, 0.5, 1.0, 0.5], None),
    ];
    for (what, most, threshold, scores, expected) in cases {
        let mut session = session(most, threshold);
        assert_eq!(stopped_by(&mut session, scores, "a.rs"), expected, "{what}");
    }
}

#[test]
fn a_trip_ends_the_session_with_a_last_checkpoint_that_says_so() {
    let mut session = session(9, 1);
    judge(&mut session, 0.0, &[]);
    let NextStep::Stopped { safety, due } = session.next(&policy()).unwrap() else {
        panic!("it goes on");
    };
    assert!(safety.message().unwrap().starts_with("Circuit breaker OPEN: 1 "));
    assert_eq!((due.iteration, due.trigger), (1, Trigger::Error));
    assert_eq!(due.guard, Some(GuardKind::CircuitBreaker));
    assert_eq!(due.note.as_deref(), safety.message());
    assert_eq!(session.status(), SessionStatus::Blocked);
    let over = SessionError::Over {
        status: "blocked",
        why: std::format!("circuit_breaker: {}", safety.message().unwrap()),
    };
    assert_eq!(session.next(&policy()), Err(over.clone()));
    assert_eq!(session.complete("", None), Err(over));
}

#[test]
fn a_trip_outranks_blocked_and_blocked_outranks_complete() {
    let all = "<promise>BLOCKED:no key</promise> <promise>COMPLETE</promise>";
    let cases = [
        (3, all, true, Signal::Blocked),
        (3, "<promise>DECIDE:A or B?</promise> <promise>COMPLETE</promise>", true, Signal::Blocked),
        (3, "<promise>COMPLETE</promise>", true, Signal::Complete),
        (3, "<promise>COMPLETE</promise>", false, Signal::Continue),
        (3, "more to do", true, Signal::Continue),
        (1, all, false, Signal::Escalate),
        (1, "<promise>COMPLETE</promise>", false, Signal::Escalate),
    ];
    for (threshold, output, passed, signal) in cases {
        let rules = if passed {
            [RuleOutcome::passed("tests")]
        } else {
            [RuleOutcome::failed("tests", "no")]
        };
        let evidence = Evidence { output, rules: &rules, report: None };
        let judged = session(5, threshold).judge(&policy(), AT, &evidence);
        assert_eq!(judged.signal, signal, "{output}");
    }
}

#[test]
fn completion_needs_a_pass_a_promise_and_quiet_guards() {
    let green = [RuleOutcome::passed("tests")];
    let red = [RuleOutcome::failed("tests", "2 fail")];
    let promised = "<promise>COMPLETE</promise>";
    let attempt = |threshold: u32, rules: &[RuleOutcome], output: &str| {
        let mut session = session(5, threshold);
        let CompleteStep::JudgeFirst { said, report } = session.complete(output, None)? else {
            panic!("blocked");
        };
        assert_eq!(report, None);
        let evidence = Evidence { output: &said, rules, report: None };
        let judged = session.judge(&policy(), AT, &evidence);
        let finished = session.finish(&judged)?;
        assert_eq!(
            (finished.trigger, session.status()),
            (Trigger::Complete, SessionStatus::Completed)
        );
        Ok::<(), SessionError>(())
    };
    assert_eq!(attempt(3, &green, promised), Ok(()));
    let fails = attempt(3, &red, promised).unwrap_err();
    assert!(
        fails
            .to_string()
            .contains("validation fails. 1 of 1 validation rules fail:\n- tests: 2 fail")
    );
    assert!(matches!(attempt(3, &green, "done"), Err(SessionError::NoPromise { .. })));
    // A guard that trips on a passing iteration: the limit of iterations is already used up.
    let mut session = session(1, 3);
    judge(&mut session, 1.0, &[]);
    assert!(matches!(session.next(&policy()).unwrap(), NextStep::Stopped { .. }));
}

#[test]
fn a_blocked_promise_ends_a_session_and_never_completes_it() {
    for (output, promise) in [
        ("<promise>BLOCKED:no key</promise>", None),
        ("", Some("<promise>BLOCKED:no key</promise>")),
        ("<promise>COMPLETE</promise>", Some("BLOCKED: no key")),
    ] {
        let mut session = session(5, 3);
        let CompleteStep::Blocked { reason, due } = session.complete(output, promise).unwrap()
        else {
            panic!("not blocked");
        };
        assert!(reason.contains("no key"), "{reason}");
        assert_eq!((due.trigger, session.status()), (Trigger::Blocked, SessionStatus::Blocked));
        assert_eq!(due.note.as_ref(), Some(&reason), "the checkpoint says why");
    }
    let unknown = session(5, 3).complete("", Some("FINI")).unwrap_err();
    assert!(unknown.to_string().starts_with("`FINI` is none of this session's promises"));
}

#[test]
fn an_iteration_that_was_not_judged_is_judged_first_and_the_last_judgement_counts() {
    let mut session = session(5, 2);
    assert_eq!(session.next(&policy()).unwrap(), NextStep::JudgeFirst);
    judge(&mut session, 0.0, &[]);
    assert_eq!(session.failures(), 1);
    judge(&mut session, 1.0, &[]);
    assert_eq!(session.failures(), 0);
    assert!(matches!(session.next(&policy()).unwrap(), NextStep::Began(_)));
    assert_eq!((session.iteration(), session.remaining()), (2, 3));
    // Nothing was checked: neither a pass nor a failure.
    session.judge(&policy(), AT, &Evidence::default());
    assert_eq!(session.failures(), 0);
}

#[test]
fn a_session_that_moves_is_not_ended_by_the_breaker() {
    let reported = |session: &mut IterationSession, found: &[&str]| {
        let messages = found.iter().map(|one| String::from(*one)).collect();
        let report = Report { passed: false, score: None, messages };
        session.judge(&policy(), AT, &Evidence { report: Some(&report), ..Evidence::default() });
        session.next(&policy()).unwrap()
    };
    let mut moving = session(20, 2);
    for found in ["no `a`", "no `b`", "no `c`", "no `d`", "no `e`"] {
        assert!(matches!(reported(&mut moving, &[found]), NextStep::Began(_)), "{found}");
    }
    // Back where it has been: that is no progress.
    assert!(matches!(reported(&mut moving, &["no `a`"]), NextStep::Stopped { .. }));
    // What a rule printed is no finding: only rules that turn green count.
    let mut printing = session(20, 2);
    for number in 0..2 {
        let red = [RuleOutcome::failed("tests", std::format!("{number}"))];
        printing.judge(&policy(), AT, &Evidence { rules: &red, ..Evidence::default() });
        let step = printing.next(&policy()).unwrap();
        assert_eq!(matches!(step, NextStep::Stopped { .. }), number == 1);
    }
}

#[test]
fn senseless_rules_are_refused_by_name() {
    let cases: [(SessionRules, &str); 6] = [
        (SessionRules::new(0), "`max_iterations` is 0; it must be 1 to 100"),
        (SessionRules::new(101), "`max_iterations` is 101"),
        (SessionRules { circuit_breaker_threshold: 0, ..SessionRules::new(1) }, "threshold` is 0"),
        (SessionRules { circuit_breaker_threshold: 21, ..SessionRules::new(1) }, "1 to 20"),
        (SessionRules { completion_promises: Vec::new(), ..SessionRules::new(1) }, "has 0 entries"),
        (
            SessionRules { completion_promises: vec![String::from(" ")], ..SessionRules::new(1) },
            "an empty text",
        ),
    ];
    for (rules, said) in cases {
        let error = IterationSession::begin(rules, AT).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn checkpoints_are_bounded_and_the_state_survives_being_written() {
    let mut session = session(5, 3);
    for _ in 0..2 * CHECKPOINTS_MAX {
        session.checkpointed(IterationSession::first_checkpoint(), AT, None);
    }
    judge(&mut session, 0.3, &["a.rs"]);
    assert_eq!(session.checkpoints().count(), CHECKPOINTS_MAX);
    let text = serde_json::to_string(&session).unwrap();
    assert_eq!(serde_json::from_str::<IterationSession>(&text).unwrap(), session);
}

/// Anything a driver of a session may do.
#[derive(Clone, Debug)]
enum Move {
    Judge { score: u8, words: u8 },
    Next,
    Complete { words: u8 },
}

const WORDS: [&str; 4] =
    ["", "<promise>COMPLETE</promise>", "<promise>BLOCKED:x</promise>", "done"];

fn words(number: u8) -> &'static str {
    WORDS.get(usize::from(number) % WORDS.len()).copied().unwrap_or("")
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        4 => (0..=10_u8, any::<u8>()).prop_map(|(score, words)| Move::Judge { score, words }),
        4 => Just(Move::Next),
        1 => any::<u8>().prop_map(|words| Move::Complete { words }),
    ];
    prop::collection::vec(one, 0..120)
}

proptest! {
    #[test]
    fn whatever_is_done_a_session_keeps_its_promises(
        most in 1..20_u32,
        threshold in 1..6_u32,
        moves in moves(),
    ) {
        let mut session = session(most, threshold);
        let mut last_passed = false;
        let mut failures = 0;
        for one in moves {
            let (before, was_open) = (session.clone(), session.status() == SessionStatus::Open);
            match one {
                Move::Judge { score, words: said } if was_open => {
                    let score = f64::from(score) / 10.0;
                    let report = Report { passed: score >= 1.0, score: Some(score), messages: Vec::new() };
                    let evidence = Evidence { output: words(said), rules: &[], report: Some(&report) };
                    let judged = session.judge(&policy(), AT, &evidence);
                    last_passed = judged.passed;
                    prop_assert!(judged.signal != Signal::Complete || (judged.passed && judged.safety.can_continue()));
                    prop_assert!(judged.signal != Signal::Complete || !words(said).contains("BLOCKED"));
                }
                Move::Judge { .. } => {}
                Move::Next => match session.next(&policy()) {
                    Ok(NextStep::Began(_)) => {
                        failures = if last_passed { 0 } else { failures + 1 };
                        prop_assert!(failures < threshold);
                        prop_assert_eq!(session.iteration(), before.iteration() + 1);
                        prop_assert!(session.iteration() <= most);
                    }
                    Ok(NextStep::Stopped { safety, due }) => {
                        prop_assert!(!safety.can_continue());
                        prop_assert_eq!(due.trigger, Trigger::Error);
                        prop_assert_eq!(session.status(), SessionStatus::Blocked);
                    }
                    Ok(NextStep::JudgeFirst) => prop_assert_eq!(&session, &before),
                    Err(_) => prop_assert!(!was_open),
                },
                Move::Complete { words: said } => match session.complete(words(said), None) {
                    Ok(CompleteStep::Blocked { .. }) => {
                        prop_assert!(words(said).contains("BLOCKED"));
                        prop_assert_eq!(session.status(), SessionStatus::Blocked);
                    }
                    Ok(CompleteStep::JudgeFirst { .. }) => prop_assert_eq!(&session, &before),
                    Err(_) => prop_assert!(!was_open),
                },
            }
            // What is over stays over.
            prop_assert!(was_open || session == before);
        }
    }
}
