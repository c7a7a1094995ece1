//! A human's word in between: `tell`, `limits`, `stop --after-iteration`, and the same after a death.

use serde_json::Value;

use crate::scenario::Scenario;

/// Waits in each iteration until somebody lets it go on.
const WAITS: &str = "cat > $OUT/prompt-$n; echo up > $OUT/up-$n\n\
                     while ! test -e $OUT/go-$n; do sleep 0.05; done; work";

fn waiting() -> Scenario {
    Scenario::new().committed().agent(WAITS)
}

fn go(scenario: &Scenario, iteration: u32) {
    std::fs::write(scenario.outside(&format!("go-{iteration}")), "").unwrap();
}

#[track_caller]
fn says(scenario: &Scenario, arguments: &[&str]) -> String {
    let ran = scenario.flyball(arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
    ran.stdout
}

#[test]
fn an_agent_that_listens_hears_it_at_once() {
    let listens =
        "read -r prompt; echo up > $OUT/up; read -r line; say \"$line\" > $OUT/heard; work";
    let scenario = Scenario::new()
        .committed()
        .flags(&["--once"])
        .env("FLYBALL_AGENT__STEER", "true")
        .speaker(listens);
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    let run = scenario.last_run().run;
    let said = says(&scenario, &["tell", "use \"sockets\""]);
    assert_eq!(said, format!("Told run {run}: its agent has been told.\n"));
    let ran = running.wait().ended(1);
    assert!(
        ran.stderr.contains("TELL") && ran.stderr.contains("use \"sockets\""),
        "{}",
        ran.stderr
    );
    let heard: Value = serde_json::from_str(&scenario.told("heard")).unwrap();
    assert_eq!(heard["type"], "steer");
    assert!(heard["text"].as_str().unwrap().starts_with("A human says: use \"sockets\"\n"));
}

#[test]
fn an_agent_that_only_asks_hears_it_with_the_next_answer() {
    let asks = r#"ask() { printf '{"type":"call","id":"%s","tool":"t","args":{}}' $1 |
      "$FLYBALL_BIN" hook flyball PreToolUse >> $OUT/answers; }
      ask 1; echo up > $OUT/up; while ! test -e $OUT/go-1; do sleep 0.05; done; ask 2; work"#;
    let scenario = Scenario::new()
        .committed()
        .flags(&["--once"])
        .env("FLYBALL_BIN", env!("CARGO_BIN_EXE_flyball"))
        .speaker(asks);
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    let said = says(&scenario, &["tell", "use sockets"]);
    assert!(said.contains("with the next answer of its hooks"), "{said}");
    go(&scenario, 1);
    running.wait().ended(1).saying("at its door");
    let answers = scenario.told("answers");
    let (first, second) = answers.trim().split_once('\n').unwrap();
    assert!(
        !first.contains("sockets") && second.contains("A human says: use sockets"),
        "{answers}"
    );
}

#[test]
fn any_other_agent_reads_it_in_the_next_briefing_and_only_there() {
    let scenario = waiting();
    let running = scenario.spawn();
    scenario.until_told("up-1", "up");
    let run = scenario.last_run().run.to_string();
    let said = says(&scenario, &["tell", &run, "use sockets"]);
    assert!(said.contains("the next briefing says it"), "{said}");
    go(&scenario, 1);
    scenario.until_told("up-2", "up");
    let prompt = scenario.told("prompt-2");
    assert!(prompt.contains("# A Human Says\nuse sockets\n"), "{prompt}");
    go(&scenario, 2);
    scenario.until_told("up-3", "up");
    assert!(!scenario.told("prompt-3").contains("use sockets"));
    says(&scenario, &["stop"]);
    running.wait().ended(143);
    let log = says(&scenario, &["log"]);
    assert!(log.contains("use sockets") && log.contains("next briefing says"), "{log}");
}

#[test]
fn a_word_survives_the_death_of_flyball() {
    let scenario = waiting();
    let running = scenario.spawn();
    scenario.until_told("up-1", "up");
    says(&scenario, &["tell", "use sockets"]);
    says(&scenario, &["limits", "iterations=2"]);
    running.signal(rustix::process::Signal::KILL);
    drop(running.wait());
    scenario.until_quiet();
    let running = scenario.spawn_resume(&[], &[]);
    scenario.until_told("up-2", "up");
    assert!(scenario.told("prompt-2").contains("use sockets"), "{}", scenario.told("prompt-2"));
    go(&scenario, 2);
    running.wait().ended(1).saying("exceeds maximum of 2");
}

#[test]
fn limits_of_a_run_at_work_are_shown_changed_and_refused() {
    let scenario = waiting().flags(&["--max-iterations", "1"]);
    let running = scenario.spawn();
    scenario.until_told("up-1", "up");
    let run = scenario.last_run().run.to_string();
    let shown = says(&scenario, &["limits"]);
    assert!(shown.contains("iterations         1\n") && shown.contains("runtime            4h\n"));
    let shown = says(&scenario, &["limits", &run, "limits.iterations=2", "runtime=2h"]);
    assert!(shown.contains("iterations         2\n") && shown.contains("runtime            2h\n"));
    let json: Value = serde_json::from_str(&says(&scenario, &["limits", "--json"])).unwrap();
    assert_eq!(json["limits"]["iterations"], 2);
    assert_eq!(scenario.last_run().max_iterations, 2);
    for (change, code, words) in [
        ("iteration=3", 64, "did you mean `iterations`?"),
        ("iterations=many", 64, "iterations"),
        ("stuck=0", 78, "`limits.stuck` must be at least 1"),
        ("cost_usd=5", 78, "prints plain text and tells no usage"),
    ] {
        let refused = scenario.flyball(&["limits", &run, change]);
        assert_eq!(refused.code, code, "{change}: {}", refused.stderr);
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    go(&scenario, 1);
    scenario.until_told("up-2", "up");
    go(&scenario, 2);
    running.wait().ended(1).saying("exceeds maximum of 2").saying("LIMITS");
    let late = scenario.flyball(&["limits", &run, "iterations=3"]);
    assert!(late.code == 66 && late.stderr.contains("has ended already"), "{}", late.stderr);
}

#[test]
fn a_budget_lowered_below_what_is_used_ends_the_session() {
    let spends = "usage 5000 0.01; echo up > $OUT/up; sleep 700";
    let scenario =
        Scenario::new().committed().env("FLYBALL_LIMITS__STOP_GRACE", "300ms").speaker(spends);
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    scenario.until_spent(5000);
    says(&scenario, &["limits", "tokens=4000"]);
    running.wait().ended(5).saying("max_tokens");
}

#[test]
fn a_run_ends_after_the_iteration_when_asked_and_can_go_on() {
    let scenario = waiting();
    let running = scenario.spawn();
    scenario.until_told("up-1", "up");
    let said = says(&scenario, &["stop", "--after-iteration"]);
    assert!(said.contains("ends once iteration 1 is over"), "{said}");
    go(&scenario, 1);
    running.wait().ended(143).saying("--after-iteration").saying("--resume");
    assert!(!scenario.column("commit_hash")[0].is_empty(), "its work was kept and judged");
    let running = scenario.spawn_resume(&[], &[]);
    scenario.until_told("up-2", "up");
    go(&scenario, 2);
    scenario.until_told("up-3", "up");
    running.signal(rustix::process::Signal::TERM);
    running.wait().ended(143);
}

#[test]
fn what_is_said_to_nobody_is_refused() {
    let scenario = Scenario::new().committed();
    for command in [&["tell", "x"][..], &["limits", "stuck=2"], &["stop", "--after-iteration"]] {
        let refused = scenario.flyball(command);
        assert_eq!(refused.code, 66, "{command:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("no run is at work in"), "{}", refused.stderr);
    }
    assert_eq!(scenario.flyball(&["tell", " "]).code, 64);
    assert_eq!(scenario.flyball(&["tell", &"x".repeat(4001)]).code, 64);
    assert_eq!(scenario.flyball(&["tell", "two", "words", "more"]).code, 64);
    assert_eq!(scenario.flyball(&["tell", "no-such-run", "x"]).code, 66);
}

#[test]
fn the_agent_cannot_say_it_in_a_humans_place() {
    let tries = r#"for c in "tell x" "limits iterations=99" "stop --after-iteration" "attach" "run --detach"; do
        "$FLYBALL_BIN" $c >> $OUT/tried 2>&1; echo "code $?" >> $OUT/tried; done; work"#;
    let scenario = Scenario::new()
        .committed()
        .flags(&["--once"])
        .env("FLYBALL_BIN", env!("CARGO_BIN_EXE_flyball"))
        .agent(tries);
    scenario.run().ended(1);
    let tried = scenario.told("tried");
    assert_eq!(tried.matches("is for humans").count(), 5, "{tried}");
    assert_eq!(tried.matches("code 64").count(), 5, "{tried}");
}
