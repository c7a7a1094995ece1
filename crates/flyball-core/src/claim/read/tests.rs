//! Claims, what is none, and texts made to be slow.

use proptest::prelude::*;

use super::*;

fn complete() -> ClaimReading {
    ClaimReading { complete: true, ..ClaimReading::default() }
}

fn kinds(reading: &ClaimReading) -> Vec<ValidationKind> {
    reading.failures.iter().map(|failure| failure.kind).collect()
}

#[test]
fn claims_are_read() {
    let cases = [
        ("<promise>COMPLETE</promise>", complete()),
        ("<promise> Complete </promise>", complete()),
        ("<promise>\nCOMPLETE\n</promise>", complete()),
        ("<promise>COMPLETE: all stories pass</promise>", complete()),
        (
            "<promise>decide : use `a` or `b`?</promise>",
            ClaimReading { decide: Some("use `a` or `b`?".into()), ..ClaimReading::default() },
        ),
        (
            "<promise>BLOCKED:\r\n```\nno key\n```\n</promise>",
            ClaimReading { blocked: Some("```\nno key\n```".into()), ..ClaimReading::default() },
        ),
        (
            "<promise>BLOCKED:a < b && </p></promise>",
            ClaimReading { blocked: Some("a < b && </p>".into()), ..ClaimReading::default() },
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(read_structured(text), wanted, "{text}");
    }
}

#[test]
fn what_is_quoted_or_only_talked_about_is_no_claim() {
    let cases = [
        "",
        "done",
        "`<promise>COMPLETE</promise>`",
        "``<promise>`COMPLETE</promise>``",
        "`say\n<promise>COMPLETE</promise>`",
        "```\n<promise>COMPLETE</promise>",
        "~~~~\n~~~\n<promise>COMPLETE</promise>\n~~~~",
        "  ```text\n<promise>BLOCKED:x</promise>\n  ```",
        "close it with </promise> please",
        "<Promise>COMPLETE</Promise>",
        "< promise>COMPLETE</promise>",
        "&lt;promise>COMPLETE",
    ];
    for text in cases {
        assert_eq!(read_structured(text), ClaimReading::default(), "{text}");
    }
}

#[test]
fn a_tag_that_is_no_claim_is_a_failure_that_says_what_came() {
    use ValidationKind::{EmptyClaim, MalformedClaim};
    let cases = [
        ("<promise>BLOCKED</promise>", EmptyClaim, "<promise>BLOCKED</promise>"),
        ("<promise>DECIDE: \n</promise>", EmptyClaim, "<promise>DECIDE: \n</promise>"),
        ("<promise></promise>", MalformedClaim, "<promise></promise>"),
        ("<promise>:x</promise>", MalformedClaim, "<promise>:x</promise>"),
        ("<promise>BLOCKED no key</promise>", MalformedClaim, "<promise>BLOCKED no key</promise>"),
        ("I use the <promise> tag.", MalformedClaim, "<promise> tag."),
        ("<promise>COMPLETE `</promise>`", MalformedClaim, "<promise>COMPLETE `</promise>`"),
    ];
    for (text, kind, received) in cases {
        let reading = read_structured(text);
        assert_eq!(kinds(&reading), [kind], "{text}");
        assert_eq!(reading.failures[0].received, received);
        assert!(!reading.complete && reading.blocked.is_none() && reading.decide.is_none());
    }
}

#[test]
fn a_tag_mentioned_in_prose_does_not_swallow_the_claim_after_it() {
    let reading = read_structured("I close with a <promise> tag:\n<promise>COMPLETE</promise>");
    assert!(reading.complete);
    assert_eq!(kinds(&reading), [ValidationKind::MalformedClaim]);
}

#[test]
fn an_empty_claim_does_not_take_back_an_earlier_one() {
    let reading = read_structured("<promise>BLOCKED:x</promise><promise>BLOCKED:</promise>");
    assert_eq!(reading.blocked.as_deref(), Some("x"));
    assert_eq!(kinds(&reading), [ValidationKind::EmptyClaim]);
}

#[test]
fn only_echoed_lines_that_hold_more_than_the_tag_are_taken_out() {
    let prompt = "Say <promise>COMPLETE</promise> when done.\n<promise>COMPLETE</promise>\n\
                  ```\n- <promise>DECIDE:\n  your question</promise>\n```<promise>\n";
    let cases = [
        ("  Say <promise>COMPLETE</promise> when done.  \r\n", ClaimReading::default()),
        ("- <promise>DECIDE:\n  your question</promise>\n", ClaimReading::default()),
        ("Say <promise>COMPLETE</promise> when done!", complete()),
        ("<promise>COMPLETE</promise>", complete()),
        // The fence of the prompt is not taken out of the agent's text.
        ("```\n<promise>COMPLETE</promise>\n```", ClaimReading::default()),
        ("```<promise>\n<promise>COMPLETE</promise>\n```", ClaimReading::default()),
    ];
    for (text, wanted) in cases {
        assert_eq!(read_plain(text, prompt), wanted, "{text}");
    }
}

#[test]
fn long_words_are_cut_and_say_so() {
    let text = std::format!("<promise>BLOCKED:{}</promise>", "ä".repeat(MAX_CLAIM + 5));
    let reason = read_structured(&text).blocked.unwrap();
    assert!(reason.ends_with("… (5 more characters)"));
    let text = "<promise>".repeat(5) + &"x".repeat(500);
    let reading = read_structured(&text);
    assert!(reading.failures.iter().all(|f| f.received.chars().count() <= MAX_RECEIVED));
}

#[test]
fn texts_made_to_be_slow_are_read_once() {
    let many = 200_000;
    let ticks: String = (1..600).map(|n| "`".repeat(n) + " ").collect();
    let texts = [
        "<promise>".repeat(many),
        "</promise><promise>".repeat(many),
        "`".repeat(many),
        "` ``".repeat(many),
        "```\n".repeat(many),
        "~~~\n~~~x\n".repeat(many),
        ticks.repeat(2) + "<promise>",
        "<".repeat(many),
    ];
    for text in texts {
        let text = text + "\n<promise>x";
        assert!(read_plain(&text, &text).failures.len() <= 2);
    }
}

proptest! {
    #[test]
    fn no_text_is_too_strange(
        text in "(<promise>|</promise>|COMPLETE|BLOCKED|DECIDE|:|`|```|~~~|\n| |é|x){0,30}",
        prompt in "(<promise>|</promise>|COMPLETE|`|```|\n|x){0,10}",
    ) {
        let _: bool = read_plain(&text, &prompt).complete;
        prop_assert!(read_structured(&text).failures.len() <= 2);
    }

    #[test]
    fn a_reason_comes_out_as_it_went_in(reason in "[a-z:.,?<> \\n]{0,40}") {
        let reading = read_structured(&std::format!("<promise>BLOCKED:{reason}</promise>"));
        let wanted = Some(reason.trim()).filter(|reason| !reason.is_empty());
        prop_assert_eq!(reading.blocked.as_deref(), wanted);
    }

    #[test]
    fn nothing_inside_a_fence_is_a_claim(inside in "[a-zA-Z<>/:\\n ]{0,60}") {
        let text = std::format!("````\n{inside}<promise>COMPLETE</promise>\n````\n");
        prop_assert_eq!(read_structured(&text), ClaimReading::default());
    }
}
