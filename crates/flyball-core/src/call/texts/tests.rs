//! Texts are bounded, count characters, and say what to do next.

use super::*;
use crate::call::{CallRing, ToolCall, ToolResult, Verdict};
use crate::id::CallId;
use crate::moment::Moment;
use crate::policy::Policy;

#[test]
fn a_nudge_counts_names_the_outcome_and_shows_a_way_out() {
    let mut rules = Policy::default().calls.clone();
    rules.nudge_after_success = 2;
    let ways = [
        (ToolOutcome::Ok, "succeeded", "use what it already told you"),
        (ToolOutcome::Exit, "exited with an error", "change the code or the command"),
        (ToolOutcome::Tool, "failed", "use another tool"),
    ];
    for (outcome, how, way_out) in ways {
        let mut ring = CallRing::new();
        let mut last = Verdict::Pass;
        for id in ["1", "2"] {
            let (id, now) = (CallId::new(id), Moment::from_millis(1));
            let args = serde_json::json!({});
            ring.before(&rules, now, &ToolCall::new(id.clone(), "bash", &args, &rules));
            last = ring.after(&rules, now, &ToolResult::new(id, outcome, "no such file"));
        }
        let message = last.message().unwrap();
        for part in ["the last 2 calls of tool 'bash'", how, way_out, "\"no such file\""] {
            assert!(message.contains(part), "{message}");
        }
    }
}

#[test]
fn a_large_result_is_shown_by_characters() {
    let mut rules = Policy::default().calls.clone();
    (rules.large_response, rules.preview) = (10, 4);
    let result = "äöüß".repeat(3);
    let text = spilled(&rules, &result, 12, ".flyball/responses/1.txt");
    assert!(text.contains("The result has 12 characters"));
    assert!(text.contains("to a file instead: .flyball/responses/1.txt\n"));
    assert!(text.contains("grep -n PATTERN"));
    assert!(text.ends_with("Its first 4 characters:\näöüß"));
    let cut_text = cut(&rules, &result);
    assert!(cut_text.starts_with("äöüßäöüßäö\n[cut here: 2 characters of 12 are missing"));
    assert_eq!(cut(&rules, "short"), "short");
}

#[test]
fn no_text_is_longer_than_its_limit() {
    let long = "\u{1f600}".repeat(5_000);
    let mut rules = Policy::default().calls.clone();
    rules.preview = 0;
    let failure = ValidationFailure {
        kind: ValidationKind::TruncatedResponse,
        expected: long.clone(),
        received: long.clone(),
        error: long.clone(),
    };
    let mut ring = CallRing::new();
    let (now, id) = (Moment::from_millis(0), CallId::new("1"));
    let mut verdicts = std::vec::Vec::new();
    for _ in 0..9 {
        let args = serde_json::json!({ "a": long });
        verdicts.push(ring.before(&rules, now, &ToolCall::new(id.clone(), &*long, &args, &rules)));
        verdicts.push(ring.after(
            &rules,
            now,
            &ToolResult::new(id.clone(), ToolOutcome::Tool, &long),
        ));
        verdicts.push(ring.invalid(&rules, now, &failure));
    }
    let stall = ring.stalled(Moment::from_millis(u64::MAX), Millis::new(1)).unwrap();
    let mut texts: std::vec::Vec<String> =
        verdicts.iter().filter_map(|v| v.message().map(String::from)).collect();
    texts.extend(verdicts.iter().filter_map(|v| v.trip().map(|trip| trip.evidence.clone())));
    texts.extend([stall.message, stall.trip.evidence]);
    texts.push(spilled(&rules, &long, u64::MAX, "a"));
    texts.extend(ring.context(1_000).map(|notice| notice.message));
    assert!(texts.len() > 30);
    for text in texts {
        assert!(text.chars().count() <= MAX_TEXT, "{} characters", text.chars().count());
    }
}

#[test]
fn what_could_not_be_understood_is_said_in_words_of_its_own() {
    let kinds = [
        (ValidationKind::UnparseableJson, "no JSON"),
        (ValidationKind::MissingField, "field is missing"),
        (ValidationKind::WrongType, "wrong type"),
        (ValidationKind::UnknownTool, "no such tool"),
        (ValidationKind::MalformedClaim, "tag is malformed"),
        (ValidationKind::EmptyClaim, "tag is empty"),
        (ValidationKind::TruncatedResponse, "cut off"),
        (ValidationKind::BadStreamLine, "no event"),
    ];
    for (kind, words) in kinds {
        let failure = ValidationFailure::new(kind, "an object", "%", "of this kind");
        let told = validation(&failure, 1, 3);
        let first = told.lines().next().unwrap();
        assert!(first.contains(words) && first.contains("(1/3 in a row)"), "{told}");
        let evidence = validation_evidence(&failure);
        assert!(evidence.contains(words) && evidence.ends_with(": of this kind"), "{evidence}");
    }
}
