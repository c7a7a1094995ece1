//! C1: an agent inside a run that uses flyball's own tools over MCP.

use flyball_core::task::{Attempt, AttemptStatus};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::mcp_client::Client;
use crate::scenario::Scenario;

/// `tool NAME ARGUMENTS` calls one tool of a server of its own and keeps the answer.
const TOOL: &str = r#"
tool() {
  d=$(mktemp -d "$OUT/tool-XXXXXX"); mkfifo $d/in $d/out
  $SERVER < $d/in > $d/out & exec 3> $d/in 4< $d/out
  printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}' >&3
  read -r _ <&4
  printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/initialized"}' >&3
  printf '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$1" "$2" >&3
  read -r answer <&4
  printf '%s\n' "$answer" >> $OUT/$1
  exec 3>&- 4<&-; wait
}
cat > $OUT/prompt-$n
"#;

const BLOCKED: &str =
    r#"tool attempt_record '{"task":"'$FLYBALL_TASK'","status":"blocked","blockers":["no db"]}'"#;

fn scenario(script: &str) -> Scenario {
    let server = format!("{} mcp", env!("CARGO_BIN_EXE_flyball"));
    Scenario::new()
        .config("[limits]\nstuck = 20\n")
        .committed()
        .env("SERVER", &server)
        .agent(&format!("{TOOL}\n{script}"))
}

/// The structured results of a tool, in the order they came.
fn results(scenario: &Scenario, tool: &str) -> Vec<Value> {
    let told = scenario.told(tool);
    let lines = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|answer| answer["result"]["structuredContent"].clone()).collect()
}

fn attempts(scenario: &Scenario) -> Vec<Attempt> {
    scenario.journal().attempts(&scenario.root().canonicalize().unwrap()).unwrap()
}

#[test]
fn blockers_given_only_through_the_tool_lead_to_authority_and_then_to_a_human() {
    // A client may start its servers without the environment of the agent.
    let bare = format!(
        "env -u FLYBALL_RUN -u FLYBALL_ITERATION -u FLYBALL_TASK {} mcp",
        env!("CARGO_BIN_EXE_flyball")
    );
    let around = format!("{} mcp", env!("CARGO_BIN_EXE_flyball"));
    for server in [around, bare] {
        let scenario = scenario(BLOCKED).env("SERVER", &server);
        let ran = scenario.run().ended(2).saying("needs a human");
        let tasks = [["a"; 6], ["b"; 6]].concat();
        assert_eq!(scenario.column("task"), tasks, "{}", ran.stderr);
        let attempts = attempts(&scenario);
        assert_eq!(attempts.len(), 12, "one attempt for each iteration");
        for (attempt, number) in attempts.iter().zip(1_u32..) {
            assert_eq!(attempt.status, AttemptStatus::Blocked);
            assert_eq!(attempt.blockers.iter().collect::<Vec<_>>(), ["no db"]);
            assert_eq!(attempt.iteration.get(), number);
        }
        assert!(!scenario.told("prompt-3").contains("no db"));
        let told = scenario.told("prompt-4");
        assert!(told.contains("no db") && told.contains("you may now decide yourself"), "{told}");
        for answer in results(&scenario, "attempt_record") {
            let added = answer["added_to"].as_str().unwrap();
            assert!(added.starts_with("iteration "), "{answer}");
        }
        let entries = scenario.flyball(&["context", "--topic", "loop_escalation", "--json"]);
        let entries: Value = serde_json::from_str(&entries.stdout).unwrap();
        assert_eq!(entries.as_array().unwrap().len(), 2, "{entries}");
    }
}

#[test]
fn work_given_through_the_tool_is_work_of_the_iteration() {
    let script = r#"tool attempt_record '{"task":"a","status":"in_progress","work_completed":["read chapter '$n'"]}'
        [ $n -lt 6 ] || { pass a; pass b; }"#;
    let scenario = scenario(script);
    // Six idle iterations would have set the task aside; each of these brought something new.
    scenario.run().ended(0).silent_on("set aside");
    let attempts = attempts(&scenario);
    let first: Vec<String> = attempts[0].work.iter().cloned().collect();
    assert_eq!((attempts.len(), first), (6, vec!["read chapter 1".to_owned()]));
}

#[test]
fn what_is_said_in_the_name_of_another_iteration_is_not_this_ones() {
    let script = r#"FLYBALL_ITERATION=7
        tool attempt_record '{"task":"a","status":"in_progress","work_completed":["of another"]}'
        pass a; pass b"#;
    let scenario = scenario(script);
    scenario.run().ended(0);
    let attempts = attempts(&scenario);
    assert!(!attempts.is_empty());
    let work: Vec<&String> = attempts.iter().flat_map(|attempt| &attempt.work).collect();
    assert!(!work.iter().any(|work| work.contains("of another")), "{work:?}");
}

#[test]
fn inside_a_run_a_loop_check_tells_and_the_run_acts() {
    let script = format!(
        r#"tool loop_check '{{"task":"a"}}'
           {BLOCKED}
           [ $n -lt 4 ] || say '<promise>BLOCKED:enough</promise>'"#
    );
    let scenario = scenario(&script);
    scenario.run().ended(2);
    let checks = results(&scenario, "loop_check");
    let applied: Vec<&Value> = checks.iter().map(|check| &check["applied"]).collect();
    assert_eq!(applied, [false, false, false, false]);
    assert!(checks.iter().all(|check| check["left_to"].is_string()), "{checks:?}");
    // What is due was done by the run, once, before the fourth iteration.
    assert_eq!(checks[3]["pattern"], "blocked_task_spin");
    let root = scenario.root().canonicalize().unwrap();
    assert_eq!(scenario.journal().contexts(&root, None).unwrap().len(), 1);
}

#[test]
fn a_session_of_iterations_inside_a_run_is_no_second_attempt() {
    let script = r#"
        tool iteration_start '{"task":"a","max_iterations":1}'
        id=$(sed -n 's/.*"structuredContent":{[^}]*"iteration_id":"\([^"]*\)".*/\1/p' $OUT/iteration_start | tail -1)
        tool iteration_next '{"iteration_id":"'$id'"}'
        say '<promise>BLOCKED:enough</promise>'"#;
    let scenario = scenario(script);
    scenario.run().ended(2);
    let attempts = attempts(&scenario);
    let blockers: Vec<Vec<&str>> = attempts
        .iter()
        .map(|attempt| attempt.blockers.iter().map(String::as_str).collect())
        .collect();
    assert_eq!(blockers, [["enough", "iteration safety guard: max_iterations"]]);
}

#[test]
fn a_task_that_tripped_inside_a_run_is_left_and_not_begun_again() {
    let script = r#"
        tool iteration_start '{"task":"a","max_iterations":1}'
        id=$(sed -n 's/.*"structuredContent":{[^}]*"iteration_id":"\([^"]*\)".*/\1/p' $OUT/iteration_start | tail -1)
        tool iteration_next '{"iteration_id":"'$id'"}'
        tool iteration_start '{"task":"a","max_iterations":1}'
        tool task_update '{"task":"b","blocked":true}'
        [ $n -lt 2 ] || say '<promise>BLOCKED:enough</promise>'"#;
    let scenario = scenario(script);
    let ran = scenario.run().ended(2);
    assert_eq!(scenario.column("task"), ["a", "b"], "{}", ran.stderr);
    let again = scenario.told("iteration_start").lines().nth(1).unwrap().to_owned();
    assert!(again.contains("was stopped by a safety guard"), "{again}");
    let marked = results(&scenario, "task_update");
    assert!(marked.iter().all(|answer| answer["left_to"].is_string()), "{marked:?}");
    let attempts = attempts(&scenario);
    let of = |task: &str| attempts.iter().find(|one| one.task.as_str() == task).unwrap();
    assert_eq!(of("b").status, AttemptStatus::Blocked);
    assert!(ran.stderr.contains("Left:        a (stopped by a guard)"), "{}", ran.stderr);
    // A human brings it back, and the next run takes it up.
    scenario.flyball(&["tasks", "retry", "a"]);
    let scenario = scenario.agent("pass a; pass b");
    std::fs::remove_file(scenario.root().join(".flyball/blocked.txt")).unwrap();
    scenario.run().ended(0);
}

#[test]
fn a_run_that_died_with_a_report_goes_on_and_counts_nothing_twice() {
    let script = format!(
        r"{BLOCKED}
           [ $n != 2 ] || {{ echo two > $OUT/at; sleep 60; }}
           [ $n -lt 4 ] || say '<promise>BLOCKED:enough</promise>'"
    );
    let scenario = scenario(&script);
    let running = scenario.spawn();
    scenario.until_told("at", "two");
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, -9);
    scenario.until_quiet();
    scenario.resume(&[]).ended(2);
    // The second iteration was lost: it counts, and is no attempt.
    let numbers: Vec<u32> = attempts(&scenario).iter().map(|it| it.iteration.get()).collect();
    assert_eq!(numbers, [1, 3, 4]);
}

#[test]
fn idle_tasks_are_set_aside_one_after_the_other_and_one_can_be_tried_again() {
    let scenario = scenario("true");
    let ran = scenario.run().ended(2).saying("no task is left that can be worked on");
    assert_eq!(scenario.column("task"), [["a"; 5], ["b"; 5]].concat());
    for task in ["a", "b"] {
        let line = format!("- {task} (set aside): task {task} was attempted again");
        assert!(ran.stderr.contains(&line), "{}", ran.stderr);
    }
    let said = scenario.flyball(&["tasks", "retry", "b"]);
    assert!(said.stdout.ends_with("stands open again.\nNext: flyball run\n"), "{}", said.stdout);
    // That is all there is to it: the next run takes it up.
    let scenario = scenario.agent("pass b");
    scenario.run().ended(2).saying("- a (set aside)");
    assert_eq!(scenario.column("task"), ["b"]);
    assert_eq!(scenario.stories()[1]["passes"], true);
}

#[test]
fn a_task_tried_again_does_not_hide_what_an_agent_says_blocks_it() {
    let scenario = scenario("say '<promise>BLOCKED:no key</promise>'");
    scenario.run().ended(2);
    let root = scenario.root().canonicalize().unwrap();
    let standing = (flyball_core::task::Standing::SetAside, flyball::clock::wall());
    scenario.journal().mark_task(&root, &flyball_core::TaskId::new("b"), standing).unwrap();
    let said = scenario.flyball(&["tasks", "retry", "b"]);
    assert!(said.stdout.ends_with("Still blocked: no key\nNext: flyball unblock\n"), "{said:?}");
    assert!(scenario.has(".flyball/blocked.txt"));
}

#[test]
fn presets_decide_how_soon_a_task_is_left() {
    for (preset, attempts) in [("conservative", 8), ("recommended", 5), ("aggressive", 3)] {
        let config =
            format!("[limits]\nstuck = 50\niterations = 30\n[tasks]\npreset = \"{preset}\"\n");
        let scenario = Scenario::new().config(&config).committed().agent("true");
        scenario.run().ended(2);
        let tasks = [vec!["a"; attempts], vec!["b"; attempts]].concat();
        assert_eq!(scenario.column("task"), tasks, "{preset}");
    }
}

#[test]
fn attempts_recorded_by_tools_before_a_run_count_in_it() {
    let scenario = scenario("true").flags(&["--max-iterations", "2"]);
    let mut client = Client::with_state(&scenario.root(), &scenario.state());
    for _ in 0..4 {
        client.call("attempt_record", json!({ "task": "a", "status": "in_progress" }));
    }
    drop(client);
    scenario.run().ended(1);
    assert_eq!(scenario.column("task"), ["a", "b"], "the fifth attempt was the last");
}
