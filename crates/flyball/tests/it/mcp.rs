//! `flyball mcp` by hand: every tool, bad input, and the guards of rules B, C and D through them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flyball::journal::Journal;
use flyball_core::task::{Attempt, AttemptStatus};
use flyball_core::{IterationNo, Moment, RunId, TaskId};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::mcp_client::Client;

const TASKS: &str = r#"{"project":"p","extra":{"kept":1},"userStories":[
  {"id":"US-1","title":"one","priority":1,"passes":false,"own":"stays"},
  {"id":"US-2","title":"two","priority":2,"dependsOn":["US-1"]},
  {"id":"US-3","title":"three","priority":3}]}"#;

struct Place {
    _folder: TempDir,
    root: PathBuf,
}

impl Place {
    fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(root.join(".flyball")).unwrap();
        fs::write(root.join(".flyball/tasks.json"), TASKS).unwrap();
        fs::write(root.join("flyball.toml"), config).unwrap();
        let git = |args: &[&str]| {
            let done = Command::new("git").current_dir(&root).args(args).output().unwrap();
            assert!(done.status.success(), "{args:?}");
        };
        git(&["init", "-q"]);
        git(&["-c", "user.name=a", "-c", "user.email=a@b", "add", "-A"]);
        git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "begin"]);
        Self { _folder: folder, root }
    }

    fn journal(&self) -> Journal {
        Journal::open(&self.root.parent().unwrap().join("state")).unwrap()
    }

    fn tasks(&self) -> Value {
        let text = fs::read_to_string(self.root.join(".flyball/tasks.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

fn start(client: &mut Client, arguments: Value) -> Value {
    client.call("iteration_start", arguments)
}

fn failing(task: &str) -> Value {
    json!({ "task": task, "max_iterations": 10,
            "validation_rules": [{ "type": "command", "command": "exit 1" }] })
}

/// Validates with what the caller found, and goes on.
fn turn(client: &mut Client, id: &Value, report: impl Into<Value>) -> Value {
    let report = report.into();
    client.call("iteration_validate", json!({ "iteration_id": id, "report": report }));
    client.call("iteration_next", json!({ "iteration_id": id }))
}

#[test]
fn it_says_who_it_is_and_what_it_has() {
    let place = Place::new("");
    let mut client = Client::start(&place.root, &["mcp"]);
    let hello = client.shake_hands();
    assert_eq!(hello["result"]["serverInfo"]["name"], "flyball");
    assert_eq!(hello["result"]["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    let tools = client.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    assert_eq!(tools.len(), 15);
    for tool in &tools {
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["outputSchema"]["type"], "object");
    }
    for uri in ["flyball://status", "flyball://tasks", "flyball://blocking-event"] {
        let read = client.request("resources/read", json!({ "uri": uri }));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        serde_json::from_str::<Value>(text).unwrap();
    }
    assert_eq!(
        client.request("resources/list", json!({}))["result"]["resources"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let prompt = client.request("prompts/get", json!({ "name": "orient" }));
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("The next task is `US-1`"), "{text}");
    let (status, rest) = client.end();
    assert!(status.success() && rest.is_empty(), "{status} {rest}");
}

#[test]
fn an_iteration_session_runs_from_start_to_completion() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let started = start(
        &mut client,
        json!({
            "task": "US-1", "max_iterations": 5,
            "completion_promises": ["ALL DONE"],
            "validation_rules": [
                { "type": "command", "name": "made", "command": "test -f made.txt" },
                { "type": "content_pattern", "path": "made.txt", "pattern": "^v[0-9]+$" },
                { "type": "file_exists", "paths": ["made.txt", "flyball.toml"] },
                { "type": "coverage", "path": "lcov.info", "minimum": 80.0 },
                { "type": "command", "command": "exit 3", "expected_exit_code": 3 },
                { "type": "content_pattern", "pattern": "TODO", "must_match": false },
            ],
        }),
    );
    // What one tool answers is taken by the next as it is.
    let judged = client.call("iteration_validate", started.clone());
    assert_eq!((&judged["signal"], &judged["passed"]), (&json!("CONTINUE"), &json!(false)));
    assert_eq!(judged["rules"].as_array().unwrap().len(), 6);
    let next = client.call("iteration_next", judged);
    assert_eq!((&next["can_continue"], &next["iteration"]), (&json!(true), &json!(2)));
    assert!(next["checkpoint"]["git_ref"].as_str().unwrap().starts_with("refs/flyball/it-"));
    let id = &started["iteration_id"];
    let why =
        client.refused("iteration_complete", json!({ "iteration_id": id, "promise": "ALL DONE" }));
    assert!(why.contains("validation fails") && why.contains("made"), "{why}");

    fs::write(place.root.join("made.txt"), "v7\n").unwrap();
    fs::write(place.root.join("lcov.info"), "LF:10\nLH:9\n").unwrap();
    let judged = client.call(
        "iteration_validate",
        json!({ "iteration_id": id, "agent_output": "I am ALL DONE." }),
    );
    assert_eq!(judged["signal"], "COMPLETE");
    assert_eq!(judged["score"], 1.0);
    let done = client.call("iteration_complete", judged);
    assert_eq!((&done["completed"], &done["verified"]), (&json!(true), &json!(true)));
    let tasks = place.tasks();
    assert_eq!(tasks["userStories"][0]["reviewStatus"], "needs_review");
    assert_eq!(tasks["userStories"][0]["own"], "stays");
    assert_eq!(tasks["extra"]["kept"], 1);
    let why = client.refused("iteration_next", json!({ "iteration_id": id }));
    assert!(why.contains("is completed"), "{why}");
}

#[test]
fn a_session_survives_the_server() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let id = start(&mut client, failing("t"))["iteration_id"].clone();
    client.call("iteration_next", json!({ "iteration_id": id }));
    drop(client);
    let mut client = Client::mcp(&place.root);
    client.call("iteration_next", json!({ "iteration_id": id }));
    let last = client.call("iteration_next", json!({ "iteration_id": id }));
    assert_eq!(last["blocked_by"], "circuit_breaker");
}

#[test]
fn the_breaker_ends_a_session_and_blocks_its_task() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let id = start(&mut client, failing("US-3"))["iteration_id"].clone();
    for _ in 0..2 {
        let next = client.call("iteration_next", json!({ "iteration_id": id }));
        assert_eq!(next["can_continue"], true);
    }
    let judged = client.call(
        "iteration_validate",
        json!({ "iteration_id": id, "agent_output": "<promise>COMPLETE</promise>" }),
    );
    assert_eq!(
        (&judged["signal"], &judged["blocked_by"]),
        (&json!("ESCALATE"), &json!("circuit_breaker"))
    );
    let last = client.call("iteration_next", json!({ "iteration_id": id }));
    assert_eq!(last["can_continue"], false);
    assert_eq!(
        last["message"],
        "Circuit breaker OPEN: 3 consecutive validation failures (threshold: 3). Manual \
         intervention required."
    );
    assert_eq!(last["checkpoint"]["trigger"], "error");
    assert_eq!(last["checkpoint"]["guard"], "circuit_breaker");
    assert_eq!(last["session_status"], "blocked");
    let tasks = client.call("task_list", json!({ "state": "tripped" }));
    assert_eq!(tasks["tasks"][0]["task"], "US-3");
    let why = client.refused("iteration_next", json!({ "iteration_id": id }));
    assert!(why.contains("does not go on") && why.contains("circuit_breaker"), "{why}");
}

#[test]
fn a_task_a_guard_stopped_is_nobodys_until_a_human_brings_it_back() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let mut arguments = failing("US-1");
    arguments["circuit_breaker_threshold"] = json!(1);
    let id = start(&mut client, arguments.clone())["iteration_id"].clone();
    let last = client.call("iteration_next", json!({ "iteration_id": id }));
    assert_eq!(last["blocked_by"], "circuit_breaker");
    // Every tool says the same of it: planning leaves it out, it is not begun, no remedy gives it.
    assert_eq!(client.call("plan_next", json!({}))["task"], "US-3");
    let why = client.refused("iteration_start", arguments.clone());
    assert!(why.contains("stopped by a safety guard") && why.contains("tasks retry US-1"), "{why}");
    let checked = client.call("loop_check", json!({ "task": "US-1" }));
    assert_eq!((&checked["standing"], &checked["remedy"]), (&json!("tripped"), &Value::Null));
    assert!(checked["briefing"].as_str().unwrap().contains("tasks retry US-1"), "{checked}");
    client.call("task_update", json!({ "task": "US-1", "blocked": false }));
    assert_eq!(client.call("plan_next", json!({}))["task"], "US-3");

    let retry = Command::new(env!("CARGO_BIN_EXE_flyball"))
        .current_dir(&place.root)
        .env("FLYBALL_STATE", place.root.parent().unwrap().join("state"))
        .env("XDG_CONFIG_HOME", place.root.parent().unwrap())
        .args(["tasks", "retry", "US-1"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&retry.stdout).into_owned();
    assert!(retry.status.success() && said.contains("was tripped and stands open again"), "{said}");
    assert_eq!(client.call("plan_next", json!({}))["task"], "US-1");
    start(&mut client, arguments);
}

#[test]
fn a_task_that_is_planned_can_be_begun_and_no_other() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let why = client.refused("iteration_start", failing("US-2"));
    assert!(why.contains("waits for `US-1`"), "{why}");
    let blocked = json!({ "task": "US-1", "status": "in_progress" });
    for _ in 0..5 {
        client.call("attempt_record", blocked.clone());
        client.call("loop_check", json!({ "task": "US-1" }));
    }
    assert_eq!(client.call("loop_check", json!({ "task": "US-1" }))["standing"], "set_aside");
    assert_eq!(client.call("plan_next", json!({}))["task"], "US-3");
    let why = client.refused("iteration_start", failing("US-1"));
    assert!(why.contains("out of planning (set aside)"), "{why}");
    // A task blocked by its own claim is planned last, and may be begun again.
    let planned = client.call("plan_next", json!({}))["task"].clone();
    let id = start(&mut client, json!({ "task": planned, "max_iterations": 3 }));
    let given = json!({ "iteration_id": id["iteration_id"], "promise": "BLOCKED: no key" });
    assert_eq!(client.call("iteration_complete", given)["session_status"], "blocked");
    assert_eq!(client.call("plan_next", json!({}))["task"], planned);
    start(&mut client, json!({ "task": planned, "max_iterations": 3 }));
}

#[test]
fn regression_thrashing_and_the_limit_are_reached_from_iteration_next() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let mut tasks = 0;
    let mut begin = |client: &mut Client, max: u32| {
        tasks += 1;
        let task = format!("t{tasks}");
        let arguments =
            json!({ "task": task, "max_iterations": max, "circuit_breaker_threshold": 20 });
        start(client, arguments)["iteration_id"].clone()
    };

    let id = begin(&mut client, 10);
    for score in [0.9, 0.7] {
        turn(&mut client, &id, json!({ "passed": false, "score": score }));
    }
    let last = turn(&mut client, &id, json!({ "passed": false, "score": 0.5 }));
    assert_eq!(last["blocked_by"], "quality_regression");
    assert!(last["message"].as_str().unwrap().contains("declined 2 consecutive times"));

    // S2's own example: pass, fail, fail, fail.
    let id = begin(&mut client, 10);
    for passed in [true, false, false] {
        assert_eq!(turn(&mut client, &id, json!({ "passed": passed }))["can_continue"], true);
    }
    assert_eq!(
        turn(&mut client, &id, json!({ "passed": false }))["blocked_by"],
        "quality_regression"
    );

    let id = begin(&mut client, 10);
    let found = json!({ "passed": false, "messages": ["Error in file: /src/api.ts"] });
    for _ in 0..4 {
        assert_eq!(turn(&mut client, &id, found.clone())["can_continue"], true);
    }
    let last = turn(&mut client, &id, found);
    assert_eq!(last["blocked_by"], "thrashing");
    assert_eq!(
        last["message"],
        "Thrashing detected: 1 file(s) modified 5+ times without progress: /src/api.ts"
    );

    let id = begin(&mut client, 2);
    assert_eq!(turn(&mut client, &id, json!({ "passed": true }))["iteration"], 2);
    let last = turn(&mut client, &id, json!({ "passed": true }));
    assert_eq!(last["blocked_by"], "max_iterations");
    assert_eq!(last["message"], "Iteration 3 exceeds maximum of 2.");
}

#[test]
fn the_limit_comes_before_the_breaker_and_the_others_are_told() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let mut arguments = failing("t");
    arguments["max_iterations"] = json!(1);
    arguments["circuit_breaker_threshold"] = json!(1);
    let id = start(&mut client, arguments)["iteration_id"].clone();
    client.call("iteration_validate", json!({ "iteration_id": id }));
    let last = client.call("iteration_next", json!({ "iteration_id": id }));
    assert_eq!(last["blocked_by"], "max_iterations");
    assert_eq!(last["also_tripped"], json!(["circuit_breaker"]));
}

#[test]
fn blocked_outranks_complete_and_never_completes_a_task() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let id =
        start(&mut client, json!({ "task": "US-1", "max_iterations": 3 }))["iteration_id"].clone();
    let both = "<promise>COMPLETE</promise> but <promise>BLOCKED:no key</promise>";
    let judged =
        client.call("iteration_validate", json!({ "iteration_id": id, "agent_output": both }));
    assert_eq!((&judged["signal"], &judged["message"]), (&json!("BLOCKED"), &json!("no key")));
    let ended = client.call(
        "iteration_complete",
        json!({ "iteration_id": id, "promise": "<promise>BLOCKED</promise>" }),
    );
    assert_eq!((&ended["completed"], &ended["session_status"]), (&json!(false), &json!("blocked")));
    assert_eq!(place.tasks()["userStories"][0]["reviewStatus"], Value::Null);
}

#[test]
fn tasks_are_planned_and_moved_only_in_legal_ways() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let plan = client.call("plan_next", json!({}));
    assert_eq!((&plan["task"], &plan["mode"]), (&json!("US-1"), &json!("implement")));
    let before = fs::read_to_string(place.root.join(".flyball/tasks.json")).unwrap();
    let why = client.refused("task_update", json!({ "task": "US-1", "review_status": "approved" }));
    assert!(why.contains("not legal") && why.contains("needs_review"), "{why}");
    assert_eq!(fs::read_to_string(place.root.join(".flyball/tasks.json")).unwrap(), before);
    client.call(
        "task_update",
        json!({ "task": "US-1", "review_status": "needs_review", "notes": "n" }),
    );
    assert_eq!(client.call("plan_next", json!({}))["mode"], "review");
    let why = client
        .refused("task_update", json!({ "task": "US-1", "review_status": "changes_requested" }));
    assert!(why.contains("reviewFeedback"), "{why}");
    let moved = client.call("task_update", json!({ "task": "US-1", "review_status": "approved" }));
    assert_eq!(moved["updated"]["state"], "done");
    assert_eq!(place.tasks()["userStories"][0]["reviewCount"], 1);
    assert_eq!(client.call("plan_next", json!({}))["task"], "US-2");
    let why = client.refused("task_update", json!({ "task": "nobody", "notes": "x" }));
    assert!(why.contains("there is no task `nobody`"), "{why}");
}

fn attempt(client: &mut Client, task: &str, status: &str, blockers: &[&str]) -> Value {
    client.call("attempt_record", json!({ "task": task, "status": status, "blockers": blockers }));
    client.call("loop_check", json!({ "task": task }))
}

#[test]
fn a_spin_is_given_authority_and_then_a_human() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let mut remedies = Vec::new();
    for _ in 0..6 {
        let checked = attempt(&mut client, "US-1", "blocked", &["no database"]);
        remedies.push(if checked["applied"] == true {
            checked["remedy"].clone()
        } else {
            json!("")
        });
    }
    assert_eq!(json!(remedies), json!(["", "", "unblock_authority", "", "", "escalate"]));
    let status = client.call("loop_status", json!({ "task": "US-1" }));
    assert_eq!(status["rows"][0]["standing"], "escalated");
    let entries = client.call("context_list", json!({ "topic": "unblock_authority" }));
    assert_eq!(entries["context"].as_array().unwrap().len(), 1);
    assert_eq!(client.call("plan_next", json!({}))["task"], "US-3");
}

#[test]
fn five_idle_attempts_set_a_task_aside_and_the_next_is_taken() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let mut remedies = Vec::new();
    for _ in 0..5 {
        let checked = attempt(&mut client, "US-1", "in_progress", &[]);
        remedies.push(if checked["applied"] == true {
            checked["remedy"].clone()
        } else {
            json!("")
        });
    }
    assert_eq!(json!(remedies), json!(["", "", "advise", "", "force_next"]));
    let tasks = client.call("task_list", json!({ "state": "set_aside" }));
    assert_eq!(tasks["tasks"][0]["task"], "US-1");
    assert_eq!((&tasks["done"], &tasks["complete"]), (&json!(0), &json!(false)));
    // US-2 waits for US-1, which is set aside and not done.
    assert_eq!(client.call("plan_next", json!({}))["task"], "US-3");
}

#[test]
fn a_done_task_revisited_is_left_and_stays_done() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let mut last = Value::Null;
    for _ in 0..3 {
        last = attempt(&mut client, "US-1", "done", &[]);
    }
    assert_eq!(last["pattern"], "completed_task_revisit");
    assert_eq!((&last["remedy"], &last["standing"]), (&json!("force_next"), &json!("open")));
    assert!(last["briefing"].as_str().unwrap().contains("US-1"));
}

#[test]
fn attempts_an_hour_old_are_out() {
    let place = Place::new("");
    let mut journal = place.journal();
    let now = flyball::clock::wall().as_millis();
    for minutes in [62, 61, 60] {
        let attempt = Attempt {
            task: TaskId::new("US-1"),
            at: Moment::from_millis(now - minutes * 60_000),
            run: RunId::new(""),
            iteration: IterationNo::new(0),
            status: AttemptStatus::Blocked,
            blockers: BTreeSet::from(["b".to_owned()]),
            work: BTreeSet::new(),
            session: String::new(),
        };
        journal.record_attempt(&place.root, &attempt).unwrap();
    }
    let mut client = Client::mcp(&place.root);
    assert_eq!(client.call("loop_check", json!({ "task": "US-1" }))["loop_detected"], false);
    for expected in [false, false, true] {
        let checked = attempt(&mut client, "US-1", "blocked", &["b"]);
        assert_eq!(checked["loop_detected"], expected);
    }
}

#[test]
fn calls_are_nudged_refused_and_halted_across_servers() {
    let place = Place::new("");
    let mut verdicts = Vec::new();
    for turn in 0..8 {
        // A server for each call: the ring is in the journal.
        let mut client = Client::mcp(&place.root);
        let arguments =
            if turn % 2 == 0 { json!({ "a": 1, "b": 2 }) } else { json!({ "b": 2, "a": 1 }) };
        let mut checked =
            client.call("call_check", json!({ "tool": "read", "arguments": arguments }));
        verdicts.push(checked["verdict"].clone());
        if checked["may_run"] == true {
            checked["output"] = json!("same");
            client.call("call_result", checked);
        }
    }
    assert_eq!(
        json!(verdicts),
        json!(["pass", "pass", "pass", "pass", "pass", "refuse", "refuse", "halt"])
    );
}

#[test]
fn a_large_result_is_replaced_by_its_path() {
    let place = Place::new("[calls]\nlarge_response = 1000\npreview = 10\n");
    let mut client = Client::mcp(&place.root);
    let output = "ä".repeat(1001);
    let answer = client.call("call_result", json!({ "call_id": "1", "output": output }));
    let text = answer["replacement"].as_str().unwrap();
    let path = text.lines().next().unwrap().rsplit(' ').next().unwrap();
    assert_eq!(fs::read_to_string(path).unwrap(), output);
    assert!(path.starts_with(place.root.join(".flyball/responses").to_str().unwrap()), "{path}");
    let path = PathBuf::from(path);
    client.end();
    assert!(!path.exists(), "it goes with the server");
}

#[test]
fn a_small_threshold_takes_the_preview_with_it() {
    let place = Place::new("[calls]\nlarge_response = 100\n");
    let mut client = Client::mcp(&place.root);
    let output = "ä".repeat(101);
    let answer = client.call("call_result", json!({ "call_id": "1", "output": output }));
    let text = answer["replacement"].as_str().unwrap();
    assert!(text.contains("Its first 100 characters:"), "{text}");
    assert!(text.ends_with(&"ä".repeat(100)) && !text.ends_with(&output), "{text}");
}

#[test]
fn the_ring_of_a_session_and_what_its_guards_did_are_told() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    for (tool, number) in [("read", 1), ("read", 2), ("write", 3)] {
        let arguments = json!({ "n": number });
        let mut checked =
            client.call("call_check", json!({ "tool": tool, "arguments": arguments }));
        checked["output"] = json!("done");
        let told = client.call("call_result", checked);
        assert_eq!(told["ring"]["calls"], number);
    }
    let malformed = client.call("call_check", json!({ "tool": "read", "arguments": [1] }));
    assert_eq!((&malformed["may_run"], &malformed["verdict"]), (&json!(false), &json!("nudge")));
    assert_eq!(malformed["ring"]["validation_streak"], 1);
    let mut full = client.call("call_check", json!({ "tool": "read", "context_used": 0.72 }));
    assert!(full["message"].as_str().unwrap().contains("70"), "{full}");
    assert_eq!(full["ring"]["context_percent"], 70);
    full["output"] = json!("done");
    client.call("call_result", full);
    for _ in 0..2 {
        client.call("call_check", json!({ "tool": "" }));
    }
    let last = client.call("call_check", json!({ "tool": "" }));
    assert_eq!(
        (&last["verdict"], &last["tripped"]["guard"]),
        (&json!("halt"), &json!("validation"))
    );
    let status = client.call("loop_status", json!({}));
    let ring = &status["sessions"][0]["ring"];
    assert_eq!(ring["tools"]["write"], 1, "{status}");
    assert_eq!(ring["guards"]["validation"], json!({ "nudged": 3, "refused": 0, "halted": 1 }));
    let out = Command::new(env!("CARGO_BIN_EXE_flyball"))
        .current_dir(&place.root)
        .env("FLYBALL_STATE", place.root.parent().unwrap().join("state"))
        .args(["status", "--json"])
        .output()
        .unwrap();
    let status: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(status["sessions"][0]["door"], "mcp", "{status}");
    assert_eq!(status["sessions"][0]["calls"]["tools"]["write"], 1);
}

#[test]
fn gates_say_what_is_red_and_the_event_can_be_read_later() {
    let config = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -f good\"\n";
    let place = Place::new(config);
    let mut client = Client::mcp(&place.root);
    let red = client.call("gate_run", json!({}));
    assert_eq!((&red["green"], &red["results"][0]["outcome"]), (&json!(false), &json!("failed")));
    assert!(red["blocking_event"].as_str().unwrap().starts_with("# Completion Blocked:"));
    let read = client.request("resources/read", json!({ "uri": "flyball://blocking-event" }));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("Completion Blocked"), "{text}");
    fs::write(place.root.join("good"), "").unwrap();
    assert_eq!(client.call("gate_run", json!({ "gates": ["tests"] }))["green"], true);
    let why = client.refused("gate_run", json!({ "gates": ["lint"] }));
    assert_eq!(why, "there is no gate `lint`; there are `tests`");
}

#[test]
fn a_question_waits_for_its_answer() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let asked = client.call("ask_human", json!({ "question": "A or B?" }));
    assert_eq!(asked["answered"], false);
    assert!(asked["how_to_answer"].as_str().unwrap().contains("flyball answer"));
    let why = client.refused("ask_human", json!({ "question": "C or D?" }));
    assert!(why.contains("A or B?"), "{why}");
    let path = place.root.join(".flyball/decide.txt");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}B\n")).unwrap();
    let asked = client.call("ask_human", json!({ "question": "A or B?" }));
    assert_eq!(asked["answer"], "B");
}

#[test]
fn wrong_arguments_are_told_with_the_right_ones() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let start = json!({ "task": "t", "max_iterations": 3 });
    let with = |name: &str, value: Value| {
        let mut arguments = start.clone();
        arguments[name] = value;
        arguments
    };
    let cases = [
        ("iteration_start", json!({}), "missing field"),
        (
            "iteration_start",
            with("max_iterations", json!("many")),
            "`max_iterations`: invalid type",
        ),
        ("iteration_start", with("max_iterations", json!(0)), "it must be 1 to 100"),
        ("iteration_start", with("max_iterations", json!(101)), "it must be 1 to 100"),
        ("iteration_start", with("circuit_breaker_threshold", json!(0)), "it must be 1 to 20"),
        ("iteration_start", with("circuit_breaker_threshold", json!(21)), "it must be 1 to 20"),
        ("iteration_start", with("completion_promises", json!([])), "1 to 20"),
        ("iteration_start", with("completion_promises", json!(["a", " "])), "empty text"),
        ("iteration_start", with("max_iteration", json!(3)), "did you mean `max_iterations`?"),
        ("iteration_start", with("task", json!("  ")), "`task` is empty"),
        (
            "iteration_start",
            with("validation_rules", json!([{ "type": "content_pattern", "pattern": "(" }])),
            "no regular expression",
        ),
        (
            "iteration_start",
            with("validation_rules", json!([{ "type": "coverage", "path": "x", "minimum": 101 }])),
            "it must be 0 to 100",
        ),
        (
            "iteration_start",
            with("validation_rules", json!([{ "type": "magic" }])),
            "`validation_rules[0]",
        ),
        (
            "iteration_validate",
            json!({ "iteration_id": "it-none" }),
            "there is no iteration session",
        ),
        ("attempt_record", json!({ "task": "t", "status": "lost" }), "`status`: unknown variant"),
        ("context_list", json!({ "limit": 0 }), "it must be 1 to 200"),
        ("call_check", json!({ "tool": "t", "context_used": 2 }), "it must be 0 to 1"),
        ("ask_human", json!({ "question": " " }), "`question` is empty"),
        ("task_update", json!({ "task": "US-1" }), "nothing is to be changed"),
    ];
    for (tool, arguments, expected) in cases {
        let why = client.refused(tool, arguments);
        assert!(why.contains(expected), "{tool}: {why}");
    }
    let why = client.refused("iteration_start", json!({ "max_iterations": 3 }));
    assert!(why.contains("its arguments: task (string, required)"), "{why}");
}

#[test]
fn what_is_no_request_is_answered_and_the_server_lives() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let unknown = client.request("tools/call", json!({ "name": "magic", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("iteration_start"));
    client.send("this is no JSON");
    assert_eq!(client.message()["error"]["code"], -32700);
    client.send(r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":7}"#);
    assert_eq!(client.message()["id"], 77);
    client.send(r#"{"jsonrpc":"2.0","id":78,"method":"no/such"}"#);
    let answer = client.message();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(78), &json!(-32601)));
    assert_eq!(client.call("plan_next", json!({}))["task"], "US-1");
}

#[test]
fn parameters_and_messages_of_a_wrong_shape_are_told_apart_from_unknown_methods() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let cases = [
        ("tools/call", json!({ "arguments": {} })),
        ("tools/call", json!({ "name": 5 })),
        ("tools/call", json!({ "name": "plan_next", "arguments": [1] })),
        ("tools/call", json!({ "name": "plan_next", "arguments": "x" })),
        ("resources/read", json!({})),
        ("prompts/get", json!({ "name": 7 })),
    ];
    for (method, params) in cases {
        let answer = client.request(method, params.clone());
        assert_eq!(answer["error"]["code"], -32602, "{method} {params}: {answer}");
        let why = answer["error"]["message"].as_str().unwrap();
        assert!(why.contains(method) && why.contains("it needs `"), "{why}");
    }
    // What is no object has no id to be answered under.
    for line in ["[1]", "[]", r#"[{"jsonrpc":"2.0","id":60,"method":"ping"}]"#, "7", "null"] {
        client.send(line);
        let answer = client.message();
        let told = (&answer["id"], &answer["error"]["code"]);
        assert_eq!(told, (&Value::Null, &json!(-32600)), "{line}: {answer}");
    }
    let why = client.refused("attempt_record", json!({ "task": "t" }));
    assert!(why.contains("status (pending | in_progress | blocked | done, required)"), "{why}");
    let why =
        client.refused("attempt_record", json!({ "task": "t".repeat(401), "status": "done" }));
    assert!(why.contains("more than 400 characters"), "{why}");
}

#[test]
fn attempts_recorded_at_the_same_moment_are_all_kept() {
    let place = Place::new("");
    let mut clients: Vec<Client> = (0..3).map(|_| Client::mcp(&place.root)).collect();
    let arguments = json!({ "task": "US-1", "status": "pending" });
    for id in 1000..1030 {
        let call = json!({ "name": "attempt_record", "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call });
        for client in &mut clients {
            client.send(&call.to_string());
        }
    }
    for client in &mut clients {
        for _ in 1000..1030 {
            assert_eq!(client.message()["result"]["isError"], false);
        }
    }
    assert_eq!(place.journal().attempts(&place.root).unwrap().len(), 90);
}

#[test]
fn a_blocked_task_is_planned_after_every_open_one_whatever_its_mode() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let handed_in = json!({ "task": "US-1", "review_status": "needs_review", "notes": "n" });
    client.call("task_update", handed_in);
    client.call("task_update", json!({ "task": "US-1", "blocked": true }));
    assert_eq!(client.call("plan_next", json!({}))["task"], "US-3");
    client.call("task_update", json!({ "task": "US-3", "blocked": true }));
    assert_eq!(client.call("plan_next", json!({}))["task"], "US-1");
}

#[test]
fn an_argument_of_100_mb_is_refused_by_name_and_the_server_lives() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let big = "x".repeat(100 * 1024 * 1024);
    client.send(&format!(
        r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"ask_human","arguments":{{"question":"{big}"}}}},"id":99}}"#
    ));
    let answer = client.message();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(99), &json!(-32600)));
    assert!(answer["error"]["message"].as_str().unwrap().contains("put large data into a file"));
    let peak = flyball_testkit::memory::peak_kib(client.pid()).unwrap();
    assert!(peak < 120 * 1024, "{peak} kB");
    assert_eq!(client.call("plan_next", json!({}))["task"], "US-1");
}

/// Whether a process with exactly this command line runs.
fn lives(command: &str) -> bool {
    let found = Command::new("pgrep").args(["-fx", command]).output().unwrap();
    found.status.success()
}

fn wait_for(what: impl Fn() -> bool) {
    for _ in 0..1000 {
        if what() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it did not happen");
}

#[test]
fn a_client_that_goes_away_in_mid_call_leaves_nothing_behind() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let mark = format!("3{}.25", std::process::id());
    let mut arguments = failing("t");
    arguments["validation_rules"][0]["command"] = json!(format!("sleep {mark}"));
    let id = start(&mut client, arguments)["iteration_id"].clone();
    client.send(
        &json!({ "jsonrpc": "2.0", "id": 500, "method": "tools/call", "params":
            { "name": "iteration_validate", "arguments": { "iteration_id": id } } })
        .to_string(),
    );
    wait_for(|| lives(&format!("sleep {mark}")));
    let (status, _) = client.end();
    assert!(status.success(), "{status}");
    assert!(!lives(&format!("sleep {mark}")));
    // Nothing was recorded for the call that was cut, and the session goes on.
    let mut client = Client::mcp(&place.root);
    let why =
        client.refused("iteration_complete", json!({ "iteration_id": id, "promise": "other" }));
    assert!(why.contains("none of this session's promises"), "{why}");
}

#[test]
fn a_cancelled_call_ends_what_it_started() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let mark = format!("3{}.75", std::process::id());
    let mut arguments = failing("t");
    arguments["validation_rules"][0]["command"] = json!(format!("sleep {mark}"));
    let id = start(&mut client, arguments)["iteration_id"].clone();
    client.send(
        &json!({ "jsonrpc": "2.0", "id": 501, "method": "tools/call", "params":
            { "name": "iteration_validate", "arguments": { "iteration_id": id } } })
        .to_string(),
    );
    wait_for(|| lives(&format!("sleep {mark}")));
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                 "params": { "requestId": 501, "reason": "enough" } })
        .to_string(),
    );
    wait_for(|| !lives(&format!("sleep {mark}")));
}

#[test]
fn a_long_call_tells_that_it_is_at_work_when_asked_to() {
    let place = Place::new("");
    let mut client = Client::mcp(&place.root);
    let mut arguments = failing("t");
    arguments["validation_rules"][0]["command"] = json!("sleep 5");
    let id = start(&mut client, arguments)["iteration_id"].clone();
    client.send(
        &json!({ "jsonrpc": "2.0", "id": 502, "method": "tools/call", "params": {
            "name": "iteration_validate", "arguments": { "iteration_id": id },
            "_meta": { "progressToken": "mine" } } })
        .to_string(),
    );
    let first = client.message();
    assert_eq!(first["method"], "notifications/progress");
    assert_eq!(first["params"]["progressToken"], "mine");
    let mut last = first;
    while last["id"] != 502 {
        last = client.message();
    }
    assert_eq!(last["result"]["structuredContent"]["passed"], true);
}

#[test]
fn an_address_others_can_reach_is_refused() {
    let place = Place::new("");
    let mut client = Client::start(&place.root, &["mcp", "--http", "0.0.0.0:0"]);
    assert_eq!(client.wait().code(), Some(64));
}

#[test]
fn a_folder_that_is_no_repository_still_has_its_tools() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("plain");
    fs::create_dir(&root).unwrap();
    let mut client = Client::mcp(Path::new(&root));
    let started = start(&mut client, json!({ "task": "t", "max_iterations": 1 }));
    let last = client.call("iteration_next", started);
    assert_eq!(last["blocked_by"], "max_iterations");
    let why = client.refused("plan_next", json!({}));
    assert!(why.contains("flyball init"), "{why}");
}
