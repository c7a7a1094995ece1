//! What a run must do with every client: the table of the clients.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flyball_testkit::clients::Client;
use flyball_testkit::model::Step;
use serde_json::json;

use crate::Trial;
use crate::scene::Scene;

/// Everything that can be tried at once.
pub(crate) const TRIALS: [Trial; 11] = [
    Trial::new("a: a repeated call is nudged, refused, halted", repeats_a_call),
    Trial::new(
        "a: after a halt the next session is told, and so is the one a human resumes",
        is_told,
    ),
    Trial::new("b: a stop with a red gate is refused", stops_with_a_red_gate),
    Trial::new("c: COMPLETE is recognised", is_complete),
    Trial::new("e: a token limit ends it in mid-iteration", uses_too_many_tokens),
    // The models these are tried with have no price.
    Trial::new("e: a cost limit ends it in mid-iteration", costs_too_much)
        .but_for(&["goose", "qwen", "copilot"]),
    Trial::new("f: SIGTERM leaves no process", is_terminated),
    Trial::new("g: no attempt at flyball's state goes through", cannot_escape),
    // goose is told by the tests to keep its things where no sandbox looks for them.
    Trial::new("h: an honest agent works in a sandbox", works_in_a_sandbox).but_for(&["goose"]),
    Trial::new("i: no secret is read, nothing is written outside", cannot_leave_a_workspace)
        .but_for(&["gemini", "qwen", "copilot", "opencode", "pi"]),
    Trial::new("j: nobody is reached who is not listed", cannot_reach_the_network)
        .but_for(&["gemini", "qwen", "copilot", "opencode", "pi"]),
];

/// Those that wait.
pub(crate) const WAITING: [Trial; 1] = [Trial::new("d: a 429 is waited for", is_limited)];

pub(crate) const MEND: &str = "touch mended && git add -A && git commit -qm mend";
pub(crate) const COMPLETE: &str = "It is done.\n<promise>COMPLETE</promise>";

/// The client's shell tool with a command.
pub(crate) fn shell(client: &Client, command: &str) -> Step {
    let (tool, argument) = client.shell;
    Step::call(tool, &json!({ argument: command, "description": "x" }))
}

/// The same call over and over: nudged where it can be, refused before the client's own loop guard
/// acts, and halted.
fn repeats_a_call(client: &Client, program: &Path) {
    let config = "[limits]\niterations = 1\n[iterations]\non_session_halt = \"stop\"\n";
    let scene = Scene::new(client, program, vec![shell(client, "cat README.md")], config);
    let ended = scene.run();
    assert_eq!(ended.code, Some(6), "{}", ended.out);
    assert!(ended.out.contains("repetition_loop"), "{}", ended.out);
    assert!(ended.out.contains("\"rung\":\"refuse\",\"message\""), "{}", ended.out);
    let guarded = ["gemini", "qwen"].contains(&client.name);
    let halt = if guarded { "\"stopped_itself\"" } else { "\"stop_agent\"" };
    assert!(ended.out.contains(halt), "{}", ended.out);
    let told = scene.told();
    // goose has no place for advice: it comes with the refusal, when the run heard the results in
    // time.
    let nudged = told.iter().any(|text| text.contains("going round in circles"));
    assert!(nudged || client.name == "goose", "{told:?}\n{}", ended.out);
    // Their own guards act at the 5th call: the 4th is refused.
    let refusals =
        if guarded { &["(blocked 1/3)"][..] } else { &["(blocked 1/3)", "(blocked 2/3)"] };
    for refusal in refusals {
        assert!(told.iter().any(|text| text.contains(refusal)), "{told:?}");
    }
}

/// A halted session: the next one hears what happened, and the advice that found no ear. The run that
/// ends so goes on when a human says so, and its agent hears of that.
fn is_told(client: &Client, program: &Path) {
    let config = "[limits]\niterations = 2\n";
    let scene = Scene::new(client, program, vec![shell(client, "cat README.md")], config);
    let ended = scene.run();
    assert_eq!(ended.code, Some(1), "{}", ended.out);
    let told = scene.told();
    let fresh = |text: &&String| text.contains("# Fresh Start");
    let briefing = told.iter().find(fresh).unwrap_or_else(|| panic!("{told:?}\n{}", ended.out));
    assert!(briefing.contains("The last session was stopped"), "{briefing}");
    assert!(briefing.contains("cat README.md") || briefing.contains("identical"), "{briefing}");
    let heard = |text: &String| text.contains("going round in circles");
    assert!(told.iter().any(heard), "{told:?}\n{}", ended.out);
    let ended = scene.start_with(&["--resume", "--max-iterations", "3"]).ended();
    assert_eq!(ended.code, Some(1), "{}", ended.out);
    assert!(scene.told().len() > told.len(), "the agent was not started: {}", ended.out);
}

/// A stop with a red gate is refused, the model is given the finding, and goes on.
fn stops_with_a_red_gate(client: &Client, program: &Path) {
    let script = vec![Step::text(COMPLETE), shell(client, MEND), Step::text(COMPLETE)];
    let scene = Scene::new(client, program, script, "[limits]\niterations = 1\n");
    let ended = scene.run();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    assert_eq!(ended.out.matches("\"verdict\":\"refuse\"").count(), 1, "{}", ended.out);
    let told = scene.told();
    assert!(told.iter().any(|text| text.contains("Completion Blocked")), "{told:?}");
    assert!(told.iter().any(|text| text.contains("mended is missing")), "{told:?}");
}

/// The work, then the promise: one iteration, verified.
fn is_complete(client: &Client, program: &Path) {
    let script = vec![shell(client, MEND), Step::text(COMPLETE)];
    let scene = Scene::new(client, program, script, "[limits]\niterations = 1\n");
    let ended = scene.run();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    assert!(!ended.out.contains("\"verdict\":\"refuse\""), "{}", ended.out);
    assert_eq!(scene.server.turns().len(), 2, "{}", ended.out);
}

/// Calls that differ and never end: the limit stops the session, not its end.
fn uses_too_many_tokens(client: &Client, program: &Path) {
    spends_too_much(client, program, ("tokens = 60000", "max_tokens"));
}

/// The same with money.
fn costs_too_much(client: &Client, program: &Path) {
    spends_too_much(client, program, ("cost_usd = 0.03", "max_cost"));
}

fn spends_too_much(client: &Client, program: &Path, (limit, outcome): (&str, &str)) {
    let call = |n: u32| shell(client, &format!("sleep 0.3; echo {n}")).using(10_000, 0, 1_000);
    let mut script: Vec<Step> = (0..60).map(call).collect();
    script.push(Step::text("I have had enough."));
    let config = format!("[limits]\niterations = 1\n{limit}\n");
    let scene = Scene::new(client, program, script, &config);
    let ended = scene.run();
    assert_eq!(ended.code, Some(5), "{}", ended.out);
    assert!(ended.out.contains(outcome), "{}", ended.out);
    let turns = scene.server.turns().len();
    assert!((1..30).contains(&turns), "{turns} model calls: {}", ended.out);
}

/// A tool is at work when the signal comes.
fn is_terminated(client: &Client, program: &Path) {
    let script =
        vec![shell(client, "touch .git/started; python3 -c 'import time; time.sleep(300)'")];
    let scene = Scene::new(client, program, script, "[limits]\niterations = 1\n");
    let mut running = scene.start();
    running.until("the tool runs", |scene| scene.root().join(".git/started").exists());
    let id = running.process.id().to_string();
    let killed = std::process::Command::new("kill").args(["-TERM", &id]).status();
    assert!(killed.expect("kill").success());
    let ended = running.ended();
    assert_eq!(ended.code, Some(143), "{}", ended.out);
}

/// Everything a hostile agent tries, through the client's own shell tool; and work goes on.
fn cannot_escape(client: &Client, program: &Path) {
    let attempts = r#"python3 ../attempts.py state "$FLYBALL_STATE" > .git/attempts 2>&1"#;
    let script = vec![shell(client, attempts), shell(client, MEND), Step::text(COMPLETE)];
    let scene = Scene::new(client, program, script, "[limits]\niterations = 1\n").with_victims();
    let ended = scene.run();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    let found = scene.attempts();
    assert!(found.len() > 20, "{found:?}\n{}", ended.out);
    if !ended.out.contains("shield: on") {
        return;
    }
    let through: Vec<_> = found.iter().filter(|line| line.contains(" through ")).collect();
    assert!(through.is_empty(), "{through:#?}");
}

/// The client itself, and what it starts, in a workspace: only named places can be written to.
fn works_in_a_sandbox(client: &Client, program: &Path) {
    let config = "[limits]\niterations = 1\n[sandbox]\nprofile = \"workspace\"\n";
    let write = "touch ../outside 2>/dev/null && echo WROTE || echo KEPT";
    let script = vec![shell(client, write), shell(client, MEND), Step::text(COMPLETE)];
    let scene = Scene::new(client, program, script, config)
        // The key of the scripted model is nobody's the clients know.
        .with("FLYBALL_SANDBOX__KEEP_ENV", "[\"MOCK_API_KEY\"]", "")
        .used_before();
    let ended = scene.run();
    if ended.code == Some(78) && ended.out.contains("cannot be had here") {
        return;
    }
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    let told = scene.told();
    assert!(told.iter().any(|text| text.contains("KEPT")), "{told:?}\n{}", ended.out);
}

/// Attempts 36 to 50 through the client's own shell tool. What a client keeps of its own it may read.
fn cannot_leave_a_workspace(client: &Client, program: &Path) {
    let own = if client.name == "codex" { 44 } else { 0 };
    none_through(client, program, ("workspace", own));
}

/// Attempts 51 to 59. The model's service is the one thing of this machine that is reached.
fn cannot_reach_the_network(client: &Client, program: &Path) {
    // A socket that listens and never answers is silence, not an answer.
    none_through(client, program, ("offline", 60));
}

fn none_through(client: &Client, program: &Path, (profile, left_out): (&str, u32)) {
    let attempts =
        format!("python3 ../attempts.py {profile} \"$FLYBALL_STATE\" > .git/attempts 2>&1");
    let script = vec![shell(client, &attempts), shell(client, MEND), Step::text(COMPLETE)];
    let config = format!("[limits]\niterations = 1\n[sandbox]\nprofile = \"{profile}\"\n");
    let scene = Scene::new(client, program, script, &config)
        .with("FLYBALL_SANDBOX__KEEP_ENV", "[\"MOCK_API_KEY\"]", "")
        .used_before()
        .with_victims()
        .with_neighbours();
    let ended = scene.run();
    if ended.code == Some(78) && ended.out.contains("cannot be had here") {
        eprintln!("{}: not tried: there is no sandbox here", client.name);
        return;
    }
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    let mut found = scene.attempts();
    found.retain(|line| !line.starts_with(&format!("ATTEMPT {left_out} ")));
    assert!(found.len() > 7, "{found:?}\n{}", ended.out);
    let through: Vec<_> = found.iter().filter(|line| line.contains(" through ")).collect();
    assert!(through.is_empty(), "{through:#?}");
    let broken: Vec<_> = found.iter().filter(|line| line.contains("FLYBALL_TEST")).collect();
    assert!(broken.is_empty(), "not tried: {broken:#?}");
}

/// A limit as the client's service tells it, with the time it ends.
fn limit(client: &Client) -> Step {
    let lasting = Duration::from_secs(45);
    let limit = Step::error(429).saying("Rate limit reached").header("retry-after", "3");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
    // It lasts from the first request on, which comes a little later.
    let resets_at = now + lasting.as_secs() + 5;
    let limit = match client.name {
        // What subscriptions have.
        "claude" => limit
            .header("anthropic-ratelimit-unified-status", "rejected")
            .header("anthropic-ratelimit-unified-reset", resets_at.to_string())
            .header("anthropic-ratelimit-unified-representative-claim", "five_hour"),
        "codex" => limit.body(json!({ "error": {
            "type": "usage_limit_reached", "message": "The usage limit has been reached",
            "plan_type": "plus", "resets_at": resets_at,
        }})),
        _ => limit,
    };
    limit.lasting(lasting)
}

/// The model's service is at its limit for a while: the run waits, and goes on with the same
/// iteration.
fn is_limited(client: &Client, program: &Path) {
    let script = vec![limit(client), shell(client, MEND), Step::text(COMPLETE)];
    let scene = Scene::new(client, program, script, "[limits]\niterations = 1\n");
    // Only a subscription is told when its limit ends.
    let scene = if client.name == "claude" {
        scene.with("CLAUDE_CODE_OAUTH_TOKEN", "none", "ANTHROPIC_API_KEY")
    } else {
        scene
    };
    let ended = scene.run();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    assert!(!ended.out.contains("\"iteration\":2"), "{}", ended.out);
    // qwen itself waits for as long as it takes.
    if client.name != "qwen" {
        assert!(ended.out.contains("\"hit_limit\""), "{}", ended.out);
        assert!(ended.out.contains("\"notice\":\"waiting\""), "{}", ended.out);
    }
    let told = ended.out.lines().filter(|line| line.contains("\"hit_limit\""));
    let knows = ["claude", "codex", "gemini", "opencode", "session"].contains(&client.name);
    assert!(told.into_iter().all(|line| line.contains("resets_at") == knows), "{}", ended.out);
}
