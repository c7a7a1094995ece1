//! Advice reaches the agent by the next door it has (A9), and what counts at which door (A4, A5).

use crate::scenario::Scenario;

/// Calls the same thing three times, which is worth a word.
const THRICE: &str =
    "for i in 1 2 3; do call $i read '{\"path\":\"x\"}'; result $i 'the same' null; done";

/// An agent that listens on its standard input; each line it hears after the prompt goes to a file.
fn listener(script: &str) -> Scenario {
    let script = format!(
        "read -r prompt; hear() {{ read -r line; say \"$line\" >> $OUT/heard; }}\n{script}"
    );
    Scenario::new()
        .committed()
        .flags(&["--once"])
        .env("FLYBALL_AGENT__STEER", "true")
        .speaker(&script)
}

#[test]
fn a_nudge_is_pushed_to_an_agent_that_listens() {
    let scenario = listener(&format!("{THRICE}; hear; work"));
    let ran = scenario.run();
    assert!(ran.stderr.contains("NUDGE"), "{}", ran.stderr);
    let heard = scenario.told("heard");
    assert!(heard.contains(r#""type":"steer""#), "{heard}");
    assert!(heard.contains("the last 3 calls of tool 'read'"), "{heard}");
    assert!(heard.contains("The last tool, 'read', succeeded"), "{heard}");
}

#[test]
fn what_was_not_understood_and_a_full_context_are_pushed_too() {
    let bad = r#"printf '{"type":"invalid","error":"no JSON","received":"{"}\n'"#;
    let full = r#"printf '{"type":"usage","context_used":0.75}\n'"#;
    let scenario = listener(&format!("{bad}; hear; {full}; hear; work"));
    scenario.run();
    let heard = scenario.told("heard");
    assert!(heard.contains("Your last output could not be used"), "{heard}");
    assert!(heard.contains("WARNING: 70% of the context window is used"), "{heard}");
}

#[test]
fn a_stalled_agent_is_told_first_where_it_listens_and_then_stopped() {
    let quiet = |script: &str| listener(script).env("FLYBALL_LIMITS__STALL_AFTER", "2s");
    // One that takes the hint goes on.
    let scenario = quiet(&format!("{THRICE}; hear; hear; text on it; work"));
    scenario.run();
    let heard = scenario.told("heard");
    assert!(heard.contains("stalled after"), "{heard}");
    assert!(heard.contains("The last tool, 'read', succeeded"), "{heard}");
    assert!(heard.contains("The session has been going for"), "{heard}");
    assert_eq!(scenario.column("outcome"), ["unchecked"]);
    // One that does not is given the same time again.
    let scenario = quiet("text hello; hear; sleep 700");
    let ran = scenario.run();
    assert!(scenario.told("heard").contains("stalled after"), "{}", ran.stderr);
    assert!(ran.stderr.contains("NUDGE") && ran.stderr.contains("HALT"), "{}", ran.stderr);
    assert_eq!(scenario.column("outcome"), ["stalled"]);
}

#[test]
fn advice_nobody_could_hear_stands_in_the_next_briefing_and_is_announced_there() {
    let script = format!("cat > $OUT/prompt-$n; [ $n = 1 ] && {{ {THRICE}; }}; work");
    let scenario = Scenario::new().committed().flags(&["--max-iterations", "2"]).speaker(&script);
    let ran = scenario.run();
    let briefed = scenario.told("prompt-2");
    assert!(briefed.contains("# Advice From The Last Session\nThat session lasted"), "{briefed}");
    assert!(briefed.contains("the last 3 calls of tool 'read'"), "{briefed}");
    // Seen at once, given later.
    let noticed = ran.stderr.find("NOTICE").expect("a notice");
    let given = ran.stderr.find("NUDGE").expect("a nudge");
    assert!(noticed < given, "{}", ran.stderr);
}

#[test]
fn the_answer_to_the_next_question_carries_advice_in_the_clients_words() {
    let ask = "printf '{\"id\":\"q\",\"tool\":\"read\",\"args\":{\"path\":\"y\"}}' \
               | flyball hook flyball PreToolUse > $OUT/answer";
    let flyball = env!("CARGO_BIN_EXE_flyball");
    let script = format!(
        "cat > /dev/null; flyball() {{ {flyball} \"$@\"; }}; {THRICE}\n\
         # The run has read all of it once the question is answered.\n\
         until {ask}; grep -q nudge $OUT/answer; do :; done; work"
    );
    let scenario = Scenario::new().committed().flags(&["--once"]).speaker(&script);
    let ran = scenario.run();
    let answer = scenario.told("answer");
    assert!(answer.contains(r#""verdict":"nudge""#), "{answer}");
    assert!(answer.contains("the last 3 calls of tool 'read'"), "{answer}");
    assert!(ran.stderr.contains("NUDGE"), "{}", ran.stderr);
}

#[test]
fn words_said_again_and_again_are_told() {
    let chant = "i=0; while [ $i -lt 30 ]; do i=$((i + 1)); text I am stuck now.; done";
    let script = format!("cat > $OUT/prompt-$n; [ $n = 1 ] && {{ {chant}; }}; work");
    let scenario = Scenario::new().committed().flags(&["--max-iterations", "2"]).speaker(&script);
    scenario.run();
    let briefed = scenario.told("prompt-2");
    assert!(briefed.contains("the same words 30 times in a row: \"I am stuck now.\""), "{briefed}");
    // A plain-text agent is heard as well.
    let script = "cat > $OUT/prompt-$n; [ $n = 1 ] && yes 'I am stuck now.' | head -n 30; work";
    let scenario = Scenario::new().committed().flags(&["--max-iterations", "2"]).agent(script);
    scenario.run();
    let briefed = scenario.told("prompt-2");
    assert!(briefed.contains("the same words 30 times in a row: \"I am stuck now.\""), "{briefed}");
}

#[test]
fn calls_that_are_none_count_in_the_stream_of_the_own_protocol() {
    let bad = r#"printf '{"type":"call","id":"1","args":{}}\n{"type":"call","id":"2","tool":"t","args":[]}\n{"type":"call","id":"3","args":{}}\n'"#;
    let scenario = Scenario::new()
        .committed()
        .env("FLYBALL_ITERATIONS__ON_SESSION_HALT", "stop")
        .speaker(&format!("{bad}; sleep 700"));
    scenario.run().ended(6).saying("validation_failure").saying("a required field is missing");
}

#[test]
fn calls_that_did_not_run_count_for_nothing_and_a_round_counts_once() {
    let call = r#"printf '{"type":"call","id":"%s","tool":"t","args":{"n":%s},"round":"%s"}\n'"#;
    // Eight rounds: one call fails, its siblings are cancelled; two rounds of five failing calls.
    let script = format!(
        "r=0; while [ $r -lt 2 ]; do r=$((r + 1))\n\
         for i in 1 2 3 4 5; do {call} $r$i $i $r; done\n\
         for i in 1 2 3 4 5; do result $r$i 'no server' '\"tool\"'; done; done\n\
         for i in 1 2 3 4 5 6 7 8; do {call} x$i 9$i x; result x$i cancelled '\"refused\"'; done\n\
         work"
    );
    let scenario = Scenario::new().committed().flags(&["--once"]).speaker(&script);
    let ran = scenario.run();
    assert!(!ran.stderr.contains("tool_failures"), "{}", ran.stderr);
    assert_eq!(scenario.column("outcome"), ["unchecked"]);
}

#[test]
fn calls_refused_at_the_door_are_counted_one_by_one() {
    let flyball = env!("CARGO_BIN_EXE_flyball");
    // Shows each call, asks about it, and shows no result of a refused one.
    let script = format!(
        "cat > /dev/null; i=0; while [ $i -lt 7 ]; do i=$((i + 1)); call $i read '{{\"path\":\"x\"}}'\n\
         printf '{{\"id\":\"%s\",\"tool\":\"read\",\"args\":{{\"path\":\"x\"}}}}' $i \
         | {flyball} hook flyball PreToolUse > $OUT/answer-$i\n\
         grep -q refuse $OUT/answer-$i && continue; result $i 'the same' null\n\
         printf '{{\"id\":\"%s\",\"output\":\"the same\"}}' $i \
         | {flyball} hook flyball PostToolUse > /dev/null; done; work"
    );
    let scenario = Scenario::new().committed().flags(&["--once"]).speaker(&script);
    scenario.run();
    for (number, words) in
        [(6, "called 6 times consecutively"), (7, "called 7 times consecutively")]
    {
        let answer = scenario.told(&format!("answer-{number}"));
        assert!(answer.contains(words), "{number}: {answer}");
    }
}
