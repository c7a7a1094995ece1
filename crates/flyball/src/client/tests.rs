//! What is the same for every client: lines, banners, words, money, command lines.

use std::path::{Path, PathBuf};

use flyball_core::call::{ToolOutcome, ValidationKind};
use serde_json::json;

use super::*;

fn read_as(agent: &str, lines: &[&str]) -> (Vec<Fact>, Exit) {
    read_with(agent, &ReadRequest::default(), lines)
}

fn read_with(agent: &str, request: &ReadRequest, lines: &[&str]) -> (Vec<Fact>, Exit) {
    let mut reader = adapter(agent).unwrap().output().reader(request);
    let mut facts = Vec::new();
    for line in lines {
        reader.stdout(line.as_bytes(), &mut facts);
        reader.stdout(b"\n", &mut facts);
    }
    let exit = reader.finish(ExitHow::Code(0), &mut facts);
    (facts, exit)
}

fn bad_lines(facts: &[Fact]) -> usize {
    let bad = |fact: &&Fact| {
        matches!(fact, Fact::Agent(AgentFact::SpokeNonsense(failure))
            if failure.kind == ValidationKind::BadStreamLine)
    };
    facts.iter().filter(bad).count()
}

fn agent_facts(facts: Vec<Fact>) -> Vec<AgentFact> {
    let own = |fact| match fact {
        Fact::Agent(fact) => Some(fact),
        Fact::AgentNote(_) => None,
    };
    facts.into_iter().filter_map(own).collect()
}

const TEXT: &str = r#"{"type":"text","text":"hello"}"#;

#[test]
fn a_banner_is_no_failure_and_adjacent_bad_lines_are_one() {
    let cases: [(&[&str], usize); 8] = [
        (&["welcome", "to the agent", TEXT], 0),
        (&[TEXT, "", "   ", TEXT], 0),
        (&[TEXT, "oops", TEXT], 1),
        (&[TEXT, "oops", "again", "", "and again", TEXT], 1),
        (&[TEXT, "oops", TEXT, "again"], 2),
        (&[TEXT, r#"{"type":"text","text":"torn"#], 1),
        (&[TEXT, r#"chatter {"type":"text","text":"x"}"#], 0),
        (&[TEXT, "[1]", "12", "null", "\u{fffd}"], 1),
    ];
    for (lines, failures) in cases {
        assert_eq!(bad_lines(&read_as("flyball", lines).0), failures, "{lines:?}");
    }
}

#[test]
fn an_unknown_event_or_a_field_of_another_type_is_never_fatal() {
    let lines = [
        TEXT,
        r#"{"type":"new_thing","x":{"y":[1]}}"#,
        r#"{"type":"usage","input_tokens":"many","output_tokens":{"a":1},"context_used":[]}"#,
        r#"{"type":7}"#,
        r#"{"no":"type"}"#,
        r#"{"type":"call","id":3,"tool":["x"],"args":"text"}"#,
    ];
    for known in adapters().filter(|adapter| adapter.output().is_structured()) {
        let mut out = Vec::new();
        let mut reader = known.output().reader(&ReadRequest::default());
        for line in lines {
            reader.stdout(format!("{line}\n").as_bytes(), &mut out);
        }
        reader.finish(ExitHow::Code(0), &mut out);
        assert_eq!(bad_lines(&out), 0, "{}", known.name());
        assert!(
            out.contains(&Fact::AgentNote(AgentNote::Unknown("new_thing".to_owned()))),
            "{}",
            known.name()
        );
    }
}

#[test]
fn a_line_without_end_is_one_bad_line_in_bounded_memory() {
    let mut reader = adapter("claude").unwrap().output().reader(&ReadRequest::default());
    let mut facts = Vec::new();
    reader.stdout(b"{\"type\":\"system\",\"subtype\":\"init\"}\n", &mut facts);
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..40 {
        reader.stdout(&piece, &mut facts);
    }
    reader.stdout(b"\n", &mut facts);
    assert_eq!(bad_lines(&facts), 1);
}

#[test]
fn what_keeps_an_agent_from_its_model_is_told_in_flyballs_own_protocol() {
    let told = |line: &str| {
        let (facts, _) = read_as("flyball", &[TEXT, line]);
        let is_trouble = |fact: &AgentFact| {
            matches!(
                fact,
                AgentFact::RefusedCredentials { .. }
                    | AgentFact::LostModel { .. }
                    | AgentFact::HitLimit { .. }
            )
        };
        agent_facts(facts).into_iter().find(is_trouble)
    };
    let message = || "no such key".to_owned();
    assert_eq!(
        told(r#"{"type":"error","kind":"credentials","message":"no such key"}"#),
        Some(AgentFact::RefusedCredentials { message: message() })
    );
    assert_eq!(
        told(r#"{"type":"error","kind":"unreachable","message":"no such key"}"#),
        Some(AgentFact::LostModel { message: message() })
    );
    assert_eq!(
        told(r#"{"type":"limit","resets_at":null,"message":"no such key"}"#),
        Some(AgentFact::HitLimit { resets_at: None, message: message() })
    );
}

#[cfg(feature = "session")]
#[test]
fn what_the_built_in_agent_said_before_a_refused_stop_is_not_its_last_word() {
    let mut reader = adapter("session").unwrap().output().reader(&ReadRequest::default());
    let mut out = Vec::new();
    let mut say = |reader: &mut dyn Reader, text: &str| {
        let line = json!({ "type": "text", "text": text });
        reader.stdout(format!("{line}\n").as_bytes(), &mut out);
    };
    say(&mut *reader, "<promise>BLOCKED:no network</promise>");
    reader.refused_stop("");
    say(&mut *reader, "Done after all.");
    let exit = reader.finish(ExitHow::Code(0), &mut Vec::new());
    assert_eq!((exit.claims.blocked, exit.last_words.as_str()), (None, "Done after all."));
}

#[test]
fn flyballs_own_protocol_reaches_every_ring() {
    let (facts, exit) = read_as(
        "flyball",
        &[
            r#"{"type":"call","id":"1","tool":"bash","args":{"command":"ls","description":"look"},"agent":"main"}"#,
            r#"{"type":"result","id":"1","output":"x","error":null}"#,
            r#"{"type":"call","id":"2","tool":"bash","args":{"description":"again","command":"ls"},"agent":"helper"}"#,
            r#"{"type":"result","id":"2","output":"x","error":"exit","agent":"helper"}"#,
            r#"{"type":"invalid","error":"missing field `command`","received":"{}"}"#,
            r#"{"type":"usage","input_tokens":10,"output_tokens":2,"cost_usd":0.01,"context_used":0.4}"#,
            r#"{"type":"text","text":"all "}"#,
            r#"{"type":"text","text":"<promise>COMPLETE</promise>"}"#,
        ],
    );
    assert!(exit.claims.complete);
    let facts = agent_facts(facts);
    let [
        AgentFact::CalledTool(first),
        AgentFact::ToolReturned(found),
        AgentFact::CalledTool(second),
        AgentFact::ToolReturned(failed),
        AgentFact::SpokeNonsense(invalid),
        AgentFact::Spent(spend),
        AgentFact::FilledContext { permille: 400 },
        AgentFact::OnlySpoke { .. },
    ] = facts.as_slice()
    else {
        panic!("{facts:?}")
    };
    assert_eq!(first.call, second.call, "a description does not make another call");
    assert_eq!((first.agent.as_str(), second.agent.as_str()), ("", "helper"));
    assert_eq!((found.outcome, failed.outcome), (ToolOutcome::Ok, ToolOutcome::Exit));
    assert_eq!(found.result, failed.result);
    assert_eq!(invalid.kind, ValidationKind::MissingField);
    assert_eq!((spend.input_tokens, spend.output_tokens, spend.cost_micro_usd), (10, 2, 10_000));
    let (facts, _) =
        read_as("flyball", &[r#"{"type":"limit","resets_at":"2026-11-15T08:20:00Z"}"#]);
    let limit = &agent_facts(facts)[0];
    assert!(
        matches!(limit, AgentFact::HitLimit { resets_at: Some(at), .. } if at.as_millis() == 1_794_730_800_000)
    );
}

#[test]
fn words_before_a_call_are_not_the_final_ones() {
    let claim = r#"{"type":"text","text":"<promise>COMPLETE</promise>"}"#;
    let call = r#"{"type":"call","id":"1","tool":"bash","args":{}}"#;
    let result = r#"{"type":"result","id":"1","output":"x"}"#;
    assert!(read_as("flyball", &[call, result, claim]).1.claims.complete);
    assert!(!read_as("flyball", &[claim, call, result]).1.claims.complete);
    assert!(!read_as("flyball", &[claim, call]).1.claims.complete);
    assert!(!read_as("flyball", &[claim, call, result, TEXT]).1.claims.complete);
}

#[test]
fn a_message_with_a_malformed_call_is_not_a_well_formed_one() {
    let bad = r#"{"type":"invalid","error":"no JSON","received":"{"}"#;
    let (facts, _) = read_as("flyball", &[TEXT, bad, TEXT, bad, TEXT, bad]);
    let spoke = |fact: &AgentFact| matches!(fact, AgentFact::Spoke | AgentFact::OnlySpoke { .. });
    assert!(!agent_facts(facts).iter().any(spoke));
}

#[test]
fn a_context_is_told_in_steps_of_a_percent_and_never_walks_back() {
    let line = |tokens: u64| {
        let usage = json!({ "input_tokens": tokens, "output_tokens": 0 });
        let message = json!({ "id": tokens.to_string(), "content": [], "usage": usage });
        json!({ "type": "assistant", "message": message }).to_string()
    };
    let lines = [100_000, 100_500, 104_000, 20_000, 150_000].map(line);
    let lines = lines.each_ref().map(String::as_str);
    let request = ReadRequest { context_window: Some(200_000), ..ReadRequest::default() };
    let (facts, _) = read_with("claude", &request, &lines);
    let filled: Vec<_> = agent_facts(facts)
        .into_iter()
        .filter(|fact| matches!(fact, AgentFact::FilledContext { .. }))
        .collect();
    let wanted = [500, 520, 750].map(|permille| AgentFact::FilledContext { permille });
    assert_eq!(filled, wanted);
}

#[test]
fn a_sub_agents_words_are_not_the_agents() {
    let line = |parent: serde_json::Value| {
        let text = json!({ "type": "text", "text": "<promise>COMPLETE</promise>" });
        let call = json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": {} });
        let message = json!({ "id": "m", "content": [text, call] });
        json!({ "type": "assistant", "message": message, "parent_tool_use_id": parent }).to_string()
    };
    let (facts, exit) = read_as("claude", &[&line(json!("toolu_parent"))]);
    assert!(!exit.claims.complete);
    let facts = agent_facts(facts);
    assert!(
        matches!(&facts[0], AgentFact::CalledTool(call) if call.agent.as_str() == "toolu_parent")
    );
}

/// A request as the driver makes it.
fn launch_of(agent: &str, hooks: Option<&HookSetup>) -> Launch {
    let extra = ["--extra".to_owned()];
    adapter(agent).unwrap().launch(&LaunchRequest {
        prompt: "do it",
        model: Some("m1"),
        permissions: Permissions::Bypass,
        hooks,
        private_dir: Path::new("/state/run"),
        worktree: Path::new("/repo"),
        program: None,
        extra_args: &extra,
    })
}

#[test]
fn each_client_is_started_in_its_own_way() {
    let cases = [
        (
            "claude",
            "claude -p --output-format stream-json --verbose --model m1 --dangerously-skip-permissions --extra",
        ),
        (
            "codex",
            "codex exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -m m1 -c check_for_update_on_startup=false --extra -",
        ),
        ("gemini", "gemini --output-format stream-json -m m1 --yolo --extra"),
        (
            "goose",
            "goose run -q --output-format stream-json --with-builtin developer --model m1 --extra -i -",
        ),
        ("opencode", "opencode run --format json --auto --model m1 --extra"),
        ("qwen", "qwen --output-format stream-json -m m1 --yolo --extra -p do it"),
        (
            "copilot",
            "copilot --output-format json --no-color --allow-all-tools --allow-all-paths --model m1 --extra -p do it",
        ),
        ("pi", "pi --mode json -p --model m1 --extra do it"),
        ("cline", "cline --json -m m1 --extra do it"),
        (
            "aider",
            "aider --yes-always --no-pretty --no-fancy-input --no-check-update --analytics-disable --model m1 --extra --message-file /state/run/prompt.md",
        ),
    ];
    for (agent, line) in cases {
        let launch = launch_of(agent, None);
        assert_eq!(launch.argv.join(" "), line);
        let by_argument = launch.argv.iter().any(|arg| arg == "do it");
        let by_stdin = launch.stdin == Stdin::Text("do it".to_owned());
        let by_file = launch.files.iter().any(|file| file.text == "do it");
        assert_eq!([by_argument, by_stdin, by_file].iter().filter(|&&by| by).count(), 1, "{agent}");
    }
}

#[test]
fn hooks_call_flyball_and_are_put_where_the_client_looks() {
    let program = PathBuf::from("/opt/my tools/flyball");
    let hooks =
        HookSetup { stay: HooksFor::Run, program, call_timeout_secs: 7, stop_timeout_secs: 900 };
    for known in adapters().filter(|adapter| adapter.name() != "flyball") {
        let agent = known.name();
        let launch = launch_of(agent, Some(&hooks));
        let files = launch.files.iter().map(|file| file.text.as_str());
        let told = launch.argv.iter().map(String::as_str).chain(files).collect::<String>();
        assert_eq!(told.contains("/opt/my tools/flyball"), known.takes_hooks(), "{agent}");
        if known.takes_hooks() {
            assert!(told.contains("900"), "{agent}: gates run in the stop hook");
            assert!(!told.contains('@') || agent == "copilot", "{agent}: a blank is not filled in");
        }
        for file in &launch.files {
            let root = match file.place {
                Place::Private => "/state/run",
                Place::Worktree => "/repo",
            };
            assert!(file.path.starts_with(root), "{agent}: {}", file.path.display());
            if file.path.extension().is_some_and(|ending| ending == "json") {
                serde_json::from_str::<serde_json::Value>(&file.text).unwrap();
            }
        }
    }
}

#[test]
fn a_clients_own_loop_guard_is_never_reached() {
    for (agent, most) in
        [("gemini", Some(3)), ("qwen", Some(3)), ("cline", Some(3)), ("claude", None)]
    {
        assert_eq!(adapter(agent).unwrap().output().refuse_after_at_most(), most, "{agent}");
    }
    for known in adapters() {
        assert!(
            known.output().stop_refusal_cap() <= 6,
            "{}: clients override the 8th or 9th",
            known.name()
        );
    }
}

#[test]
fn a_hook_tells_apart_what_failed_exited_did_not_run_and_was_no_call() {
    let after = |client: &str, event: &str, input: serde_json::Value| {
        let dialect = registry::dialect(client).unwrap();
        let heard = dialect.read(dialect.occasion(event), &input);
        (heard.result.map(|result| result.outcome), heard.invalid.map(|failure| failure.kind))
    };
    let failed =
        |client, error: &str| after(client, "PostToolUseFailure", json!({ "error": error }));
    let plugin = |client, text: &str| {
        after(client, "PostToolUse", json!({ "tool_response": text, "is_error": true }))
    };
    let outcome = |outcome| (Some(outcome), None);
    let unknown = "<tool_use_error>Error: No such tool available: X</tool_use_error>";
    let cases = [
        (failed("claude", "Exit code 2\nboom"), outcome(ToolOutcome::Exit)),
        (failed("claude", "Exit code 143\nCommand timed out after 2m"), outcome(ToolOutcome::Tool)),
        (failed("claude", "String to replace not found"), outcome(ToolOutcome::Tool)),
        (failed("claude", "Sibling tool call errored"), outcome(ToolOutcome::Refused)),
        (failed("claude", "flyball: refused"), outcome(ToolOutcome::Refused)),
        (failed("claude", unknown), (None, Some(ValidationKind::UnknownTool))),
        (failed("qwen", "Exit Code: 2"), outcome(ToolOutcome::Exit)),
        (failed("qwen", "flyball: refused"), outcome(ToolOutcome::Refused)),
        (failed("qwen", "no such file"), outcome(ToolOutcome::Tool)),
        (plugin("opencode", "flyball: refused"), outcome(ToolOutcome::Refused)),
        (plugin("pi", "Command exited with code 1"), outcome(ToolOutcome::Exit)),
        (plugin("pi", "no such file"), outcome(ToolOutcome::Tool)),
        (
            after("gemini", "AfterTool", json!({ "tool_response": { "llmContent": "x" } })),
            outcome(ToolOutcome::Ok),
        ),
        (
            after("gemini", "AfterTool", json!({ "tool_response": { "error": {} } })),
            outcome(ToolOutcome::Tool),
        ),
        (
            after("copilot", "postToolUse", json!({ "toolResult": { "resultType": "denied" } })),
            outcome(ToolOutcome::Refused),
        ),
        (after("codex", "PostToolUse", json!({ "tool_response": "x" })), outcome(ToolOutcome::Ok)),
        (
            after("flyball", "PostToolUse", json!({ "error": "refused" })),
            outcome(ToolOutcome::Refused),
        ),
        (
            after("flyball", "PreToolUse", json!({ "tool": "t", "args": 1 })),
            (None, Some(ValidationKind::WrongType)),
        ),
    ];
    for (number, (told, wanted)) in cases.into_iter().enumerate() {
        assert_eq!(told, wanted, "case {number}");
    }
}
