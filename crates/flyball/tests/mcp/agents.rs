//! Real agent programs that are given flyball's tools, or a guarded server, with the scripted model
//! in place of theirs: what the model calls reaches flyball, and what flyball says reaches the model.
//!
//! goose is always asked; claude and codex when `FLYBALL_E2E` names them.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use flyball_testkit::clients::{Client, cache, client, surroundings};
use flyball_testkit::model::{ModelServer, Step};
use serde_json::{Value, json};

use crate::conformance::{FLYBALL, Place, place, server, wanted};

/// The longest an agent may take.
const PATIENCE: Duration = Duration::from_mins(3);

fn agents() -> Vec<&'static Client> {
    let named = std::env::var("FLYBALL_E2E").unwrap_or_default();
    let named: Vec<&str> = named.split(',').map(str::trim).collect();
    ["goose", "claude", "codex"]
        .into_iter()
        .filter(|name| *name == "goose" || named.contains(name))
        .map(|name| client(name).unwrap())
        .collect()
}

/// A server's tool as the agent's model knows it.
fn tool(agent: &Client, name: &str) -> String {
    match agent.name {
        "goose" => format!("flyball__{name}"),
        "claude" => format!("mcp__flyball__{name}"),
        _ => format!("mcp__flyball/{name}"),
    }
}

/// What brings an MCP server to the agent, and its prompt on standard input.
fn arguments(agent: &Client, place: &Place, server: &[&str]) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (program, args) = server.split_first().unwrap();
    match agent.name {
        "goose" => {
            let start = words(&["run", "-q", "--output-format", "stream-json", "--no-profile"]);
            let extension = words(&["--with-extension", &server.join(" "), "-i", "-"]);
            [start, extension].concat()
        }
        "claude" => {
            let servers =
                json!({ "mcpServers": { "flyball": { "command": program, "args": args } } });
            let file = place.root.join("../mcp.json");
            fs::write(&file, servers.to_string()).unwrap();
            let file = file.to_str().unwrap();
            let model = agent.model.unwrap();
            let skip = "--dangerously-skip-permissions";
            words(&["-p", "--model", model, "--mcp-config", file, "--strict-mcp-config", skip])
        }
        _ => {
            // A model it does not know is given all tools at once.
            let server = format!("mcp_servers.flyball={{command={program:?},args={args:?}}}");
            let skip = "--dangerously-bypass-approvals-and-sandbox";
            words(&["exec", skip, "-m", "mock-model", "-c", &server])
        }
    }
}

/// One session of the agent with this server; what the model was given as results, in order.
fn session(agent: &Client, place: &Place, server: &[&str], script: Vec<Step>) -> Vec<String> {
    let program = agent.install(&cache()).unwrap_or_else(|error| panic!("{error}"));
    let model = ModelServer::start(script).unwrap();
    let home = place.root.join("../home");
    fs::create_dir_all(&home).unwrap();
    let around = surroundings(agent, &home, &model).unwrap();
    let mut command = Command::new(program);
    command
        .args(arguments(agent, place, server))
        .args(around.args)
        .env_clear()
        .envs(around.env)
        .envs([("GOOSE_MODE", "auto"), ("GOOSE_TELEMETRY_OFF", "1"), ("IS_SANDBOX", "1")])
        .env("FLYBALL_STATE", place.root.join("../state"))
        .current_dir(&place.root);
    let said = finish(&mut command, &place.root);
    let turns = model.turns();
    let given = turns.last().map(|turn| turn.given().results).unwrap_or_default();
    assert!(!given.is_empty(), "{}: {} turns\n{said}", agent.name, turns.len());
    given
}

/// Runs the agent to its end, or ends it.
fn finish(command: &mut Command, root: &Path) -> String {
    let log = root.join("../agent.log");
    let file = fs::File::create(&log).unwrap();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"use your tools").unwrap();
    let step = Duration::from_millis(50);
    let mut waited = Duration::ZERO;
    while child.try_wait().unwrap().is_none() {
        if waited >= PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the agent does not end: {}", fs::read_to_string(&log).unwrap());
        }
        thread::sleep(step);
        waited += step;
    }
    fs::read_to_string(&log).unwrap()
}

#[test]
fn an_agent_plans_records_attempts_and_is_given_authority() {
    if !wanted() {
        return;
    }
    for agent in agents() {
        let call = |name: &str, arguments: Value| Step::call(tool(agent, name), &arguments);
        let blocked = json!({ "task": "US-1", "status": "blocked", "blockers": ["no database"] });
        let attempt = || call("attempt_record", blocked.clone());
        let script = vec![
            call("plan_next", json!({})),
            attempt(),
            attempt(),
            attempt(),
            call("loop_check", json!({ "task": "US-1" })),
            call("loop_check", json!({ "task": "US-1", "action": "dance" })),
            Step::text("All done."),
        ];
        let given = session(agent, &place(), &[FLYBALL, "mcp"], script);
        let expected = [
            (0, "US-1"),
            (1, "\"attempts\":1"),
            (3, "\"remedy\":\"unblock_authority\""),
            (4, "\"applied\":true"),
            (4, "you may now decide yourself"),
            (5, "`action`: unknown variant"),
        ];
        for (number, text) in expected {
            // Some agents hand on the structured content, some the text, some both escaped.
            let said =
                given.get(number).map(|said| said.replace("\\\"", "\"").replace("\": ", "\":"));
            let said = said.unwrap_or_else(|| panic!("{}: {given:?}", agent.name));
            assert!(said.contains(text), "{} {number}: {text} in {said}", agent.name);
        }
    }
}

#[test]
fn an_agents_repeated_call_is_refused_by_the_guard_and_its_model_is_told_why() {
    if !wanted() {
        return;
    }
    let everything = server("everything");
    for agent in agents() {
        let echo = || Step::call(tool(agent, "echo"), &json!({ "message": "again" }));
        let other = Step::call(tool(agent, "echo"), &json!({ "message": "something else" }));
        let script = vec![echo(), echo(), echo(), other, Step::text("All done.")];
        let guard = [FLYBALL, "mcp-guard", "--refuse-after", "2", "--", "node", &everything];
        let given = session(agent, &place(), &guard, script);
        assert_eq!(given.len(), 4, "{}: {given:?}", agent.name);
        assert!(given[0].contains("again") && given[1].contains("again"), "{given:?}");
        let refusal = "tool 'echo' called 3 times consecutively with identical parameters";
        assert!(given[2].contains(refusal), "{}: {given:?}", agent.name);
        assert!(given[3].contains("something else"), "{}: {given:?}", agent.name);
    }
}
