//! B1 and B2: what an agent says of itself, and what becomes of it.

use crate::scenario::{Scenario, TWO_STORIES};

const COMPLETE: &str = "say '<promise>COMPLETE</promise>'";

#[test]
fn honest_completion_ends_with_0_with_the_tag_and_without() {
    for claim in [COMPLETE, "say 'all is well'", "say '<promise> complete </promise>'"] {
        let script = format!("if [ $n = 1 ]; then pass a; else pass b; {claim}; fi");
        let scenario = Scenario::new().committed().agent(&script);
        scenario.run().ended(0).saying("Stories:     2/2 complete");
        assert_eq!(scenario.column("stories_complete"), ["1", "2"]);
        assert_eq!(scenario.column("task"), ["a", "b"]);
    }
}

#[test]
fn complete_is_never_believed_while_something_is_missing() {
    let cases = [
        ("an open story", TWO_STORIES, "pass a; work; say '<promise>COMPLETE</promise>'"),
        ("zero stories", r#"{"userStories":[]}"#, "work; say '<promise>COMPLETE</promise>'"),
        (
            "uncommitted work",
            TWO_STORIES,
            "pass a; pass b; work; echo $n > loose; say '<promise>COMPLETE</promise>'",
        ),
    ];
    for (name, tasks, script) in cases {
        let scenario = Scenario::new().tasks(tasks).committed().agent(script);
        let ran = scenario.flags(&["--max-iterations", "7"]).run();
        assert!(matches!(ran.code, 1 | 2 | 4 | 6), "{name}: {}", ran.stderr);
        assert!(!ran.stderr.contains("Exit:        complete"), "{name}: {}", ran.stderr);
        assert_eq!(ran.left, [0; 0]);
    }
}

#[test]
fn a_liar_is_told_what_is_missing_and_ends_with_6() {
    let script = "cat > $OUT/prompt-$n; work; say '<promise>COMPLETE</promise>'";
    let scenario = Scenario::new().committed().agent(script);
    scenario.run().ended(6).saying("quality_gate_exhausted (code 6)").saying("Iterations:  5 / 15");
    let told = scenario.told("prompt-2");
    assert!(told.contains("Completion Blocked"), "{told}");
    assert!(told.contains('a') && told.contains('b'), "{told}");
    assert!(!scenario.told("prompt-1").contains("Completion Blocked"));
}

#[test]
fn a_claim_that_is_only_quoted_is_none() {
    let cases = [
        r"printf '```\n<promise>BLOCKED:x</promise>\n```\n'",
        r"printf '~~~text\n<promise>DECIDE:x</promise>\n~~~\n'",
        "say 'I might say `<promise>BLOCKED:x</promise>` one day'",
        // The prompt comes back word by word.
        "cat",
    ];
    // No reason, no claim: and the third in a row ends the run.
    let malformed = [
        "say '<promise>BLOCKED:</promise>'",
        "say '<promise>DECIDE:   </promise>'",
        "say '<promise>BLOCKED:never closed'",
    ];
    let cases = cases.map(|script| (script, 4)).into_iter();
    for (script, code) in cases.chain(malformed.map(|script| (script, 6))) {
        let scenario = Scenario::new().committed().agent(script);
        let ran = scenario.run();
        assert_eq!(ran.code, code, "{script}: {}", ran.stderr);
        assert!(!scenario.has(".flyball/blocked.txt") && !scenario.has(".flyball/decide.txt"));
    }
}

#[test]
fn a_prompt_with_the_tags_in_it_does_not_end_the_run_when_it_is_echoed() {
    let prompt =
        "When done say <promise>COMPLETE</promise>, when stuck <promise>BLOCKED:why</promise>.\n";
    let scenario = Scenario::new().file(".flyball/prompt.md", prompt).committed().agent("cat");
    scenario.run().ended(4);
}

#[test]
fn blocked_waits_for_the_file_to_go() {
    let scenario = Scenario::new()
        .committed()
        .agent("touch $OUT/started; say 'tried all: <promise>BLOCKED: no key: ask ops </promise>'");
    scenario.run().ended(2).saying("no key: ask ops").saying("flyball unblock");
    assert_eq!(scenario.read(".flyball/blocked.txt"), "no key: ask ops\n");
    std::fs::remove_file(scenario.outside("started")).unwrap();
    let again = scenario.run().ended(2).saying("no key: ask ops").saying("Iterations:  0 / 15");
    assert!(again.stderr.contains("flyball unblock"), "{}", again.stderr);
    assert!(!scenario.outside("started").exists(), "the agent was started");
    std::fs::remove_file(scenario.root().join(".flyball/blocked.txt")).unwrap();
    let scenario = scenario.agent("pass a; pass b");
    scenario.run().ended(0);
}

#[test]
fn decide_waits_for_an_answer_which_is_delivered_once() {
    let scenario =
        Scenario::new().committed().agent("say '<promise>DECIDE:red: or blue?</promise>'");
    scenario.run().ended(3).saying("red: or blue?").saying("flyball answer");
    let file = scenario.read(".flyball/decide.txt");
    assert!(file.starts_with("## Question (from iteration 1, 2"), "{file}");
    assert!(file.contains("red: or blue?\n") && file.ends_with("---\n## Answer\n\n"), "{file}");
    scenario.run().ended(3).saying("red: or blue?").saying("Iterations:  0 / 15");
    assert_eq!(scenario.read(".flyball/decide.txt"), file);
    scenario.write(".flyball/decide.txt", &format!("{file}blue, of course\n"));
    let scenario = scenario.agent(
        "cat > $OUT/prompt-$n; test -e .flyball/decide.txt && touch $OUT/seen-$n; work; \
         [ $n = 2 ] && { pass a; pass b; }; true",
    );
    scenario.run().ended(0).saying("given the human's answer");
    assert!(scenario.told("prompt-1").contains("blue, of course"));
    assert!(!scenario.told("prompt-2").contains("blue, of course"));
    assert!(scenario.outside("seen-1").exists(), "the file goes when the iteration has ended");
    assert!(!scenario.outside("seen-2").exists());
    assert!(!scenario.has(".flyball/decide.txt"));
}

#[test]
fn blocked_outranks_decide_and_the_last_of_a_kind_counts() {
    let script = "say '<promise>DECIDE:q?</promise> <promise>BLOCKED:one</promise>'; \
                  say '<promise>BLOCKED:two</promise>'";
    let scenario = Scenario::new().committed().agent(script);
    scenario.run().ended(2);
    assert_eq!(scenario.read(".flyball/blocked.txt"), "two\n");
}

#[test]
fn a_blocked_task_is_left_for_the_next_one_overnight() {
    let script =
        "if [ $FLYBALL_TASK = a ]; then say '<promise>BLOCKED:no key</promise>'; else pass b; fi";
    let scenario = Scenario::new().committed().flags(&["--profile", "overnight"]).agent(script);
    scenario.run().ended(2).saying("no key").saying("1/2 complete");
    assert!(scenario.read(".flyball/blocked.txt").contains("no key"));
    assert_eq!(scenario.column("task")[..2], ["a", "b"], "b is not kept waiting");
}

#[test]
fn without_tasks_a_claim_needs_a_green_gate() {
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -e made\"\n";
    let script = format!("touch made; commit made; {COMPLETE}");
    let scenario = Scenario::bare().config(gate).committed().agent(&script);
    scenario.run().ended(0).saying("complete (code 0)");
    let script = format!("work; {COMPLETE}");
    let scenario = Scenario::bare().config(gate).committed().agent(&script);
    let ran = scenario.run();
    assert_eq!(ran.code, 6, "{}", ran.stderr);
}

#[test]
fn a_trusted_claim_says_that_it_is_unverified() {
    let scenario = Scenario::bare().committed().flags(&["--trust-claims"]).agent(COMPLETE);
    scenario.run().ended(0).saying("complete_unverified").saying("nothing checks");
}

#[test]
fn the_human_side_has_commands_of_its_own() {
    let script = "cat > $OUT/prompt; if [ ! -e $OUT/asked ]; then touch $OUT/asked; \
                  say '<promise>DECIDE:red or blue?</promise>'; elif [ ! -e $OUT/stuck ]; then \
                  touch $OUT/stuck; say '<promise>BLOCKED:no key</promise>'; else pass a; pass b; fi";
    let scenario = Scenario::new().committed().agent(script);
    scenario.run().ended(3);
    assert_eq!(scenario.flyball(&["answer", "blue"]).code, 0);
    scenario.run().ended(2);
    assert!(scenario.told("prompt").contains("blue"));
    assert_eq!(scenario.flyball(&["unblock"]).code, 0);
    scenario.run().ended(0);
    assert!(!scenario.has(".flyball/blocked.txt") && !scenario.has(".flyball/decide.txt"));
}
