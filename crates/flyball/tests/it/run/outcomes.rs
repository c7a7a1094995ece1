//! Each outcome has its own next steps, with the evidence in them, and no false words (S2).

use std::collections::BTreeSet;

use crate::scenario::Scenario;

const RED: &str = "[[gates.check]]\nname = \"tests\"\ncommand = \"exit 1\"\n";

/// A gate whose failing tests are counted in a file.
fn counted() -> Scenario {
    let script = "f=$(cat failed); echo \"test result: FAILED. $((10 - f)) passed; $f failed; \
                  0 ignored; 0 measured; 0 filtered out; finished in 0.00s\"; [ \"$f\" = 0 ]";
    Scenario::new()
        .file("failed", "1")
        .file("score.sh", script)
        .config("[[gates.check]]\nname = \"tests\"\ncommand = \"sh score.sh\"\n")
        .committed()
        .env("FLYBALL_ITERATIONS__CIRCUIT_BREAKER", "9")
}

fn halting(script: &str) -> Scenario {
    Scenario::new()
        .committed()
        .env("FLYBALL_ITERATIONS__ON_SESSION_HALT", "stop")
        .env("FLYBALL_LIMITS__STALL_AFTER", "2s")
        .speaker(&format!("{script}; sleep 700"))
}

/// An outcome, its exit code, how it is reached, and what is said of it.
type Case = (&'static str, i32, Scenario, &'static [&'static str]);

/// Every guard that ends a run, with its own words.
fn cases() -> [Case; 8] {
    let repeat = "i=0; while [ $i -lt 9 ]; do i=$((i+1)); call $i read '{\"path\":\"x\"}'; \
                  result $i same null; done";
    let nonsense = "for i in 1 2 3; do printf '{\"type\":\"invalid\",\"error\":\"no JSON\",\
                    \"received\":\"{\"}\\n'; done";
    let failing = "for i in 1 2 3 4 5; do call $i bash \"{\\\"n\\\":$i}\"; \
                   result $i 'the server is gone' '\"tool\"'; done";
    [
        (
            "stuck",
            4,
            Scenario::new().committed().agent("true"),
            &["the last 3 iterations at task a did instead of committing", "--profile overnight"],
        ),
        (
            "circuit_breaker",
            6,
            Scenario::new().config(RED).committed().agent("work"),
            &["see what stays red (red: tests", "flyball gate", "give task a a smaller first step"],
        ),
        (
            "quality_regression",
            6,
            counted().agent("echo $((n + 1)) > failed; work"),
            &["see where it turned: ", "flyball rewind", "begin from the better tree"],
        ),
        (
            "thrashing",
            6,
            Scenario::new()
                .config("[[gates.check]]\nname = \"tests\"\ncommand = \"exit 1\"\n")
                .committed()
                .env("FLYBALL_ITERATIONS__CIRCUIT_BREAKER", "9")
                .env("FLYBALL_ITERATIONS__REGRESSION_WINDOW", "9")
                .agent("echo $n > a.txt; commit $n"),
            &["look at a.txt (5 red iterations)", "what usually helps: one small failing test"],
        ),
        (
            "repetition_loop",
            6,
            halting(repeat),
            &[
                "see the call it repeated (the last 7 calls of tool 'read' had identical parameters",
                "put what it looked for into the story or the prompt",
            ],
        ),
        (
            "stalled",
            6,
            halting("text hello"),
            &["see what it waited for (no sign of life for", "raise `limits.stall_after`"],
        ),
        (
            "validation_failure",
            6,
            halting(nonsense),
            &[
                "see what could not be understood (the arguments are no JSON: no JSON)",
                "check that `agent.output` names the format the agent speaks",
            ],
        ),
        (
            "consecutive_failures",
            6,
            halting(failing),
            &[
                "see which tool failed and how (5 tool calls failed in a row, last of them 'bash')",
                "a server that is down",
            ],
        ),
    ]
}

#[test]
fn the_eight_guards_each_say_what_to_look_at_and_what_to_type() {
    let mut texts = BTreeSet::new();
    for (outcome, code, scenario, words) in cases() {
        let ran = scenario.run().ended(code).saying(&format!("{outcome} (code {code})"));
        let run = scenario.last_run().run.to_string();
        let log = scenario.flyball(&["log"]).stdout;
        let status = scenario.flyball(&["status", "--json"]).stdout;
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        let steps = status["runs"][0]["ending"]["next_steps"].as_array().unwrap().clone();
        let steps: Vec<&str> = steps.iter().map(|step| step.as_str().unwrap()).collect();
        let all = steps.join("\n");
        for word in words {
            assert!(all.contains(word), "{outcome}: {word} in {all}");
            assert!(ran.stderr.contains(word), "{outcome}: {word} in {}", ran.stderr);
            assert!(log.contains(word), "{outcome}: {word} in {log}");
        }
        assert!(all.contains(&format!("flyball run --resume {run}")), "{outcome}: {all}");
        // What is to be looked at can be looked at.
        if let Some(at) = all.find("--iteration ") {
            let number: String =
                all[at + "--iteration ".len()..].chars().take_while(char::is_ascii_digit).collect();
            let shown = scenario.flyball(&["log", &run, "--iteration", &number]);
            assert_eq!(shown.code, 0, "{outcome}: {}", shown.stderr);
        }
        if outcome != "circuit_breaker" {
            assert!(!ran.stderr.contains("Circuit breaker"), "{outcome}: {}", ran.stderr);
        }
        assert!(texts.insert(all.replace(&run, "RUN")), "{outcome} says what another one says");
    }
}

#[test]
fn counts_agree_with_the_screen() {
    let scenario = Scenario::new()
        .config(RED)
        .committed()
        .env("FLYBALL_ITERATIONS__CIRCUIT_BREAKER", "20")
        .env("FLYBALL_ITERATIONS__REGRESSION_WINDOW", "20")
        .env("FLYBALL_ITERATIONS__THRASHING", "20")
        .agent("work; say '<promise>COMPLETE</promise>'");
    let ran = scenario.run().ended(6).saying("quality_gate_exhausted");
    let refused = ran.stderr.lines().filter(|line| line.contains("REFUSE")).count();
    assert_eq!(refused, 5, "{}", ran.stderr);
    assert!(ran.stderr.contains("see why 5 claims were refused"), "{}", ran.stderr);
    assert!(ran.stderr.contains("Iterations:  5 / 15"), "{}", ran.stderr);
    assert_eq!(scenario.csv().len(), 5);
    let status = scenario.flyball(&["status", "--json"]).stdout;
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["runs"][0]["calls"]["guards"]["completion"]["refused"], 5, "{status}");
}

#[test]
fn a_refused_completion_answers_the_storys_title() {
    let script = "cat > $OUT/prompt-$n; work; say '<promise>COMPLETE</promise>'";
    let scenario =
        Scenario::new().config(RED).committed().flags(&["--max-iterations", "2"]).agent(script);
    scenario.run();
    let briefed = scenario.told("prompt-2");
    assert!(briefed.contains("# Completion Blocked"), "{briefed}");
    assert!(briefed.contains("This answers the request: a: do a"), "{briefed}");
}

#[test]
fn what_nothing_checked_has_passed_in_no_output() {
    let scenario = Scenario::new().committed().flags(&["--once", "--format", "json"]).agent("work");
    let ran = scenario.run();
    let lines = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<serde_json::Value> = lines.collect();
    assert!(!lines.is_empty(), "{}", ran.stderr);
    for text in [ran.stdout.as_str(), &ran.stderr, &scenario.read(".flyball/logs/summary.csv")] {
        assert!(!text.contains("passed\"") && !text.contains(",passed,"), "{text}");
    }
    assert!(ran.stdout.contains("unchecked"), "{}", ran.stdout);
    let log = scenario.flyball(&["log", "--json"]).stdout;
    assert!(!log.contains("\"verdict\":\"passed\""), "{log}");
}

#[test]
fn attempts_of_an_outage_do_not_count() {
    let limit = "printf '{\"type\":\"limit\",\"resets_at\":\"%s\"}\\n' \
                 $(date -u -d '+2 seconds' +%FT%TZ)";
    let script = format!("if [ ! -e $OUT/once ]; then touch $OUT/once; {limit}; exit 1; fi; work");
    let scenario = Scenario::new().committed().flags(&["--once"]).speaker(&script);
    let ran = scenario.run();
    assert!(ran.stderr.contains("Iterations:  1 /"), "{}", ran.stderr);
    let tasks = scenario.flyball(&["tasks", "--json"]).stdout;
    let tasks: serde_json::Value = serde_json::from_str(&tasks).unwrap();
    assert!(tasks.to_string().contains("\"attempts\":1"), "{tasks}");
}
