//! What helps after an ending, a human's word to go on, resources that ran out, and the agent that
//! is called before a guard has its way.

use crate::scenario::Scenario;

const RED: &str = "[[gates.check]]\nname = \"tests\"\ncommand = \"exit 1\"\n";

#[test]
fn going_on_after_a_guards_halt_starts_the_agent_with_what_happened() {
    let cases = [("stuck", 4, "true"), ("circuit_breaker", 6, "exit 9")];
    for (outcome, code, script) in cases {
        let scenario =
            Scenario::new().committed().agent(&format!("cat > $OUT/prompt-$n\n{script}"));
        scenario.run().ended(code);
        scenario.resume(&["--max-iterations", "4"]);
        let told = scenario.told("prompt-4");
        assert!(told.contains("Going On After A Halt"), "{outcome}: {told}");
        assert!(told.contains(outcome), "{told}");
    }
}

#[test]
fn a_used_up_budget_still_holds() {
    let scenario = Scenario::new().committed().flags(&["--max-iterations", "2"]).agent("work");
    scenario.run().ended(1);
    scenario.resume(&[]).ended(1).saying("Iterations:  2 / 2");
}

#[test]
fn every_ending_says_what_to_look_at_and_what_to_type() {
    let scores = "[[gates.check]]\nname = \"tests\"\n\
                  command = \"sh score.sh\"\n";
    let script = "f=$(cat failed); echo \"test result: FAILED. $((10 - f)) passed; $f failed; \
                  0 ignored; 0 measured; 0 filtered out; finished in 0.00s\"; [ \"$f\" = 0 ]";
    let scenario = Scenario::new()
        .file("failed", "1")
        .file("score.sh", script)
        .config(scores)
        .committed()
        .env("FLYBALL_ITERATIONS__CIRCUIT_BREAKER", "9")
        .agent("echo $((n + 1)) > failed; work");
    let ran = scenario.run();
    let run = scenario.last_run().run.to_string();
    ran.ended(6)
        .saying("quality_regression")
        .saying(&format!("flyball rewind {run} 0"))
        .saying(&format!("flyball run --resume {run}"));
    // The same in the log and in JSON, and what is typed works.
    let log = scenario.flyball(&["log"]).stdout;
    assert!(log.contains(&format!("flyball rewind {run} 0")), "{log}");
    let status = scenario.flyball(&["status", "--json"]).stdout;
    assert!(status.contains("next_steps") && status.contains("flyball rewind"), "{status}");
    let shown = scenario.flyball(&["status"]).stdout;
    assert!(shown.contains(&format!("Next for {run}:")), "{shown}");
    assert_eq!(scenario.flyball(&["rewind", &run, "0"]).code, 0);
}

#[test]
fn the_iterations_limit_does_not_speak_of_the_breaker() {
    let scenario = Scenario::new().committed().flags(&["--once"]).agent("work");
    let ran = scenario.run();
    ran.ended(1).saying("Iteration 2 exceeds maximum of 1.").silent_on("Circuit breaker");
}

#[test]
fn a_full_disk_is_said_to_the_agent_and_to_the_human() {
    let scenario = Scenario::new()
        .committed()
        .agent("cat > $OUT/prompt-$n; say 'cp: error writing x: No space left on device'; exit 1");
    scenario.run().ended(6).saying("disk space ran out: look at `df -h`");
    assert!(!scenario.told("prompt-1").contains("ran out"));
    assert!(scenario.told("prompt-2").contains("Disk space ran out"));
}

#[test]
fn a_rescue_agent_takes_one_iteration_before_the_breaker_ends_the_run() {
    let roles = "[roles]\nrescue = \"helper\"\n[agents.helper]\nprogram = \"sh\"\n\
                 args = [\"-c\", \"cat > $OUT/help; echo rescued > help.txt; \
                 git add -A; git commit -qm help\"]\nenv = { WHO = \"helper\" }\n";
    let scenario = Scenario::new()
        .config(&format!("{roles}{RED}"))
        .committed()
        .agent("echo $n >> x; commit x");
    let ran = scenario.run();
    ran.ended(6)
        .saying("the rescue agent takes one iteration at a")
        .saying("Rescue:      iteration 4 at a, before circuit_breaker: red");
    let told = scenario.told("help");
    assert!(told.contains("You Are Called To Help"), "{told}");
    assert!(told.contains("Circuit breaker OPEN: 3"), "{told}");
    assert_eq!(scenario.column("iteration").len(), 4, "once per task");
    let log = scenario.flyball(&["log"]).stdout;
    assert!(
        log.contains("#4   the rescue agent takes one iteration at a before circuit_breaker"),
        "{log}"
    );
}

#[test]
fn a_rescue_that_helps_lets_the_run_go_on() {
    let roles = "[roles]\nrescue = \"helper\"\n[agents.helper]\n\
                 command = \"touch done.txt; git add -A; git commit -qm help\"\n";
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -e done.txt\"\n";
    let scenario = Scenario::new()
        .config(&format!("{roles}{gate}"))
        .committed()
        .agent("if [ -e done.txt ]; then pass a; pass b; else echo $n >> x; commit x; fi");
    scenario.run().ended(0).saying("Rescue:      iteration 4 at a, before circuit_breaker: passed");
}

#[test]
fn names_that_stand_for_no_agent_are_errors_with_a_suggestion() {
    let cases = [
        ("[roles]\nrescue = \"nobody\"\n", "there is no agent named `nobody`"),
        ("[roles]\nreview = \"cluade\"\n", "did you mean `claude`?"),
        ("[roles]\nplan = \"codx\"\n", "did you mean `codex`?"),
        ("[roles]\nfallback = [\"strnog\"]\n[agents.strong]\nprogram = \"sh\"\n", "`strong`"),
        ("[roles]\nreviewer = \"claude\"\n", "did you mean `roles.review`?"),
        ("[agents.idle]\nmodel = \"m\"\n", "[agents.idle] program"),
    ];
    for (config, words) in cases {
        let scenario = Scenario::new().config(config).committed().agent("true");
        let ran = scenario.run();
        assert_eq!(ran.code, 78, "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
}

#[test]
fn a_limit_that_cannot_fire_is_refused_at_the_start() {
    for flags in [["--max-tokens", "1000"], ["--max-cost", "1"]] {
        let scenario = Scenario::new().committed().flags(&flags).agent("work");
        let ran = scenario.run();
        assert_eq!(ran.code, 78, "{}", ran.stderr);
        assert!(ran.stderr.contains("tells no usage"), "{}", ran.stderr);
        assert!(ran.stderr.contains("agent.output"), "{}", ran.stderr);
        assert!(!scenario.has(".flyball/logs/summary.csv"));
    }
}

#[test]
fn a_session_that_told_no_usage_is_charged_by_its_size() {
    let scenario = Scenario::new()
        .committed()
        .flags(&["--max-tokens", "1500"])
        .speaker("text \"$(head -c 4000 /dev/zero | tr '\\0' x)\"; work");
    let ran = scenario.run();
    ran.ended(5).saying("max_tokens").saying("the agent told no usage");
    assert_eq!(scenario.column("iteration").len(), 2);
    let log = scenario.flyball(&["log"]).stdout;
    assert!(log.contains("the agent told no usage"), "{log}");
}

#[test]
fn context_alerts_stand_in_the_iterations_log() {
    let scenario = Scenario::new().committed().flags(&["--once"]).speaker(
        "printf '{\"type\":\"usage\",\"input_tokens\":1,\"output_tokens\":1,\"context_used\":0.72}\\n'
         text working; work",
    );
    scenario.run().ended(1);
    let log = scenario.read(".flyball/logs/iteration-001.log");
    assert!(log.contains("[flyball: ") && log.contains("70"), "{log}");
}

#[test]
fn a_task_left_as_done_never_makes_a_run_complete() {
    let scenario = Scenario::new()
        .committed()
        .flags(&["--max-stuck", "20"])
        .env("FLYBALL_TASKS__FORCE_NEXT_MARKS", "done")
        .agent("cat > $OUT/prompt-$n; if [ $FLYBALL_TASK = b ]; then pass b; fi");
    scenario.run().ended(2).saying("a (left as done)").saying("Stories:     1/2 complete");
    // C3: told in every briefing while it holds.
    let last = scenario.column("iteration").len();
    assert!(scenario.told(&format!("prompt-{last}")).contains("Task `a` is left for now"));
    scenario.run().ended(2).saying("left as done");
    assert!(scenario.flyball(&["tasks", "retry", "a"]).stdout.contains("stands open again"));
}

#[test]
fn advice_stands_in_every_briefing_until_the_task_moves() {
    let scenario =
        Scenario::new().committed().flags(&["--max-stuck", "20"]).agent("cat > $OUT/prompt-$n");
    scenario.run();
    for number in 4..=5 {
        let told = scenario.told(&format!("prompt-{number}"));
        assert!(told.contains("Do not try the same"), "{number}: {told}");
    }
}

#[test]
fn a_malformed_promise_is_briefed_under_its_own_heading() {
    let scenario = Scenario::new()
        .committed()
        .flags(&["--max-iterations", "2"])
        .agent("cat > $OUT/prompt-$n; say '<promise>FINISHED</promise>'; work");
    scenario.run().ended(1);
    let told = scenario.told("prompt-2");
    assert!(told.contains("# Malformed Promise"), "{told}");
    assert!(!told.contains("Undone In The Task List"), "{told}");
}

#[test]
fn a_red_beginning_is_not_headed_as_a_refused_completion() {
    let scenario = Scenario::new()
        .config(RED)
        .committed()
        .flags(&["--once"])
        .agent("cat > $OUT/prompt-$n; true");
    scenario.run().ended(1);
    let told = scenario.told("prompt-1");
    assert!(told.contains("# Red Before This Run Began: tests failed"), "{told}");
    assert!(!told.contains("Completion Blocked"), "{told}");
}
