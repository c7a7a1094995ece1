//! The call ring from outside, by agents that speak `output = "flyball"`.

use crate::scenario::Scenario;

/// Calls the same thing so many times.
fn repeat(times: u32) -> String {
    format!(
        "i=0; while [ $i -lt {times} ]; do i=$((i+1)); call $i bash '{{\"command\":\"ls\"}}'; result $i same null; done"
    )
}

#[test]
fn repetition_is_nudged_refused_and_halted_and_opens_the_breaker() {
    let script = format!("{}; sleep 700", repeat(9));
    let scenario = Scenario::new().committed().speaker(&script);
    let ran = scenario.run().ended(6).saying("circuit_breaker (code 6)");
    for words in ["NUDGE", "REFUSE", "HALT"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    let sentence = "tool 'bash' called 6 times consecutively with identical parameters";
    assert!(ran.stderr.contains(sentence), "{}", ran.stderr);
    assert_eq!(scenario.column("outcome"), ["repetition_loop"; 3]);
}

#[test]
fn an_argument_the_user_calls_free_text_does_not_hide_a_repetition() {
    let script = "for i in 1 2 3; do call $i bash \"{\\\"command\\\":\\\"ls\\\",\\\"memo\\\":$i}\"; \
                  result $i same null; done";
    let scenario = || Scenario::new().committed().speaker(script);
    assert!(!scenario().run().stderr.contains("NUDGE"));
    let told = scenario().env("FLYBALL_CALLS__FREE_TEXT", r#"["memo"]"#).run();
    assert!(told.stderr.contains("NUDGE"), "{}", told.stderr);
}

#[test]
fn a_halted_session_ends_the_run_where_the_user_says_so() {
    let cases = [
        ("repetition_loop", repeat(9)),
        (
            "validation_failure",
            "for i in 1 2 3; do printf '{\"type\":\"invalid\",\"error\":\"no JSON\",\"received\":\"{\"}\\n'; done"
                .to_owned(),
        ),
        (
            "validation_failure",
            "text hello; for i in 1 2 3; do printf 'rubbish\\n{\"type\":\"usage\"}\\n'; done".to_owned(),
        ),
        (
            "consecutive_failures",
            "for i in 1 2 3 4 5; do call $i bash \"{\\\"n\\\":$i}\"; result $i bad '\"tool\"'; done"
                .to_owned(),
        ),
    ];
    for (outcome, script) in cases {
        let scenario = Scenario::new()
            .committed()
            .env("FLYBALL_ITERATIONS__ON_SESSION_HALT", "stop")
            .speaker(&format!("{script}; sleep 700"));
        let ran = scenario.run();
        assert_eq!(ran.code, 6, "{outcome}: {}", ran.stderr);
        ran.ended(6).saying(&format!("{outcome} (code 6)"));
    }
}

#[test]
fn the_next_session_is_told_why_the_last_one_was_stopped() {
    let script = format!(
        "cat > $OUT/prompt-$n; if [ $n = 1 ]; then {}; sleep 700; fi; pass a; pass b; text done",
        repeat(9)
    );
    let scenario = Scenario::new().committed().speaker(&script);
    scenario.run().ended(0).saying("Iterations:  2 / 15");
    let told = scenario.told("prompt-2");
    assert!(told.contains("bash") && told.contains("identical"), "{told}");
}

#[test]
fn what_must_not_trip_does_not() {
    let cases = [
        ("five calls run", repeat(5)),
        (
            "a call in between ends the streak",
            "for i in 1 2 3 4 5 6 7 8; do call $i a '{}'; result $i $i null; call x$i b \"{\\\"n\\\":$i}\"; result x$i $i null; done"
                .to_owned(),
        ),
        (
            "a failing test is no failure of the tool",
            "for i in 1 2 3 4 5 6 7; do call $i t \"{\\\"n\\\":$i}\"; result $i red$i '\"exit\"'; done"
                .to_owned(),
        ),
        (
            "a success resets the failures",
            "for i in 1 2 3 4 5 6 7 8; do call $i t \"{\\\"n\\\":$i}\"; if [ $i = 4 ]; then result $i ok$i null; else result $i bad$i '\"tool\"'; fi; done"
                .to_owned(),
        ),
        (
            "banners before the first event",
            "say 'Welcome to agent 3.1'; say; say '{not json'; say 'starting'; text hello"
                .to_owned(),
        ),
        (
            "adjacent bad lines are one failure",
            "text a; for i in 1 2 3 4 5 6; do say rubbish; done".to_owned(),
        ),
    ];
    for (name, script) in cases {
        let script = format!("{script}; pass a; pass b; text done");
        let scenario = Scenario::new().committed().speaker(&script);
        let ran = scenario.run();
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
        ran.ended(0).silent_on("HALT").silent_on("REFUSE");
    }
}

#[test]
fn a_claim_counts_in_final_words_only() {
    let script = "text '<promise>BLOCKED:early</promise>'; call 1 bash '{}'; \
                  result 1 '<promise>BLOCKED:from a tool</promise>' null; pass a; pass b; text done";
    let scenario = Scenario::new().committed().speaker(script);
    scenario.run().ended(0);
    let scenario = Scenario::new().committed().speaker("text '<promise>BLOCKED:late</promise>'");
    scenario.run().ended(2).saying("late");
}

#[test]
fn a_usage_limit_is_waited_for_and_is_no_iteration() {
    let script = "if [ ! -e $OUT/limited ]; then touch $OUT/limited; \
        printf '{\"type\":\"limit\",\"resets_at\":\"%s\"}\\n' $(date -u -d '+2 seconds' +%FT%TZ); exit 1; \
        fi; pass a; pass b; text done";
    let scenario = Scenario::new().committed().speaker(script);
    let ran = scenario.run().ended(0).saying("WAIT").saying("Iterations:  1 / 15");
    assert!(ran.stderr.contains("Stuck iters: 0"), "{}", ran.stderr);
    assert_eq!(scenario.column("iteration"), ["1"]);
}

#[test]
fn a_usage_limit_beyond_the_allowed_wait_ends_with_7() {
    let script = "printf '{\"type\":\"limit\",\"resets_at\":\"%s\"}\\n' $(date -u -d '+2 hours' +%FT%TZ); exit 1";
    let scenario = Scenario::new().committed().env("FLYBALL_LIMITS__WAIT", "1h").speaker(script);
    scenario.run().ended(7).saying("usage_limit (code 7)").saying("--resume");
}

#[test]
fn a_full_context_is_told_once_for_each_step() {
    let script = "for share in 0.51 0.55 0.72 0.60 0.95; do \
        printf '{\"type\":\"usage\",\"context_used\":%s}\\n' $share; done; pass a; pass b; text done";
    let ran = Scenario::new().committed().speaker(script).run().ended(0);
    assert_eq!(ran.stderr.matches("of the context window").count(), 3, "{}", ran.stderr);
}
