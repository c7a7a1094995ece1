//! What a client prints, read by its adapter without a run around it.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use flyball::client::{
    Fact, HookSetup, HooksFor, Launch, LaunchRequest, Permissions, ReadRequest, Stdin, adapter,
};
use flyball_core::AgentFact;
use flyball_core::call::ToolOutcome;
use flyball_core::event::{Exit, ExitHow, Spend};
use flyball_testkit::clients::{Client, surroundings};
use flyball_testkit::model::{ModelServer, Step};
use serde_json::json;

use crate::Trial;
use crate::scene::place;

/// Everything in here.
pub(crate) const TRIALS: [Trial; 4] = [
    Trial::new("facts of a session", calls_a_tool_then_finishes),
    Trial::new("a promise", promises_to_be_complete),
    // qwen waits for minutes by itself; what a run makes of that is another trial.
    Trial::new("a limit is told", hits_a_limit).but_for(&["qwen"]),
    // flyball's own agent asks the run itself.
    Trial::new("hooks", obeys_its_hooks).but_for(&["session"]),
];

/// What a session told.
struct Told {
    facts: Vec<AgentFact>,
    exit: Exit,
    server: ModelServer,
}

fn calls_a_tool_then_finishes(client: &Client, program: &Path) {
    let (tool, argument) = client.shell;
    let call = Step::call(tool, &json!({ argument: "cat README.md" })).saying("Looking.");
    let told = run(client, program, vec![call, Step::text("All done.")]);
    let mut calls = Vec::new();
    let mut results = Vec::new();
    for fact in &told.facts {
        if let AgentFact::CalledTool(call) = fact {
            calls.push(call.preview.as_str());
        } else if let AgentFact::ToolReturned(result) = fact {
            results.push(result);
        }
    }
    assert_eq!(calls.len(), 1, "{}: {:?}", client.name, told.facts);
    assert!(calls.iter().all(|preview| preview.contains("cat README.md")), "{calls:?}");
    assert!(
        matches!(results.as_slice(), [one] if one.outcome == ToolOutcome::Ok && one.preview.contains("hello from readme")),
        "{}: {results:?}",
        client.name
    );
    let spoke = |fact: &AgentFact| matches!(fact, AgentFact::Spoke | AgentFact::OnlySpoke { .. });
    assert!(told.facts.iter().any(spoke), "{}", client.name);
    if client.name != "copilot" {
        let spent = spent(&told.facts);
        assert_eq!((spent.input_tokens, spent.output_tokens), (200, 40), "{}", client.name);
    }
    if ["claude", "opencode", "pi", "codex"].contains(&client.name) {
        assert!(spent(&told.facts).cost_micro_usd > 0, "{}: no cost", client.name);
    }
    assert_eq!(told.exit.how, ExitHow::Code(0), "{}", client.name);
    assert_eq!(told.exit.last_words, "All done.", "{}", client.name);
    assert!(!told.exit.claims.complete, "{}", client.name);
    let turns = told.server.turns();
    assert_eq!(turns.len(), 2, "{}", client.name);
    let given = turns.last().map(flyball_testkit::model::Request::given).unwrap_or_default();
    assert!(given.results.iter().any(|r| r.contains("hello from readme")), "{given:?}");
}

fn promises_to_be_complete(client: &Client, program: &Path) {
    let words = "Everything is finished.\n<promise>COMPLETE</promise>";
    let told = run(client, program, vec![Step::text(words)]);
    assert!(told.exit.claims.complete, "{}: {:?}", client.name, told.exit);
    assert_eq!(told.exit.last_words, words, "{}", client.name);
}

fn hits_a_limit(client: &Client, program: &Path) {
    let error = Step::error(429).saying("Rate limit reached").header("retry-after", "1");
    let told = run(client, program, vec![error]);
    let limited = told.facts.iter().any(|fact| matches!(fact, AgentFact::HitLimit { .. }));
    assert!(limited, "{}: {:?} {:?}", client.name, told.facts, told.exit);
    assert!(!told.exit.claims.complete, "{}", client.name);
}

/// The hooks of the launch really fire: the first call is refused, the first stop is refused, and
/// the model is told why.
fn obeys_its_hooks(client: &Client, program: &Path) {
    let (tool, argument) = client.shell;
    let call = || Step::call(tool, &json!({ argument: "cat README.md" }));
    let script = vec![call(), Step::text("done 1"), Step::text("done 2")];
    let told = run_hooked(client, program, script);
    let turns = told.server.turns();
    assert_eq!(turns.len(), 3, "{}: {:?}", client.name, told.facts);
    let texts: Vec<_> = turns.iter().map(flyball_testkit::model::Request::given).collect();
    let refused = texts.iter().any(|given| given.results.iter().any(|r| r.contains("flyball: no")));
    assert!(refused, "{}: {texts:?}", client.name);
    let sent_on =
        texts.iter().any(|given| given.messages.iter().any(|m| m.contains("flyball: go on")));
    assert!(sent_on, "{}: {texts:?}", client.name);
    // qwen glues all attempts together; only a run knows from the hook where one ends.
    let last = if client.name == "qwen" { "done 1done 2" } else { "done 2" };
    assert_eq!(told.exit.last_words, last, "{}", client.name);
    // codex shows neither the call nor the refusal.
    let shown = told.facts.iter().any(|fact| {
        matches!(fact, AgentFact::ToolReturned(result) if result.outcome == ToolOutcome::Refused)
    });
    assert_eq!(shown, client.name != "codex", "{}: {:?}", client.name, told.facts);
}

/// Stands for `flyball hook AGENT EVENT`: refuses every call and the first stop.
const HOOK: &str = r#"#!/bin/sh
cat >/dev/null
case "$3" in
  PreToolUse|BeforeTool) echo '{"decision":"block","reason":"flyball: no"}' ;;
  preToolUse) echo '{"permissionDecision":"deny","permissionDecisionReason":"flyball: no"}' ;;
  Stop|AfterAgent|agentStop)
    if mkdir "$0.stopped" 2>/dev/null; then
      echo '{"decision":"block","reason":"flyball: go on"}'
    fi ;;
esac
"#;

fn run_hooked(client: &Client, program: &Path, script: Vec<Step>) -> Told {
    let place = place();
    let hook = place.path().join("my hook.sh");
    std::fs::write(&hook, HOOK).expect("a file");
    let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, runnable).expect("a program");
    let hooks = HookSetup {
        stay: HooksFor::Run,
        program: hook,
        call_timeout_secs: 10,
        stop_timeout_secs: 60,
    };
    run_with(client, program, script, Some(&hooks))
}

fn spent(facts: &[AgentFact]) -> Spend {
    let mut sum = Spend::default();
    for fact in facts {
        if let AgentFact::Spent(spend) = fact {
            sum.input_tokens += spend.input_tokens;
            sum.output_tokens += spend.output_tokens;
            sum.cost_micro_usd += spend.cost_micro_usd;
        }
    }
    sum
}

/// One session of the client in a worktree and a home of its own.
fn run(client: &Client, program: &Path, script: Vec<Step>) -> Told {
    run_with(client, program, script, None)
}

fn run_with(client: &Client, program: &Path, script: Vec<Step>, hooks: Option<&HookSetup>) -> Told {
    let server = ModelServer::start(script).expect("a free port");
    let place = place();
    let (worktree, home) = (place.path().join("repo"), place.path().join("home"));
    for folder in [&worktree, &home] {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    std::fs::write(worktree.join("README.md"), "hello from readme\n").expect("a file");
    if client.package.is_empty() {
        // It works in the repository around it, and that is not this one's.
        let made = Command::new("git").args(["init", "-q"]).current_dir(&worktree).status();
        assert!(made.expect("git").success());
    }
    let around = surroundings(client, &home, &server).expect("a home");
    let adapter = adapter(client.name).expect("an adapter");
    let launch = adapter.launch(&LaunchRequest {
        prompt: "please look around",
        model: client.model,
        permissions: Permissions::Bypass,
        hooks,
        private_dir: place.path(),
        worktree: &worktree,
        program: Some(&program.to_string_lossy()),
        extra_args: &around.args,
    });
    for file in &launch.files {
        std::fs::create_dir_all(file.path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&file.path, &file.text).expect("a file");
    }
    let (stdout, stderr, how) = perform(&launch, &around.env, &worktree);
    let mut reader = adapter.output().reader(&ReadRequest {
        prompt: "please look around".to_owned(),
        model: client.model.map(str::to_owned),
        ..ReadRequest::default()
    });
    let mut facts = Vec::new();
    reader.stderr(&stderr, &mut facts);
    reader.stdout(&stdout, &mut facts);
    let exit = reader.finish(how, &mut facts);
    let facts = facts.into_iter().filter_map(|fact| match fact {
        Fact::Agent(fact) => Some(fact),
        Fact::AgentNote(_) => None,
    });
    Told { facts: facts.collect(), exit, server }
}

fn perform(launch: &Launch, env: &[(String, String)], at: &Path) -> (Vec<u8>, Vec<u8>, ExitHow) {
    let (program, args) = launch.argv.split_first().expect("a program");
    let mut child = Command::new(program)
        .args(args)
        .env_clear()
        .envs(env.iter().cloned())
        .envs(launch.env.iter().cloned())
        .current_dir(at)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the client starts");
    let mut stdin = child.stdin.take().expect("stdin");
    if let Stdin::Text(prompt) = &launch.stdin {
        stdin.write_all(prompt.as_bytes()).expect("the prompt is taken");
    }
    drop(stdin);
    let (done, waiting) = mpsc::channel();
    let mut pipes = (child.stdout.take().expect("stdout"), child.stderr.take().expect("stderr"));
    let errors = thread::spawn(move || {
        let mut errors = Vec::new();
        pipes.1.read_to_end(&mut errors).map(|_| errors)
    });
    thread::spawn(move || {
        let mut output = Vec::new();
        drop(done.send(pipes.0.read_to_end(&mut output).map(|_| output)));
    });
    let output = waiting.recv_timeout(Duration::from_mins(2));
    if output.is_err() {
        drop(child.kill());
    }
    let status = child.wait().expect("the client ends");
    let output = output.expect("the client ends within two minutes").expect("its output");
    let errors = errors.join().expect("no panic").expect("its errors");
    (output, errors, status.code().map_or(ExitHow::Lost, ExitHow::Code))
}
