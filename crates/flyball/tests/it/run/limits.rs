//! B4 and A6: limits hold during an iteration, not only between.

use crate::scenario::{Scenario, timed};

#[test]
fn runtime_ends_a_sleeping_agent_within_seconds() {
    let scenario = Scenario::new().committed().flags(&["--max-runtime", "2s"]).agent("sleep 700");
    let (ran, took) = timed(|| scenario.run());
    ran.ended(5).saying("max_runtime (code 5)").saying("Iterations:  1 / 15");
    assert!((2000..12_000).contains(&took), "took {took} ms");
}

#[test]
fn runtime_is_checked_before_the_next_iteration_too() {
    let scenario =
        Scenario::new().committed().flags(&["--max-runtime", "1s"]).agent("work; sleep 0.3");
    let ran = scenario.run();
    assert_eq!(ran.code, 5, "{}", ran.stderr);
}

#[test]
fn an_iteration_that_takes_too_long_is_stopped_and_the_next_one_told() {
    let scenario = Scenario::new()
        .committed()
        .env("FLYBALL_LIMITS__ITERATION_TIMEOUT", "500ms")
        .agent("cat > $OUT/prompt-$n; if [ $n = 1 ]; then sleep 700; fi; pass a; pass b");
    scenario.run().ended(0).saying("Iterations:  2 / 15");
    assert_eq!(scenario.column("outcome"), ["stalled", "unchecked"]);
    assert!(scenario.told("prompt-2").len() > scenario.told("prompt-1").len());
}

#[test]
fn an_agent_that_always_takes_too_long_opens_the_breaker() {
    let scenario = Scenario::new()
        .committed()
        .env("FLYBALL_LIMITS__ITERATION_TIMEOUT", "200ms")
        .agent("sleep 700");
    scenario.run().ended(6).saying("circuit_breaker");
}

#[test]
fn a_silent_idle_speaker_is_stalled() {
    let scenario = Scenario::new()
        .committed()
        .env("FLYBALL_LIMITS__STALL_AFTER", "1s")
        .flags(&["--once"])
        .speaker("text hello; sleep 700");
    scenario.run().ended(1).saying("no sign of life");
    assert_eq!(scenario.column("outcome"), ["stalled"]);
}

#[test]
fn a_silent_but_busy_agent_is_left_alone() {
    let busy = "text hello; s=$(date +%s); while [ $(($(date +%s) - s)) -lt 4 ]; do :; done; \
                pass a; pass b; text done";
    let scenario =
        Scenario::new().committed().env("FLYBALL_LIMITS__STALL_AFTER", "1s").speaker(busy);
    scenario.run().ended(0).silent_on("no sign of life");
}

#[test]
fn a_slow_but_talking_agent_is_left_alone() {
    let slow = "for i in 1 2 3 4 5 6; do text $i; sleep 0.4; done; pass a; pass b";
    let scenario =
        Scenario::new().committed().env("FLYBALL_LIMITS__STALL_AFTER", "1500ms").speaker(slow);
    scenario.run().ended(0).silent_on("no sign of life");
}

#[test]
fn a_plain_agent_may_think_as_long_as_an_iteration_may_last() {
    let scenario = Scenario::new().committed().agent("sleep 2; pass a; pass b");
    scenario.run().ended(0);
}

#[test]
fn tokens_end_the_session_in_the_middle_and_its_work_is_kept() {
    let script = "echo half > half; for i in 1 2 3 4 5; do usage 400 0.1; done; sleep 700";
    let scenario = Scenario::new().committed().flags(&["--max-tokens", "1000"]).speaker(script);
    scenario.run().ended(5).saying("max_tokens (code 5)").saying("tokens");
    let run = scenario.last_run();
    assert!((1000..=2000).contains(&run.state.tokens), "{}", run.state.tokens);
    let kept = scenario.git(&["show", &format!("refs/flyball/{}/1:half", run.run)]);
    assert_eq!(kept, "half\n");
}

#[test]
fn cost_ends_the_session_in_the_middle() {
    let script = "for i in 1 2 3 4 5; do usage 1 0.30; done; sleep 700";
    let scenario = Scenario::new().committed().flags(&["--max-cost", "1"]).speaker(script);
    scenario.run().ended(5).saying("max_cost (code 5)").saying("$1.");
}

#[test]
fn what_is_spent_adds_up_over_iterations() {
    let scenario = Scenario::new()
        .committed()
        .flags(&["--max-tokens", "1000"])
        .speaker("usage 300 0.01; work; text ok");
    scenario.run().ended(5);
    assert_eq!(scenario.column("tokens")[..3], ["300", "300", "300"]);
    assert_eq!(scenario.column("cost_usd")[0], "0.0100");
}
