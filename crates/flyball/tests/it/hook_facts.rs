//! What hooks tell besides calls: a human's word, and calls that are none.

use std::io::Write;

use serde_json::{Value, json};

use crate::hook::{Place, text};

fn ask(place: &Place, agent: &str, event: &str, input: &Value) -> Value {
    let mut child = place.command(&["hook", agent, event]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// The names of a client's hooks: before a call, and when a human speaks; and the member that refuses.
const CLIENTS: [(&str, &str, &str, &str); 5] = [
    ("claude", "PreToolUse", "UserPromptSubmit", "/decision"),
    ("codex", "PreToolUse", "UserPromptSubmit", "/decision"),
    ("qwen", "PreToolUse", "UserPromptSubmit", "/decision"),
    ("gemini", "BeforeTool", "BeforeAgent", "/decision"),
    ("copilot", "preToolUse", "userPromptSubmitted", "/permissionDecision"),
];

fn call(agent: &str, number: u32) -> Value {
    let (id, stamp) = (number.to_string(), format!("2026-11-15T07:00:0{number}Z"));
    if agent == "copilot" {
        return json!({ "sessionId": "s", "timestamp": number, "toolName": "t", "toolArgs": {} });
    }
    json!({
        "session_id": "s", "tool_use_id": id, "tool_call_id": id, "timestamp": stamp,
        "tool_name": "t", "tool_input": {},
    })
}

#[test]
fn a_humans_word_is_a_new_beginning_and_a_hooks_is_none() {
    for (agent, before, human, refused) in CLIENTS {
        let place = Place::new("[calls]\nrefuse_after = 2\nmax_refusals = 9\n");
        let refuses =
            |number| !text(&ask(&place, agent, before, &call(agent, number)), refused).is_empty();
        let told = |prompt: &str| {
            let input = json!({ "session_id": "s", "sessionId": "s", "prompt": prompt });
            assert_eq!(ask(&place, agent, human, &input), Value::Null, "{agent}");
        };
        assert_eq!([1, 2, 3].map(refuses), [false, false, true], "{agent}");
        // qwen tells of an empty one after each round; gemini of the reason of a refused stop.
        for prompt in ["", "flyball: the gate is red"] {
            told(prompt);
            assert!(refuses(4), "{agent} {prompt}");
        }
        told("try something else");
        assert!(!refuses(5), "{agent}");
    }
}

#[test]
fn a_call_of_the_own_protocol_that_is_none_counts_as_such() {
    let place = Place::new("");
    let rounds =
        [json!({ "args": {} }), json!({ "tool": "t", "args": [1] }), json!({ "tool": "" })];
    let verdicts = rounds.map(|call| {
        let answer = ask(&place, "flyball", "PreToolUse", &call);
        text(&answer, "/verdict").to_owned()
    });
    assert_eq!(verdicts, ["nudge", "nudge", "halt"]);
}
