//! What each client tells of its calls, beyond tool and arguments: client by client, fact by fact.
//! Lines are of the shapes that were recorded in `tests/fixtures`.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

use std::path::Path;

use flyball::client::{Fact, ReadRequest, adapter};
use flyball_core::AgentFact;
use flyball_core::call::{ToolCall, ToolOutcome, ToolResult, ValidationKind};
use flyball_core::event::ExitHow;
use serde_json::{Value, json};

fn read(client: &str, stdout: &[u8]) -> Vec<AgentFact> {
    let mut reader = adapter(client).unwrap().output().reader(&ReadRequest::default());
    let mut facts = Vec::new();
    reader.stdout(stdout, &mut facts);
    reader.finish(ExitHow::Code(0), &mut facts);
    facts
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::Agent(fact) => Some(fact),
            Fact::AgentNote(_) => None,
        })
        .collect()
}

fn lines(client: &str, events: &[Value]) -> Vec<AgentFact> {
    let lines: Vec<String> = events.iter().map(ToString::to_string).collect();
    read(client, lines.join("\n").as_bytes())
}

fn recorded(client: &str, case: &str) -> Vec<AgentFact> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(client);
    read(client, &std::fs::read(path.join(format!("{case}.jsonl"))).unwrap())
}

fn calls(facts: &[AgentFact]) -> Vec<&ToolCall> {
    facts
        .iter()
        .filter_map(|fact| if let AgentFact::CalledTool(call) = fact { Some(call) } else { None })
        .collect()
}

fn results(facts: &[AgentFact]) -> Vec<&ToolResult> {
    facts
        .iter()
        .filter_map(|fact| if let AgentFact::ToolReturned(one) = fact { Some(one) } else { None })
        .collect()
}

fn kinds(facts: &[AgentFact]) -> Vec<ValidationKind> {
    facts
        .iter()
        .filter_map(|fact| {
            if let AgentFact::SpokeNonsense(failure) = fact { Some(failure.kind) } else { None }
        })
        .collect()
}

/// Several calls of one turn have one round, and the next turn has another.
#[test]
fn calls_of_one_turn_are_a_round() {
    for (client, case, together) in [
        ("claude", "a2_read_tool_parallel", 3),
        ("gemini", "a2_parallel_and_failing", 3),
        ("qwen", "a2_parallel_and_failing", 3),
        ("goose", "a2_parallel_and_failing", 3),
        ("opencode", "a2_parallel_and_failing", 3),
        ("copilot", "a2_parallel_and_failing", 3),
    ] {
        let facts = recorded(client, case);
        let calls = calls(&facts);
        let first = calls[0].round.clone();
        assert!(!first.as_str().is_empty(), "{client}");
        let of_first = calls.iter().filter(|call| call.round == first).count();
        assert_eq!(of_first, together, "{client}: {calls:?}");
    }
    for client in
        ["claude", "codex", "gemini", "qwen", "goose", "opencode", "copilot", "pi", "cline"]
    {
        let facts = recorded(client, "b_repeat_same_call");
        let calls = calls(&facts);
        let mut rounds: Vec<&str> = calls.iter().map(|call| call.round.as_str()).collect();
        assert!(rounds.iter().all(|round| !round.is_empty()), "{client}: {rounds:?}");
        let made = rounds.len();
        rounds.dedup();
        assert!(made >= 3 && rounds.len() == made, "{client}: one call a turn, {rounds:?}");
    }
}

/// Codex shows no turns: what runs at the same time is one.
#[test]
fn codex_calls_that_overlap_are_a_round() {
    let item = |kind: &str, id: &str| {
        json!({ "type": format!("item.{kind}"), "item": {
            "id": id, "type": "command_execution", "command": format!("cat {id}"),
            "aggregated_output": "", "exit_code": 0, "status": "completed",
        }})
    };
    let facts = lines(
        "codex",
        &[
            item("started", "a"),
            item("started", "b"),
            item("completed", "a"),
            item("started", "c"),
            item("completed", "b"),
            item("completed", "c"),
            item("started", "d"),
            item("completed", "d"),
        ],
    );
    let rounds: Vec<&str> = calls(&facts).iter().map(|call| call.round.as_str()).collect();
    assert_eq!(rounds, ["a", "a", "a", "d"]);
}

/// A call of this client's, in its stream.
fn call_of(client: &str, tool: &str, args: &Value) -> Vec<Value> {
    match client {
        "claude" | "qwen" => {
            vec![json!({ "type": "assistant", "message": { "id": "m", "content": [
                { "type": "tool_use", "id": "1", "name": tool, "input": args },
            ]}})]
        }
        "gemini" => vec![
            json!({ "type": "tool_use", "tool_name": tool, "tool_id": "1", "parameters": args }),
        ],
        "goose" => vec![json!({ "type": "message", "message": { "id": "m", "role": "assistant",
            "content": [{ "type": "toolRequest", "id": "1", "toolCall": {
                "status": "success", "value": { "name": tool, "arguments": args } }}]}})],
        "opencode" => vec![json!({ "type": "tool_use", "sessionID": "s", "part": {
            "messageID": "m", "tool": tool, "callID": "1",
            "state": { "status": "completed", "input": args, "output": "" } }})],
        "copilot" => vec![json!({ "type": "tool.execution_start", "data": {
            "toolCallId": "1", "toolName": tool, "arguments": args } })],
        "pi" => vec![json!({ "type": "tool_execution_start", "toolCallId": "1", "toolName": tool,
            "args": args })],
        "cline" => vec![json!({ "type": "agent_event", "event": { "type": "content_start",
            "contentType": "tool", "toolName": tool, "toolCallId": "1", "input": args } })],
        "flyball" => vec![json!({ "type": "call", "id": "1", "tool": tool, "args": args })],
        _ => Vec::new(),
    }
}

#[test]
fn calls_that_change_files_are_known_by_tool_or_by_line() {
    let changes = [
        ("claude", "Edit", json!({ "file_path": "a" })),
        ("claude", "Write", json!({})),
        ("claude", "MultiEdit", json!({})),
        ("claude", "NotebookEdit", json!({})),
        ("claude", "Bash", json!({ "command": "sed -i s/a/b/ f" })),
        ("claude", "mcp__files__write_file", json!({})),
        ("gemini", "replace", json!({})),
        ("gemini", "write_file", json!({})),
        ("gemini", "run_shell_command", json!({ "command": "echo a > b" })),
        ("qwen", "edit", json!({})),
        ("qwen", "run_shell_command", json!({ "command": "rm a" })),
        ("goose", "write", json!({})),
        ("goose", "edit", json!({})),
        ("goose", "developer__text_editor", json!({ "command": "str_replace" })),
        ("goose", "shell", json!({ "command": "mv a b" })),
        ("opencode", "edit", json!({})),
        ("opencode", "bash", json!({ "command": "touch a" })),
        ("copilot", "create", json!({})),
        ("copilot", "str_replace_editor", json!({ "command": "insert" })),
        ("copilot", "bash", json!({ "command": "cp a b" })),
        ("pi", "write", json!({})),
        ("pi", "bash", json!({ "command": "git commit -m x" })),
        ("cline", "editor", json!({})),
        ("cline", "run_commands", json!({ "commands": ["ls", "rm a"] })),
        ("flyball", "apply_patch", json!({})),
        ("flyball", "bash", json!({ "command": "rm a" })),
    ];
    let reads = [
        ("claude", "Read", json!({})),
        ("claude", "Bash", json!({ "command": "cargo test" })),
        ("gemini", "read_file", json!({})),
        ("gemini", "run_shell_command", json!({ "command": "cat a" })),
        ("qwen", "read_file", json!({})),
        ("goose", "developer__text_editor", json!({ "command": "view" })),
        ("goose", "shell", json!({ "command": "ls" })),
        ("opencode", "bash", json!({ "command": "grep -r a ." })),
        ("copilot", "view", json!({})),
        ("copilot", "str_replace_editor", json!({ "command": "view" })),
        ("pi", "bash", json!({ "command": "cat a" })),
        ("cline", "run_commands", json!({ "commands": ["ls"] })),
        ("flyball", "read", json!({})),
    ];
    for (cases, wanted) in [(&changes[..], true), (&reads[..], false)] {
        for (client, tool, args) in cases {
            let facts = lines(client, &call_of(client, tool, args));
            let calls = calls(&facts);
            assert_eq!(calls.len(), 1, "{client} {tool}");
            assert_eq!(calls[0].mutating, wanted, "{client} {tool} {args}");
        }
    }
    let patch = recorded("codex", "a2_parallel_and_failing");
    let changing: Vec<&str> =
        calls(&patch).iter().filter(|call| call.mutating).map(|call| call.tool.as_str()).collect();
    assert_eq!(changing, ["apply_patch"]);
}

/// An answer of Claude Code's to a call.
fn claude_answer(content: &str) -> Vec<AgentFact> {
    let mut events = call_of("claude", "Bash", &json!({ "command": "ls" }));
    events.push(json!({ "type": "user", "message": { "content": [
        { "type": "tool_result", "tool_use_id": "1", "content": content, "is_error": true },
    ]}}));
    lines("claude", &events)
}

#[test]
fn claude_code_tells_apart_what_failed_exited_and_did_not_run() {
    for (content, outcome) in [
        ("Exit code 3\nboom", ToolOutcome::Exit),
        ("Exit code 143\nCommand timed out after 2m 0.0s", ToolOutcome::Tool),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", ToolOutcome::Tool),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", ToolOutcome::Refused),
        (
            "<tool_use_error>Cancelled: parallel tool call Bash(ls) errored</tool_use_error>",
            ToolOutcome::Refused,
        ),
        ("The user doesn't want to proceed with this tool use.", ToolOutcome::Refused),
        ("PreToolUse:Bash hook error: flyball: blocked", ToolOutcome::Refused),
    ] {
        let facts = claude_answer(content);
        assert_eq!(results(&facts)[0].outcome, outcome, "{content}");
    }
    let facts = recorded("claude", "f_sigint_during_tool");
    assert!(results(&facts).iter().any(|result| result.outcome == ToolOutcome::Refused));
}

/// A call that a hook refused did not run, in the stream of every client that shows it.
#[test]
fn a_refused_call_did_not_run() {
    for (client, case) in [
        ("claude", "h2b_pre_decision_block"),
        ("gemini", "h2b_pre_decision_block"),
        ("qwen", "k8_project_settings_hooks"),
        ("goose", "h2_pre_decision_block"),
        ("copilot", "h1_pre_deny"),
        ("opencode", "h1_block"),
        ("pi", "h1_block"),
    ] {
        let facts = recorded(client, case);
        let refused = results(&facts).iter().any(|one| one.outcome == ToolOutcome::Refused);
        assert!(refused, "{client}: {:?}", results(&facts));
    }
}

#[test]
fn malformed_calls_are_validation_failures_in_the_clients_own_words() {
    for (client, case, kind) in [
        ("claude", "c_malformed_json_args", ValidationKind::UnparseableJson),
        ("claude", "c2_unknown_tool", ValidationKind::UnknownTool),
        ("claude", "c3_schema_invalid_args", ValidationKind::MissingField),
        ("gemini", "c_unknown_tool", ValidationKind::UnknownTool),
        ("gemini", "c2_schema_invalid_args", ValidationKind::MissingField),
        ("qwen", "c_malformed_json_args", ValidationKind::UnparseableJson),
        ("qwen", "c2_unknown_tool", ValidationKind::UnknownTool),
        ("qwen", "c3_schema_invalid_args", ValidationKind::MissingField),
        ("goose", "c2_unknown_tool", ValidationKind::UnknownTool),
        ("goose", "c3_schema_invalid_args", ValidationKind::MissingField),
        ("opencode", "c_malformed_json_args", ValidationKind::UnparseableJson),
        ("opencode", "c2_unknown_tool", ValidationKind::UnknownTool),
        ("opencode", "c3_schema_invalid_args", ValidationKind::MissingField),
        ("copilot", "c_malformed_json_args", ValidationKind::UnparseableJson),
        ("copilot", "c2_unknown_tool", ValidationKind::UnknownTool),
        ("copilot", "c3_schema_invalid_args", ValidationKind::MissingField),
        ("pi", "c2_unknown_tool", ValidationKind::UnknownTool),
        ("pi", "c3_schema_invalid_args", ValidationKind::MissingField),
        ("cline", "c2_unknown_tool", ValidationKind::UnknownTool),
    ] {
        assert!(kinds(&recorded(client, case)).contains(&kind), "{client} {case}");
    }
}

#[test]
fn the_own_protocol_says_what_a_call_is_and_what_is_none() {
    let call =
        |tool: Value, args: Value| json!({ "type": "call", "id": 1, "tool": tool, "args": args });
    for (event, kind) in [
        (json!({ "type": "call", "id": "1", "args": {} }), ValidationKind::MissingField),
        (call(json!(""), json!({})), ValidationKind::MissingField),
        (call(json!(7), json!({})), ValidationKind::MissingField),
        (call(json!("bash"), json!("ls")), ValidationKind::WrongType),
        (call(json!("bash"), json!(["ls"])), ValidationKind::WrongType),
    ] {
        let facts = lines("flyball", std::slice::from_ref(&event));
        assert_eq!((calls(&facts).len(), kinds(&facts)), (0, vec![kind]), "{event}");
    }
    let facts = lines(
        "flyball",
        &[
            json!({ "type": "call", "id": 1, "tool": "deploy", "round": 7, "mutates": true }),
            json!({ "type": "call", "id": 2, "tool": "write", "args": null, "round": "7", "mutates": false }),
            json!({ "type": "result", "id": 1, "output": "" }),
            json!({ "type": "human" }),
        ],
    );
    let calls = calls(&facts);
    assert_eq!(
        (calls[0].id.as_str(), calls[0].round.as_str(), calls[0].mutating),
        ("1", "7", true)
    );
    assert_eq!((calls[1].round.as_str(), calls[1].mutating), ("7", false));
    assert_eq!((results(&facts)[0].id.as_str(), results(&facts)[0].empty), ("1", true));
    assert!(facts.contains(&AgentFact::HeardHuman));
}

/// A turn that holds words alone, in every client that makes calls.
#[test]
fn a_turn_of_words_alone_is_told() {
    let only_spoke = |facts: &[AgentFact]| {
        facts.iter().filter(|f| matches!(f, AgentFact::OnlySpoke { .. })).count()
    };
    for client in
        ["claude", "codex", "gemini", "qwen", "goose", "opencode", "copilot", "pi", "cline"]
    {
        assert_eq!(only_spoke(&recorded(client, "a_tool_then_finish")), 1, "{client}");
    }
    // Words beside a call are none, before it or behind it.
    let text = json!({ "type": "text", "text": "I look." });
    let call = json!({ "type": "tool_use", "id": "1", "name": "Bash", "input": {} });
    for content in [[text.clone(), call.clone()], [call, text]] {
        let events = content.map(
            |block| json!({ "type": "assistant", "message": { "id": "m", "content": [block] } }),
        );
        assert_eq!(only_spoke(&lines("claude", &events)), 0);
    }
}

#[test]
fn an_answer_cut_at_the_token_limit_is_told() {
    let cut = [
        (
            "claude",
            json!({ "type": "assistant", "message": { "id": "m", "stop_reason": "max_tokens",
            "content": [{ "type": "text", "text": "half" }] } }),
        ),
        (
            "qwen",
            json!({ "type": "assistant", "message": { "id": "m", "stop_reason": "max_tokens",
            "content": [{ "type": "text", "text": "half" }] } }),
        ),
        ("opencode", json!({ "type": "step_finish", "part": { "reason": "length" } })),
        (
            "pi",
            json!({ "type": "message_end", "message": { "role": "assistant",
            "stopReason": "length", "content": [{ "type": "text", "text": "half" }] } }),
        ),
        ("flyball", json!({ "type": "invalid", "error": "truncated at the token limit" })),
    ];
    for (client, event) in cut {
        let facts = lines(client, &[event]);
        assert_eq!(kinds(&facts), [ValidationKind::TruncatedResponse], "{client}");
    }
    let goose = recorded("goose", "c_malformed_json_args");
    assert!(kinds(&goose).contains(&ValidationKind::TruncatedResponse));
}
