//! `flyball hook`: the real program, asked as clients ask it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use flyball::hook::{Occasion, dialect};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A repository with a state folder of its own.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new(config: &str) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.root()).unwrap();
        if !config.is_empty() {
            fs::write(place.root().join("flyball.toml"), config).unwrap();
        }
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["config", "user.name", "t"],
            &["config", "user.email", "t@localhost"],
            &["add", "-A"],
            &["commit", "-q", "--allow-empty", "-m", "start"],
        ] {
            let done = Command::new("git").args(arguments).current_dir(place.root()).status();
            assert!(done.unwrap().success());
        }
        place
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flyball"));
        command
            .args(arguments)
            .current_dir(self.root())
            .env("HOME", self.folder.path().join("home"))
            .env("FLYBALL_STATE", self.folder.path().join("state"))
            .env_remove("FLYBALL_RUN")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn ask(&self, agent: &str, event: &str, input: &str) -> Value {
        answer(begin(self.command(&["hook", agent, event]), input))
    }
}

pub(crate) fn begin(mut command: Command, input: &str) -> Child {
    let mut child = command.spawn().unwrap();
    // A program that ends before it was told everything has its reasons.
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    child
}

/// What a hook printed; null for nothing.
pub(crate) fn answer(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), output.stderr);
    assert_eq!((output.status.code(), String::from_utf8(err).unwrap()), (Some(0), String::new()));
    if out.is_empty() { Value::Null } else { serde_json::from_str(&out).unwrap() }
}

pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn every_captured_payload_of_a_command_hook_is_understood() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut seen = 0;
    for agent in ["claude", "codex", "gemini", "qwen", "goose", "copilot"] {
        let dialect = dialect(agent).unwrap();
        for file in fs::read_dir(fixtures.join(agent)).unwrap() {
            let path = file.unwrap().path();
            if !path.to_string_lossy().ends_with(".hooks.jsonl") {
                continue;
            }
            for line in fs::read_to_string(&path).unwrap().lines() {
                let captured: Value = serde_json::from_str(line).unwrap();
                let input = &captured["input"];
                let event = [&input["hook_event_name"], &input["event"], &captured["argv"][0]]
                    .into_iter()
                    .find_map(Value::as_str)
                    .unwrap_or_else(|| panic!("{}: {line}", path.display()));
                let occasion = dialect.occasion(event);
                let heard = dialect.read(occasion, input);
                let shown = format!("{agent} {event} {heard:?}");
                assert!(!heard.session.is_empty(), "{shown}");
                assert_ne!(occasion, Occasion::Other, "{shown}");
                let calls = matches!(occasion, Occasion::Before | Occasion::After);
                assert_eq!(calls, !heard.call.tool.is_empty(), "{shown}");
                assert!(!calls || heard.call.args.is_object(), "{shown}");
                let has_ids = !["gemini", "copilot"].contains(&agent);
                assert_eq!(calls && has_ids, !heard.call.id.is_empty(), "{shown}");
                let told = occasion == Occasion::After && dialect.sees_results();
                assert_eq!(told, heard.result.is_some(), "{shown}");
                if occasion == Occasion::Stop && agent != "copilot" {
                    assert!(heard.said.is_some(), "{shown}");
                }
                seen += 1;
            }
        }
    }
    assert!(seen >= 264, "only {seen} payloads were found");
}

#[test]
fn a_home_made_agent_that_repeats_a_call_is_nudged_then_refused_then_halted() {
    let place = Place::new("");
    let mut verdicts = Vec::new();
    for n in 1..=8 {
        let call = json!({
            "type": "call", "id": n.to_string(), "tool": "bash", "args": { "cmd": "ls" },
            "agent": "main",
        });
        let before = place.ask("flyball", "PreToolUse", &call.to_string());
        verdicts.push(text(&before, "/verdict").to_owned());
        if n == 6 {
            let said = "tool 'bash' called 6 times consecutively with identical parameters \
                        (blocked 1/3)";
            assert!(text(&before, "/message").contains(said), "{before}");
        }
        if n <= 5 {
            let result = json!({ "type": "result", "id": n.to_string(), "output": "same" });
            let after = place.ask("flyball", "PostToolUse", &result.to_string());
            verdicts.push(text(&after, "/verdict").to_owned());
        }
    }
    let (pass, nudge) = ("pass", "nudge");
    let expected =
        [pass, pass, pass, pass, pass, nudge, pass, pass, pass, pass, "refuse", "refuse", "halt"];
    assert_eq!(verdicts, expected);
}

#[test]
fn each_client_hears_of_a_repeated_call_in_its_own_words() {
    // Calls that run before one is refused: lower where the client has a loop guard of its own.
    let clients =
        [("claude", 5), ("codex", 5), ("goose", 5), ("qwen", 3), ("opencode", 5), ("pi", 5)];
    for (agent, runs) in clients {
        let place = Place::new("");
        let input = |n: u32, more: &[(&str, Value)]| {
            let mut input = json!({
                "session_id": "s", "tool_name": "Bash", "tool_input": { "command": "ls" },
                "tool_use_id": n.to_string(), "tool_call_id": n.to_string(),
            });
            input
                .as_object_mut()
                .unwrap()
                .extend(more.iter().map(|(k, v)| ((*k).into(), v.clone())));
            input.to_string()
        };
        for n in 1..=runs {
            let before = place.ask(agent, "PreToolUse", &input(n, &[]));
            assert_eq!(before, Value::Null, "{agent} {n}");
            let result = [("tool_response", json!("same"))];
            let after = place.ask(agent, "PostToolUse", &input(n, &result));
            let advice = text(&after, "/hookSpecificOutput/additionalContext");
            let nudged = agent != "goose" && n == 3;
            assert_eq!(advice.contains("going round in circles"), nudged, "{agent} {n} {after}");
        }
        for n in runs + 1..=runs + 3 {
            let before = place.ask(agent, "PreToolUse", &input(n, &[]));
            let keys: Vec<&String> = before.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["decision", "reason"], "{agent}");
            assert_eq!(text(&before, "/decision"), "block", "{agent}");
            let reason = text(&before, "/reason");
            assert!(reason.starts_with("flyball: "), "{reason}");
            assert!(reason.contains(&format!("(blocked {}/3)", n - runs)), "{agent} {reason}");
            // Asked twice about the same call, it is refused twice and counted once.
            let again = place.ask(agent, "PreToolUse", &input(n, &[]));
            assert_eq!(text(&again, "/decision"), "block", "{agent}");
        }
    }
}

#[test]
fn clients_with_words_of_their_own_are_refused_in_them() {
    let place = Place::new("");
    let gemini = json!({
        "session_id": "s", "tool_name": "run_shell_command", "tool_input": { "command": "ls" },
        "tool_response": { "llmContent": "same" },
    });
    let copilot = json!({
        "sessionId": "s", "toolName": "bash", "toolArgs": { "command": "ls" },
        "toolResult": { "resultType": "success", "textResultForLlm": "same" },
    });
    let (gemini, copilot) = (gemini.to_string(), copilot.to_string());
    for n in 1..=4 {
        let before = place.ask("gemini", "BeforeTool", &gemini);
        assert_eq!(before.is_null(), n <= 3, "{before}");
        assert_eq!(text(&before, "/decision"), if n <= 3 { "" } else { "block" });
        if n <= 3 {
            let after = place.ask("gemini", "AfterTool", &gemini);
            let advice = text(&after, "/hookSpecificOutput/additionalContext");
            assert_eq!(advice.is_empty(), n != 3, "{n} {after}");
        }
    }
    for n in 1..=6 {
        let before = place.ask("copilot", "preToolUse", &copilot);
        let denied = text(&before, "/permissionDecision") == "deny";
        assert_eq!(denied, n == 6, "{before}");
        if n == 6 {
            assert!(text(&before, "/permissionDecisionReason").starts_with("flyball: tool 'bash'"));
        } else {
            let after = place.ask("copilot", "postToolUse", &copilot);
            assert_eq!(after["additionalContext"].is_string(), n == 3, "{n} {after}");
        }
    }
}

#[test]
fn hooks_that_are_installed_twice_count_a_call_once() {
    let place = Place::new("");
    for n in 1..=4 {
        let input = json!({
            "session_id": "s", "tool_name": "run_shell_command", "tool_input": { "command": "ls" },
            "tool_response": { "llmContent": "same" }, "timestamp": format!("2026-01-01T00:00:0{n}Z"),
        });
        let input = input.to_string();
        let mut refused = Vec::new();
        let mut advised = Vec::new();
        for _ in 0..2 {
            let before = place.ask("gemini", "BeforeTool", &input);
            refused.push(text(&before, "/decision") == "block");
        }
        for _ in 0..2 {
            let after = place.ask("gemini", "AfterTool", &input);
            advised.push(!text(&after, "/hookSpecificOutput/additionalContext").is_empty());
        }
        assert_eq!(refused, [n == 4, n == 4], "{n}");
        assert_eq!(advised, [n == 3, false], "{n}");
    }
    // The same for a stop that is asked about twice at once: it is refused once.
    let place = Place::new(&RED.replace("exit 1", "sleep 1; exit 1"));
    for round in 1..=3 {
        one_call(&place, "claude", &round.to_string());
        let begin = || begin(place.command(&["hook", "claude", "Stop"]), &stop("done"));
        let (first, second) = (begin(), begin());
        for child in [first, second] {
            assert_eq!(text(&answer(child), "/decision"), "block", "{round}");
        }
    }
    assert_eq!(place.ask("claude", "Stop", &stop("done")), Value::Null);
    // And one after the other, while the transcript stays as it was: refused by both, counted once.
    let place = Place::new(RED);
    let transcript = place.root().join("transcript.jsonl");
    for round in 1..=3 {
        one_call(&place, "claude", &round.to_string());
        fs::write(&transcript, "x".repeat(round)).unwrap();
        let mut asked: Value = serde_json::from_str(&stop("done")).unwrap();
        asked["transcript_path"] = transcript.display().to_string().into();
        for nth in ["first", "second"] {
            let told = place.ask("claude", "Stop", &asked.to_string());
            assert_eq!(text(&told, "/decision"), "block", "{round} {nth}");
            let twice = text(&told, "/reason").contains("installed twice");
            assert_eq!(twice, nth == "second", "{told}");
        }
    }
    assert_eq!(place.ask("claude", "Stop", &stop("done")), Value::Null);
}

#[test]
fn sessions_of_a_client_that_does_not_name_them_are_told_apart_by_process() {
    let place = Place::new("[calls]\nrefuse_after = 2\n");
    // Each client is a process of its own that asks three times.
    let script = "for n in 1 2 3; do echo '{\"tool_use_id\":\"'$n'\",\"tool_name\":\"t\",\
                  \"tool_input\":{}}' >call; \"$FLYBALL\" hook pi PreToolUse <call; done";
    for _ in 0..2 {
        let mut client = Command::new("sh");
        client
            .args(["-c", script])
            .current_dir(place.root())
            .env("FLYBALL", env!("CARGO_BIN_EXE_flyball"))
            .env("FLYBALL_STATE", place.folder.path().join("state"));
        let output = client.output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(told.matches("\"block\"").count(), 1, "{told}");
        assert!(told.contains("called 3 times"), "{told}");
    }
}

#[test]
fn copilots_shell_numbers_do_not_hide_the_same_result() {
    let place = Place::new("");
    let mut advised = Vec::new();
    for n in 0..4 {
        let mut call = json!({
            "sessionId": "s", "timestamp": n, "toolName": "bash", "toolArgs": { "command": "ls" },
        });
        place.ask("copilot", "preToolUse", &call.to_string());
        let said = format!("a\n<shellId: {n} completed with exit code 0>");
        call["toolResult"] = json!({ "resultType": "success", "textResultForLlm": said });
        let after = place.ask("copilot", "postToolUse", &call.to_string());
        advised.push(after["additionalContext"].is_string());
    }
    assert_eq!(advised, [false, false, true, false]);
}

#[test]
fn fifty_hooks_at_once_are_all_judged_and_none_is_lost() {
    let place = Place::new("");
    let ask = |n: u32| {
        let call = json!({ "id": n.to_string(), "tool": "bash", "args": {} }).to_string();
        begin(place.command(&["hook", "flyball", "PreToolUse"]), &call)
    };
    let children: Vec<Child> = (0..50).map(ask).collect();
    let verdicts: Vec<String> =
        children.into_iter().map(|child| text(&answer(child), "/verdict").to_owned()).collect();
    let count = |word: &str| verdicts.iter().filter(|verdict| *verdict == word).count();
    assert_eq!((count("pass"), count("refuse"), count("halt")), (5, 2, 43), "{verdicts:?}");
}

const RED: &str =
    "[[gates.check]]\nname = \"tests\"\ncommand = \"echo 'src/a.rs:3: boom'; exit 1\"\n";

fn stop(said: &str) -> String {
    json!({ "session_id": "s", "last_assistant_message": said, "stop_hook_active": false })
        .to_string()
}

fn one_call(place: &Place, agent: &str, id: &str) {
    let call = json!({ "session_id": "s", "tool_use_id": id, "tool_name": "t", "tool_input": {} });
    place.ask(agent, "PreToolUse", &call.to_string());
}

#[test]
fn a_stop_with_a_red_gate_is_refused_three_times_and_no_more() {
    let place = Place::new(RED);
    // A turn without a call is an answer, not work.
    assert_eq!(place.ask("claude", "Stop", &stop("hello")), Value::Null);
    one_call(&place, "claude", "1");
    let blocked = "I cannot. <promise>BLOCKED:no network</promise>";
    assert_eq!(place.ask("claude", "Stop", &stop(blocked)), Value::Null);
    for _ in 0..3 {
        let refused = place.ask("claude", "Stop", &stop("done"));
        let reason = text(&refused, "/reason");
        assert_eq!(text(&refused, "/decision"), "block", "{refused}");
        assert!(reason.starts_with("flyball: # Completion Blocked: tests failed"), "{reason}");
        assert!(reason.contains("boom"), "{reason}");
    }
    assert_eq!(place.ask("claude", "Stop", &stop("done")), Value::Null);
    // Another session has its own count.
    let other =
        json!({ "session_id": "o", "tool_use_id": "1", "tool_name": "t", "tool_input": {} });
    place.ask("claude", "PreToolUse", &other.to_string());
    let other = json!({ "session_id": "o", "last_assistant_message": "done" });
    assert_eq!(text(&place.ask("claude", "Stop", &other.to_string()), "/decision"), "block");
}

#[test]
fn what_gates_say_of_a_tree_that_changed_meanwhile_is_not_remembered() {
    // The gate itself leaves something behind the first time.
    let place = Place::new(
        "[[gates.check]]\nname = \"tests\"\n\
         command = \"echo x >> ../runs; test -f made || { echo y > made; exit 1; }; false\"\n",
    );
    one_call(&place, "claude", "1");
    let runs = || fs::read_to_string(place.root().parent().unwrap().join("runs")).unwrap();
    for count in 1..=2 {
        assert_eq!(text(&place.ask("claude", "Stop", &stop("done")), "/decision"), "block");
        assert_eq!(runs().lines().count(), count);
        fs::remove_file(place.root().join("made")).unwrap();
    }
}

#[test]
fn sessions_outside_of_a_run_are_shown_with_their_calls() {
    let place = Place::new(RED);
    one_call(&place, "claude", "1");
    assert_eq!(text(&place.ask("claude", "Stop", &stop("done")), "/decision"), "block");
    let out = place.command(&["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&out.stdout).unwrap();
    let session = &status["sessions"][0];
    assert_eq!((&session["door"], &session["stops_refused"]), (&json!("hook"), &json!(1)));
    assert_eq!(session["calls"]["calls"], 1, "{status}");
    let name = session["name"].as_str().unwrap();
    assert!(name.starts_with("claude/"), "{name}");
    let text = place.command(&["status"]).output().unwrap();
    assert!(String::from_utf8_lossy(&text.stdout).contains(name));
    let log = place.command(&["log", "--session", name]).output().unwrap();
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    assert!(log.contains("PreToolUse") && log.contains("Completion Blocked"), "{log}");
}

#[test]
fn what_each_guard_did_in_a_session_of_hooks_is_told() {
    let place = Place::new(RED);
    let mut answers = Vec::new();
    for number in 1..=8 {
        let id = number.to_string();
        let mut call =
            json!({ "session_id": "s", "tool_use_id": id, "tool_name": "t", "tool_input": {} });
        answers.push(place.ask("claude", "PreToolUse", &call.to_string()));
        if number < 6 {
            call["tool_response"] = json!("the same");
            answers.push(place.ask("claude", "PostToolUse", &call.to_string()));
        }
    }
    assert_eq!(text(&place.ask("claude", "Stop", &stop("done")), "/decision"), "block");
    let out = place.command(&["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&out.stdout).unwrap();
    let session = &status["sessions"][0];
    let guards = &session["calls"]["guards"];
    assert_eq!(guards["repetition"], json!({ "nudged": 1, "refused": 2, "halted": 1 }), "{status}");
    assert_eq!(guards["completion"]["refused"], 1, "{status}");
    let name = session["name"].as_str().unwrap();
    let log = place.command(&["log", "--session", name]).output().unwrap();
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    assert!(log.contains("repetition: 1 nudged, 2 refused, 1 halted"), "{log}");
    // Nothing ends the session of a person: so nobody says that it ends.
    let said = format!("{answers:?}");
    assert!(said.contains("Stop here: 3 refused calls are enough"), "{said}");
    assert!(!said.contains("session ends here"), "{said}");
}

#[test]
fn a_green_gate_or_a_repository_without_flyball_lets_the_agent_stop() {
    for config in ["", "[[gates.check]]\nname = \"tests\"\ncommand = \"true\"\n"] {
        let place = Place::new(config);
        one_call(&place, "goose", "");
        assert_eq!(place.ask("goose", "Stop", &stop("done")), Value::Null, "{config}");
    }
}

#[test]
fn a_large_result_is_replaced_where_the_client_allows_it_and_pointed_to_elsewhere() {
    let place = Place::new("[calls]\nlarge_response = 1000\n");
    let result = "ä".repeat(1001);
    let post = |agent: &str| {
        let input = json!({
            "session_id": "s", "tool_use_id": "1", "tool_name": "../../etc/x", "tool_input": {},
            "tool_response": result,
        });
        place.ask(agent, "PostToolUse", &input.to_string())
    };
    let replaced = post("codex");
    assert_eq!(text(&replaced, "/decision"), "block");
    assert!(text(&replaced, "/reason").contains("1001 characters"));
    let pointed = post("claude");
    assert!(text(&pointed, "/hookSpecificOutput/additionalContext").contains("responses/"));
    let failure = json!({
        "session_id": "s", "tool_use_id": "2", "tool_name": "t", "tool_input": {}, "error": result,
    });
    let failed = place.ask("claude", "PostToolUseFailure", &failure.to_string());
    assert!(text(&failed, "/hookSpecificOutput/additionalContext").contains("responses/"));
    let folder = place.root().join(".flyball/responses");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files = || -> Vec<PathBuf> {
        let all = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|path| !path.ends_with(".gitignore")).collect()
    };
    assert_eq!((mode(&folder), files().len()), (0o700, 3));
    // An agent that commits everything does not commit these.
    let seen =
        Command::new("git").args(["status", "--porcelain"]).current_dir(place.root()).output();
    assert_eq!(String::from_utf8(seen.unwrap().stdout).unwrap(), "");
    for file in files() {
        assert_eq!((mode(&file), fs::read_to_string(&file).unwrap() == result), (0o600, true));
    }
    place.ask("claude", "SessionEnd", r#"{"session_id":"s"}"#);
    assert_eq!(files().len(), 1);
    place.ask("codex", "SessionEnd", r#"{"session_id":"s"}"#);
    assert!(!folder.exists());
}

#[test]
fn qwen_is_told_how_full_its_context_is() {
    let place = Place::new("");
    let stop = json!({ "session_id": "s", "context_usage": 0.72 }).to_string();
    assert_eq!(place.ask("qwen", "Stop", &stop), Value::Null);
    let call =
        json!({ "session_id": "s", "tool_call_id": "1", "tool_name": "t", "tool_input": {} });
    let told = place.ask("qwen", "PreToolUse", &call.to_string());
    let advice = text(&told, "/hookSpecificOutput/additionalContext");
    assert!(advice.starts_with("WARNING: 70% of the context window"), "{told}");
}

#[test]
fn an_unknown_agent_is_a_wrong_usage() {
    let place = Place::new("");
    let output = begin(place.command(&["hook", "goos", "Stop"]), "{}").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(64));
    assert!(String::from_utf8(output.stderr).unwrap().contains("did you mean `goose`"));
}

/// A home-made agent that asks before each call and tells all of it.
const AGENT: &str = r#"#!/bin/sh
cat >/dev/null
for n in 1 2 3 4 5 6 7 8 9; do
  call='{"type":"call","id":"'$n'","tool":"bash","args":{"cmd":"ls"}}'
  verdict=$(echo "$call" | "$FLYBALL" hook flyball PreToolUse)
  echo "$verdict" >>"$VERDICTS"
  echo "$call"
  case "$verdict" in
    *'"pass"'*|*'"nudge"'*)
      result='{"type":"result","id":"'$n'","output":"same"}'
      echo "$result" | "$FLYBALL" hook flyball PostToolUse >>"$VERDICTS"
      echo "$result" ;;
    *halt*) sleep 30 ;;
  esac
done
"#;

#[test]
fn a_run_hears_the_halt_of_a_hook_and_counts_no_call_twice() {
    let config = "[agent]\ncommand = \"sh agent.sh\"\noutput = \"flyball\"\n\
                  [iterations]\non_session_halt = \"stop\"\n\
                  [[gates.check]]\nname = \"tests\"\ncommand = \"test -f done\"\n";
    let place = Place::new(config);
    fs::write(place.root().join("agent.sh"), AGENT).unwrap();
    let verdicts = place.folder.path().join("verdicts");
    let mut command = place.command(&["run", "--format", "json"]);
    command.env("FLYBALL", env!("CARGO_BIN_EXE_flyball")).env("VERDICTS", &verdicts);
    let output = begin(command, "").wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{out}\n{err}");
    assert!(out.contains("repetition_loop"), "{out}");
    assert_eq!(out.matches("\"rung\":\"halt\",\"message\"").count(), 1, "{out}");
    // Asked about and shown, each call was counted once.
    let answers = out.lines().filter(|line| line.contains("\"answer_door\""));
    let most = answers.filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line.pointer("/order/answer/calls/calls").and_then(Value::as_u64)
    });
    assert_eq!(most.max(), Some(8), "{out}");
    let verdicts = fs::read_to_string(verdicts).unwrap();
    let count = |word: &str| verdicts.matches(&format!("\"{word}\"")).count();
    assert_eq!((count("nudge"), count("refuse")), (1, 2), "{verdicts}");
    assert_eq!(out.matches("\"rung\":\"refuse\",\"message\"").count(), 2, "{out}");
}

/// A question stays a question: red gates are the affair of a turn that changed something.
#[test]
fn a_turn_that_changed_nothing_is_never_refused_its_stop() {
    let place = Place::new(RED);
    let prompt = |text: &str| json!({ "session_id": "s", "prompt": text }).to_string();
    for (round, begins) in ["SessionStart", "UserPromptSubmit"].into_iter().enumerate() {
        place.ask("claude", begins, &prompt("why is it red?"));
        one_call(&place, "claude", &format!("look {round}"));
        assert_eq!(place.ask("claude", "Stop", &stop("because")), Value::Null, "{begins}");
    }
    place.ask("claude", "UserPromptSubmit", &prompt("mend it"));
    one_call(&place, "claude", "edit");
    fs::write(place.root().join("work"), "half").unwrap();
    for _ in 0..2 {
        let refused = place.ask("claude", "Stop", &stop("done"));
        assert_eq!(text(&refused, "/decision"), "block", "{refused}");
        // Some clients give the reason to the agent as a prompt; that begins no new turn.
        place.ask("claude", "UserPromptSubmit", &prompt(text(&refused, "/reason")));
    }
    // What an earlier turn left red is not the next question's affair.
    place.ask("claude", "UserPromptSubmit", &prompt("what was that?"));
    one_call(&place, "claude", "look again");
    assert_eq!(place.ask("claude", "Stop", &stop("well")), Value::Null);
}

#[test]
fn sessions_guarded_by_hooks_show_in_status_and_log() {
    let place = Place::new(RED);
    let run = |arguments: &[&str]| {
        let output = begin(place.command(arguments), "").wait_with_output().unwrap();
        let (out, err) = (output.stdout, output.stderr);
        (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    };
    one_call(&place, "claude", "1");
    fs::write(place.root().join("work"), "half").unwrap();
    place.ask("claude", "Stop", &stop("done"));
    let (status, _) = run(&["status"]);
    assert!(status.contains("claude/s") && status.contains("hooks"), "{status}");
    let (_, hint) = run(&["log"]);
    assert!(hint.contains("`flyball log --session claude/s`"), "{hint}");
    for arguments in
        [&["log", "--session"][..], &["log", "--session", "claude/s"], &["log", "--session", "e/s"]]
    {
        let (told, error) = run(arguments);
        assert!(told.contains("PreToolUse") && told.contains("tests failed"), "{told}{error}");
    }
    let (_, unknown) = run(&["log", "--session", "nobody"]);
    assert!(unknown.contains("nothing is known of a session `nobody`"), "{unknown}");
}
