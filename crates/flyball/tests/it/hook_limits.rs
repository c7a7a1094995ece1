//! Hooks in trouble: input that is wrong, late or without end, a journal that is busy, gates that take
//! too long. There is always an answer in time, and it says what happened.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::hook::{Place, begin, text};

/// What a hook answered, and what it said besides.
fn both(child: Child) -> (Value, String) {
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let (out, err) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    (if out.is_empty() { Value::Null } else { serde_json::from_str(&out).unwrap() }, err)
}

fn ask(place: &Place, agent: &str, event: &str, input: &[u8]) -> (Value, String) {
    let mut child = place.command(&["hook", agent, event]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    both(child)
}

const CALL: &str = r#"{"session_id":"s","tool_use_id":"1","tool_name":"t","tool_input":{}}"#;

/// How each client is refused before a call: where the word stands, and which.
const REFUSED: [(&str, &str, &str, &str); 9] = [
    ("claude", "PreToolUse", "/decision", "block"),
    ("codex", "PreToolUse", "/decision", "block"),
    ("gemini", "BeforeTool", "/decision", "block"),
    ("qwen", "PreToolUse", "/decision", "block"),
    ("goose", "PreToolUse", "/decision", "block"),
    ("copilot", "preToolUse", "/permissionDecision", "deny"),
    ("opencode", "PreToolUse", "/decision", "block"),
    ("pi", "PreToolUse", "/decision", "block"),
    ("flyball", "PreToolUse", "/verdict", "refuse"),
];

#[test]
fn a_hook_that_fails_is_open_or_closed_as_set_and_says_so() {
    for setting in ["open", "closed"] {
        let place = Place::new(&format!("[hooks]\non_error = \"{setting}\"\n"));
        for (agent, event, pointer, word) in REFUSED {
            for input in [&b""[..], b"no json", b"[1]", b"{\"cut", b"\xff\xfe", b"null"] {
                let (answer, said) = ask(&place, agent, event, input);
                let expected = if setting == "closed" { word } else { "" };
                let found = text(&answer, pointer).replace("pass", "");
                assert_eq!(found, expected, "{agent} {setting} {input:?} {answer}");
                let told = format!("{answer}{said}");
                assert!(told.contains("the hook's input is no JSON object"), "{agent} {told}");
            }
        }
        // Nothing counts here, so a stop is not refused without end.
        let (answer, said) = ask(&place, "claude", "Stop", b"no json");
        assert_eq!(answer, Value::Null);
        assert!(said.contains("`Stop` of claude could not be judged"), "{said}");
        // A state folder that cannot be used.
        let mut command = place.command(&["hook", "goose", "PreToolUse"]);
        command.env("FLYBALL_STATE", "/dev/null/none");
        let (answer, _) = both(begin(command, CALL));
        assert_eq!(text(&answer, "/decision"), if setting == "closed" { "block" } else { "" });
    }
}

#[test]
fn missing_members_and_unknown_events_are_no_failure() {
    let place = Place::new("[hooks]\non_error = \"closed\"\n");
    for (agent, event, ..) in REFUSED {
        for input in ["{}", r#"{"session_id":7,"tool_name":null,"tool_input":"x","cwd":3}"#] {
            let (answer, said) = ask(&place, agent, event, input.as_bytes());
            // In flyball's own protocol a call without a tool is none, and that is said.
            let expected = if agent == "flyball" { json!("nudge") } else { Value::Null };
            assert_eq!((&answer["verdict"], said.as_str()), (&expected, ""), "{agent} {answer}");
        }
        for event in ["Notification", "", "preToolUse\u{0435}"] {
            let (answer, said) = ask(&place, agent, event, b"{}");
            let passes = answer.is_null() || answer["verdict"] == "pass";
            assert_eq!((passes, said.as_str()), (true, ""), "{agent} {event} {answer}");
        }
    }
    // Bytes that are no text do not hide the call: the same one is counted.
    let place = Place::new("[calls]\nrefuse_after = 2\n");
    for (id, decision) in [("1", ""), ("2", ""), ("3", "block")] {
        let call = CALL.replace('1', id).replace("{}", "{\"a\":\"#\"}");
        let call: Vec<u8> =
            call.bytes().map(|byte| if byte == b'#' { 0xff } else { byte }).collect();
        let (answer, said) = ask(&place, "claude", "PreToolUse", &call);
        assert_eq!((text(&answer, "/decision"), said.as_str()), (decision, ""), "{answer}");
    }
}

#[test]
fn a_pipe_that_stays_open_is_not_waited_for() {
    let place = Place::new("[hooks]\non_error = \"closed\"\ntimeout = \"1s\"\n");
    // All of it is there: the answer comes, and the pipe is still open.
    let mut child = place.command(&["hook", "claude", "PreToolUse"]).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(CALL.as_bytes()).unwrap();
    assert_eq!(both(child), (Value::Null, String::new()));
    drop(pipe);
    // It never comes: the settings are known all the same.
    let mut child = place.command(&["hook", "claude", "PreToolUse"]).spawn().unwrap();
    let pipe = child.stdin.take().unwrap();
    let (answer, _) = both(child);
    assert_eq!(text(&answer, "/decision"), "block");
    assert!(text(&answer, "/reason").contains("it took too long"), "{answer}");
    drop(pipe);
}

/// A process that holds the journal's lock until it is ended.
struct Busy(Child);

impl Busy {
    fn on(place: &Place) -> Self {
        let lock = place.folder.path().join("state/journal.lock");
        let script = "import fcntl, sys, time\nf = open(sys.argv[1], 'a')\n\
                      fcntl.flock(f, fcntl.LOCK_EX)\nprint('held', flush=True)\ntime.sleep(60)\n";
        let mut child = Command::new("python3")
            .args(["-c", script])
            .arg(lock)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut held = [0_u8; 4];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut held).unwrap();
        Self(child)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_journal_that_is_busy_does_not_hold_an_agent_up() {
    for (setting, decision) in [("open", ""), ("closed", "block")] {
        let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"false\"\ntimeout = \"300s\"\n";
        let hooks = format!("[hooks]\non_error = \"{setting}\"\ntimeout = \"500ms\"\n{gate}");
        let place = Place::new(&hooks);
        ask(&place, "claude", "PreToolUse", CALL.as_bytes());
        let _busy = Busy::on(&place);
        let stop = json!({ "session_id": "s", "stop_hook_active": false }).to_string();
        for (event, input) in [("PreToolUse", CALL.replace('1', "2")), ("Stop", stop)] {
            let (answer, said) = ask(&place, "claude", event, input.as_bytes());
            // Later than the lock is held it would be judged.
            assert_eq!(text(&answer, "/decision"), decision, "{setting} {event} {answer}");
            assert!(format!("{answer}{said}").contains("it took too long"), "{answer} {said}");
        }
    }
}

#[test]
fn a_gate_that_takes_too_long_is_ended_and_found_wanting() {
    let place = Place::new(
        "[hooks]\ntimeout = \"500ms\"\n[[gates.check]]\nname = \"tests\"\n\
         command = \"echo $$ >pid; sleep 300\"\ntimeout = \"1s\"\n",
    );
    fs::write(place.root().join(".gitignore"), "pid\n").unwrap();
    ask(&place, "claude", "PreToolUse", CALL.as_bytes());
    let (answer, said) = ask(&place, "claude", "Stop", br#"{"session_id":"s"}"#);
    assert_eq!((text(&answer, "/decision"), said.as_str()), ("block", ""), "{answer}");
    assert!(text(&answer, "/reason").contains("tests timed out"), "{answer}");
    let pid = fs::read_to_string(place.root().join("pid")).unwrap();
    assert!(!flyball::platform::alive(pid.trim().parse().unwrap()));
}
